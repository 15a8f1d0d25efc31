//! Impacts: contacts that close fast within a substep are answered at their time, all points of a patch together.
//!
//! # Reference
//!
//! Own. Newton's law of restitution; of a body that turns about by Δv at the time τ of a substep of h, the displacement is less by τ Δv.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `s` | gap at the start of the substep | m |
//! | `u`, `a` | normal velocity at the end of the substep without the impact, normal acceleration | m/s, m/s² |
//! | `tau` | time of the impact after the start of the substep | s |
//! | `e`, `k` | restitution; K of the points that hit | -, 1/kg |
//!
//! # Formula
//!
//! ```text
//! hits         u < −u_min and s + h u < 0;   where s ≤ 0 only with e > 0 and u < −u_min (1 + L), L bodies on top of each other
//! time         s + (u − a h) τ + a τ²/2 = 0;   u_τ = u − a (h − τ)
//! all at once  K p = −(1 + e) u_τ;   if a p is negative: one after the other, each p = −(1 + e) u_τ/K from the velocity it finds, if that is an approach
//! friction     f = −K_f⁻¹ slip, shortened to |f₁₂| ≤ μ Σp and |f₃| ≤ μ Σ p d
//! v += Δv,   x −= τ Δv,   so that x + h v is where the body comes to on its two parabolas
//! ```
//!
//! Energy: all at once it changes by −½ (1 − e²) uᵀ K⁻¹ u, one after the other by such a term each, and friction is on the way to the least energy that
//! it can reach: none of them adds any.
//!
//! # Cost
//!
//! Some 300 operations, only where something hits.
//!
//! # Numerics
//!
//! K is singular for four points; it is solved with a little more on the diagonal, and the error of that is taken out twice.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `a_ball_bounces_to_the_square_of_its_restitution`; `tests/time_soft_impacts.rs` of `sim-steppers`

use super::{COUPLING, Patch, Shared, Stage, Twist, gather, scatter, total};
use crate::soft::lane::{Lane, Vec3, compiled, each, inlined};

impl<L: Lane, const ROWS: usize> Patch<L, ROWS> {
    /// Above zero where a gap `s` closes so fast that it is an impact.
    #[inline(always)]
    pub(super) fn haste(&self, s: L, rate: L, shared: &Shared) -> L {
        let [open, closed] = shared.strike_from;
        let (open, closed) = (L::splat(open), L::splat(closed));
        // What touches already and does not bounce is stopped by its spring.
        let closed = self.restitution.if_positive(closed, L::splat(f64::MAX));
        -rate - s.if_positive(open, closed)
    }

    /// 1 for rows that are struck in the substep, else 0; and their sum.
    #[inline(always)]
    pub(super) fn struck(&self, rates: &[L; ROWS], shared: &Shared) -> ([L; ROWS], L) {
        let (zero, one, h) = (L::splat(0.0), L::splat(1.0), L::splat(shared.h));
        let struck: [L; ROWS] = each(inlined!(|i: usize| {
            let row = &self.rows[i];
            let s = row.gap + row.moved;
            let fast = self.haste(s, rates[i], shared).if_positive(row.inv_k, zero);
            fast.if_positive((-(s + h * rates[i])).if_positive(one, zero), zero)
        }));
        (struck, total(struck))
    }

