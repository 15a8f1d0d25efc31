//! The substeps of the soft solver.
//!
//! # Reference
//!
//! Catto (2024), `Solver2D`, the variant called soft step.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `h` | dt/substeps | s |
//! | `v`, `x` | velocity, displacement since the start of the step | m/s, m (and angles) |
//!
//! # Formula
//!
//! ```text
//! for each substep:   v += h a;  apply the impulses of the substep before;  push apart;  x += h v;  relax
//! at the end:         bounce
//! ```
//!
//! # Cost
//!
//! O(substeps · patches); no allocation once warmed up.
//!
//! # Numerics
//!
//! Patches of one colour share no moving body, and those of one domain none with another, so that the result does not depend on how many are done at once.
//! The number of domains follows from that of the contacts, not from threads.
//!
//! # Failure
//!
//! A number that is not finite in a body, or in a manifold that takes part, is an error that names it, before anything is changed.
//!
//! # Tested by
//!
//! `lanes_have_the_bits_of_single_patches`, `threads_have_the_bits_of_one`, `a_box_comes_to_rest_on_a_plane_and_carries_its_weight`,
//! `bad_numbers_are_named`

#![allow(unsafe_code, reason = "threads share velocities and manifolds; domains keep them apart")]

use super::{
    bodies::{SoftBodies, SoftBody, SoftManifold},
    groups::{Group, Motions, Workspace, drift},
    lane::{Lane, Slot, Wide},
    patch::{Pass, Shared, Spring},
    shelf::Shelf,
};
use sim_traits::{Executor, Serial, for_each_large_mut};
use thiserror::Error;

/// Tunables of [`SoftSolver`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SoftParams {
    /// Parts a step is cut into; more make contacts stiffer and piles steadier, at proportional cost. Default 4.
    pub substeps: u32,
    /// Frequency of the spring of a face, Hz, at most a quarter of the substep rate; higher means less penetration. Points, edges, and contacts with what
    /// does not move have twice that. Default 30.
    pub hertz: f64,
    /// Damping ratio of the spring; higher means slower recovery from penetration. Default 5.
    pub damping: f64,
    /// Largest speed at which bodies are pushed apart, m/s. Default 3.
    pub max_push: f64,
    /// Approach speed above which restitution acts, m/s. Default 0.01.
    pub bounce_from: f64,
}

impl Default for SoftParams {
    fn default() -> Self {
        Self { substeps: 4, hertz: 30.0, damping: 5.0, max_push: 3.0, bounce_from: 0.01 }
    }
}

/// Why a step was refused. Nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum SoftError {
    /// A parameter that makes no sense.
    #[error("{what}: {value} is out of range")]
    Parameter {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A manifold names a body that is not there.
    #[error("manifold {manifold}: there is no body {body}")]
    NoBody {
        /// Which manifold.
        manifold: usize,
        /// The index it has.
        body: u32,
    },
    /// A number of a manifold that is not finite.
    #[error("manifold {manifold}: {what} is not finite")]
    Manifold {
        /// Which manifold.
        manifold: usize,
        /// Which number.
        what: &'static str,
    },
    /// A number of a body that is not finite.
    #[error("body {body}: {what} is not finite")]
    Body {
        /// Which body.
        body: usize,
        /// Which number.
        what: &'static str,
    },
}

/// What happened in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SoftReport {
    /// Groups of patches that share no body.
    pub colours: u32,
    /// Patches that found no colour and were done one by one.
    pub left_over: u32,
}

/// Workspace of the soft solver.
#[derive(Debug, Default)]
pub struct SoftSolver {
    /// Tunables.
    pub params: SoftParams,
    workspace: Workspace<Wide>,
}

