//! Stiff forces: one linearly implicit step of the velocities.
//!
//! # Reference
//!
//! Cline (2002), section 2.7.4: backward Euler with one Newton iteration.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | f | wrenches at the centres of mass, world axes, moment first | N·m, N |
//! | ∇p f, ∇v f | their derivatives along twists of the configuration, and by velocities | |
//! | h | step | s |
//!
//! # Formula
//!
//! ```text
//! (M − h² ∇p f − h ∇v f) v⁺ = M v + h (f − ∇v f · v)
//! spring between points d = x_A − x_B, w their relative velocity, u = d/l, P = 1 − u uᵀ, T = k (l − l₀) + c u·w:
//!   F = −T u,   ∂F/∂d = −u (k u + c P w/l)ᵀ − (T/l) P,   ∂F/∂w = −c u uᵀ,   moment r × F
//! ```
//!
//! # Cost
//!
//! One dense factorisation of six rows per body. Sampled gradients take 24 evaluations per body of a force.
//!
//! # Numerics
//!
//! Gradients of compressed springs and of turning arms can make the matrix indefinite. The exact gradients are tried first; if the symmetric
//! part is not positive definite, those that a force calls safe are used: negative semi-definite by construction.
//!
//! # Failure
//!
//! [`MathError`] for numbers that are not finite or a matrix that even safe gradients leave singular.
//!
//! # Tested by
//!
//! `a_stiff_oscillator_decays_as_backward_euler_does`, `sampled_and_analytic_gradients_agree`

use sim_math::{
    MathError, Pose,
    dense::{Cholesky, Lu, Matrix},
    glam::{DMat3, DVec3},
    rotation::quat_exp,
    spatial::{Force, Motion},
};
use std::fmt::Debug;

/// A force that depends on the state of a few bodies.
pub trait StiffForce: Debug + Send + Sync {
    /// Numbers of the bodies it acts on.
    fn bodies(&self) -> &[usize];

    /// Writes the wrench at the centre of mass of each body of [`bodies`](Self::bodies), world axes.
    fn wrenches(&self, poses: &[Pose], velocities: &[Motion], out: &mut [Force]);

    /// Writes ∇p f and ∇v f, six rows and columns per body; false if it knows none, and they are sampled. With `safe` they are
    /// negative semi-definite.
    fn gradients(
        &self,
        poses: &[Pose],
        velocities: &[Motion],
        safe: bool,
        by_position: &mut Matrix,
        by_velocity: &mut Matrix,
    ) -> bool {
        let _ = (poses, velocities, safe, by_position, by_velocity);
        false
    }
}

/// Gradients by central differences: positions are varied by `length` m and `length` rad, velocities by `speed`.
pub fn sampled_gradients(
    force: &dyn StiffForce,
    poses: &[Pose],
    velocities: &[Motion],
    length: f64,
    speed: f64,
    by_position: &mut Matrix,
    by_velocity: &mut Matrix,
) {
    let bodies = force.bodies();
    let n = bodies.len();
    by_position.reset(6 * n, 6 * n);
    by_velocity.reset(6 * n, 6 * n);
    let (mut p, mut v) = (poses.to_vec(), velocities.to_vec());
    let mut sides = [vec![Force::ZERO; n], vec![Force::ZERO; n]];
    for (b, &body) in bodies.iter().enumerate() {
        for axis in 0..12 {
            let mut unit = [0.0; 6];
            unit[axis % 6] = 1.0;
            let step = if axis < 6 { length } else { speed };
            for (sign, out) in [1.0, -1.0].into_iter().zip(&mut sides) {
                let twist = Motion::from_array(unit.map(|x| x * sign * step));
                if axis < 6 {
                    p[body] = Pose::new(
                        poses[body].translation + twist.linear,
                        (quat_exp(twist.angular) * poses[body].rotation).normalize(),
                    );
                } else {
                    v[body] = velocities[body] + twist;
                }
                force.wrenches(&p, &v, out);
            }
            (p[body], v[body]) = (poses[body], velocities[body]);
            let target = if axis < 6 { &mut *by_position } else { &mut *by_velocity };
            for k in 0..n {
                let (plus, minus) = (sides[0][k].to_array(), sides[1][k].to_array());
                for i in 0..6 {
                    target[(6 * k + i, 6 * b + axis % 6)] = (plus[i] - minus[i]) / (2.0 * step);
                }
            }
        }
    }
}

/// One end of a spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// A world point, m.
    World(DVec3),
    /// A point of a body of the spring's list (0 or 1), in its frame, m.
    Body(usize, DVec3),
}

/// Spring and damper between two points.
#[derive(Debug, Clone, PartialEq)]
pub struct SpringDamper {
    bodies: Vec<usize>,
    ends: [End; 2],
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    pub damping: f64,
    /// m.
    pub rest_length: f64,
}

