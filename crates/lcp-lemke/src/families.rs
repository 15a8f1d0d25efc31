//! Random families of problems with a known property, for tests and benches (feature `testkit`).
//!
//! Everything is drawn from a [`SplitMix64`], so a seed names a problem. Contact problems are those of rigid
//! bodies with unit-size random masses; lengths in m, velocities in m/s, impulses in N·s.

pub use crate::text::OwnedLcp;
use sim_math::glam::{DMat3, DVec3};
use sim_math::ops;
use sim_math::testkit::SplitMix64;
use sim_traits::testkit::lcp::Family as Basic;

/// Random families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// A Aᵀ/n + 0.1 I with A uniform in [-1, 1], q uniform in [-1, 1].
    PositiveDefinite,
    /// A Aᵀ/n of half rank, q = w − M z for a complementary pair.
    SemiDefinite,
    /// Positive definite plus skew: a P-matrix without symmetry.
    PMatrix,
    /// Positive definite, `z_i` = `w_i` = 0 for about a third of i.
    Degenerate,
    /// Kostreva's cyclic matrix at any size, with small whole numbers: many exact ties.
    Kostreva,
    /// Small whole numbers everywhere: semidefinite of low rank, duplicate rows, ties at every pivot.
    WholeNumbers,
    /// n frictionless contacts on n/4 + 1 bodies, J W Jᵀ: semidefinite, often singular.
    Contact,
    /// Stewart-Trinkle friction with four directions, n/6 contacts among n/12 + 1 bodies.
    Friction4,
    /// The same with eight directions, n/10 contacts.
    Friction8,
    /// A box on a plane with redundant contacts on its lower face, n/6 of them, four directions.
    FrictionBox,
    /// No z makes w ≥ 0: a row of M that is not positive, and `q_i` < 0 there; or the same of a sum of two rows.
    Infeasible,
    /// D M D of a positive definite problem, entries over 1e-8 … 1e8.
    BadSymmetric,
    /// R M C of a P-matrix problem, entries over 1e-8 … 1e8.
    BadRowsAndColumns,
    /// D M D of a friction problem by lengths and masses, entries over 1e-8 … 1e8.
    BadFriction,
}

impl std::str::FromStr for Family {
    type Err = String;

    /// The families of workload W6 by their short names: `pd`, `contact`, `friction4`, `friction8`.
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "pd" => Ok(Self::PositiveDefinite),
            "contact" => Ok(Self::Contact),
            "friction4" => Ok(Self::Friction4),
            "friction8" => Ok(Self::Friction8),
            _ => Err(format!("unknown family {name:?}: pd, contact, friction4 or friction8")),
        }
    }
}

impl Family {
    /// Those that have a solution and numbers near 1.
    pub const WELL_SCALED: [Self; 10] = [
        Self::PositiveDefinite,
        Self::SemiDefinite,
        Self::PMatrix,
        Self::Degenerate,
        Self::Kostreva,
        Self::WholeNumbers,
        Self::Contact,
        Self::Friction4,
        Self::Friction8,
        Self::FrictionBox,
    ];

    /// Those that have a solution and numbers from 1e-8 to 1e8.
    pub const BADLY_SCALED: [Self; 3] = [Self::BadSymmetric, Self::BadRowsAndColumns, Self::BadFriction];

    /// A random member with about `n` unknowns (contact families round to whole contacts, at least one).
    #[must_use]
    pub fn draw(self, n: usize, random: &mut SplitMix64) -> OwnedLcp {
        match self {
            Self::PositiveDefinite => basic(Basic::PositiveDefinite, n, random),
            Self::SemiDefinite => basic(Basic::SemiDefinite, n, random),
            Self::PMatrix => basic(Basic::PMatrix, n, random),
            Self::Degenerate => basic(Basic::Degenerate, n, random),
            Self::Kostreva => kostreva(n),
            Self::WholeNumbers => whole_numbers(n, random),
            Self::Contact => frictionless_scene(n, random).assemble(),
            Self::Friction4 => friction(n.div_ceil(6).max(1), 4, random),
            Self::Friction8 => friction(n.div_ceil(10).max(1), 8, random),
            Self::FrictionBox => friction_box(n.div_ceil(6).max(1), 4, random),
            Self::Infeasible => infeasible(n, random),
            Self::BadSymmetric => {
                let p = basic(Basic::PositiveDefinite, n, random);
                let d: Vec<f64> = (0..n).map(|_| ops::powf(10.0, random.range(-4.0, 4.0))).collect();
                scaled(p, &d, &d)
            }
            Self::BadRowsAndColumns => {
                let p = basic(Basic::PMatrix, n, random);
                let r: Vec<f64> = (0..n).map(|_| ops::powf(10.0, random.range(-4.0, 4.0))).collect();
                let c: Vec<f64> = (0..n).map(|_| ops::powf(10.0, random.range(-4.0, 4.0))).collect();
                scaled(p, &r, &c)
            }
            Self::BadFriction => {
                let p = friction(n.div_ceil(6).max(1), 4, random);
                let d: Vec<f64> = (0..p.q.len()).map(|_| ops::powf(10.0, random.range(-4.0, 4.0))).collect();
                scaled(p, &d, &d)
            }
        }
    }
}

