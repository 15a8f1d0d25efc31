//! Loops: constraints between two links (or a link and the world) on top of a tree.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 8.2 and 8.3; Arnold 1997, 2.4.4 (after Brandl et al. 1987);
//! Baumgarte (1972) for the feedback on the error.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | rows | J, made of pushes and twists on the two links | world |
//! | `w` W | J M⁻¹ Jᵀ | |
//! | `error` c | how far the two frames are apart along the rows | world |
//! | λ | constraint forces along the rows | |
//!
//! # Formula
//! ```text
//! W λ = −(J q̈_free + J̇ q̇) − 2 β J q̇ − β² c,      q̈ = q̈_free + M⁻¹ Jᵀ λ
//! projection:  W λ = −c,  q ← q ⊕ M⁻¹ Jᵀ λ  until |c| is small;      v ← v − M⁻¹ Jᵀ W⁺ J v
//! ```
//! # Cost
//! O(n) for the tree, O(m depth + m² nv + m³) for m rows; the projection a few times that.
//!
//! # Numerics
//! W of a planar linkage is rank deficient (rows out of the plane repeat each other): it is factorised by Cholesky with diagonal
//! pivoting, and rows whose pivot is below 1e-11 of the largest carry no force. For consistent rows that is exact.
//!
//! # Failure
//! As [`crate::aba`]; unknown link; `NonFinite` if the projection runs away.
//!
//! # Tested by
//! `four_bar_linkage_follows_freudenstein`,
//! `a_welded_chain_is_a_rigid_body`,
//! `feedback_makes_errors_decay`.

use super::{
    aba::aba,
    check_len,
    impulse::{LinkImpulse, apply_impulses, delassus},
    integrate::integrate,
    jacobian::check_link,
    kinematics::{compute_poses, compute_velocities},
    mass_solve::factorize,
};
use crate::{Model, State, Workspace};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    rotation::{quat_from_mat3, quat_log},
    spatial::{Force, Motion, SpatialTransform},
};
use sim_traits::DynamicsError;

/// What a loop closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// The two origins coincide: 3 rows.
    Ball,
    /// The two origins and z axes coincide: 5 rows.
    Hinge,
    /// The two frames coincide: 6 rows.
    Weld,
}

/// One closed loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loop {
    /// What is held together.
    pub kind: LoopKind,
    /// First link; `None` is the world.
    pub link_a: Option<u32>,
    /// Frame on the first link, in its frame (or in the world).
    pub frame_a: Pose,
    /// Second link; `None` is the world.
    pub link_b: Option<u32>,
    /// Frame on the second link, in its frame (or in the world).
    pub frame_b: Pose,
}

impl LoopKind {
    fn rows(self) -> usize {
        match self {
            Self::Ball => 3,
            Self::Hinge => 5,
            Self::Weld => 6,
        }
    }
}

/// Memory of the loop functions.
#[derive(Debug, Clone, Default)]
pub struct LoopWorkspace {
    entries: Vec<LinkImpulse>,
    u: Vec<f64>,
    w: Vec<f64>,
    rhs: Vec<f64>,
    error: Vec<f64>,
    velocity: Vec<f64>,
    dv: Vec<f64>,
    order: Vec<usize>,
    /// Forces along the rows found by the last [`loop_accelerations`], in the order of the loops: three forces in world axes, then moments.
    pub lambda: Vec<f64>,
}

/// One side of a loop in the world.
struct Side {
    frame: SpatialTransform,
    velocity: Motion,
    acceleration: Motion,
}

fn side(model: &Model, ws: &Workspace, link: Option<u32>, frame: &Pose) -> Result<Side, DynamicsError> {
    let frame = SpatialTransform::from_pose(frame);
    let Some(link) = link else {
        // The world at rest, seen from a frame that falls freely.
        let acceleration = Motion::new(DVec3::ZERO, -model.gravity);
        return Ok(Side { frame, velocity: Motion::ZERO, acceleration });
    };
    let slot = check_link(model, link)?;
    let pose = &ws.world_from_link[slot];
    let turn = SpatialTransform::new(pose.rotation, DVec3::ZERO);
    let (v, a) = (turn.motion(ws.velocity[slot]), turn.motion(ws.acceleration[slot]));
    let frame = *pose * frame;
    let arm = frame.translation - pose.translation;
    let (v, a) = (v.shifted(arm), a.shifted(arm));
    Ok(Side { frame, velocity: v, acceleration: a.classical_from_spatial(v) })
}

