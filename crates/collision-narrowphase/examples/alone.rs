//! A narrow phase by itself: how far apart a box and a ball are, and where they touch.
#![allow(clippy::print_stdout, reason = "an example prints")]

use collision_narrowphase::{
    default_chain,
    math::{Pose, glam::DVec3},
    traits::{Cuboid, NarrowPhase, PairCache, Shape, Sphere},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let narrow = default_chain();
    let (block, ball): (Shape, Shape) = (Cuboid::new(DVec3::ONE)?.into(), Sphere::new(0.5)?.into());
    let mut cache = PairCache::default();
    for x in [3.0, 2.0, 1.4] {
        let block_from_ball = Pose::from_translation(DVec3::new(x, 0.2, 0.0));
        let found = narrow.separation(&block, &ball, &block_from_ball, &mut cache)?;
        println!("distance {:.3} m, closest point of the box {}", found.distance, found.point_a);
        let mut manifolds = Vec::new();
        narrow.manifolds(&block, &ball, &block_from_ball, 0.01, &mut cache, &mut manifolds)?;
        for manifold in &manifolds {
            println!("    contact along {} at {} points", manifold.normal, manifold.points().len());
        }
    }
    Ok(())
}
