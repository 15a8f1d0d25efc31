//! Bodies on the ground through rows of a velocity system: closed forms of one step.
#![allow(clippy::unwrap_used, reason = "tests")]

use constraint_dynamics::{
    ConeGaussSeidel, Delassus, Greedy, PolyhedralCone, PoolBody, PoolContact,
    pool::{self, PoolWorkspace},
    rows::{self, RowsWorkspace, Side, Site, SystemAt},
};
use lcp_lemke::Driver;
use rigid_impulse::{FreeBodies, PrincipalMass};
use sim_math::{
    assert_close,
    glam::{DMat3, DQuat, DVec3},
    ops,
    rotation::frame_from_normal,
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_traits::{PartId, RowSolver, VelocitySystem};

const G: f64 = 9.81;

/// A box on its four lower corners, on a slope that falls along x.
struct Scene {
    pool: FreeBodies,
    q: Vec<f64>,
    v: Vec<f64>,
    sites: Vec<Site>,
}

fn block(half: DVec3, mass: f64, mu: f64, theta: f64, velocity: DVec3) -> Scene {
    let mut pool = FreeBodies::default();
    let part = pool.add_free(PrincipalMass::cuboid(mass, half).unwrap());
    let turn = DQuat::from_rotation_y(theta);
    let center = turn * DVec3::new(0.0, 0.0, half.z);
    let q = vec![center.x, center.y, center.z, turn.x, turn.y, turn.z, turn.w];
    pool.prepare(&q).unwrap();
    let v = turn * velocity;
    let frame = frame_from_normal((turn * DVec3::Z).normalize()).unwrap();
    let corner = |x: f64, y: f64| turn * DVec3::new(x * half.x, y * half.y, 0.0);
    let sites = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(x, y)| Site {
        sides: [Some(Side { system: 0, part }), None],
        point: corner(x, y),
        frame,
        friction: mu,
        bias: DVec3::ZERO,
    });
    Scene { pool, q, v: vec![0.0, 0.0, 0.0, v.x, v.y, v.z], sites: sites.to_vec() }
}

impl Scene {
    /// One step under gravity; impulses of the contacts.
    fn step(&mut self, h: f64, solver: &mut dyn RowSolver) -> Vec<DVec3> {
        self.v[5] -= G * h;
        let mut problem = Delassus::default();
        let mut workspace = RowsWorkspace::default();
        let systems = [SystemAt { system: &self.pool, velocity: &self.v }];
        rows::assemble(&systems, &self.sites, &mut workspace, &mut problem).unwrap();
        let mut p = vec![DVec3::ZERO; self.sites.len()];
        solver.solve(&problem.problem().unwrap(), &mut p).unwrap();
        workspace.apply(0, &p, &mut self.v);
        p
    }
}

fn laws() -> [Box<dyn RowSolver>; 3] {
    [
        Box::new(ConeGaussSeidel::default()),
        Box::new(Greedy::default()),
        Box::new(PolyhedralCone::new(Driver::default())),
    ]
}

// proves: ARN-52
#[test]
fn a_box_at_rest_is_carried() {
    for mut law in laws() {
        let mut scene = block(DVec3::new(0.5, 0.3, 0.2), 2.0, 0.5, 0.0, DVec3::ZERO);
        let p = scene.step(0.01, law.as_mut());
        let sum: DVec3 = p.iter().sum();
        assert_close!(sum.z, 2.0 * G * 0.01, rel = 1e-9);
        assert!(p.iter().all(|p| p.z >= 0.0), "{}: {p:?}", law.kind());
        assert!(scene.v.iter().all(|v| v.abs() < 1e-8), "{}: {:?}", law.kind(), scene.v);
    }
}

// proves: ARN-53
#[test]
fn an_incline_sticks_below_the_threshold_and_slides_as_newton_says_above() {
    let (mu, h) = (0.3, 0.01);
    for mut law in laws() {
        for degrees in [10.0, 16.0, 16.69, 16.71, 17.0, 25.0_f64] {
            let theta = degrees.to_radians();
            let (s, c) = ops::sin_cos(theta);
            let mut scene = block(DVec3::new(0.5, 0.3, 0.2), 1.0, mu, theta, DVec3::ZERO);
            for n in 1..=5 {
                scene.step(h, law.as_mut());
                let v = DVec3::new(scene.v[3], scene.v[4], scene.v[5]);
                let expected = if ops::tan(theta) <= mu { 0.0 } else { G * (s - mu * c) * h * f64::from(n) };
                assert!((v.length() - expected).abs() < 1e-8, "{} at {degrees}: {v}", law.kind());
            }
        }
    }
}