fn basic(family: Basic, n: usize, random: &mut SplitMix64) -> OwnedLcp {
    let (m, q) = family.draw(n, random);
    OwnedLcp { m, q }
}

fn scaled(mut p: OwnedLcp, row: &[f64], column: &[f64]) -> OwnedLcp {
    let n = p.q.len();
    for i in 0..n {
        for j in 0..n {
            p.m[i * n + j] *= row[i] * column[j];
        }
        p.q[i] *= row[i];
    }
    p
}

/// 1 on the diagonal, 2 beside it, cyclically; q = −1. Solved by z = 1/3 for n ≥ 2.
fn kostreva(n: usize) -> OwnedLcp {
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        m[i * n + (i + 1) % n] += if n > 1 { 2.0 } else { 0.0 };
        m[i * n + i] += 1.0;
    }
    OwnedLcp { m, q: vec![-1.0; n] }
}

fn whole_numbers(n: usize, random: &mut SplitMix64) -> OwnedLcp {
    let rank = 1 + random.below(n.max(1));
    let mut whole = |lo: i32, hi: i32| f64::from(lo) + random.below((hi - lo + 1) as usize) as f64;
    let a: Vec<f64> = (0..n * rank).map(|_| whole(-1, 1)).collect();
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            m[i * n + j] = (0..rank).map(|k| a[i * rank + k] * a[j * rank + k]).sum();
        }
    }
    let z: Vec<f64> = (0..n).map(|_| whole(0, 2)).collect();
    let q = (0..n)
        .map(|i| {
            let w = if z[i] == 0.0 { whole(0, 1) } else { 0.0 };
            w - (0..n).map(|j| m[i * n + j] * z[j]).sum::<f64>()
        })
        .collect();
    OwnedLcp { m, q }
}

fn infeasible(n: usize, random: &mut SplitMix64) -> OwnedLcp {
    let mut p = basic(Basic::PMatrix, n, random);
    let bad = random.below(n);
    for j in 0..n {
        p.m[bad * n + j] = -p.m[bad * n + j].abs() * if random.below(3) == 0 { 0.0 } else { 1.0 };
    }
    p.q[bad] = -random.range(0.1, 1.0);
    // Every eighth time it takes two rows to see it: the sum of one and a multiple of the other is never positive.
    let other = random.below(n);
    if other != bad && random.below(8) == 0 {
        let factor = random.range(0.5, 2.0);
        for j in 0..n {
            p.m[bad * n + j] -= factor * p.m[other * n + j];
        }
        p.q[bad] -= factor * p.q[other];
    }
    p
}

/// A free body for contact problems.
struct Body {
    inv_mass: f64,
    /// World axes.
    inv_inertia: DMat3,
    omega: DVec3,
    velocity: DVec3,
}

impl Body {
    fn random(random: &mut SplitMix64) -> Self {
        let rotation = DMat3::from_quat(random.unit_quat());
        let moments = DVec3::new(random.range(0.2, 1.0), random.range(0.2, 1.0), random.range(0.2, 1.0));
        Self {
            inv_mass: 1.0 / random.range(0.5, 2.0),
            inv_inertia: rotation * DMat3::from_diagonal(moments.recip()) * rotation.transpose(),
            omega: random.vec3(1.0),
            velocity: random.vec3(1.0),
        }
    }
}

