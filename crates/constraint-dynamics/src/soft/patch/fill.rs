//! How patches are read from manifolds, and what stays the same during a step.

use super::{COUPLING, Patch, REGULAR, Row, Twist, gather, orthogonal, total};
use crate::soft::{
    SoftManifold,
    colour::{Edge, STILL},
    lane::{Axes, Lane, MAX_LANES, Slot, Sym, Vec3, compiled, each, inlined},
    share::Stage,
};

impl<L: Lane> Row<L> {
    /// Nothing yet.
    #[inline(always)]
    fn empty() -> Self {
        let zero = L::splat(0.0);
        let none = Vec3 { x: zero, y: zero, z: zero };
        Self {
            an: none,
            bn: none,
            gap: zero,
            moved: zero,
            p: zero,
            sum: zero,
            hit: zero,
            approach: zero,
            rate: zero,
            inv_k: zero,
            arm: [zero; 2],
            reach: zero,
        }
    }
}

impl<L: Lane, const ROWS: usize> Patch<L, ROWS> {
    /// Nothing yet.
    pub(in crate::soft) fn empty() -> Self {
        let zero = L::splat(0.0);
        let none = Vec3 { x: zero, y: zero, z: zero };
        let row = Row::empty();
        Self {
            bodies: [[0; 2]; MAX_LANES],
            moves: [[0; 2]; MAX_LANES],
            manifold: [u32::MAX; MAX_LANES],
            n: none,
            t: none,
            second: none,
            inv_mass: [zero; 2],
            inv_inertia: [Sym([zero; 6]); 2],
            rows: [row; ROWS],
            k: [zero; 6],
            inverse: [[zero; ROWS]; ROWS],
            c: [none; ROWS],
            center: [none; 2],
            f: [zero; 3],
            f_sum: [zero; 3],
            hit: [zero; 3],
            slip: none,
            work: [zero; 2],
            held: none,
            stretch: none,
            inv_friction: Sym([zero; 6]),
            mu: zero,
            restitution: zero,
            push: zero,
            firm: zero,
        }
    }

    /// Patches of some manifolds, at most one per lane; lanes without one are between `nobody`, which cannot move, and itself.
    ///
    /// # Safety
    /// The processor has the instructions of these lanes. Nobody writes manifolds or velocities meanwhile.
    #[inline(never)]
    pub(in crate::soft) unsafe fn fill(
        &mut self,
        chosen: &[Edge],
        stage: &Stage<'_>,
        nobody: u32,
        is_sound: &mut bool,
    ) {
        // SAFETY: as the caller promises.
        unsafe { compiled!(L, self.fill_lanes(chosen, stage, nobody, is_sound)) }
    }

