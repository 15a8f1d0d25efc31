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
//! | `c` | J M⁻¹ Jᵀ between the friction rows and the normal rows | 1/kg, 1/(kg·m) |
//! | `gap` | separation at the start of the step | m |
//! | `x` | displacement of the two bodies since the start of the step | m, rad |
//! | `u` | velocities of the rows | m/s, rad/s |
//! | `stretch` | displacement along the friction rows since the contact stuck | m, rad |
//! | `rate`, `keep`, `fade` | ω/(2ζ + hω), a₂a₃, a₃ with a₂ = hω(2ζ + hω), a₃ = 1/(1 + a₂) | 1/s, -, - |
//!
//! # Formula
//!
//! ```text
//! s = gap + J x
//! apart,   s > 0:  Δp = −(J v + s/h)/K                    speculative: may come up to touch
//! inside,  s ≤ 0:  Δp = −keep (J v + max(rate s, −v_max))/K − fade p
//! relaxing:        Δp = −J v/K
//! work = Σ over substeps (p, f) · (u₀ + u₁)/2, u₀ and u₁ after the substep before and after this one
//! fast:            struck, see `strike`
//! friction:        the same with the stretch for s;   what the limit takes of f it takes of the stretch
//! one point only:  f₃ = 0, and the tangents alone are solved
//! Gauss-Seidel within the block, p ≥ 0
//! sticks if        (|f₁₂|/μ Σp)² + (f₃/μ Σ p_i d_i)² ≤ 1,  d_i the distance from the pressure centre
//! slides:          f = Σ f_i, each point with |f_i| ≤ μ p_i against its own slip u₁₂ + u₃ n × d_i
//! ```
//!
//! # Cost
//!
//! About 400 multiplications and additions per pass; as many patches at once as a vector register has lanes, see [`lane`](super::lane).
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

#![allow(unsafe_code, reason = "velocities are shared by threads; colours and domains keep them apart")]

mod fill;
mod strike;

use super::{
    SoftManifold,
    lane::{Lane, MAX_LANES, Slot, Sym, Vec3, compiled, each, inlined},
    share::Stage,
    shelf::Shelf,
};
use sim_traits::Manifold;

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
    /// Of a face between two bodies that move; of one with a body that does not, and of points and edges.
    pub(super) springs: [Spring; 2],
    /// h, s, and 1/h, 1/s.
    pub(super) h: f64,
    pub(super) inv_h: f64,
    /// How many substeps, and one over it.
    pub(super) substeps: [f64; 2],
    /// Largest speed of pushing apart, edges of the smaller body per second.
    pub(super) max_push: f64,
    /// Approach above which a contact is struck, m/s: where it is open, and where it touches and bounces.
    pub(super) strike_from: [f64; 2],
}

/// One normal row.
#[derive(Debug, Clone, Copy)]
struct Row<L> {
    /// Arms of A and B crossed with the normal, m.
    an: Vec3<L>,
    bn: Vec3<L>,
    gap: L,
    /// Change of the gap since the start of the step, m.
    moved: L,
    p: L,
    /// Impulses of all substeps together, and of impacts in this one.
    sum: L,
    hit: L,
    /// Normal velocity before the step, and after the last substep, m/s.
    approach: L,
    rate: L,
    inv_k: L,
    /// From the pressure centre along both tangents, and its length, m.
    arm: [L; 2],
    reach: L,
}

/// Patches of up to `ROWS` points side by side, one in each lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch<L, const ROWS: usize> {
    bodies: Sides,
    /// Where velocities are put: those of bodies that do not move nowhere.
    moves: Sides,
    manifold: [u32; MAX_LANES],
    n: Vec3<L>,
    t: Vec3<L>,
    /// n × t.
    second: Vec3<L>,
    inv_mass: [L; 2],
    inv_inertia: [Sym<L>; 2],
    rows: [Row<L>; ROWS],
    k: [L; 6],
    /// Inverse of K with a little more on its diagonal: four points on two rigid bodies are one too many. Upper triangle.
    inverse: [[L; ROWS]; ROWS],
    c: [Vec3<L>; ROWS],
    /// Arms of the pressure centre, m.
    center: [Vec3<L>; 2],
    f: [L; 3],
    /// Friction impulses of all substeps together, and of impacts in this one.
    f_sum: [L; 3],
    hit: [L; 3],
    /// Slip after the last substep: two tangents and the twist.
    slip: Vec3<L>,
    /// Work along the normal and of friction so far, J.
    work: [L; 2],
    /// How far the springs of friction were stretched at the start of the step, less what slid since; and how far they are now: m, rad.
    held: Vec3<L>,
    stretch: Vec3<L>,
    inv_friction: Sym<L>,
    mu: L,
    restitution: L,
    /// Minus the largest speed of pushing apart, m/s.
    push: L,
    /// 1 where a body does not move, else 0; of faces.
    firm: L,
}

