//! What a newcomer tries first, through ours and through rapier f64 with default settings: stacks of any size, walls, pyramids, a heavy box on a light
//! one, a flat drop, a crowd that bounces.
//!
//! `cargo run --release --bin standing [SCENE]` in this folder prints a table.

use sim_core::{
    constraints::{ConeNewton, soft::SoftParams},
    steppers::ContactMethod,
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
};
use tumblestone_benches::scn::{Form, Scn, ScnBody};
use tumblestone_peers::engines::{Engine, Ours, rapier_f64};

const G: f64 = 9.81;

fn body(form: Form, mass: f64, at: DVec3) -> ScnBody {
    let moments = match form {
        Form::Cuboid(h) => {
            let s = 4.0 * h * h;
            DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 12.0)
        }
        Form::Ball(r) | Form::Capsule(r, _) => DVec3::splat(0.4 * mass * r * r),
    };
    let pose = Pose::from_translation(at);
    ScnBody { fixed: false, form, mass, moments, pose, velocity: Motion::ZERO }
}

fn cube(size: f64, mass: f64, at: DVec3) -> ScnBody {
    body(Form::Cuboid(DVec3::splat(0.5 * size)), mass, at)
}

/// Free bodies over a floor whose top is at z = 0; the floor comes last.
fn over_floor(mut bodies: Vec<ScnBody>, size: f64, friction: f64, restitution: f64, seconds: f64) -> Scn {
    let half = DVec3::new(100.0, 100.0, 2.0) * size;
    let floor = ScnBody { fixed: true, ..body(Form::Cuboid(half), 1.0, DVec3::new(0.0, 0.0, -half.z)) };
    bodies.push(floor);
    let steps = (60.0 * seconds) as u32;
    Scn { gravity: DVec3::new(0.0, 0.0, -G), dt: 1.0 / 60.0, steps, friction, restitution, bodies }
}

fn stack(n: usize, size: f64, gap: f64, friction: f64) -> Scn {
    let at = |k: usize| DVec3::new(0.0, 0.0, (k as f64 + 0.5) * size + (k as f64 + 1.0) * gap);
    let bodies = (0..n).map(|k| cube(size, 1000.0 * size * size * size, at(k))).collect();
    over_floor(bodies, size, friction, 0.0, 20.0)
}

fn pile(rows: usize, pyramid: bool, length: f64) -> Scn {
    let half = DVec3::new(0.5, 0.25, 0.25) * length;
    let mut bodies = Vec::new();
    for row in 0..rows {
        let (first, count) = match pyramid {
            true => (1.05 * half.x * row as f64, rows - row),
            false => (if row % 2 == 0 { -0.125 } else { 0.125 } * length, 10),
        };
        for k in 0..count {
            let at = DVec3::new(first + 2.1 * half.x * k as f64, 0.0, half.z * (2 * row + 1) as f64);
            bodies.push(body(Form::Cuboid(half), 8000.0 * half.x * half.y * half.z, at));
        }
    }
    over_floor(bodies, length, 0.5, 0.0, 20.0)
}

/// Sideways and down since two seconds after the start, shares of a size.
fn moved(scene: &Scn, size: f64, run: &mut dyn Engine) -> [f64; 2] {
    let mut settled = Vec::new();
    for step in 0..scene.steps {
        run.step();
        if step == 120 {
            settled = run.state();
        }
    }
    let mut worst = [0.0_f64; 2];
    for ((now, _), (before, _)) in run.state().iter().zip(&settled) {
        let way = (now.translation - before.translation) / size;
        worst = [worst[0].max(way.truncate().length()), worst[1].max(-way.z)];
    }
    worst
}

fn kinetic_and_potential(scene: &Scn, state: &[(Pose, DVec3)]) -> f64 {
    let free = scene.bodies.iter().zip(state).filter(|(b, _)| !b.fixed);
    free.map(|(b, (pose, v))| b.mass * (0.5 * v.length_squared() + G * pose.translation.z)).sum()
}

/// Balls that bounce in a closed box: how much of their energy (of motion and weight; they do not spin) has changed.
fn crowd() -> Scn {
    let mut bodies = Vec::new();
    for k in 0..64 {
        let at = DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16))
            + DVec3::new(-1.5, -1.5, 0.5);
        let mut ball = body(Form::Ball(0.2), 1.0, at);
        let turn = DQuat::from_rotation_z(f64::from(k)) * DQuat::from_rotation_x(0.7 * f64::from(k));
        ball.velocity = Motion::new(DVec3::ZERO, turn * DVec3::new(3.0, 0.0, 0.0));
        bodies.push(ball);
    }
    let mut scene = over_floor(bodies, 1.0, 0.0, 1.0, 10.0);
    for (axis, side) in
        [(DVec3::X, 1.0), (DVec3::X, -1.0), (DVec3::Y, 1.0), (DVec3::Y, -1.0), (DVec3::Z, 1.0)]
    {
        let far = if axis == DVec3::Z { 4.0 } else { 2.0 };
        let wall = body(Form::Cuboid(DVec3::splat(20.0)), 1.0, axis * side * (far + 20.0));
        scene.bodies.push(ScnBody { fixed: true, ..wall });
    }
    (scene.dt, scene.steps) = (1.0 / 240.0, 2400);
    scene
}

