//! The constant description of a tree, checked once by [`crate::ModelBuilder`].

use crate::Joint;
use sim_math::{
    Pose,
    glam::DVec3,
    spatial::{Motion, RigidInertia, SpatialTransform},
};

/// Elements at one degree of freedom. Data: [`crate::passive_forces`] turns them into forces, limits become rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DofParams {
    /// Rotor inertia seen at the joint (gear ratio squared times the rotor's own), kg·m² or kg. Default 0.
    pub armature: f64,
    /// Viscous friction: force −damping · v, N·m·s/rad or N·s/m. Default 0.
    pub damping: f64,
    /// Dry friction: largest force against the motion, N·m or N. Default 0.
    pub dry_friction: f64,
    /// Spring: force −stiffness · (q − rest), N·m/rad or N/m. Default 0.
    pub stiffness: f64,
    /// Coordinate at which the spring is slack, rad or m. Default 0.
    pub rest: f64,
    /// Hard spring: force −`hard_stiffness` / (q − `hard_position`), which never lets q through; N·m·rad or N·m. Default 0.
    pub hard_stiffness: f64,
    /// Coordinate the hard spring attracts to or (with a negative `hard_stiffness`) keeps away from, rad or m. Default 0.
    pub hard_position: f64,
    /// Lower limit of the coordinate, rad or m. Default −∞.
    pub lower: f64,
    /// Upper limit of the coordinate, rad or m. Default ∞.
    pub upper: f64,
    /// Largest actuator force, N·m or N. Default ∞.
    pub max_force: f64,
}

impl Default for DofParams {
    fn default() -> Self {
        Self {
            armature: 0.0,
            damping: 0.0,
            dry_friction: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            hard_stiffness: 0.0,
            hard_position: 0.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            max_force: f64::INFINITY,
        }
    }
}

/// What the algorithms read of one link, in the order in which they read it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinkData {
    /// Place of the parent in arrays that have the base in front: 0 is the base, link i is at i + 1.
    pub(crate) parent_slot: usize,
    pub(crate) q: usize,
    pub(crate) v: usize,
    pub(crate) v_end: usize,
    pub(crate) joint: Joint,
    pub(crate) parent_from_joint: SpatialTransform,
    /// Where the user's link frame is in the frame that the joint moves; `None` if they are the same.
    pub(crate) moved_from_link: Option<SpatialTransform>,
    /// At the link origin, link axes.
    pub(crate) inertia: RigidInertia,
}

impl LinkData {
    /// Pose of the link in the frame of the joint; writes S if it changes, link axes.
    #[inline]
    pub(crate) fn joint_from_link(&self, q: &[f64], axes: &mut [Motion], constant: bool) -> SpatialTransform {
        let moved = self.joint.joint_from_link(q);
        if constant || self.joint.axes_move() {
            self.joint.write_axes(&moved, q, axes);
            if let Some(frame) = &self.moved_from_link {
                for s in axes {
                    *s = frame.inverse_motion(*s);
                }
            }
        }
        match &self.moved_from_link {
            Some(frame) => moved * *frame,
            None => moved,
        }
    }

    /// Ṡ v, link axes.
    #[inline]
    pub(crate) fn bias(&self, axes: &[Motion], v: &[f64]) -> Motion {
        match &self.moved_from_link {
            Some(frame) if self.joint.axes_move() => {
                // Joints whose axes move have at most three of them.
                let mut moved = [Motion::ZERO; 3];
                for (m, s) in moved.iter_mut().zip(axes) {
                    *m = frame.motion(*s);
                }
                frame.inverse_motion(self.joint.bias(&moved, v))
            }
            _ => self.joint.bias(axes, v),
        }
    }
}

/// A tree of links, depth-first: the parent of a link has a smaller index, and the links below link i are
/// i + 1 up to, not including, [`Model::subtree_end`].
///
/// Link i has the frame that its joint moves, or the one given by [`crate::Link::frame`]; the base is the frame the first joints hang on.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) links: Vec<LinkData>,
    pub(crate) names: Vec<String>,
    pub(crate) poses: Vec<Pose>,
    pub(crate) subtree_end: Vec<u32>,
    pub(crate) dofs: Vec<DofParams>,
    pub(crate) armature: Vec<f64>,
    pub(crate) dof_link: Vec<u32>,
    pub(crate) q_len: usize,
    pub(crate) gravity: DVec3,
}