/// Bodies A and B of each lane.
type Sides = [[u32; 2]; MAX_LANES];

/// Velocity or displacement of a body in every lane.
#[derive(Debug, Clone, Copy)]
struct Twist<L> {
    angular: Vec3<L>,
    linear: Vec3<L>,
}

/// What a side has in each lane.
///
/// # Safety
/// Nobody writes it meanwhile.
#[inline(always)]
unsafe fn gather<L: Lane>(from: &Shelf<'_, Slot>, bodies: &Sides, side: usize) -> Twist<L> {
    // Whole rows are loaded and then transposed: much faster than fetching number by number.
    // SAFETY: as the caller promises.
    let [x, y, z, u, v, w, ..] =
        L::columns(inlined!(|lane: usize| unsafe { from.get(bodies[lane][side] as usize) }));
    Twist { angular: Vec3 { x, y, z }, linear: Vec3 { x: u, y: v, z: w } }
}

/// Puts back what a side has in each lane.
///
/// # Safety
/// Nobody else uses it meanwhile.
#[inline(always)]
unsafe fn scatter<L: Lane>(to: &Shelf<'_, Slot>, bodies: &Sides, side: usize, twist: &Twist<L>) {
    let Twist { angular: a, linear: l } = twist;
    let zero = L::splat(0.0);
    L::rows(
        [a.x, a.y, a.z, l.x, l.y, l.z, zero, zero],
        inlined!(|lane: usize, row: Slot| {
            // SAFETY: as the caller promises.
            *unsafe { to.get_mut(bodies[lane][side] as usize) } = row;
        }),
    );
}

/// What is added to the diagonal of K before it is inverted, as a share of it.
const REGULAR: f64 = 1.0 / 64.0;

/// Which entry of `k` couples two rows.
const COUPLING: [[usize; Manifold::CAPACITY]; Manifold::CAPACITY] =
    [[0, 0, 1, 2], [0, 0, 3, 4], [1, 3, 0, 5], [2, 4, 5, 0]];

