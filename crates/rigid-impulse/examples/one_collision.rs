//! One collision, under every law: a box corner hits the ground while it slides and spins.
//!
//! ```sh
//! cargo run -p rigid-impulse --example one_collision
//! ```

use rigid_impulse::{
    Body, ContactFrame, PrincipalMass, collide_pair,
    impact::{Algebraic, Frictionless, Integrated, Restitution},
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
};
use sim_traits::ImpactLaw;
use std::{error::Error, io::Write};

fn main() -> Result<(), Box<dyn Error>> {
    let half = DVec3::new(0.1, 0.15, 0.05);
    let tilt = DQuat::from_axis_angle(DVec3::new(1.0, 0.4, 0.0).normalize(), 0.6);
    // Put the lowest corner on the ground.
    let corners = (0..8).map(|n| {
        let sign = |bit: u32| if n & bit == 0 { -1.0 } else { 1.0 };
        tilt * (half * DVec3::new(sign(1), sign(2), sign(4)))
    });
    let lowest = corners.min_by(|p, q| p.z.total_cmp(&q.z)).unwrap_or_default();
    let pose = Pose::new(DVec3::new(0.0, 0.0, -lowest.z), tilt);
    let contact = ContactFrame::new(pose.translation + lowest, DVec3::Z)?;

    let laws: [(&str, &dyn ImpactLaw); 5] = [
        ("integrated, Stronge", &Integrated::default()),
        ("integrated, Newton", &Integrated::with(Restitution::Newton)),
        ("integrated, Poisson", &Integrated::with(Restitution::Poisson)),
        ("algebraic", &Algebraic::default()),
        ("frictionless", &Frictionless),
    ];
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<20}  {:>30}  {:>10}", "law", "impulse, N s", "energy, J")?;
    for (name, law) in laws {
        let mut body = Body::free(PrincipalMass::cuboid(1.2, half)?, pose)?;
        body.state.velocity = Motion::new(DVec3::new(4.0, -2.0, 6.0), DVec3::new(1.0, 0.5, -2.0));
        let mut ground = Body::fixed(Pose::IDENTITY)?;
        let before = body.kinetic_energy();
        let p = collide_pair(&mut body, &mut ground, &contact, law, 0.35, 0.6)?;
        let change = body.kinetic_energy() - before;
        writeln!(out, "{name:<20}  [{:>8.4}, {:>8.4}, {:>8.4}]  {change:>10.5}", p.x, p.y, p.z)?;
    }
    Ok(())
}
