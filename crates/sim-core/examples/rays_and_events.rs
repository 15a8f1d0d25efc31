//! A ball drops into a row of posts: what it hits, and what a ray sees.
#![allow(clippy::print_stdout, reason = "an example prints")]

use sim_core::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    world.add(Body::fixed().shape(HalfSpace::up()))?;
    for k in 0..3 {
        let post = Body::fixed().shape(Cylinder::new(0.1, 0.5)?);
        world.add(post.at([f64::from(k), 0.0, 0.5]))?;
    }
    let ball = world.add(Body::free().shape(Sphere::new(0.2)?).at([0.5, 0.0, 2.0]).restitution(0.6))?;
    let mut sim = Simulation::new(world);
    for _ in 0..20 {
        sim.advance(0.1)?;
        for event in sim.world().events() {
            if let EventKind::ContactBegan { .. } = event.kind {
                println!("t = {:.3} s: {:?}", event.time, event.kind);
            }
        }
    }
    let ray = Ray { origin: DVec3::new(-5.0, 0.0, 0.8), direction: DVec3::X, t_max: 100.0 };
    for hit in sim.cast_ray_all(&ray, &QueryFilter::default())? {
        println!("the ray meets {} at {}", hit.body, hit.point);
    }
    let above = DVec3::new(0.5, 0.0, 3.0);
    let nearest = sim.closest_to_point(above, 10.0, &QueryFilter::default())?;
    println!("nearest to {above}: {:?} (the ball is {ball})", nearest.map(|n| (n.body, n.distance)));
    Ok(())
}
