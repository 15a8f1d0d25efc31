//! Conformance of [`RowSolver`]s: closed forms of one contact, random piles, mechanisms with joints and contacts, bad input.

use super::SplitMix64;
use super::mechanism;
use crate::{Law, RowError, RowProblem, RowSolver, Turning};
use sim_math::glam::{DMat3, DVec3};

/// What to demand.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Largest number of contacts to try.
    pub max_contacts: usize,
    /// Random problems.
    pub count: u32,
    /// Largest residual of an answer relative to the largest |b|, on top of what the solver's cone costs.
    pub residual: f64,
    /// First number of the random stream.
    pub seed: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { max_contacts: 8, count: 100, residual: 1e-7, seed: 1 }
    }
}

/// A problem that owns its numbers.
#[derive(Debug, Clone, Default)]
pub struct Owned {
    /// Where rows start.
    pub starts: Vec<u32>,
    /// Columns of blocks.
    pub columns: Vec<u32>,
    /// Blocks.
    pub blocks: Vec<DMat3>,
    /// Velocities without impulses, m/s.
    pub velocity: Vec<DVec3>,
    /// Coefficients of friction.
    pub friction: Vec<f64>,
    /// Laws of the blocks after the contacts.
    pub laws: Vec<Law>,
}

impl Owned {
    /// One contact.
    #[must_use]
    pub fn single(w: DMat3, b: DVec3, mu: f64) -> Self {
        let (starts, columns) = (vec![0, 1], vec![0]);
        Self { starts, columns, blocks: vec![w], velocity: vec![b], friction: vec![mu], laws: vec![] }
    }

    /// `contacts` contacts between random bodies of a small heap, and with the ground: W is dense, positive semi-definite
    /// and often singular; the velocities are those of moving bodies. Normals point up more or less, as they do in heaps.
    #[must_use]
    pub fn random(contacts: usize, random: &mut SplitMix64) -> Self {
        Self::draw(contacts, random, true)
    }

    /// The same with normals in all directions: bodies that are pinched and wedged. There is a solution, which may be large and
    /// hard to find: an error is no shame.
    #[must_use]
    pub fn wedged(contacts: usize, random: &mut SplitMix64) -> Self {
        Self::draw(contacts, random, false)
    }

    fn draw(contacts: usize, random: &mut SplitMix64, heaped: bool) -> Self {
        let bodies = 1 + random.below(contacts.max(1));
        let masses: Vec<f64> = (0..bodies).map(|_| random.range(0.5, 2.0)).collect();
        let motion: Vec<(DVec3, DVec3)> =
            (0..bodies).map(|_| (random.vec3(1.0), random.vec3(1.0) - DVec3::Z)).collect();
        // Per contact: bodies A and B (none is the ground), arms, frame.
        let sites: Vec<(usize, Option<usize>, [DVec3; 2], DMat3)> = (0..contacts)
            .map(|c| {
                let a = if c < bodies { c } else { random.below(bodies) };
                let b = Some(random.below(bodies)).filter(|&b| b != a && random.unit() < 0.5);
                let mut normal = random.unit_vec3();
                // In a heap bodies lie on earlier ones.
                let (a, b) = match b {
                    Some(b) if heaped && b > a => (b, Some(a)),
                    _ => (a, b),
                };
                if heaped {
                    normal = DVec3::new(normal.x, normal.y, normal.z.abs() + 0.3).normalize();
                }
                let frame = sim_math::rotation::frame_across(normal).unwrap_or(DMat3::IDENTITY);
                (a, b, [random.vec3(0.5), random.vec3(0.5)], frame)
            })
            .collect();
        let answer = |arm: DVec3, p: DVec3, m: f64| (arm.cross(p) * (2.5 / m), p / m);
        let mut owned = Self { starts: vec![0], ..Self::default() };
        for &(a, b, arms, frame) in &sites {
            let sides = [(Some(a), arms[0], 1.0), (b, arms[1], -1.0)];
            for (d, &(e, f, others, other_frame)) in sites.iter().enumerate() {
                let mut block = DMat3::ZERO;
                for (body, arm, sign) in sides {
                    for (other, other_arm, other_sign) in [(Some(e), others[0], 1.0), (f, others[1], -1.0)] {
                        let Some(k) = body.filter(|_| body == other) else { continue };
                        for axis in 0..3 {
                            let (w, v) = answer(other_arm, other_frame.col(axis), masses[k]);
                            let u = frame.transpose() * (v + w.cross(arm)) * (sign * other_sign);
                            *block.col_mut(axis) += u;
                        }
                    }
                }
                owned.columns.push(d as u32);
                owned.blocks.push(block);
            }
            owned.starts.push(owned.columns.len() as u32);
            let at = |body: Option<usize>, arm: DVec3| {
                body.map_or(DVec3::ZERO, |k| motion[k].1 + motion[k].0.cross(arm))
            };
            owned.velocity.push(frame.transpose() * (at(Some(a), arms[0]) - at(b, arms[1])));
            owned.friction.push([0.0, 0.2, 0.5, 1.0][random.below(4)]);
        }
        owned
    }