    /// [`Self::fill`], compiled for its lanes.
    #[inline(always)]
    unsafe fn fill_lanes(&mut self, chosen: &[Edge], stage: &Stage<'_>, nobody: u32, is_sound: &mut bool) {
        let nothing = SoftManifold::default();
        let mut at = [[nobody; 2]; MAX_LANES];
        let mut moves = [[nobody; 2]; MAX_LANES];
        let mut manifold = [u32::MAX; MAX_LANES];
        let mut firmness = [Slot::default(); MAX_LANES];
        let mut from = [&nothing; MAX_LANES];
        for (lane, &(m, places)) in chosen.iter().enumerate() {
            // SAFETY: as the caller promises.
            let source = unsafe { stage.manifolds.get(m as usize) };
            from[lane] = source;
            manifold[lane] = m;
            for (side, place) in places.into_iter().enumerate() {
                if place == STILL {
                    at[lane][side] = stage.places[source.bodies[side] as usize];
                    firmness[lane][0] = 1.0;
                } else {
                    (at[lane][side], moves[lane][side]) = (place, place);
                }
            }
        }
        let [firm, ..] = L::columns(inlined!(|lane: usize| &firmness[lane]));
        let zero = L::splat(0.0);
        // Zero times a number is zero, unless it is infinite or NaN.
        let mut doubt = zero;
        let mut doubted =
            inlined!(|columns: &[L]| columns.iter().for_each(inlined!(|x: &L| doubt += *x * zero)));
        let head = L::columns(inlined!(|lane: usize| &from[lane].head));
        let part = L::splat(stage.shared.substeps[1]);
        let impulses = L::columns(inlined!(|lane: usize| &from[lane].normals));
        let impulses: [L; 8] = each(inlined!(|i: usize| impulses[i] * part));
        let friction = L::columns(inlined!(|lane: usize| &from[lane].friction));
        let friction: [L; 8] = each(inlined!(|i: usize| friction[i] * part));
        let held = L::columns(inlined!(|lane: usize| &from[lane].held));
        doubted(&held[..4]);
        doubted(&head);
        doubted(&impulses[..ROWS]);
        doubted(&friction[..4]);
        let [x, y, z, mu, restitution, radius_a, radius_b, side_of] = head;
        let [x_along, y_along, z_along, twist, ..] = friction;
        let side = inlined!(|side: usize| {
            let [m, xx, yy, zz, xy, xz, yz, _] =
                L::columns(inlined!(|lane: usize| &stage.inv_masses[at[lane][side] as usize]));
            let [qx, qy, qz, qw, x, y, z, _] =
                L::columns(inlined!(|lane: usize| &stage.poses[at[lane][side] as usize]));
            let axes = Axes::new([qx, qy, qz, qw]);
            (m, Sym([xx, yy, zz, xy, xz, yz]), axes, Vec3 { x, y, z })
        });
        let ((mass_a, inertia_a, axes_a, at_a), (mass_b, inertia_b, axes_b, at_b)) = (side(0), side(1));
        let normal = Vec3 { x, y, z };
        let (by_a, by_b) = (axes_a.turn(normal), axes_b.turn(normal));
        let choose = inlined!(|a: L, b: L, w: L| (-side_of).if_positive(a, side_of.if_positive(b, w)));
        let n = Vec3 {
            x: choose(by_a.x, by_b.x, normal.x),
            y: choose(by_a.y, by_b.y, normal.y),
            z: choose(by_a.z, by_b.z, normal.z),
        };
        let between = at_a.minus(at_b);
        let (round_a, round_b) = (n.scale(radius_a), n.scale(radius_b));
        let mut there = [zero; ROWS];
        // Rows are large: they are filled where they are.
        for (i, (row, there)) in self.rows.iter_mut().zip(&mut there).enumerate() {
            let p = impulses[i];
            let point = L::columns(inlined!(|lane: usize| &from[lane].points[i]));
            doubted(&point[..6]);
            let [ax, ay, az, bx, by, bz, one, _] = point;
            *there = one;
            let on_a = axes_a.turn(Vec3 { x: ax, y: ay, z: az }).minus(round_a);
            let on_b = axes_b.turn(Vec3 { x: bx, y: by, z: bz }).minus(between).plus(round_b);
            // Impulses act in the middle of the two points, on one line for both bodies. Arms for now; crossed with the normal below.
            let an = on_a.plus(on_b).scale(L::splat(0.5));
            let (bn, gap) = (an.plus(between), n.dot(on_a.minus(on_b)));
            *row = Row { an, bn, gap, p, ..Row::empty() };
        }
        (self.bodies, self.moves, self.manifold) = (at, moves, manifold);
        self.n = n;
        self.inv_mass = [mass_a, mass_b];
        self.inv_inertia = [inertia_a, inertia_b];
        self.f = [zero, zero, twist];
        (self.f_sum, self.hit) = ([zero; 3], [zero; 3]);
        self.work = [zero; 2];
        (self.mu, self.restitution) = (mu, restitution);
        self.firm = firm;
        // The square of the edge of the cube with the inertia of a body; what nothing moves is large.
        let squared = inlined!(|m: L, [xx, yy, zz, ..]: [L; 6]| {
            let turns = (xx + yy + zz).max(L::splat(f64::MIN_POSITIVE));
            m.if_positive(L::splat(18.0) * m / turns, L::splat(f64::MAX))
        });
        let edge = squared(mass_a, inertia_a.0).min(squared(mass_b, inertia_b.0)).sqrt();
        self.push = edge * L::splat(-stage.shared.max_push);
        // SAFETY: as the caller promises.
        let v = unsafe { [gather(&stage.velocities, &at, 0), gather(&stage.velocities, &at, 1)] };
        self.prepare(&v, Vec3 { x: x_along, y: y_along, z: z_along }, &there);
        let along = Vec3 { x: held[0], y: held[1], z: held[2] };
        let twist = if ROWS == 1 { zero } else { held[3] };
        self.held = Vec3 { x: along.dot(self.t), y: along.dot(self.second), z: twist };
        self.stretch = self.held;
        *is_sound &= doubt.is_zero();
    }

