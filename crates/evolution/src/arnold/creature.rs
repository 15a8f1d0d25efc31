//! The genome of Arnold's animals.
//!
//! # Reference
//!
//! Arnold (1997), sections 3.2 and 3.3. The thesis gives no sizes, masses or mutation strengths: those here are our own.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `trunk` | semi-axes a, b, c along x (ahead), y (left), z (up); a b c is the same for all | m |
//! | `hip`, `knee` | orientation of a joint in the part before it; the limb goes along z, the hinge about x | - |
//! | Δ, `resolution` | time between samples of all drives | s |
//!
//! # Formula
//!
//! ```text
//! recombination: number of pairs and Δ of one parent; trunk the mean, rescaled to its volume; each whole limb pair of one parent, drives included
//! mutation: log a, log b, log c += e − mean(e);   lengths += N, back from their bounds like balls;   angle += N, axis += N and made unit
//! drives: see `spectrum`;   Δ += N(0, (0.03 Δ)²), back from its bounds
//! ```
//!
//! # Cost
//!
//! About 150 numbers.
//!
//! # Numerics
//!
//! The volume of the trunk is restored after every operator, to 1e-12. Changes have mean zero: of logarithms for the trunk, of values elsewhere.
//!
//! # Failure
//!
//! A number beyond its bounds, named with its limb pair.
//!
//! # Tested by
//!
//! `creatures_conform`, `volume_is_kept`, `limb_pairs_come_whole`, `mutations_do_not_drift`, `frozen_classes_stay_as_they_are`

use super::spectrum::{Spectrum, SpectrumDesign};
use crate::{
    error::EvolutionError,
    genome::{Genome, Rate, Rates},
    random::Random,
    search::vector::reflect,
};
use serde::{Deserialize, Serialize};
use sim_math::{
    glam::{DQuat, DVec3},
    ops,
};

/// What the creatures of a run have in common.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreatureDesign {
    /// How many limb pairs there may be: 2 to 3. Default both.
    pub pairs: [usize; 2],
    /// Product of the semi-axes of the trunk, m³. Default that of 0.267 x 0.134 x 0.134 m.
    pub trunk_product: f64,
    /// Largest ratio of a semi-axis to the radius of a ball of that volume, or the other way. Default 2.
    pub trunk_ratio: f64,
    /// Least and largest length of a limb segment, m. Default 0.2 and 0.5.
    pub length: [f64; 2],
    /// Least and largest radius of a limb, m. Default 0.02 and 0.06.
    pub radius: [f64; 2],
    /// Least and largest length of a period of the drives, s. Default 0.4 and 3.
    pub period: [f64; 2],
    /// Density of all parts, kg/m³. Default 1000.
    pub density: f64,
    /// Drives.
    pub spectrum: SpectrumDesign,
}

impl Default for CreatureDesign {
    fn default() -> Self {
        Self {
            pairs: [2, 3],
            trunk_product: 0.267 * 0.134 * 0.134,
            trunk_ratio: 2.0,
            length: [0.2, 0.5],
            radius: [0.02, 0.06],
            period: [0.4, 3.0],
            density: 1000.0,
            spectrum: SpectrumDesign::default(),
        }
    }
}

impl CreatureDesign {
    /// Creatures of four legs only.
    #[must_use]
    pub fn quadruped() -> Self {
        Self { pairs: [2, 2], ..Self::default() }
    }

    /// Creatures of six legs only.
    #[must_use]
    pub fn hexapod() -> Self {
        Self { pairs: [3, 3], ..Self::default() }
    }

    /// Radius of the ball that has the volume of the trunk, m.
    fn ball(&self) -> f64 {
        ops::cbrt(self.trunk_product)
    }
}

/// Two limbs that mirror each other, and their drives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimbPair {
    /// Radii at hip, knee and foot, m.
    pub radii: [f64; 3],
    /// Lengths of the upper and the lower segment, m.
    pub lengths: [f64; 2],
    /// Orientation of the left limb at the trunk.
    pub hip: DQuat,
    /// Orientation of the lower segment at the upper one.
    pub knee: DQuat,
    /// Set-points of hip and knee.
    pub drives: [Spectrum; 2],
    /// The right limb moves half a period after the left one, instead of together with it.
    pub alternating: bool,
}