/// Assembles entries, errors, J v and the acceleration of the rows (in `rhs`). Needs poses, velocities and accelerations.
fn assemble(
    model: &Model,
    ws: &Workspace,
    loops: &[Loop],
    lw: &mut LoopWorkspace,
) -> Result<usize, DynamicsError> {
    lw.entries.clear();
    lw.error.clear();
    lw.velocity.clear();
    lw.rhs.clear();
    for l in loops {
        let (a, b) = (side(model, ws, l.link_a, &l.frame_a)?, side(model, ws, l.link_b, &l.frame_b)?);
        let gap = a.frame.translation - b.frame.translation;
        let rate = a.velocity.linear - b.velocity.linear;
        let acceleration = a.acceleration.linear - b.acceleration.linear;
        for axis in 0..3 {
            let e = DVec3::AXES[axis];
            push_row(ws, l, e, false, &a, &b, lw);
            lw.error.push(gap[axis]);
            lw.velocity.push(rate[axis]);
            lw.rhs.push(acceleration[axis]);
        }
        let spin = a.velocity.angular - b.velocity.angular;
        let turning = a.acceleration.angular - b.acceleration.angular;
        let axes = a.frame.rotation;
        let apart = match l.kind {
            LoopKind::Ball => DVec3::ZERO,
            LoopKind::Hinge => b.frame.rotation.z_axis.cross(axes.z_axis),
            LoopKind::Weld => rotation_vector(axes * b.frame.rotation.transpose()),
        };
        for k in 0..l.kind.rows() - 3 {
            // Rows along axes that the first link carries.
            let e = axes.col(k);
            push_row(ws, l, e, true, &a, &b, lw);
            lw.error.push(apart.dot(e));
            lw.velocity.push(spin.dot(e));
            lw.rhs.push(turning.dot(e) + a.velocity.angular.cross(e).dot(spin));
        }
    }
    Ok(lw.error.len())
}

fn rotation_vector(r: DMat3) -> DVec3 {
    // A product of two rotations is a rotation to rounding.
    quat_from_mat3(r).map_or(DVec3::ZERO, quat_log)
}

fn push_row(ws: &Workspace, l: &Loop, e: DVec3, twist: bool, a: &Side, b: &Side, lw: &mut LoopWorkspace) {
    let row = lw.error.len() as u32;
    for (link, side, sign) in [(l.link_a, a, 1.0), (l.link_b, b, -1.0)] {
        if let Some(link) = link {
            let in_world = if twist {
                Force::new(e * sign, DVec3::ZERO)
            } else {
                Force::at_offset(side.frame.translation, e * sign)
            };
            let impulse = ws.world_from_link[link as usize + 1].inverse_force(in_world);
            lw.entries.push(LinkImpulse { row, link, impulse });
        }
    }
}

/// Solves W λ = −rhs and writes M⁻¹ Jᵀ λ into `lw.dv`.
fn respond(
    model: &Model,
    ws: &mut Workspace,
    rows: usize,
    lw: &mut LoopWorkspace,
) -> Result<(), DynamicsError> {
    let nv = model.v_len();
    lw.u.clear();
    lw.u.resize(rows * nv, 0.0);
    lw.w.clear();
    lw.w.resize(rows * rows, 0.0);
    delassus(model, ws, &lw.entries, rows, &mut lw.u, &mut lw.w)?;
    lw.lambda.clear();
    lw.lambda.extend(lw.rhs.iter().map(|x| -x));
    solve_semidefinite(&mut lw.w, &mut lw.lambda, &mut lw.order);
    for e in &mut lw.entries {
        e.impulse = e.impulse * lw.lambda[e.row as usize];
    }
    lw.dv.clear();
    lw.dv.resize(nv, 0.0);
    apply_impulses(model, ws, &lw.entries, &[], &mut lw.dv)
}

