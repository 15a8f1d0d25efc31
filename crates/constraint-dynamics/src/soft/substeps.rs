//! How many substeps a step needs, from what contacts carry and how large their bodies are.
//!
//! # Reference
//!
//! Own; for columns that buckle under their own weight Greenhill (1881): a column of stiffness EI and weight w per length stands up to H³ = 7.84 EI/w.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | mean acceleration of all bodies, by their masses | m/s² |
//! | `load` | mass that a patch carries | kg |
//! | `edge` | of the cube that has the inertia of a body; of two bodies the smaller one | m |
//! | ω | frequency of the springs, [`STIFF`] of a quarter of the substep rate; twice that at points, edges and on what does not move | rad/s |
//! | m, λ | mass, and largest inverse moment of inertia about a horizontal axis | kg, 1/(kg·m²) |
//! | H, L | height of what rests on a patch, number of bodies on top of each other in its island | m, - |
//!
//! # Formula
//!
//! ```text
//! a patch gives way by     d = load (1/m + 1/m') g/ω²;   a body sinks by the sum of d below it
//! it sinks little          Σ d ≤ 0.9 edge/1000 · max(1, patches of the island/24, all patches/768)²,  at points and edges four times that
//! it does not buckle       ω² ≥ 1.25 load (λ + λ') g H L/7.84
//! ```
//!
//! Two bodies on each other resist tilting with ω²/(λ + λ'): bodies of mass m and height b are a column with EI = b ω²/(2λ) and w = m g/b, and n of them stand if
//! n³ b m g < 7.84 ω²/(2λ). With load = n m, H = n b, L = n that is the line above without its factor 1.25, which is for safety.
//!
//! Loads by heights and masses alone, each body resting alike on all patches below it whose normal is within 60° of the vertical: what impulses tell changes while
//! a pile settles, and stiffness that changes feeds it. What nothing holds up does not count. The patch that needs most decides for all.
//!
//! # Cost
//!
//! Some fifty operations per patch, and sorting them.
//!
//! # Numerics
//!
//! Sums in the order of heights, then of manifolds: the same number for any number of threads. The number is rounded up to one of a few, so that it seldom changes.
//!
//! # Failure
//!
//! None: numbers that are not finite need the least, and no step has more than [`SoftParams::max_substeps`].
//!
//! # Tested by
//!
//! `tests/time_soft_scales.rs` of `sim-steppers`

use super::{
    SoftBodies, SoftManifold, SoftParams,
    lane::{Axes, Slot, Vec3},
};

/// Frequency of springs as a share of a quarter of the substep rate: one sweep over a pile does not follow stiffer ones.
pub(super) const STIFF: f64 = 0.65;
/// What a body may sink by, as a share of its edge.
const SINK: f64 = 9e-4;
/// How much deeper points and edges may sink.
const POINTS: f64 = 4.0;
/// Islands of more patches, and those of scenes of more, may sink deeper: their substeps cost more.
const FEW_PATCHES: [f64; 2] = [24.0, 768.0];
/// Safety over Greenhill's column.
const SAFETY: f64 = 1.25;
/// What is farther apart than this share of its size does not rest on the other.
const NEAR: f64 = 0.15;
/// A patch carries weight if its normal has this share of its length along the vertical.
const UPRIGHT: f64 = 0.5;

/// Edge of the cube with the inertia of a body, m; infinite for one that nothing moves.
fn edge(inv: &Slot) -> f64 {
    if inv[0] > 0.0 { (18.0 * inv[0] / (inv[1] + inv[2] + inv[3])).sqrt() } else { f64::INFINITY }
}

/// Largest inverse moment of inertia about an axis normal to `down`, 1/(kg·m²): with A the inverse inertia, t the trace and q the determinant of what is left
/// of it in that plane.
fn tilt(inv: &Slot, down: &[f64; 3]) -> f64 {
    let [_, xx, yy, zz, xy, xz, yz, _] = inv.0;
    let along = |xx: f64, yy: f64, zz: f64, xy: f64, xz: f64, yz: f64| {
        let [x, y, z] = *down;
        xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + xz * x * z + yz * y * z)
    };
    let t = xx + yy + zz - along(xx, yy, zz, xy, xz, yz);
    let (xs, ys, zs) = (yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy);
    let q = along(xs, ys, zs, xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx);
    0.5 * t + (0.25 * t * t - q).max(0.0).sqrt()
}

