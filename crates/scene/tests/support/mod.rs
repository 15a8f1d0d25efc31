//! A scene with everything in it, and ways to spoil text.

use scene::format::Memory;
use sim_math::testkit::SplitMix64;

/// Uses every kind and every field of the format.
pub(crate) const EVERYTHING: &str = include_str!("everything.ron");

/// A mesh for it.
pub(crate) const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// The scene and its mesh.
pub(crate) fn everything() -> Memory {
    let files = [("everything.ron", EVERYTHING), ("tetra.obj", TETRAHEDRON)];
    Memory(files.iter().map(|(n, t)| ((*n).to_owned(), t.as_bytes().to_vec())).collect())
}

/// Numbers and words that break things.
const NASTY: &[&str] = &[
    "NaN",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e308",
    "1e-308",
    "-0.0",
    "4294967295",
    "18446744073709551615",
    "50000",
    "()",
    "[]",
    "{}",
    "\"\"",
    "None",
    "Some(1)",
    "(",
    ")",
    "(((((((((((",
    "\"a\"",
    "named(\"knob\")",
    "/*",
    "//",
    "#![enable(implicit_some)]",
    "9999999999999999999999",
    "true",
    "'x'",
    ",",
    ":",
];

/// Spoils text in up to four places: bytes, numbers, words, slices.
pub(crate) fn mutate(text: &[u8], other: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut out = text.to_vec();
    // Mostly one: two mutations rarely leave a scene.
    let ways = [1, 1, 1, 2, 4][random.below(5)];
    for _ in 0..ways {
        if out.is_empty() {
            return out;
        }
        let at = random.below(out.len());
        match random.below(8) {
            0 => out[at] = (random.next_u64() & 0xff) as u8,
            1 => out[at] ^= 1 << random.below(8),
            2 => {
                let end = (at + 1 + random.below(12)).min(out.len());
                out.drain(at..end);
            }
            3 => {
                let end = (at + 1 + random.below(60)).min(out.len());
                let piece = out[at..end].to_vec();
                let to = random.below(out.len());
                out.splice(to..to, piece);
            }
            4 => {
                let from = random.below(other.len());
                let end = (from + 1 + random.below(80)).min(other.len());
                out.splice(at..at, other[from..end].iter().copied());
            }
            5 => out.truncate(at),
            // A number or a word becomes something nasty: the mutation that reaches deepest.
            _ => {
                let is_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
                let Some(start) = (at..out.len()).find(|&k| is_word(out[k])) else { continue };
                let end = (start..out.len()).find(|&k| !is_word(out[k])).unwrap_or(out.len());
                let nasty = NASTY[random.below(NASTY.len())];
                out.splice(start..end, nasty.bytes());
            }
        }
    }
    out
}
