//! What is recorded comes back; what is broken is refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use scene::recording::{
    AnchorInfo, AxisInfo, AxisMotion, BodyInfo, BodyKind, BodyState, Collider, Contact, Frame, Header,
    JointInfo, JointState, LineKind, MergePart, Recorder, Recording, ShapeInfo, Steps, Sums, merge,
};
use sim_math::glam::{DQuat, DVec3};
use sim_math::testkit::{SplitMix64, soak};
use sim_math::{Aabb, Pose};

fn header() -> Header {
    Header {
        title: "random".to_owned(),
        work: vec!["friction".to_owned(), "impacts".to_owned()],
        ..Header::default()
    }
}

fn state(r: &mut SplitMix64) -> BodyState {
    BodyState { pose: Pose::new(r.vec3(10.0), r.unit_quat()), velocity: r.vec3(10.0), spin: r.vec3(20.0) }
}

/// A hinge between a body and the world, with limits and a curve.
fn joint(name: &str, body: u32) -> JointInfo {
    let frame = Pose::new(DVec3::new(0.1, 0.2, 1.0 / 3.0), DQuat::from_rotation_x(0.3));
    let axis =
        AxisInfo { anchor: 0, direction: DVec3::Z, motion: AxisMotion::Turn, low: Some(-0.1), high: None };
    JointInfo {
        name: name.to_owned(),
        kind: "hinge".to_owned(),
        anchors: vec![AnchorInfo { body: None, frame }, AnchorInfo { body: Some(body), frame }],
        axes: vec![axis],
        line: LineKind::Coil,
        path: vec![DVec3::X, DVec3::Y / 3.0],
    }
}

fn load(r: &mut SplitMix64) -> JointState {
    let at_limits = r.below(1 << 12) as u32;
    let [acts, broken] = [r.below(2) == 0, r.below(2) == 0];
    JointState { acts, broken, at_limits, force: r.vec3(100.0), torque: r.vec3(10.0) }
}

/// A frame with everything in it; motion goes on from the frame before, with jumps.
fn next_frame(r: &mut SplitMix64, before: &Frame, bodies: usize, joints: usize) -> Frame {
    let dt = r.range(0.001, 0.03);
    let mut frame = Frame { time: before.time + dt, ..Frame::default() };
    frame.joints = (0..joints).map(|_| (r.below(5) > 0).then(|| load(r))).collect();
    for i in 0..bodies {
        let old = before.bodies.get(i).copied().flatten();
        frame.bodies.push(match (old, r.below(20)) {
            (None, 0..10) | (Some(_), 0) => None,
            (None, _) | (Some(_), 1) => Some(state(r)),
            (Some(old), 2..6) => Some(old),
            (Some(old), _) => {
                let velocity = old.velocity + DVec3::Z * (-9.81 * dt);
                let translation = old.pose.translation + 0.5 * dt * (old.velocity + velocity);
                let rotation = (DQuat::from_scaled_axis(old.spin * dt) * old.pose.rotation).normalize();
                Some(BodyState { pose: Pose { translation, rotation }, velocity, spin: old.spin })
            }
        });
    }
    let there: Vec<u32> = frame.present().map(|(i, _)| i as u32).collect();
    for _ in 0..r.below(6) * usize::from(there.len() > 1) {
        let (a, b) = (there[r.below(there.len())], there[r.below(there.len())]);
        let (point, normal, impulse) = (r.vec3(10.0), r.unit_vec3(), r.vec3(1.0));
        frame.contacts.push(Contact { a, b, point, normal, impulse });
        frame.pairs.push([a.min(b), a.max(b)]);
    }
    if r.below(3) > 0 {
        let boxed = |s: &BodyState| Aabb::from_center_half_extents(s.pose.translation, DVec3::ONE);
        frame.boxes = frame.bodies.iter().map(|s| s.as_ref().map(boxed)).collect();
    }
    frame.contacts.sort_by_key(|c| [c.a, c.b]);
    frame.pairs.sort_unstable();
    frame.sums = Sums {
        kinetic: r.unit(),
        potential: -r.unit(),
        momentum: r.vec3(1.0),
        angular_momentum: r.vec3(1.0),
        events: before.sums.events + 3.0,
        work: vec![r.unit(), -r.unit()],
    };
    frame
}