/// The genome of an animal. Classes of mutation: `body` and `control`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Creature {
    /// Semi-axes of the trunk, m.
    pub trunk: DVec3,
    /// Front, rear and middle pair.
    pub pairs: Vec<LimbPair>,
    /// Time between samples of the drives, s.
    pub resolution: f64,
}

/// Standard deviations of a mutation of strength 1: of logarithms of the trunk, of lengths and radii as a share of their range, of angles and axes,
/// of Δ as a share.
const TRUNK: f64 = 0.03;
const SIZE: f64 = 0.05;
const TURN: f64 = 0.05;
const TIME: f64 = 0.03;

impl LimbPair {
    fn random(design: &CreatureDesign, random: &mut Random) -> Self {
        let within = |[low, high]: [f64; 2], random: &mut Random| random.range(low, high);
        let radii = std::array::from_fn(|_| within(design.radius, random));
        let lengths = std::array::from_fn(|_| within(design.length, random));
        // The left limb goes out to the left and hangs down, more or less.
        let tilt = DVec3::new(random.normal(), random.normal(), random.normal()) * 0.5;
        let hip = turn(tilt) * DQuat::from_rotation_arc(DVec3::Z, DVec3::new(0.0, 1.0, -1.0).normalize());
        let bend = DVec3::new(random.normal(), random.normal(), random.normal()) * 0.5;
        let drives = std::array::from_fn(|_| Spectrum::random(&design.spectrum, random));
        Self {
            radii,
            lengths,
            hip: hip.normalize(),
            knee: turn(bend),
            drives,
            alternating: random.chance(0.5),
        }
    }

    fn mutate(&mut self, design: &CreatureDesign, rates: &Rates, random: &mut Random) {
        let (body, control) = (rates.of("body"), rates.of("control"));
        let sizes = self.radii.iter_mut().map(|r| (r, design.radius));
        for (size, [low, high]) in sizes.chain(self.lengths.iter_mut().map(|l| (l, design.length))) {
            if let Some(change) = body.draw(random) {
                *size = reflect(*size + SIZE * (high - low) * change, low, high);
            }
        }
        for joint in [&mut self.hip, &mut self.knee] {
            mutate_rotation(joint, body, random);
        }
        self.drives.iter_mut().for_each(|drive| drive.mutate(&design.spectrum, control, random));
    }

    fn distance(&self, other: &Self) -> f64 {
        let sizes = self.radii.iter().zip(&other.radii).chain(self.lengths.iter().zip(&other.lengths));
        let mut sum: f64 = sizes.map(|(a, b)| (a - b) * (a - b)).sum();
        for (a, b) in [(self.hip, other.hip), (self.knee, other.knee)] {
            // Opposite quaternions are the same turn; equal ones are apart by zero, to the bit.
            sum += (a - b).length_squared().min((a + b).length_squared());
        }
        let drives: f64 = self.drives.iter().zip(&other.drives).map(|(a, b)| a.distance(b)).sum();
        sum.sqrt() + 0.1 * drives + f64::from(u8::from(self.alternating != other.alternating))
    }
}

/// The turn by a rotation vector.
fn turn(vector: DVec3) -> DQuat {
    let (sin, cos) = ops::sin_cos(0.5 * vector.length());
    let axis = vector.try_normalize().unwrap_or(DVec3::X) * sin;
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cos)
}

/// Changes angle and axis of a turn.
fn mutate_rotation(rotation: &mut DQuat, rate: Rate, random: &mut Random) {
    let Some(first) = rate.draw(random) else { return };
    let part = DVec3::new(rotation.x, rotation.y, rotation.z);
    let half = ops::atan2(part.length(), rotation.w) + 0.5 * TURN * first;
    let noise = DVec3::new(random.normal(), random.normal(), random.normal()) * (rate.strength * TURN);
    let axis = (part.try_normalize().unwrap_or(DVec3::X) + noise).try_normalize().unwrap_or(DVec3::X);
    let (sin, cos) = ops::sin_cos(half);
    *rotation = DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos).normalize();
}

/// The trunk of the right volume.
fn rescaled(trunk: DVec3, design: &CreatureDesign) -> DVec3 {
    trunk * ops::cbrt(design.trunk_product / (trunk.x * trunk.y * trunk.z))
}

impl Genome for Creature {
    type Design = CreatureDesign;

