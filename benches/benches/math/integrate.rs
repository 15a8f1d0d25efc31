//! One step of each integrator on the rotation of a body, and the exact torque-free motion at several step sizes.

use sim_math::elliptic::Jacobi;
use sim_math::glam::{DQuat, DVec3};
use sim_math::integrate::rotation::{
    RigidRotation, TorqueFreeArc, TorqueFreeBody, drift_kick_drift, implicit_gyroscopic, lie_rk4, rotate_body,
};
use sim_math::integrate::{
    AdaptiveParams, DormandPrince, DoubleEuler, Euler, Heun, Integrator, OdeScratch, Rk4, SecondOrder,
    StepDoubling,
};
use std::{error::Error, hint::black_box};
use tumblestone_benches::Suite;

const DT: f64 = 1e-3;

fn top() -> Result<(TorqueFreeBody, DQuat, DVec3), Box<dyn Error>> {
    Ok((
        TorqueFreeBody::new(DVec3::new(1.0, 2.0, 3.0))?,
        DQuat::from_xyzw(0.5, -0.5, 0.5, 0.5),
        DVec3::new(0.7, 1.0, -0.4),
    ))
}

fn general(suite: &mut Suite) -> Result<(), Box<dyn Error>> {
    let (body, q, w) = top()?;
    let omega = q * w;
    let start = [q.x, q.y, q.z, q.w, omega.x, omega.y, omega.z];
    let mut params = AdaptiveParams::with_tolerance(1e-6, 1e-6);
    params.first_step = Some(DT);
    let integrators: [(&str, &dyn Integrator); 7] = [
        ("math/integrate/semi_implicit_euler", &Euler::SEMI_IMPLICIT),
        ("math/integrate/modified_euler", &Euler::MODIFIED),
        ("math/integrate/double_euler", &DoubleEuler),
        ("math/integrate/heun", &Heun),
        ("math/integrate/rk4", &Rk4),
        ("math/integrate/step_doubling", &StepDoubling::new(params)),
        ("math/integrate/dormand_prince", &DormandPrince::new(params)),
    ];
    for (id, integrator) in integrators {
        let mut system = SecondOrder::new(RigidRotation::new(body, |_, _, _| DVec3::ZERO));
        let mut scratch = OdeScratch::new(integrator, 7);
        suite.case(id).run(|| {
            let mut y = black_box(start);
            integrator.advance(&mut system, 0.0, DT, &mut y, &mut scratch).map(|_| y)
        });
    }
    Ok(())
}

fn rotation(suite: &mut Suite) -> Result<(), Box<dyn Error>> {
    let (body, q, w) = top()?;
    let none = |_: f64, _: DQuat, _: DVec3| DVec3::ZERO;
    suite.case("math/integrate/rotate_body").run(|| rotate_body(black_box(q), black_box(w), DT));
    // λ is about 0.7 rad/s here: three nodes, four nodes, sub-steps, closed form.
    for (id, dt) in [
        ("math/integrate/torque_free_step/1ms", 1e-3),
        ("math/integrate/torque_free_step/50ms", 0.05),
        ("math/integrate/torque_free_step/500ms", 0.5),
        ("math/integrate/torque_free_step/10s", 10.0),
    ] {
        suite.case(id).run(|| body.step(black_box(q), black_box(w), dt));
    }
    suite.case("math/integrate/torque_free_arc/new").run(|| TorqueFreeArc::new(&body, black_box(q), w));
    let arc = TorqueFreeArc::new(&body, q, w)?;
    suite.case("math/integrate/torque_free_arc/at").run(|| arc.at(black_box(10.0)));
    suite
        .case("math/integrate/drift_kick_drift")
        .run(|| drift_kick_drift(&body, black_box(q), w, 0.0, DT, &mut { none }));
    suite.case("math/integrate/lie_rk4").run(|| lie_rk4(&body, black_box(q), w, 0.0, DT, &mut { none }));
    suite.case("math/integrate/implicit_gyroscopic").run(|| implicit_gyroscopic(&body, black_box(w), DT, 1));
    let jacobi = Jacobi::new(0.7)?;
    suite.case("math/integrate/jacobi").run(|| jacobi.sn_cn_dn(black_box(1.3)));
    Ok(())
}

fn all(suite: &mut Suite) {
    if let Err(error) = general(suite).and_then(|()| rotation(suite)) {
        unreachable!("the input of this bench is fixed and valid: {error}");
    }
}

tumblestone_benches::main!(all);