/// A recording with bodies that come late, and its frames.
fn random_recording(seed: u64, frames: usize, bodies: usize) -> (Vec<u8>, Vec<Frame>) {
    let mut r = SplitMix64(seed);
    let mut recorder = Recorder::new(Vec::new(), header()).unwrap();
    let ball = recorder.add_shape(ShapeInfo::Sphere { radius: 0.1 }).unwrap();
    let (mut known, mut all) = (0, vec![Frame::default()]);
    for i in 0..frames {
        while known < bodies && (known < bodies / 2 || r.below(4) == 0) {
            recorder.add_body(BodyInfo::new(format!("body {known}"), BodyKind::Free, 1.0, ball)).unwrap();
            known += 1;
        }
        let joints = if i > frames / 3 { known / 2 } else { 0 };
        for k in all[i].joints.len()..joints {
            recorder.add_joint(joint(&format!("joint {k}"), k as u32)).unwrap();
        }
        let frame = next_frame(&mut r, &all[i], known, joints);
        recorder.push(&frame).unwrap();
        all.push(frame);
    }
    recorder.mark(0.5, "later").unwrap();
    recorder.mark(0.1, "first").unwrap();
    (recorder.finish().unwrap(), all.split_off(1))
}

fn assert_near(a: DVec3, b: DVec3, step: f64, what: &str) {
    assert!(
        (a - b).abs().max_element() <= 0.501 * step,
        "{what}: {a} and {b} differ by more than half of {step}"
    );
}

fn assert_same(true_frame: &Frame, read: &Frame, s: &Steps) {
    assert_eq!((true_frame.time, &true_frame.sums), (read.time, &read.sums), "times and sums are exact");
    assert_eq!(true_frame.bodies.len(), read.bodies.len());
    for (a, b) in true_frame.bodies.iter().zip(&read.bodies) {
        assert_eq!(a.is_some(), b.is_some());
        let (Some(a), Some(b)) = (a, b) else { continue };
        assert_near(a.pose.translation, b.pose.translation, s.position, "position");
        assert_near(a.velocity, b.velocity, s.velocity, "velocity");
        assert_near(a.spin, b.spin, s.spin, "spin");
        let turn = a.pose.rotation * b.pose.rotation.conjugate();
        assert!(2.0 * turn.xyz().length() < 0.9 * s.rotation, "rotation off by {turn:?}");
    }
    assert_eq!(true_frame.contacts.len(), read.contacts.len());
    for (a, b) in true_frame.contacts.iter().zip(&read.contacts) {
        assert_eq!((a.a, a.b), (b.a, b.b));
        assert_near(a.point, b.point, s.position, "contact point");
        assert_near(a.normal, b.normal, 3e-3, "normal");
        assert_near(a.impulse, b.impulse, s.impulse, "impulse");
    }
    assert_eq!(true_frame.pairs, read.pairs);
    assert_eq!(true_frame.joints.len(), read.joints.len());
    for (a, b) in true_frame.joints.iter().zip(&read.joints) {
        assert_eq!(a.is_some(), b.is_some());
        let (Some(a), Some(b)) = (a, b) else { continue };
        assert_eq!((a.acts, a.broken, a.at_limits), (b.acts, b.broken, b.at_limits));
        assert_near(a.force, b.force, s.force, "force of a joint");
        assert_near(a.torque, b.torque, s.torque, "torque of a joint");
    }
    for (a, b) in true_frame.boxes.iter().zip(&read.boxes) {
        let (Some(a), Some(b)) = (a, b) else { continue };
        assert!(
            (a.min - b.min).min_element() >= -1e-9 && (b.max - a.max).min_element() >= -1e-9,
            "box shrank"
        );
        assert!((a.min - b.min).max_element() < 1.01 * s.position, "box grew");
    }
}

// proves: ARN-99
// proves-part: FON-88
#[test]
fn frames_come_back_within_half_a_step_in_any_order() {
    let (bytes, frames) = random_recording(1, 300, 12);
    let mut recording = Recording::from_bytes(bytes).unwrap();
    assert_eq!(recording.len(), frames.len());
    let steps = recording.header().steps;
    let forwards: Vec<Frame> = (0..300).map(|i| recording.frame(i).unwrap().clone()).collect();
    for (true_frame, read) in frames.iter().zip(&forwards) {
        assert_same(true_frame, read, &steps);
    }
    let mut r = SplitMix64(2);
    for _ in 0..300 {
        let i = r.below(300);
        assert_eq!(recording.frame(i).unwrap(), &forwards[i], "the way to a frame does not change it");
    }
    recording.verify().unwrap();
}

