//! A recording as one web page that needs no network.
//!
//! The page is built from `viewer/` by `cargo xtask viewer` and checked in, so that users need no Node.
//! The recording goes into it as it is, in base64; the page unpacks it.

use crate::CliError;
use scene::Recording;

/// The page without a recording.
const VIEWER: &str = include_str!("../assets/viewer.html");

/// Stands where the recording belongs.
const MARKER: &str = "@RECORDING@";

/// The page as text.
///
/// # Errors
/// [`CliError::Empty`] without frames, [`CliError::Frame`] if a piece of the recording is corrupt: a page that
/// fails later in somebody's browser is worse than no page.
pub fn page(recording: &Recording) -> Result<String, CliError> {
    if recording.is_empty() {
        return Err(CliError::Empty);
    }
    recording.verify()?;
    let (before, after) = halves()?;
    let mut html = String::with_capacity(VIEWER.len() + recording.bytes().len() / 3 * 4 + 4);
    html.push_str(before);
    push_base64(&mut html, recording.bytes());
    html.push_str(after);
    Ok(html)
}

/// The page that asks its server for the recording, for `sim view`.
///
/// # Errors
/// Only if the checked-in page is broken.
pub fn live_page() -> Result<String, CliError> {
    let (before, after) = halves()?;
    Ok([before, "@LIVE@", after].concat())
}

fn halves() -> Result<(&'static str, &'static str), CliError> {
    VIEWER
        .split_once(MARKER)
        .ok_or_else(|| CliError::Encode("the page has no place for a recording".to_owned()))
}

fn push_base64(out: &mut String, bytes: &[u8]) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { letter as char } else { '=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, expected) in cases {
            let mut out = String::new();
            push_base64(&mut out, text.as_bytes());
            assert_eq!(out, expected);
        }
        let mut out = String::new();
        push_base64(&mut out, &[0xfb, 0xff, 0xfe]);
        assert_eq!(out, "+//+");
    }

    #[test]
    fn the_page_has_one_place_for_a_recording_and_asks_for_nothing_outside() {
        assert_eq!(VIEWER.matches(MARKER).count(), 1);
        for outside in ["src=\"http", "href=\"http", "src=\"/", "href=\"/", "import(\"http"] {
            assert!(!VIEWER.contains(outside), "{outside}");
        }
    }
}
