//! Spatial algebra and the small solvers: the innermost operations of articulated dynamics.

use sim_math::{
    Pose, Sym3,
    glam::{DMat3, DVec3},
    small::{Cholesky, Lu, Mat6, Svd3, symmetric_eigen3},
    spatial::{ArticulatedInertia, Force, Motion, RigidInertia, SpatialTransform},
    testkit::SplitMix64,
};
use std::hint::black_box;
use tumblestone_benches::Suite;

const COUNT: usize = 64;

struct Input {
    transforms: Vec<SpatialTransform>,
    motions: Vec<Motion>,
    forces: Vec<Force>,
    rigid: Vec<RigidInertia>,
    articulated: Vec<ArticulatedInertia>,
    matrices: Vec<Mat6>,
    tensors: Vec<Sym3>,
}

fn input() -> Input {
    let mut random = SplitMix64(1);
    let mut many = |_| {
        let tensor = Sym3::from_diagonal(random.vec3(1.0).abs() + DVec3::ONE)
            .congruence(DMat3::from_quat(random.unit_quat()));
        let rigid = RigidInertia::from_com(random.range(0.5, 2.0), random.vec3(0.3), tensor);
        // One joint taken out and a second body added: a full 21-number inertia.
        let hinge = Motion::about_axis(random.unit_vec3(), random.vec3(0.3));
        let u = rigid * hinge;
        let articulated = ArticulatedInertia::from(rigid).minus_outer(u, 1.0 / u.dot(hinge)) + rigid.into();
        let transform = SpatialTransform::from_pose(&Pose::new(random.vec3(1.0), random.unit_quat()));
        let motion = Motion::new(random.vec3(1.0), random.vec3(1.0));
        let force = Force::new(random.vec3(1.0), random.vec3(1.0));
        (transform, motion, force, rigid, articulated, tensor)
    };
    let all: Vec<_> = (0..COUNT).map(&mut many).collect();
    Input {
        transforms: all.iter().map(|x| x.0).collect(),
        motions: all.iter().map(|x| x.1).collect(),
        forces: all.iter().map(|x| x.2).collect(),
        rigid: all.iter().map(|x| x.3).collect(),
        articulated: all.iter().map(|x| x.4).collect(),
        matrices: all.iter().map(|x| x.4.to_mat6()).collect(),
        tensors: all.iter().map(|x| x.5).collect(),
    }
}

/// Registers `$op` applied to every pair of entries of two arrays, the results stored.
macro_rules! each {
    ($suite:ident, $id:literal, $a:expr, $b:expr, |$x:ident, $y:ident| $op:expr) => {{
        let mut out: Vec<_> = $a.iter().zip(&$b).map(|($x, $y)| $op).collect();
        $suite.case(concat!("math/spatial/", $id)).elements(COUNT as u64).run(|| {
            for ((out, $x), $y) in out.iter_mut().zip(black_box(&$a)).zip(black_box(&$b)) {
                *out = $op;
            }
            black_box(&mut out);
        });
    }};
}

fn transforms(suite: &mut Suite) {
    let i = input();
    each!(suite, "motion", i.transforms, i.motions, |x, m| x.motion(*m));
    each!(suite, "inverse_motion", i.transforms, i.motions, |x, m| x.inverse_motion(*m));
    each!(suite, "force", i.transforms, i.forces, |x, f| x.force(*f));
    each!(suite, "compose", i.transforms, i.transforms, |x, y| *x * *y);
    each!(suite, "rigid_congruence", i.transforms, i.rigid, |x, m| x.rigid_inertia(m));
    each!(suite, "articulated_congruence", i.transforms, i.articulated, |x, m| x.articulated_inertia(m));
    each!(suite, "rigid_times_motion", i.rigid, i.motions, |i, m| *i * *m);
    each!(suite, "articulated_times_motion", i.articulated, i.motions, |i, m| *i * *m);
}

fn solvers(suite: &mut Suite) {
    let i = input();
    each!(suite, "solve6_lu", i.matrices, i.forces, |a, f| Lu::factor(a).map(|l| l.solve(f.to_array())));
    each!(suite, "solve6_cholesky", i.matrices, i.forces, |a, f| Cholesky::factor(a)
        .map(|l| l.solve(f.to_array())));
    each!(suite, "solve6_blocks", i.articulated, i.forces, |a, f| a.solve(*f));
    each!(suite, "solve6_rigid", i.rigid, i.forces, |a, f| a.solve(*f));
    each!(suite, "eigen3", i.tensors, i.forces, |s, _f| symmetric_eigen3(*s));
    each!(suite, "svd3", i.tensors, i.forces, |s, _f| Svd3::compute(s.to_mat3()));
}

tumblestone_benches::main!(transforms, solvers);
