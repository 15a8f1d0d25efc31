//! Controllers and timers: exact times, held forces, closed forms, many clones, snapshots.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::ptr_arg,
    reason = "helpers of tests; exact numbers on purpose; call-backs may grow their memory"
)]

mod common;

use common::{G, ball, cuboid, earth, smallest_separation, stepper};
use sim_math::{glam::DVec3, ops, spatial::Motion};
use sim_traits::BodyId;
use sim_world::{
    Anchor, Body, Callback, Controller, ControllerId, EventKind, ForceGenerator, ForceId, Listing, OpenLoop,
    Pid, Quantity, SnapshotError, StepError, Stepper, World, WorldError,
};

/// An actuator that does nothing yet.
fn motor(world: &mut World, body: BodyId) -> ForceId {
    world.add_force(ForceGenerator::Constant { body, force: DVec3::ZERO, torque: DVec3::ZERO }).unwrap()
}

fn held(world: &World, motor: ForceId) -> DVec3 {
    match world.force(motor) {
        Some(ForceGenerator::Constant { force, .. }) => *force,
        _ => DVec3::NAN,
    }
}

fn calls(world: &World, id: ControllerId) -> Vec<u64> {
    let of = |kind: &EventKind| matches!(kind, EventKind::Controlled { controller, .. } if *controller == id);
    world.events().iter().filter(|e| of(&e.kind)).map(|e| e.time.to_bits()).collect()
}

// proves: MIR-77, MIR-78
#[test]
fn a_controller_acts_at_exact_milliseconds_and_its_force_holds_in_between() {
    let mut world = earth();
    // Other things happen too.
    for k in 0..4 {
        world.add(ball(0.1).at([1.0 + 0.3 * f64::from(k), 0.0, 0.5]).restitution(0.6)).unwrap();
    }
    let id = world.add(ball(0.1).mass(2.0).at([0.0, 0.0, 1.0])).unwrap();
    let engine = motor(&mut world, id);
    let pid = Pid::new(id, engine, Quantity::Position(DVec3::Z), 1e-3).gains(300.0, 0.0, 20.0).toward(1.2);
    let controller = world.add_controller(0.0, 1e-3, pid).unwrap();
    let mut stepper = stepper();
    let (mut count, mut changes, mut last) = (0_u32, 0, held(&world, engine));
    for k in 0..1000_u32 {
        // A third of the period: two of three advances see no change.
        stepper.advance(&mut world, 1e-3 / 3.0).unwrap();
        for bits in calls(&world, controller) {
            assert_eq!(bits, (1e-3 * f64::from(count)).to_bits());
            count += 1;
        }
        let now = held(&world, engine);
        changes += u32::from(now != last);
        // The acceleration of the piece is that of gravity and the force held, to the bit.
        assert_eq!(world[id].piece().uniform_acceleration(), DVec3::new(0.0, 0.0, -G) + now / 2.0);
        last = now;
        assert!(k < 3 || changes >= k / 3);
    }
    assert!((333..=334).contains(&count) && changes <= count, "{count} calls, {changes} changes");
}

// proves: MIR-75
#[test]
fn proportional_control_sags_by_weight_over_gain_and_integral_control_does_not() {
    let (m, p) = (2.0, 400.0);
    let steady = |quantity: Quantity, gains: [f64; 3], target: f64, period: f64| {
        let mut world = World::new([0.0, 0.0, -G]).unwrap();
        let id = world.add(ball(0.1).mass(m)).unwrap();
        let engine = motor(&mut world, id);
        let pid = Pid::new(id, engine, quantity, period).gains(gains[0], gains[1], gains[2]).toward(target);
        world.add_controller(0.0, period, pid).unwrap();
        stepper().advance(&mut world, 30.0).unwrap();
        (world[id].center().z, world[id].velocity().linear.z, held(&world, engine).z)
    };
    for period in [1e-3, 5e-3] {
        let (z, _, force) = steady(Quantity::Position(DVec3::Z), [p, 0.0, 40.0], 0.5, period);
        assert!((0.5 - z - m * G / p).abs() < 1e-9, "PD at {period}: sag {}", 0.5 - z);
        assert!((force - m * G).abs() < 1e-6);
        let (z, _, _) = steady(Quantity::Position(DVec3::Z), [p, 300.0, 40.0], 0.5, period);
        assert!((0.5 - z).abs() < 1e-6, "PID at {period}: sag {}", 0.5 - z);
        let (_, v, _) = steady(Quantity::Velocity(DVec3::Z), [20.0, 0.0, 0.2], 0.8, period);
        // Its mean over a period is what is held; the sample is the one at the end of the last period.
        assert!((0.8 - v - m * G / 20.0).abs() < 1e-6, "P of velocity at {period}: off by {}", 0.8 - v);
        let (_, v, _) = steady(Quantity::Velocity(DVec3::Z), [20.0, 30.0, 0.2], 0.8, period);
        assert!((0.8 - v).abs() < 1e-6, "PI of velocity at {period}: off by {}", 0.8 - v);
    }
}

