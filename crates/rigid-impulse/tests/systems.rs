//! Velocity systems, collision matrices and whole collisions: the pool of free bodies, and a tree of two links.

#![allow(
    clippy::unwrap_used,
    clippy::needless_range_loop,
    reason = "helpers of tests; matrices are read best by index"
)]

use rigid_impulse::{
    Body, CollisionWorkspace, Contact, ContactFrame, FreeBodies, PrincipalMass, Sides, collide_pair,
    impact::{Algebraic, Frictionless, Integrated, Phases, Restitution},
    pair_matrix,
};
use sim_math::{
    Pose, assert_close,
    glam::{DMat3, DVec3},
    ops,
    spatial::Motion,
    testkit::SplitMix64,
};
use sim_traits::{
    ColumnsMut, DynamicsError, Entry, ImpactLaw, PartId, Scratch, VelocitySystem,
    testkit::{impact as impact_kit, velocity_system as system_kit},
};

/// Two links hinged about y: the first to the ground at the origin, the second to the end of the first.
#[derive(Debug, Default)]
struct TwoLinks {
    hinges: [DVec3; 2],
    centers: [DVec3; 2],
    inverse: [[f64; 2]; 2],
    prepared: bool,
}

const MASS: [f64; 2] = [2.0, 1.0];
const LENGTH: [f64; 2] = [1.0, 0.7];

impl TwoLinks {
    /// Velocity of the point of a link per unit rate of a joint.
    fn column(&self, joint: usize, link: usize, point: DVec3) -> Motion {
        if joint > link {
            return Motion::ZERO;
        }
        Motion::new(DVec3::Y, DVec3::Y.cross(point - self.hinges[joint]))
    }

    fn mass_matrix(&self) -> [[f64; 2]; 2] {
        let mut h = [[0.0; 2]; 2];
        for link in 0..2 {
            for i in 0..=link {
                for j in 0..=link {
                    let (p, q) =
                        (self.column(i, link, self.centers[link]), self.column(j, link, self.centers[link]));
                    let inertia = MASS[link] * LENGTH[link] * LENGTH[link] / 12.0;
                    h[i][j] += MASS[link] * p.linear.dot(q.linear) + inertia * p.angular.dot(q.angular);
                }
            }
        }
        h
    }

    fn check(&self, rows: &[Entry], count: usize) -> Result<(), DynamicsError> {
        if !self.prepared {
            return Err(DynamicsError::NotPrepared);
        }
        for (entry, e) in rows.iter().enumerate() {
            if e.part.index() >= 2 {
                return Err(DynamicsError::UnknownPart { part: e.part, count: 2 });
            }
            if e.row as usize >= count {
                return Err(DynamicsError::UnknownRow { entry, row: e.row, rows: count });
            }
        }
        Ok(())
    }

    fn two(what: &'static str, got: usize) -> Result<(), DynamicsError> {
        if got == 2 { Ok(()) } else { Err(DynamicsError::WrongLength { what, expected: 2, got }) }
    }
}

impl VelocitySystem for TwoLinks {
    fn velocity_len(&self) -> usize {
        2
    }

    fn configuration_len(&self) -> usize {
        2
    }

    fn part_count(&self) -> usize {
        2
    }

