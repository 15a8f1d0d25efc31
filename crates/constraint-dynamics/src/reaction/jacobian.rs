//! Derivatives of errors by values: by factors, and by trying.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.4.5, with the factors of `derivatives` in the form that rows have.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | f, t | shift and turn of a row: u = f·v + t·ω |
//! | F, M | force and moment about the centre that a unit of another row exerts |
//! | α, β, γ | share of place, rate and value in the error of a row |
//!
//! # Formula
//!
//! ```text
//! by factors   ∂Cᵢ/∂Rⱼ = Σ over free bodies (α h²/2 + β h) (f·F/m + t·W M) + γ δᵢⱼ
//! by trying    (C(R + δ eⱼ) − C(R))/δ,  or (C(R + ½δ eⱼ) − C(R − ½δ eⱼ))/δ;   δ = 1, or as large as the value
//! ```
//!
//! # Cost
//!
//! By factors a few multiplications per pair of rows on a body. By trying one or two integrations of the bodies of each row, and errors of all that share them.
//!
//! # Numerics
//!
//! The factors leave out how the directions of a row turn within the frame: they are good to a share of order h.
//!
//! # Failure
//!
//! [`ReactionError::Body`] where a test force makes a state that is not finite.
//!
//! # Tested by
//!
//! `analytic_and_empirical_jacobians_agree_for_every_kind_of_joint`

use super::{
    frame::Frame,
    graph::Held,
    params::{JacobianKind, ReactionError},
};
use sim_math::glam::DVec3;

