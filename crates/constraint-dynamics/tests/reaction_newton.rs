//! The Newton method of reaction forces: contraction, stiffness, stopping, refused steps, change of method.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/frames.rs"]
mod frames;

use constraint_dynamics::reaction::{ReactionError, SolverEvent, WarmStart};
use frames::{Mechanism, chain};
use sim_math::{Pose, dense::SolveMethod, glam::DVec3, testkit::SplitMix64};
use sim_traits::joint::JointKind;

/// A chain in motion.
fn moving(n: u32, h: f64) -> Mechanism {
    let mut m = chain(n);
    for _ in 0..(2.0 / h) as usize {
        m.step(h);
    }
    m
}

/// Errors after 0, 1, 2, … iterations of a frame, each from the same state.
fn errors(m: &Mechanism, h: f64, most: u32, change: impl Fn(&mut Mechanism)) -> Vec<f64> {
    let mut all = vec![];
    for k in 1..=most {
        let mut copy = Mechanism {
            bodies: m.bodies.clone(),
            joints: m.joints.clone(),
            state: m.state.clone(),
            params: m.params,
            workspace: m.workspace.clone(),
            ..Mechanism::new(m.gravity)
        };
        copy.params.warm_start = WarmStart::Cold;
        copy.params.max_error = -1.0;
        copy.params.max_iterations = k;
        change(&mut copy);
        let report = copy.step(h);
        if k == 1 {
            all.push(report.first_error);
        }
        all.push(report.error);
    }
    all
}

// proves: DYN-94
#[test]
fn an_iteration_leaves_a_share_of_the_error_that_falls_with_the_step() {
    let shares = [0.08, 0.04, 0.02, 0.01].map(|h| {
        let list = errors(&moving(6, h), h, 2, |_| {});
        list[1] / list[0]
    });
    println!("shares {shares:?}");
    for pair in shares.windows(2) {
        assert!(pair[1] < 0.65 * pair[0], "{shares:?}");
    }
}

// proves: DYN-91
#[test]
fn stiffness_leaves_its_share_of_the_error() {
    let (h, m) = (0.005, moving(4, 0.005));
    for stiffness in [0.1, 0.3, 0.5, 0.9] {
        let list = errors(&m, h, 4, |m| m.params.stiffness = stiffness);
        for pair in list.windows(2) {
            assert!((pair[1] / pair[0] - (1.0 - stiffness)).abs() < 5e-3, "{stiffness}: {list:?}");
        }
        // The same for one joint after the other.
        let list = errors(&m, h, 4, |m| m.joints.joints.iter_mut().for_each(|j| j.stiffness = stiffness));
        assert!((list[4] / list[0] - (1.0 - stiffness).powi(4)).abs() < 5e-3, "{stiffness}: {list:?}");
    }
}

// proves: DYN-92
#[test]
fn a_scattered_chain_assembles_itself() {
    let mut random = SplitMix64(5);
    let mut m = chain(8);
    m.gravity = DVec3::ZERO;
    for body in &mut m.bodies {
        body.given = sim_math::spatial::Force::ZERO;
        body.state.pose.translation += random.vec3(2.0);
        body.state.pose.rotation = (sim_math::rotation::quat_exp(random.vec3(0.5))).normalize();
    }
    (m.params.stiffness, m.params.max_iterations, m.params.warm_start) = (0.1, 1, WarmStart::Cold);
    let gap = |m: &Mechanism| {
        let of = |k: usize| {
            let own = m.bodies[k].state.pose.transform_point(DVec3::ONE);
            let other = match k {
                0 => DVec3::new(0.75, 1.75, 4.0) * 8.0 + DVec3::ONE,
                _ => m.bodies[k - 1].state.pose.transform_point(DVec3::NEG_ONE),
            };
            (own - other).length_squared()
        };
        (0..8).map(of).sum::<f64>().sqrt()
    };
    let start = gap(&m);
    let (mut before, mut rises) = (f64::INFINITY, 0);
    for _ in 0..120 {
        let report = m.step(0.05);
        rises += u32::from(report.error > before.max(1e-4));
        before = report.error;
        // Motion ends: what flies together does not fly apart.
        for body in &mut m.bodies {
            body.state.velocity.linear *= 0.5;
            body.state.velocity.angular *= 0.5;
        }
    }
    println!("gaps {start} -> {}, {rises} rises", gap(&m));
    assert_eq!(rises, 0);
    assert!(gap(&m) < 1e-3 * start);
}