// proves: DYN-49
#[test]
fn a_step_response_is_that_of_the_second_order_system_up_to_the_period() {
    // m ẍ = p (1 − x) − d ẋ, continuous, and with the force held over T: an error of first order in T.
    let (m, p, d) = (1.0_f64, 25.0_f64, 4.0_f64);
    let (decay, w) = (0.5 * d / m, (p / m - 0.25 * d * d / (m * m)).sqrt());
    let exact = |t: f64| 1.0 - ops::exp(-decay * t) * (ops::cos(w * t) + decay / w * ops::sin(w * t));
    let worst = |period: f64| {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let id = world.add(ball(0.1).mass(m)).unwrap();
        let engine = motor(&mut world, id);
        let pid = Pid::new(id, engine, Quantity::Position(DVec3::X), period).gains(p, 0.0, d).toward(1.0);
        world.add_controller(0.0, period, pid).unwrap();
        let mut stepper = stepper();
        let (mut off, mut discrete) = (0.0_f64, (0.0_f64, 0.0_f64));
        let steps = (2.0 / period).round() as u32;
        for k in 1..=steps {
            let rest = period * f64::from(k) - world.time();
            stepper.advance(&mut world, rest).unwrap();
            // The sampled system has a closed form of its own: constant acceleration over each period.
            let (x, v) = discrete;
            let a = (p * (1.0 - x) - d * v) / m;
            discrete = (x + v * period + 0.5 * a * period * period, v + a * period);
            let at = world[id].center().x;
            assert!((at - discrete.0).abs() < 1e-11, "{at} against {}", discrete.0);
            off = off.max((at - exact(world.time())).abs());
        }
        off
    };
    let (coarse, fine) = (worst(2e-3), worst(1e-3));
    assert!(fine < 5e-3 && (1.9..2.1).contains(&(coarse / fine)), "{coarse} {fine}");
}

// proves: MIR-13
#[test]
fn a_bottle_jumps_by_overwriting_its_velocity_and_lands_on_target() {
    // The high-level controller: at rest on the floor, jump so that the arc ends at the target.
    fn jump(world: &mut World, bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
        let bottle = world.body(bodies[0])?;
        if memory[0] == 0.0 && world.time() >= 0.5 {
            let (at, target) = (bottle.center(), DVec3::new(memory[1], memory[2], bottle.center().z));
            let rise = 3.0;
            let flight = 2.0 * rise / 9.81;
            let velocity = (target - at) / flight + DVec3::Z * rise;
            memory[0] = 1.0;
            world.set_velocity(bodies[0], Motion::new(DVec3::ZERO, velocity))?;
        }
        Ok(())
    }
    let mut world = earth();
    let bottle =
        world.add(Body::free().shape(cuboid(0.04, 0.04, 0.1)).mass(0.5).at([0.0, 0.0, 0.1005])).unwrap();
    let target = DVec3::new(1.3, -0.7, 0.0);
    let call = Callback::new("jump", jump, vec![bottle], vec![0.0, target.x, target.y]);
    world.add_controller(0.0, 0.02, call).unwrap();
    let mut stepper = stepper();
    let mut landed = None;
    let mut total = sim_world::StepReport::default();
    for _ in 0..400 {
        let (before, center, velocity) =
            (world.time(), world[bottle].center(), world[bottle].velocity().linear);
        let report = stepper.advance(&mut world, 0.004).unwrap();
        total = total.then(&report);
        assert!(smallest_separation(&world) > -1e-10);
        let hit = world.events().iter().find(|e| matches!(e.kind, EventKind::Collision(_)) && e.time > 0.7);
        if let (None, Some(hit)) = (landed, hit) {
            // Nothing touches it on the way, so that it is above this place when it lands.
            landed = Some(center + velocity * (hit.time - before));
        }
    }
    let off = (landed.unwrap() - target).truncate().length();
    assert!(off < 1e-3, "lands {off} m from the target");
    let e = &total.energy;
    assert!(e.outside > 1.0 && e.remainder().abs() < 1e-9 * e.outside, "{e:?}");
}

