//! What grows from a creature's genome: parts with shapes and masses, hinges between them, courses for their set-points.
//!
//! # Reference
//!
//! Arnold (1997), section 3.2.1. Attachment points, which the thesis does not give, are at 0.6 of the semi-axis ahead and behind, and at the middle.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | `parent_from_joint` | where the hinge of a part is in the frame of its parent; limbs go along z, hinges turn about ±x |
//! | `axis` | of the hinge in that frame |
//! | M | mirror at the plane of x and z: diag(1, −1, 1) |
//!
//! # Formula
//!
//! ```text
//! hip of the left limb: point (x, b √(1 − x²/a²), 0) of the trunk, x = 0.6 a, −0.6 a, 0
//! right limb: point M p, orientation M R M, hinge about −x: the same coordinate then is the mirrored pose
//! strength of a joint in proportion to its diameter
//! ```
//!
//! # Cost
//!
//! Nine or thirteen parts.
//!
//! # Numerics
//!
//! Closed forms.
//!
//! # Failure
//!
//! What the check of the genome finds.
//!
//! # Tested by
//!
//! `limbs_hang_on_the_surface_of_the_trunk`, `the_right_side_mirrors_the_left_in_every_pose`, `masses_are_density_times_volume`

use super::{
    creature::{Creature, CreatureDesign},
    spectrum::Course,
};
use crate::{error::EvolutionError, genome::Genome};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    mass::{Amount, MassProperties, solid},
};

/// The shape of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// The trunk: semi-axes, m, about the origin of the part.
    Ellipsoid(DVec3),
    /// A limb segment: from the origin of the part along z.
    Frustum {
        /// Radius at the origin, m.
        start: f64,
        /// Radius at the end, m.
        end: f64,
        /// Length, m.
        length: f64,
    },
}

impl Form {
    /// Mass properties in the frame of the part.
    ///
    /// # Errors
    /// Sizes that are not positive and finite.
    pub fn mass(&self, density: f64) -> Result<MassProperties, EvolutionError> {
        let bad = |why: String| EvolutionError::Damaged { what: "part", why };
        match *self {
            Self::Ellipsoid(radii) => {
                solid::ellipsoid(radii, Amount::Density(density)).map_err(|error| bad(error.to_string()))
            }
            Self::Frustum { start, end, length } => {
                let half = 0.5 * length;
                let mut mass = solid::frustum(start, end, half, Amount::Density(density))
                    .map_err(|error| bad(error.to_string()))?;
                // The solid is centred on half its height; inertia is about the centre of mass and does not move.
                mass.center_of_mass.z += half;
                Ok(mass)
            }
        }
    }
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Such as `left upper 0`.
    pub name: String,
    /// The part that it hangs on; none for the trunk.
    pub parent: Option<usize>,
    /// Where its hinge is in the frame of the parent; for the trunk the frame itself.
    pub parent_from_joint: Pose,
    /// Axis of the hinge.
    pub axis: DVec3,
    /// Its shape.
    pub form: Form,
    /// Mass, centre and inertia in the frame of the part.
    pub mass: MassProperties,
    /// Diameter at the hinge, m: the strength of the joint is in proportion to it. 0 for the trunk.
    pub diameter: f64,
    /// Set-point of the hinge over time; none for the trunk.
    pub course: Option<Course>,
    /// How much later than its course the hinge is driven, s.
    pub delay: f64,
}

impl Part {
    /// Set-point of the hinge at a time, rad.
    #[must_use]
    pub fn set_point(&self, time: f64) -> f64 {
        self.course.as_ref().map_or(0.0, |course| course.at(time - self.delay))
    }
}

/// A body that can be entered into a simulation: parents come before their children.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyPlan {
    /// The parts, trunk first.
    pub parts: Vec<Part>,
}

/// Where pairs hang, as a share of the semi-axis ahead.
const STATIONS: [f64; 3] = [0.6, -0.6, 0.0];

fn mirrored(pose: Pose) -> Pose {
    let (p, q) = (pose.translation, pose.rotation);
    // M R M: the axis of the turn loses its part along y twice, and its sense.
    Pose::new(DVec3::new(p.x, -p.y, p.z), DQuat::from_xyzw(-q.x, q.y, -q.z, q.w))
}

