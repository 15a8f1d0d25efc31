//! How bodies look when nobody says: the same colours as in the page.

use scene::recording::{BodyInfo, BodyKind};
use sim_math::ops;

/// Linear red, green and blue, 0 to 1.
pub(crate) type Rgb = [f64; 3];

/// Colour of each body: its own, grey for what stands still, else a ramp of hues of equal lightness.
pub(crate) fn colors(bodies: &[BodyInfo], dark: bool) -> Vec<Rgb> {
    let moving = |body: &BodyInfo| body.kind != BodyKind::Fixed;
    let count = bodies.iter().filter(|b| moving(b)).count().max(1) as f64;
    let mut rank = 0.0;
    let mut next = || {
        rank += 1.0;
        rank - 1.0
    };
    let color = |body: &BodyInfo| {
        let place = if moving(body) { next() } else { 0.0 };
        match body.color.as_deref().and_then(hex) {
            Some(color) => color,
            None if moving(body) => {
                oklch(if dark { 0.7 } else { 0.68 }, 0.125, 250.0 - 290.0 * place / count)
            }
            None => [if dark { 0.12 } else { 0.56 }; 3],
        }
    };
    bodies.iter().map(color).collect()
}

/// `#rrggbb` as linear numbers.
pub(crate) fn hex(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|d| d.len() == 6)?;
    let bits = u32::from_str_radix(digits, 16).ok()?;
    Some([16, 8, 0].map(|shift| linear(f64::from(bits >> shift & 255) / 255.0)))
}

/// Ottosson's OKLCH: lightness, chroma, hue in degrees.
fn oklch(lightness: f64, chroma: f64, degrees: f64) -> Rgb {
    let (sin, cos) = ops::sin_cos(degrees.to_radians());
    let (a, b) = (chroma * cos, chroma * sin);
    let cube = |x: f64| x * x * x;
    let l = cube(lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
    let m = cube(lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
    let s = cube(lightness - 0.089_484_177_5 * a - 1.291_485_548 * b);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ]
    .map(|v| v.clamp(0.0, 1.0))
}

/// From the screen's scale to light.
fn linear(v: f64) -> f64 {
    if v <= 0.040_45 { v / 12.92 } else { ops::powf((v + 0.055) / 1.055, 2.4) }
}

/// From light to the screen's scale, as a byte.
pub(crate) fn encoded(v: f64) -> u8 {
    let v = v.clamp(0.0, 1.0);
    let s = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * ops::powf(v, 1.0 / 2.4) - 0.055 };
    (s * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_way_to_light_and_back() {
        for byte in 0..=255_u8 {
            let color = hex(&format!("#{byte:02x}00ff")).unwrap();
            assert_eq!(color.map(encoded), [byte, 0, 255]);
        }
        assert!(hex("red").is_none() && hex("#12345").is_none() && hex("#12345g").is_none());
    }

    #[test]
    fn lightness_one_is_white_and_hues_differ() {
        assert_eq!(oklch(1.0, 0.0, 0.0).map(encoded), [255; 3]);
        let bodies: Vec<_> = (0..3).map(|i| BodyInfo::new(format!("{i}"), BodyKind::Free, 1.0, 0)).collect();
        let found = colors(&bodies, false);
        let bytes = found.iter().map(|c| c.map(encoded)).collect::<Vec<_>>();
        assert!(bytes[0] != bytes[1] && bytes[1] != bytes[2]);
    }
}