/// A patch with a body that has weight.
#[derive(Debug, Clone, Copy)]
struct Rest {
    /// Height of the upper body, m.
    height: f64,
    manifold: u32,
    upper: u32,
    lower: u32,
    /// It has three points or more.
    is_face: bool,
    /// Mass that it carries, kg.
    load: f64,
}

/// What is known of the body of a place.
#[derive(Debug, Clone, Copy, Default)]
struct Carrier {
    /// On how many patches it rests, and the mass that rests on it, kg.
    feet: f64,
    carried: f64,
    /// Height of the highest body that rests on it, m.
    top: f64,
    /// Bodies below it, this one included, and how far it sinks, times ω², m/s².
    level: f64,
    sunk: f64,
    /// Another place of its island; of the first: patches and highest level of the island.
    island: u32,
    patches: f64,
    most: f64,
}

/// What rests on what, as far as masses and heights tell.
#[derive(Debug, Default)]
pub(super) struct Loads {
    /// g, m/s², the smallest edge of all bodies, m, and the most bodies on top of each other, of the last step.
    pub(super) scales: [f64; 3],
    rests: Vec<Rest>,
    carriers: Vec<Carrier>,
}

impl Loads {
    /// How many substeps a step of `dt` seconds needs.
    pub(super) fn substeps(
        &mut self,
        params: &SoftParams,
        bodies: &SoftBodies,
        manifolds: &[SoftManifold],
        dt: f64,
    ) -> u32 {
        let ([x, y, z], smallest) = mean_acceleration(bodies);
        let pull = (x * x + y * y + z * z).sqrt();
        self.scales = [pull, if smallest.is_finite() { smallest } else { 0.0 }, 0.0];
        if !(pull > 0.0 && pull.is_finite()) {
            return params.substeps;
        }
        let down = [x / pull, y / pull, z / pull];
        self.find(bodies, manifolds, down);
        // Down: loads and heights.
        for rest in &mut self.rests {
            let [upper, lower] = [rest.upper as usize, rest.lower as usize];
            let above = self.carriers[upper];
            rest.load = (1.0 / bodies.inv_masses[upper][0] + above.carried) / above.feet;
            self.carriers[lower].carried += rest.load;
            self.carriers[lower].top = self.carriers[lower].top.max(above.top);
        }
        // Up: how many are below, and how deep all sinks.
        let mut squared = 0.0_f64;
        let all = self.rests.len() as f64 / FEW_PATCHES[1];
        for rest in self.rests.iter().rev() {
            let [upper, lower] = [rest.upper as usize, rest.lower as usize];
            let (inv, below) = ([upper, lower].map(|k| &bodies.inv_masses[k]), self.carriers[lower]);
            let is_ground = inv[1][0] <= 0.0;
            if !is_ground && below.level <= 0.0 {
                continue;
            }
            let depth = rest.load
                * (inv[0][0] + inv[1][0])
                * pull
                * if is_ground || !rest.is_face { 0.25 } else { 1.0 };
            let island = root(&self.carriers, rest.upper);
            let first = &mut self.carriers[island];
            first.most = first.most.max(below.level + 1.0);
            self.scales[2] = self.scales[2].max(first.most);
            let allowed = (first.patches / FEW_PATCHES[0]).max(all).max(1.0);
            let body = &mut self.carriers[upper];
            body.level = body.level.max(below.level + 1.0);
            body.sunk = body.sunk.max(below.sunk + depth);
            let sink = SINK * if rest.is_face { 1.0 } else { POINTS };
            let needed = body.sunk / (sink * edge(inv[0]).min(edge(inv[1])) * allowed * allowed);
            squared = if needed.is_finite() { squared.max(needed) } else { squared };
        }
        for rest in
            self.rests.iter().filter(|rest| rest.is_face && self.carriers[rest.upper as usize].level > 0.0)
        {
            let pair = [rest.upper, rest.lower].map(|k| &bodies.inv_masses[k as usize]);
            let level = self.carriers[root(&self.carriers, rest.upper)].most;
            let height =
                self.carriers[rest.upper as usize].top - rest.height + edge(pair[0]).min(edge(pair[1]));
            let tilts = pair.map(|inv| tilt(inv, &down));
            let safety = SAFETY * if pair[1][0] > 0.0 { 1.0 } else { 0.25 };
            let needed = safety * rest.load * (tilts[0] + tilts[1]) * pull * height * level / 7.84;
            squared = if needed.is_finite() { squared.max(needed) } else { squared };
        }
        rounded(params, squared.sqrt() * dt / (std::f64::consts::TAU * 0.25 * STIFF))
    }

