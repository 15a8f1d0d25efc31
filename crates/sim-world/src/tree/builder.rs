//! Trees as users describe them.

use crate::body::BodyBuilder;
use articulated_featherstone::{DofParams, Joint};
use sim_math::Pose;
use sim_traits::joint::JointMotor;

/// A tree to be added to a world: links, the joints that hold them, and where its base is.
///
/// The base is a place in the world that does not move. A tree floats if its first link hangs on the base by [`Joint::Free`].
///
/// ```
/// use sim_math::{Pose, glam::DVec3};
/// use sim_traits::Capsule;
/// use sim_world::{Body, LinkBuilder, Tree, TreeJoint, World};
///
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// let rod = || Body::free().shape_at(Capsule::new(0.05, 0.4)?, Pose::from_translation(DVec3::Z * -0.5)).mass(1.0);
/// # let rod = || -> Result<_, Box<dyn std::error::Error>> { Ok(Body::free().shape_at(Capsule::new(0.05, 0.4)?, Pose::from_translation(DVec3::Z * -0.5)).mass(1.0)) };
/// let hinge = TreeJoint::Revolute { axis: DVec3::Y };
/// let tree = world.add_tree(
///     Tree::builder("pendulum")
///         .at(Pose::from_translation(DVec3::Z * 3.0))
///         .link(LinkBuilder::new("upper", hinge).body(rod()?).start(&[0.3], &[0.0]))
///         .link(LinkBuilder::new("lower", hinge).on("upper").at(Pose::from_translation(DVec3::Z * -1.0)).body(rod()?)),
/// )?;
/// assert_eq!(world.tree(tree)?.coordinates(), [0.3, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a tree does nothing until it is added to a world"]
pub struct TreeBuilder {
    pub(crate) name: String,
    pub(crate) base: Pose,
    pub(crate) links: Vec<LinkBuilder>,
    pub(crate) self_collision: bool,
}

impl TreeBuilder {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), base: Pose::IDENTITY, links: Vec::new(), self_collision: true }
    }

    /// Pose of the base in the world.
    pub fn at(mut self, world_from_base: Pose) -> Self {
        self.base = world_from_base;
        self
    }

    /// Adds a link; parents may come later.
    pub fn link(mut self, link: LinkBuilder) -> Self {
        self.links.push(link);
        self
    }

    /// Whether links collide with each other. Default true; a link and its parent never do.
    pub fn self_collision(mut self, collide: bool) -> Self {
        self.self_collision = collide;
        self
    }
}

/// A link of a tree to be: a body, and the joint that holds it to its parent.
#[derive(Debug, Clone)]
#[must_use = "a link does nothing until it is part of a tree"]
pub struct LinkBuilder {
    pub(crate) name: String,
    pub(crate) parent: Option<String>,
    pub(crate) joint: Joint,
    pub(crate) parent_from_joint: Pose,
    pub(crate) body: Option<BodyBuilder>,
    pub(crate) dofs: Vec<DofParams>,
    pub(crate) motors: Vec<Option<JointMotor>>,
    pub(crate) start: Option<(Vec<f64>, Vec<f64>)>,
}

impl LinkBuilder {
    /// A link on the base. Its frame is the one that the joint moves; the shapes of its body are given in it.
    pub fn new(name: impl Into<String>, joint: Joint) -> Self {
        let count = joint.v_len();
        Self {
            name: name.into(),
            parent: None,
            joint,
            parent_from_joint: Pose::IDENTITY,
            body: None,
            dofs: vec![DofParams::default(); count],
            motors: vec![None; count],
            start: None,
        }
    }

    /// Hangs the link on another one.
    pub fn on(mut self, parent: impl Into<String>) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// Pose of the joint in the frame of the parent, or of the base.
    pub fn at(mut self, parent_from_joint: Pose) -> Self {
        self.parent_from_joint = parent_from_joint;
        self
    }

    /// Shapes, mass and surface, as of a free body. Its pose and velocity do not count: the joints say where it is.
    pub fn body(mut self, body: BodyBuilder) -> Self {
        self.body = Some(body);
        self
    }

    /// Coordinates and velocities of the joint at the start, as the joint kind orders them. Default neutral and at rest.
    pub fn start(mut self, coordinates: &[f64], velocities: &[f64]) -> Self {
        self.start = Some((coordinates.to_vec(), velocities.to_vec()));
        self
    }

    fn all(mut self, set: impl Fn(&mut DofParams)) -> Self {
        self.dofs.iter_mut().for_each(set);
        self
    }

    /// Limits of all coordinates of the joint, rad or m.
    pub fn limits(self, lower: f64, upper: f64) -> Self {
        self.all(|dof| (dof.lower, dof.upper) = (lower, upper))
    }

    /// Viscous damping of all velocities of the joint, N·m·s/rad or N·s/m.
    pub fn damping(self, damping: f64) -> Self {
        self.all(|dof| dof.damping = damping)
    }

    /// Rotor inertia at all velocities of the joint, kg·m² or kg.
    pub fn armature(self, armature: f64) -> Self {
        self.all(|dof| dof.armature = armature)
    }

    /// Dry friction of all velocities of the joint: the greatest torque or force, N·m or N.
    pub fn dry_friction(self, most: f64) -> Self {
        self.all(|dof| dof.dry_friction = most)
    }

    /// A spring at all coordinates of the joint, N·m/rad or N/m, slack at `rest`.
    pub fn spring(self, stiffness: f64, rest: f64) -> Self {
        self.all(|dof| (dof.stiffness, dof.rest) = (stiffness, rest))
    }

    /// Greatest force of the actuators of the joint, N·m or N: given forces are cut to it.
    pub fn max_force(self, most: f64) -> Self {
        self.all(|dof| dof.max_force = most)
    }

    /// A motor at all velocities of the joint.
    pub fn motor(mut self, motor: JointMotor) -> Self {
        self.motors.fill(Some(motor));
        self
    }

    /// All elements at one velocity of the joint; numbers that the joint does not have are refused when the tree is added.
    pub fn dof(mut self, dof: usize, params: DofParams) -> Self {
        if dof >= self.dofs.len() {
            self.dofs.resize(dof + 1, DofParams::default());
        }
        self.dofs[dof] = params;
        self
    }
}