/// One row of a Jacobian: direction `d` at lever arm `r` on each of at most two bodies.
#[derive(Clone, Copy)]
struct Row {
    bodies: [Option<usize>; 2],
    arms: [DVec3; 2],
    d: DVec3,
}

impl Row {
    fn velocity(&self, bodies: &[Body]) -> f64 {
        let side = |k: usize| {
            self.bodies[k].map_or(0.0, |b| {
                let body = &bodies[b];
                self.d.dot(body.velocity + body.omega.cross(self.arms[k]))
            })
        };
        side(0) - side(1)
    }

    /// Velocity along `self` caused by a unit impulse along `other`.
    fn response(&self, other: &Self, bodies: &[Body]) -> f64 {
        let mut sum = 0.0;
        for (k, sign_k) in [(0, 1.0), (1, -1.0)] {
            for (l, sign_l) in [(0, 1.0), (1, -1.0)] {
                if let Some(b) = self.bodies[k].filter(|_| self.bodies[k] == other.bodies[l]) {
                    let body = &bodies[b];
                    let turn =
                        self.arms[k].cross(self.d).dot(body.inv_inertia * other.arms[l].cross(other.d));
                    sum += sign_k * sign_l * (self.d.dot(other.d) * body.inv_mass + turn);
                }
            }
        }
        sum
    }
}

fn tangents(normal: DVec3, count: usize) -> Vec<DVec3> {
    let t1 = normal.any_orthonormal_vector();
    let t2 = normal.cross(t1);
    (0..count)
        .map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / count as f64;
            t1 * ops::cos(angle) + t2 * ops::sin(angle)
        })
        .collect()
}

fn random_normals(contacts: usize, bodies: usize, random: &mut SplitMix64) -> Vec<Row> {
    (0..contacts)
        .map(|_| {
            let a = random.below(bodies);
            let b = Some(random.below(bodies)).filter(|&b| b != a && random.below(4) > 0);
            Row { bodies: [Some(a), b], arms: [random.vec3(1.0), random.vec3(1.0)], d: random.unit_vec3() }
        })
        .collect()
}

/// Bodies in contact, from which a problem is assembled.
struct Scene {
    bodies: Vec<Body>,
    normals: Vec<Row>,
    mu: Vec<f64>,
    /// Friction directions for each contact; 0 for frictionless problems.
    directions: usize,
}

impl Scene {
    fn random(contacts: usize, bodies: usize, directions: usize, random: &mut SplitMix64) -> Self {
        let bodies: Vec<Body> = (0..bodies).map(|_| Body::random(random)).collect();
        let normals = random_normals(contacts, bodies.len(), random);
        let mu = (0..contacts).map(|_| random.range(0.1, 1.0)).collect();
        Self { bodies, normals, mu, directions }
    }

    /// A little later: velocities, lever arms and masses have changed by up to `amount`.
    fn change(&mut self, amount: f64, random: &mut SplitMix64) {
        for body in &mut self.bodies {
            body.velocity += random.vec3(amount);
            body.omega += random.vec3(amount);
            body.inv_mass *= 1.0 + random.range(-amount, amount);
        }
        for row in &mut self.normals {
            for arm in &mut row.arms {
                *arm += random.vec3(amount);
            }
        }
    }

    fn assemble(&self) -> OwnedLcp {
        assemble(&self.bodies, &self.normals, &self.mu, self.directions)
    }
}

fn frictionless_scene(n: usize, random: &mut SplitMix64) -> Scene {
    Scene::random(n, n / 4 + 1, 0, random)
}

fn friction_scene(contacts: usize, directions: usize, random: &mut SplitMix64) -> Scene {
    Scene::random(contacts, contacts / 2 + 1, directions, random)
}

/// Stewart-Trinkle friction: `contacts` random contacts with `directions` edges each, zero bias.
/// The unknowns are all normal impulses, then all friction impulses, then all slip speeds.
#[must_use]
pub fn friction(contacts: usize, directions: usize, random: &mut SplitMix64) -> OwnedLcp {
    friction_scene(contacts, directions, random).assemble()
}