    /// Answers the rows that are struck.
    ///
    /// # Safety
    /// As for [`Self::solve`]; nobody else uses displacements of the bodies that this moves, or their velocities without contacts.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn strike(
        &mut self,
        v: &mut [Twist<L>; 2],
        rates: &[L; ROWS],
        struck: &[L; ROWS],
        stage: &Stage<'_>,
    ) {
        // SAFETY: as the caller promises.
        unsafe { compiled!(L, self.strike_lanes(v, rates, struck, stage)) }
    }

    /// [`Self::strike`], compiled for its lanes.
    #[inline(always)]
    unsafe fn strike_lanes(
        &mut self,
        v: &mut [Twist<L>; 2],
        rates: &[L; ROWS],
        struck: &[L; ROWS],
        stage: &Stage<'_>,
    ) {
        let (zero, one, half) = (L::splat(0.0), L::splat(1.0), L::splat(0.5));
        let h = L::splat(stage.shared.h);
        // SAFETY: as the caller promises.
        let a = unsafe {
            [gather(&stage.accelerations, &self.bodies, 0), gather(&stage.accelerations, &self.bodies, 1)]
        };
        let pulls = self.normal_rates(&a);
        let (mut taus, mut at_impact, mut wanted) = ([zero; ROWS], [zero; ROWS], [zero; ROWS]);
        let bounce = one + self.restitution;
        for i in 0..ROWS {
            let s = (self.rows[i].gap + self.rows[i].moved).max(zero);
            let start = rates[i] - pulls[i] * h;
            let root = (start * start - (pulls[i] + pulls[i]) * s).max(zero).sqrt();
            let tau = (s + s) / (root - start).max(L::splat(f64::MIN_POSITIVE));
            taus[i] = tau.min(h);
            at_impact[i] = (rates[i] - pulls[i] * (h - taus[i])).min(zero);
            wanted[i] = -(struck[i] * bounce * at_impact[i]);
        }
        let (all, least) = self.impulses_for(&wanted, struck);
        let mut now = at_impact;
        let mut in_turn = [zero; ROWS];
        for i in 0..ROWS {
            let p = struck[i] * (-(bounce * now[i] * self.rows[i].inv_k)).max(zero);
            in_turn[i] = p;
            for j in (0..ROWS).filter(|j| *j != i) {
                now[j] += self.k[COUPLING[i][j]] * p;
            }
        }
        let p: [L; ROWS] = each(inlined!(|i: usize| (-least).if_positive(in_turn[i], all[i])));
        let sum = total(p);
        let share = one / sum.max(L::splat(f64::MIN_POSITIVE));
        let tau = total::<L, ROWS>(each(inlined!(|i: usize| p[i] * taus[i]))) * share;

        let mut after = *v;
        self.push(&mut after, p, [zero; 3]);
        let slip = self.slip_rates(&after);
        let f = self.rub(slip, &p);
        self.push(&mut after, [zero; ROWS], f);
        // The work is found with that of the other impulses of the substep, by its mean velocity. But the impact changes velocities at its own time: so much more
        // work the accelerations do, and so much less the impact.
        let (early, drag) = (half * h - tau, self.slip_rates(&a));
        for i in 0..ROWS {
            self.rows[i].sum += p[i];
            self.rows[i].hit += p[i];
            self.work[0] -= p[i] * pulls[i] * early;
        }
        self.work[1] -= (f[0] * drag.x + f[1] * drag.y + f[2] * drag.z) * early;
        for (hit, f) in self.hit.iter_mut().zip(f) {
            *hit += f;
        }
        for (sum, f) in self.f_sum.iter_mut().zip(f) {
            *sum += f;
        }
        // SAFETY: as the caller promises.
        unsafe {
            for side in [0, 1] {
                let change = Twist {
                    angular: after[side].angular.minus(v[side].angular),
                    linear: after[side].linear.minus(v[side].linear),
                };
                let mut free: Twist<L> = gather(&stage.free, &self.moves, side);
                free = Twist {
                    angular: free.angular.plus(change.angular),
                    linear: free.linear.plus(change.linear),
                };
                scatter(&stage.free, &self.moves, side, &free);
                let mut x: Twist<L> = gather(&stage.displacements, &self.moves, side);
                x.angular = x.angular.minus(change.angular.scale(tau));
                x.linear = x.linear.minus(change.linear.scale(tau));
                scatter(&stage.displacements, &self.moves, side, &x);
                let mut mean: Twist<L> = gather(&stage.means, &self.moves, side);
                mean.angular = mean.angular.plus(change.angular.scale(early));
                mean.linear = mean.linear.plus(change.linear.scale(early));
                scatter(&stage.means, &self.moves, side, &mean);
            }
        }
        // The rest of the substep begins where they touch.
        for (row, struck) in self.rows.iter_mut().zip(struck) {
            row.moved = struck.if_positive(row.moved.min(-row.gap), row.moved);
        }
        *v = after;
    }

    /// Friction of an impact with normal impulses `p`, shortened along its own direction: it never adds energy.
    #[inline(always)]
    fn rub(&self, slip: Vec3<L>, p: &[L; ROWS]) -> [L; 3] {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let f = self.holding(slip);
        let reach: [L; ROWS] = each(inlined!(|i: usize| p[i] * self.rows[i].reach));
        let (limit, twist) = (self.mu * total(*p), self.mu * total(reach));
        let size = (f.x * f.x + f.y * f.y).sqrt();
        let least = L::splat(f64::MIN_POSITIVE);
        let mut shrink = (size - limit).if_positive(limit / size.max(least), one);
        if ROWS > 1 {
            let turn = f.z.max(-f.z);
            shrink = shrink.min((turn - twist).if_positive(twist / turn.max(least), one));
        }
        let z = if ROWS == 1 { zero } else { -(f.z * shrink) };
        [-(f.x * shrink), -(f.y * shrink), z]
    }

    /// Impulses of the rows that are struck which change their rates by `wanted`, and the least of them.
    #[inline(always)]
    fn impulses_for(&self, wanted: &[L; ROWS], struck: &[L; ROWS]) -> ([L; ROWS], L) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        if ROWS == 1 {
            let p = wanted[0] * self.rows[0].inv_k;
            return ([p; ROWS], zero);
        }
        let least = L::splat(f64::MIN_POSITIVE);
        let diagonal: [L; ROWS] =
            each(inlined!(|i: usize| struck[i].if_positive(one / self.rows[i].inv_k.max(least), one)));
        let coupling = inlined!(|i: usize, j: usize| struck[i] * struck[j] * self.k[COUPLING[i][j]]);
        // K = L D Lᵀ with ones on the diagonal of L.
        let mut l = [[zero; ROWS]; ROWS];
        let (mut d, mut inv_d) = ([zero; ROWS], [zero; ROWS]);
        for j in 0..ROWS {
            d[j] = diagonal[j] * L::splat(1.0 + super::REGULAR);
            for m in 0..j {
                d[j] -= l[j][m] * l[j][m] * d[m];
            }
            inv_d[j] = one / d[j];
            for i in j + 1..ROWS {
                let mut x = coupling(i, j);
                for m in 0..j {
                    x -= l[i][m] * l[j][m] * d[m];
                }
                l[i][j] = x * inv_d[j];
            }
        }
        let solve = inlined!(|b: &[L; ROWS]| {
            let mut x = *b;
            for i in 0..ROWS {
                for m in 0..i {
                    let known = x[m];
                    x[i] -= l[i][m] * known;
                }
            }
            for i in 0..ROWS {
                x[i] = x[i] * inv_d[i];
            }
            for i in (0..ROWS).rev() {
                for m in i + 1..ROWS {
                    let known = x[m];
                    x[i] -= l[m][i] * known;
                }
            }
            x
        });
        let mut p = solve(wanted);
        for _ in 0..2 {
            let left: [L; ROWS] = each(inlined!(|i: usize| {
                let mut left = wanted[i] - diagonal[i] * p[i];
                for j in (0..ROWS).filter(|j| *j != i) {
                    left -= coupling(i, j) * p[j];
                }
                left
            }));
            let more = solve(&left);
            p = each(inlined!(|i: usize| p[i] + more[i]));
        }
        let out: [L; ROWS] = each(inlined!(|i: usize| struck[i] * p[i]));
        let lowest = out.iter().fold(zero, inlined!(|least: L, p: &L| least.min(*p)));
        (out, lowest)
    }
}