// proves: DYN-96
#[test]
fn iterations_stop_at_the_error_or_at_their_number() {
    let (h, m) = (0.02, moving(5, 0.02));
    let run = |max_error: f64, most: u32| {
        let mut copy = Mechanism {
            bodies: m.bodies.clone(),
            joints: m.joints.clone(),
            state: m.state.clone(),
            params: m.params,
            ..Mechanism::new(m.gravity)
        };
        (copy.params.max_error, copy.params.max_iterations) = (max_error, most);
        copy.params.warm_start = WarmStart::Cold;
        copy.step(h)
    };
    let loose = run(1e-3, 20);
    let tight = run(1e-9, 20);
    assert!(loose.error < 1e-3 && tight.error < 1e-9 && loose.iterations < tight.iterations);
    assert_eq!((run(1e-12, 1).iterations, run(1e-12, 1).unsolved), (1, 1));
    // A negative error asks for as many as given, neither more nor less, below rounding too, and without a change of method.
    for most in [1, 2, 5, 12] {
        let report = run(-1.0, most);
        assert_eq!((report.iterations, report.unsolved), (most, 0));
    }
    assert_eq!(run(1e3, 20).iterations, 0);
}

// proves: DYN-97
#[test]
fn a_step_that_makes_it_worse_is_not_taken() {
    let mut random = SplitMix64(11);
    let mut refused = 0;
    for _ in 0..300 {
        let mut m = chain(4);
        for body in &mut m.bodies {
            body.state.velocity = sim_math::spatial::Motion::new(random.vec3(40.0), random.vec3(40.0));
            body.state.pose.translation += random.vec3(1.5);
        }
        m.params.warm_start = WarmStart::Cold;
        for _ in 0..3 {
            let report = m.step(0.2);
            assert!(report.error <= report.first_error, "{report:?}");
            assert!(m.bodies.iter().all(|b| b.state.pose.is_finite()));
            refused += m.workspace.events.len();
        }
    }
    println!("{refused} events");
    assert!(refused > 0, "nothing was refused");
}

// proves: DYN-98
#[test]
fn a_warm_start_saves_iterations() {
    let count = |warm_start| {
        let mut m = chain(10);
        (m.params.warm_start, m.params.max_error) = (warm_start, 1e-7);
        (0..150).map(|_| m.step(0.02).iterations).sum::<u32>()
    };
    let [cold, constant, linear] = [WarmStart::Cold, WarmStart::Constant, WarmStart::Linear].map(count);
    println!("iterations: cold {cold}, constant {constant}, linear {linear}");
    assert!(constant < cold && linear < constant);
}

// proves: DYN-95
#[test]
fn older_derivatives_take_more_iterations_to_the_same_motion() {
    let run = |every, broyden| {
        let mut m = chain(8);
        (m.params.jacobian_every, m.params.max_error, m.params.broyden) = (every, 1e-8, broyden);
        let iterations: u32 = (0..100).map(|_| m.step(0.02).iterations).sum();
        (iterations, m.at(7))
    };
    let (often, at) = run(1, false);
    for every in [3, 10] {
        let (seldom, there) = run(every, false);
        println!("every {every}: {seldom} iterations, {often} with new derivatives each frame");
        assert!(seldom > often && (there - at).length() < 1e-5);
    }
}

// proves-part: DYN-127
#[test]
fn updates_save_iterations() {
    let run = |broyden| {
        let mut m = chain(8);
        (m.params.jacobian_every, m.params.max_error, m.params.broyden) = (10, 1e-10, broyden);
        let iterations: u32 = (0..100).map(|_| m.step(0.05).iterations).sum();
        (iterations, m.at(7))
    };
    let ((with, a), (without, b)) = (run(true), run(false));
    println!("with updates {with} iterations, without {without}");
    assert!(with < without && (a - b).length() < 1e-6);
}

/// One body pinned by the same point to two places.
fn contradictory(apart: f64) -> Mechanism {
    let mut m = Mechanism::new(DVec3::NEG_Z);
    let body = m.body(1.0, DVec3::ONE, Pose::IDENTITY);
    for x in [-apart, apart] {
        let ends = [(None, Pose::from_translation(DVec3::X * x)), (Some(body), Pose::IDENTITY)];
        m.join(JointKind::Ball { drive: None }, &ends);
    }
    m
}

