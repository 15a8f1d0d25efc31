//! Two points that stay together: a ball joint.
//!
//! # Reference
//!
//! Cline (2002), 4.4.1; Barenbrug (2000), 4.1.2 (point-to-point).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | r | from the centre of mass of a body to the point where the row acts | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//! | α, θ | swing and twist, see `rotation` | rad |
//!
//! # Formula
//!
//! ```text
//! hold    x = p_b − p_a                 u = v_b + ω_b × r_b − v_a − ω_a × r_a      moments e × …, forces e: r_b × eᵢ, eᵢ; −r_a × eᵢ, −eᵢ
//! cone    x = high − α                  α̇ = (ω_b − ω_a)·k,  k = z_a × z_b / |z_a × z_b|
//! twist   x = θ                         θ̇ = (ω_b − ω_a)·(z_a + z_b)/(1 + z_a·z_b)
//! drive   x = log of b seen from the target, three rows
//! ```
//!
//! # Cost
//!
//! Three rows, and what acts on swing and twist.
//!
//! # Numerics
//!
//! Exact at any error of the points: each anchor moves with its own body.
//!
//! # Failure
//!
//! With no swing the axis of the cone is x of `a`: the limit is far away then, unless it is zero.
//!
//! # Tested by
//!
//! `rates_of_a_ball`, `a_swing_has_a_cone`

use super::{
    RowLaw, axis, rotation,
    write::{Placed, Writer},
};
use sim_math::glam::DVec3;
use sim_traits::joint::{JointDrive, JointSpring};

pub(super) fn rows(
    a: &Placed,
    b: &Placed,
    drive: Option<&JointDrive>,
    memory: &mut f64,
    out: &mut Writer<'_>,
) {
    out.hold_point(a, b);
    swing(a, b, out);
    let (angle, moment) = rotation::twist(a, b, memory);
    axis::angle(out, 1, angle, a, b, moment);
    if let (Some(drive), false) = (drive, out.values_only) {
        let target = Placed { rotation: (a.rotation * drive.target).normalize(), ..*a }.with_own_axes();
        let (error, moments) = rotation::log(&target, b);
        let law = RowLaw::Drive {
            stiffness: drive.stiffness,
            damping: drive.damping,
            speed: 0.0,
            most: drive.most,
        };
        let columns = [moments.x_axis, moments.y_axis, moments.z_axis];
        turns(a, b, &columns, law, error, out);
    }
}

/// The cone, and spring and friction of swings to all sides.
fn swing(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    let settings = out.axes.first().copied().unwrap_or_default();
    let (s, moments) = rotation::swing(a, b);
    let across = a.axes.z_axis.cross(b.axes.z_axis);
    let length = across.length();
    let k = if length > 1e-12 { across / length } else { a.axes.x_axis };
    let angle = DVec3::new(s[0], s[1], 0.0).length();
    // Springs and friction act to all sides, so that only limits are left to the axis.
    axis::limits(out, 0, angle, &|out, block, sign| out.turn(block, 0, a, b, k * sign));
    if out.values_only {
        return;
    }
    let s = DVec3::new(s[0], s[1], 0.0);
    if let Some(JointSpring { stiffness, damping, .. }) = settings.spring {
        let law = RowLaw::Drive { stiffness, damping, speed: 0.0, most: f64::INFINITY };
        turns(a, b, &moments, law, s, out);
    }
    if settings.friction > 0.0 {
        turns(a, b, &moments, RowLaw::Friction { most: settings.friction }, s, out);
    }
}

fn turns(a: &Placed, b: &Placed, moments: &[DVec3], law: RowLaw, x: DVec3, out: &mut Writer<'_>) {
    let block = out.start();
    for (row, &moment) in moments.iter().enumerate() {
        out.turn(block, row, a, b, moment);
    }
    out.finish(block, &[law; 3][..moments.len()], x, DVec3::ZERO);
}

#[cfg(test)]
mod tests {
    use super::{super::testkit, *};
    use sim_math::{glam::DQuat, ops};
    use sim_traits::joint::{JointAxis, JointKind};

    #[test]
    fn rates_of_a_ball() {
        let target = DQuat::from_rotation_x(0.3);
        let drive = JointDrive { target, stiffness: 1.0, damping: 1.0, most: 1.0 };
        let axes = [
            JointAxis::default().limits(0.0, 1.0).spring(0.0, 1.0, 0.0).friction(1.0),
            JointAxis::default().limits(-1.0, 0.5).friction(1.0),
        ];
        testkit::check_rates(JointKind::Ball { drive: None }, &[]);
        testkit::check_rates(JointKind::Ball { drive: Some(drive) }, &axes);
    }

    #[test]
    fn a_swing_has_a_cone() {
        // Swung by 0.7 about an axis across z, then turned by 2.0 about its own z.
        let swing = DQuat::from_axis_angle(DVec3::new(0.6, 0.8, 0.0), 0.7) * DQuat::from_rotation_z(2.0);
        let axes =
            [JointAxis::default().limits(f64::NEG_INFINITY, 1.0), JointAxis::default().limits(-1.5, 1.5)];
        let rows = testkit::on_world(JointKind::Ball { drive: None }, &axes, swing, DVec3::ZERO);
        assert!((rows.blocks[1].position.x - 0.3).abs() < 1e-15);
        assert!((rows.sides[1].moments.x_axis - DVec3::new(-0.6, -0.8, 0.0)).length() < 1e-15);
        let twist = [rows.blocks[2].position.x, rows.blocks[3].position.x];
        assert!((twist[0] - 3.5).abs() < 1e-14 && (twist[1] + 0.5).abs() < 1e-14, "{twist:?}");
        // The moment of the twist times the axis it turns about is one.
        let m = rows.sides[2].moments.x_axis;
        assert!(
            (m.dot(swing * DVec3::Z) - 1.0).abs() < 1e-14
                && (m.length() * ops::cos(0.35) - 1.0).abs() < 1e-14
        );
    }
}