/// A box dropped flat: height of its first rise over that asked for, and its spin, by how its top edge turns.
fn drop(yaw: f64) -> Scn {
    let mut cube = body(Form::Cuboid(DVec3::new(0.5, 0.35, 0.25)), 100.0, DVec3::new(0.0, 0.0, 1.25));
    cube.pose.rotation = DQuat::from_rotation_z(yaw);
    over_floor(vec![cube], 1.0, 0.5, 0.5, 1.5)
}

fn row(name: &str, scene: &Scn, judge: &dyn Fn(&Scn, &mut dyn Engine) -> String) {
    let soft = ContactMethod::Soft(SoftParams::default());
    let mut engines: [Box<dyn Engine>; 3] = [
        Box::new(rapier_f64::Rapier::load(scene)),
        Box::new(Ours::load(scene, ContactMethod::law(ConeNewton::default()), 1)),
        Box::new(Ours::load(scene, soft, 1)),
    ];
    let [rapier, exact, soft] = engines.each_mut().map(|run| judge(scene, run.as_mut()));
    println!("| {name} | {rapier} | {exact} | {soft} |");
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    println!("| scene | rapier f64 | exact | soft |");
    println!("|---|---|---|---|");
    let show = |name: String, scene: Scn, judge: &dyn Fn(&Scn, &mut dyn Engine) -> String| {
        if name.contains(&filter) {
            row(&name, &scene, judge);
        }
    };
    for n in [3, 10, 20] {
        for size in [0.01, 0.1, 1.0, 10.0] {
            for (gap, friction) in [(0.0, 0.3), (1e-3, 0.8)] {
                let name =
                    format!("stack of {n}, {size} m, gap {gap} m, friction {friction}: sideways, down");
                show(name, stack(n, size, gap, friction), &|scene, run| {
                    let [aside, down] = moved(scene, size, run);
                    format!("{aside:.0e}, {down:.0e}")
                });
            }
        }
    }
    for (length, rows) in [0.1, 1.0].into_iter().flat_map(|s| [10, 20, 30].map(|n| (s, n))) {
        for (pyramid, kind) in [(false, "wall"), (true, "pyramid")] {
            let name = format!("{kind} of {rows} rows, bricks of {length} m: sideways, down");
            show(name, pile(rows, pyramid, length), &|scene, run| {
                let [aside, down] = moved(scene, length, run);
                format!("{aside:.0e}, {down:.0e}")
            });
        }
    }
    for size in [0.1, 1.0] {
        let [light, heavy] =
            [(1.0, 0.5), (1000.0, 1.5)].map(|(mass, z)| cube(size, mass, DVec3::new(0.0, 0.0, z * size)));
        let name = format!("1000 kg on 1 kg, {size} m: sinks by");
        show(name, over_floor(vec![light, heavy], size, 0.5, 0.0, 5.0), &|scene, run| {
            (0..scene.steps).for_each(|_| run.step());
            format!("{:.0e}", 1.5 - run.state()[1].0.translation.z / size)
        });
    }
    for yaw in [0.0, 0.4] {
        show(format!("box dropped flat, yaw {yaw}, e = 0.5: rise / 0.25, tilt"), drop(yaw), &|scene, run| {
            let (mut low, mut high, mut tilt) = (f64::INFINITY, 0.0_f64, 0.0_f64);
            for step in 0..scene.steps {
                run.step();
                let pose = run.state()[0].0;
                // It lands after 0.45 s and is highest 0.23 s later.
                if step > 30 && step < 50 {
                    (low, high) = (low.min(pose.translation.z), high.max(pose.translation.z - 0.25));
                    tilt = tilt.max((pose.transform_vector(DVec3::Z) - DVec3::Z).length());
                }
            }
            format!("{:.4}, {tilt:.0e}", high / 0.25)
        });
    }
    show("64 balls, e = 1, 10 s at 1/240 s: change of energy".to_owned(), crowd(), &|scene, run| {
        let start = kinetic_and_potential(scene, &run.state());
        (0..scene.steps).for_each(|_| run.step());
        format!("{:+.0e}", kinetic_and_potential(scene, &run.state()) / start - 1.0)
    });
}