// proves: DYN-112
#[test]
fn contradictions_change_the_method_and_its_end_changes_it_back() {
    let mut m = contradictory(0.1);
    let mut log = vec![];
    for _ in 0..30 {
        m.step(0.02);
        log.extend(m.workspace.events.iter().copied());
        // In the middle, and finite.
        assert!(m.at(0).x.abs() < 1e-6 && m.at(0).length() < 0.2, "{}", m.at(0));
    }
    let methods = |log: &[SolverEvent]| -> Vec<_> {
        log.iter()
            .filter_map(|e| {
                if let SolverEvent::Switched { from, to, .. } = e { Some((*from, *to)) } else { None }
            })
            .collect()
    };
    use SolveMethod::{ConjugateGradient, Lu, Svd};
    println!("{:?}", methods(&log));
    assert_eq!(methods(&log)[..2], [(Lu, ConjugateGradient), (ConjugateGradient, Svd)]);
    assert_eq!(m.state.parts[0].method, Svd);
    // Without the contradiction it goes back to elimination after ten frames that went well.
    for joint in &mut m.joints.joints {
        joint.model.anchors[0].frame = Pose::IDENTITY;
    }
    let mut back = None;
    for k in 0..40 {
        let report = m.step(0.02);
        if methods(&m.workspace.events).contains(&(Svd, Lu)) {
            back = Some((k, report.error));
        }
    }
    println!("back after {back:?}");
    assert!(matches!(back, Some((k, error)) if k >= 9 && error < 1e-4));
    assert_eq!(m.state.parts[0].method, Lu);
}

// proves: DYN-113
#[test]
fn no_faster_method_is_used_than_allowed() {
    for method in [SolveMethod::ConjugateGradient, SolveMethod::Svd] {
        let mut m = chain(3);
        m.params.method = method;
        for _ in 0..40 {
            let report = m.step(0.02);
            assert_eq!(report.unsolved, 0);
            assert!(m.state.parts.iter().all(|p| p.method >= method));
        }
    }
}

#[test]
fn two_points_for_one_body_meet_in_the_middle() {
    for apart in [1e-3, 0.1, 1.0] {
        let mut m = contradictory(apart);
        m.params.method = SolveMethod::Svd;
        for _ in 0..50 {
            m.step(0.02);
        }
        assert!(m.at(0).length() < 0.02 * (1.0 + apart), "{apart}: {}", m.at(0));
    }
}

// proves: DYN-123
#[test]
fn a_door_with_three_hinges_is_held_as_by_one() {
    let door = |hinges: &[f64]| {
        let mut m = Mechanism::new(DVec3::NEG_Z * 9.81);
        let body = m.body(20.0, DVec3::new(7.0, 8.0, 2.0), Pose::from_translation(DVec3::X * 0.5));
        for &z in hinges {
            let frame = Pose::from_translation(DVec3::Z * z);
            m.join(JointKind::Hinge, &[(None, frame), (Some(body), frame)]);
        }
        m.bodies[0].state.velocity.angular.z = 1.0;
        m.bodies[0].state.velocity.linear.y = 0.5;
        m.params.max_error = 1e-6;
        for _ in 0..200 {
            let report = m.step(0.01);
            assert_eq!(report.unsolved, 0, "{:?}", m.workspace.events);
        }
        let weight: f64 = (0..hinges.len()).map(|k| m.workspace.exerted(k, 0).linear.z).sum();
        (m.at(0), weight, m.workspace.values.iter().fold(0.0_f64, |a, v| a.max(v.abs())))
    };
    let (one, weight, _) = door(&[0.0]);
    assert!((weight - 196.2).abs() < 0.1);
    let (three, weight, most) = door(&[-1.0, 0.0, 1.0]);
    println!("{one} {three}, weight {weight}, largest value {most}");
    assert!((one - three).length() < 1e-3 && (weight - 196.2).abs() < 0.1 && most < 1e4);
}