    fn prepare(&mut self, q: &[f64]) -> Result<(), DynamicsError> {
        self.prepared = false;
        Self::two("configuration", q.len())?;
        if let Some((index, &value)) = q.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(DynamicsError::NonFinite { what: "configuration", index, value });
        }
        let mut start = DVec3::ZERO;
        let mut angle = 0.0;
        for link in 0..2 {
            angle += q[link];
            // A turn about y takes x to (cos, 0, −sin).
            let along = DVec3::new(ops::cos(angle), 0.0, -ops::sin(angle));
            self.hinges[link] = start;
            self.centers[link] = start + along * (0.5 * LENGTH[link]);
            start += along * LENGTH[link];
        }
        let [[a, b], [_, d]] = self.mass_matrix();
        let det = a * d - b * b;
        self.inverse = [[d / det, -b / det], [-b / det, a / det]];
        self.prepared = true;
        Ok(())
    }

    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError> {
        self.check(rows, out.len())?;
        Self::two("velocities", v.len())?;
        for e in rows {
            for joint in 0..2 {
                out[e.row as usize] += v[joint] * e.wrench.dot(self.column(joint, e.part.index(), e.point));
            }
        }
        Ok(())
    }

    fn response(
        &self,
        rows: &[Entry],
        _: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError> {
        self.check(rows, out.count())?;
        Self::two("response column", out.column_len())?;
        out.clear();
        for e in rows {
            let column = out.column(e.row as usize);
            for joint in 0..2 {
                let force = e.wrench.dot(self.column(joint, e.part.index(), e.point));
                for i in 0..2 {
                    column[i] += self.inverse[i][joint] * force;
                }
            }
        }
        Ok(())
    }

    fn dof_response(&self, dof: u32, _: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError> {
        self.check(&[], 0)?;
        Self::two("response", out.len())?;
        let row = self.inverse.get(dof as usize);
        out.copy_from_slice(row.ok_or(DynamicsError::UnknownDof { dof, count: 2 })?);
        Ok(())
    }
}

fn energy(tree: &TwoLinks, v: &[f64]) -> f64 {
    let h = tree.mass_matrix();
    0.5 * (0..2).map(|i| v[i] * (h[i][0] * v[0] + h[i][1] * v[1])).sum::<f64>()
}

/// A pool with two random free bodies, a fixed and a scripted one, its configuration, and the same bodies singly.
fn random_pool(random: &mut SplitMix64) -> (FreeBodies, Vec<f64>, [Body; 4]) {
    let mut pool = FreeBodies::default();
    let mut pose = || Pose::new(random.vec3(1.0), random.unit_quat());
    let poses = [pose(), pose(), pose(), pose()];
    let script = Motion::new(random.vec3(1.0), random.vec3(1.0));
    let mut mass = || {
        let half = DVec3::new(random.range(0.1, 1.0), random.range(0.1, 1.0), random.range(0.1, 1.0));
        PrincipalMass::cuboid(random.range(0.2, 5.0), half).unwrap()
    };
    let masses = [mass(), mass()];
    pool.add_free(masses[0]);
    pool.add_driven();
    pool.add_free(masses[1]);
    pool.add_driven();
    let mut bodies = [
        Body::free(masses[0], poses[0]).unwrap(),
        Body::fixed(poses[1]).unwrap(),
        Body::free(masses[1], poses[2]).unwrap(),
        Body::scripted(poses[3]).unwrap(),
    ];
    bodies[3].state.velocity = script;
    let q = poses
        .iter()
        .flat_map(|p| p.translation.to_array().into_iter().chain(p.rotation.to_array()))
        .collect();
    (pool, q, bodies)
}

#[test]
fn the_pool_and_the_stub_tree_conform() {
    let mut random = SplitMix64(91);
    let (mut pool, q, _) = random_pool(&mut random);
    system_kit::conformance(&mut pool, &q, &system_kit::Bounds::default()).unwrap();
    system_kit::conformance(&mut TwoLinks::default(), &[0.4, -1.1], &system_kit::Bounds::default()).unwrap();
    system_kit::conformance(&mut FreeBodies::default(), &[], &system_kit::Bounds::default()).unwrap();
}

#[test]
fn all_laws_conform() {
    let with_friction: [&dyn ImpactLaw; 3] =
        [&Integrated::default(), &Algebraic::default(), &Phases::default()];
    for law in with_friction {
        impact_kit::conformance(law, &impact_kit::Bounds::default()).unwrap();
    }
    // These two may create energy.
    for restitution in [Restitution::Newton, Restitution::Poisson] {
        let bounds = impact_kit::Bounds { energy: f64::INFINITY, ..impact_kit::Bounds::default() };
        impact_kit::conformance(&Integrated::with(restitution), &bounds).unwrap();
    }
    let bounds = impact_kit::Bounds { friction: false, ..impact_kit::Bounds::default() };
    impact_kit::conformance(&Frictionless, &bounds).unwrap();
}

// proves: MIR-40, FON-57
#[test]
fn systems_and_the_direct_formula_agree() {
    let mut random = SplitMix64(92);
    let mut ws = CollisionWorkspace::default();
    for _ in 0..500 {
        let (mut pool, q, bodies) = random_pool(&mut random);
        pool.prepare(&q).unwrap();
        let frame = ContactFrame::new(random.vec3(1.0), random.unit_vec3()).unwrap();
        for (a, b) in [(0, 2), (0, 1), (2, 3), (2, 0)] {
            let sides = Sides::Same { system: &pool, a: PartId(a), b: PartId(b) };
            let contact = Contact { sides, frame };
            let k = contact.matrix(&mut ws).unwrap();
            let [x, y] = [a, b].map(|k| bodies[k as usize]);
            let direct = pair_matrix([&x.model, &y.model], [&x.state, &y.state], &frame);
            let size = direct.to_cols_array().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!((k - direct).to_cols_array().iter().all(|x| x.abs() < 1e-13 * size));
            assert_eq!(k, k.transpose());
            // Cholesky: positive pivots.
            let l11 = k.x_axis.x.sqrt();
            let (l21, l31) = (k.x_axis.y / l11, k.x_axis.z / l11);
            let l22 = (k.y_axis.y - l21 * l21).sqrt();
            let l32 = (k.y_axis.z - l31 * l21) / l22;
            assert!(k.z_axis.z - l31 * l31 - l32 * l32 > 0.0 && l22 > 0.0);
            // The velocity change by an impulse, computed on the bodies themselves.
            let p = random.vec3(1.0);
            let (mut one, mut other) = (bodies[a as usize], bodies[b as usize]);
            let before = frame.to_contact(one.velocity_at(frame.point) - other.velocity_at(frame.point));
            one.apply_impulse(frame.point, frame.to_world(p));
            other.apply_impulse(frame.point, frame.to_world(-p));
            let after = frame.to_contact(one.velocity_at(frame.point) - other.velocity_at(frame.point));
            assert!((after - before - k * p).length() < 1e-12 * (1.0 + size));
        }
        // Scripted bodies answer with their motion.
        let sides = Sides::Same { system: &pool, a: PartId(0), b: PartId(3) };
        let mut v = [0.0; 24];
        v[18..].copy_from_slice(&bodies[3].state.velocity.to_array());
        let u = Contact { sides, frame }.velocity(&v, &[]).unwrap();
        let expected = frame.to_contact(-bodies[3].state.velocity_at(frame.point));
        assert!((u - expected).length() < 1e-14);
    }
}

#[test]
fn contact_axes_are_right_handed_and_depend_on_the_normal_alone() {
    let mut random = SplitMix64(93);
    let special = [DVec3::Z, DVec3::NEG_Z, DVec3::X, DVec3::NEG_Y, DVec3::new(0.0, 1e-12, -1.0)];
    for n in 0..10_000 {
        let normal = if n < 5 { special[n] } else { random.unit_vec3() };
        let frame = ContactFrame::new(random.vec3(1.0), normal).unwrap();
        let error = frame.axes.transpose() * frame.axes - DMat3::IDENTITY;
        assert!(error.to_cols_array().iter().all(|x| x.abs() < 1e-14), "{normal}");
        assert!((frame.axes.determinant() - 1.0).abs() < 1e-14);
        assert_eq!(frame.axes, ContactFrame::new(DVec3::ZERO, normal).unwrap().axes);
        let v = random.vec3(1.0);
        assert!((frame.to_world(frame.to_contact(v)) - v).length() < 1e-15);
    }
}

// proves: FON-60, ARN-40
#[test]
fn momentum_is_conserved() {
    let mut random = SplitMix64(94);
    for _ in 0..2000 {
        let (_, _, bodies) = random_pool(&mut random);
        let (mut a, mut b) = (bodies[0], bodies[2]);
        a.state.velocity = Motion::new(random.vec3(2.0), random.vec3(2.0));
        b.state.velocity = Motion::new(random.vec3(2.0), random.vec3(2.0));
        let poses = (*a.pose(), *b.pose());
        let momentum = |a: &Body, b: &Body| {
            let linear =
                a.state.velocity.linear / a.inverse_mass() + b.state.velocity.linear / b.inverse_mass();
            let orbital = |x: &Body| x.pose().translation.cross(x.state.velocity.linear / x.inverse_mass());
            (linear, a.spin() + b.spin() + orbital(a) + orbital(b))
        };
        let (p, l) = momentum(&a, &b);
        let energy = a.kinetic_energy() + b.kinetic_energy();
        let frame = ContactFrame::new(random.vec3(1.0), random.unit_vec3()).unwrap();
        let impulse =
            collide_pair(&mut a, &mut b, &frame, &Integrated::default(), random.unit(), random.unit())
                .unwrap();
        let (p_after, l_after) = momentum(&a, &b);
        let scale = p.length() + l.length() + impulse.length();
        assert!((p_after - p).length() < 1e-13 * scale && (l_after - l).length() < 1e-13 * scale);
        assert!(a.kinetic_energy() + b.kinetic_energy() <= energy * (1.0 + 1e-12));
        assert_eq!((*a.pose(), *b.pose()), poses, "positions stay");
    }
}

#[test]
fn two_links_of_one_tree_feel_each_other() {
    let mut random = SplitMix64(95);
    let mut ws = CollisionWorkspace::default();
    let mut largest = 0.0_f64;
    for _ in 0..500 {
        let mut tree = TwoLinks::default();
        tree.prepare(&[random.range(-3.0, 3.0), random.range(-3.0, 3.0)]).unwrap();
        let frame = ContactFrame::new(random.vec3(0.5), random.unit_vec3()).unwrap();
        let contact = Contact { sides: Sides::Same { system: &tree, a: PartId(0), b: PartId(1) }, frame };
        let k = contact.matrix(&mut ws).unwrap();
        // J_rel H⁻¹ J_relᵀ written out.
        let mut expected = DMat3::ZERO;
        let column = |joint: usize| {
            let relative =
                tree.column(joint, 0, frame.point).linear - tree.column(joint, 1, frame.point).linear;
            frame.to_contact(relative)
        };
        for i in 0..2 {
            for j in 0..2 {
                let (p, q) = (column(i), column(j) * tree.inverse[i][j]);
                expected += DMat3::from_cols(p * q.x, p * q.y, p * q.z);
            }
        }
        assert!((k - expected).to_cols_array().iter().all(|x| x.abs() < 1e-13), "{k} {expected}");
        // The naive sum of both halves misses the cross terms.
        let mut fixed = FreeBodies::default();
        fixed.add_driven();
        fixed.prepare(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        let mut half = |part: u32| {
            let sides = Sides::Two { a: (&tree, PartId(part)), b: (&fixed, PartId(0)) };
            Contact { sides, frame }.matrix(&mut ws).unwrap()
        };
        let naive = half(0) + half(1);
        largest = largest.max((naive - k).to_cols_array().iter().fold(0.0, |m, x| m.max(x.abs())));
    }
    assert!(largest > 0.5, "cross terms of at most {largest}");
}

#[test]
fn a_tree_hits_itself_and_a_free_body() {
    let mut random = SplitMix64(96);
    let mut ws = CollisionWorkspace::default();
    let mut hits = 0;
    for _ in 0..500 {
        let mut tree = TwoLinks::default();
        tree.prepare(&[random.range(-3.0, 3.0), random.range(-3.0, 3.0)]).unwrap();
        let (mut pool, q, _) = random_pool(&mut random);
        pool.prepare(&q).unwrap();
        let frame = ContactFrame::new(random.vec3(0.5), random.unit_vec3()).unwrap();
        let mut v_tree = [random.range(-2.0, 2.0), random.range(-2.0, 2.0)];
        let mut v_pool: Vec<f64> = (0..24).map(|_| random.range(-1.0, 1.0)).collect();
        for sides in [
            Sides::Same { system: &tree, a: PartId(1), b: PartId(0) },
            Sides::Two { a: (&tree, PartId(1)), b: (&pool, PartId(2)) },
        ] {
            let contact = Contact { sides, frame };
            let before = energy(&tree, &v_tree);
            let result =
                contact.collide(&Integrated::default(), 0.4, 0.6, &mut ws, &mut v_tree, &mut v_pool).unwrap();
            let (impact, p) = result;
            let after = contact.velocity(&v_tree, &v_pool).unwrap();
            assert!((after - impact.velocity - impact.k * p).length() < 1e-11 * (1.0 + p.length()));
            if impact.velocity.z < 0.0 {
                hits += 1;
                assert!(after.z > -1e-10, "{impact:?} {p} {after}");
                if matches!(sides, Sides::Same { .. }) {
                    // Work of the impulse is the change of the tree's energy.
                    let work = 0.5 * (impact.velocity + after).dot(p);
                    assert_close!(energy(&tree, &v_tree) - before, work, abs = 1e-11 * (1.0 + before));
                    assert!(work <= 1e-12);
                }
            }
        }
    }
    assert!(hits > 200, "{hits}");
}

// proves: MIR-71
#[test]
fn a_planar_tree_hits_a_plate_without_sideways_impulse() {
    let mut tree = TwoLinks::default();
    let mut ws = CollisionWorkspace::default();
    let mut ground = FreeBodies::default();
    ground.add_driven();
    ground.prepare(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    tree.prepare(&[0.5, 0.4]).unwrap();
    let tip = tree.centers[1] * 2.0 - tree.hinges[1];
    let contact = Contact {
        sides: Sides::Two { a: (&tree, PartId(1)), b: (&ground, PartId(0)) },
        frame: ContactFrame::new(tip, DVec3::Z).unwrap(),
    };
    for mut v in [[1.0, 0.5], [0.2, 2.0], [3.0, -1.0]] {
        let (impact, p) =
            contact.collide(&Integrated::default(), 0.5, 0.3, &mut ws, &mut v, &mut [0.0; 6]).unwrap();
        assert!(impact.velocity.z < 0.0 && p.z > 0.0);
        assert!(p.y.abs() < 1e-15, "{p}");
        assert!(impact.k.y_axis.length() < 1e-15, "nothing moves across the plane");
    }
}

#[test]
fn wrong_lengths_and_stale_systems_are_errors() {
    let mut pool = FreeBodies::default();
    let ball = pool.add_free(PrincipalMass::ball(1.0, 0.1).unwrap());
    let mut ws = CollisionWorkspace::default();
    let frame = ContactFrame::new(DVec3::ZERO, DVec3::Z).unwrap();
    {
        let contact = Contact { sides: Sides::Same { system: &pool, a: ball, b: PartId(7) }, frame };
        assert_eq!(contact.matrix(&mut ws), Err(DynamicsError::NotPrepared));
    }
    pool.prepare(&[0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]).unwrap();
    let contact = Contact { sides: Sides::Same { system: &pool, a: ball, b: PartId(7) }, frame };
    assert_eq!(contact.matrix(&mut ws), Err(DynamicsError::UnknownPart { part: PartId(7), count: 1 }));
    assert!(pool.prepare(&[0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]).is_err(), "a zero quaternion");
    assert!(ContactFrame::new(DVec3::ZERO, DVec3::Z * 1.1).is_err());
    assert!(ContactFrame::new(DVec3::NAN, DVec3::Z).is_err());
    let wall = pool.add_driven();
    assert_eq!(pool.mass(ball).map(PrincipalMass::mass), Some(1.0));
    assert_eq!((pool.mass(wall), pool.placed(ball)), (None, None));
}
