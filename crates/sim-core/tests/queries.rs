//! Questions to a simulation: the same answers as an index made by hand, and as looking at small steps; never about a state of before.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use sim_core::{
    broadphase::BruteForce,
    math::testkit::SplitMix64,
    narrowphase::default_chain,
    parts::{STEPPERS, stepper},
    prelude::*,
};

/// Balls, boxes and capsules in the air above a floor.
fn cloud(seed: u64) -> World {
    let mut random = SplitMix64(seed);
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    for k in 0..24 {
        let shape: Shape = match k % 3 {
            0 => Sphere::new(random.range(0.1, 0.4)).unwrap().into(),
            1 => Cuboid::new(DVec3::new(0.2, random.range(0.1, 0.5), 0.3)).unwrap().into(),
            _ => Capsule::new(0.15, random.range(0.1, 0.5)).unwrap().into(),
        };
        let cell = DVec3::new(f64::from(k % 4), f64::from(k / 4 % 3), 1.0 + f64::from(k / 12)) * 1.6;
        world.add(Body::free().shape(shape).at(cell).turned(random.unit_quat())).unwrap();
    }
    world
}

#[test]
fn answers_are_those_of_an_index_made_by_hand_at_every_time() {
    let all = QueryFilter::default();
    for name in STEPPERS {
        let mut sim = Simulation::builder(cloud(1)).stepper(stepper(name).unwrap()).build().unwrap();
        let mut random = SplitMix64(7);
        let mut hits = 0;
        for _ in 0..20 {
            let mut index = QueryIndex::new(BruteForce::default());
            index.refresh(sim.world()).unwrap();
            for _ in 0..10 {
                let origin = DVec3::new(2.4, 1.6, 2.4) + random.vec3(4.0);
                let ray = Ray { origin, direction: random.vec3(1.0), t_max: 20.0 };
                let hit = sim.cast_ray(&ray, &all).unwrap();
                hits += u32::from(hit.is_some());
                assert_eq!(hit, index.ray_first(sim.world(), &ray, &all).unwrap());
                let mut on_it = Vec::new();
                index.ray_all(sim.world(), &ray, &all, &mut on_it).unwrap();
                assert_eq!(sim.cast_ray_all(&ray, &all).unwrap(), on_it);
                let (probe, pose) = (Sphere::new(0.5).unwrap(), Pose::from_translation(origin));
                let mut over = Vec::new();
                index.overlaps(sim.world(), &default_chain(), &probe.into(), &pose, &all, &mut over).unwrap();
                assert_eq!(sim.overlaps(probe, &pose, &all).unwrap(), over);
                let near = index.closest(sim.world(), &default_chain(), &probe.into(), &pose, 9.0, &all);
                assert_eq!(sim.closest(probe, &pose, 9.0, &all).unwrap(), near.unwrap());
            }
            sim.advance(0.05).unwrap();
        }
        assert!(hits > 20, "{name}: {hits}");
    }
}

#[test]
fn a_cast_shape_stops_where_small_steps_say_it_does() {
    let all = QueryFilter::default();
    let (mut met, mut free) = (0, 0);
    for seed in 1..6 {
        let sim = Simulation::new(cloud(seed));
        let mut random = SplitMix64(100 + seed);
        for _ in 0..12 {
            let shape: Shape = Cuboid::new(DVec3::new(0.1, 0.2, 0.15)).unwrap().into();
            let start = DVec3::new(2.4, 1.6, 2.6) + random.vec3(2.5);
            let (pose, way) = (Pose::new(start, random.unit_quat()), random.vec3(3.0));
            if !sim.overlaps(shape.clone(), &pose, &all).unwrap().is_empty() {
                let hit = sim.cast_shape(shape, &pose, way, &all).unwrap();
                assert_eq!(hit.map(|h| h.t), Some(0.0));
                continue;
            }
            let at = |t: f64| Pose { translation: start + way * t, ..pose };
            let touches = |t: f64| !sim.overlaps(shape.clone(), &at(t), &all).unwrap().is_empty();
            let hit = sim.cast_shape(shape.clone(), &pose, way, &all).unwrap();
            let end = hit.map_or(1.0, |h| h.t);
            for k in 0..200 {
                let t = f64::from(k) / 200.0;
                assert!(t >= end || !touches(t), "seed {seed}: a touch at {t}, before {end}");
            }
            let Some(hit) = hit else {
                free += 1;
                continue;
            };
            met += 1;
            // It stops a millionth of its size before the touch, so a little further there is one, unless it only grazes.
            let gap = sim.closest(shape.clone(), &at(hit.t), 1.0, &all).unwrap().unwrap();
            assert!(gap.distance <= 1e-6 && gap.collider == hit.collider, "seed {seed}: {gap:?}, {hit:?}");
            assert!(hit.normal.dot(way) < 1e-9 * way.length(), "{hit:?}");
        }
    }
    assert!(met > 10 && free > 5, "{met} {free}");
}

