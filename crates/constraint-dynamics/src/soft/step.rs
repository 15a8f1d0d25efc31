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
//! for each substep:   v += h a;  apply the impulses of the substep before;  answer impacts and push apart;  x += h v;  relax
//! ```
//!
//! # Cost
//!
//! O(substeps · patches); no allocation once warmed up.
//!
//! # Numerics
//!
//! Patches of one colour share no moving body, so that the result does not depend on how many are done at once, or by whom.
//!
//! # Failure
//!
//! A number that is not finite in a body, or in a manifold that takes part, is an error that names it, before anything is changed.
//!
//! # Tested by
//!
//! `lanes_have_the_bits_of_single_patches`, `threads_have_the_bits_of_one`, `a_box_comes_to_rest_on_a_plane_and_carries_its_weight`,
//! `bad_numbers_are_named`

#![allow(unsafe_code, reason = "threads share velocities and manifolds; turns and borders keep them apart")]

use super::{
    bodies::{SoftBodies, SoftManifold},
    lane::{self, Instructions, Lane, Slot},
    patch::{Shared, Spring},
    share::Stage,
    shares::Workspace,
    shelf::Shelf,
    substeps::STIFF,
    team,
};
use sim_traits::{Executor, Serial};
use std::sync::PoisonError;
use thiserror::Error;

/// Tunables of [`SoftSolver`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SoftParams {
    /// Least number of parts a step is cut into; more make contacts stiffer and piles steadier, at proportional cost. Default 4.
    pub substeps: u32,
    /// Most parts, where bodies are small or carry much. Default 512.
    pub max_substeps: u32,
    /// Frequency of the spring of a face, Hz, at most 0.65 of a quarter of the substep rate; higher means less penetration. Points, edges, and contacts with what
    /// does not move have twice that. Default 1e6: as stiff as substeps allow.
    pub hertz: f64,
    /// Damping ratio of the spring; higher means slower recovery from penetration. Default 10.
    pub damping: f64,
    /// Largest speed at which bodies are pushed apart, in edges per second of the cube that has the inertia of the smaller one. Default 12.
    pub max_push: f64,
    /// Approach speed above which a contact is an impact and restitution acts: how many times what gravity gives in a substep. Default 2: a bounce that takes four
    /// substeps or more. At least 10⁻⁴ of the smallest body per step.
    pub bounce_from: f64,
}

impl Default for SoftParams {
    fn default() -> Self {
        Self { substeps: 4, max_substeps: 512, hertz: 1e6, damping: 10.0, max_push: 12.0, bounce_from: 2.0 }
    }
}

/// Least approach of an impact, sizes of the smallest body per step.
const STRIKE_FROM: f64 = 1e-4;

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
    /// Parts that the step was cut into.
    pub substeps: u32,
    /// Patches that found no colour and were done one by one.
    pub left_over: u32,
}

/// Workspace of the soft solver.
#[derive(Debug, Default)]
pub struct SoftSolver {
    /// Tunables.
    pub params: SoftParams,
    workspace: AnyWorkspace,
}

/// A workspace for lanes of some kind, which the processor has.
#[derive(Debug)]
enum AnyWorkspace {
    #[cfg(any(test, not(target_arch = "x86_64")))]
    Plain(Workspace<lane::Plain>),
    #[cfg(target_arch = "x86_64")]
    Sse2(Workspace<lane::Sse2>),
    #[cfg(target_arch = "x86_64")]
    Avx(Workspace<lane::Avx>),
    #[cfg(all(target_arch = "x86_64", knows_avx512))]
    Avx512(Workspace<lane::Avx512>),
}

impl Default for AnyWorkspace {
    fn default() -> Self {
        Self::new(Instructions::widest())
    }
}

