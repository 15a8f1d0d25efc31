//! Pictures one after the other: an animated PNG, which browsers and many programs play.

use super::{StillParams, render};
use crate::CliError;
use scene::Recording;

/// Most pictures of a movie.
const MOST: usize = 10_000;

/// The bytes of an animated PNG of the whole recording, `rate` pictures for each second of simulated time; the camera stays
/// where the first picture needs it, and `params.time` is not used.
///
/// # Errors
/// As [`super::still`], and for a rate that is not positive or makes no picture or too many.
pub fn movie(recording: &mut Recording, params: &StillParams, rate: u16) -> Result<Vec<u8>, CliError> {
    let (Some(&start), Some(&end)) = (recording.times().first(), recording.times().last()) else {
        return Err(CliError::Empty);
    };
    let count = ((end - start) * f64::from(rate)).round() as usize;
    if !(1..=MOST).contains(&count) {
        let what = format!("makes {count} pictures of {} s, must be 1 to {MOST}", end - start);
        return Err(CliError::Argument { item: "fps".to_owned(), what });
    }
    let fail = |e: png::EncodingError| CliError::Encode(e.to_string());
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, params.width, params.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_animated(count as u32, 0).map_err(fail)?;
    encoder.set_frame_delay(1, rate).map_err(fail)?;
    let mut writer = encoder.write_header().map_err(fail)?;
    for k in 0..count {
        let time = start + k as f64 / f64::from(rate);
        let look_at = params.look_at.or(Some(start));
        let pixels = render(recording, &StillParams { time, look_at, ..*params })?;
        writer.write_image_data(&pixels).map_err(fail)?;
    }
    writer.finish().map_err(fail)?;
    Ok(out)
}