#[test]
fn closed_forms_of_casts() {
    let mut world = World::new([0.0; 3]).unwrap();
    let floor = world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    let ball = world.add(Body::free().shape(Sphere::new(0.5).unwrap()).at([4.0, 0.6, 1.0])).unwrap();
    let sim = Simulation::new(world);
    let all = QueryFilter::default();
    let (small, from) = (Sphere::new(0.5).unwrap(), Pose::from_translation(DVec3::new(0.0, 0.0, 1.0)));
    // Centres are 1 m apart where x = 4 − 0.8.
    let hit = sim.cast_shape(small, &from, [8.0, 0.0, 0.0], &all).unwrap().unwrap();
    assert!(hit.body == ball && (hit.t - 0.4).abs() < 1e-6, "{hit:?}");
    assert!(hit.normal.distance(DVec3::new(-0.8, -0.6, 0.0)) < 1e-5, "{hit:?}");
    let down = sim.cast_shape(small, &from, [0.0, 0.0, -2.0], &all).unwrap().unwrap();
    assert!(down.body == floor && (down.t - 0.25).abs() < 1e-6, "{down:?}");
    assert_eq!(sim.cast_shape(small, &from, [-3.0, 0.0, 0.0], &all).unwrap(), None);
    let filter = QueryFilter { except: Some(ball), ..all };
    assert_eq!(sim.cast_shape(small, &from, [8.0, 0.0, 0.0], &filter).unwrap(), None);
    // No way at all: nothing is met unless it touches already.
    assert_eq!(sim.cast_shape(small, &from, [0.0; 3], &all).unwrap(), None);
    let error = sim.cast_shape(small, &from, [f64::NAN, 0.0, 0.0], &all).unwrap_err();
    assert_eq!(error.to_string(), "way is not finite: [NaN, 0, 0]");
}

#[test]
fn no_answer_is_about_a_state_of_before() {
    let all = QueryFilter::default();
    let mut sim = Simulation::new(cloud(2));
    let down = Ray { origin: DVec3::new(30.0, 0.0, 9.0), direction: DVec3::NEG_Z, t_max: 20.0 };
    assert_eq!(sim.cast_ray(&down, &all).unwrap().unwrap().t, 9.0);
    // A body is added, moved and removed at the same time.
    let ball = Body::free().shape(Sphere::new(1.0).unwrap()).at([30.0, 0.0, 5.0]);
    let id = sim.world_mut().add(ball).unwrap();
    assert_eq!(sim.cast_ray(&down, &all).unwrap().unwrap().body, id);
    sim.world_mut().remove(id).unwrap();
    assert_eq!(sim.cast_ray(&down, &all).unwrap().unwrap().t, 9.0);
    // Another world altogether, with the same time and number of changes.
    let lifted = |z: f64| {
        let mut world = World::new([0.0; 3]).unwrap();
        world.add(Body::fixed().shape(Sphere::new(1.0).unwrap()).at([30.0, 0.0, z])).unwrap();
        world
    };
    let mut sim = Simulation::new(lifted(2.0));
    assert_eq!(sim.cast_ray(&down, &all).unwrap().unwrap().t, 6.0);
    *sim.world_mut() = lifted(3.0);
    assert_eq!(sim.cast_ray(&down, &all).unwrap().unwrap().t, 5.0);
    // An advance by no time may open overlaps.
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    world.add(Body::free().shape(Sphere::new(1.0).unwrap()).at([30.0, 0.0, 0.9])).unwrap();
    let mut sim = Simulation::new(world);
    let before = sim.cast_ray(&down, &all).unwrap().unwrap().t;
    sim.advance(0.0).unwrap();
    let z = sim.world().bodies().last().unwrap().1.position().z;
    let after = sim.cast_ray(&down, &all).unwrap().unwrap().t;
    assert!((after - (8.0 - z)).abs() < 1e-12, "{before} {after} {z}");
}