impl AnyWorkspace {
    /// How many threads it is divided for.
    #[cfg(test)]
    fn parts(&self) -> usize {
        match self {
            Self::Plain(w) => w.shares.len(),
            #[cfg(target_arch = "x86_64")]
            Self::Sse2(w) => w.shares.len(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx(w) => w.shares.len(),
            #[cfg(all(target_arch = "x86_64", knows_avx512))]
            Self::Avx512(w) => w.shares.len(),
        }
    }

    /// For lanes of these instructions, which are there.
    fn new(instructions: Instructions) -> Self {
        debug_assert!(instructions.are_there());
        match instructions {
            #[cfg(any(test, not(target_arch = "x86_64")))]
            Instructions::Plain => Self::Plain(Workspace::default()),
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse2 => Self::Sse2(Workspace::default()),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx => Self::Avx(Workspace::default()),
            #[cfg(all(target_arch = "x86_64", knows_avx512))]
            Instructions::Avx512 => Self::Avx512(Workspace::default()),
        }
    }

    fn run(
        &mut self,
        params: &SoftParams,
        executor: &dyn Executor,
        bodies: &mut SoftBodies,
        manifolds: &mut [SoftManifold],
        dt: f64,
    ) -> Result<SoftReport, SoftError> {
        // SAFETY: the instructions are there.
        unsafe {
            match self {
                #[cfg(any(test, not(target_arch = "x86_64")))]
                Self::Plain(w) => run(params, w, executor, bodies, manifolds, dt),
                #[cfg(target_arch = "x86_64")]
                Self::Sse2(w) => run(params, w, executor, bodies, manifolds, dt),
                #[cfg(target_arch = "x86_64")]
                Self::Avx(w) => run(params, w, executor, bodies, manifolds, dt),
                #[cfg(all(target_arch = "x86_64", knows_avx512))]
                Self::Avx512(w) => run(params, w, executor, bodies, manifolds, dt),
            }
        }
    }
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
        self.workspace.run(&self.params, executor, bodies, manifolds, dt)
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
            let places = bodies.territories.places().iter();
            let mut places = places.map(|place| &array[*place as usize]);
            let body = places.position(|slot| !all_finite([slot])).unwrap_or(0);
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

/// The step on lanes of any kind.
///
/// # Safety
/// The processor has their instructions.
unsafe fn run<L: Lane>(
    params: &SoftParams,
    workspace: &mut Workspace<L>,
    executor: &dyn Executor,
    bodies: &mut SoftBodies,
    manifolds: &mut [SoftManifold],
    dt: f64,
) -> Result<SoftReport, SoftError> {
    check(params, bodies, dt)?;
    workspace.sort(bodies, manifolds)?;
    let substeps = workspace.loads.substeps(params, bodies, manifolds, dt);
    let params = &SoftParams { substeps, ..*params };
    let [pull, size, levels] = workspace.loads.scales;
    let open = params.bounce_from * pull * dt / f64::from(substeps) + STRIKE_FROM * size / dt;
    // In a stack that loses its hold for a substep contacts at the bottom close by so much more.
    let strike_from = [open, open * (1.0 + levels)];
    let stage = stage(params, bodies, manifolds, dt, strike_from);
    // SAFETY: as the caller promises.
    if !unsafe { work(params, workspace, executor, &stage) } {
        return Err(fault(manifolds));
    }
    let mut report = SoftReport { substeps, ..SoftReport::default() };
    for colouring in &workspace.colourings {
        report.colours += colouring.ends.len() as u32;
        report.left_over += colouring.left_over().len() as u32;
    }
    Ok(report)
}

/// What a step works on.
fn stage<'a>(
    params: &SoftParams,
    bodies: &'a mut SoftBodies,
    manifolds: &'a mut [SoftManifold],
    dt: f64,
    strike_from: [f64; 2],
) -> Stage<'a> {
    let substeps = f64::from(params.substeps);
    let h = dt / substeps;
    let hertz = params.hertz.min(STIFF * 0.25 / h);
    let shared = Shared {
        // Against a body that does not give way a contact may be twice as stiff.
        springs: [hertz, 2.0 * hertz].map(|hertz| Spring::new(hertz, params.damping, h)),
        h,
        inv_h: 1.0 / h,
        substeps: [substeps, 1.0 / substeps],
        max_push: params.max_push,
        strike_from,
    };
    Stage {
        velocities: Shelf::new(&mut bodies.velocities),
        displacements: Shelf::new(&mut bodies.displacements),
        free: Shelf::new(&mut bodies.free),
        accelerations: Shelf::new(&mut bodies.accelerations),
        means: Shelf::new(&mut bodies.means),
        inv_masses: &bodies.inv_masses,
        poses: &bodies.poses,
        manifolds: Shelf::new(manifolds),
        places: bodies.territories.places(),
        shared,
        h,
    }
}

