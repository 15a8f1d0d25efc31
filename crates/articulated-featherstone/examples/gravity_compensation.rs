//! An arm that its motors hold against gravity: it stays where it is, and falls when they are off.
#![allow(clippy::print_stdout, reason = "an example prints")]

use articulated_featherstone::{
    Joint, Link, ModelBuilder, State, Workspace, aba, bias_forces,
    math::{Pose, Sym3, glam::DVec3},
    step_semi_implicit,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hinge = || Joint::Revolute { axis: DVec3::Y };
    let rod = Sym3::from_diagonal(DVec3::new(0.001, 0.03, 0.03));
    let middle = DVec3::X * 0.25;
    let elbow = Pose::from_translation(DVec3::X * 0.5);
    let arm = ModelBuilder::new()
        .gravity(DVec3::new(0.0, 0.0, -9.81))
        .link(Link::new("upper arm", hinge()).mass(2.0, middle, rod))
        .link(Link::new("forearm", hinge()).on("upper arm").at(elbow).mass(1.0, middle, rod))
        .build()?;
    for motors in [true, false] {
        let (mut state, mut ws) = (State::new(&arm), Workspace::new(&arm));
        state.q = vec![-0.5, 1.0];
        for _ in 0..1000 {
            bias_forces(&arm, &state, &[], &mut ws)?;
            let torques = if motors { ws.tau().to_vec() } else { vec![0.0; 2] };
            aba(&arm, &state, &torques, &[], &mut ws)?;
            step_semi_implicit(&arm, &mut state, &ws, 1e-3)?;
        }
        println!("motors {}: angles after a second {:?}", if motors { "on" } else { "off" }, state.q);
    }
    Ok(())
}