#[test]
fn bodies_and_header_come_back_exactly() {
    let mut head = header();
    head.gravity = DVec3::new(0.1, -9.7, 1.0 / 3.0);
    head.up = DVec3::Y;
    let shapes = [
        ShapeInfo::Cuboid { half_extents: DVec3::new(0.1, 0.2, 1.0 / 3.0) },
        ShapeInfo::Capsule { radius: 0.1, half_height: 0.3 },
        ShapeInfo::Cylinder { radius: 0.1, half_height: 0.3 },
        ShapeInfo::Frustum { bottom: 0.1, top: 0.0, half_height: 0.3 },
        ShapeInfo::HalfSpace { normal: DVec3::Y },
        ShapeInfo::Mesh {
            vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
            faces: vec![vec![0, 2, 1], vec![0, 1, 3], vec![1, 2, 3], vec![0, 3, 2]],
        },
    ];
    let body = BodyInfo {
        inertia: [1.0, 2.0, 3.0, 0.1, 0.2, 0.3],
        color: Some("#aabbcc".to_owned()),
        colliders: vec![
            Collider { shape: 5, body_from_shape: Pose::from_translation(DVec3::X) },
            Collider { shape: 0, body_from_shape: Pose::IDENTITY },
        ],
        ..BodyInfo::new("two parts", BodyKind::Link, 2.5, 0)
    };
    let mut recorder = Recorder::new(Vec::new(), head.clone()).unwrap();
    for shape in &shapes {
        recorder.add_shape(shape.clone()).unwrap();
    }
    recorder.add_body(body.clone()).unwrap();
    let recording = Recording::from_bytes(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.header(), &head);
    assert_eq!(recording.shapes(), &shapes);
    assert_eq!(recording.bodies(), &[body]);
    assert!(recording.is_empty() && recording.nearest(0.0).is_none());
}

#[test]
fn joints_come_back_exactly_and_bad_ones_are_refused_by_name() {
    let mut recorder = Recorder::new(Vec::new(), Header::default()).unwrap();
    let e = recorder.add_joint(joint("early", 0)).unwrap_err();
    assert_eq!(e.to_string(), "joints[0].anchors[1]: body 0 of 0");
    let ball = recorder.add_shape(ShapeInfo::Sphere { radius: 0.1 }).unwrap();
    recorder.add_body(BodyInfo::new("ball", BodyKind::Free, 1.0, ball)).unwrap();
    let bad: [(&str, fn(&mut JointInfo)); 6] = [
        ("joints[0].anchors: at least 2, got 1", |j| drop(j.anchors.pop())),
        ("joints[0].anchors[0].frame: must be finite", |j| j.anchors[0].frame.translation.x = f64::NAN),
        ("joints[0].axes[0]: anchor 2 of 2", |j| j.axes[0].anchor = 2),
        ("joints[0].axes[0].direction: must be a unit vector", |j| j.axes[0].direction = DVec3::ONE),
        ("joints[0].axes[0]: limits must be finite, got inf", |j| j.axes[0].high = Some(f64::INFINITY)),
        ("joints[0].path: must be finite", |j| j.path[0].y = f64::NAN),
    ];
    for (message, spoil) in bad {
        let mut joint = joint("bad", 0);
        spoil(&mut joint);
        let e = recorder.add_joint(joint).unwrap_err().to_string();
        assert!(e.starts_with(message), "{e}");
    }
    recorder.add_joint(joint("good", 0)).unwrap();
    let frame =
        |time, joints| Frame { time, bodies: vec![Some(BodyState::default())], joints, ..Frame::default() };
    let e = recorder.push(&frame(0.0, Vec::new())).unwrap_err();
    assert_eq!(e.to_string(), "frame at 0 s: 0 states for 1 joints");
    for force in [DVec3::X * f64::NAN, DVec3::X * 1e300] {
        let load = JointState { force, ..JointState::default() };
        let e = recorder.push(&frame(0.0, vec![Some(load)])).unwrap_err().to_string();
        assert!(e.starts_with("frame at 0 s: joint 0: not finite or too large for its step"), "{e}");
    }
    recorder.push(&frame(0.0, vec![None])).unwrap();
    let bytes = recorder.finish().unwrap();
    let mut recording = Recording::from_bytes(bytes).unwrap();
    assert_eq!(recording.joints(), &[joint("good", 0)]);
    assert_eq!(recording.frame(0).unwrap().joints, [None]);
}

/// Of four frames, written before recordings had joints.
const OLD: &[u8] = include_bytes!("support/without-joints.tumble");