#[test]
fn random_graphs_stay_finite() {
    let mut random = SplitMix64(77);
    let rounds = 60;
    for _ in 0..rounds {
        let mut m = Mechanism::new(random.vec3(10.0));
        let count = 1 + random.below(5) as u32;
        for _ in 0..count {
            let pose = Pose::new(random.vec3(1.0), random.unit_quat());
            m.body(random.range(0.1, 10.0), DVec3::splat(random.range(0.05, 1.0)), pose);
        }
        for _ in 0..1 + random.below(8) {
            let a = random.below(count as usize + 1) as u32;
            let b = random.below(count as usize) as u32;
            let a = (a < count && a != b).then_some(a);
            let frame = Pose::new(random.vec3(1.0), random.unit_quat());
            let kind = match random.below(5) {
                0 => JointKind::Hinge,
                1 => JointKind::Weld,
                2 => JointKind::Distance { length: random.range(0.0, 2.0) + 0.01 },
                3 => JointKind::Rope { length: 0.5, restitution: random.range(0.0, 1.0) },
                _ => JointKind::Ball { drive: None },
            };
            let off = Pose::from_translation(random.vec3(0.3));
            m.join(kind, &[(a, frame), (Some(b), frame * off)]);
        }
        for _ in 0..20 {
            match m.try_step(0.02) {
                Ok(report) => assert!(report.error.is_finite(), "{report:?}"),
                Err(error) => assert!(matches!(error, ReactionError::Body { .. }), "{error}"),
            }
            assert!(m.bodies.iter().all(|b| b.state.pose.is_finite()));
        }
    }
}

#[test]
fn what_cannot_be_is_an_error_that_names_it() {
    let mut m = chain(2);
    for (change, text) in [
        (
            (|m: &mut Mechanism| m.params.stiffness = 0.0) as fn(&mut Mechanism),
            "stiffness: 0 is out of range",
        ),
        (|m| m.params.max_error = f64::NAN, "max_error: NaN is out of range"),
        (|m| m.params.velocity_share = -1.0, "velocity_share: -1 is out of range"),
        (|m| m.params.max_iterations = 0, "max_iterations: 0 is out of range"),
        (|m| m.params.jacobian_every = 0, "jacobian_every: 0 is out of range"),
        (|m| m.joints.joints[1].bodies[1] = 9, "constraint 1: no body 9"),
    ] {
        let mut bad = chain(2);
        change(&mut bad);
        assert_eq!(bad.try_step(0.1).unwrap_err().to_string(), text);
    }
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(m.try_step(h), Err(ReactionError::Parameter { what: "h", .. })));
    }
    m.bodies[1].given.linear.x = f64::NAN;
    assert!(matches!(m.try_step(0.1), Err(ReactionError::Body { body: 1, .. })));
    // Nothing at all, and a joint without rows.
    let mut empty = Mechanism::new(DVec3::ZERO);
    assert_eq!(empty.step(0.1).unknowns, 0);
}

// proves: DYN-60
#[test]
fn a_constraint_that_holds_nothing_changes_nothing() {
    let run = |free: bool| {
        let mut m = chain(4);
        if free {
            // Between the first and the last cube: six free axes.
            m.join(JointKind::SixAxis, &[(Some(0), Pose::IDENTITY), (Some(3), Pose::IDENTITY)]);
        }
        (0..50).for_each(|_| assert_eq!(m.step(0.02).unknowns, 12));
        m.bodies.iter().map(|b| b.state).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
}

// proves: DYN-126
#[test]
fn carts_are_solved_apart() {
    let carts = |n: u32| {
        let mut m = Mechanism::new(DVec3::NEG_Z);
        for k in 0..n {
            let at = DVec3::X * f64::from(10 * k);
            let a = m.body(1.0, DVec3::ONE, Pose::from_translation(at));
            let b = m.body(1.0, DVec3::ONE, Pose::from_translation(at + DVec3::X));
            m.pin(None, a, at - DVec3::X);
            m.pin(Some(a), b, at + DVec3::X * 0.5);
        }
        m
    };
    let mut many = carts(50);
    let report = many.step(0.02);
    assert_eq!((report.parts, report.unknowns), (50, 300));
    // Σ nᵢ² and not (Σ nᵢ)²: each part has its own six unknowns.
    let squares: usize = (0..50).map(|k| many.workspace.graph().part(k).unwrap().0.pow(2)).sum();
    assert_eq!(squares, 50 * 36);
    let mut one = carts(1);
    one.params.max_error /= 50.0_f64.sqrt();
    (0..50).for_each(|_| {
        one.step(0.02);
    });
    (1..50).for_each(|_| {
        many.step(0.02);
    });
    assert!((one.at(1) - many.at(1)).length() < 1e-6);
}