    fn random(design: &CreatureDesign, random: &mut Random) -> Self {
        let most = ops::ln(design.trunk_ratio);
        // The third logarithm is what is left, and within its bounds as well: half of them for each of the others.
        let [x, y] = std::array::from_fn(|_| random.range(-0.5 * most, 0.5 * most));
        let trunk = DVec3::new(ops::exp(x), ops::exp(y), ops::exp(-x - y)) * design.ball();
        let count = design.pairs[0] + random.below(design.pairs[1] + 1 - design.pairs[0]);
        let pairs = (0..count).map(|_| LimbPair::random(design, random)).collect();
        let [low, high] = design.period;
        let resolution = random.range(low, high) / design.spectrum.samples as f64;
        Self { trunk: rescaled(trunk, design), pairs, resolution }
    }

    fn mutate(&mut self, design: &CreatureDesign, rates: &Rates, random: &mut Random) {
        let (body, control) = (rates.of("body"), rates.of("control"));
        if body.probability > 0.0 && random.chance(body.probability) {
            let noise =
                DVec3::new(random.normal(), random.normal(), random.normal()) * (body.strength * TRUNK);
            let noise = noise - DVec3::splat(noise.element_sum() / 3.0);
            let grown = DVec3::new(ops::exp(noise.x), ops::exp(noise.y), ops::exp(noise.z)) * self.trunk;
            let ball = design.ball();
            // A step that leads out of the bounds is not taken: reflection of one axis alone would change the others.
            let ratio = |axis: f64| (axis / ball).max(ball / axis);
            if grown.to_array().into_iter().map(ratio).fold(0.0, f64::max) <= design.trunk_ratio {
                self.trunk = rescaled(grown, design);
            }
        }
        self.pairs.iter_mut().for_each(|pair| pair.mutate(design, rates, random));
        if let Some(change) = control.draw(random) {
            let [low, high] = design.period.map(|p| p / design.spectrum.samples as f64);
            self.resolution = reflect(self.resolution * (1.0 + TIME * change), low, high);
        }
    }

    fn recombine(&self, other: &Self, design: &CreatureDesign, random: &mut Random) -> Self {
        let one_of = |random: &mut Random| if random.chance(0.5) { self } else { other };
        let count = one_of(random).pairs.len();
        let pairs = (0..count)
            .filter_map(|k| {
                let chosen = one_of(random).pairs.get(k);
                chosen.or(self.pairs.get(k)).or(other.pairs.get(k)).cloned()
            })
            .collect();
        let trunk = rescaled((self.trunk + other.trunk) * 0.5, design);
        Self { trunk, pairs, resolution: one_of(random).resolution }
    }

    fn check(&self, design: &CreatureDesign) -> Result<(), EvolutionError> {
        let bad = |item: &str, what, must, value| {
            Err(EvolutionError::Genome { item: item.to_owned(), what, must, value })
        };
        let (few, many) = (design.pairs[0], design.pairs[1]);
        if !(few..=many).contains(&self.pairs.len()) {
            return bad("creature", "number of limb pairs", "within the design's", self.pairs.len() as f64);
        }
        let product = self.trunk.x * self.trunk.y * self.trunk.z;
        let close = (product / design.trunk_product - 1.0).abs() < 1e-9;
        if !(close && self.trunk.min_element() > 0.0) {
            return bad("trunk", "product of semi-axes", "that of the design", product);
        }
        let within =
            |value: f64, [low, high]: [f64; 2]| value >= low * (1.0 - 1e-12) && value <= high * (1.0 + 1e-12);
        let period = self.resolution * design.spectrum.samples as f64;
        if !within(period, design.period) {
            return bad("creature", "period of its drives", "within its bounds", period);
        }
        for (k, pair) in self.pairs.iter().enumerate() {
            let item = format!("limb pair {k}");
            for radius in pair.radii {
                if !within(radius, design.radius) {
                    return bad(&item, "radius", "within its bounds", radius);
                }
            }
            for length in pair.lengths {
                if !within(length, design.length) {
                    return bad(&item, "length", "within its bounds", length);
                }
            }
            for (what, turn) in
                [("length of the hip quaternion", pair.hip), ("length of the knee quaternion", pair.knee)]
            {
                let off = (turn.length() - 1.0).abs();
                if off.is_nan() || off > 1e-9 {
                    return bad(&item, what, "1", turn.length());
                }
            }
            for drive in &pair.drives {
                let wanted = design.spectrum.len();
                if drive.0.len() != wanted {
                    return bad(&item, "number of coefficients", "that of the design", drive.0.len() as f64);
                }
                if let Some(value) = drive.0.iter().flatten().find(|h| !h.is_finite()) {
                    return bad(&item, "coefficient", "finite", *value);
                }
            }
        }
        Ok(())
    }

