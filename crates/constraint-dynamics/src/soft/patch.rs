//! One contact patch as the kernel sees it: up to four normal impulses and one friction impulse, solved as two small blocks.
//!
//! # Reference
//!
//! Catto (2011), *Soft constraints*: a contact as a damped spring of stated frequency, solved implicitly; Catto (2024), `Solver2D`:
//! substeps with a relaxing pass that takes the spring's velocity out again.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `p` | normal impulse of each point during one substep, p ≥ 0 | N·s |
//! | `f` | friction impulse: two tangents and a twist about the normal, at the pressure centre | N·s, N·m·s |
//! | `k` | K = J M⁻¹ Jᵀ of the four normal rows, upper triangle without the diagonal | 1/kg |
//! | `gap` | separation at the start of the step | m |
//! | `x` | displacement of the two bodies since the start of the step | m, rad |
//! | `rate`, `keep`, `fade` | ω/(2ζ + hω), a₂a₃, a₃ with a₂ = hω(2ζ + hω), a₃ = 1/(1 + a₂) | 1/s, -, - |
//!
//! # Formula
//!
//! ```text
//! s = gap + J x
//! apart,   s > 0:  Δp = −(J v + s/h)/K                    speculative: may come up to touch
//! inside,  s ≤ 0:  Δp = −keep (J v + max(rate s, −v_max))/K − fade p
//! relaxing:        Δp = −J v/K
//! Gauss-Seidel within the block, p ≥ 0;  |f₁₂| ≤ μ Σp,  |f₃| ≤ μ Σ p_i d_i, d_i the distance from the pressure centre
//! ```
//!
//! # Cost
//!
//! About 400 multiplications and additions per pass; four patches at once with [`Four`](super::lane::Four).
//!
//! # Numerics
//!
//! Displacements are small over one step, so J stays that of its start. Lanes have the bits of a single patch.
//!
//! # Failure
//!
//! None: a point that nothing can move has no impulse.
//!
//! # Tested by
//!
//! `lanes_have_the_bits_of_single_patches`, `a_box_comes_to_rest_on_a_plane_and_carries_its_weight`

use super::{
    SoftBodies, SoftManifold,
    lane::{Lane, Slot, Sym, Vec3},
};
use sim_math::glam::DVec3;
use sim_traits::Manifold;

/// Rows of a patch.
const ROWS: usize = Manifold::CAPACITY;

/// Spring of a contact, see the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spring {
    pub(super) rate: f64,
    pub(super) keep: f64,
    pub(super) fade: f64,
}

impl Spring {
    /// Spring of a frequency (Hz) and damping ratio for substeps of `h` seconds.
    pub(super) fn new(hertz: f64, damping: f64, h: f64) -> Self {
        let omega = std::f64::consts::TAU * hertz;
        let a1 = 2.0 * damping + h * omega;
        let a2 = h * omega * a1;
        let a3 = 1.0 / (1.0 + a2);
        Self { rate: omega / a1, keep: a2 * a3, fade: a3 }
    }
}

/// What a pass does about penetration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pass {
    /// Springs push apart.
    Push,
    /// Springs are let go.
    Relax,
}

/// What all patches of a step share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared {
    /// 1/h, 1/s.
    pub(super) inv_h: f64,
    /// Largest speed of pushing apart, m/s.
    pub(super) max_push: f64,
    /// Approach above which restitution acts, m/s.
    pub(super) bounce_from: f64,
}

/// One normal row.
#[derive(Debug, Clone, Copy)]
struct Row<L> {
    /// Arms of A and B crossed with the normal, m.
    an: Vec3<L>,
    bn: Vec3<L>,
    gap: L,
    p: L,
    /// Largest impulse of any substep.
    p_max: L,
    /// Normal velocity before the step, m/s.
    approach: L,
    inv_k: L,
    /// Distance from the pressure centre, m.
    reach: L,
}

/// Patches side by side, one in each lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch<L> {
    bodies: [[u32; 2]; 4],
    manifold: [u32; 4],
    n: Vec3<L>,
    t: Vec3<L>,
    inv_mass: [L; 2],
    inv_inertia: [Sym<L>; 2],
    rows: [Row<L>; ROWS],
    k: [L; 6],
    /// Arms of the pressure centre, m.
    center: [Vec3<L>; 2],
    f: [L; 3],
    inv_friction: Sym<L>,
    mu: L,
    restitution: L,
    rate: L,
    keep: L,
    fade: L,
}

