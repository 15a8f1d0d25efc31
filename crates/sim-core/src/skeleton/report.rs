//! What happened, returned and never logged.

use super::world::Member;
use std::fmt;

/// One collision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionEvent {
    /// When, seconds.
    pub time: f64,
    /// The member pushed along the normal.
    pub a: Member,
    /// The other one.
    pub b: Member,
    /// Approach speed along the normal, m/s.
    pub approach: f64,
    /// Normal impulse, N·s.
    pub impulse: f64,
    /// Distance at which the contact was found, metres: the error of the root.
    pub distance: f64,
    /// True below the speed of a fall through the contact envelope, where the law is replaced by a reversal.
    pub micro: bool,
}

/// Totals since the start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Report {
    /// Simulated time, seconds.
    pub time: f64,
    /// Collisions answered by the impact law.
    pub collisions: u64,
    /// Slow ones answered by a reversal.
    pub micro_collisions: u64,
    /// Kinetic energy now, J.
    pub kinetic: f64,
    /// Potential energy now, J, zero at the origin.
    pub potential: f64,
    /// Largest |distance| at which a contact was answered, metres.
    pub worst_root: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "t = {:.4} s   collisions {} (and {} micro)   energy {:.9} J = {:.6} kinetic + {:.6} potential   contact root within {:.1e} m",
            self.time,
            self.collisions,
            self.micro_collisions,
            self.kinetic + self.potential,
            self.kinetic,
            self.potential,
            self.worst_root
        )
    }
}
