//! Contacts that bodies reach with the velocities that contacts gave them.
//!
//! # Reference
//!
//! Own. Contacts are looked for as far as bodies can come with the velocities of before; one that is struck comes farther.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | v⁺ | velocities after an impact, or at the end of the step | m/s, rad/s |
//! | reach | distance up to which all contacts of two bodies were found | m |
//!
//! # Formula
//!
//! ```text
//! closing with v⁺ in place of v ≤ reach for all pairs: nothing is missed;   else contacts of those pairs are looked for up to there,
//! and the contact problem is solved again with them if the bodies would overlap there, MOST times at most
//! ```
//!
//! # Cost
//!
//! Some operations per body and pair; boxes, distances and a problem more where a body was struck onto others.
//!
//! # Numerics
//!
//! The margin of the detection is used up before anything is looked for again.
//!
//! # Failure
//!
//! Whom the last of MOST problems strikes onto others, which no problem had, may overlap with them.
//!
//! # Tested by
//!
//! `tests/time_struck.rs`

use super::{sites::Site, stepper::TimeStepping, watched::Horizon};
use sim_world::{StepError, World};

/// Most problems of one step that are solved again.
pub(super) const MOST: u32 = 8;
/// Overlap at the end of the step from which on a contact that the problem did not have is hit, share of the radius of the smaller body.
const OVERLAP: f64 = 1e-4;

impl TimeStepping {
    /// Looks for contacts that bodies reach within `h` seconds with the velocities that impacts gave them.
    pub(super) fn reach_after_impacts(&mut self, world: &World, h: f64) -> Result<(), StepError> {
        let mut any = false;
        for (slot, flyer) in (0..).zip(&self.flyers).filter(|(_, flyer)| flyer.struck) {
            self.detect.trails.hasten(slot, flyer.start, flyer.acceleration.length(), h);
            any = true;
        }
        if any {
            self.reach_out(world)?;
        }
        Ok(())
    }

    /// Looks for contacts that bodies reach within `h` seconds with the velocities in the pool, which are those of the end of the step; true if one that the problem did
    /// not have is hit.
    pub(super) fn reach_with_solution(&mut self, world: &World, h: f64) -> Result<bool, StepError> {
        let mut any = false;
        for (slot, (body, flyer)) in (0..).zip(self.pool.iter().zip(&self.flyers)) {
            // What contacts push moves along a straight line.
            if body.is_movable() && (flyer.driven || body.velocity != flyer.start + flyer.kick) {
                self.detect.trails.hasten(slot, body.velocity, 0.0, h);
                any = true;
            }
        }
        if !any || !self.reach_out(world)? {
            return Ok(false);
        }
        let Self { sites, detect, pool, .. } = self;
        let hit = |site: &Site| {
            let overlap = OVERLAP * detect.trails.smaller_radius(site.bodies);
            site.gap.max(0.0) + site.normal_velocity(pool) * h < -overlap
        };
        Ok(!sites.go_back(&detect.watched, hit))
    }

    /// Looks for contacts within the reach that the trails tell; true if contacts were read anew.
    fn reach_out(&mut self, world: &World) -> Result<bool, StepError> {
        let mut horizon = Horizon::new(&self.params, self.params.step(), false);
        horizon.lenient = self.params.margin;
        if !self.detect.renew(world, &mut self.parts, &horizon)? {
            return Ok(false);
        }
        self.read_sites(world)?;
        Ok(true)
    }
}