    /// The problem.
    ///
    /// # Errors
    /// See [`RowProblem::new`].
    pub fn problem(&self) -> Result<RowProblem<'_>, RowError> {
        RowProblem::new(&self.starts, &self.columns, &self.blocks, &self.velocity, &self.friction, &self.laws)
    }
}

/// Runs the kit; the first violation as text.
///
/// # Errors
/// What the solver did wrong, and on which problem.
pub fn conformance(solver: &mut dyn RowSolver, bounds: &Bounds) -> Result<(), String> {
    closed_forms(solver)?;
    turning(solver)?;
    random_problems(solver, bounds)?;
    mechanism::conformance(solver, bounds)?;
    bad_input(solver)
}

/// NaN exceeds everything.
fn exceeds(value: f64, limit: f64) -> bool {
    value.is_nan() || value > limit
}

fn closed_forms(solver: &mut dyn RowSolver) -> Result<(), String> {
    // A unit mass: separation, sticking, sliding along an axis and across; a contact that is heavier along the normal.
    let heavy = DMat3::from_diagonal(DVec3::new(2.0, 2.0, 0.5));
    let diagonal = 0.5_f64.sqrt();
    let cases = [
        ("parting", DMat3::IDENTITY, DVec3::new(1.0, 0.0, 0.5), 0.5, DVec3::ZERO),
        ("sticking", DMat3::IDENTITY, DVec3::new(0.3, 0.0, -1.0), 0.5, DVec3::new(-0.3, 0.0, 1.0)),
        ("sliding", DMat3::IDENTITY, DVec3::new(2.0, 0.0, -1.0), 0.5, DVec3::new(-0.5, 0.0, 1.0)),
        (
            "sliding askew",
            DMat3::IDENTITY,
            DVec3::new(3.0, 3.0, -1.0),
            0.5,
            DVec3::new(-0.5 * diagonal, -0.5 * diagonal, 1.0),
        ),
        ("without friction", DMat3::IDENTITY, DVec3::new(2.0, 1.0, -1.0), 0.0, DVec3::Z),
        ("heavy", heavy, DVec3::new(0.0, 9.0, -1.0), 0.4, DVec3::new(0.0, -0.8, 2.0)),
    ];
    for (name, w, b, mu, expected) in cases {
        let owned = Owned::single(w, b, mu);
        let problem = owned.problem().map_err(|e| e.to_string())?;
        let mut p = [DVec3::ZERO];
        solver.solve(&problem, &mut p).map_err(|e| format!("{name}: {e}"))?;
        // An inscribed cone may fall short by its error and turn by as much as its half angle.
        let error = solver.cone_error();
        let allowed = 1e-9 + mu * expected.z * (2.0 * error).sqrt().max(error);
        if exceeds((p[0] - expected).length(), allowed) {
            return Err(format!("{name}: {}, expected {expected}", p[0]));
        }
    }
    Ok(())
}

/// A contact that bears 1 N·s, and the law of turning there: held, rolling, spinning, both; and under a contact that parts.
fn turning(solver: &mut dyn RowSolver) -> Result<(), String> {
    let cases = [
        ("held", -1.0, DVec3::new(0.3, -0.2, 0.05), DVec3::new(-0.3, 0.2, -0.05)),
        ("rolling", -1.0, DVec3::new(3.0, 4.0, 0.05), DVec3::new(-0.3, -0.4, -0.05)),
        ("spinning", -1.0, DVec3::new(0.3, -0.2, 5.0), DVec3::new(-0.3, 0.2, -0.1)),
        ("rolling and spinning", -2.0, DVec3::new(-8.0, 6.0, -5.0), DVec3::new(0.8, -0.6, 0.2)),
        ("parting", 1.0, DVec3::ONE, DVec3::ZERO),
    ];
    for (name, approach, spin, expected) in cases {
        let owned = Owned {
            starts: vec![0, 1, 2],
            columns: vec![0, 1],
            blocks: vec![DMat3::IDENTITY; 2],
            velocity: vec![DVec3::new(0.0, 0.0, approach), spin],
            friction: vec![0.5],
            laws: vec![Law::Turning(Turning { contact: 0, rolling: 0.5, torsional: 0.1 })],
        };
        let problem = owned.problem().map_err(|e| e.to_string())?;
        let mut p = [DVec3::ZERO; 2];
        solver.solve(&problem, &mut p).map_err(|e| format!("{name}: {e}"))?;
        let error = solver.cone_error();
        let allowed = 1e-9 + expected.length() * (2.0 * error).sqrt().max(error);
        if exceeds((p[1] - expected).length(), allowed) {
            return Err(format!("{name}: moments {}, expected {expected}", p[1]));
        }
    }
    Ok(())
}