// proves: MIR-79
#[test]
fn one_function_drives_many_clones_each_with_its_own_state() {
    // A state machine: wait for its number of calls, run until x = 1, then stop.
    fn runner(world: &mut World, bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
        let x = world.body(bodies[0])?.center().x;
        let speed = match memory[0] as u32 {
            0 if memory[1] > 0.0 => {
                memory[1] -= 1.0;
                return Ok(());
            }
            0 => 0.5,
            1 if x >= 1.0 - 1e-9 => 0.0,
            _ => return Ok(()),
        };
        memory[0] += 1.0;
        world.set_velocity(bodies[0], Motion::new(DVec3::ZERO, DVec3::X * speed))
    }
    let mut world = World::new(DVec3::ZERO).unwrap();
    let mut clones = Vec::new();
    for k in 0..20 {
        let id = world.add(ball(0.1).at([0.0, f64::from(k), 0.0])).unwrap();
        let period = 0.01 + 0.001 * f64::from(k % 5);
        let call = Callback::new("runner", runner, vec![id], vec![0.0, f64::from(k)]);
        clones.push((id, period, world.add_controller(0.0, period, call).unwrap(), k));
    }
    stepper().advance(&mut world, 4.0).unwrap();
    for (id, period, controller, k) in clones {
        // Starts at call k, and stops at the first call at which x ≥ 1.
        let calls = (2.0 / period - 1e-9).ceil();
        let x = world[id].center().x;
        assert!((x - 0.5 * period * calls).abs() < 1e-9, "clone {k}: {x}");
        assert_eq!(world[id].velocity().linear, DVec3::ZERO);
        assert_eq!(world.controller(controller).unwrap().kind(), "runner");
    }
}

// proves: MIR-80, DYN-40
#[test]
fn springs_are_installed_and_controllers_made_set_switched_and_removed() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let id = world.add(ball(0.1).mass(1.0)).unwrap();
    let engine = motor(&mut world, id);
    let spring = |k: f64, c: f64| ForceGenerator::Spring {
        a: Anchor::World(DVec3::new(-1.0, 0.0, 0.0)),
        b: Anchor::Body(id, DVec3::ZERO),
        stiffness: k,
        damping: c,
        rest_length: 1.0,
    };
    let installed = world.add_force(spring(50.0, 20.0)).unwrap();
    let pid = Pid::new(id, engine, Quantity::Position(DVec3::X), 1e-2).gains(50.0, 0.0, 0.0).toward(1.0);
    let controller = world.add_controller(0.0, 1e-2, pid).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 20.0).unwrap();
    assert!(
        (world[id].center().x - 0.5).abs() < 1e-6,
        "between spring and controller: {}",
        world[id].center()
    );
    // Another target, another spring.
    world.set_controller(controller, "target", 2.0).unwrap();
    world.set_force(installed, spring(150.0, 20.0)).unwrap();
    stepper.advance(&mut world, 20.0).unwrap();
    assert!((world[id].center().x - 0.5).abs() < 1e-6, "{}", world[id].center());
    // Switched off it applies nothing.
    world.switch_controller(controller, false).unwrap();
    assert_eq!((held(&world, engine), world.is_enabled(controller)), (DVec3::ZERO, false));
    stepper.advance(&mut world, 20.0).unwrap();
    assert!(world[id].center().x.abs() < 1e-6 && calls(&world, controller).is_empty());
    // On again: at a multiple of its period, from the last setting.
    stepper.advance(&mut world, 0.0123).unwrap();
    world.switch_controller(controller, true).unwrap();
    stepper.advance(&mut world, 20.0).unwrap();
    let first = f64::from_bits(calls(&world, controller)[0]);
    assert!(((first / 1e-2).round() * 1e-2 - first).abs() < 1e-12 && first > 60.0123);
    assert!((world[id].center().x - 0.5).abs() < 1e-6);
    // What is not there is named.
    let error = world.set_controller(controller, "colour", 1.0).unwrap_err();
    assert_eq!(error.to_string(), "controller 0 has no \"colour\"");
    world.remove_controller(controller).unwrap();
    assert_eq!(held(&world, engine), DVec3::ZERO);
    assert!(matches!(world.remove_controller(controller), Err(WorldError::UnknownController { .. })));
    assert!(world.add_controller(0.0, 0.0, OpenLoop::new(id, engine, Vec::new(), false)).is_err());
    world.remove_force(installed).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    // A controller whose body is gone is an error that names it.
    let pid = Pid::new(id, engine, Quantity::Position(DVec3::X), 1e-2).gains(1.0, 0.0, 0.0);
    let controller = world.add_controller(world.time(), 0.5, pid).unwrap();
    world.remove(id).unwrap();
    let error = stepper.advance(&mut world, 1.0).unwrap_err();
    assert!(matches!(error, StepError::Controller { controller: c, .. } if c == controller), "{error}");
    world.remove_controller(controller).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
}

