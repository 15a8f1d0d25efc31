//! An asymmetric top turning freely about its middle axis: elliptic functions, and two conserved quantities.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{METHODS, Method, Setup},
};
use sim_core::prelude::{Body, World};
use sim_math::{
    Sym3,
    elliptic::complete_k,
    glam::{DQuat, DVec3},
    integrate::rotation::TorqueFreeBody,
    mass::MassProperties,
};

pub(super) const SCENE: Scene = Scene {
    name: "torque-free top",
    about: "Moments (1, 2, 3) kg m², started at (0.01, 1, 0.01) rad/s, for 1000 s: a million steps of \
            1 ms, or a world in 50 000 advances. Period of the angular velocity: 4 K(m)/λ from Euler's equations.",
    run,
};

const MOMENTS: DVec3 = DVec3::new(1.0, 2.0, 3.0);
const W0: DVec3 = DVec3::new(0.01, 1.0, 0.01);

fn run() -> Result<Vec<Row>, Failed> {
    let mut rows = rotation()?;
    for method in METHODS {
        rows.extend(under(method)?);
    }
    Ok(rows)
}

/// The same top as a body of a world.
fn under(method: &Method) -> Result<Vec<Row>, Failed> {
    let mut world = World::new(DVec3::ZERO)?;
    let properties = MassProperties::try_new(1.0, DVec3::ZERO, Sym3::from_diagonal(MOMENTS))?;
    let top = world.add(Body::free().mass_properties(properties).spinning(W0))?;
    let (l0, e0) = (world.angular_momentum(), world.kinetic_energy());
    let mut run = method.run(world, &Setup::PLAIN)?;
    let (mut momentum, mut energy) = (0.0_f64, 0.0_f64);
    let mut crossings = Crossings::default();
    for _ in 0..50_000 {
        run.advance(0.02)?;
        momentum = momentum.max((run.world.angular_momentum() - l0).length() / l0.length());
        energy = energy.max((run.world.kinetic_energy() / e0 - 1.0).abs());
        let body = &run.world[top];
        let omega = body.user_pose().inverse_transform_vector(body.velocity().angular);
        crossings.see(run.world.time(), omega.y);
    }
    let exact = exact_period(MOMENTS, W0)?;
    Ok(vec![
        Row::new(method.name, "period", "s", crossings.period(), exact, Bound::Relative(1e-8)),
        Row::at_most(method.name, "world angular momentum, relative", "", momentum, 1e-12),
        Row::at_most(method.name, "energy, relative", "", energy, 1e-8),
    ])
}

/// Times at which a quantity rises through zero.
#[derive(Debug, Default)]
struct Crossings {
    last: Option<(f64, f64)>,
    first: Option<f64>,
    latest: f64,
    count: u32,
}

impl Crossings {
    fn see(&mut self, time: f64, value: f64) {
        if let Some((before, old)) = self.last.filter(|(_, old)| *old < 0.0 && value >= 0.0) {
            self.latest = before - old / (value - old) * (time - before);
            self.count += u32::from(self.first.is_some());
            self.first.get_or_insert(self.latest);
        }
        self.last = Some((time, value));
    }

    /// Mean time between crossings; not a number if there were fewer than two.
    fn period(&self) -> f64 {
        self.first.map_or(f64::NAN, |first| (self.latest - first) / f64::from(self.count))
    }
}

fn rotation() -> Result<Vec<Row>, Failed> {
    let (moments, w0) = (MOMENTS, W0);
    let top = TorqueFreeBody::new(moments)?;
    let (l0, e0) = (top.momentum_body(w0), top.energy(w0));
    let (mut q, mut w) = (DQuat::IDENTITY, w0);
    let (mut momentum, mut energy) = (0.0_f64, 0.0_f64);
    let mut crossings = Crossings::default();
    crossings.see(0.0, w.y);
    for step in 1..=1_000_000 {
        (q, w) = top.step(q, w, 1e-3)?;
        momentum = momentum.max((q * top.momentum_body(w) - l0).length() / l0.length());
        energy = energy.max((top.energy(w) / e0 - 1.0).abs());
        crossings.see(f64::from(step) * 1e-3, w.y);
    }
    const METHOD: &str = "exact rotation, 1 ms";
    Ok(vec![
        Row::new(
            METHOD,
            "period",
            "s",
            crossings.period(),
            exact_period(moments, w0)?,
            Bound::Relative(1e-8),
        ),
        Row::at_most(METHOD, "world angular momentum, relative", "", momentum, 1e-12),
        Row::at_most(METHOD, "energy, relative", "", energy, 1e-8),
    ])
}

/// 4 K(m)/λ for motion about the middle axis with L² > 2 E I₂ or below (Landau and Lifshitz, Mechanics, § 37).
fn exact_period(moments: DVec3, w: DVec3) -> Result<f64, Failed> {
    let l2 = (moments * w).length_squared();
    let e2 = (moments * w).dot(w);
    // Order the axes so that L² ≥ 2 E I₂.
    let i = if l2 >= e2 * moments.y { moments } else { DVec3::new(moments.z, moments.y, moments.x) };
    let lambda = ((i.z - i.y) * (l2 - e2 * i.x) / (i.x * i.y * i.z)).abs().sqrt();
    let m = (i.y - i.x) * (e2 * i.z - l2) / ((i.z - i.y) * (l2 - e2 * i.x));
    Ok(4.0 * complete_k(m)? / lambda)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_keeps_period_momentum_and_energy() {
        let exact = exact_period(MOMENTS, W0).unwrap();
        assert!((exact - 39.105_734_197).abs() < 1e-8, "{exact}");
        crate::assert_holds(&SCENE);
    }
}
