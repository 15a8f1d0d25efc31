//! What a virtual call costs at each seam: the same work through the concrete type and through `Box<dyn Trait>`.

use collision_broadphase::BruteForce;
use collision_narrowphase::Analytic;
use rigid_impulse::{FreeBodies, PrincipalMass, impact::Frictionless};
use sim_math::{
    Aabb, Pose,
    glam::{DMat3, DVec3},
};
use sim_traits::{
    BroadPhase, ColumnsMut, Entry, Executor, HalfSpace, Impact, ImpactLaw, LcpProblem, LcpSolver,
    NarrowPhase, PairCache, PartId, ProxyId, ProxyKind, Scratch, Serial, Shape, Sphere, VelocitySystem,
    testkit::oracle::EnumerationLcp,
};
use std::{error::Error, hint::black_box};
use tumblestone_benches::Suite;

/// Registers `$work` twice: with `$part` as it is, and boxed as `dyn $trait`.
macro_rules! both {
    ($suite:ident, $seam:literal, dyn $trait:path, $part:expr, |$x:ident| $work:expr) => {{
        #[allow(unused_mut, reason = "some seams take &self")]
        let mut $x = $part;
        $suite.case(concat!("sim_core/dyn/", $seam, "/concrete")).run(|| $work);
        #[allow(unused_mut, reason = "some seams take &self")]
        let mut $x: Box<dyn $trait> = black_box(Box::new($part));
        $suite.case(concat!("sim_core/dyn/", $seam, "/boxed")).run(|| $work);
    }};
}

/// Sixteen boxes in a row, each overlapping the next.
fn row_of_boxes() -> Result<BruteForce, Box<dyn Error>> {
    let mut broad = BruteForce::default();
    for k in 0..16 {
        let center = DVec3::X * f64::from(k);
        broad.insert(
            ProxyId(k),
            ProxyKind::Moving,
            &Aabb::from_center_half_extents(center, DVec3::splat(0.6)),
        )?;
    }
    Ok(broad)
}

fn two_bodies() -> Result<FreeBodies, Box<dyn Error>> {
    let mut pool = FreeBodies::default();
    pool.add_free(PrincipalMass::new(1.0, DVec3::splat(0.1))?);
    pool.add_free(PrincipalMass::new(2.0, DVec3::splat(0.3))?);
    let mut q = [0.0; 14];
    (q[6], q[7], q[13]) = (1.0, 1.0, 1.0);
    pool.prepare(&q)?;
    Ok(pool)
}

fn seams(suite: &mut Suite) -> Result<(), Box<dyn Error>> {
    let mut pairs = Vec::new();
    both!(suite, "broad_phase", dyn BroadPhase, row_of_boxes()?, |broad| {
        broad.pairs(&mut pairs);
        pairs.len()
    });

    let (ball, plane) = (Shape::from(Sphere::new(0.5)?), Shape::from(HalfSpace::up()));
    let (pose, mut cache) = (Pose::from_translation(DVec3::new(0.1, 0.2, -0.7)), PairCache::default());
    both!(suite, "narrow_phase", dyn NarrowPhase, Analytic, |narrow| {
        black_box(&mut narrow).separation(&ball, &plane, black_box(&pose), &mut cache)
    });

    let impact =
        Impact { k: DMat3::IDENTITY, velocity: DVec3::new(0.3, 0.0, -1.0), friction: 0.3, restitution: 0.5 };
    both!(suite, "impact_law", dyn ImpactLaw, Frictionless, |law| black_box(&mut law)
        .impulse(black_box(&impact)));

    let rows: Vec<Entry> = [(0, 1.0), (1, -1.0)]
        .into_iter()
        .flat_map(|(part, sign)| {
            [DVec3::X, DVec3::Y, DVec3::Z].into_iter().zip(0..).map(move |(axis, row)| {
                Entry::push(row, PartId(part), DVec3::new(0.5, 0.1, 0.0), sign * axis)
            })
        })
        .collect();
    let (mut data, mut scratch) = (vec![0.0; 36], Scratch::default());
    both!(suite, "velocity_system", dyn VelocitySystem, two_bodies()?, |pool| {
        let mut columns = ColumnsMut::new(&mut data, 12)?;
        pool.response(&rows, &mut scratch, &mut columns)
    });

    both!(suite, "executor", dyn Executor, Serial, |executor| {
        black_box(&mut executor).for_each(64, &|i| _ = black_box(i));
    });

    let problem = LcpProblem::new(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0])?;
    let mut z = [0.0; 2];
    both!(suite, "lcp_solver", dyn LcpSolver, EnumerationLcp::default(), |solver| solver
        .solve(&problem, &mut z));
    Ok(())
}

fn all(suite: &mut Suite) {
    if let Err(error) = seams(suite) {
        unreachable!("the input of this bench is fixed and valid: {error}");
    }
}

tumblestone_benches::main!(all);
