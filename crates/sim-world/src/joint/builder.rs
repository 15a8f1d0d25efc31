//! How joints are made: anchors and axes in the world, where the bodies are now.

use super::{Breaking, Joint};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{
    BodyId, JointId,
    joint::{
        JointAxis, JointCurve, JointDrive, JointKind, JointLimits, JointMotor, JointSoftness, JointSpring,
        JointSurface,
    },
};

/// What a joint holds on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JointPartner {
    /// The world.
    World,
    /// A body.
    Body(BodyId),
}

impl From<BodyId> for JointPartner {
    fn from(id: BodyId) -> Self {
        Self::Body(id)
    }
}

impl JointPartner {
    pub(super) fn body(self) -> Option<BodyId> {
        match self {
            Self::World => None,
            Self::Body(id) => Some(id),
        }
    }
}

/// What is to be built.
#[derive(Debug, Clone)]
pub(super) enum Plan {
    /// A joint between two partners.
    Two { kind: JointKind, partners: [JointPartner; 2] },
    /// A rope through points.
    Points { kind: JointKind, points: Vec<(JointPartner, DVec3)> },
    /// Two joints whose free axes are coupled.
    Coupled { kind: JointKind, joints: [JointId; 2] },
}

/// A joint to be added to a world. Points and axes are in the world, where the bodies are when it is added.
///
/// ```
/// use sim_math::glam::DVec3;
/// use sim_traits::Cuboid;
/// use sim_world::{Body, Joint, JointMotor, JointPartner, World};
///
/// let mut world = World::new(DVec3::ZERO)?;
/// let door = world.add(Body::free().shape(Cuboid::new(DVec3::new(0.4, 0.02, 1.0))?).at([0.4, 0.0, 1.0]))?;
/// let hinge = world.add_joint(
///     Joint::hinge(JointPartner::World, door)
///         .anchor([0.0, 0.0, 1.0])
///         .axis([0.0, 0.0, 1.0])
///         .limits(-0.1, 1.6)
///         .motor(JointMotor::velocity(0.5, 20.0)),
/// )?;
/// assert_eq!(world.joint(hinge)?.model().kind.name(), "hinge");
/// assert_eq!(world.joint_value(hinge, 0)?, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a joint does nothing until it is added to a world"]
pub struct JointBuilder {
    pub(super) plan: Plan,
    pub(super) anchors: [Option<DVec3>; 2],
    pub(super) axis: Option<DVec3>,
    pub(super) second_axis: Option<DVec3>,
    pub(super) frames: Option<[Pose; 2]>,
    /// Length of a bar or rope; that of now if none is given.
    pub(super) length: Option<f64>,
    pub(super) axes: Vec<(usize, JointAxis)>,
    pub(super) restitution: Option<f64>,
    pub(super) softness: Option<JointSoftness>,
    pub(super) breaking: Breaking,
    pub(super) enabled: bool,
    pub(super) collide: bool,
    pub(super) apart: bool,
    pub(super) tag: u64,
}

