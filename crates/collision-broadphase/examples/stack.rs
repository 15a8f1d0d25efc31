//! A row of boxes falls on a floor; the broad phase says which pairs begin and end.
//!
//! `cargo run -p collision-broadphase --example stack`
#![allow(clippy::print_stdout, reason = "an example")]

use collision_broadphase::ColumnSweep;
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{BroadPhase, PairChanges, ProxyId, ProxyKind, Ray};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut broad = ColumnSweep::default();
    let floor = Aabb { min: DVec3::NEG_INFINITY, max: DVec3::new(f64::INFINITY, f64::INFINITY, 0.0) };
    broad.insert(ProxyId(0), ProxyKind::Fixed, &floor)?;
    let cube = |n: u32, z: f64| {
        Aabb::from_center_half_extents(
            DVec3::new(f64::from(n) * 0.8, 0.0, z + f64::from(n)),
            DVec3::splat(0.5),
        )
    };
    let ids: Vec<ProxyId> = (1..6).map(ProxyId).collect();
    for &id in &ids {
        broad.insert(id, ProxyKind::Moving, &cube(id.0, 3.0))?;
    }

    let mut changes = PairChanges::default();
    for step in 0..60 {
        let z = 3.0 - 0.08 * f64::from(step);
        let boxes: Vec<Aabb> = ids.iter().map(|id| cube(id.0, z.max(0.5 - f64::from(id.0)))).collect();
        broad.update(&ids, &boxes)?;
        broad.pair_changes(&mut changes);
        for pair in &changes.begun {
            println!("step {step:2}: {pair} touch");
        }
        for pair in &changes.ended {
            println!("step {step:2}: {pair} part");
        }
    }

    let ray = Ray { origin: DVec3::new(-5.0, 0.0, 0.5), direction: DVec3::X, t_max: f64::INFINITY };
    broad.visit_ray(&ray, &mut |id| {
        println!("the ray meets {id}");
        f64::INFINITY
    });
    println!("{:?}", broad.report());
    Ok(())
}