impl BodyPlan {
    /// Grows the body of a genome.
    ///
    /// # Errors
    /// A genome that cannot be built.
    pub fn grow(creature: &Creature, design: &CreatureDesign) -> Result<Self, EvolutionError> {
        creature.check(design)?;
        let form = Form::Ellipsoid(creature.trunk);
        let mut parts = vec![Part {
            name: "trunk".into(),
            parent: None,
            parent_from_joint: Pose::IDENTITY,
            axis: DVec3::X,
            form,
            mass: form.mass(design.density)?,
            diameter: 0.0,
            course: None,
            delay: 0.0,
        }];
        for (k, (pair, station)) in creature.pairs.iter().zip(STATIONS).enumerate() {
            let DVec3 { x: a, y: b, .. } = creature.trunk;
            let hip = Pose::new(DVec3::new(station * a, b * (1.0 - station * station).sqrt(), 0.0), pair.hip);
            let knee = Pose::new(DVec3::new(0.0, 0.0, pair.lengths[0]), pair.knee);
            let courses = pair
                .drives
                .each_ref()
                .map(|drive| Course::new(drive, design.spectrum.samples, creature.resolution));
            for (side, left) in [("left", true), ("right", false)] {
                let delay = if left || !pair.alternating { 0.0 } else { 0.5 * courses[0].period() };
                let [hip, knee, axis] = if left {
                    [hip, knee, Pose::new(DVec3::X, DQuat::IDENTITY)]
                } else {
                    [mirrored(hip), mirrored(knee), Pose::new(-DVec3::X, DQuat::IDENTITY)]
                };
                let segments = [("upper", hip, 0), ("lower", knee, 1)];
                for (word, joint, s) in segments {
                    let form = Form::Frustum {
                        start: pair.radii[s],
                        end: pair.radii[s + 1],
                        length: pair.lengths[s],
                    };
                    let before = parts.len() - 1;
                    parts.push(Part {
                        name: format!("{side} {word} {k}"),
                        parent: Some(if s == 0 { 0 } else { before }),
                        parent_from_joint: joint,
                        axis: axis.translation,
                        form,
                        mass: form.mass(design.density)?,
                        diameter: 2.0 * pair.radii[s],
                        course: Some(courses[s].clone()),
                        delay,
                    });
                }
            }
        }
        Ok(Self { parts })
    }

    /// Poses of all parts for coordinates of their hinges (that of the trunk is not used), with the trunk at the origin.
    #[must_use]
    pub fn poses(&self, angles: &[f64]) -> Vec<Pose> {
        let mut poses: Vec<Pose> = Vec::with_capacity(self.parts.len());
        for (part, angle) in self.parts.iter().zip(angles) {
            let Some(parent) = part.parent else {
                poses.push(Pose::IDENTITY);
                continue;
            };
            let (sin, cos) = sim_math::ops::sin_cos(0.5 * angle);
            let axis = part.axis * sin;
            let turn = DQuat::from_xyzw(axis.x, axis.y, axis.z, cos);
            poses.push(poses[parent] * part.parent_from_joint * Pose::new(DVec3::ZERO, turn));
        }
        poses
    }

    /// Largest horizontal extent of the body with all hinges at zero, m: its length, in which distances are told.
    #[must_use]
    pub fn body_length(&self) -> f64 {
        let mut points: Vec<DVec3> = Vec::new();
        for (part, pose) in self.parts.iter().zip(self.poses(&vec![0.0; self.parts.len()])) {
            match part.form {
                Form::Ellipsoid(radii) => points.extend([DVec3::X * radii.x, DVec3::X * -radii.x]),
                Form::Frustum { length, .. } => {
                    points.extend([pose.translation, pose.transform_point(DVec3::Z * length)]);
                }
            }
        }
        let apart = |a: &DVec3, b: &DVec3| (*a - *b).truncate().length();
        points.iter().flat_map(|a| points.iter().map(move |b| apart(a, b))).fold(0.0, f64::max)
    }

    /// Mass of all parts, kg.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.parts.iter().map(|part| part.mass.mass).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::f64::consts::PI;