#[test]
fn a_cascade_of_two_controllers_moves_a_body_to_its_place() {
    /// The outer loop: its actuator is the inner controller.
    #[derive(Debug, Clone)]
    struct Outer {
        body: BodyId,
        inner: ControllerId,
        target: f64,
    }
    impl Controller for Outer {
        fn kind(&self) -> &'static str {
            "outer"
        }
        fn update(&mut self, world: &mut World) -> Result<(), WorldError> {
            let speed = 2.0 * (self.target - world.body(self.body)?.center().x);
            world.set_controller(self.inner, "target", speed.clamp(-1.0, 1.0))
        }
        fn save(&self) -> Vec<u8> {
            Vec::new()
        }
        fn load(&mut self, _bytes: &[u8]) -> Result<(), SnapshotError> {
            Ok(())
        }
        fn boxed_clone(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }
    }
    let mut world = World::new(DVec3::ZERO).unwrap();
    let body = world.add(ball(0.1).mass(3.0)).unwrap();
    let engine = motor(&mut world, body);
    let pid = Pid::new(body, engine, Quantity::Velocity(DVec3::X), 1e-3).gains(60.0, 20.0, 0.0);
    let inner = world.add_controller(0.0, 1e-3, pid).unwrap();
    world.add_controller(0.0, 1e-2, Outer { body, inner, target: 4.0 }).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 2.0).unwrap();
    assert!(
        (world[body].velocity().linear.x - 1.0).abs() < 0.02,
        "on its way at the limit of the outer loop"
    );
    stepper.advance(&mut world, 20.0).unwrap();
    assert!((world[body].center().x - 4.0).abs() < 1e-4, "{}", world[body].center());
}

#[test]
fn an_open_loop_program_runs_whatever_the_body_does() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let body = world.add(ball(0.5).mass(2.0)).unwrap();
    let engine = motor(&mut world, body);
    let program =
        vec![(DVec3::X * 2.0, DVec3::ZERO), (DVec3::ZERO, DVec3::Z), (DVec3::X * -2.0, DVec3::ZERO)];
    world.add_controller(0.0, 0.5, OpenLoop::new(body, engine, program, true)).unwrap();
    stepper().advance(&mut world, 1.5).unwrap();
    // Faster for half a second, turning for half a second, back to rest for half a second.
    assert!(world[body].velocity().linear.length() < 1e-12);
    assert!((world[body].center().x - 0.5).abs() < 1e-11, "{}", world[body].center());
    let inertia = 0.4 * 2.0 * 0.25;
    assert!((world[body].velocity().angular - DVec3::Z * (0.5 / inertia)).length() < 1e-10);
}