/// The spring at a state.
#[derive(Debug, Clone, Copy)]
struct Stretched {
    /// Arms of both ends, world; zero for world points.
    arms: [DVec3; 2],
    omegas: [DVec3; 2],
    u: DVec3,
    l: f64,
    w: DVec3,
    tension: f64,
}

impl SpringDamper {
    /// Between two ends; `bodies` are the numbers of the bodies that the ends name.
    #[must_use]
    pub fn new(bodies: Vec<usize>, ends: [End; 2], stiffness: f64, damping: f64, rest_length: f64) -> Self {
        Self { bodies, ends, stiffness, damping, rest_length }
    }

    fn stretched(&self, poses: &[Pose], velocities: &[Motion]) -> Stretched {
        let mut at = [(DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO); 2];
        for (slot, end) in at.iter_mut().zip(self.ends) {
            *slot = match end {
                End::World(point) => (point, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO),
                End::Body(k, local) => {
                    let body = self.bodies[k];
                    let arm = poses[body].transform_vector(local);
                    let omega = velocities[body].angular;
                    (poses[body].translation + arm, velocities[body].linear + omega.cross(arm), arm, omega)
                }
            };
        }
        let (d, w) = (at[0].0 - at[1].0, at[0].1 - at[1].1);
        let l = d.length();
        let u = if l > 0.0 { d / l } else { DVec3::ZERO };
        let tension = self.stiffness * (l - self.rest_length) + self.damping * u.dot(w);
        Stretched { arms: [at[0].2, at[1].2], omegas: [at[0].3, at[1].3], u, l, w, tension }
    }
}

impl StiffForce for SpringDamper {
    fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    fn wrenches(&self, poses: &[Pose], velocities: &[Motion], out: &mut [Force]) {
        out.fill(Force::ZERO);
        let s = self.stretched(poses, velocities);
        for (end, (arm, sign)) in self.ends.into_iter().zip(s.arms.into_iter().zip([-1.0, 1.0])) {
            if let End::Body(k, _) = end {
                let force = s.u * (sign * s.tension);
                out[k] += Force::new(arm.cross(force), force);
            }
        }
    }

    fn gradients(
        &self,
        poses: &[Pose],
        velocities: &[Motion],
        safe: bool,
        by_position: &mut Matrix,
        by_velocity: &mut Matrix,
    ) -> bool {
        let n = self.bodies.len();
        by_position.reset(6 * n, 6 * n);
        by_velocity.reset(6 * n, 6 * n);
        let s = self.stretched(poses, velocities);
        let (k, c) = (self.stiffness, self.damping);
        let across = |x: DVec3| x - s.u * s.u.dot(x);
        let force = -s.tension * s.u;
        // δF for changes of d and w. A spring of no length pulls alike in all directions if it rests there.
        let by_d = |d: DVec3| {
            if s.l == 0.0 {
                return -k * d;
            }
            let hoop = if safe { s.tension.max(0.0) } else { s.tension } / s.l;
            let swing = if safe { 0.0 } else { c * s.w.dot(across(d)) / s.l };
            -s.u * (k * s.u.dot(d) + swing) - hoop * across(d)
        };
        let by_w = |w: DVec3| -s.u * (c * s.u.dot(w));
        for (column_end, j) in self.ends.into_iter().zip(0..2) {
            let End::Body(body, _) = column_end else { continue };
            let sign = if j == 0 { 1.0 } else { -1.0 };
            for axis in 0..6 {
                let mut unit = [0.0; 6];
                unit[axis] = 1.0;
                let twist = Motion::from_array(unit);
                // Motion of this end, and the change of its velocity because its arm turns.
                let moved = twist.linear + twist.angular.cross(s.arms[j]);
                let turned = twist.angular.cross(s.arms[j]);
                let drag = if safe { DVec3::ZERO } else { s.omegas[j].cross(turned) };
                let position = by_d(sign * moved) + by_w(sign * drag);
                let velocity = by_w(sign * moved);
                for (row_end, i) in self.ends.into_iter().zip(0..2) {
                    let End::Body(other, _) = row_end else { continue };
                    let row_sign = if i == 0 { 1.0 } else { -1.0 };
                    let mut moment = s.arms[i].cross(row_sign * position);
                    if i == j && !safe {
                        moment += turned.cross(row_sign * force);
                    }
                    let p = Force::new(moment, row_sign * position).to_array();
                    let v = Force::new(s.arms[i].cross(row_sign * velocity), row_sign * velocity).to_array();
                    for r in 0..6 {
                        by_position[(6 * other + r, 6 * body + axis)] += p[r];
                        by_velocity[(6 * other + r, 6 * body + axis)] += v[r];
                    }
                }
            }
        }
        true
    }
}