// proves: CLI-72
#[test]
fn friction_rows_are_the_tangential_velocities() {
    let mut random = SplitMix64(3);
    let mut scene = block(DVec3::new(0.5, 0.3, 0.2), 1.0, 0.5, 0.3, DVec3::ZERO);
    for _ in 0..100 {
        scene.v.iter_mut().for_each(|v| *v = random.range(-1.0, 1.0));
        let mut problem = Delassus::default();
        let systems = [SystemAt { system: &scene.pool, velocity: &scene.v }];
        rows::assemble(&systems, &scene.sites, &mut RowsWorkspace::default(), &mut problem).unwrap();
        let center = DVec3::new(scene.q[0], scene.q[1], scene.q[2]);
        let (w, v) =
            (DVec3::new(scene.v[0], scene.v[1], scene.v[2]), DVec3::new(scene.v[3], scene.v[4], scene.v[5]));
        for (site, u) in scene.sites.iter().zip(&problem.velocity) {
            let at = v + w.cross(site.point - center);
            assert_close!(u.x, at.dot(site.frame.x_axis), abs = 1e-14);
            assert_close!(u.y, at.dot(site.frame.y_axis), abs = 1e-14);
            assert_close!(u.z, at.dot(site.frame.z_axis), abs = 1e-14);
        }
    }
}

// proves: CLI-71
#[test]
fn jacobian_times_twist_is_the_rate_of_the_gap() {
    let mut random = SplitMix64(4);
    for _ in 0..100 {
        let mut scene = block(DVec3::new(0.5, 0.3, 0.2), 1.0, 0.5, random.range(-1.0, 1.0), DVec3::ZERO);
        scene.v.iter_mut().for_each(|v| *v = random.range(-1.0, 1.0));
        let mut problem = Delassus::default();
        let systems = [SystemAt { system: &scene.pool, velocity: &scene.v }];
        rows::assemble(&systems, &scene.sites, &mut RowsWorkspace::default(), &mut problem).unwrap();
        // The gap of a corner over the slope, with its normal frozen, after a small motion both ways.
        let center = DVec3::new(scene.q[0], scene.q[1], scene.q[2]);
        let (w, v) =
            (DVec3::new(scene.v[0], scene.v[1], scene.v[2]), DVec3::new(scene.v[3], scene.v[4], scene.v[5]));
        let gap = |site: &Site, t: f64| {
            let turn = sim_math::rotation::quat_exp(w * t);
            site.frame.z_axis.dot(center + v * t + turn * (site.point - center))
        };
        for (site, u) in scene.sites.iter().zip(&problem.velocity) {
            let rate = (gap(site, 1e-5) - gap(site, -1e-5)) / 2e-5;
            assert_close!(u.z, rate, abs = 1e-9);
        }
    }
}

// proves: CLI-22
#[test]
fn rows_and_pool_agree() {
    let mut random = SplitMix64(5);
    let mut workspace = PoolWorkspace::default();
    for _ in 0..60 {
        let count = 1 + random.below(6);
        let mut system = FreeBodies::default();
        let (mut q, mut v, mut fixed) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let is_fixed = random.unit() < 0.2;
            if is_fixed {
                system.add_driven();
            } else {
                system.add_free(
                    PrincipalMass::cuboid(random.range(0.5, 2.0), DVec3::new(0.5, 0.3, 0.2)).unwrap(),
                );
            }
            fixed.push(is_fixed);
            let (x, r) = (random.vec3(1.0), random.unit_quat());
            q.extend([x.x, x.y, x.z, r.x, r.y, r.z, r.w]);
            v.extend((0..6).map(|_| random.range(-1.0, 1.0)));
        }
        system.prepare(&q).unwrap();
        let bodies: Vec<PoolBody> = (0..count)
            .map(|k| {
                let (center, inverse_mass, inverse_inertia) = system.placed(PartId(k as u32)).unwrap();
                let w = &v[6 * k..6 * k + 6];
                let velocity = Motion::from_array([w[0], w[1], w[2], w[3], w[4], w[5]]);
                PoolBody { center, inverse_mass, inverse_inertia, velocity }
            })
            .collect();
        let contacts: Vec<PoolContact> = (0..1 + random.below(8))
            .map(|_| PoolContact {
                bodies: [random.below(count) as u32, random.below(count + 1) as u32],
                point: random.vec3(1.0),
                frame: frame_from_normal(random.unit_vec3()).unwrap(),
                friction: 0.5,
                bias: random.vec3(0.1),
            })
            .filter(|c| c.bodies[0] != c.bodies[1])
            .collect();
        let sites: Vec<Site> = contacts
            .iter()
            .map(|c| Site {
                sides: c
                    .bodies
                    .map(|k| ((k as usize) < count).then_some(Side { system: 0, part: PartId(k) })),
                point: c.point,
                frame: c.frame,
                friction: c.friction,
                bias: c.bias,
            })
            .collect();
        let (mut fast, mut slow) = (Delassus::default(), Delassus::default());
        pool::assemble(&bodies, &contacts, &mut workspace, &mut fast);
        let systems = [SystemAt { system: &system, velocity: &v }];
        rows::assemble(&systems, &sites, &mut RowsWorkspace::default(), &mut slow).unwrap();
        for (c, contact) in contacts.iter().enumerate() {
            assert!((fast.velocity[c] - slow.velocity[c]).length() < 1e-13);
            let row = |d: &Delassus| -> Vec<(u32, DMat3)> {
                (d.starts[c] as usize..d.starts[c + 1] as usize)
                    .map(|k| (d.columns[k], d.blocks[k]))
                    .collect()
            };
            let (f, s) = (row(&fast), row(&slow));
            assert_eq!(f.iter().map(|x| x.0).collect::<Vec<_>>(), s.iter().map(|x| x.0).collect::<Vec<_>>());
            assert!(f.iter().zip(&s).all(|(x, y)| x.1.abs_diff_eq(y.1, 1e-12)));
            // Contacts that share no free body have no block at all.
            for (d, _) in &f {
                let shared = contacts[*d as usize]
                    .bodies
                    .iter()
                    .any(|k| contact.bodies.contains(k) && fixed.get(*k as usize) == Some(&false));
                assert!(shared || *d as usize == c);
            }
        }
    }
}