    fn distance(&self, other: &Self) -> f64 {
        let pairs: f64 = self.pairs.iter().zip(&other.pairs).map(|(a, b)| a.distance(b)).sum();
        let trunk = (self.trunk - other.trunk).length();
        pairs
            + trunk
            + (self.resolution - other.resolution).abs()
            + self.pairs.len().abs_diff(other.pairs.len()) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::genome::conformance;

    fn design() -> CreatureDesign {
        CreatureDesign::default()
    }

    // proves: ARN-75
    #[test]
    fn creatures_conform() {
        conformance::<Creature>(&design(), 200);
        conformance::<Creature>(&CreatureDesign::hexapod(), 20);
        conformance::<Creature>(&CreatureDesign::quadruped(), 20);
        let creature = Creature::random(&CreatureDesign::quadruped(), &mut Random::new(1));
        // Two pairs of 5 sizes, 2 turns and 2 x 8 coefficients, a trunk and a time: 8 bytes each, and counts.
        assert_eq!(creature.store().unwrap().len(), 8 * (4 + 2 * (5 + 8 + 32)) + 1 + 2 * 3);
    }

    // proves: ARN-76
    #[test]
    fn volume_is_kept() {
        let (design, mut random) = (design(), Random::new(2));
        let mut creatures: Vec<Creature> = (0..10).map(|_| Creature::random(&design, &mut random)).collect();
        for _ in 0..10_000 {
            let [a, b] = [random.below(10), random.below(10)];
            let mut child = creatures[a].recombine(&creatures[b], &design, &mut random);
            child.mutate(&design, &Rates::default(), &mut random);
            let product = child.trunk.x * child.trunk.y * child.trunk.z;
            assert!((product / design.trunk_product - 1.0).abs() < 1e-12, "{product}");
            child.check(&design).unwrap();
            creatures[random.below(10)] = child;
        }
    }

    // proves: ARN-80, ARN-87
    #[test]
    fn limb_pairs_come_whole() {
        let (design, mut random) = (design(), Random::new(3));
        let mut counts = [0; 2];
        for _ in 0..500 {
            let [a, b] = [(); 2].map(|()| Creature::random(&design, &mut random));
            let child = a.recombine(&b, &design, &mut random);
            assert!([a.pairs.len(), b.pairs.len()].contains(&child.pairs.len()));
            for (k, pair) in child.pairs.iter().enumerate() {
                let of = [&a, &b].map(|parent| parent.pairs.get(k) == Some(pair));
                assert!(of[0] || of[1], "geometry and drives of one parent");
                if a.pairs.len() == b.pairs.len() {
                    counts[usize::from(of[1])] += 1;
                }
            }
            let middle = (a.trunk + b.trunk) * 0.5;
            assert!((child.trunk / middle).to_array().windows(2).all(|w| (w[0] / w[1] - 1.0).abs() < 1e-12));
        }
        let share = f64::from(counts[0]) / f64::from(counts[0] + counts[1]);
        assert!((share - 0.5).abs() < 0.08, "{share}");
    }

    // proves: ARN-66, ARN-81
    #[test]
    fn mutations_do_not_drift() {
        let (design, mut random) = (CreatureDesign::quadruped(), Random::new(4));
        let mut start = Creature::random(&design, &mut random);
        // Far from all bounds.
        start.trunk = DVec3::splat(design.ball());
        start.resolution = 0.1;
        for pair in &mut start.pairs {
            (pair.radii, pair.lengths) = ([0.04; 3], [0.35; 2]);
            (pair.hip, pair.knee) = (turn(DVec3::new(0.3, -0.7, 0.9)), turn(DVec3::new(-1.1, 0.4, 0.2)));
        }
        let rotation = |q: DQuat| {
            let part = DVec3::new(q.x, q.y, q.z);
            (2.0 * ops::atan2(part.length(), q.w), part.normalize())
        };
        let numbers = |c: &Creature| {
            let pair = &c.pairs[0];
            let (angle, axis) = rotation(pair.hip);
            let (_, first) = rotation(start.pairs[0].hip);
            let across = first.any_orthonormal_pair();
            let log = |x: f64| ops::ln(x);
            vec![
                log(c.trunk.x),
                log(c.trunk.y),
                log(c.trunk.z),
                pair.radii[0],
                pair.lengths[1],
                angle,
                axis.dot(across.0),
                axis.dot(across.1),
                pair.drives[0].0[0][0],
                pair.drives[1].0[3][0],
                pair.drives[1].0[3][1],
                c.resolution,
            ]
        };
        let before = numbers(&start);
        let n = 100_000;
        let (mut sums, mut squares) = (vec![0.0; before.len()], vec![0.0; before.len()]);
        let mut far = 0.0_f64;
        for _ in 0..n {
            let mut child = start.clone();
            child.mutate(&design, &Rates::default(), &mut random);
            assert!((child.pairs[0].hip.length() - 1.0).abs() < 1e-12);
            far = far.max(child.distance(&start));
            for (k, (x, y)) in numbers(&child).iter().zip(&before).enumerate() {
                sums[k] += x - y;
                squares[k] += (x - y) * (x - y);
            }
        }
        let n = f64::from(n);
        for (k, (sum, square)) in sums.iter().zip(&squares).enumerate() {
            let deviation = (square / n).sqrt();
            // A shift in time turns coefficients: their mean shrinks by a part of the second order, 2π²·(0.03 n)² of their size.
            let turned = if (9..11).contains(&k) { 20.0 * 0.09 * 0.09 * before[k].abs() } else { 0.0 };
            assert!(
                (sum / n).abs() < 4.0 * deviation / n.sqrt() + turned,
                "number {k}: {} ± {deviation}",
                sum / n
            );
            assert!(deviation > 0.0);
        }
        assert!(far < 5.0, "{far}");
    }

    // proves: FON-122
    #[test]
    fn frozen_classes_stay_as_they_are() {
        let (design, mut random) = (design(), Random::new(5));
        for _ in 0..50 {
            let start = Creature::random(&design, &mut random);
            let [mut body, mut control] = [start.clone(), start.clone()];
            body.mutate(&design, &Rates::default().with("control", Rate::FROZEN), &mut random);
            control.mutate(&design, &Rates::default().with("body", Rate::FROZEN), &mut random);
            assert!(body.resolution == start.resolution && body.trunk != start.trunk);
            assert!(control.resolution != start.resolution && control.trunk == start.trunk);
            for ((a, b), s) in body.pairs.iter().zip(&control.pairs).zip(&start.pairs) {
                assert!(a.drives == s.drives && a.hip != s.hip);
                assert!(b.drives != s.drives && (b.hip, b.radii, b.lengths) == (s.hip, s.radii, s.lengths));
            }
        }
    }

    #[test]
    fn what_cannot_be_built_is_named() {
        let (design, mut random) = (design(), Random::new(6));
        let creature = Creature::random(&design, &mut random);
        let text = |change: &dyn Fn(&mut Creature)| {
            let mut bad = creature.clone();
            change(&mut bad);
            bad.check(&design).unwrap_err().to_string()
        };
        assert_eq!(
            text(&|c| c.pairs[1].lengths[0] = 0.7),
            "limb pair 1: length must be within its bounds, got 0.7"
        );
        assert_eq!(
            text(&|c| c.pairs[0].radii[2] = f64::NAN),
            "limb pair 0: radius must be within its bounds, got NaN"
        );
        assert!(text(&|c| c.pairs.clear()).contains("number of limb pairs"));
        assert!(text(&|c| c.trunk.x *= 2.0).contains("product of semi-axes"));
        assert!(text(&|c| c.trunk = -c.trunk).contains("product of semi-axes"));
        assert!(text(&|c| c.resolution = 0.0).contains("period"));
        assert!(
            text(&|c| c.pairs[0].knee = DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0)).contains("knee quaternion")
        );
        assert!(
            text(&|c| c.pairs[0].drives[1].0[3][1] = f64::INFINITY).contains("coefficient must be finite")
        );
        assert!(text(&|c| c.pairs[0].drives[0].0.truncate(3)).contains("number of coefficients"));
    }
}