    /// Finds what rests on what, the highest first; `down`: the direction of weight.
    fn find(&mut self, bodies: &SoftBodies, manifolds: &[SoftManifold], down: [f64; 3]) {
        let places = bodies.territories.places();
        let height = |place: u32| {
            let at = &bodies.poses[place as usize];
            -(at[4] * down[0] + at[5] * down[1] + at[6] * down[2])
        };
        self.carriers.clear();
        let count = bodies.inv_masses.len() as u32;
        self.carriers.extend((0..count).map(|k| Carrier { top: height(k), island: k, ..Carrier::default() }));
        self.rests.clear();
        for (manifold, m) in (0..).zip(manifolds).filter(|(_, m)| !m.is_empty()) {
            let pair = m.bodies.map(|body| places[body as usize]);
            let gap = m.gaps().iter().copied().fold(f64::INFINITY, f64::min);
            let size = pair.map(|place| edge(&bodies.inv_masses[place as usize]));
            if gap > NEAR * size[0].min(size[1]) {
                continue;
            }
            let [n_x, n_y, n_z] = normal(m, pair.map(|place| &bodies.poses[place as usize]));
            let up = -(n_x * down[0] + n_y * down[1] + n_z * down[2]);
            // The normal goes from B to A.
            let upper = usize::from(up < 0.0);
            let weighs = pair.map(|place| bodies.inv_masses[place as usize][0] > 0.0);
            if up.abs() < UPRIGHT || !weighs[upper] {
                continue;
            }
            if weighs == [true; 2] {
                unite(&mut self.carriers, pair);
            }
            self.carriers[pair[upper] as usize].feet += 1.0;
            self.rests.push(Rest {
                height: height(pair[upper]),
                manifold,
                upper: pair[upper],
                lower: pair[1 - upper],
                is_face: m.len() > 2,
                load: 0.0,
            });
        }
        for rest in &self.rests {
            let first = root(&self.carriers, rest.upper);
            self.carriers[first].patches += 1.0;
        }
        self.rests.sort_unstable_by(|a, b| b.height.total_cmp(&a.height).then(a.manifold.cmp(&b.manifold)));
    }
}

/// The normal of a manifold in world axes, given the poses of its bodies.
fn normal(m: &SoftManifold, poses: [&Slot; 2]) -> [f64; 3] {
    let [x, y, z, .., side] = m.head.0;
    let pose = match side {
        side if side < 0.0 => poses[0],
        side if side > 0.0 => poses[1],
        _ => return [x, y, z],
    };
    let turned = Axes::new([pose[0], pose[1], pose[2], pose[3]]).turn(Vec3 { x, y, z });
    [turned.x, turned.y, turned.z]
}

/// The first place of the island of a place.
fn root(carriers: &[Carrier], mut place: u32) -> usize {
    while carriers[place as usize].island != place {
        place = carriers[place as usize].island;
    }
    place as usize
}

/// Makes one island of those of two places: the lower number is its first.
fn unite(carriers: &mut [Carrier], pair: [u32; 2]) {
    let [a, b] = pair.map(|place| root(carriers, place) as u32);
    for place in pair {
        // Shorter ways for those who ask later.
        carriers[place as usize].island = a.min(b);
    }
    carriers[a.max(b) as usize].island = a.min(b);
}

/// Mean acceleration of all bodies that have weight, by their masses, m/s², and the smallest of their edges, m.
fn mean_acceleration(bodies: &SoftBodies) -> ([f64; 3], f64) {
    let (mut sum, mut mass, mut smallest) = ([0.0; 3], 0.0, f64::INFINITY);
    for (a, inv) in bodies.accelerations.iter().zip(&bodies.inv_masses).filter(|(_, inv)| inv[0] > 0.0) {
        let m = 1.0 / inv[0];
        mass += m;
        smallest = smallest.min(18.0 / (m * (inv[1] + inv[2] + inv[3])));
        sum.iter_mut().zip(&a[3..6]).for_each(|(sum, a)| *sum += m * a);
    }
    (if mass > 0.0 { sum.map(|x| x / mass) } else { sum }, smallest.sqrt())
}

/// The next of 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 and so on.
fn rounded(params: &SoftParams, wanted: f64) -> u32 {
    let most = params.max_substeps.max(params.substeps);
    let wanted = wanted.min(f64::from(most));
    let mut out = params.substeps;
    while f64::from(out) < wanted {
        let octave = (out / params.substeps).max(1).ilog2();
        out += ((params.substeps << octave) / 4).max(1);
    }
    out.min(most)
}