/// A body in an implicit step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertial {
    /// kg.
    pub mass: f64,
    /// About the centre of mass, world axes, kg·m².
    pub inertia: DMat3,
}

/// Memory of [`implicit_step`].
#[derive(Debug, Clone, Default)]
pub struct ImplicitWorkspace {
    matrix: Matrix,
    symmetric: Matrix,
    by_position: Matrix,
    by_velocity: Matrix,
    wrenches: Vec<Force>,
    rhs: Vec<f64>,
    lu: Lu,
    cholesky: Cholesky,
}

impl ImplicitWorkspace {
    /// What impulses at the centres of mass (six numbers per body, moment first, N·m·s and N·s) add to the velocities that the last
    /// [`implicit_step`] found, in their place, rad/s and m/s: the forces give way with them.
    ///
    /// # Errors
    /// A wrong number of entries.
    pub fn respond(&mut self, impulses: &mut [f64]) -> Result<(), MathError> {
        self.lu.solve_in_place(impulses)
    }
}

/// Velocities after a step of `h` seconds under stiff forces; `given` are all other wrenches (gravity, gyroscopic). True if the exact gradients served,
/// false if the safe ones had to.
///
/// # Errors
/// Numbers that are not finite, or a singular matrix.
pub fn implicit_step(
    bodies: &[Inertial],
    poses: &[Pose],
    velocities: &mut [Motion],
    given: &[Force],
    forces: &[&dyn StiffForce],
    h: f64,
    workspace: &mut ImplicitWorkspace,
) -> Result<bool, MathError> {
    for safe in [false, true] {
        build(bodies, poses, velocities, given, forces, h, safe, workspace);
        let n = 6 * bodies.len();
        workspace.symmetric.reset(n, n);
        for i in 0..n {
            for j in 0..n {
                workspace.symmetric[(i, j)] = 0.5 * (workspace.matrix[(i, j)] + workspace.matrix[(j, i)]);
            }
        }
        if workspace.cholesky.factor(workspace.symmetric.as_ref()).is_err() && !safe {
            continue;
        }
        workspace.lu.factor(workspace.matrix.as_ref())?;
        workspace.lu.solve_in_place(&mut workspace.rhs)?;
        for (v, x) in velocities.iter_mut().zip(workspace.rhs.chunks_exact(6)) {
            *v = Motion::from_array([x[0], x[1], x[2], x[3], x[4], x[5]]);
        }
        return Ok(!safe);
    }
    Ok(false)
}

fn build(
    bodies: &[Inertial],
    poses: &[Pose],
    velocities: &[Motion],
    given: &[Force],
    forces: &[&dyn StiffForce],
    h: f64,
    safe: bool,
    workspace: &mut ImplicitWorkspace,
) {
    let ImplicitWorkspace { matrix, by_position, by_velocity, wrenches, rhs, .. } = workspace;
    let n = bodies.len();
    matrix.reset(6 * n, 6 * n);
    rhs.clear();
    rhs.resize(6 * n, 0.0);
    for (k, body) in bodies.iter().enumerate() {
        for i in 0..3 {
            for j in 0..3 {
                matrix[(6 * k + i, 6 * k + j)] = body.inertia.col(j)[i];
            }
            matrix[(6 * k + 3 + i, 6 * k + 3 + i)] = body.mass;
        }
        let momentum = Force::new(body.inertia * velocities[k].angular, velocities[k].linear * body.mass);
        let sum = momentum + given[k] * h;
        rhs[6 * k..6 * k + 6].copy_from_slice(&sum.to_array());
    }
    for force in forces {
        let list = force.bodies();
        wrenches.clear();
        wrenches.resize(list.len(), Force::ZERO);
        force.wrenches(poses, velocities, wrenches);
        if !force.gradients(poses, velocities, safe, by_position, by_velocity) {
            sampled_gradients(*force, poses, velocities, 1e-5, 1e-5, by_position, by_velocity);
        }
        for (a, &row_body) in list.iter().enumerate() {
            let f = wrenches[a].to_array();
            for i in 0..6 {
                let row = 6 * row_body + i;
                rhs[row] += h * f[i];
                for (b, &column_body) in list.iter().enumerate() {
                    let v = velocities[column_body].to_array();
                    for j in 0..6 {
                        let (dp, dv) =
                            (by_position[(6 * a + i, 6 * b + j)], by_velocity[(6 * a + i, 6 * b + j)]);
                        matrix[(row, 6 * column_body + j)] -= h * h * dp + h * dv;
                        rhs[row] -= h * dv * v[j];
                    }
                }
            }
        }
    }
}