    /// Everything that follows from normals, arms, masses and the impulses known; `v`: velocities before the step, `there`: 1 for rows that exist.
    #[inline(always)]
    fn prepare(&mut self, v: &[Twist<L>; 2], along: Vec3<L>, there: &[L; ROWS]) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let n = self.n;
        let t = orthogonal(n);
        self.t = t;
        self.second = n.cross(t);
        self.f[0] = along.dot(t);
        self.f[1] = along.dot(self.second);

        // Centre of pressure; where nothing is known yet all points count alike.
        let sum = total(self.impulses());
        let weights: [L; ROWS] = each(inlined!(|i: usize| sum.if_positive(self.rows[i].p, there[i])));
        let total = total(weights);
        let share = total.if_positive(one / total.max(L::splat(f64::MIN_POSITIVE)), zero);
        let none = Vec3 { x: zero, y: zero, z: zero };
        self.center = [none; 2];
        for (row, w) in self.rows.iter().zip(weights) {
            // A single point is the centre, and does not twist.
            let share = if ROWS == 1 { one } else { w * share };
            self.center[0] = self.center[0].plus(row.an.scale(share));
            self.center[1] = self.center[1].plus(row.bn.scale(share));
        }
        if ROWS == 1 {
            self.f[2] = zero;
        }