impl SoftSolver {
    /// With other tunables.
    #[must_use]
    pub fn new(params: SoftParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Moves bodies on by `dt` seconds under their accelerations and the contacts. Velocities and displacements of
    /// `bodies` and impulses of `manifolds` are the result; a manifold without points or between two bodies that nothing moves is left as it is.
    ///
    /// # Errors
    /// See [`SoftError`].
    pub fn step(
        &mut self,
        bodies: &mut SoftBodies,
        manifolds: &mut [SoftManifold],
        dt: f64,
    ) -> Result<SoftReport, SoftError> {
        self.step_by(&Serial, bodies, manifolds, dt)
    }

    /// The same on several threads, with the same bits.
    ///
    /// # Errors
    /// See [`SoftError`].
    pub fn step_by(
        &mut self,
        executor: &dyn Executor,
        bodies: &mut SoftBodies,
        manifolds: &mut [SoftManifold],
        dt: f64,
    ) -> Result<SoftReport, SoftError> {
        run(&self.params, &mut self.workspace, executor, bodies, manifolds, dt)
    }
}

fn check(params: &SoftParams, bodies: &SoftBodies, dt: f64) -> Result<(), SoftError> {
    let positive = [
        ("dt", dt),
        ("hertz", params.hertz),
        ("damping", params.damping),
        ("substeps", f64::from(params.substeps)),
    ];
    for (what, value) in positive {
        if !(value > 0.0 && value.is_finite()) {
            return Err(SoftError::Parameter { what, value });
        }
    }
    for (what, value) in [("max_push", params.max_push), ("bounce_from", params.bounce_from)] {
        if value.is_nan() || value < 0.0 {
            return Err(SoftError::Parameter { what, value });
        }
    }
    let arrays = [&bodies.velocities, &bodies.accelerations, &bodies.inv_masses, &bodies.poses];
    for (what, array) in ["velocity", "acceleration", "inverse mass", "pose"].into_iter().zip(arrays) {
        if !all_finite(array) {
            let body = array.iter().position(|slot| !all_finite([slot])).unwrap_or(0);
            return Err(SoftError::Body { body, what });
        }
    }
    Ok(())
}

/// The manifold that has a number that is not finite.
#[cold]
fn fault(manifolds: &[SoftManifold]) -> SoftError {
    let is_bad = |m: &SoftManifold| !all_finite(m.slots());
    let manifold = manifolds.iter().position(is_bad).unwrap_or(0);
    let material = manifolds.get(manifold).is_some_and(|m| !all_finite([&m.head, &m.friction]));
    let what = if material { "normal, material or friction impulse" } else { "point" };
    SoftError::Manifold { manifold, what }
}

/// True if no number is infinite or NaN; without a branch per number.
fn all_finite<'a>(slots: impl IntoIterator<Item = &'a Slot>) -> bool {
    let mut sums = Slot::default();
    slots.into_iter().for_each(|slot| sums = sums.with(slot, |sum, x| sum + x * 0.0));
    sums.iter().all(|x| *x == 0.0)
}

/// The step on lanes of any width.
fn run<L: Lane>(
    params: &SoftParams,
    workspace: &mut Workspace<L>,
    executor: &dyn Executor,
    bodies: &mut SoftBodies,
    manifolds: &mut [SoftManifold],
    dt: f64,
) -> Result<SoftReport, SoftError> {
    check(params, bodies, dt)?;
    workspace.sort(bodies, manifolds)?;
    // Each group has a body of its own for what does not move: nobody reads what is put there.
    let first = bodies.len();
    for _ in &workspace.groups {
        bodies.push(&SoftBody::IDLE);
    }
    let shelf = Shelf::new(manifolds);
    // A single domain leaves nothing between domains, and is not worth a thread.
    let executor = if workspace.groups.len() <= 2 { &Serial } else { executor };
    for_each_large_mut(executor, &mut workspace.groups, &|k, group| {
        // SAFETY: nobody writes manifolds now.
        unsafe { group.fill(&shelf, bodies, (first + k) as u32) };
    });
    let is_sound = workspace.groups.iter().all(|group| group.filled.is_sound);
    if is_sound {
        substeps(params, workspace, executor, bodies, &shelf, dt);
    }
    bodies.truncate(first);
    if !is_sound {
        return Err(fault(manifolds));
    }
    let mut report = SoftReport::default();
    for [colours, left_over] in workspace.groups.iter().map(Group::colours) {
        report.colours += colours;
        report.left_over += left_over;
    }
    Ok(report)
}