    fn grown(seed: u64) -> (Creature, BodyPlan) {
        let design = CreatureDesign::default();
        let creature = Creature::random(&design, &mut Random::new(seed));
        let plan = BodyPlan::grow(&creature, &design).unwrap();
        (creature, plan)
    }

    // proves: ARN-79
    #[test]
    fn limbs_hang_on_the_surface_of_the_trunk() {
        for seed in 0..100 {
            let (creature, plan) = grown(seed);
            assert_eq!(plan.parts.len(), 1 + 4 * creature.pairs.len());
            for part in plan.parts.iter().filter(|part| part.parent == Some(0)) {
                let p = part.parent_from_joint.translation / creature.trunk;
                assert!((p.length() - 1.0).abs() < 1e-12, "{}", part.name);
            }
            // Radii match at the knee.
            for part in &plan.parts {
                let Some(Form::Frustum { end, length, .. }) = part.parent.map(|p| plan.parts[p].form) else {
                    continue;
                };
                assert_eq!(part.diameter, 2.0 * end);
                assert_eq!(part.parent_from_joint.translation, DVec3::Z * length);
            }
        }
    }

    // proves-part: ARN-78
    #[test]
    fn the_right_side_mirrors_the_left_in_every_pose() {
        let mut random = Random::new(9);
        for seed in 0..50 {
            let (creature, plan) = grown(seed);
            let mut angles = vec![0.0; plan.parts.len()];
            for pair in 0..creature.pairs.len() {
                for s in 0..2 {
                    let angle = random.range(-2.0, 2.0);
                    (angles[1 + 4 * pair + s], angles[3 + 4 * pair + s]) = (angle, angle);
                }
            }
            let poses = plan.poses(&angles);
            let mirror = |p: DVec3| DVec3::new(p.x, -p.y, p.z);
            for pair in 0..creature.pairs.len() {
                for s in 0..2 {
                    let (left, right) = (1 + 4 * pair + s, 3 + 4 * pair + s);
                    for z in [0.0, 0.1, 0.3] {
                        let [a, b] = [left, right].map(|k| poses[k].transform_point(DVec3::Z * z));
                        assert!((mirror(a) - b).length() < 1e-12, "{} {a} {b}", plan.parts[left].name);
                    }
                    let (a, b) = (&plan.parts[left], &plan.parts[right]);
                    assert_eq!((a.form, a.diameter), (b.form, b.diameter));
                    let t = random.range(0.0, 5.0);
                    let period = a.course.as_ref().unwrap().period();
                    let later = if creature.pairs[pair].alternating { 0.5 * period } else { 0.0 };
                    assert!((b.set_point(t + later) - a.set_point(t)).abs() < 1e-9);
                }
            }
        }
    }

    // proves: ARN-77
    #[test]
    fn masses_are_density_times_volume() {
        let (creature, plan) = grown(3);
        let trunk = creature.trunk;
        let volume = 4.0 / 3.0 * PI * trunk.x * trunk.y * trunk.z;
        assert!((plan.parts[0].mass.mass / (1000.0 * volume) - 1.0).abs() < 1e-13);
        let mut random = Random::new(7);
        for part in &plan.parts[1..3] {
            let Form::Frustum { start, end, length } = part.form else { unreachable!() };
            let volume = PI * length / 3.0 * (start * start + start * end + end * end);
            assert!((part.mass.mass / (1000.0 * volume) - 1.0).abs() < 1e-13);
            // Points thrown at random into the box around the segment.
            let most = start.max(end);
            let (mut count, mut center, mut squares) = (0.0, DVec3::ZERO, DVec3::ZERO);
            for _ in 0..400_000 {
                let p = DVec3::new(
                    random.range(-most, most),
                    random.range(-most, most),
                    random.range(0.0, length),
                );
                let radius = start + (end - start) * p.z / length;
                if p.x * p.x + p.y * p.y <= radius * radius {
                    (count, center, squares) = (count + 1.0, center + p, squares + p * p);
                }
            }
            let center = center / count;
            assert!((part.mass.center_of_mass - center).length() < 2e-3 * length);
            let s = squares / count - center * center;
            let sampled = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * part.mass.mass;
            let exact = part.mass.inertia.diagonal();
            assert!((sampled / exact - DVec3::ONE).abs().max_element() < 0.01, "{sampled} {exact}");
        }
    }
}
