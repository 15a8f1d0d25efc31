//! Fontijne's tables of resting contact: a cube that should not turn, and a wall of bricks that should stand.
//!
//! His sizes, friction and layout of bricks are not printed. Here: a cube of 1 m; bricks of 0.2 x 0.1 x 0.1 m in four
//! rows of 8 and 9 (halves at the ends of odd rows), half an envelope apart; friction 0.5, no restitution.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{Kind, METHODS, Setup},
    scenes::worlds::earth,
};
use sim_core::{
    prelude::{Body, BodyId, ContactHandling, Cuboid, DQuat, DVec3, EventDriven, EventDrivenParams, World},
    steppers::Parts,
    world::{Stability, StepReport, Stepper},
};

pub(super) const SPIN: Scene = Scene {
    name: "cube at rest",
    about: "Fontijne (2000), section 3.11.1: a cube dropped from a small height, slightly tilted, 5 s to settle and 60 s \
            measured. Impulses at the closest points alone make it spin at envelopes of 10 % and 1 % of its size, by \
            up to 360 degrees a minute; with all contacts it must not turn.",
    run: || {
        let mut rows = spin(5.0, 60.0)?;
        rows.extend(spin_by_steps(5.0, 60.0)?);
        Ok(rows)
    },
};

pub(super) const WALL: Scene = Scene {
    name: "brick wall",
    about: "Fontijne (2000), table 3.4: 34 bricks at rest, no sleeping; sums over all bricks of the angles (rad) and ways \
            (brick heights) between samples at 10 Hz for 5 s. His figures: closest points 19.6 and 23.0 at an envelope \
            of 10 % of the height, 3.70 and 5.61 at 1 %, failed at 0.1 %; all contacts 0.337 and 0.543, 1.60 and 2.10, \
            0.226 and 0.464.",
    run: || {
        let mut rows = wall(1.0, 5.0, &SHARES)?;
        rows.extend(wall_by_steps(1.0, 5.0)?);
        Ok(rows)
    },
};

/// Envelopes as shares of the size of a body.
const SHARES: [f64; 3] = [0.1, 0.01, 0.001];
const HANDLINGS: [(ContactHandling, &str); 2] =
    [(ContactHandling::Standard, "closest points"), (ContactHandling::Improved, "all contacts")];
const METHOD: &str = "event-driven";

fn stepper(envelope: f64, handling: ContactHandling) -> EventDriven {
    let mut params = EventDrivenParams::default();
    params.envelope = Some(envelope);
    params.contact_handling = handling;
    let parts = Parts::default();
    EventDriven::with(parts, params)
}

/// Lets a world settle, then samples it at 10 Hz.
fn measure(
    world: &mut World,
    stepper: &mut EventDriven,
    settle: f64,
    time: f64,
) -> Result<(Stability, StepReport), Failed> {
    stepper.advance(world, settle)?;
    let mut stability = Stability::of_free_bodies(world);
    let mut report = StepReport::default();
    for _ in 0..(10.0 * time).round() as u32 {
        report = report.then(&stepper.advance(world, 0.1)?);
        stability.sample(world);
    }
    Ok((stability, report))
}

fn tilted_cube() -> Result<World, Failed> {
    let mut world = earth(0.5)?;
    let tilt = DQuat::from_rotation_x(0.01) * DQuat::from_rotation_y(0.007);
    let cube = Body::free().shape(Cuboid::new(DVec3::splat(0.5))?).turned(tilt).friction(0.5);
    world.add(cube.at([0.0, 0.0, 0.55]))?;
    Ok(world)
}

fn spin(settle: f64, time: f64) -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    for (handling, name) in HANDLINGS {
        for share in SHARES {
            let mut world = tilted_cube()?;
            let (still, _) = measure(&mut world, &mut stepper(share, handling), settle, time)?;
            let yaw = still.largest_turn(DVec3::Z).to_degrees() * 60.0 / time;
            let quantity = format!("envelope {} %, {name}: turn about the vertical", 100.0 * share);
            rows.push(if handling == ContactHandling::Improved {
                Row::at_most(METHOD, &quantity, "°/min", yaw, 1.0)
            } else {
                Row::reported(METHOD, &quantity, "°/min", yaw)
            });
            let quantity = format!("envelope {} %, {name}: largest offset", 100.0 * share);
            rows.push(Row::reported(METHOD, &quantity, "m", still.largest_offset()));
        }
    }
    Ok(rows)
}

