//! A broad phase by itself: which of three boxes overlap, and what changes when one moves.
#![allow(clippy::print_stdout, reason = "an example prints")]

use collision_broadphase::{
    DynamicTree,
    math::{Aabb, glam::DVec3},
    traits::{BroadPhase, PairChanges, ProxyId, ProxyKind},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tree = DynamicTree::default();
    let cube = |x: f64| Aabb::from_center_half_extents(DVec3::X * x, DVec3::splat(0.5));
    for (id, x) in [(0, 0.0), (1, 0.8), (2, 3.0)] {
        tree.insert(ProxyId(id), ProxyKind::Moving, &cube(x))?;
    }
    let mut changes = PairChanges::default();
    tree.pair_changes(&mut changes);
    println!("overlap at first: {:?}", changes.begun);

    tree.update(&[ProxyId(1)], &[cube(2.2)])?;
    tree.pair_changes(&mut changes);
    println!("begun: {:?}, ended: {:?}", changes.begun, changes.ended);
    Ok(())
}
