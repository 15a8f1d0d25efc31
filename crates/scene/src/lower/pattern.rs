//! Copies of a body: where each one goes.
//!
//! Places are products (k · step), never running sums, so that the thousandth copy is where it should be.

use super::{
    random::Random,
    rotation::{about, radians, sin_cos},
};
use crate::format::{
    RepeatSpec,
    body::LegSpec,
    error::{Place, SceneError},
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};

/// Most bodies of a scene.
pub(crate) const MAX_BODIES: u64 = 50_000;

/// World placement of each copy of a body at `pose`; `radius` (m) is its bounding radius.
pub(crate) fn copies(
    spec: &RepeatSpec,
    pose: Pose,
    radius: f64,
    place: &Place,
) -> Result<Vec<Pose>, SceneError> {
    let total = spec.count();
    if !(1..=MAX_BODIES).contains(&total) {
        return Err(place.error(format_args!("must give from 1 to {MAX_BODIES} copies, gives {total}")));
    }
    let moved = |offset: DVec3| Pose::new(pose.translation + offset, pose.rotation);
    let turned =
        |offset: DVec3, turn: DQuat| Pose::new(pose.translation + offset, (turn * pose.rotation).normalize());
    match spec {
        RepeatSpec::Row { count, step } => {
            let step = place.vector("step", *step)?;
            Ok((0..*count).map(|k| moved(step * f64::from(k))).collect())
        }
        RepeatSpec::Grid { count: (nx, ny, nz), step } => {
            let step = place.vector("step", *step)?;
            let mut out = Vec::with_capacity(total as usize);
            for z in 0..*nz {
                for y in 0..*ny {
                    for x in 0..*nx {
                        out.push(moved(step * DVec3::new(f64::from(x), f64::from(y), f64::from(z))));
                    }
                }
            }
            Ok(out)
        }
        RepeatSpec::Ring { count, radius, axis, start, sweep } => {
            let axis = place.direction("axis", *axis)?;
            let radius = place.natural("radius", *radius)?;
            let (start, sweep) = (place.finite("start", *start)?, place.finite("sweep", *sweep)?);
            // The axis z has its zero along x; any other has it where z's is carried by the shortest turn.
            let zero = DQuat::from_rotation_arc(DVec3::Z, axis) * DVec3::X;
            Ok((0..*count)
                .map(|k| {
                    let degrees = start + sweep * f64::from(k) / f64::from(*count);
                    let turn = about(axis, degrees);
                    turned(turn * (zero * radius), turn)
                })
                .collect())
        }
        RepeatSpec::Triangle { rows, step } => {
            let step = place.positive("step", *step)?;
            let height = step * 0.75_f64.sqrt();
            let mut out = Vec::with_capacity(total as usize);
            for row in 0..*rows {
                for k in 0..=row {
                    let side = step * (f64::from(k) - 0.5 * f64::from(row));
                    out.push(moved(DVec3::new(side, height * f64::from(row), 0.0)));
                }
            }
            Ok(out)
        }
        RepeatSpec::Path { step, legs } => along(place.positive("step", *step)?, legs, place)
            .map(|list| list.into_iter().map(|(offset, turn)| turned(offset, turn)).collect()),
        RepeatSpec::At(places) => {
            let mut out = Vec::with_capacity(places.len());
            for (k, at) in places.iter().enumerate() {
                if !at.0.is_finite() {
                    return Err(place.item(k).error("must be finite"));
                }
                out.push(moved(at.0));
            }
            Ok(out)
        }
        RepeatSpec::Scatter { count, min, max, seed, turned } => {
            scatter(*count, (min.0, max.0), *seed, *turned, pose, radius, place)
        }
    }
}

/// Offsets and turns along a path.
fn along(step: f64, legs: &[LegSpec], place: &Place) -> Result<Vec<(DVec3, DQuat)>, SceneError> {
    let mut out = Vec::new();
    // Where the next leg begins, and its heading in degrees.
    let (mut at, mut heading) = (DVec3::ZERO, 0.0_f64);
    for (n, leg) in legs.iter().enumerate() {
        let place = place.field("legs").item(n);
        let (s, c) = sin_cos(heading);
        let ahead = DVec3::new(c, s, 0.0);
        match *leg {
            LegSpec::Straight { count } => {
                out.extend(
                    (0..count).map(|k| (at + ahead * (step * f64::from(k)), about(DVec3::Z, heading))),
                );
                at += ahead * (step * f64::from(count));
            }
            LegSpec::Climb { count, rise } => {
                let rise = DVec3::Z * place.finite("rise", rise)?;
                let each = ahead * step + rise;
                out.extend((0..count).map(|k| (at + rise + each * f64::from(k), about(DVec3::Z, heading))));
                at += each * f64::from(count);
            }
            LegSpec::Bend { count, degrees } => {
                place.finite("degrees", degrees)?;
                if degrees == 0.0 || degrees.abs() > 360.0 {
                    let problem = format!("must be within 360 and not 0, got {degrees}");
                    return Err(place.field("degrees").error(problem));
                }
                let radius = step * f64::from(count) / radians(degrees);
                let center = at + DVec3::new(-s, c, 0.0) * radius;
                let on_circle = |turn: f64| {
                    let (s, c) = sin_cos(heading + turn);
                    center + DVec3::new(s, -c, 0.0) * radius
                };
                for k in 0..count {
                    let turn = degrees * (f64::from(k) + 0.5) / f64::from(count);
                    out.push((on_circle(turn), about(DVec3::Z, heading + turn)));
                }
                at = on_circle(degrees);
                heading += degrees;
            }
        }
    }
    Ok(out)
}