/// A uniform rod of length 1 m and 1 kg whose lower tip slides on the ground; tan θ = 2.
fn rod(mu: f64, law: &mut dyn RowSolver) -> (f64, DVec3, DVec3) {
    let half = 0.5;
    let (s, c) = (2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt());
    // The tip is at the origin, the centre up and to the right; thin across.
    let mut bodies = [PoolBody {
        center: DVec3::new(half * c, 0.0, half * s),
        inverse_mass: 1.0,
        inverse_inertia: DMat3::from_diagonal(DVec3::new(0.0, 12.0, 0.0)),
        velocity: Motion::new(DVec3::ZERO, DVec3::new(-1.0, 0.0, -G * 0.01)),
    }];
    let contact = PoolContact {
        bodies: [0, u32::MAX],
        point: DVec3::ZERO,
        frame: frame_from_normal(DVec3::Z).unwrap(),
        friction: mu,
        bias: DVec3::ZERO,
    };
    let mut problem = Delassus::default();
    pool::assemble(&bodies, &[contact], &mut PoolWorkspace::default(), &mut problem);
    let mut p = [DVec3::ZERO];
    law.solve(&problem.problem().unwrap(), &mut p).unwrap();
    pool::apply(&mut bodies, &[contact], &p);
    (bodies[0].velocity_at(DVec3::ZERO).x, contact.frame * p[0], bodies[0].velocity.linear)
}

// proves: CLI-46
#[test]
fn painleve_rod_has_a_solution_at_the_velocity_level() {
    for mut law in laws() {
        // μ = 1: the tip slides on. μ = 2, beyond the critical 4/3: it stops.
        let (slip, p, _) = rod(1.0, law.as_mut());
        assert_close!(slip, -0.46045, abs = 1e-8);
        assert_close!(p.z, G * 0.01 / 0.4, abs = 1e-8);
        let (slip, p, v) = rod(2.0, law.as_mut());
        assert!(slip.abs() < 1e-8, "{}: slips at {slip}", law.kind());
        assert_close!(p.z, 0.383385, abs = 1e-8);
        assert_close!(p.x, 0.42943, abs = 1e-8);
        assert!((v - DVec3::new(-0.57057, 0.0, 0.285285)).length() < 1e-8);
    }
}

#[test]
fn a_sliding_box_has_the_printed_numbers() {
    // Width 1, height 0.5, μ = 0.3, 1 m/s, h = 0.01; four corners instead of the two of the plane.
    for mut law in laws() {
        let mut scene = block(DVec3::new(0.5, 0.1, 0.25), 2.0, 0.3, 0.0, DVec3::new(1.0, 0.0, 0.0));
        let p = scene.step(0.01, law.as_mut());
        assert_close!(scene.v[3], 0.97057, abs = 1e-8);
        let front: f64 = p[..2].iter().map(|p| p.z).sum();
        let back: f64 = p[2..].iter().map(|p| p.z).sum();
        assert_close!(front, 0.112815, abs = 1e-8);
        assert_close!(back, 0.083385, abs = 1e-8);
    }
}