/// Velocity or displacement of a body in every lane.
#[derive(Debug, Clone, Copy)]
struct Twist<L> {
    angular: Vec3<L>,
    linear: Vec3<L>,
}

#[inline(always)]
fn gather<L: Lane>(from: &[Slot], bodies: &[[u32; 2]; 4], side: usize) -> Twist<L> {
    // Whole rows are loaded and then transposed: much faster than fetching number by number.
    let [x, y, z, u, v, w, ..] = L::columns(|lane| &from[bodies[lane][side] as usize]);
    Twist { angular: Vec3 { x, y, z }, linear: Vec3 { x: u, y: v, z: w } }
}

#[inline(always)]
fn scatter<L: Lane>(to: &mut [Slot], bodies: &[[u32; 2]; 4], side: usize, twist: &Twist<L>) {
    let Twist { angular: a, linear: l } = twist;
    let zero = L::splat(0.0);
    let rows = L::rows([a.x, a.y, a.z, l.x, l.y, l.z, zero, zero]);
    for lane in 0..L::LANES {
        to[bodies[lane][side] as usize] = rows[lane];
    }
}

/// Which entry of `k` couples two rows.
const COUPLING: [[usize; ROWS]; ROWS] = [[0, 0, 1, 2], [0, 0, 3, 4], [1, 3, 0, 5], [2, 4, 5, 0]];

impl<L: Lane> Patch<L> {
    /// Patches of some manifolds, at most one per lane; lanes without one rest between `idle`, a body that cannot move, and itself.
    pub(super) fn new(
        manifolds: &[SoftManifold],
        chosen: &[u32],
        bodies: &SoftBodies,
        idle: u32,
        springs: &[Spring; 2],
    ) -> Self {
        let mut bodies_of = [[idle; 2]; 4];
        let mut manifold = [u32::MAX; 4];
        let mut stiffness = [[0.0; 8]; 4];
        let idle_manifold = SoftManifold::default();
        let mut from = [&idle_manifold; 4];
        for (lane, &m) in chosen.iter().enumerate() {
            let source = &manifolds[m as usize];
            from[lane] = source;
            manifold[lane] = m;
            bodies_of[lane] = source.bodies;
            let fixed = source.bodies.iter().any(|b| bodies.inv_masses[*b as usize][0] == 0.0);
            let Spring { rate, keep, fade } = springs[usize::from(fixed)];
            // 1 for the rows that exist.
            let there = |i: usize| if i < source.points().len() { 1.0 } else { 0.0 };
            stiffness[lane] =
                [rate, keep, fade, there(0), there(1), there(2), there(3), source.twist_impulse];
        }
        let [rate, keep, fade, t0, t1, t2, t3, twist] = L::columns(|lane| &stiffness[lane]);
        let [x, y, z, mu, restitution, u, v, w] = L::columns(|lane| &from[lane].head);
        let side = |side: usize| {
            let [m, xx, yy, zz, xy, xz, yz, _] =
                L::columns(|lane| &bodies.inv_masses[bodies_of[lane][side] as usize]);
            (m, Sym([xx, yy, zz, xy, xz, yz]))
        };
        let ((mass_a, inertia_a), (mass_b, inertia_b)) = (side(0), side(1));
        let zero = L::splat(0.0);
        let row = |i: usize| {
            // Arms for now; crossed with the normal below.
            let [ax, ay, az, bx, by, bz, gap, p] = L::columns(|lane| &from[lane].points[i].0);
            let (an, bn) = (Vec3 { x: ax, y: ay, z: az }, Vec3 { x: bx, y: by, z: bz });
            Row { an, bn, gap, p, p_max: zero, approach: zero, inv_k: zero, reach: zero }
        };
        let none = Vec3 { x: zero, y: zero, z: zero };
        let mut patch = Self {
            bodies: bodies_of,
            manifold,
            n: Vec3 { x, y, z },
            t: none,
            inv_mass: [mass_a, mass_b],
            inv_inertia: [inertia_a, inertia_b],
            rows: [row(0), row(1), row(2), row(3)],
            k: [zero; 6],
            center: [none; 2],
            f: [zero, zero, twist],
            inv_friction: Sym([zero; 6]),
            mu,
            restitution,
            rate,
            keep,
            fade,
        };
        patch.prepare(bodies, Vec3 { x: u, y: v, z: w }, &[t0, t1, t2, t3]);
        patch
    }