/// The cube under steps of time, which know no envelope.
fn spin_by_steps(settle: f64, time: f64) -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    for method in METHODS.iter().filter(|method| method.steps()) {
        let mut run = method.run(tilted_cube()?, &Setup::PLAIN)?;
        run.advance(settle)?;
        let mut still = Stability::of_free_bodies(&run.world);
        for _ in 0..(10.0 * time).round() as u32 {
            run.advance(0.1)?;
            still.sample(&run.world);
        }
        let yaw = still.largest_turn(DVec3::Z).to_degrees() * 60.0 / time;
        // With contacts solved together nothing moves, to rounding; springs are asked what all contacts are.
        rows.push(Row::at_most(
            method.name,
            "turn about the vertical",
            "°/min",
            yaw,
            method.bar(1.0, 1e-6, 1.0),
        ));
        let most = method.bar(1.0, 1e-9, 1e-3);
        rows.push(Row::at_most(method.name, "largest offset", "m", still.largest_offset(), most));
    }
    Ok(rows)
}

/// Width, depth and height of a brick, m.
const BRICK: DVec3 = DVec3::new(0.2, 0.1, 0.1);

/// The wall: four rows in running bond.
fn bricks(gap: f64) -> Result<(World, Vec<BodyId>), Failed> {
    let mut world = earth(0.5)?;
    let mut ids = Vec::new();
    for row in 0..4 {
        let count = 8 + row % 2;
        let mut x = 0.0;
        for k in 0..count {
            let half = row % 2 == 1 && (k == 0 || k == count - 1);
            let width = if half { 0.5 * (BRICK.x - gap) } else { BRICK.x };
            let z = 0.5 * BRICK.z + gap + f64::from(row) * (BRICK.z + gap);
            let shape = Cuboid::new(DVec3::new(width, BRICK.y, BRICK.z) * 0.5)?;
            let brick = Body::free().shape(shape).at([x + 0.5 * width, 0.0, z]).friction(0.5);
            ids.push(world.add(brick)?);
            x += width + gap;
        }
    }
    Ok((world, ids))
}

fn wall(settle: f64, time: f64, shares: &[f64]) -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    let mut sums = Vec::new();
    for (handling, name) in HANDLINGS {
        for &share in shares {
            let envelope = share * BRICK.z;
            let (mut world, _) = bricks(0.5 * envelope)?;
            let (still, report) = measure(&mut world, &mut stepper(envelope, handling), settle, time)?;
            let (rotation, way) = (still.rotation(), still.translation() / BRICK.z);
            sums.push((share, rotation, way));
            let collisions = (report.collisions + report.micro_collisions) as f64;
            let what = |what: &str| format!("envelope {} %, {name}: {what}", 100.0 * share);
            rows.push(Row::reported(METHOD, &what("sum of angles"), "rad", rotation));
            rows.push(Row::reported(METHOD, &what("sum of ways"), "heights", way));
            rows.push(Row::reported(METHOD, &what("impulses"), "", collisions));
        }
    }
    let (standard, improved) = sums.split_at(shares.len());
    for (a, b) in standard.iter().zip(improved) {
        // Ten times steadier at the largest envelope is what is asked; the others must not be worse.
        let least = if a.0 >= 0.1 { 10.0 } else { 1.0 };
        for (what, ratio) in [("angles", a.1 / b.1), ("ways", a.2 / b.2)] {
            let quantity = format!("envelope {} %: {what}, closest points over all contacts", 100.0 * a.0);
            rows.push(Row::new(METHOD, &quantity, "", ratio, least, Bound::AtLeast));
        }
    }
    Ok(rows)
}

