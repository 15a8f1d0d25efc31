//! Springs and dampers in place of what a joint holds.
//!
//! # Reference
//!
//! A joint as an implicit spring: the row of a drive.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | m | mass that a row feels: 1/(J M⁻¹ Jᵀ) | kg or kg·m² |
//! | f, ζ | frequency, share of critical damping | Hz, - |
//!
//! # Formula
//!
//! ```text
//! stiffness   k and c as given: those of angles where a row has moments only
//! frequency   k = m (2π f)²,  c = 2 ζ m 2π f
//! ```
//!
//! # Cost
//!
//! One pass over the rows.
//!
//! # Numerics
//!
//! m is that of one row alone; what else the bodies hang on makes them slower.
//!
//! # Failure
//!
//! A row that moves nothing stays hard.
//!
//! # Tested by
//!
//! `a_soft_row_has_its_frequency`

use super::{JointBlock, JointRows, RowLaw};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::joint::JointSoftness;
use std::f64::consts::TAU;

/// How easily a body moves; zero for one that does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyInverse {
    /// 1/kg.
    pub mass: f64,
    /// In world axes, 1/(kg·m²).
    pub inertia: DMat3,
}

/// Replaces rows that hold by springs and dampers, in the blocks from `first` on, which belong to one joint with these bodies.
pub fn soften(rows: &mut JointRows, first: usize, softness: JointSoftness, bodies: &[BodyInverse]) {
    let JointRows { blocks, sides } = rows;
    for block in blocks.iter_mut().skip(first) {
        for row in 0..block.rows as usize {
            if block.laws[row] == RowLaw::Hold {
                if let Some(law) = spring(block, sides, row, softness, bodies) {
                    block.laws[row] = law;
                }
            }
        }
    }
}

fn spring(
    block: &JointBlock,
    sides: &[super::JointSide],
    row: usize,
    softness: JointSoftness,
    bodies: &[BodyInverse],
) -> Option<RowLaw> {
    let sides = sides.get(block.sides.start as usize..block.sides.end as usize)?;
    let (stiffness, damping) = match softness {
        JointSoftness::Stiffness { linear, linear_damping, angular, angular_damping } => {
            let turns = sides.iter().all(|s| s.forces.col(row) == DVec3::ZERO);
            if turns { (angular, angular_damping) } else { (linear, linear_damping) }
        }
        JointSoftness::Frequency { frequency, ratio } => {
            let ease = sides.iter().fold(0.0, |sum, side| {
                let (m, f) = (side.moments.col(row), side.forces.col(row));
                bodies.get(side.body as usize).map_or(sum, |b| sum + f.dot(f) * b.mass + m.dot(b.inertia * m))
            });
            if ease <= 0.0 {
                return None;
            }
            let (mass, omega) = (1.0 / ease, TAU * frequency);
            (mass * omega * omega, 2.0 * ratio * mass * omega)
        }
    };
    Some(RowLaw::Drive { stiffness, damping, speed: 0.0, most: f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::{super::testkit, *};
    use sim_math::glam::DQuat;
    use sim_traits::joint::JointKind;

    #[test]
    fn a_soft_row_has_its_frequency() {
        let mut rows = testkit::on_world(JointKind::Weld, &[], DQuat::from_rotation_y(0.1), DVec3::X);
        let bodies = [BodyInverse { mass: 0.5, inertia: DMat3::from_diagonal(DVec3::new(10.0, 10.0, 10.0)) }];
        soften(&mut rows, 0, JointSoftness::Frequency { frequency: 3.0, ratio: 0.5 }, &bodies);
        let omega = TAU * 3.0;
        let RowLaw::Drive { stiffness, damping, .. } = rows.blocks[0].laws[1] else { panic!("{rows:?}") };
        assert!((stiffness - 2.0 * omega * omega).abs() < 1e-10 && (damping - 2.0 * omega).abs() < 1e-12);
        let RowLaw::Drive { stiffness, .. } = rows.blocks[1].laws[1] else { panic!("{rows:?}") };
        // The row that the error is along has a moment of length one.
        assert!((stiffness - 0.1 * omega * omega).abs() < 1e-10, "{stiffness}");
        let hard =
            JointSoftness::Stiffness { linear: 5.0, linear_damping: 6.0, angular: 7.0, angular_damping: 8.0 };
        let mut rows = testkit::on_world(JointKind::Weld, &[], DQuat::IDENTITY, DVec3::X);
        soften(&mut rows, 0, hard, &bodies);
        let law = |stiffness, damping| RowLaw::Drive { stiffness, damping, speed: 0.0, most: f64::INFINITY };
        assert_eq!((rows.blocks[0].laws[0], rows.blocks[1].laws[2]), (law(5.0, 6.0), law(7.0, 8.0)));
    }
}
