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

use super::{
    candidate::Horizon,
    sites::{self, Site},
    state::{Detection, Setup, StepBodies},
};
use sim_world::{StepError, World};

/// Most problems of one step that are solved again.
pub(super) const MOST: u32 = 8;
/// Overlap at the end of the step from which on a contact that the problem did not have is hit, share of the radius of the smaller body.
const OVERLAP: f64 = 1e-4;

/// Looks for contacts that bodies reach within `h` seconds with the velocities that impacts gave them.
pub(super) fn reach_after_impacts(
    setup: &mut Setup,
    found: &mut Detection,
    bodies: &StepBodies,
    world: &World,
    h: f64,
) -> Result<(), StepError> {
    let mut any = false;
    for (slot, body_step) in (0..).zip(&bodies.body_steps).filter(|(_, body_step)| body_step.struck) {
        found.detect.travels.hasten(slot, body_step.start, body_step.acceleration.length(), h);
        any = true;
    }
    if any {
        reach_out(setup, found, world)?;
    }
    Ok(())
}

/// Looks for contacts that bodies reach within `h` seconds with the velocities in the pool, which are those of the end of the step; true if one that
/// the problem did not have is hit.
pub(super) fn reach_with_solution(
    setup: &mut Setup,
    found: &mut Detection,
    bodies: &StepBodies,
    world: &World,
    h: f64,
) -> Result<bool, StepError> {
    let mut any = false;
    for (slot, (body, body_step)) in (0..).zip(bodies.pool.iter().zip(&bodies.body_steps)) {
        // What contacts push moves along a straight line.
        if body.is_movable()
            && (body_step.driven
                || bodies.trees.is_link(slot)
                || body.velocity != body_step.start + body_step.force_change)
        {
            found.detect.travels.hasten(slot, body.velocity, 0.0, h);
            any = true;
        }
    }
    if !any || !reach_out(setup, found, world)? {
        return Ok(false);
    }
    let hit = |site: &Site| {
        let overlap = OVERLAP * found.detect.travels.smaller_radius(site.bodies);
        site.gap.max(0.0) + site.normal_velocity(&bodies.pool) * h < -overlap
    };
    Ok(!found.sites.go_back(&found.detect.candidates, hit))
}

/// Looks for contacts within the reach that the travels tell; true if contacts were read anew.
fn reach_out(setup: &mut Setup, found: &mut Detection, world: &World) -> Result<bool, StepError> {
    let mut horizon = Horizon::new(&setup.params, setup.params.step(), false);
    horizon.lenient = setup.params.margin;
    if !found.detect.renew(world, &mut setup.parts, &horizon)? {
        return Ok(false);
    }
    sites::read_sites(setup, found, world)?;
    Ok(true)
}