        let mass = self.inv_mass[0] + self.inv_mass[1];
        let mut response = [[none; 2]; ROWS];
        for i in 0..ROWS {
            let (arm_a, arm_b) = (self.rows[i].an, self.rows[i].bn);
            let offset = arm_a.minus(self.center[0]);
            let row = &mut self.rows[i];
            row.arm = [offset.dot(t), offset.dot(self.second)];
            row.reach = (row.arm[0] * row.arm[0] + row.arm[1] * row.arm[1]).sqrt();
            row.an = arm_a.cross(n);
            row.bn = arm_b.cross(n);
            response[i] = [self.inv_inertia[0].times(row.an), self.inv_inertia[1].times(row.bn)];
            let k = mass + row.an.dot(response[i][0]) + row.bn.dot(response[i][1]);
            row.inv_k = k.if_positive(there[i] / k, zero);
        }
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        for (k, (i, j)) in self.k.iter_mut().zip(pairs).filter(|(_, (_, j))| *j < ROWS) {
            *k = mass + self.rows[j].an.dot(response[i][0]) + self.rows[j].bn.dot(response[i][1]);
        }
        if ROWS > 1 {
            self.invert(there);
        }
        let approach = self.normal_rates(v);
        for (row, approach) in self.rows.iter_mut().zip(approach) {
            (row.approach, row.rate) = (approach, approach);
        }
        self.slip = self.slip_rates(v);
        let sides = [self.friction_arms(0), self.friction_arms(1)];
        for (c, [a, b]) in self.c.iter_mut().zip(response) {
            let entry = inlined!(|k: usize| sides[0][k].dot(a) + sides[1][k].dot(b));
            *c = Vec3 { x: entry(0), y: entry(1), z: entry(2) };
        }
        self.inv_friction = self.friction_inverse(mass);
    }

    /// The inverse of K and a little of its diagonal, by the roots of its columns; rows that do not exist have zeros.
    #[inline(always)]
    fn invert(&mut self, there: &[L; ROWS]) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        // K = L D Lᵀ with ones on the diagonal of L; then L⁻¹ in its place.
        let mut l = [[zero; ROWS]; ROWS];
        let mut inv_d = [zero; ROWS];
        for j in 0..ROWS {
            let inv_k = self.rows[j].inv_k;
            let mut d = inv_k.if_positive(one / inv_k.max(L::splat(f64::MIN_POSITIVE)), one)
                * L::splat(1.0 + REGULAR);
            for m in 0..j {
                d -= l[j][m] * l[j][m] / inv_d[m];
            }
            inv_d[j] = one / d;
            for i in j + 1..ROWS {
                let mut x = there[i] * there[j] * self.k[COUPLING[j][i]];
                for m in 0..j {
                    x -= l[i][m] * l[j][m] / inv_d[m];
                }
                l[i][j] = x * inv_d[j];
            }
        }
        let mut w = [[zero; ROWS]; ROWS];
        for j in 0..ROWS {
            w[j][j] = one;
            for i in j + 1..ROWS {
                let mut x = -l[i][j];
                for m in j + 1..i {
                    x -= l[i][m] * w[m][j];
                }
                w[i][j] = x;
            }
        }
        for i in 0..ROWS {
            for j in i..ROWS {
                let mut x = zero;
                for m in j..ROWS {
                    x += w[m][i] * w[m][j] * inv_d[m];
                }
                self.inverse[i][j] = x * there[i] * there[j];
            }
        }
    }

    /// Angular parts of the friction rows of a side.
    #[inline(always)]
    fn friction_arms(&self, side: usize) -> [Vec3<L>; 3] {
        [self.center[side].cross(self.t), self.center[side].cross(self.second), self.n]
    }

    /// Inverse of the 3x3 matrix of the friction rows; where nothing can twist, that of the tangents alone.
    #[inline(always)]
    fn friction_inverse(&self, mass: L) -> Sym<L> {
        let sides = [self.friction_arms(0), self.friction_arms(1)];
        let moved = inlined!(|side: usize| {
            let [x, y, z] = sides[side];
            let inertia = &self.inv_inertia[side];
            [inertia.times(x), inertia.times(y), inertia.times(z)]
        });
        let moved = [moved(0), moved(1)];
        let entry =
            inlined!(|i: usize, j: usize| sides[0][i].dot(moved[0][j]) + sides[1][i].dot(moved[1][j]));
        let (xx, yy, zz) = (mass + entry(0, 0), mass + entry(1, 1), entry(2, 2));
        let (xy, xz, yz) = (entry(0, 1), entry(0, 2), entry(1, 2));
        let zero = L::splat(0.0);
        let flat = xx * yy - xy * xy;
        let det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
        // Rounding can leave a tiny determinant where there is no twist.
        let solid = det - L::splat(1e-12) * flat * zz;
        let twist =
            if ROWS == 1 { zero } else { zz.if_positive(solid.if_positive(L::splat(1.0) / det, zero), zero) };
        let plain = flat.if_positive(L::splat(1.0) / flat, zero);
        let choose = inlined!(|full: L, reduced: L| twist.if_positive(full * twist, reduced * plain));
        Sym([
            choose(yy * zz - yz * yz, yy),
            choose(xx * zz - xz * xz, xx),
            choose(flat, zero),
            choose(xz * yz - xy * zz, -xy),
            choose(xy * yz - xz * yy, zero),
            choose(xy * xz - yz * xx, zero),
        ])
    }
}
