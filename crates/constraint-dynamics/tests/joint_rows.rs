//! Rows of joints: no allocation once the buffers are warm, and the same bits whatever came before them.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::joints::{self, BodyInverse, JointRows, soften};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    testkit::{
        SplitMix64,
        allocations::{CountingAllocator, allocations},
    },
};
use sim_traits::joint::{
    JointAnchor, JointAxis, JointCurve, JointDrive, JointKind, JointModel, JointMotor, JointPatch, JointPath,
    JointSoftness, JointSurface,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn all() -> Vec<JointModel> {
    let drive = JointDrive { target: DQuat::IDENTITY, stiffness: 1.0, damping: 1.0, most: 1.0 };
    let curve = |path: JointPath| JointKind::Curve { curve: JointCurve::new(path).unwrap() };
    let surface = |patch: JointPatch| JointSurface::new(patch).unwrap();
    let points = vec![DVec3::NEG_X * 2.0, DVec3::NEG_X, DVec3::Y, DVec3::X, DVec3::X * 2.0];
    let plane = JointPatch::Plane { origin: DVec3::ZERO, normal: DVec3::X };
    let ellipsoid = JointPatch::Ellipsoid { frame: Pose::IDENTITY, radii: DVec3::new(1.0, 2.0, 3.0) };
    let kinds = [
        JointKind::Ball { drive: Some(drive) },
        JointKind::Hinge,
        JointKind::Slider,
        JointKind::Cylindrical,
        JointKind::Universal,
        JointKind::Weld,
        JointKind::Planar,
        JointKind::Orientation,
        JointKind::Distance { length: 1.0 },
        JointKind::Rope { length: 1.0, restitution: 0.5 },
        JointKind::MultiBar { length: 1.0 },
        JointKind::MultiRope { length: 1.0, restitution: 0.5 },
        curve(JointPath::Circle { center: DVec3::ZERO, normal: DVec3::Z, radius: 1.0 }),
        curve(JointPath::BSpline { points: points.clone(), closed: false }),
        curve(JointPath::CSpline { points, tension: 0.5, closed: true }),
        JointKind::Surface { surface: surface(ellipsoid.clone()), friction: 1.0 },
        JointKind::Wheel { surface: surface(plane), radius: 0.2 },
        JointKind::Wheel { surface: surface(ellipsoid), radius: 0.2 },
        JointKind::Velocity,
        JointKind::Gear { ratio: 2.0, phase: 0.0 },
        JointKind::RackAndPinion { radius: 0.1, phase: 0.0 },
        JointKind::Screw { pitch: 0.1, phase: 0.0 },
        JointKind::SixAxis,
    ];
    let axis = JointAxis::default().limits(-1.0, 1.0).spring(0.0, 1.0, 1.0).friction(1.0);
    let model = |kind: JointKind| {
        let bodies: &[u32] = if kind.anchors().1 == 2 { &[0, 1] } else { &[0, 1, 2, 3] };
        let mut joint = JointModel::new(kind, bodies.iter().map(|&b| JointAnchor::new(b, Pose::IDENTITY)));
        let swing = matches!(joint.kind, JointKind::Ball { .. });
        for (k, settings) in joint.axes.iter_mut().enumerate() {
            *settings = axis;
            settings.motor = (!swing || k > 0).then_some(JointMotor::velocity(1.0, 2.0));
        }
        joint.check().unwrap();
        joint
    };
    kinds.into_iter().map(model).collect()
}

#[test]
fn rows_are_made_without_allocation_and_do_not_depend_on_the_buffer() {
    let joints = all();
    let mut random = SplitMix64(31);
    let poses = [0; 4].map(|_| Pose::new(random.vec3(1.0), random.unit_quat()));
    let mut memories: Vec<Vec<f64>> = joints.iter().map(|j| vec![0.0; j.kind.memory_len()]).collect();
    let bodies = [BodyInverse { mass: 1.0, inertia: DMat3::IDENTITY }; 4];
    let soft = JointSoftness::Frequency { frequency: 5.0, ratio: 1.0 };
    for (joint, memory) in joints.iter().zip(&mut memories) {
        joints::begin(joint, &poses, memory);
    }
    let make = |memories: &mut [Vec<f64>], out: &mut JointRows| {
        out.clear();
        for (joint, memory) in joints.iter().zip(memories) {
            joints::rows(joint, &poses, memory, out);
        }
        soften(out, 0, soft, &bodies);
    };
    let mut out = JointRows::default();
    make(&mut memories, &mut out);
    let first = (out.blocks.clone(), out.sides.clone());
    let (count, ()) = allocations(|| {
        for _ in 0..10 {
            make(&mut memories, &mut out);
        }
    });
    assert_eq!(count, 0);
    // Where a joint is found again from where it was, it is there to the bit.
    for (now, before) in out.blocks.iter().zip(&first.0) {
        assert_eq!(now, before);
    }
    assert!(first.1 == out.sides);
    // One joint alone has the rows that it has among others.
    let mut at = 0;
    for (joint, memory) in joints.iter().zip(&mut memories) {
        let mut alone = JointRows::default();
        joints::rows(joint, &poses, memory, &mut alone);
        soften(&mut alone, 0, soft, &bodies);
        for block in &alone.blocks {
            let among = &out.blocks[at];
            assert_eq!((block.laws, block.position, block.drift), (among.laws, among.position, among.drift));
            assert_eq!(alone.sides_of(block), out.sides_of(among));
            at += 1;
        }
    }
    assert_eq!(at, out.blocks.len());
}