#[test]
fn the_exact_cone_has_no_preferred_direction() {
    // The same push in many headings: the speeds left are equal to 1e-10, a four-sided cone's are not.
    let heading = |law: &mut dyn RowSolver| {
        let speeds: Vec<f64> = (0..36)
            .map(|k| {
                let (s, c) = ops::sin_cos(f64::from(k) * 0.1745);
                let mut scene = block(DVec3::new(0.4, 0.4, 0.01), 1.0, 0.5, 0.0, DVec3::new(c, s, 0.0));
                (0..10).for_each(|_| drop(scene.step(0.01, law)));
                ops::hypot(scene.v[3], scene.v[4])
            })
            .collect();
        speeds.iter().fold(0.0_f64, |m, &v| m.max(v)) - speeds.iter().fold(9.0_f64, |m, &v| m.min(v))
    };
    assert!(heading(&mut ConeGaussSeidel::default()) < 1e-6);
    assert!(heading(&mut Greedy::default()) < 1e-6);
    let mut params = constraint_dynamics::PolyhedralParams::default();
    (params.directions, params.align) = (4, false);
    assert!(heading(&mut PolyhedralCone::with(Driver::default(), params)) > 0.05);
}

// proves: CLI-63
#[test]
fn a_planar_scene_has_its_closed_forms() {
    // The sliding box in its plane: the sum of the normal impulses is m g h, their difference balances the moment of friction.
    let (m, h, mu, half) = (2.0, 0.01, 0.3, DVec3::new(0.5, 0.1, 0.25));
    let mut params = constraint_dynamics::ConeParams::default();
    params.tolerance = 1e-13;
    let mut scene = block(half, m, mu, 0.0, DVec3::new(1.0, 0.0, 0.0));
    let p = scene.step(h, &mut ConeGaussSeidel::new(params));
    let sum = m * G * h;
    let tilt = mu * sum * half.z / half.x;
    let front: f64 = p[..2].iter().map(|p| p.z).sum();
    assert_close!(front, 0.5 * (sum + tilt), abs = 1e-10);
    assert_close!(scene.v[3], 1.0 - mu * G * h, abs = 1e-10);
    for k in [0, 1, 2, 4, 5] {
        assert_close!(scene.v[k], 0.0, abs = 1e-10);
    }
    // Slower than μ g h: it stops.
    let mut slow = block(half, m, mu, 0.0, DVec3::new(0.9 * mu * G * h, 0.0, 0.0));
    slow.step(h, &mut ConeGaussSeidel::new(params));
    assert!(slow.v.iter().all(|v| v.abs() < 1e-10), "{:?}", slow.v);
}

// proves: CLI-48
#[test]
fn resting_contact_and_impact_are_one_problem() {
    // A box of 2 kg rests on the ground, a ball of 1 kg lands on it at 3 m/s: one solution stops the ball and carries both.
    let frame = frame_from_normal(DVec3::Z).unwrap();
    let body = |center: DVec3, mass: f64, speed: f64| PoolBody {
        center,
        inverse_mass: 1.0 / mass,
        inverse_inertia: DMat3::IDENTITY * (10.0 / mass),
        velocity: Motion::new(DVec3::ZERO, DVec3::new(0.0, 0.0, speed - G * 0.01)),
    };
    for mut law in laws() {
        let mut bodies = [body(DVec3::Z * 0.2, 2.0, 0.0), body(DVec3::Z * 0.5, 1.0, -3.0)];
        let contact = |bodies: [u32; 2], point: DVec3| PoolContact {
            bodies,
            point,
            frame,
            friction: 0.5,
            bias: DVec3::ZERO,
        };
        let mut contacts: Vec<PoolContact> = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
            .iter()
            .map(|&(x, y)| contact([0, u32::MAX], DVec3::new(0.3 * x, 0.3 * y, 0.0)))
            .collect();
        contacts.push(contact([1, 0], DVec3::Z * 0.4));
        let mut problem = Delassus::default();
        pool::assemble(&bodies, &contacts, &mut PoolWorkspace::default(), &mut problem);
        let mut p = vec![DVec3::ZERO; 5];
        law.solve(&problem.problem().unwrap(), &mut p).unwrap();
        pool::apply(&mut bodies, &contacts, &p);
        assert!(bodies.iter().all(|b| b.velocity.linear.length() < 1e-8), "{}: {bodies:?}", law.kind());
        assert_close!(p[4].z, 3.0 + G * 0.01, rel = 1e-8);
        let ground: f64 = p[..4].iter().map(|p| p.z).sum();
        assert_close!(ground, 3.0 + 3.0 * G * 0.01, rel = 1e-8);
    }
}
