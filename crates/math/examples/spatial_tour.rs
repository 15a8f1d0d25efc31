//! A body seen from two frames: one power, one energy, one acceleration.
//!
//! `cargo run -p sim-math --example spatial_tour`
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use sim_math::{
    MathError, Pose, Sym3,
    glam::{DQuat, DVec3},
    rotation,
    small::symmetric_eigen3,
    spatial::{Force, Motion, RigidInertia, SpatialTransform},
};

fn main() -> Result<(), MathError> {
    // A solid box of 2 kg, 0.2 x 0.4 x 0.6 m, given at one of its corners.
    let (mass, sides) = (2.0, DVec3::new(0.2, 0.4, 0.6));
    let s = sides * sides * (mass / 12.0);
    let central = Sym3::from_diagonal(DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y));
    let at_corner = RigidInertia::new(mass, sides * 0.5, central)?;

    // The corner frame b somewhere in the world a.
    let pose = Pose::new(DVec3::new(1.0, 2.0, 0.5), DQuat::from_axis_angle(DVec3::ONE.normalize(), 0.8));
    let world_from_corner = SpatialTransform::from_pose(&pose);
    let in_world = world_from_corner.rigid_inertia(&at_corner);

    let velocity = Motion::new(DVec3::new(0.3, -1.0, 2.0), DVec3::new(0.5, 0.0, -0.2));
    let force = Force::at_offset(sides, DVec3::new(0.0, 4.0, 1.0));
    let (v_world, f_world) = (world_from_corner.motion(velocity), world_from_corner.force(force));

    println!("power            {:.15} W at the corner", force.dot(velocity));
    println!("                 {:.15} W in the world", f_world.dot(v_world));
    println!("kinetic energy   {:.15} J at the corner", at_corner.kinetic_energy(velocity));
    println!("                 {:.15} J in the world", in_world.kinetic_energy(v_world));

    // f = I a + v ×* I v holds in both frames; solve it in each and compare.
    let here = world_from_corner.motion(at_corner.solve(force - at_corner.bias_force(velocity))?);
    let there = in_world.solve(f_world - in_world.bias_force(v_world))?;
    println!("acceleration     {:.12}", here.angular);
    println!("differs by       {:e}", (here.angular - there.angular).length());

    // The principal moments do not care where the body is seen from.
    println!("principal        {:.12}", symmetric_eigen3(in_world.inertia())?.values);

    // A rotation and back through its logarithm, and a contact frame.
    let phi = rotation::quat_log(pose.rotation);
    println!("rotation vector  {phi:.12}, back to {:.12}", rotation::quat_exp(phi));
    println!("contact frame    {:.12}", rotation::frame_from_normal(DVec3::new(0.6, 0.0, 0.8))?);
    Ok(())
}