/// The wall under steps of time, begun as at an envelope of a thousandth.
fn wall_by_steps(settle: f64, time: f64) -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    for method in METHODS.iter().filter(|method| method.steps()) {
        if method.kind == Kind::Pyramid {
            let why = "the wall is one island of more contacts than one problem has, and blocks of them take half a minute for a second of it";
            rows.push(Row::not_run(method.name, why));
            continue;
        }
        let (world, _) = bricks(0.5 * SHARES[2] * BRICK.z)?;
        let mut run = method.run(world, &Setup::PLAIN)?;
        run.advance(settle)?;
        let mut still = Stability::of_free_bodies(&run.world);
        for _ in 0..(10.0 * time).round() as u32 {
            run.advance(0.1)?;
            still.sample(&run.world);
        }
        // Fontijne's best figures.
        rows.push(Row::at_most(method.name, "sum of angles", "rad", still.rotation(), 0.226));
        rows.push(Row::at_most(method.name, "sum of ways", "heights", still.translation() / BRICK.z, 0.464));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_rows(rows: &[Row]) {
        rows.iter().for_each(|row| println!("{row}"));
        rows.iter().for_each(|row| assert!(row.holds(), "{row}"));
    }

    // proves: FON-90
    #[test]
    fn a_cube_spins_only_if_its_closest_corner_alone_is_served() {
        let rows = spin(5.0, 60.0).unwrap();
        assert_rows(&rows);
        // The defect that the alternating order cures is there without it.
        assert!(rows[0].measured > 45.0 && rows[2].measured > 45.0, "{} {}", rows[0], rows[2]);
    }

    // proves: FON-89, FON-91
    #[test]
    fn a_brick_wall_is_ten_times_steadier_with_all_contacts() {
        assert_rows(&wall(0.3, 1.0, &SHARES[..2]).unwrap());
    }

    #[test]
    fn cube_and_wall_stand_still_under_steps_of_time() {
        assert_rows(&spin_by_steps(5.0, 60.0).unwrap());
        assert_rows(&wall_by_steps(0.5, 1.0).unwrap());
    }

    #[test]
    fn the_wall_at_a_thousandth_runs_five_seconds_awake_under_both_handlings() {
        // A budget that is used up would be an error.
        let rows = wall(0.2, 5.0, &SHARES[2..]).unwrap();
        assert_rows(&rows);
        let ways: Vec<f64> =
            rows.iter().filter(|r| r.quantity.ends_with("of ways")).map(|r| r.measured).collect();
        // Fontijne's wall moved by 0.464 heights with all contacts, and with closest points alone his run failed.
        assert!(matches!(ways[..], [closest, all] if closest < 5.0 && all < 0.464), "{ways:?}");
    }

    // proves: FON-95
    #[test]
    fn the_wall_at_a_thousandth_does_not_hang_when_closest_points_alone_are_served() {
        let envelope = SHARES[2] * BRICK.z;
        // Half an envelope between bricks, as in the table, and rounding distance.
        for (gap, time) in [(0.5 * envelope, 1.0), (1e-15, 0.5)] {
            let (mut world, ids) = bricks(gap).unwrap();
            let places: Vec<DVec3> = ids.iter().map(|&id| world[id].position()).collect();
            let mut stepper = stepper(envelope, ContactHandling::Standard);
            // Budgets are those of every run: a pair that made no progress would be an error here.
            let (_, report) = measure(&mut world, &mut stepper, 0.2, time).unwrap();
            let way = |(&id, place): (&BodyId, &DVec3)| (world[id].position() - *place).length();
            let farthest = ids.iter().zip(&places).map(way).fold(0.0, f64::max);
            let rate = report.events as f64 / time / ids.len() as f64;
            println!("gap {gap}: {report}, {rate:.0} events per second and brick, moved by {farthest} m");
            assert!(rate < 1e4, "gap {gap}: {rate} events per second and brick");
            assert!(farthest < 0.2 * BRICK.z, "gap {gap}: a brick moved by {farthest} m");
        }
    }

    #[test]
    fn a_wall_of_34_bricks_begins_without_overlap() {
        let (mut world, ids) = bricks(1e-4).unwrap();
        assert_eq!((ids.len(), world.bodies().count()), (34, 35));
        stepper(1e-3, ContactHandling::Standard).prepare(&mut world).unwrap();
    }
}