impl<L: Lane, const ROWS: usize> Patch<L, ROWS> {
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
        let along = self.t.scale(f[0]).plus(self.second().scale(f[1]));
        if ROWS == 1 {
            let linear = self.n.scale(p[0]).plus(along);
            self.apply(v, linear, [self.center[0].cross(linear), self.center[1].cross(linear)]);
            return;
        }
        let twist = self.n.scale(f[2]);
        let pushes: [[Vec3<L>; ROWS]; 2] = [
            each(inlined!(|i: usize| self.rows[i].an.scale(p[i]))),
            each(inlined!(|i: usize| self.rows[i].bn.scale(p[i]))),
        ];
        let angular =
            inlined!(|side: usize| { added(pushes[side]).plus(self.center[side].cross(along).plus(twist)) });
        let linear = self.n.scale(total(p)).plus(along);
        self.apply(v, linear, [angular(0), angular(1)]);
    }

    #[inline(always)]
    fn impulses(&self) -> [L; ROWS] {
        each(inlined!(|i: usize| self.rows[i].p))
    }

    /// J x of the normal rows.
    #[inline(always)]
    fn normal_rates(&self, x: &[Twist<L>; 2]) -> [L; ROWS] {
        if ROWS == 1 {
            return [self.n.dot(self.center_rate(x)); ROWS];
        }
        let along = self.n.dot(x[0].linear.minus(x[1].linear));
        let mut out = [along; ROWS];
        for (out, row) in out.iter_mut().zip(&self.rows) {
            *out += row.an.dot(x[0].angular) - row.bn.dot(x[1].angular);
        }
        out
    }

    /// Applies the impulses of the substep before.
    ///
    /// # Safety
    /// The processor has the instructions of these lanes. Nobody else uses the velocities of the bodies that this moves, or writes those of the others.
    #[inline(never)]
    pub(super) unsafe fn warm_start(&self, velocities: &Shelf<'_, Slot>) {
        // SAFETY: as the caller promises.
        unsafe { compiled!(L, self.warm_start_lanes(velocities)) }
    }

    /// [`Self::warm_start`], compiled for its lanes.
    #[inline(always)]
    unsafe fn warm_start_lanes(&self, velocities: &Shelf<'_, Slot>) {
        // SAFETY: as the caller promises.
        let mut v = unsafe { [gather(velocities, &self.bodies, 0), gather(velocities, &self.bodies, 1)] };
        self.push(&mut v, self.impulses(), self.f);
        // SAFETY: as the caller promises.
        unsafe {
            scatter(velocities, &self.moves, 0, &v[0]);
            scatter(velocities, &self.moves, 1, &v[1]);
        }
    }

    /// One pass over the patch.
    ///
    /// # Safety
    /// The processor has the instructions of these lanes. Nobody else uses the velocities of the bodies that this moves, or writes those of the others or displacements of any of them.
    #[inline(never)]
    pub(super) unsafe fn solve(&mut self, stage: &Stage<'_>, pass: Pass) {
        // SAFETY: as the caller promises.
        unsafe { compiled!(L, self.solve_lanes(stage, pass)) }
    }

    /// [`Self::solve`], compiled for its lanes.
    #[inline(always)]
    unsafe fn solve_lanes(&mut self, stage: &Stage<'_>, pass: Pass) {
        let Stage { velocities, displacements, shared, .. } = stage;
        // SAFETY: as the caller promises.
        let mut v = unsafe { [gather(velocities, &self.bodies, 0), gather(velocities, &self.bodies, 1)] };
        // Nothing has moved between relaxing and the next push.
        if pass == Pass::Relax {
            // SAFETY: as the caller promises.
            let x =
                unsafe { [gather(displacements, &self.bodies, 0), gather(displacements, &self.bodies, 1)] };
            let moved = self.normal_rates(&x);
            for (row, moved) in self.rows.iter_mut().zip(moved) {
                row.moved = moved;
            }
            self.stretch = self.held.plus(self.slip_rates(&x));
        }
        let mut rates = self.normal_rates(&v);
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        if pass == Pass::Push {
            let (struck, hits) = self.struck(&rates, shared);
            if !hits.is_zero() {
                // SAFETY: as the caller promises.
                unsafe { self.strike(&mut v, &rates, &struck, stage) };
                rates = self.normal_rates(&v);
            }
        }
        let slip = self.slip_rates(&v);
        let of_springs = inlined!(|number: fn(&Spring) -> f64| {
            let [soft, firm] = shared.springs.each_ref().map(number);
            // A point or an edge has less effective mass than a face for the same load, because its bodies turn: as stiff, it would sink deeper.
            if ROWS <= 2 { L::splat(firm) } else { self.firm.if_positive(L::splat(firm), L::splat(soft)) }
        });
        let (rate, keep, fade) = (of_springs(|s| s.rate), of_springs(|s| s.keep), of_springs(|s| s.fade));
        // p = max(0, d − e · rate). What does not depend on the rows before is found first, so that the rows wait as little as possible for each other.
        let (mut d, mut e, mut base) = ([zero; ROWS], [zero; ROWS], rates);
        let (mut wanted, mut keeps, mut fades) = ([zero; ROWS], [zero; ROWS], [zero; ROWS]);
        for i in 0..ROWS {
            let row = self.rows[i];
            let s = row.gap + row.moved;
            let (inside, keep, fade) = match pass {
                Pass::Push => ((rate * s).max(self.push), keep, fade),
                Pass::Relax => (zero, one, zero),
            };
            let apart = s * L::splat(shared.inv_h);
            let mut bias = s.if_positive(apart, inside);
            if pass == Pass::Relax {
                // What comes fast is for the next substep to answer, at its time.
                bias = self.haste(s, rates[i], shared).if_positive(-rates[i], bias);
            }
            let (keep, fade) = (s.if_positive(one, keep), s.if_positive(zero, fade));
            (wanted[i], keeps[i], fades[i]) = (rates[i] + bias, keep, fade);
            e[i] = row.inv_k * keep;
            d[i] = (row.p - fade * row.p) - e[i] * bias;
            for j in i + 1..ROWS {
                base[j] -= self.k[COUPLING[i][j]] * row.p;
            }
        }
        let mut next = [zero; ROWS];
        for i in 0..ROWS {
            let p = (d[i] - e[i] * base[i]).max(zero);
            for j in i + 1..ROWS {
                base[j] += self.k[COUPLING[i][j]] * p;
            }
            next[i] = p;
        }
        if ROWS > 1 {
            let (all, least) = self.together(&wanted, &keeps, &fades);
            // Where all points press, one answers as the other; where one lets go they are answered in turn.
            next = each(inlined!(|i: usize| (-least).if_positive(next[i], all[i])));
        }
        let mut change = [zero; ROWS];
        for i in 0..ROWS {
            change[i] = next[i] - self.rows[i].p;
            self.rows[i].p = next[i];
            if pass == Pass::Relax {
                self.rows[i].sum += next[i];
            }
        }
        // Friction last, under the new loads: it holds a pile together, and an error left in it is seen as creep.
        let parts: [Vec3<L>; ROWS] = each(inlined!(|i: usize| self.c[i].scale(change[i])));
        let slip = slip.plus(added(parts));
        let rubbed = match pass {
            Pass::Push => self.friction(slip.plus(self.stretch.scale(rate)), keep, fade),
            Pass::Relax => self.friction(slip, one, zero),
        };
        if pass == Pass::Relax {
            for (sum, f) in self.f_sum.iter_mut().zip(self.f).take(if ROWS == 1 { 2 } else { 3 }) {
                *sum += f;
            }
        }
        self.push(&mut v, change, rubbed);
        if pass == Pass::Relax {
            self.book(&v);
        }
        // SAFETY: as the caller promises.
        unsafe {
            scatter(velocities, &self.moves, 0, &v[0]);
            scatter(velocities, &self.moves, 1, &v[1]);
        }
    }

    /// Adds the work of the impulses of a substep, given the velocities after it.
    #[inline(always)]
    fn book(&mut self, v: &[Twist<L>; 2]) {
        let half = L::splat(0.5);
        let (rates, slip) = (self.normal_rates(v), self.slip_rates(v));
        let zero = L::splat(0.0);
        let works: [L; ROWS] = each(inlined!(|i: usize| {
            let row = &self.rows[i];
            (row.p + row.hit) * (row.rate + rates[i])
        }));
        let mean = slip.plus(self.slip);
        let f: [L; 3] = each(inlined!(|k: usize| self.f[k] + self.hit[k]));
        self.work[0] += total(works) * half;
        self.work[1] += (f[0] * mean.x + f[1] * mean.y + f[2] * mean.z) * half;
        self.hit = [zero; 3];
        self.slip = slip;
        for (row, rate) in self.rows.iter_mut().zip(rates) {
            (row.rate, row.hit) = (rate, zero);
        }
    }

    /// Impulses that change all rates at once by minus `wanted`, none if none would press; and below zero if one would pull while others press.
    #[inline(always)]
    fn together(&self, wanted: &[L; ROWS], keep: &[L; ROWS], fade: &[L; ROWS]) -> ([L; ROWS], L) {
        let zero = L::splat(0.0);
        let (mut least, mut most) = (zero, zero);
        let mut out = [zero; ROWS];
        for i in 0..ROWS {
            let mut step = self.inverse[i][i] * wanted[i];
            for j in (0..ROWS).filter(|j| *j != i) {
                step += self.inverse[i.min(j)][i.max(j)] * wanted[j];
            }
            let p = self.rows[i].p;
            out[i] = (p - fade[i] * p) - keep[i] * step;
            (least, most) = (least.min(out[i]), most.max(out[i]));
        }
        for p in &mut out {
            *p = most.if_positive(*p, zero);
        }
        (out, most.if_positive(least, zero))
    }

    /// Velocity of A at the pressure centre relative to that of B, or displacement.
    #[inline(always)]
    fn center_rate(&self, v: &[Twist<L>; 2]) -> Vec3<L> {
        let of_a = v[0].linear.plus(v[0].angular.cross(self.center[0]));
        of_a.minus(v[1].linear.plus(v[1].angular.cross(self.center[1])))
    }

    /// J v of the friction rows.
    #[inline(always)]
    fn slip_rates(&self, v: &[Twist<L>; 2]) -> Vec3<L> {
        let slip = self.center_rate(v);
        let twist = if ROWS == 1 { L::splat(0.0) } else { self.n.dot(v[0].angular.minus(v[1].angular)) };
        Vec3 { x: slip.dot(self.t), y: slip.dot(self.second()), z: twist }
    }

    /// The second tangent: found anew where that is cheaper than to fetch it.
    #[inline(always)]
    fn second(&self) -> Vec3<L> {
        if ROWS == 1 { self.n.cross(self.t) } else { self.second }
    }

    /// Minus the friction impulse that would take out all of a slip.
    #[inline(always)]
    fn holding(&self, slip: Vec3<L>) -> Vec3<L> {
        if ROWS == 1 {
            let [xx, yy, _, xy, ..] = self.inv_friction.0;
            Vec3 { x: xx * slip.x + xy * slip.y, y: xy * slip.x + yy * slip.y, z: L::splat(0.0) }
        } else {
            self.inv_friction.times(slip)
        }
    }

    /// Friction of a patch that slides: Coulomb's law at each of its points, with a slip of its own where the patch twists.
    #[inline(always)]
    fn slide(&self, slip: Vec3<L>, rest: L) -> [L; 3] {
        let (zero, one, least) = (L::splat(0.0), L::splat(1.0), L::splat(f64::MIN_POSITIVE));
        let loads = self.impulses();
        let far: [L; ROWS] = each(inlined!(|i: usize| {
            loads[i] * (self.rows[i].arm[0] * self.rows[i].arm[0] + self.rows[i].arm[1] * self.rows[i].arm[1])
        }));
        // As a share of its load every point has the same part of the friction there is, and of the mass that slides.
        let (load, turn) = (total(loads), total(far));
        let each = load.if_positive(one / load.max(least), zero);
        let turn = turn.if_positive(self.f[2] / turn.max(least), zero);
        let [xx, yy, ..] = self.inv_friction.0;
        let mass = xx.min(yy) * each;
        let mut out = [zero; 3];
        for (row, p) in self.rows.iter().zip(loads) {
            let [x, y] = row.arm;
            let x_slip = slip.x - slip.z * y;
            let y_slip = slip.y + slip.z * x;
            let fx = p * (rest * (self.f[0] * each - turn * y) - mass * x_slip);
            let fy = p * (rest * (self.f[1] * each + turn * x) - mass * y_slip);
            let size = (fx * fx + fy * fy).sqrt();
            let limit = self.mu * p;
            let shrink = (size - limit).if_positive(limit / size.max(least), one);
            let (fx, fy) = (fx * shrink, fy * shrink);
            out[0] += fx;
            out[1] += fy;
            if ROWS > 1 {
                out[2] += x * fy - y * fx;
            }
        }
        out
    }

    /// Friction of the whole patch under the present normal impulses, for a slip without it; returns its change.
    #[inline(always)]
    fn friction(&mut self, slip: Vec3<L>, keep: L, fade: L) -> [L; 3] {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let wanted = self.holding(slip);
        let rest = one - fade;
        let f = [
            rest * self.f[0] - keep * wanted.x,
            rest * self.f[1] - keep * wanted.y,
            rest * self.f[2] - keep * wanted.z,
        ];
        let (mut load, mut moment) = (zero, zero);
        for row in &self.rows {
            load += row.p;
            moment += row.p * row.reach;
        }
        let (limit, twist_limit) = (self.mu * load, self.mu * moment);
        let squared = f[0] * f[0] + f[1] * f[1];
        let (along, about) = (limit * limit, twist_limit * twist_limit);
        let mut over = squared - along;
        if ROWS > 1 {
            let turn = f[2] * f[2];
            over = over.max(turn - about).max(squared * about + turn * along - along * about);
        }
        let mut f = f;
        // Roots and quotients take longer than all the rest, and most contacts hold.
        if !over.max(zero).is_zero() {
            let slides = self.slide(slip, rest);
            let least = L::splat(f64::MIN_POSITIVE);
            let mut kept = along / squared.max(least);
            if ROWS > 1 {
                kept = one / (squared / along.max(least) + f[2] * f[2] / about.max(least)).max(least);
            }
            // What slides gives up as much of its stretch.
            let lost = self.stretch.scale(over.if_positive(one - kept.max(zero).min(one).sqrt(), zero));
            (self.held, self.stretch) = (self.held.minus(lost), self.stretch.minus(lost));
            f = each(inlined!(|k: usize| over.if_positive(slides[k], f[k])));
        }
        let step = [f[0] - self.f[0], f[1] - self.f[1], f[2] - self.f[2]];
        self.f = f;
        step
    }

    /// Hands back to the manifolds what the step did.
    ///
    /// # Safety
    /// The processor has the instructions of these lanes. Nobody uses the manifolds of this patch.
    #[inline(never)]
    pub(super) unsafe fn store(&self, manifolds: &Shelf<'_, SoftManifold>, shared: &Shared) {
        // SAFETY: as the caller promises.
        unsafe { compiled!(L, self.store_lanes(manifolds, shared)) }
    }

    /// [`Self::store`], compiled for its lanes.
    #[inline(always)]
    unsafe fn store_lanes(&self, manifolds: &Shelf<'_, SoftManifold>, shared: &Shared) {
        let many = L::splat(shared.substeps[0]);
        let zero = L::splat(0.0);
        let (mut sum, mut approach) = (zero, zero);
        for row in &self.rows {
            sum += row.sum;
            // Rows that do not exist have no 1/k.
            approach = approach.max(row.inv_k.if_positive(-row.approach, zero));
        }
        let (n, second) = (self.n, self.second());
        let along = inlined!(|f: &[L; 3]| self.t.scale(f[0]).plus(second.scale(f[1])));
        let (last, all) = (along(&self.f).scale(many), n.scale(sum).plus(along(&self.f_sum)));
        let columns = each(inlined!(|k: usize| {
            let row = self.rows.get(k % Manifold::CAPACITY);
            row.map_or(zero, |row| if k < Manifold::CAPACITY { many * row.p } else { row.gap + row.moved })
        }));
        let to = inlined!(|lane: usize| {
            let m = self.manifold[lane];
            // SAFETY: as the caller promises.
            (m != u32::MAX).then(|| unsafe { manifolds.get_mut(m as usize) })
        });
        L::rows(
            columns,
            inlined!(|lane: usize, row: Slot| {
                to(lane).into_iter().for_each(inlined!(|m: &mut SoftManifold| m.normals = row));
            }),
        );
        let ([done, rubbed], arm) = (self.work, self.center[0]);
        L::rows(
            [last.x, last.y, last.z, many * self.f[2], approach, done, rubbed, arm.z],
            inlined!(|lane: usize, row: Slot| {
                to(lane).into_iter().for_each(inlined!(|m: &mut SoftManifold| m.friction = row));
            }),
        );
        L::rows(
            [all.x, all.y, all.z, n.x, n.y, n.z, arm.x, arm.y],
            inlined!(|lane: usize, row: Slot| {
                to(lane).into_iter().for_each(inlined!(|m: &mut SoftManifold| m.exerted = row));
            }),
        );
        let held = self.t.scale(self.stretch.x).plus(second.scale(self.stretch.y));
        // About the arm: normal impulses act beside it, n × t = second.
        let mut about = [zero; 2];
        if ROWS > 1 {
            for row in &self.rows {
                about[0] += row.arm[1] * row.sum;
                about[1] -= row.arm[0] * row.sum;
            }
        }
        let moment = self.t.scale(about[0]).plus(second.scale(about[1])).plus(n.scale(self.f_sum[2]));
        L::rows(
            [held.x, held.y, held.z, self.stretch.z, moment.x, moment.y, moment.z, zero],
            inlined!(|lane: usize, row: Slot| {
                to(lane).into_iter().for_each(inlined!(|m: &mut SoftManifold| {
                    m.held[..4].copy_from_slice(&row[..4]);
                    m.held[5..].copy_from_slice(&row[4..7]);
                }));
            }),
        );
    }
}

/// Sum in halves, which waits less than one by one.
#[inline(always)]
fn total<L: Lane, const N: usize>(x: [L; N]) -> L {
    match x.as_slice() {
        [a, b] => *a + *b,
        [a, b, c, d] => (*a + *b) + (*c + *d),
        other => other.iter().fold(L::splat(0.0), inlined!(|sum: L, x: &L| sum + *x)),
    }
}

/// [`total`] of vectors.
#[inline(always)]
fn added<L: Lane, const N: usize>(v: [Vec3<L>; N]) -> Vec3<L> {
    Vec3 {
        x: total::<L, N>(each(inlined!(|i: usize| v[i].x))),
        y: total::<L, N>(each(inlined!(|i: usize| v[i].y))),
        z: total::<L, N>(each(inlined!(|i: usize| v[i].z))),
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
