//! How many substeps a step needs, from what contacts carry and how large their bodies are.
//!
//! # Reference
//!
//! Own. A spring as stiff as substeps of h allow has a frequency of 1/(4h): under a load F it gives way by F/(m ω²), which is of the order a h² with
//! a = F/m.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a` | weight on a patch over the mass of its bodies side by side | m/s² |
//! | `size` | edge of the cube that has the inertia of the smaller body | m |
//! | `carried` | a/g: about twice how many bodies rest on the patch | - |
//! | `slender` | patches that rest on each other, over all patches: 1 for a stack | - |
//!
//! # Formula
//!
//! ```text
//! depth of a stack ~ a h² · (how many rest on each other)/2 ≤ size/1000,   the less urgent the wider the pile
//! a pile stands    h² ~ size/(a · carried)
//! ```
//!
//! Loads by heights and masses alone, each body resting on all below it alike: what impulses tell changes while a pile settles, and stiffness that changes feeds
//! it. Means over all patches, weighted by `carried`.
//!
//! # Cost
//!
//! Some thirty operations per patch, and sorting them.
//!
//! # Numerics
//!
//! Sums in the order of manifolds: the same number for any number of threads. The number is rounded up to one of a few, so that it seldom changes.
//!
//! # Failure
//!
//! None: numbers that are not finite need the least.
//!
//! # Tested by
//!
//! `tests/time_soft_scales.rs` of `sim-steppers`

use super::{SoftBodies, SoftManifold, SoftParams, lane::Slot};

/// A stack sinks by less than a thousandth of a size with DEPTH dt √(a/size) substeps. Measured with stacks of 3 to 20 boxes.
const DEPTH: f64 = 27.0;
/// The same for piles to stand at all. Measured with walls of 10 to 30 rows.
const STAND: f64 = 2.6;
/// What is farther apart than this share of its size does not rest on the other.
const NEAR: f64 = 0.15;
/// How stiff the springs of a wide pile are, as a share of what substeps allow.
const WIDE: f64 = 0.65;
/// Most substeps for a wide pile to stand.
const MOST_TO_STAND: f64 = 32.0;

/// Edge of the cube with the inertia of a body, m; infinite for one that nothing moves.
fn edge(inv: &Slot) -> f64 {
    if inv[0] > 0.0 { (18.0 * inv[0] / (inv[1] + inv[2] + inv[3])).sqrt() } else { f64::INFINITY }
}

/// What rests on what, as far as masses and heights tell.
#[derive(Debug, Default)]
pub(super) struct Loads {
    /// Patches with a body that has weight: height of the upper body, which manifold, upper and lower body.
    order: Vec<(f64, u32, [u32; 2])>,
    /// By place: on how many patches it rests, and the mass that rests on it, kg.
    feet: Vec<f64>,
    carried: Vec<f64>,
}

impl Loads {
    /// How many substeps a step of `dt` seconds needs, and how stiff springs are, as a share of what substeps allow.
    pub(super) fn substeps(
        &mut self,
        params: &SoftParams,
        bodies: &SoftBodies,
        manifolds: &[SoftManifold],
        dt: f64,
    ) -> (u32, f64) {
        let square = |a: &Slot| a[3] * a[3] + a[4] * a[4] + a[5] * a[5];
        let strongest = |x: [f64; 4], a: &Slot| {
            let y = square(a);
            if y > x[3] { [a[3], a[4], a[5], y] } else { x }
        };
        let [x, y, z, squared] = bodies.accelerations.iter().fold([0.0; 4], strongest);
        let pull = squared.sqrt();
        if pull <= 0.0 || !pull.is_finite() {
            return (params.substeps, WIDE);
        }
        let places = bodies.territories.places();
        self.feet.clear();
        self.feet.resize(places.len().max(bodies.inv_masses.len()), 0.0);
        self.carried.clear();
        self.carried.resize(self.feet.len(), 0.0);
        self.order.clear();
        for (k, m) in (0..).zip(manifolds).filter(|(_, m)| !m.is_empty()) {
            let pair = m.bodies.map(|body| places[body as usize]);
            let height = |place: u32| {
                let at = &bodies.poses[place as usize];
                -(at[4] * x + at[5] * y + at[6] * z)
            };
            let gap = m.gaps().iter().copied().fold(f64::INFINITY, f64::min);
            let size = pair.map(|place| edge(&bodies.inv_masses[place as usize]));
            if gap > NEAR * size[0].min(size[1]) {
                continue;
            }
            let weighs = pair.map(|place| bodies.inv_masses[place as usize][0] > 0.0);
            let [a, b] = pair.map(height);
            let upper = match weighs {
                [true, true] => usize::from(b > a),
                [false, false] => continue,
                [_, b] => usize::from(b),
            };
            self.feet[pair[upper] as usize] += 1.0;
            self.order.push(([a, b][upper], k, [pair[upper], pair[1 - upper]]));
        }
        self.order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (mut weights, mut urgent, mut carried) = (0.0, 0.0, 0.0);
        for &(_, _, pair) in &self.order {
            let [upper, lower] = pair.map(|place| place as usize);
            let [of_upper, of_lower] = [upper, lower].map(|place| &bodies.inv_masses[place]);
            let load = (1.0 / of_upper[0] + self.carried[upper]) / self.feet[upper];
            self.carried[lower] += load;
            let size = edge(of_upper).min(edge(of_lower));
            let many = load * (of_upper[0] + of_lower[0]);
            if size > 0.0 && size.is_finite() && many.is_finite() {
                weights += many;
                urgent += many * many * pull / size;
                carried += many * many;
            }
        }
        if weights <= 0.0 {
            return (params.substeps, WIDE);
        }
        let (urgent, carried, patches) = (urgent / weights, carried / weights, self.order.len() as f64);
        let above = (0.8 * carried + 0.5).min(patches).max(1.0);
        let slender = above / patches;
        let for_depth = DEPTH * dt * (urgent * (0.5 * above).max(1.0)).sqrt() * slender;
        let to_stand = (STAND * dt * (urgent * carried).sqrt()).min(MOST_TO_STAND);
        // A wide pile has many ways to shake, and rests better on softer springs.
        (rounded(params, for_depth.max(to_stand)), WIDE + (1.0 - WIDE) * slender)
    }
}

/// The next of 4, 6, 8, 12, 16 and so on.
fn rounded(params: &SoftParams, wanted: f64) -> u32 {
    let most = params.max_substeps.max(params.substeps);
    let wanted = wanted.min(f64::from(most));
    let (mut out, mut step) = (params.substeps, (params.substeps / 2).max(1));
    while f64::from(out) < wanted {
        out += step;
        if f64::from(out) < wanted {
            out += step;
            step *= 2;
        }
    }
    out.min(most)
}