macro_rules! between_two {
    ($($(#[$doc:meta])* $name:ident: $kind:expr;)+) => {$(
        $(#[$doc])*
        pub fn $name(a: impl Into<JointPartner>, b: impl Into<JointPartner>) -> JointBuilder {
            JointBuilder::two($kind, a, b)
        }
    )+};
}

impl Joint {
    between_two! {
        /// Two points that stay together. Free axes: swing and twist; [`JointBuilder::cone`], [`JointBuilder::twist`].
        ball: JointKind::Ball { drive: None };
        /// Turns about the axis.
        hinge: JointKind::Hinge;
        /// Shifts along the axis.
        slider: JointKind::Slider;
        /// Turns about the axis and shifts along it.
        cylindrical: JointKind::Cylindrical;
        /// Turns about the axis, which `a` carries, and the second axis, which `b` carries.
        universal: JointKind::Universal;
        /// Nothing is free.
        weld: JointKind::Weld;
        /// Shifts across the axis and turns about it.
        planar: JointKind::Planar;
        /// Shifts only.
        orientation: JointKind::Orientation;
        /// Two points keep their distance, by default that of now. The bodies collide.
        distance: JointKind::Distance { length: 1.0 };
        /// Two points come no farther apart, by default than now. The bodies collide.
        rope: JointKind::Rope { length: 1.0, restitution: 0.0 };
        /// Two points have the same velocity. The bodies collide.
        velocity: JointKind::Velocity;
        /// Every axis is free until it is locked, limited or driven with [`JointBuilder::on_axis`].
        six_axis: JointKind::SixAxis;
    }

    /// A ball joint whose three rotations are driven.
    pub fn driven_ball(
        a: impl Into<JointPartner>,
        b: impl Into<JointPartner>,
        drive: JointDrive,
    ) -> JointBuilder {
        JointBuilder::two(JointKind::Ball { drive: Some(drive) }, a, b)
    }

    /// Turns about the axis and shifts along it by `pitch` metres per radian.
    pub fn screw(a: impl Into<JointPartner>, b: impl Into<JointPartner>, pitch: f64) -> JointBuilder {
        JointBuilder::two(JointKind::Screw { pitch, phase: 0.0 }, a, b)
    }

    /// A point of `b` stays on a curve that is fixed to `a`; its coordinates are those of the world now.
    pub fn curve(a: impl Into<JointPartner>, b: impl Into<JointPartner>, curve: JointCurve) -> JointBuilder {
        JointBuilder::two(JointKind::Curve { curve }, a, b)
    }

    /// A point of `b` stays on a surface that is fixed to `a`; its coordinates are those of the world now.
    pub fn surface(
        a: impl Into<JointPartner>,
        b: impl Into<JointPartner>,
        surface: JointSurface,
    ) -> JointBuilder {
        JointBuilder::two(JointKind::Surface { surface, friction: 0.0 }, a, b)
    }

    /// The wheel `b`, about the axis through the anchor, rolls on a surface that is fixed to `a`; its coordinates are those of the world
    /// now.
    pub fn wheel(
        a: impl Into<JointPartner>,
        b: impl Into<JointPartner>,
        surface: JointSurface,
        radius: f64,
    ) -> JointBuilder {
        JointBuilder::two(JointKind::Wheel { surface, radius }, a, b)
    }

    /// A stiff rope that slides through points, by default as long as now. The bodies collide.
    pub fn multibar(points: impl IntoIterator<Item = (JointPartner, DVec3)>) -> JointBuilder {
        JointBuilder::new(Plan::Points {
            kind: JointKind::MultiBar { length: 1.0 },
            points: points.into_iter().collect(),
        })
    }

    /// A rope that slides through points, by default as long as now. The bodies collide.
    pub fn multirope(points: impl IntoIterator<Item = (JointPartner, DVec3)>) -> JointBuilder {
        let kind = JointKind::MultiRope { length: 1.0, restitution: 0.0 };
        JointBuilder::new(Plan::Points { kind, points: points.into_iter().collect() })
    }

    /// The angle of the first joint (a hinge, cylindrical joint or screw) is `ratio` times that of the second, plus what they differ by now.
    pub fn gear(first: JointId, second: JointId, ratio: f64) -> JointBuilder {
        let kind = JointKind::Gear { ratio, phase: 0.0 };
        JointBuilder::new(Plan::Coupled { kind, joints: [first, second] })
    }

    /// The shift of `slider` (a slider or cylindrical joint) is `radius` times the angle of `hinge`, plus what they differ by now.
    pub fn rack_and_pinion(hinge: JointId, slider: JointId, radius: f64) -> JointBuilder {
        let kind = JointKind::RackAndPinion { radius, phase: 0.0 };
        JointBuilder::new(Plan::Coupled { kind, joints: [hinge, slider] })
    }
}

impl JointBuilder {
    fn new(plan: Plan) -> Self {
        let (Plan::Two { kind, .. } | Plan::Points { kind, .. } | Plan::Coupled { kind, .. }) = &plan;
        let far = matches!(
            kind,
            JointKind::Distance { .. }
                | JointKind::Rope { .. }
                | JointKind::MultiBar { .. }
                | JointKind::MultiRope { .. }
                | JointKind::Velocity
                | JointKind::Gear { .. }
                | JointKind::RackAndPinion { .. }
        );
        Self {
            plan,
            anchors: [None; 2],
            axis: None,
            second_axis: None,
            frames: None,
            length: None,
            axes: Vec::new(),
            restitution: None,
            softness: None,
            breaking: Breaking::default(),
            enabled: true,
            collide: far,
            apart: false,
            tag: 0,
        }
    }

    fn two(kind: JointKind, a: impl Into<JointPartner>, b: impl Into<JointPartner>) -> Self {
        Self::new(Plan::Two { kind, partners: [a.into(), b.into()] })
    }

    pub(super) fn kind(&self) -> &JointKind {
        let (Plan::Two { kind, .. } | Plan::Points { kind, .. } | Plan::Coupled { kind, .. }) = &self.plan;
        kind
    }

    /// True if a free axis is an angle; else it is a shift.
    #[must_use]
    pub fn is_angle(&self, axis: usize) -> bool {
        self.kind().is_angle(axis)
    }

    /// Point of both partners, world, m. By default the centre of mass of the second partner, or of the first if the second is the world;
    /// of bars and ropes the centre of mass of each.
    pub fn anchor(mut self, point: impl Into<DVec3>) -> Self {
        self.anchors = [Some(point.into()); 2];
        self
    }

    /// One point of each partner, world, m.
    pub fn anchors(mut self, a: impl Into<DVec3>, b: impl Into<DVec3>) -> Self {
        self.anchors = [Some(a.into()), Some(b.into())];
        self
    }

    /// Axis, world, any length but zero. By default z.
    pub fn axis(mut self, axis: impl Into<DVec3>) -> Self {
        self.axis = Some(axis.into());
        self
    }

    /// Of a universal joint the axis that the second partner carries; of others the direction of x, as far as it is across the axis.
    pub fn second_axis(mut self, axis: impl Into<DVec3>) -> Self {
        self.second_axis = Some(axis.into());
        self
    }

    /// The anchors as frames in the world, in place of points and axes.
    pub fn frames(mut self, a: Pose, b: Pose) -> Self {
        self.frames = Some([a, b]);
        self
    }

    /// Length of a bar or rope, m. By default that of now.
    pub fn length(mut self, length: f64) -> Self {
        self.length = Some(length);
        self
    }

    fn edit(mut self, axis: usize, edit: impl FnOnce(&mut JointAxis)) -> Self {
        let known = self.axes.iter().position(|(k, _)| *k == axis);
        let place = known.unwrap_or_else(|| {
            self.axes.push((axis, JointAxis::default()));
            self.axes.len() - 1
        });
        edit(&mut self.axes[place].1);
        self
    }

    /// All settings of a free axis.
    pub fn on_axis(self, axis: usize, settings: JointAxis) -> Self {
        self.edit(axis, |a| *a = settings)
    }

    /// Limits of the first free axis, rad or m.
    pub fn limits(self, low: f64, high: f64) -> Self {
        self.edit(0, |a| a.limits = Some(JointLimits { low, high, restitution: 0.0 }))
    }

    /// Restitution of all limits, and of a rope that becomes taut.
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.restitution = Some(restitution);
        self
    }

    /// Largest swing of a ball joint, rad.
    pub fn cone(self, angle: f64) -> Self {
        self.limits(f64::NEG_INFINITY, angle)
    }

    /// Limits of the twist of a ball joint, rad.
    pub fn twist(self, low: f64, high: f64) -> Self {
        self.edit(1, |a| a.limits = Some(JointLimits { low, high, restitution: 0.0 }))
    }

    /// Motor of the first free axis.
    pub fn motor(self, motor: JointMotor) -> Self {
        self.edit(0, |a| a.motor = Some(motor))
    }

    /// Spring and damper of the first free axis.
    pub fn spring(self, rest: f64, stiffness: f64, damping: f64) -> Self {
        self.edit(0, |a| a.spring = Some(JointSpring { rest, stiffness, damping }))
    }

    /// Dry friction of the first free axis, or of a point on a surface: greatest torque or force.
    pub fn friction(mut self, most: f64) -> Self {
        if let Plan::Two { kind: JointKind::Surface { friction, .. }, .. } = &mut self.plan {
            *friction = most;
            return self;
        }
        self.edit(0, |a| a.friction = most)
    }

    /// Springs and dampers in place of what is held.
    pub fn softness(mut self, softness: JointSoftness) -> Self {
        self.softness = Some(softness);
        self
    }

    /// Springs in place of what is held, by frequency (Hz) and share of critical damping.
    pub fn frequency(self, frequency: f64, ratio: f64) -> Self {
        self.softness(JointSoftness::Frequency { frequency, ratio })
    }

    /// Breaks under a lasting force (N) above this.
    pub fn breaking_force(mut self, force: f64) -> Self {
        self.breaking.force = force;
        self
    }

    /// Breaks under a lasting torque (N·m) above this.
    pub fn breaking_torque(mut self, torque: f64) -> Self {
        self.breaking.torque = torque;
        self
    }

    /// Breaks under an impact with an impulse (N·s) above this.
    pub fn breaking_impulse(mut self, impulse: f64) -> Self {
        self.breaking.impulse = impulse;
        self
    }

    /// Whether its bodies collide with each other. By default those do that a joint holds at a distance.
    pub fn collide(mut self, collide: bool) -> Self {
        self.collide = collide;
        self
    }

    /// False for a joint that is to be switched on later.
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Lets the bodies be elsewhere than the joint holds them: it pulls them there.
    pub fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// A number of the user's.
    pub fn tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }
}