impl Frame<'_> {
    /// How bodies answer the rows, and what rows feel of themselves.
    pub(super) fn find_answers(&mut self) {
        let ws = &mut *self.ws;
        ws.answers.clear();
        ws.ease.clear();
        ws.ease.resize(ws.table.rows.len(), 0.0);
        for span in &ws.graph.spans {
            let count = span.rows.len();
            for (k, site) in ws.table.sites[span.sites.clone()].iter().enumerate() {
                let response = &ws.responses[site.body as usize];
                let arm = self.bodies[site.body as usize].state.pose.rotation * site.point;
                for i in 0..count {
                    let side = &ws.table.sides[span.first_side + k * count + i];
                    let shift = side.force * response.inverse_mass;
                    let turn = response.inverse_inertia * (side.torque + arm.cross(side.force));
                    ws.ease[span.rows.start + i] += side.shift.dot(shift) + side.turn.dot(turn);
                    ws.answers.push([shift, turn]);
                }
            }
        }
    }

    /// J of a part in the way that is asked for.
    pub(super) fn find_jacobian(&mut self, part: usize) -> Result<(), ReactionError> {
        self.begin_jacobian(part);
        match self.params.jacobian {
            JacobianKind::Analytic => {
                self.by_factors(part);
                Ok(())
            }
            JacobianKind::Empirical { central } => self.by_trying(part, central, true),
        }
    }

    /// J of a part as the integrator has it.
    pub(super) fn find_true_jacobian(&mut self, part: usize) -> Result<(), ReactionError> {
        self.begin_jacobian(part);
        self.by_trying(part, false, false)
    }

    fn begin_jacobian(&mut self, part: usize) {
        let shape = &self.ws.graph.parts[part];
        let (size, band) = (shape.size, shape.is_banded().then_some(shape.band));
        self.ws.systems[part].reset(size, band);
    }

    fn by_factors(&mut self, part: usize) {
        let h = self.h;
        let ws = &mut *self.ws;
        let system = &mut ws.systems[part];
        let shape = &ws.graph.parts[part];
        for &body in &ws.graph.free[shape.bodies.clone()] {
            let held = ws.graph.held(body);
            for &of in held {
                for &by in held {
                    let (rows, sides) = range(&ws.graph.spans, of);
                    let (columns, answers) = range(&ws.graph.spans, by);
                    for (i, row) in rows.enumerate() {
                        let (side, equation) = (&ws.table.sides[sides + i], &ws.equations[row]);
                        let gain = equation.place * (0.5 * h * h) + equation.rate * h;
                        let (shift, turn) = (side.shift * gain, side.turn * gain);
                        for (j, column) in columns.clone().enumerate() {
                            let [moved, turned] = ws.answers[answers + j];
                            let entry = shift.dot(moved) + turn.dot(turned);
                            system.add(ws.graph.place[row] as usize, ws.graph.place[column] as usize, entry);
                        }
                    }
                }
            }
        }
        for &constraint in &ws.graph.order[shape.constraints.clone()] {
            for row in ws.graph.spans[constraint as usize].rows.clone() {
                let place = ws.graph.place[row] as usize;
                system.add(place, place, ws.equations[row].value);
            }
        }
    }

    /// Leaves the bodies of the part where the real integrator brings them.
    fn by_trying(&mut self, part: usize, central: bool, cheap: bool) -> Result<(), ReactionError> {
        let before = self.evaluations;
        self.testing = cheap;
        let result = self.try_all(part, central);
        self.testing = false;
        self.test_evaluations += self.evaluations - before;
        result?;
        self.predict(part)
    }

    fn try_all(&mut self, part: usize, central: bool) -> Result<(), ReactionError> {
        let shape = self.ws.graph.parts[part].clone();
        if !central {
            // From where the same integrator would bring all.
            self.predict(part)?;
        }
        for k in shape.constraints.clone() {
            let constraint = self.ws.graph.order[k];
            let rows = self.ws.graph.spans[constraint as usize].rows.clone();
            for column in rows {
                let value = self.ws.values[column];
                // Test forces of a unit are those of the reference; what is to be exact looks closer.
                let delta = value.abs().max(1.0) * if self.testing { 1.0 } else { 1e-3 };
                let steps = if central { [-0.5, 0.5] } else { [0.0, 1.0] };
                for (sign, step) in [-1.0, 1.0].into_iter().zip(steps) {
                    self.ws.values[column] = value + step * delta;
                    if step != 0.0 {
                        self.predict_around(constraint)?;
                    }
                    self.add_errors_around(part, constraint, column, sign / delta);
                }
                self.ws.values[column] = value;
                self.predict_around(constraint)?;
            }
        }
        Ok(())
    }

    /// Integrates the bodies of one constraint.
    fn predict_around(&mut self, constraint: u32) -> Result<(), ReactionError> {
        for k in self.ws.graph.spans[constraint as usize].sites.clone() {
            let body = self.ws.table.sites[k].body;
            self.predict_body(body)?;
        }
        Ok(())
    }

    /// Adds the errors of all that hold a body of `constraint` to a column of J.
    fn add_errors_around(&mut self, part: usize, constraint: u32, column: usize, factor: f64) {
        let mut near = std::mem::take(&mut self.ws.near);
        near.clear();
        near.push(constraint);
        for k in self.ws.graph.spans[constraint as usize].sites.clone() {
            let body = self.ws.table.sites[k].body;
            if self.bodies[body as usize].is_free() {
                near.extend(self.ws.graph.held(body).iter().map(|h| h.constraint));
            }
        }
        near.sort_unstable();
        near.dedup();
        for &of in &near {
            self.measure(of);
            for row in self.ws.graph.spans[of as usize].rows.clone() {
                let ws = &mut *self.ws;
                let error = ws.equations[row].error(ws.ends[row], ws.values[row]);
                let (i, j) = (ws.graph.place[row] as usize, ws.graph.place[column] as usize);
                ws.systems[part].add(i, j, error * factor);
            }
        }
        self.ws.near = near;
    }
}

/// Rows of the constraint of a site, and the first side of the site.
fn range(spans: &[super::graph::Span], held: Held) -> (std::ops::Range<usize>, usize) {
    let span = &spans[held.constraint as usize];
    (span.rows.clone(), span.first_side + held.site as usize * span.rows.len())
}

/// Force and torque of all rows of a site.
pub(super) fn exerted(
    spans: &[super::graph::Span],
    sides: &[super::constraint::RowSide],
    values: &[f64],
    held: Held,
) -> (DVec3, DVec3) {
    let (rows, first) = range(spans, held);
    rows.zip(&sides[first..]).fold((DVec3::ZERO, DVec3::ZERO), |(force, torque), (row, side)| {
        (force + side.force * values[row], torque + side.torque * values[row])
    })
}