#[test]
fn a_recording_from_before_there_were_joints_is_read() {
    let mut recording = Recording::from_bytes(OLD.to_vec()).unwrap();
    assert_eq!((recording.len(), recording.joints().len()), (4, 0));
    assert_eq!(recording.header().steps, Steps::default());
    let frame = recording.frame(2).unwrap();
    assert!(frame.joints.is_empty() && frame.bodies[0].is_some());
}

#[test]
fn a_body_has_a_birth_and_a_death() {
    let mut recorder = Recorder::new(Vec::new(), Header::default()).unwrap();
    let ball = recorder.add_shape(ShapeInfo::Sphere { radius: 0.1 }).unwrap();
    recorder.add_body(BodyInfo::new("old", BodyKind::Free, 1.0, ball)).unwrap();
    for i in 0..200 {
        if i == 70 {
            recorder.add_body(BodyInfo::new("young", BodyKind::Free, 1.0, ball)).unwrap();
        }
        let mut bodies = vec![(i < 100).then(BodyState::default)];
        bodies.extend((i >= 70).then_some(Some(BodyState::default())));
        recorder.push(&Frame { time: f64::from(i) / 60.0, bodies, ..Frame::default() }).unwrap();
    }
    let mut recording = Recording::from_bytes(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.life(0).unwrap(), Some((0, 99)));
    assert_eq!(recording.life(1).unwrap(), Some((70, 199)));
    assert!(recording.life(2).is_err());
    assert_eq!(recording.nearest(1.0), Some(60));
    assert_eq!(recording.nearest(1e9), Some(199));
    assert_eq!(recording.frame(200).unwrap_err().to_string(), "frame 200 of 200");
}

#[test]
fn what_makes_no_sense_is_refused_by_name_and_the_recording_goes_on() {
    let bad = |h: Header| Recorder::new(Vec::new(), h).unwrap_err().to_string();
    assert_eq!(
        bad(Header { frame_rate: -1.0, ..header() }),
        "header.frame_rate: must be in 1e-15..=1e15, got -1"
    );
    assert!(bad(Header { gravity: DVec3::NAN, ..header() }).starts_with("header.gravity: must be finite"));
    assert!(bad(Header { up: DVec3::ZERO, ..header() }).starts_with("header.up: must be a unit vector"));

    let mut recorder = Recorder::new(Vec::new(), Header::default()).unwrap();
    let e = recorder.add_shape(ShapeInfo::Sphere { radius: -1.0 }).unwrap_err();
    assert_eq!(e.to_string(), "shapes[0].radius: must be positive and finite, got -1");
    let mesh = ShapeInfo::Mesh { vertices: vec![DVec3::ZERO], faces: vec![vec![0, 0, 7]] };
    assert_eq!(
        recorder.add_shape(mesh).unwrap_err().to_string(),
        "shapes[0].faces[0]: corner 7 of 1 vertices"
    );
    let e = recorder.add_body(BodyInfo::new("a", BodyKind::Free, 1.0, 0)).unwrap_err();
    assert_eq!(e.to_string(), "bodies[0].colliders[0]: shape 0 of 0");
    let ball = recorder.add_shape(ShapeInfo::Sphere { radius: 1.0 }).unwrap();
    assert!(recorder.add_body(BodyInfo::new("a", BodyKind::Free, f64::NAN, ball)).is_err());
    recorder.add_body(BodyInfo::new("a", BodyKind::Free, 1.0, ball)).unwrap();

    let frame = |time, state| Frame { time, bodies: vec![Some(state)], ..Frame::default() };
    let at = |x: f64| BodyState { pose: Pose::from_translation(DVec3::X * x), ..BodyState::default() };
    recorder.push(&frame(0.0, at(1.0))).unwrap();
    let e = recorder.push(&frame(0.0, at(1.0))).unwrap_err();
    assert_eq!(e.to_string(), "frame.time: must be later than 0 s, got 0");
    assert!(
        recorder.push(&frame(1.0, at(f64::NAN))).unwrap_err().to_string().starts_with("frame at 1 s: body 0")
    );
    let e = recorder.push(&frame(1.0, at(1e20))).unwrap_err();
    assert_eq!(e.to_string(), "frame at 1 s: body 0: too far for its step");
    let e = recorder.push(&Frame { time: 1.0, ..Frame::default() }).unwrap_err();
    assert_eq!(e.to_string(), "frame at 1 s: 0 states for 1 bodies");
    let contact = Contact { a: 0, b: 9, point: DVec3::ZERO, normal: DVec3::Z, impulse: DVec3::ZERO };
    let e = recorder.push(&Frame { contacts: vec![contact], ..frame(1.0, at(1.0)) }).unwrap_err();
    assert_eq!(e.to_string(), "frame at 1 s: contact 0: body 9 is not there");
    assert!(recorder.mark(f64::NAN, "never").is_err());

    recorder.push(&frame(2.0, at(3.0))).unwrap();
    let mut recording = Recording::from_bytes(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.times(), [0.0, 2.0]);
    assert_near(recording.frame(1).unwrap().bodies[0].unwrap().pose.translation, DVec3::X * 3.0, 1e-4, "x");
}