// proves: FON-86
#[test]
fn a_timer_that_limits_the_slip_of_a_driven_wheel_keeps_it_bounded() {
    // Ten times a second the torque is set: less if the wheel slips, more if it does not.
    fn limiter(world: &mut World, bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
        let wheel = world.body(bodies[0])?;
        let slip = wheel.velocity().angular.y * 0.3 - wheel.velocity().linear.x;
        memory[0] = if slip > 0.2 { 0.0 } else { (memory[0] + 1.0).min(memory[1]) };
        let engine = world
            .forces()
            .next()
            .map(|(id, _)| id)
            .ok_or(WorldError::UnknownForce { id: ForceId::new(0, 0) })?;
        let torque = DVec3::Y * memory[0];
        world.set_force(engine, ForceGenerator::Constant { body: bodies[0], force: DVec3::ZERO, torque })
    }
    let run = |limited: bool| {
        let mut world = earth();
        let wheel = world.add(ball(0.3).mass(5.0).at([0.0, 0.0, 0.3005]).friction(0.5)).unwrap();
        let engine = motor(&mut world, wheel);
        let strong = DVec3::Y * 40.0;
        let mut controller = None;
        if limited {
            let call = Callback::new("limiter", limiter, vec![wheel], vec![0.0, 40.0]);
            controller = Some(world.add_controller(0.0, 0.1, call).unwrap());
        } else {
            let force = ForceGenerator::Constant { body: wheel, force: DVec3::ZERO, torque: strong };
            world.set_force(engine, force).unwrap();
        }
        let mut stepper = stepper();
        let (mut worst, mut count) = (0.0_f64, 0_u32);
        for _ in 0..300 {
            stepper.advance(&mut world, 0.01).unwrap();
            let v = world[wheel].velocity();
            worst = worst.max(v.angular.y * 0.3 - v.linear.x);
            for bits in controller.map(|c| calls(&world, c)).unwrap_or_default() {
                assert_eq!(bits, (0.1 * f64::from(count)).to_bits());
                count += 1;
            }
        }
        (worst, world[wheel].velocity().linear.x, count)
    };
    let (slip, speed, count) = run(true);
    let (wild, _, _) = run(false);
    // In one period of 0.1 s the strongest torque makes at most this much slip.
    assert!(count == 30 && slip < 3.0, "{count} calls, slip {slip}");
    assert!(wild > 10.0 * slip, "{wild} without the limiter, {slip} with it");
    assert!(speed > 2.0, "{speed}");
}

// proves: FON-87
#[test]
fn recording_and_measurement_happen_at_exact_multiples_of_their_periods() {
    fn record(world: &mut World, bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
        memory.extend([world.time(), world.body(bodies[0])?.center().z]);
        Ok(())
    }
    fn measure(world: &mut World, _bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
        memory.extend([world.time(), world.kinetic_energy() + world.potential_energy()]);
        Ok(())
    }
    let mut world = World::new([0.0, 0.0, -G]).unwrap();
    world.listing = Listing::Nothing;
    let id = world.add(ball(0.1).mass(1.0).at([0.0, 0.0, 7.0]).moving([1.0, 0.0, 3.0])).unwrap();
    let film = world.add_controller(0.0, 0.04, Callback::new("film", record, vec![id], Vec::new())).unwrap();
    let gauge = world.add_controller(0.01, 0.1, Callback::new("gauge", measure, vec![], Vec::new())).unwrap();
    let mut stepper = stepper();
    for _ in 0..7 {
        stepper.advance(&mut world, 0.3).unwrap();
    }
    let memory = |id: ControllerId| -> Vec<f64> {
        let text = format!("{:?}", world.controller(id).unwrap());
        let list =
            text.split("memory: [").nth(1).unwrap().trim_end_matches(" }").trim_end_matches(']').to_owned();
        list.split(", ").map(|x| x.parse().unwrap()).collect()
    };
    let film = memory(film);
    assert_eq!(film.len(), 2 * 53);
    for (k, frame) in film.chunks(2).enumerate() {
        let t = 0.04 * k as f64;
        assert_eq!(frame[0].to_bits(), t.to_bits());
        assert!((frame[1] - (7.0 + 3.0 * t - 0.5 * G * t * t)).abs() < 1e-12);
    }
    for (k, sample) in memory(gauge).chunks(2).enumerate() {
        assert_eq!(sample[0].to_bits(), (0.01 + 0.1 * k as f64).to_bits());
        assert!((sample[1] - (5.0 + 7.0 * G)).abs() < 1e-10);
    }
}