impl Model {
    /// Number of links.
    #[inline]
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Number of coordinates.
    #[inline]
    #[must_use]
    pub fn q_len(&self) -> usize {
        self.q_len
    }

    /// Number of velocities: degrees of freedom.
    #[inline]
    #[must_use]
    pub fn v_len(&self) -> usize {
        self.dofs.len()
    }

    /// Acceleration of free fall in world axes, m/s².
    #[inline]
    #[must_use]
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Parent of a link; `None` if it hangs on the base or does not exist.
    #[must_use]
    pub fn parent(&self, link: u32) -> Option<u32> {
        let slot = self.links.get(link as usize)?.parent_slot;
        slot.checked_sub(1).map(|i| i as u32)
    }

    /// One past the last link of the subtree of `link`; 0 if there is no such link.
    #[must_use]
    pub fn subtree_end(&self, link: u32) -> u32 {
        self.subtree_end.get(link as usize).copied().unwrap_or(0)
    }

    /// True if `ancestor` is `link` or lies between it and the base.
    #[must_use]
    pub fn is_ancestor(&self, ancestor: u32, link: u32) -> bool {
        ancestor <= link && link < self.subtree_end(ancestor)
    }

    /// The last link common to the ways of both links to the base; `None` if that is the base.
    #[must_use]
    pub fn common_ancestor(&self, a: u32, b: u32) -> Option<u32> {
        let mut link = Some(a);
        while let Some(i) = link {
            if self.is_ancestor(i, b) {
                return link;
            }
            link = self.parent(i);
        }
        None
    }

    /// Index of a link by its name.
    #[must_use]
    pub fn link_index(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|n| n == name).map(|i| i as u32)
    }

    /// Name of a link; empty if there is no such link.
    #[must_use]
    pub fn name(&self, link: u32) -> &str {
        self.names.get(link as usize).map_or("", String::as_str)
    }

    /// Joint between a link and its parent.
    #[must_use]
    pub fn joint(&self, link: u32) -> Option<Joint> {
        self.links.get(link as usize).map(|l| l.joint)
    }

    /// Pose of the joint frame of a link in its parent's frame.
    #[must_use]
    pub fn parent_from_joint(&self, link: u32) -> Option<Pose> {
        self.poses.get(link as usize).copied()
    }

    /// Pose of the link frame in the frame that the joint moves, as given by [`crate::Link::frame`].
    #[must_use]
    pub fn link_frame(&self, link: u32) -> Option<Pose> {
        let link = self.links.get(link as usize)?;
        Some(link.moved_from_link.map_or(Pose::default(), |frame| frame.to_pose()))
    }

    /// Inertia of a link at its origin, link axes.
    #[must_use]
    pub fn inertia(&self, link: u32) -> Option<RigidInertia> {
        self.links.get(link as usize).map(|l| l.inertia)
    }

    /// Places of a link's coordinates in q.
    #[must_use]
    pub fn q_range(&self, link: u32) -> std::ops::Range<usize> {
        self.links.get(link as usize).map_or(0..0, |l| l.q..l.q + l.joint.q_len())
    }

    /// Places of a link's velocities in v.
    #[must_use]
    pub fn v_range(&self, link: u32) -> std::ops::Range<usize> {
        self.links.get(link as usize).map_or(0..0, |l| l.v..l.v_end)
    }

    /// The link that a velocity moves.
    #[must_use]
    pub fn dof_link(&self, dof: u32) -> Option<u32> {
        self.dof_link.get(dof as usize).copied()
    }

    /// Elements at the degrees of freedom, in the order of the velocities.
    #[must_use]
    pub fn dofs(&self) -> &[DofParams] {
        &self.dofs
    }

    /// Place in q of the coordinate whose rate is velocity `dof`; `None` for spherical and free joints.
    #[must_use]
    pub fn dof_coordinate(&self, dof: u32) -> Option<usize> {
        let link = &self.links[self.dof_link(dof)? as usize];
        link.joint.has_plain_coordinates().then(|| link.q + (dof as usize - link.v))
    }

    /// Mass of all links, kg.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.links.iter().map(|l| l.inertia.mass).sum()
    }
}
