//! Bodies held by joints, through ours and through rapier, f64 and f32, in one run on one machine.
//!
//! `cargo run --release --bin joints [SCENE] [ROUNDS]` in this folder prints a table: milliseconds per step, for each step the least of all rounds, averaged
//! over all steps; and how far the two anchors of a joint are from each other, mean and most over all steps and joints.

use sim_core::{
    constraints::{ConeNewton, soft::SoftParams},
    steppers::ContactMethod,
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
};
use std::time::Instant;
use tumblestone_benches::scn::{Form, Scn, ScnBody};
use tumblestone_peers::engines::{Engine, Link, Ours, rapier_f32, rapier_f64};

/// A scene with joints, and how many steps of it are run.
struct Case {
    name: &'static str,
    scene: Scn,
    links: Vec<Link>,
    steps: usize,
}

fn body(form: Form, mass: f64, at: DVec3, rotation: DQuat) -> ScnBody {
    let moments = match form {
        Form::Cuboid(h) => {
            DVec3::new(h.y * h.y + h.z * h.z, h.x * h.x + h.z * h.z, h.x * h.x + h.y * h.y) / 3.0
        }
        Form::Ball(r) => DVec3::splat(0.4 * r * r),
        // A ball of its length: near enough.
        Form::Capsule(r, h) => DVec3::new((r + h) * (r + h), (r + h) * (r + h), r * r) * 0.4,
    } * mass;
    ScnBody { form, mass, moments, pose: Pose::new(at, rotation), velocity: Motion::ZERO, fixed: false }
}

fn fixed(form: Form, at: DVec3) -> ScnBody {
    ScnBody { fixed: true, ..body(form, 1.0, at, DQuat::IDENTITY) }
}

fn scene(bodies: Vec<ScnBody>) -> Scn {
    Scn {
        gravity: DVec3::new(0.0, 0.0, -9.81),
        dt: 1.0 / 60.0,
        steps: 0,
        friction: 0.5,
        restitution: 0.0,
        bodies,
    }
}

/// A chain of balls that swings from 45 degrees; the last has a weight of its own.
fn chain(name: &'static str, count: usize, last: f64) -> Case {
    let along = DVec3::new(1.0, 0.0, -1.0).normalize();
    let mut bodies = vec![fixed(Form::Ball(0.01), DVec3::Y * 0.5)];
    let mut links = Vec::new();
    for k in 0..count {
        let at = along * (0.1 + 0.2 * k as f64);
        bodies.push(body(Form::Ball(0.04), if k + 1 == count { last } else { 1.0 }, at, DQuat::IDENTITY));
        links.push(Link { bodies: [k, k + 1], anchor: at - along * 0.1, axis: None });
    }
    Case { name, scene: scene(bodies), links, steps: 300 }
}

/// Planks held by hinges between two banks, with boxes that fall on them.
fn bridge() -> Case {
    let (planks, pitch) = (200, 0.25);
    let half = DVec3::new(0.12, 1.0, 0.03);
    let at = |k: usize| DVec3::new(pitch * k as f64, 0.0, 0.0);
    let bank = DVec3::new(0.5, 1.0, 0.03);
    let mut bodies = vec![fixed(Form::Cuboid(bank), DVec3::new(-0.505, 0.0, 0.0))];
    let mut links = Vec::new();
    for k in 0..planks {
        bodies.push(body(Form::Cuboid(half), 10.0, at(k) + DVec3::X * 0.125, DQuat::IDENTITY));
        links.push(Link { bodies: [k, k + 1], anchor: at(k), axis: Some(DVec3::Y) });
    }
    bodies.push(fixed(Form::Cuboid(bank), at(planks) + DVec3::X * 0.505));
    links.push(Link { bodies: [planks, planks + 1], anchor: at(planks), axis: Some(DVec3::Y) });
    for k in 0..100 {
        let (row, across) = (k / 2, if k % 2 == 0 { -0.4 } else { 0.4 });
        let x = 10.0 + 0.6 * f64::from(row);
        bodies.push(body(Form::Cuboid(DVec3::splat(0.1)), 8.0, DVec3::new(x, across, 0.2), DQuat::IDENTITY));
    }
    Case { name: "bridge of 200 planks, 100 boxes", scene: scene(bodies), links, steps: 300 }
}