/// Cholesky with diagonal pivoting; unknowns beyond the numerical rank become zero.
fn solve_semidefinite(w: &mut [f64], b: &mut [f64], order: &mut Vec<usize>) {
    let n = b.len();
    order.clear();
    order.extend(0..n);
    let largest = (0..n).map(|i| w[i * n + i]).fold(0.0, f64::max);
    let mut rank = 0;
    while rank < n {
        let mut best = rank;
        for i in rank..n {
            if w[order[i] * n + order[i]] > w[order[best] * n + order[best]] {
                best = i;
            }
        }
        order.swap(rank, best);
        let p = order[rank];
        let pivot = w[p * n + p];
        let has_digits = pivot > 1e-11 * largest;
        if !has_digits {
            break;
        }
        for k in rank + 1..n {
            let i = order[k];
            let factor = w[i * n + p] / pivot;
            for &j in &order[rank + 1..] {
                w[i * n + j] -= factor * w[p * n + j];
            }
            // Below the pivot the multiplier is kept: column p of row i.
            w[i * n + p] = factor;
            b[i] -= factor * b[p];
        }
        rank += 1;
    }
    for &i in &order[rank..] {
        b[i] = 0.0;
    }
    for k in (0..rank).rev() {
        let p = order[k];
        let mut sum = b[p];
        for &j in &order[k + 1..rank] {
            sum -= w[p * n + j] * b[j];
        }
        b[p] = sum / w[p * n + p];
    }
}

/// Joint accelerations of a tree with loops: [`Workspace::qdd`]. `rate` β, 1/s, is how fast errors of the loops decay
/// (0: not at all; 1 / β is the time constant). Link accelerations in the workspace are not those of the result:
/// [`crate::compute_accelerations`] writes them.
///
/// # Errors
/// As [`crate::aba`]; unknown link.
pub fn loop_accelerations(
    model: &Model,
    state: &State,
    tau: &[f64],
    external: &[Force],
    loops: &[Loop],
    rate: f64,
    ws: &mut Workspace,
    lw: &mut LoopWorkspace,
) -> Result<(), DynamicsError> {
    crate::state::check_finite("decay rate", &[rate])?;
    aba(model, state, tau, external, ws)?;
    place_world(model, state, ws);
    let rows = assemble(model, ws, loops, lw)?;
    for r in 0..rows {
        lw.rhs[r] += 2.0 * rate * lw.velocity[r] + rate * rate * lw.error[r];
    }
    respond(model, ws, rows, lw)?;
    for (a, d) in ws.qdd.iter_mut().zip(&lw.dv) {
        *a += d;
    }
    crate::state::check_finite("joint acceleration", &ws.qdd)
}

/// Poses in the world from transforms that are already there.
fn place_world(model: &Model, state: &State, ws: &mut Workspace) {
    ws.world_from_link[0] = SpatialTransform::from_pose(&state.base.world_from_base);
    for (i, link) in model.links.iter().enumerate() {
        ws.world_from_link[i + 1] = ws.world_from_link[link.parent_slot] * ws.parent_from_link[i];
    }
    ws.posed = true;
}

/// Largest error of the loops at a state, m and rad.
///
/// # Errors
/// As [`crate::compute_velocities`]; unknown link.
pub fn loop_error(
    model: &Model,
    state: &State,
    loops: &[Loop],
    ws: &mut Workspace,
    lw: &mut LoopWorkspace,
) -> Result<f64, DynamicsError> {
    compute_velocities(model, state, ws)?;
    assemble(model, ws, loops, lw)?;
    Ok(lw.error.iter().fold(0.0, |m: f64, e| m.max(e.abs())))
}

/// Moves the coordinates to the nearest closed configuration (in the metric of the mass matrix), then takes out the velocities
/// that would open the loops. Returns the largest error left, m and rad.
///
/// # Errors
/// As [`crate::aba`]; unknown link.
pub fn project_loops(
    model: &Model,
    state: &mut State,
    loops: &[Loop],
    tolerance: f64,
    max_iterations: usize,
    ws: &mut Workspace,
    lw: &mut LoopWorkspace,
) -> Result<f64, DynamicsError> {
    check_len("velocities", state.v.len(), model.v_len())?;
    let mut left = loop_error(model, state, loops, ws, lw)?;
    for _ in 0..max_iterations {
        if left <= tolerance {
            break;
        }
        factorize(model, &state.q, ws)?;
        place_world(model, state, ws);
        lw.rhs.clear();
        lw.rhs.extend_from_slice(&lw.error);
        let rows = lw.rhs.len();
        respond(model, ws, rows, lw)?;
        integrate(model, &mut state.q, &lw.dv, 1.0)?;
        left = loop_error(model, state, loops, ws, lw)?;
    }
    factorize(model, &state.q, ws)?;
    place_world(model, state, ws);
    let rows = lw.velocity.len();
    lw.rhs.clear();
    lw.rhs.extend_from_slice(&lw.velocity);
    respond(model, ws, rows, lw)?;
    for (v, d) in state.v.iter_mut().zip(&lw.dv) {
        *v += d;
    }
    compute_poses(model, state, ws)?;
    Ok(left)
}