fn random_problems(solver: &mut dyn RowSolver, bounds: &Bounds) -> Result<(), String> {
    let mut random = SplitMix64(bounds.seed);
    for k in 0..bounds.count {
        let owned = Owned::random(1 + random.below(bounds.max_contacts), &mut random);
        let problem = owned.problem().map_err(|e| e.to_string())?;
        let mut p = vec![DVec3::ZERO; problem.len()];
        let report = solver
            .solve(&problem, &mut p)
            .map_err(|e| format!("problem {k} with {} contacts: {e}", problem.len()))?;
        let found = problem.certificate(&p);
        let scale = owned.velocity.iter().fold(1e-300_f64, |s, b| s.max(b.length()));
        let exact = bounds.residual * scale;
        let size = p.iter().fold(0.0_f64, |s, p| s.max(p.length()));
        let worst_diagonal = (0..problem.len()).map(|c| problem.diagonal(c).z_axis.z).fold(0.0, f64::max);
        let facets = (2.0 * solver.cone_error()).sqrt() * (scale + size * worst_diagonal);
        if exceeds(found.residual, exact + facets) {
            return Err(format!("problem {k}: residual {:e} called solved", found.residual));
        }
        if exceeds(found.approach, exact) || exceeds(found.gap_power, exact * (1.0 + size)) {
            return Err(format!("problem {k}: {found:?} called solved"));
        }
        if exceeds(found.cone_violation, 1e-9 * (1.0 + size)) {
            return Err(format!("problem {k}: impulses leave their cones by {:e}", found.cone_violation));
        }
        if (report.certificate.residual - found.residual).abs() > exact {
            return Err(format!(
                "problem {k}: reported residual {:e}, is {:e}",
                report.certificate.residual, found.residual
            ));
        }
        // No contact law adds energy: pᵀ b + ½ pᵀ W p ≤ 0.
        let work: f64 = (0..problem.len())
            .map(|c| 0.5 * p[c].dot(owned.velocity[c] + problem.relative_velocity(c, &p)))
            .sum();
        if work > exact * (1.0 + size) {
            return Err(format!("problem {k}: the impulses add {work:e} J"));
        }
        // The same again from the answer: it stays the answer.
        let mut again = p.clone();
        solver.solve(&problem, &mut again).map_err(|e| format!("problem {k} from its answer: {e}"))?;
        let once_more = problem.certificate(&again);
        if exceeds(once_more.residual, exact + facets) {
            return Err(format!("problem {k} from its answer: residual {:e}", once_more.residual));
        }
    }
    Ok(())
}