/// Figures of 15 bodies that fall into a pit.
fn figures(count: usize) -> Case {
    let mut bodies = vec![fixed(Form::Cuboid(DVec3::new(4.0, 4.0, 0.5)), DVec3::NEG_Z * 0.5)];
    for (x, y) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let half = DVec3::new(if x == 0.0 { 4.0 } else { 0.5 }, if y == 0.0 { 4.0 } else { 0.5 }, 4.0);
        bodies.push(fixed(Form::Cuboid(half), DVec3::new(2.6 * x, 2.6 * y, 4.0)));
    }
    let mut links = Vec::new();
    for k in 0..count {
        let base = DVec3::new(
            -1.5 + 1.0 * (k % 4) as f64,
            -1.5 + 1.0 * (k / 4 % 4) as f64,
            1.0 + 1.2 * (k / 16) as f64,
        );
        let first = bodies.len();
        let mut add = |x: f64, y: f64, z: f64, half: [f64; 3], mass: f64| {
            let turned = DQuat::from_rotation_z(0.3 * k as f64);
            bodies.push(body(Form::Cuboid(half.into()), mass, base + turned * DVec3::new(x, y, z), turned));
        };
        // Pelvis, belly, chest, neck, head; upper and lower arms and hands; thighs and shins and feet would be as many: 15 in all.
        add(0.0, 0.0, 0.0, [0.12, 0.08, 0.06], 8.0);
        add(0.0, 0.0, 0.14, [0.10, 0.07, 0.06], 6.0);
        add(0.0, 0.0, 0.30, [0.14, 0.08, 0.08], 10.0);
        add(0.0, 0.0, 0.43, [0.04, 0.04, 0.03], 1.0);
        add(0.0, 0.0, 0.57, [0.08, 0.08, 0.09], 4.0);
        for side in [-1.0, 1.0] {
            add(side * 0.26, 0.0, 0.33, [0.10, 0.04, 0.04], 2.0);
            add(side * 0.48, 0.0, 0.33, [0.10, 0.035, 0.035], 1.5);
            add(side * 0.63, 0.0, 0.33, [0.04, 0.03, 0.02], 0.5);
            add(side * 0.08, 0.0, -0.25, [0.05, 0.05, 0.17], 5.0);
            add(side * 0.08, 0.0, -0.61, [0.04, 0.04, 0.17], 3.0);
        }
        let turned = DQuat::from_rotation_z(0.3 * k as f64);
        let mut join = |a: usize, b: usize, at: [f64; 3], axis: Option<DVec3>| {
            let anchor = base + turned * DVec3::from(at);
            links.push(Link { bodies: [first + a, first + b], anchor, axis: axis.map(|axis| turned * axis) });
        };
        join(0, 1, [0.0, 0.0, 0.07], None);
        join(1, 2, [0.0, 0.0, 0.21], None);
        join(2, 3, [0.0, 0.0, 0.39], None);
        join(3, 4, [0.0, 0.0, 0.47], None);
        for (side, x) in [(0, -1.0), (1, 1.0)] {
            let s = 5 + 5 * side;
            join(2, s, [x * 0.15, 0.0, 0.33], None);
            join(s, s + 1, [x * 0.37, 0.0, 0.33], Some(DVec3::Z));
            join(s + 1, s + 2, [x * 0.585, 0.0, 0.33], None);
            join(0, s + 3, [x * 0.08, 0.0, -0.07], None);
            join(s + 3, s + 4, [x * 0.08, 0.0, -0.43], Some(DVec3::X));
        }
    }
    Case { name: "figures of 15 bodies in a pit", scene: scene(bodies), links, steps: 240 }
}

/// Distance of the anchors of a joint, m.
fn apart(start: &[(Pose, DVec3)], now: &[(Pose, DVec3)], link: &Link) -> f64 {
    let [a, b] =
        link.bodies.map(|k| now[k].0.transform_point(start[k].0.inverse().transform_point(link.anchor)));
    (a - b).length()
}

fn row(case: &Case, engine: &str, rounds: u32, load: &dyn Fn() -> Box<dyn Engine>) {
    let mut best = vec![f64::INFINITY; case.steps];
    let (mut sum, mut most) = (0.0, 0.0_f64);
    for round in 0..rounds {
        let mut run = load();
        let start = run.state();
        for best in &mut best {
            let clock = Instant::now();
            run.step();
            *best = best.min(clock.elapsed().as_secs_f64());
            if round == 0 {
                let state = run.state();
                for link in &case.links {
                    let error = apart(&start, &state, link);
                    sum += error;
                    most = most.max(error);
                }
            }
        }
    }
    let ms = best.iter().sum::<f64>() / case.steps as f64 * 1e3;
    let mean = sum / (case.steps * case.links.len()) as f64 * 1e3;
    println!("| {} | {engine} | {ms:.3} | {mean:.5} | {:.4} |", case.name, most * 1e3);
}

fn main() {
    let mut words = std::env::args().skip(1);
    let filter = words.next().unwrap_or_default();
    let rounds = words.next().and_then(|w| w.parse().ok()).unwrap_or(3);
    println!("| scene | engine | ms per step | anchors apart, mean, mm | most, mm |\n|---|---|---|---|---|");
    let cases = [
        chain("chain of 100 balls", 100, 1.0),
        chain("1000 kg on twenty links", 20, 1000.0),
        bridge(),
        figures(48),
    ];
    for case in cases.iter().filter(|case| case.name.contains(&filter)) {
        let (scene, links) = (&case.scene, &case.links[..]);
        let soft = || Ours::load_joined(scene, links, ContactMethod::Soft(SoftParams::default()), 1);
        let exact = || Ours::load_joined(scene, links, ContactMethod::law(ConeNewton::default()), 1);
        row(case, "rapier f64", rounds, &|| Box::new(rapier_f64::Rapier::load_joined(scene, links)));
        row(case, "rapier f32", rounds, &|| Box::new(rapier_f32::Rapier::load_joined(scene, links)));
        row(case, "ours, soft", rounds, &|| Box::new(soft()));
        row(case, "ours, exact", 1, &|| Box::new(exact()));
    }
}
