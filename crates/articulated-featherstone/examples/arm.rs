//! A pendulum and an arm from scratch: mass matrix, bias forces, accelerations, and what happens to a bad description.
#![allow(clippy::print_stdout, reason = "an example talks")]

use articulated_featherstone::{
    Joint, Link, ModelBuilder, State, TreeMotion, Workspace, aba, bias_forces, compute_poses, crba,
};
use sim_math::{
    Pose, Sym3,
    glam::DVec3,
    integrate::{Integrator, OdeScratch, Rk4, SecondOrder},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gravity = DVec3::new(0.0, 0.0, -9.81);

    // A pendulum of 1 m, let go at 90 degrees, for one quarter of its period.
    let pendulum = ModelBuilder::new()
        .gravity(gravity)
        .link(Link::new("bob", Joint::Revolute { axis: DVec3::Y }).mass(1.0, DVec3::X, Sym3::ZERO))
        .build()?;
    let mut y = vec![0.0, 0.0];
    let mut motion = SecondOrder::new(TreeMotion::new(&pendulum, &State::new(&pendulum)));
    let mut scratch = OdeScratch::new(&Rk4, 2);
    for i in 0..592 {
        Rk4.advance(&mut motion, f64::from(i) * 1e-3, 1e-3, &mut y, &mut scratch)?;
    }
    println!(
        "pendulum after 0.592 s: angle {:.6} rad (lowest point 1.570796), speed {:.6} rad/s",
        y[0], y[1]
    );

    // An arm of three links: a turntable, a shoulder, an elbow.
    let box_inertia = |m: f64, l: f64| Sym3::from_diagonal(DVec3::new(l * l, l * l, 0.01) * (m / 12.0));
    let up = |z: f64| Pose::from_translation(DVec3::Z * z);
    let arm = ModelBuilder::new()
        .gravity(gravity)
        .link(Link::new("turntable", Joint::Revolute { axis: DVec3::Z }).mass(
            4.0,
            DVec3::Z * 0.1,
            box_inertia(4.0, 0.2),
        ))
        .link(Link::new("upper arm", Joint::Revolute { axis: DVec3::Y }).on("turntable").at(up(0.2)).mass(
            3.0,
            DVec3::Z * 0.2,
            box_inertia(3.0, 0.4),
        ))
        .link(Link::new("forearm", Joint::Revolute { axis: DVec3::Y }).on("upper arm").at(up(0.4)).mass(
            2.0,
            DVec3::Z * 0.15,
            box_inertia(2.0, 0.3),
        ))
        .build()?;
    let mut state = State::new(&arm);
    state.q = vec![0.3, 0.7, -0.4];
    state.v = vec![0.5, -1.0, 0.8];
    let mut ws = Workspace::new(&arm);
    let mut m = vec![0.0; 9];
    crba(&arm, &state.q, &mut ws, &mut m)?;
    println!("M =");
    for row in m.chunks(3) {
        println!("    {:9.5} {:9.5} {:9.5}", row[0], row[1], row[2]);
    }
    bias_forces(&arm, &state, &[], &mut ws)?;
    println!("bias forces {:?}", ws.tau());
    aba(&arm, &state, &[0.0, 5.0, 1.0], &[], &mut ws)?;
    println!("accelerations {:?}", ws.qdd());
    compute_poses(&arm, &state, &mut ws)?;
    println!("elbow at {}", ws.world_from_links()[2].translation);

    // What a bad description says.
    let cyclic = ModelBuilder::new()
        .link(Link::new("a", Joint::Fixed).on("c"))
        .link(Link::new("b", Joint::Fixed).on("a"))
        .link(Link::new("c", Joint::Fixed).on("b"))
        .build();
    println!("{}", cyclic.map_or_else(|e| e.to_string(), |_| String::from("no error?")));
    Ok(())
}