/// Random places without overlap of the bounding spheres.
fn scatter(
    count: u32,
    (min, max): (DVec3, DVec3),
    seed: u64,
    turned: bool,
    pose: Pose,
    radius: f64,
    place: &Place,
) -> Result<Vec<Pose>, SceneError> {
    if !(min.is_finite() && max.is_finite() && min.cmple(max).all()) {
        return Err(place.field("min").error("must be finite and not above `max`"));
    }
    const LIMIT: u32 = 5000;
    if count > LIMIT {
        return Err(place.field("count").error(format_args!("must be at most {LIMIT}, got {count}")));
    }
    let mut random = Random::new(seed);
    let mut out: Vec<Pose> = Vec::with_capacity(count as usize);
    let apart = 4.0 * radius * radius;
    // Bounded work: dense boxes are an error rather than a hang.
    let mut tries = 200 * u64::from(count) / (1 + u64::from(count) / 500) + 1000;
    while out.len() < count as usize {
        let Some(left) = tries.checked_sub(1) else {
            let problem = format!("no room for {count} bodies of radius {radius} m, placed {}", out.len());
            return Err(place.error(problem));
        };
        tries = left;
        let offset =
            DVec3::new(random.range(min.x, max.x), random.range(min.y, max.y), random.range(min.z, max.z));
        let at = pose.translation + offset;
        if out.iter().all(|p| p.translation.distance_squared(at) > apart) {
            let turn = if turned { random.orientation() } else { DQuat::IDENTITY };
            out.push(Pose::new(at, (turn * pose.rotation).normalize()));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Triple;

    fn places(spec: &RepeatSpec) -> Vec<Pose> {
        copies(spec, Pose::IDENTITY, 0.1, &Place::new("x.ron").field("repeat")).unwrap()
    }

    #[test]
    fn rows_and_grids_are_products_without_drift() {
        let row = places(&RepeatSpec::Row { count: 1001, step: Triple::new(0.1, 0.0, 0.0) });
        assert_eq!(row[1000].translation, DVec3::new(0.1 * 1000.0, 0.0, 0.0));
        let grid = places(&RepeatSpec::Grid { count: (2, 3, 4), step: Triple::new(1.0, 2.0, 3.0) });
        assert_eq!(grid.len(), 24);
        assert_eq!(grid[23].translation, DVec3::new(1.0, 4.0, 9.0));
        assert_eq!(grid[1].translation, DVec3::X);
    }

    #[test]
    fn a_ring_closes_and_turns_its_copies() {
        let axis = Triple::new(0.0, 0.0, 1.0);
        let ring = places(&RepeatSpec::Ring { count: 4, radius: 2.0, axis, start: 0.0, sweep: 360.0 });
        assert!((ring[1].translation - DVec3::Y * 2.0).length() < 1e-15);
        assert!((ring[1].transform_vector(DVec3::X) - DVec3::Y).length() < 1e-15);
        assert!((ring[3].translation + DVec3::Y * 2.0).length() < 1e-15);
    }

    #[test]
    fn neighbours_of_a_triangle_are_one_step_apart() {
        let rack = places(&RepeatSpec::Triangle { rows: 5, step: 0.06 });
        assert_eq!(rack.len(), 15);
        let touching = (0..15)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter(|&(i, j)| (rack[i].translation.distance(rack[j].translation) - 0.06).abs() < 1e-12)
            .count();
        assert_eq!(touching, 30);
    }

    #[test]
    fn a_path_bends_to_the_left_and_back_to_where_it_began() {
        let quarter = |degrees| LegSpec::Bend { count: 10, degrees };
        let circle = vec![quarter(90.0), quarter(90.0), quarter(90.0), quarter(90.0)];
        let path = places(&RepeatSpec::Path { step: 0.1, legs: circle });
        let radius = 0.1 * 10.0 / radians(90.0);
        for p in &path {
            assert!((p.translation.distance(DVec3::Y * radius) - radius).abs() < 1e-14);
            // Turned into the path: ahead is across the radius.
            assert!(p.transform_vector(DVec3::X).dot(p.translation - DVec3::Y * radius).abs() < 1e-14);
        }
        let gap = path[0].translation.distance(path[39].translation);
        assert!((gap - path[0].translation.distance(path[1].translation)).abs() < 1e-14);
        let stairs = vec![LegSpec::Straight { count: 2 }, LegSpec::Climb { count: 3, rise: 0.5 }];
        let stairs = places(&RepeatSpec::Path { step: 1.0, legs: stairs });
        assert_eq!(stairs[4].translation, DVec3::new(4.0, 0.0, 1.5));
    }

    #[test]
    fn scattered_bodies_do_not_overlap_and_a_full_box_is_an_error() {
        let scatter = |count| RepeatSpec::Scatter {
            count,
            min: Triple::new(-1.0, -1.0, -1.0),
            max: Triple::new(1.0, 1.0, 1.0),
            seed: 3,
            turned: true,
        };
        let all = places(&scatter(100));
        for (i, p) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|q| p.translation.distance(q.translation) > 0.2));
        }
        assert_eq!(all, places(&scatter(100)));
        let full = copies(&scatter(5000), Pose::IDENTITY, 0.1, &Place::new("x.ron")).unwrap_err();
        assert!(full.problem.starts_with("no room for 5000 bodies"), "{full}");
    }

    #[test]
    fn too_many_copies_are_refused_before_they_are_made() {
        let huge = RepeatSpec::Grid { count: (u32::MAX, u32::MAX, u32::MAX), step: Triple::default() };
        let wrong = copies(&huge, Pose::IDENTITY, 0.1, &Place::new("x.ron")).unwrap_err();
        assert!(wrong.problem.starts_with("must give from 1 to 50000 copies"), "{wrong}");
    }
}