    /// Everything that follows from normals, arms, masses and the impulses known; `there` is 1 for rows that exist.
    #[inline(always)]
    fn prepare(&mut self, bodies: &SoftBodies, along: Vec3<L>, there: &[L; ROWS]) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let n = self.n;
        let t = orthogonal(n);
        self.t = t;
        self.f[0] = along.dot(t);
        self.f[1] = along.dot(n.cross(t));

        // Centre of pressure; where nothing is known yet all points count alike.
        let [p0, p1, p2, p3] = self.impulses();
        let sum = p0 + p1 + p2 + p3;
        let weights: [L; ROWS] = {
            let w = |i: usize| sum.if_positive(self.rows[i].p, there[i]);
            [w(0), w(1), w(2), w(3)]
        };
        let [w0, w1, w2, w3] = weights;
        let total = w0 + w1 + w2 + w3;
        let share = total.if_positive(one / total.max(L::splat(f64::MIN_POSITIVE)), zero);
        let none = Vec3 { x: zero, y: zero, z: zero };
        self.center = [none; 2];
        for (row, w) in self.rows.iter().zip(weights) {
            self.center[0] = self.center[0].plus(row.an.scale(w * share));
            self.center[1] = self.center[1].plus(row.bn.scale(w * share));
        }

        let mass = self.inv_mass[0] + self.inv_mass[1];
        let mut response = [[none; 2]; ROWS];
        for i in 0..ROWS {
            let (arm_a, arm_b) = (self.rows[i].an, self.rows[i].bn);
            let offset = arm_a.minus(self.center[0]);
            let height = offset.dot(n);
            let row = &mut self.rows[i];
            row.reach = (offset.dot(offset) - height * height).max(zero).sqrt();
            row.an = arm_a.cross(n);
            row.bn = arm_b.cross(n);
            response[i] = [self.inv_inertia[0].times(row.an), self.inv_inertia[1].times(row.bn)];
            let k = mass + row.an.dot(response[i][0]) + row.bn.dot(response[i][1]);
            row.inv_k = k.if_positive(there[i] / k, zero);
        }
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        for (k, (i, j)) in self.k.iter_mut().zip(pairs) {
            *k = mass + self.rows[j].an.dot(response[i][0]) + self.rows[j].bn.dot(response[i][1]);
        }
        let v = [gather(&bodies.velocities, &self.bodies, 0), gather(&bodies.velocities, &self.bodies, 1)];
        let approach = self.normal_rates(&v);
        for (row, approach) in self.rows.iter_mut().zip(approach) {
            row.approach = approach;
        }
        self.inv_friction = self.friction_inverse(mass);
    }

    /// Inverse of the 3x3 matrix of the friction rows; where nothing can twist, that of the tangents alone.
    #[inline(always)]
    fn friction_inverse(&self, mass: L) -> Sym<L> {
        let second = self.n.cross(self.t);
        let arms = |side: usize| [self.center[side].cross(self.t), self.center[side].cross(second), self.n];
        let sides = [arms(0), arms(1)];
        let moved = |side: usize| sides[side].map(|arm| self.inv_inertia[side].times(arm));
        let moved = [moved(0), moved(1)];
        let entry = |i: usize, j: usize| sides[0][i].dot(moved[0][j]) + sides[1][i].dot(moved[1][j]);
        let (xx, yy, zz) = (mass + entry(0, 0), mass + entry(1, 1), entry(2, 2));
        let (xy, xz, yz) = (entry(0, 1), entry(0, 2), entry(1, 2));
        let zero = L::splat(0.0);
        let flat = xx * yy - xy * xy;
        let det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
        // Rounding can leave a tiny determinant where there is no twist.
        let solid = det - L::splat(1e-12) * flat * zz;
        let twist = zz.if_positive(solid.if_positive(L::splat(1.0) / det, zero), zero);
        let plain = flat.if_positive(L::splat(1.0) / flat, zero);
        let choose = |full: L, reduced: L| twist.if_positive(full * twist, reduced * plain);
        Sym([
            choose(yy * zz - yz * yz, yy),
            choose(xx * zz - xz * xz, xx),
            choose(flat, zero),
            choose(xz * yz - xy * zz, -xy),
            choose(xy * yz - xz * yy, zero),
            choose(xy * xz - yz * xx, zero),
        ])
    }

    /// Adds the response to a linear impulse and the two angular ones.
    #[inline(always)]
    fn apply(&self, v: &mut [Twist<L>; 2], linear: Vec3<L>, angular: [Vec3<L>; 2]) {
        v[0].linear = v[0].linear.plus(linear.scale(self.inv_mass[0]));
        v[0].angular = v[0].angular.plus(self.inv_inertia[0].times(angular[0]));
        v[1].linear = v[1].linear.minus(linear.scale(self.inv_mass[1]));
        v[1].angular = v[1].angular.minus(self.inv_inertia[1].times(angular[1]));
    }

    /// Adds normal impulses `p` and friction impulses `f`.
    #[inline(always)]
    fn push(&self, v: &mut [Twist<L>; 2], p: [L; ROWS], f: [L; 3]) {
        let second = self.n.cross(self.t);
        let along = self.t.scale(f[0]).plus(second.scale(f[1]));
        let twist = self.n.scale(f[2]);
        let linear = self.n.scale(p[0] + p[1] + p[2] + p[3]).plus(along);
        let mut angular = [self.center[0].cross(along).plus(twist), self.center[1].cross(along).plus(twist)];
        for (row, p) in self.rows.iter().zip(p) {
            angular[0] = angular[0].plus(row.an.scale(p));
            angular[1] = angular[1].plus(row.bn.scale(p));
        }
        self.apply(v, linear, angular);
    }

    #[inline(always)]
    fn impulses(&self) -> [L; ROWS] {
        let [a, b, c, d] = &self.rows;
        [a.p, b.p, c.p, d.p]
    }

    /// J x of the four normal rows.
    #[inline(always)]
    fn normal_rates(&self, x: &[Twist<L>; 2]) -> [L; ROWS] {
        let along = self.n.dot(x[0].linear.minus(x[1].linear));
        let mut out = [along; ROWS];
        for (out, row) in out.iter_mut().zip(&self.rows) {
            *out += row.an.dot(x[0].angular) - row.bn.dot(x[1].angular);
        }
        out
    }

    /// Applies the impulses of the substep before.
    #[inline(never)]
    pub(super) fn warm_start(&self, velocities: &mut [Slot]) {
        let mut v = [gather(velocities, &self.bodies, 0), gather(velocities, &self.bodies, 1)];
        self.push(&mut v, self.impulses(), self.f);
        scatter(velocities, &self.bodies, 0, &v[0]);
        scatter(velocities, &self.bodies, 1, &v[1]);
    }

    /// One pass over the patch.
    #[inline(never)]
    pub(super) fn solve(
        &mut self,
        velocities: &mut [Slot],
        displacements: &[Slot],
        shared: &Shared,
        pass: Pass,
    ) {
        let mut v = [gather(velocities, &self.bodies, 0), gather(velocities, &self.bodies, 1)];
        let x = [gather(displacements, &self.bodies, 0), gather(displacements, &self.bodies, 1)];
        let moved = self.normal_rates(&x);
        let mut rates = self.normal_rates(&v);
        let mut change = [L::splat(0.0); ROWS];
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        for i in 0..ROWS {
            let row = self.rows[i];
            let s = row.gap + moved[i];
            let (inside, keep, fade) = match pass {
                Pass::Push => ((self.rate * s).max(L::splat(-shared.max_push)), self.keep, self.fade),
                Pass::Relax => (zero, one, zero),
            };
            let bias = s.if_positive(s * L::splat(shared.inv_h), inside);
            let (keep, fade) = (s.if_positive(one, keep), s.if_positive(zero, fade));
            let p = (row.p - row.inv_k * keep * (rates[i] + bias) - fade * row.p).max(zero);
            let step = p - row.p;
            for j in i + 1..ROWS {
                rates[j] += self.k[COUPLING[i][j]] * step;
            }
            change[i] = step;
            self.rows[i].p = p;
            self.rows[i].p_max = row.p_max.max(p);
        }
        self.push(&mut v, change, [zero; 3]);
        // Last, under the new loads: friction holds a pile together, and an error left in it is seen as creep.
        self.friction(&mut v);
        scatter(velocities, &self.bodies, 0, &v[0]);
        scatter(velocities, &self.bodies, 1, &v[1]);
    }

    /// Friction of the whole patch under the present normal impulses.
    #[inline(always)]
    fn friction(&mut self, v: &mut [Twist<L>; 2]) {
        let slip = v[0].linear.plus(v[0].angular.cross(self.center[0]));
        let slip = slip.minus(v[1].linear.plus(v[1].angular.cross(self.center[1])));
        let u = Vec3 {
            x: slip.dot(self.t),
            y: slip.dot(self.n.cross(self.t)),
            z: self.n.dot(v[0].angular.minus(v[1].angular)),
        };
        let wanted = self.inv_friction.times(u);
        let f = [self.f[0] - wanted.x, self.f[1] - wanted.y, self.f[2] - wanted.z];
        let (mut load, mut moment) = (L::splat(0.0), L::splat(0.0));
        for row in &self.rows {
            load += row.p;
            moment += row.p * row.reach;
        }
        let (limit, twist_limit) = (self.mu * load, self.mu * moment);
        let size = (f[0] * f[0] + f[1] * f[1]).sqrt();
        // limit/size where size > limit, else 1; never 0/0.
        let shrink = (size - limit).if_positive(limit / size.max(L::splat(f64::MIN_POSITIVE)), L::splat(1.0));
        let f = [f[0] * shrink, f[1] * shrink, f[2].min(twist_limit).max(-twist_limit)];
        let step = [f[0] - self.f[0], f[1] - self.f[1], f[2] - self.f[2]];
        self.f = f;
        self.push(v, [L::splat(0.0); ROWS], step);
    }

    /// Bounces back what came in fast, once after all substeps.
    #[inline(never)]
    pub(super) fn restitute(&mut self, velocities: &mut [Slot], shared: &Shared) {
        let mut v = [gather(velocities, &self.bodies, 0), gather(velocities, &self.bodies, 1)];
        let mut rates = self.normal_rates(&v);
        let zero = L::splat(0.0);
        let mut change = [zero; ROWS];
        for i in 0..ROWS {
            let row = self.rows[i];
            let p = (row.p - row.inv_k * (rates[i] + self.restitution * row.approach)).max(zero);
            // Only points that came in fast and carried load.
            let fast = -row.approach - L::splat(shared.bounce_from);
            let step = fast.if_positive(row.p_max.if_positive(p - row.p, zero), zero);
            for j in i + 1..ROWS {
                rates[j] += self.k[COUPLING[i][j]] * step;
            }
            change[i] = step;
            self.rows[i].p = row.p + step;
            self.rows[i].p_max = row.p_max.max(self.rows[i].p);
        }
        self.push(&mut v, change, [zero; 3]);
        scatter(velocities, &self.bodies, 0, &v[0]);
        scatter(velocities, &self.bodies, 1, &v[1]);
    }

    /// Hands the impulses back to the manifolds.
    pub(super) fn store(&self, manifolds: &mut [SoftManifold]) {
        for lane in 0..L::LANES {
            let Some(m) = manifolds.get_mut(self.manifold[lane] as usize) else { continue };
            let second = self.n.cross(self.t);
            let axis = |v: Vec3<L>| DVec3::new(v.x.lane(lane), v.y.lane(lane), v.z.lane(lane));
            let tangent = axis(self.t) * self.f[0].lane(lane) + axis(second) * self.f[1].lane(lane);
            m.set_friction_impulse(tangent, self.f[2].lane(lane));
            for (point, row) in m.points.iter_mut().zip(&self.rows) {
                point.0[7] = row.p.lane(lane);
            }
        }
    }
}

/// A unit vector normal to a unit vector, without a direction in which it fails.
#[inline(always)]
fn orthogonal<L: Lane>(n: Vec3<L>) -> Vec3<L> {
    let one = L::splat(1.0);
    let sign = (-n.z).if_positive(-one, one);
    let a = -one / (sign + n.z);
    let b = n.x * n.y * a;
    Vec3 { x: one + sign * n.x * n.x * a, y: sign * b, z: -sign * n.x }
}
