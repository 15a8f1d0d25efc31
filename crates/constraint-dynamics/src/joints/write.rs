//! How the kinds of joints put rows together.

use super::{JointBlock, JointRows, JointSide, RowLaw};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
};
use sim_traits::joint::{JointAnchor, JointAxis};

/// An anchor where it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) body: u32,
    /// Centre of mass of its body.
    pub(super) center: DVec3,
    /// Its origin in the world.
    pub(super) origin: DVec3,
    pub(super) rotation: DQuat,
    /// Its axes in the world.
    pub(super) axes: DMat3,
}

impl Placed {
    /// The same frame with its axes named in another order: what was axis `k` is z.
    pub(super) fn with_z(&self, k: usize) -> Self {
        let axes = [self.axes.x_axis, self.axes.y_axis, self.axes.z_axis];
        let axes = DMat3::from_cols(axes[(k + 1) % 3], axes[(k + 2) % 3], axes[k]);
        // Turns z to x, x to y, y to z, and its inverse: a third of a turn about the diagonal.
        let third = match k {
            0 => DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5),
            1 => DQuat::from_xyzw(-0.5, -0.5, -0.5, 0.5),
            _ => DQuat::IDENTITY,
        };
        Self { axes, rotation: self.rotation * third, ..*self }
    }

    /// With the axes of its rotation.
    pub(super) fn with_own_axes(self) -> Self {
        Self { axes: DMat3::from_quat(self.rotation), ..self }
    }

    /// A world point in this frame.
    pub(super) fn local(&self, point: DVec3) -> DVec3 {
        self.axes.transpose() * (point - self.origin)
    }

    /// A point of this frame in the world.
    pub(super) fn world(&self, point: DVec3) -> DVec3 {
        self.origin + self.axes * point
    }
}

/// A block under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Started(u32);

/// Where rows go.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    out: &'a mut JointRows,
    pub(super) axes: &'a [JointAxis],
    poses: &'a [Pose],
    /// True if only values and rates of free axes are asked for.
    pub(super) values_only: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        out: &'a mut JointRows,
        axes: &'a [JointAxis],
        poses: &'a [Pose],
        values_only: bool,
    ) -> Self {
        Self { out, axes, poses, values_only }
    }

    pub(super) fn place(&self, anchor: &JointAnchor) -> Placed {
        // The world stands still; bodies beyond the list do not occur.
        let body = self.poses.get(anchor.body as usize).copied().unwrap_or(Pose::IDENTITY);
        let body = if anchor.is_world() { Pose::IDENTITY } else { body };
        let frame = (body * anchor.frame).renormalized();
        Placed {
            body: anchor.body,
            center: body.translation,
            origin: frame.translation,
            rotation: frame.rotation,
            axes: frame.rotation_matrix(),
        }
    }

    pub(super) fn start(&self) -> Started {
        Started(self.out.sides.len() as u32)
    }

    /// The side of a body in the block under way; none for the world.
    fn side(&mut self, block: Started, body: u32) -> Option<&mut JointSide> {
        if body == JointAnchor::WORLD {
            return None;
        }
        let first = block.0 as usize;
        let known = self.out.sides[first..].iter().position(|s| s.body == body);
        let k = match known {
            Some(k) => first + k,
            None => {
                self.out.sides.push(JointSide { body, moments: DMat3::ZERO, forces: DMat3::ZERO });
                self.out.sides.len() - 1
            }
        };
        self.out.sides.get_mut(k)
    }

    /// Row `row` feels the angular velocity of a body along `moment`.
    pub(super) fn moment(&mut self, block: Started, row: usize, at: &Placed, moment: DVec3) {
        if let Some(side) = self.side(block, at.body) {
            *side.moments.col_mut(row) += moment;
        }
    }

    /// Row `row` feels the velocity along `force` of the point of a body that is at `point` (world).
    pub(super) fn force(&mut self, block: Started, row: usize, at: &Placed, point: DVec3, force: DVec3) {
        let center = at.center;
        if let Some(side) = self.side(block, at.body) {
            *side.forces.col_mut(row) += force;
            *side.moments.col_mut(row) += (point - center).cross(force);
        }
    }

    /// Row `row` feels how `b` turns against `a`.
    pub(super) fn turn(&mut self, block: Started, row: usize, a: &Placed, b: &Placed, moment: DVec3) {
        self.moment(block, row, a, -moment);
        self.moment(block, row, b, moment);
    }

    /// Row `row` feels how the point of `b` at `point` moves against the point of `a` at the same place.
    pub(super) fn shift(
        &mut self,
        block: Started,
        row: usize,
        a: &Placed,
        b: &Placed,
        point: DVec3,
        force: DVec3,
    ) {
        self.force(block, row, a, point, -force);
        self.force(block, row, b, point, force);
    }

    /// Ends a block of one to three rows.
    pub(super) fn finish(&mut self, block: Started, laws: &[RowLaw], position: DVec3, drift: DVec3) {
        let mut all = [RowLaw::Friction { most: 0.0 }; 3];
        all[..laws.len()].copy_from_slice(laws);
        let sides = block.0..self.out.sides.len() as u32;
        self.out.blocks.push(JointBlock {
            sides,
            rows: laws.len() as u8,
            laws: all,
            position,
            drift,
            limit: None,
        });
    }

    /// Says that the last block is a limit of a free axis.
    pub(super) fn is_limit(&mut self, axis: usize, high: bool) {
        if let Some(block) = self.out.blocks.last_mut() {
            block.limit = Some((axis as u32, high));
        }
    }

    /// Ends a block whose rows are held.
    pub(super) fn hold(&mut self, block: Started, rows: usize, position: DVec3) {
        if self.values_only {
            self.out.sides.truncate(block.0 as usize);
            return;
        }
        self.finish(block, &[RowLaw::Hold; 3][..rows], position, DVec3::ZERO);
    }

    /// Holds the origin of `b` on that of `a`: three rows along the world's axes.
    pub(super) fn hold_point(&mut self, a: &Placed, b: &Placed) {
        if self.values_only {
            return;
        }
        let block = self.start();
        for (row, axis) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
            self.force(block, row, a, a.origin, -axis);
            self.force(block, row, b, b.origin, axis);
        }
        self.hold(block, 3, b.origin - a.origin);
    }

    /// Holds the origin of `b` along some of the axes of `a`.
    pub(super) fn hold_along(&mut self, a: &Placed, b: &Placed, axes: &[DVec3]) {
        if self.values_only {
            return;
        }
        let block = self.start();
        let mut position = [0.0; 3];
        for (row, &axis) in axes.iter().enumerate() {
            position[row] = axis.dot(b.origin - a.origin);
            self.shift(block, row, a, b, b.origin, axis);
        }
        self.hold(block, axes.len(), position.into());
    }

    /// Holds angles: columns of `moments` are how they feel `b` turn against `a`.
    pub(super) fn hold_angles(&mut self, a: &Placed, b: &Placed, angles: DVec3, moments: &[DVec3]) {
        if self.values_only {
            return;
        }
        let block = self.start();
        for (row, &moment) in moments.iter().enumerate() {
            self.turn(block, row, a, b, moment);
        }
        self.hold(block, moments.len(), angles);
    }
}