/// A problem of the family and a similar one. For contact families the same bodies a little later: velocities,
/// lever arms and masses changed by up to `amount`; for the others each number changed by that part of itself.
#[must_use]
pub fn changed_pair(family: Family, n: usize, amount: f64, random: &mut SplitMix64) -> (OwnedLcp, OwnedLcp) {
    let mut scene = match family {
        Family::Contact => frictionless_scene(n, random),
        Family::Friction4 => friction_scene(n.div_ceil(6).max(1), 4, random),
        Family::Friction8 => friction_scene(n.div_ceil(10).max(1), 8, random),
        _ => {
            let p = family.draw(n, random);
            let changed = slightly_changed(&p, amount, random);
            return (p, changed);
        }
    };
    let first = scene.assemble();
    scene.change(amount, random);
    (first, scene.assemble())
}

/// A box of random size on a plane with `contacts` points on its lower face (the first four are corners),
/// falling by one step of gravity and sliding in a random direction.
#[must_use]
pub fn friction_box(contacts: usize, directions: usize, random: &mut SplitMix64) -> OwnedLcp {
    let half = DVec3::new(random.range(0.2, 1.0), random.range(0.2, 1.0), random.range(0.1, 0.5));
    let s = half * half;
    let moments = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0;
    let angle = random.range(0.0, std::f64::consts::TAU);
    let speed = [0.0, 0.01, 1.0][random.below(3)];
    let slip = DVec3::new(ops::cos(angle), ops::sin(angle), 0.0) * speed;
    let bodies = [Body {
        inv_mass: 1.0,
        inv_inertia: DMat3::from_diagonal(moments.recip()),
        omega: DVec3::ZERO,
        velocity: slip - DVec3::Z * 0.0981,
    }];
    let normals: Vec<Row> = (0..contacts)
        .map(|k| {
            let corner = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
            let (x, y) = corner.get(k).copied().unwrap_or_else(|| {
                // Points on an even grid of the face, so that many are collinear and exactly redundant.
                (random.below(5) as f64 / 2.0 - 1.0, random.below(5) as f64 / 2.0 - 1.0)
            });
            let arm = DVec3::new(x * half.x, y * half.y, -half.z);
            Row { bodies: [Some(0), None], arms: [arm, DVec3::ZERO], d: DVec3::Z }
        })
        .collect();
    let mu = vec![random.range(0.1, 1.0); contacts];
    assemble(&bodies, &normals, &mu, directions)
}

fn assemble(bodies: &[Body], normals: &[Row], mu: &[f64], directions: usize) -> OwnedLcp {
    let k = normals.len();
    let friction: Vec<Row> =
        normals.iter().flat_map(|r| tangents(r.d, directions).into_iter().map(|d| Row { d, ..*r })).collect();
    let rows: Vec<Row> = normals.iter().copied().chain(friction).collect();
    let (moving, n) = (rows.len(), if directions == 0 { k } else { rows.len() + k });
    let mut m = vec![0.0; n * n];
    for i in 0..moving {
        for j in 0..=i {
            m[i * n + j] = rows[i].response(&rows[j], bodies);
            m[j * n + i] = m[i * n + j];
        }
    }
    for c in 0..if directions == 0 { 0 } else { k } {
        m[(moving + c) * n + c] = mu[c];
        for e in 0..directions {
            let f = k + c * directions + e;
            m[f * n + moving + c] = 1.0;
            m[(moving + c) * n + f] = -1.0;
        }
    }
    let mut q: Vec<f64> = rows.iter().map(|r| r.velocity(bodies)).collect();
    q.resize(n, 0.0);
    OwnedLcp { m, q }
}

/// The problem with every number changed by at most `amount` of itself; a symmetric matrix stays symmetric,
/// zeros and ones (structure) stay as they are.
#[allow(clippy::float_cmp, reason = "exact ones are structure")]
#[must_use]
pub fn slightly_changed(p: &OwnedLcp, amount: f64, random: &mut SplitMix64) -> OwnedLcp {
    let n = p.q.len();
    let mut changed = p.clone();
    let factors: Vec<f64> = (0..n).map(|_| 1.0 + random.range(-amount, amount)).collect();
    for i in 0..n {
        for j in 0..n {
            if p.m[i * n + j].abs() != 1.0 {
                changed.m[i * n + j] *= factors[i] * factors[j];
            }
        }
        changed.q[i] *= 1.0 + random.range(-amount, amount);
    }
    changed
}