#[test]
fn a_file_that_ends_anywhere_is_refused() {
    let (bytes, _) = random_recording(3, 70, 3);
    for end in 0..bytes.len() {
        let error = Recording::from_bytes(bytes[..end].to_vec()).unwrap_err().to_string();
        if end >= 8 {
            assert!(error.starts_with("truncated at byte") && error.contains(&end.to_string()), "{error}");
        }
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(Recording::from_bytes(longer).unwrap_err().to_string().contains("1 bytes after the end"));
}

/// Reads everything; broken files may fail but only by `Err`.
fn read_all(bytes: Vec<u8>) -> Result<usize, scene::RecordingError> {
    let mut recording = Recording::from_bytes(bytes)?;
    for i in 0..recording.len() {
        recording.frame(i)?;
    }
    Ok(recording.len())
}

#[test]
fn soak_changed_bytes_never_panic() {
    let (bytes, _) = random_recording(4, 40, 4);
    let mut r = soak::random(4);
    let mut refused = 0;
    let cases = soak::cases(100_000);
    for _ in 0..cases {
        let mut broken = bytes.clone();
        for _ in 0..=r.below(4) {
            let at = r.below(broken.len());
            match r.below(4) {
                0 => broken[at] = r.next_u64() as u8,
                1 => broken[at] ^= 1 << r.below(8),
                2 => drop(broken.drain(at..(at + r.below(9)).min(broken.len()))),
                _ => broken.insert(at, r.next_u64() as u8),
            }
            if broken.is_empty() {
                break;
            }
        }
        refused += u64::from(!broken.is_empty() && read_all(broken).is_err());
    }
    // Nearly all changes are seen: each record has a check sum and a length.
    assert!(refused > cases * 99 / 100, "{refused} of {cases}");
}

/// Bytes for each body and frame of a thousand bodies thrown about in a box for some seconds; each is hit at the
/// walls, and `pushes` times a second by something else.
fn bytes_of_a_crowd(pushes: f64, seconds: u32) -> f64 {
    let (n, frames) = (1000_usize, seconds * 60);
    let mut r = SplitMix64(9);
    let mut recorder = Recorder::new(Vec::new(), Header::default()).unwrap();
    let ball = recorder.add_shape(ShapeInfo::Sphere { radius: 0.1 }).unwrap();
    let mut states = Vec::new();
    for i in 0..n {
        recorder.add_body(BodyInfo::new(format!("{i}"), BodyKind::Free, 1.0, ball)).unwrap();
        states.push(BodyState { velocity: r.vec3(4.0), ..state(&mut r) });
    }
    let dt = 1.0 / 60.0;
    for f in 0..frames {
        let bodies = states.iter().copied().map(Some).collect();
        recorder.push(&Frame { time: f64::from(f) * dt, bodies, ..Frame::default() }).unwrap();
        for s in &mut states {
            let half = -9.81 * 0.5 * dt * DVec3::Z;
            s.pose.translation += dt * (s.velocity + half);
            s.velocity += 2.0 * half;
            // Spin wanders about a body axis as that of a tumbling block does.
            let spin = s.spin + s.spin.cross(s.pose.rotation * DVec3::X) * dt;
            s.pose.rotation =
                (DQuat::from_scaled_axis(0.5 * dt * (s.spin + spin)) * s.pose.rotation).normalize();
            s.spin = spin.normalize() * s.spin.length();
            if r.unit() < pushes * dt {
                s.velocity += r.vec3(1.0);
                s.spin = r.vec3(10.0);
            }
            for k in 0..3 {
                if s.pose.translation[k].abs() > 10.0 && s.pose.translation[k] * s.velocity[k] > 0.0 {
                    s.velocity[k] = -s.velocity[k];
                    s.spin = r.vec3(10.0);
                }
            }
        }
    }
    recorder.finish().unwrap().len() as f64 / f64::from(frames) / n as f64
}

#[test]
fn a_crowd_in_motion_is_small() {
    // A minute at 60 Hz in a page of 30 MB, of which a quarter goes to the letters of base64, leaves 6.25 bytes.
    let (flying, jostling) = (bytes_of_a_crowd(0.0, 10), bytes_of_a_crowd(5.0, 4));
    println!("bytes for each body and frame: {flying:.2} flying, {jostling:.2} hit five times a second");
    assert!(flying < 3.5, "{flying}");
    assert!(jostling < 6.0, "{jostling}");
}

// proves-part: FON-88
#[test]
fn two_recordings_become_one_side_by_side() {
    let ((one, ours), (two, theirs)) = (random_recording(5, 70, 5), random_recording(6, 40, 3));
    let (mut a, mut b) = (Recording::from_bytes(one).unwrap(), Recording::from_bytes(two).unwrap());
    let shift = DVec3::new(3.0, -1.0, 0.5);
    let bytes = merge(&mut [
        MergePart { recording: &mut a, label: "a".to_owned(), shift: DVec3::ZERO },
        MergePart { recording: &mut b, label: "b".to_owned(), shift },
    ])
    .unwrap();
    let mut both = Recording::from_bytes(bytes).unwrap();
    let names: Vec<&str> = both.bodies().iter().map(|body| body.name.as_str()).collect();
    let expected: Vec<String> =
        (0..5).map(|k| format!("a: body {k}")).chain((0..3).map(|k| format!("b: body {k}"))).collect();
    assert_eq!(names, expected);
    assert_eq!((both.shapes().len(), both.marks().len()), (2, 4));
    // Every moment of both is there, once.
    let mut times: Vec<f64> = ours.iter().chain(&theirs).map(|f| f.time).collect();
    times.sort_by(f64::total_cmp);
    times.dedup_by(|x, y| (*x - *y).abs() <= 1e-9);
    assert_eq!(both.times(), times);
    let step = both.header().steps.position;
    let mut contacts = 0;
    for k in 0..both.len() {
        let frame = both.frame(k).unwrap().clone();
        contacts += frame.contacts.len();
        let then = |frames: &[Frame]| frames.partition_point(|f| f.time <= frame.time + 1e-9).checked_sub(1);
        let (i, j) = (then(&ours), then(&theirs));
        let mut sums = 0.0;
        for (part, index, first, offset) in [(&mut a, i, 0, DVec3::ZERO), (&mut b, j, 5, shift)] {
            let Some(index) = index else { continue };
            sums += part.sums()[index].kinetic;
            let read = part.frame(index).unwrap();
            for (n, state) in read.bodies.iter().enumerate() {
                let here = frame.bodies[first + n];
                assert_eq!(here.is_some(), state.is_some(), "frame {k}, body {n}");
                if let (Some(here), Some(state)) = (here, state) {
                    let place = state.pose.translation + offset;
                    assert_near(here.pose.translation, place, step, "position");
                }
            }
        }
        assert_eq!(frame.sums.kinetic.to_bits(), f64::to_bits(sums), "frame {k}");
    }
    // Each impulse once, although frames of one are shown again for times of the other.
    let all: usize = ours.iter().chain(&theirs).map(|f| f.contacts.len()).sum();
    assert_eq!(contacts, all);
}

fn part(recording: &mut Recording, shift: DVec3) -> MergePart<'_> {
    MergePart { recording, label: String::new(), shift }
}

#[test]
fn recordings_that_do_not_fit_are_refused() {
    let (bytes, _) = random_recording(7, 3, 1);
    let mut a = Recording::from_bytes(bytes.clone()).unwrap();
    let sideways = Header { up: DVec3::Y, ..header() };
    let mut b =
        Recording::from_bytes(Recorder::new(Vec::new(), sideways).unwrap().finish().unwrap()).unwrap();
    let error = merge(&mut [part(&mut a, DVec3::ZERO), part(&mut b, DVec3::ZERO)]).unwrap_err().to_string();
    assert!(error.starts_with("parts[1].up: must be"), "{error}");
    let error = merge(&mut [part(&mut a, DVec3::NAN)]).unwrap_err().to_string();
    assert!(error.starts_with("parts[0].shift: must be finite"), "{error}");
    assert_eq!(merge(&mut []).unwrap_err().to_string(), "merge: no recording is given");
}
