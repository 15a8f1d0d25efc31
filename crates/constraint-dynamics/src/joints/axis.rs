//! Limits, motors, springs and friction of a free axis.
//!
//! # Reference
//!
//! Limits as one-sided rows like contacts: Cline (2002), 4.4.1 (left open there).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x | value of the axis | m or rad |
//! | low, high | limits | as x |
//!
//! # Formula
//!
//! ```text
//! limits      x − low ≥ 0,  high − x ≥ 0     two blocks; one that holds x − low = 0 where both are equal
//! spring      −k (x − rest) − c ẋ
//! motor       ẋ = speed, |force| ≤ most;  or −k (x − target) − c (ẋ − speed): the target moves, drift = −speed
//! friction    |force| ≤ most against ẋ
//! ```
//!
//! # Cost
//!
//! A row for each thing that acts.
//!
//! # Numerics
//!
//! A limit is a row however far away it is, so that fast bodies meet it: x/h + u ≥ 0 is slack then.
//!
//! # Failure
//!
//! None: settings are checked by `JointAxis::check`.
//!
//! # Tested by
//!
//! `settings_of_an_axis_become_rows`, `limits_push_inwards`

use super::{
    RowLaw,
    write::{Placed, Started, Writer},
};
use sim_math::glam::DVec3;
use sim_traits::joint::JointMotor;

/// Rows of free axis `k` with the value `x`; `add` puts its Jacobian, times a sign, into row 0 of a block.
pub(super) fn rows(out: &mut Writer<'_>, k: usize, x: f64, add: &dyn Fn(&mut Writer<'_>, Started, f64)) {
    let row = |out: &mut Writer<'_>, x: f64, law: RowLaw, drift: f64| one(out, add, 1.0, x, law, drift);
    let Some(axis) = out.axes.get(k).copied() else { return };
    if axis.locked && !out.values_only {
        row(out, x, RowLaw::Hold, 0.0);
        return;
    }
    limits(out, k, x, add);
    if out.values_only {
        return;
    }
    if let Some(s) = axis.spring {
        let law =
            RowLaw::Drive { stiffness: s.stiffness, damping: s.damping, speed: 0.0, most: f64::INFINITY };
        row(out, x - s.rest, law, 0.0);
    }
    match axis.motor {
        Some(JointMotor::Velocity { speed, most }) => {
            row(out, x, RowLaw::Drive { stiffness: 0.0, damping: f64::INFINITY, speed, most }, 0.0);
        }
        Some(JointMotor::Position { target, speed, stiffness, damping, most }) => {
            row(out, x - target, RowLaw::Drive { stiffness, damping, speed: 0.0, most }, -speed);
        }
        None => {}
    }
    if axis.friction > 0.0 {
        row(out, x, RowLaw::Friction { most: axis.friction }, 0.0);
    }
}

/// The limits of free axis `k` alone, or its value.
pub(super) fn limits(out: &mut Writer<'_>, k: usize, x: f64, add: &dyn Fn(&mut Writer<'_>, Started, f64)) {
    if out.values_only {
        one(out, add, 1.0, x, RowLaw::Friction { most: 0.0 }, 0.0);
        return;
    }
    let Some(axis) = out.axes.get(k).copied() else { return };
    if let Some(limits) = axis.limits {
        let law = RowLaw::Limit { restitution: limits.restitution };
        if limits.low >= limits.high {
            one(out, add, 1.0, x - limits.low, RowLaw::Hold, 0.0);
        } else {
            if limits.low.is_finite() {
                one(out, add, 1.0, x - limits.low, law, 0.0);
                out.is_limit(k, false);
            }
            if limits.high.is_finite() {
                one(out, add, -1.0, limits.high - x, law, 0.0);
                out.is_limit(k, true);
            }
        }
    }
}

fn one(
    out: &mut Writer<'_>,
    add: &dyn Fn(&mut Writer<'_>, Started, f64),
    sign: f64,
    x: f64,
    law: RowLaw,
    drift: f64,
) {
    let block = out.start();
    add(out, block, sign);
    out.finish(block, &[law], DVec3::new(x, 0.0, 0.0), DVec3::new(drift, 0.0, 0.0));
}

/// The angle of `b` against `a` about `moment` (world) as free axis `k`.
pub(super) fn angle(out: &mut Writer<'_>, k: usize, x: f64, a: &Placed, b: &Placed, moment: DVec3) {
    rows(out, k, x, &|out, block, sign| out.turn(block, 0, a, b, moment * sign));
}

/// The shift of the origin of `b` along `axis` (world, fixed to `a`) as free axis `k`.
pub(super) fn shift(out: &mut Writer<'_>, k: usize, a: &Placed, b: &Placed, axis: DVec3) {
    let x = axis.dot(b.origin - a.origin);
    rows(out, k, x, &|out, block, sign| out.shift(block, 0, a, b, b.origin, axis * sign));
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use super::*;
    use sim_math::glam::DQuat;
    use sim_traits::joint::{JointAxis, JointKind};

    #[test]
    fn settings_of_an_axis_become_rows() {
        let motor = JointMotor::Position { target: 1.0, speed: 0.5, stiffness: 2.0, damping: 3.0, most: 4.0 };
        let axis =
            JointAxis::default().limits(-1.0, f64::INFINITY).spring(0.1, 5.0, 6.0).motor(motor).friction(7.0);
        let rows = testkit::on_world(JointKind::Slider, &[axis], DQuat::IDENTITY, DVec3::Z * 0.25);
        let got: Vec<_> =
            rows.blocks[2..].iter().map(|b| (b.rows, b.laws[0], b.position.x, b.drift.x)).collect();
        let drive = |stiffness, damping, most| RowLaw::Drive { stiffness, damping, speed: 0.0, most };
        let expected = [
            (1, RowLaw::Limit { restitution: 0.0 }, 1.25, 0.0),
            (1, drive(5.0, 6.0, f64::INFINITY), 0.15, 0.0),
            (1, drive(2.0, 3.0, 4.0), -0.75, -0.5),
            (1, RowLaw::Friction { most: 7.0 }, 0.25, 0.0),
        ];
        assert_eq!(got, expected);
        // Limits that are equal hold; a velocity motor has an infinite damping.
        let motor = JointMotor::Velocity { speed: 2.0, most: 9.0 };
        let axis = JointAxis::default().limits(0.5, 0.5).motor(motor);
        let rows = testkit::on_world(JointKind::Slider, &[axis], DQuat::IDENTITY, DVec3::Z * 0.25);
        assert_eq!((rows.blocks[2].laws[0], rows.blocks[2].position.x), (RowLaw::Hold, -0.25));
        let law = RowLaw::Drive { stiffness: 0.0, damping: f64::INFINITY, speed: 2.0, most: 9.0 };
        assert_eq!(rows.blocks[3].laws[0], law);
    }

    #[test]
    fn limits_push_inwards() {
        let axis = JointAxis::default().limits(-1.0, 2.0);
        let rows = testkit::on_world(JointKind::Slider, &[axis], DQuat::IDENTITY, DVec3::ZERO);
        let force = |k: usize| rows.sides_of(&rows.blocks[k])[0].forces.x_axis;
        assert_eq!((force(2), force(3)), (DVec3::Z, -DVec3::Z));
        assert_eq!((rows.blocks[2].position.x, rows.blocks[3].position.x), (1.0, 2.0));
    }
}