fn bad_input(solver: &mut dyn RowSolver) -> Result<(), String> {
    let owned = Owned::single(DMat3::IDENTITY, DVec3::NEG_Z, 0.5);
    let problem = owned.problem().map_err(|e| e.to_string())?;
    match solver.solve(&problem, &mut [DVec3::ZERO; 2]) {
        Err(RowError::WrongLength { .. }) => {}
        other => return Err(format!("two impulses for one contact: expected WrongLength, got {other:?}")),
    }
    match solver.solve(&problem, &mut [DVec3::NAN]) {
        Err(RowError::NonFinite { .. }) => {}
        other => return Err(format!("a guess that is not a number: expected NonFinite, got {other:?}")),
    }
    let none = Owned { starts: vec![0], ..Owned::default() };
    let empty = none.problem().map_err(|e| e.to_string())?;
    solver.solve(&empty, &mut []).map_err(|e| format!("no contacts are solved by nothing, but: {e}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RowReport, project_on_cone};

    /// Projected gradient: slow, plain and right for small problems.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Naive {
        Right,
        // Wrong in one way each; the kit must notice every one of them.
        AlwaysZero,
        NoFriction,
        Pyramid,
        LiesAboutResidual,
        IgnoresLength,
        GivesUp,
        PushesTooHard,
        TurnsFreely,
    }

    impl RowSolver for Naive {
        fn kind(&self) -> &'static str {
            "naive"
        }

        fn solve(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
            if *self != Self::IgnoresLength {
                RowError::check_guess(problem, p)?;
            }
            if *self == Self::GivesUp {
                return Err(RowError::NoSolution { iterations: 0 });
            }
            let scale: f64 = (0..problem.len())
                .map(|c| {
                    problem
                        .row(c)
                        .map(|(_, w)| w.col(0).length() + w.col(1).length() + w.col(2).length())
                        .sum()
                })
                .fold(1e-300, f64::max);
            let most = match (*self, problem.laws().is_empty()) {
                (Self::AlwaysZero, _) => 0,
                // What is held converges slowly.
                (Self::Right, false) => 3_000_000,
                _ => 200_000,
            };
            for k in 0..most {
                // All at once: what contradicts itself is left in equal parts.
                let before = p.to_vec();
                for c in 0..problem.len().min(p.len()) {
                    let u = problem.relative_velocity(c, &before);
                    let Some(&mu) = problem.friction().get(c) else {
                        if *self == Self::TurnsFreely && problem.law(c).contact().is_some() {
                            continue;
                        }
                        p[c] = problem.law(c).project(p[c] - u / scale, problem.load(c, &before));
                        continue;
                    };
                    let mu = if *self == Self::NoFriction { 0.0 } else { mu };
                    let lifted = u + DVec3::new(0.0, 0.0, mu * u.truncate().length());
                    let target = p[c] - lifted / scale;
                    p[c] = if *self == Self::Pyramid {
                        let z = target.z.max(0.0);
                        DVec3::new(target.x.clamp(-mu * z, mu * z), target.y.clamp(-mu * z, mu * z), z)
                    } else {
                        project_on_cone(target, mu)
                    };
                }
                if k % 64 == 0 && problem.certificate(p).residual < 1e-11 {
                    break;
                }
            }
            if *self == Self::PushesTooHard {
                p.iter_mut().for_each(|p| *p *= 1.001);
            }
            let mut certificate = problem.certificate(p);
            let left = |c: usize| problem.relative_velocity(c, p).abs().max_element();
            let far: Vec<usize> =
                (problem.friction().len()..problem.len()).filter(|&c| left(c) > 1e-2).collect();
            if *self == Self::Right && certificate.residual > 1e-2 && far.len() == 2 {
                let (block, residual) = (far[0], left(far[0]));
                return Err(RowError::Contradictory { block, others: 1, iterations: 0, residual });
            }
            if *self == Self::Right && certificate.residual > 1e-7 {
                return Err(RowError::Budget { iterations: 0, residual: certificate.residual });
            }
            if *self == Self::LiesAboutResidual {
                certificate.residual = 1.0;
            }
            Ok(RowReport { iterations: 0, certificate })
        }
    }

    const SMALL: Bounds = Bounds { max_contacts: 3, count: 12, residual: 1e-6, seed: 3 };

    #[test]
    fn a_plain_solver_conforms() {
        conformance(&mut Naive::Right, &SMALL).unwrap();
    }

    #[test]
    fn broken_solvers_are_found_out() {
        for mut broken in [
            Naive::AlwaysZero,
            Naive::NoFriction,
            Naive::Pyramid,
            Naive::LiesAboutResidual,
            Naive::IgnoresLength,
            Naive::GivesUp,
            Naive::PushesTooHard,
            Naive::TurnsFreely,
        ] {
            assert!(conformance(&mut broken, &SMALL).is_err(), "{broken:?} passed");
        }
    }

    #[test]
    fn random_problems_are_symmetric_and_semi_definite() {
        let mut random = SplitMix64(9);
        for _ in 0..50 {
            let owned = Owned::random(5, &mut random);
            let problem = owned.problem().unwrap();
            for c in 0..5 {
                for (d, block) in problem.row(c) {
                    let mirrored = problem.row(d).find(|(k, _)| *k == c).unwrap().1.transpose();
                    assert!((*block - mirrored).abs_diff_eq(DMat3::ZERO, 1e-13));
                }
            }
            let x: Vec<DVec3> = (0..5).map(|_| random.vec3(1.0)).collect();
            let quadratic: f64 =
                (0..5).map(|c| x[c].dot(problem.relative_velocity(c, &x) - owned.velocity[c])).sum();
            assert!(quadratic > -1e-12);
        }
    }
}