/// All that moves. Of the threads in it: a domain uses the bodies that are its members and its own idle one. What is between domains is done while none of
/// them runs, and so is what moves by itself.
fn substeps<L: Lane>(
    params: &SoftParams,
    workspace: &mut Workspace<L>,
    executor: &dyn Executor,
    bodies: &mut SoftBodies,
    manifolds: &Shelf<'_, SoftManifold>,
    dt: f64,
) {
    let h = dt / f64::from(params.substeps);
    let hertz = params.hertz.min(0.25 / h);
    let shared = Shared {
        // Against a body that does not give way a contact may be twice as stiff.
        springs: [hertz, 2.0 * hertz].map(|hertz| Spring::new(hertz, params.damping, h)),
        inv_h: 1.0 / h,
        max_push: params.max_push,
        bounce_from: params.bounce_from,
    };
    let SoftBodies { velocities, displacements, accelerations, free, .. } = bodies;
    free.resize(velocities.len(), Slot::default());
    let motions = Motions {
        velocities: Shelf::new(velocities),
        displacements: Shelf::new(displacements),
        free: Shelf::new(free),
        accelerations,
        h,
    };
    let Workspace { groups, driven, .. } = workspace;
    let is_bouncy = groups.iter().any(|group| group.filled.is_bouncy);
    let Some((between, domains)) = groups.split_last_mut() else { return };
    // SAFETY: threads are kept apart as said above.
    for_each_large_mut(executor, domains, &|_, group| unsafe {
        group.accelerate(&motions, true);
        group.warm_start(&motions);
    });
    // SAFETY: no domain runs.
    unsafe { between.warm_start(&motions) };
    for substep in 0..params.substeps {
        // SAFETY: threads are kept apart as said above.
        for_each_large_mut(executor, domains, &|_, group| unsafe {
            if substep > 0 {
                group.accelerate(&motions, false);
            }
            group.solve(&motions, &shared, Pass::Push);
        });
        // SAFETY: no domain runs.
        unsafe {
            between.solve(&motions, &shared, Pass::Push);
            drift(driven, &motions);
        }
        // SAFETY: threads are kept apart as said above.
        for_each_large_mut(executor, domains, &|_, group| unsafe {
            group.drift(&motions);
            group.solve(&motions, &shared, Pass::Relax);
        });
        // SAFETY: no domain runs.
        unsafe { between.solve(&motions, &shared, Pass::Relax) };
    }
    if is_bouncy {
        // SAFETY: threads are kept apart as said above.
        for_each_large_mut(executor, domains, &|_, group| unsafe { group.restitute(&motions, &shared) });
        // SAFETY: no domain runs.
        unsafe { between.restitute(&motions, &shared) };
    }
    // SAFETY: velocities are only read, and a manifold is in one patch.
    for_each_large_mut(executor, groups, &|_, group| unsafe { group.store(&motions.velocities, manifolds) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::{
        NormalOf,
        lane::{PlainFour, Twice},
    };
    use sim_math::{Pose, Sym3, glam::DVec3, spatial::Motion, testkit::SplitMix64};

    /// Random bodies, some fixed, with random patches between them: every number different, as no scene has it.
    fn tangle(random: &mut SplitMix64, bodies: u32, patches: u32) -> (SoftBodies, Vec<SoftManifold>) {
        let mut out = SoftBodies::default();
        for k in 0..bodies {
            let free = k % 4 != 0;
            let m = DVec3::new(random.range(0.5, 2.0), random.range(0.5, 2.0), random.range(0.5, 2.0));
            out.push(&SoftBody {
                inv_mass: if free { random.range(0.5, 2.0) } else { 0.0 },
                inv_inertia: if free { Sym3::from_diagonal(m) } else { Sym3::ZERO },
                pose: Pose::new(random.vec3(0.1), random.unit_quat()),
                velocity: Motion::new(random.vec3(1.0), random.vec3(1.0)),
                acceleration: Motion::new(DVec3::ZERO, if free { DVec3::NEG_Z * 9.81 } else { DVec3::ZERO }),
            });
        }
        let mut manifolds = Vec::new();
        for _ in 0..patches {
            let a = (random.range(0.0, f64::from(bodies)) as u32).min(bodies - 1);
            let b = (a + 1 + (random.range(0.0, f64::from(bodies - 1)) as u32).min(bodies - 2)) % bodies;
            let of = [NormalOf::A, NormalOf::B, NormalOf::World][random.below(3)];
            let (mu, e) = (random.range(0.0, 1.0), random.range(0.0, 1.0));
            let radii = [random.range(0.0, 0.02), random.range(0.0, 0.02)];
            let mut m = SoftManifold::new([a, b], random.unit_vec3(), of, mu, e).rounded(radii);
            m.set_friction_impulse(random.vec3(0.1), random.range(-0.1, 0.1));
            for _ in 0..=(random.range(0.0, 4.0) as u32).min(3) {
                m.push(random.vec3(0.1), random.vec3(0.1), random.range(0.0, 0.2));
            }
            manifolds.push(m);
        }
        (out, manifolds)
    }

    #[test]
    fn lanes_have_the_bits_of_single_patches() {
        let mut random = SplitMix64(11);
        for patches in [0, 1, 3, 4, 5, 60, 400, 4000] {
            let (bodies, manifolds) = tangle(&mut random, 40, patches);
            let params = SoftParams::default();
            let (mut one, mut plain) =
                ((bodies.clone(), manifolds.clone()), (bodies.clone(), manifolds.clone()));
            let mut four = (bodies, manifolds);
            let a = run::<f64>(&params, &mut Workspace::default(), &Serial, &mut one.0, &mut one.1, 0.01);
            let b = run::<Wide>(&params, &mut Workspace::default(), &Serial, &mut four.0, &mut four.1, 0.01);
            let c = run::<Twice<PlainFour>>(
                &params,
                &mut Workspace::default(),
                &Serial,
                &mut plain.0,
                &mut plain.1,
                0.01,
            );
            assert_eq!((a, a), (b, c));
            for other in [&four, &plain] {
                assert_eq!(one.0.velocities, other.0.velocities);
                assert_eq!(one.0.displacements, other.0.displacements);
                assert_eq!(one.1, other.1);
            }
            assert!(one.0.velocities.iter().flat_map(|v| v.iter()).all(|x| x.is_finite()));
        }
    }

    /// As many threads as pieces, the last first.
    #[derive(Debug)]
    struct Many;

    impl Executor for Many {
        fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            std::thread::scope(|scope| (0..n).rev().for_each(|k| drop(scope.spawn(move || work(k)))));
        }

        fn parallelism(&self) -> usize {
            64
        }
    }

    #[test]
    fn threads_have_the_bits_of_one() {
        let mut random = SplitMix64(15);
        let (bodies, manifolds) = tangle(&mut random, 6000, 20_000);
        let (mut one, mut many) = ((bodies.clone(), manifolds.clone()), (bodies, manifolds));
        let mut solver = SoftSolver::default();
        for _ in 0..3 {
            solver.step(&mut one.0, &mut one.1, 0.01).unwrap();
            SoftSolver::default().step_by(&Many, &mut many.0, &mut many.1, 0.01).unwrap();
        }
        assert!(solver.workspace.groups.len() > 4);
        assert_eq!(one.0.velocities, many.0.velocities);
        assert_eq!(one.0.displacements, many.0.displacements);
        assert_eq!(one.1, many.1);
    }

    #[test]
    fn momentum_changes_by_what_gravity_and_fixed_bodies_give() {
        let mut random = SplitMix64(12);
        let (mut bodies, mut manifolds) = tangle(&mut random, 30, 80);
        // Without fixed bodies and gravity nothing may change it.
        manifolds.retain(|m| m.bodies.iter().all(|b| b % 4 != 0));
        let momentum = |bodies: &SoftBodies| -> DVec3 {
            (0..30).filter(|b| b % 4 != 0).map(|b| bodies.velocity(b).linear / bodies.inv_masses[b][0]).sum()
        };
        bodies.accelerations.iter_mut().for_each(|a| *a = Slot::default());
        let before = momentum(&bodies);
        SoftSolver::default().step(&mut bodies, &mut manifolds, 0.01).unwrap();
        assert!((momentum(&bodies) - before).length() < 1e-12 * before.length(), "{before}");
    }

    #[test]
    fn a_workspace_may_be_used_again() {
        let mut random = SplitMix64(13);
        let mut solver = SoftSolver::default();
        for patches in [50, 7, 200] {
            let (bodies, manifolds) = tangle(&mut random, 20, patches);
            let (mut fresh, mut used) = ((bodies.clone(), manifolds.clone()), (bodies, manifolds));
            SoftSolver::default().step(&mut fresh.0, &mut fresh.1, 0.01).unwrap();
            solver.step(&mut used.0, &mut used.1, 0.01).unwrap();
            assert_eq!(fresh.0.velocities, used.0.velocities);
            assert_eq!(fresh.1, used.1);
        }
    }

    #[test]
    fn bad_numbers_are_named() {
        let mut random = SplitMix64(14);
        let (bodies, manifolds) = tangle(&mut random, 8, 6);
        let refused = |change: &dyn Fn(&mut SoftSolver, &mut SoftBodies, &mut Vec<SoftManifold>)| {
            let (mut solver, mut b, mut m) = (SoftSolver::default(), bodies.clone(), manifolds.clone());
            change(&mut solver, &mut b, &mut m);
            let before = format!("{b:?}{m:?}");
            let text = solver.step(&mut b, &mut m, 0.01).unwrap_err().to_string();
            assert_eq!(format!("{b:?}{m:?}"), before, "nothing may change");
            text
        };
        assert_eq!(refused(&|s, _, _| s.params.substeps = 0), "substeps: 0 is out of range");
        assert_eq!(refused(&|s, _, _| s.params.hertz = f64::NAN), "hertz: NaN is out of range");
        assert_eq!(refused(&|s, _, _| s.params.max_push = -1.0), "max_push: -1 is out of range");
        assert_eq!(refused(&|_, b, _| b.velocities[3][4] = f64::INFINITY), "body 3: velocity is not finite");
        assert_eq!(refused(&|_, b, _| b.inv_masses[2][0] = f64::NAN), "body 2: inverse mass is not finite");
        assert_eq!(refused(&|_, _, m| m[4].bodies[1] = 8), "manifold 4: there is no body 8");
        assert_eq!(refused(&|_, _, m| m[1].points[0][4] = f64::NAN), "manifold 1: point is not finite");
        let mut b = bodies.clone();
        assert!(SoftSolver::default().step(&mut b, &mut manifolds.clone(), -1.0).is_err());
    }
}
