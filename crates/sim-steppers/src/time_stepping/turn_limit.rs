//! How far a body may turn before its contacts are found anew.
//!
//! # Reference
//!
//! None: the remainder of a Taylor series, and a ball around the body.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | n | normal of a contact, towards the body | 1 |
//! | ω | angular velocity of the body across n | rad/s |
//! | s | spin radius of the body: the shape without its rounding | m |
//! | u | speed at which a contact is hit | m/s |
//! | r | height of its centre above its point of contact along n | m |
//! | c | way of its centre along n in what is left of a step, towards the other body | m |
//!
//! # Formula
//!
//! ```text
//! the gap of a point is linear in time up to s (ω t)²/2; what turns further brings down another point
//! no cut if r + gap − c ≥ s: nothing of the body comes down so far;   else t ≤ ½ rad/ω
//! a hit at speed u beside the centre may leave it turning at u/s: a part ends at the hit, and the next one after ½ s/u
//! ```
//!
//! # Cost
//!
//! A few products per contact; a cut step costs as much as a whole one, and there are [`MOST`] at most.
//!
//! # Numerics
//!
//! Half a radian leaves an error of s/8 at most, which is opened at the end of the part.
//!
//! # Failure
//!
//! None. What turns by more than [`MOST`]/2 rad in a step is not seen all the way.
//!
//! # Tested by
//!
//! `tests/time_spinning.rs`

use super::{
    impact,
    sites::Site,
    state::{Detection, StepBodies},
};

/// What turns at less than this share of its radius from the centre counts as a ball.
const ROUND: f64 = 1e-3;
/// Largest turn between two looks, rad.
const TURN: f64 = 0.5;
/// Most cuts of a step for it.
pub(super) const MOST: u32 = 64;

/// The longest part of what is left of a step, `h` seconds, in which no body that comes near another turns too far, s.
pub(super) fn turn_limit(found: &Detection, bodies: &StepBodies, h: f64) -> f64 {
    found.sites.all.iter().fold(h, |least, site| least.min(turn_limit_at(found, bodies, site, h)))
}

fn turn_limit_at(found: &Detection, bodies: &StepBodies, site: &Site, h: f64) -> f64 {
    let (n, mut limit) = (site.frame.z_axis, h);
    let way = site.bodies.map(|k| {
        bodies.pool[k as usize].velocity.linear * h
            + bodies.body_steps[k as usize].acceleration * (0.5 * h * h)
    });
    let nearing = (-n.dot(way[0] - way[1])).max(0.0);
    let hit = time_of_hit(bodies, site, h);
    for (slot, side) in site.bodies.into_iter().zip([n, -n]) {
        let (body, spin) = (&bodies.pool[slot as usize], found.detect.travels.spin(slot));
        // Balls may turn as they like.
        if !body.is_movable() || spin <= ROUND * found.detect.travels.radius(slot) {
            continue;
        }
        if let Some((date, speed)) = hit.filter(|(_, speed)| speed * h > TURN * spin) {
            limit = limit.min(date.max(TURN * spin / speed));
        }
        let turning = body.velocity.angular.reject_from_normalized(n).length();
        // The point is halfway between both surfaces.
        let height = side.dot(body.center - site.point) + 0.5 * site.gap.max(0.0);
        // Nothing of it comes down before the ball around it does.
        if turning * limit > TURN && height - nearing < spin {
            limit = limit.min((TURN / turning).max(h * (height - spin) / nearing));
        }
    }
    limit
}

/// When a contact is hit within `h` seconds, s, and the speed at which it is, m/s.
fn time_of_hit(bodies: &StepBodies, site: &Site, h: f64) -> Option<(f64, f64)> {
    let (gap, u) = (site.gap.max(0.0), impact::normal_velocity(bodies, site));
    let [a, b] = site.bodies.map(|k| bodies.body_steps[k as usize].acceleration);
    let pull = site.frame.z_axis.dot(a - b);
    // g + u t + ½ a t² = 0, without cancellation.
    let under = u * u - 2.0 * pull * gap;
    if under < 0.0 || (u >= 0.0 && pull >= 0.0) {
        return None;
    }
    let root = under.sqrt();
    let date = if u <= 0.0 { 2.0 * gap / (root - u) } else { -(u + root) / pull };
    (date <= h && root > 0.0).then_some((date, root))
}