/// All that threads do; false, and nothing is changed, if a number is not finite.
///
/// # Safety
/// The processor has the instructions of these lanes.
unsafe fn work<L: Lane>(
    params: &SoftParams,
    workspace: &mut Workspace<L>,
    executor: &dyn Executor,
    stage: &Stage<'_>,
) -> bool {
    executor.for_each(workspace.shares.len(), &|k| {
        let mut share = workspace.shares[k].lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: nothing else is done meanwhile.
        unsafe { workspace.fill(&mut share, stage) };
    });
    let mut is_sound = true;
    for share in &mut workspace.shares {
        is_sound &= share.get_mut().unwrap_or_else(PoisonError::into_inner).is_sound;
    }
    if is_sound {
        workspace.begin(params.substeps);
        let workspace = &*workspace;
        // SAFETY: a share is behind a lock, and nothing else is done meanwhile.
        team::play(executor, &workspace.shares, &|share| unsafe { workspace.advance(share, stage) });
    }
    is_sound
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::soft::{NormalOf, SoftBody};
    use sim_math::{
        Pose, Sym3,
        glam::{DQuat, DVec3},
        spatial::Motion,
        testkit::SplitMix64,
    };

    /// Random bodies, some fixed, with random patches between them: every number different, as no scene has it.
    pub(in crate::soft) fn tangle(
        random: &mut SplitMix64,
        bodies: u32,
        patches: u32,
    ) -> (SoftBodies, Vec<SoftManifold>) {
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

    fn assert_same(a: &SoftBodies, b: &SoftBodies) {
        assert_eq!(a.len(), b.len());
        for k in 0..a.len() {
            assert_eq!(a.velocity(k), b.velocity(k), "body {k}");
            assert_eq!(a.displacement(k), b.displacement(k), "body {k}");
        }
    }

    #[test]
    fn lanes_have_the_bits_of_single_patches() {
        let mut random = SplitMix64(11);
        for patches in [0, 1, 3, 4, 5, 60, 400, 4000] {
            let (bodies, manifolds) = tangle(&mut random, 40, patches);
            let params = SoftParams::default();
            let mut one = (bodies.clone(), manifolds.clone());
            let mut single = Workspace::<f64>::default();
            // SAFETY: every processor has single numbers.
            let expected = unsafe { run(&params, &mut single, &Serial, &mut one.0, &mut one.1, 0.01) };
            assert!(one.0.velocities.iter().flat_map(|v| v.iter()).all(|x| x.is_finite()));
            for kind in Instructions::ALL.iter().filter(|kind| kind.are_there()) {
                let mut other = (bodies.clone(), manifolds.clone());
                let mut workspace = AnyWorkspace::new(*kind);
                let report = workspace.run(&params, &Serial, &mut other.0, &mut other.1, 0.01);
                assert_eq!(report, expected, "{kind:?}");
                assert_same(&one.0, &other.0);
                assert_eq!(one.1, other.1, "{kind:?}");
            }
        }
    }

    #[test]
    fn the_widest_lanes_are_taken() {
        let widest = Instructions::widest();
        assert!(widest.are_there());
        let later = Instructions::ALL.iter().skip_while(|kind| **kind != widest).skip(1);
        assert!(later.clone().all(|kind| !kind.are_there()), "{widest:?}");
        let name = format!("{:?}", AnyWorkspace::default());
        assert!(name.starts_with(&format!("{widest:?}(")), "{widest:?}");
    }

    /// As many threads as pieces, the last first.
    #[derive(Debug)]
    struct Many(usize);

    impl Executor for Many {
        fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            std::thread::scope(|scope| (0..n).rev().for_each(|k| drop(scope.spawn(move || work(k)))));
        }

        fn parallelism(&self) -> usize {
            self.0
        }
    }

    /// The same, but one after the other, and the last first.
    #[derive(Debug)]
    struct Backwards(usize);

    impl Executor for Backwards {
        fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..n).rev().for_each(work);
        }

        fn parallelism(&self) -> usize {
            self.0
        }
    }

    /// A workspace whose shares have taken their bodies and patches.
    pub(in crate::soft) fn shared(bodies: &mut SoftBodies, manifolds: &mut [SoftManifold]) -> Workspace<f64> {
        let mut workspace = Workspace::default();
        workspace.sort(bodies, manifolds).unwrap();
        let stage = stage(&SoftParams::default(), bodies, manifolds, 0.01, [0.0; 2]);
        for share in &workspace.shares {
            // SAFETY: nothing else is done meanwhile.
            unsafe { workspace.fill(&mut share.lock().unwrap(), &stage) };
        }
        workspace
    }

    /// The same bodies in several parts.
    pub(in crate::soft) fn divided(from: &SoftBodies, parts: usize) -> SoftBodies {
        let mut out = SoftBodies::default();
        out.divide(from.len(), parts, &|k| from.is_movable(k as usize).then(|| from.center(k as usize)));
        (0..from.len()).for_each(|k| assert!(out.set(k, &body(from, k))));
        assert!(!out.set(from.len(), &SoftBody::IDLE));
        out
    }

    fn body(bodies: &SoftBodies, k: usize) -> SoftBody {
        let [m, xx, yy, zz, xy, xz, yz, _] = bodies.inv_masses[k].0;
        let [x, y, z, w, ..] = bodies.poses[k].0;
        let motion = |s: &Slot| Motion::new(DVec3::new(s[0], s[1], s[2]), DVec3::new(s[3], s[4], s[5]));
        SoftBody {
            inv_mass: m,
            inv_inertia: Sym3::new(xx, yy, zz, xy, xz, yz),
            pose: Pose::new(bodies.center(k), DQuat::from_xyzw(x, y, z, w)),
            velocity: bodies.velocity(k),
            acceleration: motion(&bodies.accelerations[k]),
        }
    }

    #[test]
    fn threads_have_the_bits_of_one() {
        let mut random = SplitMix64(15);
        // Everything touches everything; many bodies; a body with more patches than there are colours.
        let cases = [(40, 2000, false, 2), (2000, 6000, false, 2), (300, 1000, true, 3)];
        let executors: [(&dyn Executor, usize); 4] =
            [(&Many(2), 2), (&Many(2), 5), (&Backwards(5), 5), (&Serial, 3)];
        for (count, patches, hub, steps) in cases {
            let (bodies, mut manifolds) = tangle(&mut random, count, patches);
            for (k, m) in manifolds.iter_mut().enumerate().filter(|_| hub) {
                m.bodies[0] = if k % 3 == 0 && m.bodies[1] != 5 { 5 } else { m.bodies[0] };
            }
            let (mut one, mut ones) = (bodies.clone(), manifolds.clone());
            let mut solver = SoftSolver::default();
            let mut others = executors.map(|(e, parts)| {
                (SoftSolver::default(), divided(&bodies, parts), manifolds.clone(), e, parts)
            });
            for _ in 0..steps {
                let report = solver.step(&mut one, &mut ones, 0.01).unwrap();
                assert!(report.left_over > 0 || !hub, "{report:?}");
                for (solver, bodies, manifolds, executor, parts) in &mut others {
                    assert_eq!(solver.step_by(*executor, bodies, manifolds, 0.01), Ok(report));
                    assert_eq!(solver.workspace.parts(), *parts);
                    assert_same(&one, bodies);
                    assert_eq!(ones, *manifolds, "{executor:?}");
                }
                // A body that nothing moves moves by itself now.
                let still = random.below(count as usize / 4) * 4;
                let driven = SoftBody {
                    velocity: Motion::new(DVec3::new(0.1, 0.2, 0.3), DVec3::ONE),
                    pose: body(&one, still).pose,
                    ..SoftBody::IDLE
                };
                for bodies in others.iter_mut().map(|o| &mut o.1).chain([&mut one]) {
                    bodies.set(still, &driven);
                }
            }
        }
    }

    #[test]
    fn bodies_may_be_divided_anew_and_united() {
        let mut random = SplitMix64(16);
        let (bodies, manifolds) = tangle(&mut random, 100, 300);
        let mut solver = SoftSolver::default();
        let mut results = Vec::new();
        for parts in [1, 4, 2, 1] {
            let (mut b, mut m) = (divided(&bodies, parts), manifolds.clone());
            solver.step_by(&Serial, &mut b, &mut m, 0.01).unwrap();
            b.push(&SoftBody::IDLE);
            assert_eq!((b.len(), b.territories().count()), (101, 1));
            solver.step_by(&Serial, &mut b, &mut m, 0.01).unwrap();
            results.push(((0..100).map(|k| b.velocity(k)).collect::<Vec<_>>(), m));
        }
        assert!(results.windows(2).all(|w| w[0] == w[1]));
        // Other places with as many parts and no contacts to tell: all that move are found.
        let moves = [|_| true, |k: u32| k % 3 > 0];
        for moves in moves {
            let mut b = SoftBodies::default();
            b.divide(90, 2, &|k| moves(k).then(|| DVec3::X * f64::from(k)));
            for k in (0..90).filter(|k| moves(*k)) {
                let acceleration = Motion::new(DVec3::ZERO, DVec3::Z);
                b.set(k as usize, &SoftBody { inv_mass: 1.0, acceleration, ..SoftBody::IDLE });
            }
            solver.step(&mut b, &mut [], 1.0).unwrap();
            let expected = |k: u32| if moves(k) { DVec3::Z } else { DVec3::ZERO };
            assert!((0..90).all(|k| b.velocity(k as usize).linear == expected(k)));
            // One that begins to move in its place is found too.
            let acceleration = Motion::new(DVec3::ZERO, DVec3::Z);
            b.set(0, &SoftBody { acceleration, ..SoftBody::IDLE });
            solver.step(&mut b, &mut [], 1.0).unwrap();
            assert_eq!(b.velocity(0).linear, DVec3::ZERO);
            b.set(0, &SoftBody { inv_mass: 1.0, acceleration, ..SoftBody::IDLE });
            solver.step(&mut b, &mut [], 1.0).unwrap();
            assert_eq!(b.velocity(0).linear, DVec3::Z);
        }
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
            assert_same(&fresh.0, &used.0);
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
        // A step that was refused leaves nothing behind for the next one.
        let (mut solver, mut bad) = (SoftSolver::default(), manifolds.clone());
        bad[1].points[0][4] = f64::NAN;
        assert!(solver.step(&mut bodies.clone(), &mut bad, 0.01).is_err());
        let (mut fresh, mut used) =
            ((bodies.clone(), manifolds.clone()), (bodies.clone(), manifolds.clone()));
        SoftSolver::default().step(&mut fresh.0, &mut fresh.1, 0.01).unwrap();
        solver.step(&mut used.0, &mut used.1, 0.01).unwrap();
        assert_same(&fresh.0, &used.0);
        assert_eq!(fresh.1, used.1);
    }
}