/// A world with everything that forces and controllers do.
fn busy() -> World {
    let mut world = earth();
    let a = world.add(ball(0.1).mass(1.0).at([0.0, 0.0, 0.8]).restitution(0.5)).unwrap();
    let b = world.add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).mass(1.0).at([0.5, 0.0, 0.8])).unwrap();
    let c = world.add(ball(0.1).mass(2.0).at([-0.6, 0.0, 0.4])).unwrap();
    let anchors = (Anchor::Body(a, DVec3::ZERO), Anchor::Body(b, DVec3::new(0.1, 0.1, 0.0)));
    world
        .add_force(ForceGenerator::Spring {
            a: anchors.0,
            b: anchors.1,
            stiffness: 120.0,
            damping: 0.3,
            rest_length: 0.5,
        })
        .unwrap();
    world.add_force(ForceGenerator::Drag { body: a, linear: 0.1, angular: 0.001 }).unwrap();
    let engine = motor(&mut world, c);
    let pid = Pid::new(c, engine, Quantity::Position(DVec3::Z), 7e-3).gains(150.0, 40.0, 10.0).toward(0.6);
    world.add_controller(0.0, 7e-3, pid).unwrap();
    let engine = motor(&mut world, b);
    let program = vec![(DVec3::Y, DVec3::X * 0.1), (-DVec3::Y, DVec3::Z * 0.1)];
    world.add_controller(0.013, 0.11, OpenLoop::new(b, engine, program, true)).unwrap();
    world.add_controller(0.0, 0.05, Callback::new("nudge", nudge, vec![a], vec![0.0])).unwrap();
    world.add_timer(0.0, 0.031).unwrap();
    world
}

fn nudge(world: &mut World, bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
    memory[0] += 1.0;
    let push = DVec3::new(0.02 * ops::sin(memory[0]), 0.01, 0.0);
    let at = world.body(bodies[0])?.center();
    world.apply_impulse(bodies[0], at, push)
}

#[cfg(feature = "serde")]
#[test]
fn controllers_and_forces_are_restored_to_the_bit() {
    use sim_world::Registry;
    let registry = Registry::new().controller(Callback::new("nudge", nudge, Vec::new(), Vec::new()));
    for at in [0.0, 0.0137, 0.4, 0.77] {
        let (mut straight, mut first) = (busy(), stepper());
        first.advance(&mut straight, at).unwrap();
        let (bytes, tables) = (straight.snapshot(&registry).unwrap(), first.save(&straight).unwrap());
        let mut restored = World::restore(&bytes, &registry).unwrap();
        assert_eq!(restored.digest(), straight.digest(), "after {at}");
        assert_eq!(restored.snapshot(&registry).unwrap(), bytes, "saving what was restored");
        let mut second = stepper();
        second.load(&restored, &tables).unwrap();
        for step in 0..6 {
            assert_eq!(
                first.advance(&mut straight, 0.17),
                second.advance(&mut restored, 0.17),
                "step {step}"
            );
            assert_eq!(straight.digest(), restored.digest(), "step {step} after {at}");
            assert_eq!(straight.events(), restored.events(), "step {step} after {at}");
        }
    }
    let bytes = busy().snapshot(&registry).unwrap();
    let error = World::restore(&bytes, &Registry::new()).unwrap_err();
    assert_eq!(error.to_string(), "controller of kind \"nudge\" is not in the registry");
}

#[test]
fn runs_under_control_repeat_to_the_bit_however_they_are_cut() {
    let run = |pieces: u32| {
        let (mut world, mut stepper) = (busy(), stepper());
        for _ in 0..pieces {
            stepper.advance(&mut world, 1.0 / f64::from(pieces)).unwrap();
        }
        world.digest()
    };
    let straight = run(1);
    assert_eq!(run(64), straight);
    // A copy goes on by itself.
    let mut world = busy();
    let mut twin = world.clone();
    stepper().advance(&mut world, 1.0).unwrap();
    assert_ne!(twin.digest(), straight);
    stepper().advance(&mut twin, 1.0).unwrap();
    assert_eq!((world.digest(), twin.digest()), (straight, straight));
}
