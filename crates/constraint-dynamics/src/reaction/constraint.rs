//! What is to vanish at the end of a frame, and what may be done to make it vanish: the seam between constraints and the solver.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.4.1, 3.4.5 and 3.4.7, with rows in place of one class for each kind of constraint.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | R | unknown value of a row: a force or torque over the frame | N, N·m |
//! | x, u | position and velocity of a row at the end of the frame | m or rad, 1/s |
//! | x₀, u₀ | the same at its start | |
//! | a | share of the velocity term | - |
//! | k, c, s | stiffness, damping, wanted speed of a drive | |
//! | w | inverse of the mass that a row feels, J M⁻¹ Jᵀ | 1/kg |
//! | θ | share of the end of the frame in what a drive feels | - |
//!
//! # Formula
//!
//! ```text
//! held, limit        C = x + a h u                                             R free; R ≥ 0;   a limit that is hit and throws back: C = h (u + e u₀)
//! held by velocity   C = h u
//! drive              C = h² w (R + k ((1−θ) x₀ + θ x) + c ((1−θ) u₀ + θ u − s))     |R| ≤ most,  θ = ½ + ½ κ/(1 + κ),  κ = h² w (k + c/h)
//! motor, friction    C = h (u − s)                                             |R| ≤ most
//! ```
//!
//! Velocity terms: an error that is zero at the ends of frames but has a rate that alternates is not seen by its place alone, and grows. a = ½ brings it to zero in one
//! frame: it is multiplied by (2a−1)/(2a+1) from frame to frame.
//!
//! # Cost
//!
//! A few multiplications per row.
//!
//! # Numerics
//!
//! Soft drives are met in the middle of the frame, which keeps energy; stiff ones at its end, which is stable for any stiffness. Errors are in m or rad.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `tests/reaction.rs`, `tests/reaction_laws.rs`

use super::body::{BodyState, ReactionBody};
use crate::joints::RowLaw;
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
};

/// One unknown and its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReactionRow {
    /// What it asks for.
    pub law: RowLaw,
    /// It has a velocity and no place: wheels that roll, points that move alike.
    pub by_velocity: bool,
}

/// How a row and a body feel each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowSide {
    /// Force at the point of the site that a unit of R exerts, world axes.
    pub force: DVec3,
    /// Torque that it exerts besides.
    pub torque: DVec3,
    /// u = `turn` · ω + `shift` · v at the centre of mass.
    pub turn: DVec3,
    /// See `turn`.
    pub shift: DVec3,
}

/// Where a constraint holds a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Site {
    /// Number of the body.
    pub body: u32,
    /// Point where forces act, body axes from the centre of mass, m: fixed to the body during the frame.
    pub point: DVec3,
}

/// What a constraint says at the start of a frame. Buffers are reused.
#[derive(Debug, Clone, Default)]
pub struct RowTable {
    /// Rows.
    pub rows: Vec<ReactionRow>,
    /// Position and velocity of each row now.
    pub now: Vec<[f64; 2]>,
    /// Bodies that are held.
    pub sites: Vec<Site>,
    /// For each site one side per row.
    pub sides: Vec<RowSide>,
}

/// Constraints between numbered bodies.
///
/// **Contract.** `begin` and `measure` are functions of the constraint and of the states given. `measure` writes as many rows as `begin` added. R > 0 pushes x up.
pub trait Constraints: std::fmt::Debug {
    /// Number of constraints.
    fn count(&self) -> usize;

    /// Bodies that constraint `k` holds, each once.
    fn bodies(&self, k: usize) -> &[u32];

    /// Greatest number of rows of constraint `k`, for the order of unknowns.
    fn size(&self, k: usize) -> usize;

    /// Adds the rows of constraint `k` at the start of a frame of `h` seconds: one site for each of [`Constraints::bodies`].
    fn begin(&mut self, k: usize, bodies: &[ReactionBody], h: f64, out: &mut RowTable);

    /// Writes position and velocity of each row of constraint `k` at the end of the frame.
    fn measure(&mut self, k: usize, bodies: &[BodyState], out: &mut [[f64; 2]]);

    /// Share of the error of constraint `k` that is asked to vanish at an iteration, 0 to 1.
    fn stiffness(&self, k: usize) -> f64 {
        let _ = k;
        1.0
    }
}

/// The equation of a row, with all that does not change in a frame: C = constant + `place` x + `rate` u + `value` R.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Equation {
    constant: f64,
    pub(super) place: f64,
    pub(super) rate: f64,
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Constant, place and rate of a limit that is reached in this frame and throws back: it asks for a rate, and acts if its place asks for it.
    gate: Option<[f64; 3]>,
}

impl Equation {
    /// Of a row that feels the inverse mass `ease`.
    pub(super) fn new(row: &ReactionRow, [x0, u0]: [f64; 2], ease: f64, share: f64, h: f64) -> Self {
        let free = |constant, place, rate, most: f64| Self {
            constant,
            place,
            rate,
            value: 0.0,
            low: -most,
            high: most,
            gate: None,
        };
        match row.law {
            RowLaw::Limit { restitution } if restitution > 0.0 && u0 < 0.0 => Self {
                low: 0.0,
                gate: Some([0.0, 1.0, share * h]),
                ..free(h * restitution * u0, 0.0, h, f64::INFINITY)
            },
            RowLaw::Hold if row.by_velocity => free(0.0, 0.0, h, f64::INFINITY),
            RowLaw::Hold => free(0.0, 1.0, share * h, f64::INFINITY),
            RowLaw::Limit { .. } => Self { low: 0.0, ..free(0.0, 1.0, share * h, f64::INFINITY) },
            RowLaw::Friction { most } => free(0.0, 0.0, h, most),
            RowLaw::Drive { damping, speed, most, .. } if damping == f64::INFINITY => {
                free(-h * speed, 0.0, h, most)
            }
            RowLaw::Drive { stiffness: k, damping: c, speed, most } => {
                let scale = h * h * ease.max(f64::MIN_POSITIVE);
                let hardness = scale * (k + c / h);
                let theta = 0.5 + 0.5 * hardness / (1.0 + hardness);
                let before = (1.0 - theta) * (k * x0 + c * u0) - c * speed;
                Self {
                    constant: scale * before,
                    place: scale * k * theta,
                    rate: scale * c * theta,
                    value: scale,
                    low: -most,
                    high: most,
                    gate: None,
                }
            }
        }
    }

    /// A limit that is not reached for the first time throws nothing back.
    pub(super) fn settle(&mut self) {
        if let Some([constant, place, rate]) = self.gate.take() {
            (self.constant, self.place, self.rate) = (constant, place, rate);
        }
    }

    /// What says whether a value at its bound should leave it.
    pub(super) fn gate(&self, [x, u]: [f64; 2], value: f64) -> f64 {
        self.gate.map_or_else(|| self.error([x, u], value), |[c, place, rate]| c + place * x + rate * u)
    }

    /// C for a place, a rate and a value.
    #[inline]
    pub(super) fn error(&self, [x, u]: [f64; 2], value: f64) -> f64 {
        let scaled = if self.value == 0.0 { 0.0 } else { self.value * value };
        self.constant + self.place * x + self.rate * u + scaled
    }
}

/// A point of a body as an arm in world axes.
pub(super) fn arm(pose: &Pose, point: DVec3) -> DVec3 {
    DMat3::from_quat(pose.rotation) * point
}
