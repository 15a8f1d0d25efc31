//! Where a body has been lying, and since when: what both steppers ask before a body may sleep.

use sim_math::{Pose, glam::DVec3};
use sim_traits::BodyId;

/// Since when a body has been where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Anchor {
    pub(crate) id: BodyId,
    pub(crate) pose: Pose,
    pub(crate) since: f64,
}

impl Anchor {
    /// Sets the anchor of a slot anew if another body is there, or if a point of this one, of `radius` (m), may have moved farther than
    /// `limit` (m) since. Returns how long it has held, s.
    pub(crate) fn hold(
        slot: &mut Option<Self>,
        id: BodyId,
        pose: &Pose,
        radius: f64,
        limit: f64,
        time: f64,
    ) -> f64 {
        let held = slot.filter(|a| a.id == id && moved(radius, &a.pose, pose) <= limit);
        let anchor = held.unwrap_or(Self { id, pose: *pose, since: time });
        *slot = Some(anchor);
        time - anchor.since
    }
}

/// How far a point of a body of this radius has moved at most, m.
fn moved(radius: f64, from: &Pose, to: &Pose) -> f64 {
    let turn = to.rotation * from.rotation.conjugate();
    let half = DVec3::new(turn.x, turn.y, turn.z).length();
    // A body that has not turned may be unbounded.
    let swing = if half > 0.0 { 2.0 * radius * half } else { 0.0 };
    (to.translation - from.translation).length() + swing
}
