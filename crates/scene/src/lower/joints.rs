//! Joints of scene files to joints of a world.

use super::{Names, shapes::unknown};
use crate::format::{
    Loaded,
    error::{Place, SceneError},
    joint::{
        JointAxisSpec, JointCurveSpec, JointKindSpec, JointMotorSpec, JointPointSpec, JointSpec,
        JointSurfaceSpec,
    },
};
use sim_math::{Pose, curve::DEFAULT_TENSION, glam::DVec3};
use sim_traits::{
    JointId,
    joint::{
        JointCurve, JointError, JointLimits, JointMotor, JointPatch, JointPath, JointSpring, JointSurface,
    },
};
use sim_world::{Joint, JointAxis, JointBuilder, JointPartner, World, WorldError};
use std::{collections::BTreeMap, f64::consts::TAU};

/// Most points of all ropes and curves of a scene.
const MAX_POINTS: usize = 100_000;

/// A joint of a scene in the world.
#[derive(Debug, Clone)]
pub struct PlacedJoint {
    /// Which one in the world.
    pub id: JointId,
    /// Name.
    pub name: String,
    pub(crate) place: Place,
}

/// Adds all joints of a scene.
pub(crate) fn add_all(
    world: &mut World,
    loaded: &Loaded,
    names: &Names,
) -> Result<Vec<PlacedJoint>, SceneError> {
    let mut out: Vec<PlacedJoint> = Vec::new();
    let mut ids = BTreeMap::new();
    let mut points = 0;
    for (k, spec) in loaded.scene.joints.iter().enumerate() {
        let place = loaded.joint(k);
        // Places are not unique: an included file has its own.
        let name = spec.name.clone().unwrap_or_else(|| place.name().to_owned());
        if spec.name.as_ref().is_some_and(|name| ids.contains_key(name)) {
            return Err(place.field("name").error(format_args!("`{name}` is the name of another joint")));
        }
        points += spec.points.len()
            + match &spec.curve {
                Some(JointCurveSpec::BSpline { points, .. } | JointCurveSpec::CSpline { points, .. }) => {
                    points.len()
                }
                _ => 0,
            };
        if points > MAX_POINTS {
            return Err(
                place.error(format_args!("more than {MAX_POINTS} points of ropes and curves in the scene"))
            );
        }
        check_fields(spec, &place)?;
        let builder = settings(spec, kind(spec, names, &ids, &place)?, &place)?;
        let id = world.add_joint(builder).map_err(|e| blame(&e, &place))?;
        if let Some(name) = &spec.name {
            ids.insert(name.clone(), id);
        }
        out.push(PlacedJoint { id, name, place });
    }
    Ok(out)
}

/// A field that means nothing for a kind is an error, not a surprise.
fn check_fields(spec: &JointSpec, place: &Place) -> Result<(), SceneError> {
    use JointKindSpec as K;
    let kind = spec.kind;
    let ropes = matches!(kind, K::Multibar | K::Multirope);
    let couples = matches!(kind, K::Gear | K::RackAndPinion);
    let two = !ropes && !couples;
    let needs = |field: &'static str, given: bool, wanted: bool| match (given, wanted) {
        (true, false) => Err(place.field(field).error("a joint of this kind has none")),
        (false, true) => Err(place.error(format_args!("a joint of this kind needs `{field}`"))),
        _ => Ok(()),
    };
    needs("pitch", spec.pitch.is_some(), kind == K::Screw)?;
    needs("radius", spec.radius.is_some(), matches!(kind, K::Wheel | K::RackAndPinion))?;
    needs("ratio", spec.ratio.is_some(), kind == K::Gear)?;
    needs("joints", !spec.joints.is_empty(), couples)?;
    needs("points", !spec.points.is_empty(), ropes)?;
    needs("curve", spec.curve.is_some(), kind == K::Curve)?;
    needs("surface", spec.surface.is_some(), matches!(kind, K::Surface | K::Wheel))?;
    let only = |field: &'static str, given: bool, allowed: bool| needs(field, given, given && allowed);
    only("friction", spec.friction.is_some(), kind == K::Surface)?;
    only("length", spec.length.is_some(), ropes || matches!(kind, K::Distance | K::Rope))?;
    only("a", spec.a.is_some(), two)?;
    only("b", spec.b.is_some(), two)?;
    only("anchor", spec.anchor.is_some(), two)?;
    only("anchor_a", spec.anchor_a.is_some(), two)?;
    only("anchor_b", spec.anchor_b.is_some(), two)?;
    only("axis", spec.axis.is_some(), two)?;
    only("second_axis", spec.second_axis.is_some(), two)?;
    if spec.anchor_a.is_some() != spec.anchor_b.is_some() {
        return Err(place.error("needs both `anchor_a` and `anchor_b`, or neither"));
    }
    only("anchor", spec.anchor.is_some(), spec.anchor_a.is_none())?;
    if couples && spec.joints.len() != 2 {
        return Err(place
            .field("joints")
            .error(format_args!("must name two joints, got {}", spec.joints.len())));
    }
    Ok(())
}

fn kind(
    spec: &JointSpec,
    names: &Names,
    ids: &BTreeMap<String, JointId>,
    place: &Place,
) -> Result<JointBuilder, SceneError> {
    use JointKindSpec as K;
    let partner = |name: &Option<String>, field: &str| -> Result<JointPartner, SceneError> {
        match name {
            Some(name) => names.single(name, &place.field(field)).map(JointPartner::Body),
            None => Ok(JointPartner::World),
        }
    };
    let joint = |k: usize| -> Result<JointId, SceneError> {
        let (name, place) = (&spec.joints[k], place.field("joints").item(k));
        ids.get(name).copied().ok_or_else(|| unknown("joint before this one", name, ids.keys(), &place))
    };
    let number = |field: &str, value: Option<f64>| place.finite(field, value.unwrap_or(0.0));
    let (a, b) = (partner(&spec.a, "a")?, partner(&spec.b, "b")?);
    let surface = || surface(spec.surface.as_ref(), &place.field("surface"));
    Ok(match spec.kind {
        K::Ball => Joint::ball(a, b),
        K::Hinge => Joint::hinge(a, b),
        K::Slider => Joint::slider(a, b),
        K::Cylindrical => Joint::cylindrical(a, b),
        K::Universal => Joint::universal(a, b),
        K::Weld => Joint::weld(a, b),
        K::Planar => Joint::planar(a, b),
        K::Orientation => Joint::orientation(a, b),
        K::Distance => Joint::distance(a, b),
        K::Rope => Joint::rope(a, b),
        K::Multibar => Joint::multibar(rope(&spec.points, names, place)?),
        K::Multirope => Joint::multirope(rope(&spec.points, names, place)?),
        K::Curve => Joint::curve(a, b, curve(spec.curve.as_ref(), &place.field("curve"))?),
        K::Surface => Joint::surface(a, b, surface()?),
        K::Wheel => {
            let radius = place.positive("radius", spec.radius.unwrap_or(0.0))?;
            Joint::wheel(a, b, surface()?, radius)
        }
        K::Velocity => Joint::velocity(a, b),
        K::Gear => Joint::gear(joint(0)?, joint(1)?, number("ratio", spec.ratio)?),
        K::RackAndPinion => Joint::rack_and_pinion(joint(0)?, joint(1)?, number("radius", spec.radius)?),
        K::Screw => Joint::screw(a, b, number("pitch", spec.pitch)? / TAU),
        K::SixAxis => Joint::six_axis(a, b),
    })
}

fn rope(
    points: &[JointPointSpec],
    names: &Names,
    place: &Place,
) -> Result<Vec<(JointPartner, DVec3)>, SceneError> {
    let mut out = Vec::with_capacity(points.len());
    for (k, point) in points.iter().enumerate() {
        let place = place.field("points").item(k);
        let partner = match &point.body {
            Some(name) => JointPartner::Body(names.single(name, &place.field("body"))?),
            None => JointPartner::World,
        };
        out.push((partner, place.vector("at", point.at)?));
    }
    Ok(out)
}

fn curve(spec: Option<&JointCurveSpec>, place: &Place) -> Result<JointCurve, SceneError> {
    let list = |points: &[crate::format::Triple]| points.iter().map(|p| p.0).collect();
    let path = match spec {
        Some(JointCurveSpec::Line { origin, direction }) => {
            JointPath::Line { origin: origin.0, direction: place.direction("direction", *direction)? }
        }
        Some(JointCurveSpec::Segment { from, to }) => JointPath::Segment { a: from.0, b: to.0 },
        Some(JointCurveSpec::Circle { center, normal, radius }) => {
            let (normal, radius) = (place.direction("normal", *normal)?, place.positive("radius", *radius)?);
            JointPath::Circle { center: center.0, normal, radius }
        }
        Some(JointCurveSpec::BSpline { points, closed }) => {
            JointPath::BSpline { points: list(points), closed: *closed }
        }
        Some(JointCurveSpec::CSpline { points, tension, closed }) => JointPath::CSpline {
            points: list(points),
            tension: tension.unwrap_or(DEFAULT_TENSION),
            closed: *closed,
        },
        None => return Err(place.error("missing")),
    };
    JointCurve::new(path).map_err(|e| place.error(e))
}

fn surface(spec: Option<&JointSurfaceSpec>, place: &Place) -> Result<JointSurface, SceneError> {
    let patch = match spec {
        Some(JointSurfaceSpec::Plane { origin, normal }) => JointPatch::Plane {
            origin: place.vector("origin", *origin)?,
            normal: place.direction("normal", *normal)?,
        },
        Some(JointSurfaceSpec::Ellipsoid { center, radii }) => JointPatch::Ellipsoid {
            frame: Pose::from_translation(place.vector("center", *center)?),
            radii: place.vector("radii", *radii)?,
        },
        None => return Err(place.error("missing")),
    };
    JointSurface::new(patch).map_err(|e| place.error(e))
}

/// Everything that is not the kind.
fn settings(spec: &JointSpec, mut joint: JointBuilder, place: &Place) -> Result<JointBuilder, SceneError> {
    if let Some(point) = spec.anchor {
        joint = joint.anchor(place.vector("anchor", point)?);
    }
    if let (Some(a), Some(b)) = (spec.anchor_a, spec.anchor_b) {
        joint = joint.anchors(place.vector("anchor_a", a)?, place.vector("anchor_b", b)?);
    }
    if let Some(axis) = spec.axis {
        joint = joint.axis(place.direction("axis", axis)?);
    }
    if let Some(axis) = spec.second_axis {
        joint = joint.second_axis(place.direction("second_axis", axis)?);
    }
    if let Some(length) = spec.length {
        joint = joint.length(place.positive("length", length)?);
    }
    for (k, axis) in spec.axes.iter().enumerate() {
        let place = place.field("axes").item(k);
        let settings = axis_of(axis, joint.is_angle(k), &place)?;
        joint = joint.on_axis(k, settings);
    }
    if let Some(e) = spec.restitution {
        joint = joint.restitution(place.share("restitution", e)?);
    }
    if let Some(most) = spec.friction {
        joint = joint.friction(place.natural("friction", most)?);
    }
    if let Some(soft) = &spec.soft {
        let place = place.field("soft");
        let frequency = place.positive("frequency", soft.frequency)?;
        joint = joint.frequency(frequency, place.natural("ratio", soft.ratio.unwrap_or(1.0))?);
    }
    if let Some(force) = spec.breaking_force {
        joint = joint.breaking_force(place.natural("breaking_force", force)?);
    }
    if let Some(torque) = spec.breaking_torque {
        joint = joint.breaking_torque(place.natural("breaking_torque", torque)?);
    }
    if let Some(impulse) = spec.breaking_impulse {
        joint = joint.breaking_impulse(place.natural("breaking_impulse", impulse)?);
    }
    if let Some(collide) = spec.collide {
        joint = joint.collide(collide);
    }
    if spec.apart {
        joint = joint.apart();
    }
    Ok(joint.enabled(spec.enabled.unwrap_or(true)))
}

fn axis_of(spec: &JointAxisSpec, angle: bool, place: &Place) -> Result<JointAxis, SceneError> {
    let unit = |value: f64| if angle { value.to_radians() } else { value };
    let value = |name: &str, x: Option<f64>, default: f64| match x {
        Some(x) => place.finite(name, x).map(unit),
        None => Ok(default),
    };
    let mut axis = JointAxis { locked: spec.locked, ..JointAxis::default() };
    if spec.low.is_some() || spec.high.is_some() {
        let low = value("low", spec.low, f64::NEG_INFINITY)?;
        let high = value("high", spec.high, f64::INFINITY)?;
        axis.limits = Some(JointLimits { low, high, restitution: 0.0 });
    }
    let most = |most: Option<f64>, place: &Place| match most {
        Some(most) => place.natural("most", most),
        None => Ok(f64::INFINITY),
    };
    let of_motor = place.field("motor");
    axis.motor = match &spec.motor {
        None => None,
        Some(JointMotorSpec::Velocity { speed, most: limit }) => {
            Some(JointMotor::velocity(of_motor.finite("speed", *speed)?, most(*limit, &of_motor)?))
        }
        Some(JointMotorSpec::Position { target, stiffness, damping, most: limit }) => {
            Some(JointMotor::position(
                of_motor.finite("target", *target).map(unit)?,
                of_motor.natural("stiffness", *stiffness)?,
                of_motor.natural("damping", *damping)?,
                most(*limit, &of_motor)?,
            ))
        }
    };
    if let Some(spring) = &spec.spring {
        let place = place.field("spring");
        axis.spring = Some(JointSpring {
            rest: place.finite("rest", spring.rest).map(unit)?,
            stiffness: place.natural("stiffness", spring.stiffness)?,
            damping: place.natural("damping", spring.damping)?,
        });
    }
    axis.friction = place.natural("friction", spec.friction)?;
    Ok(axis)
}

/// The world's word on a joint, at its place in the scene.
fn blame(error: &WorldError, place: &Place) -> SceneError {
    match error {
        WorldError::Joint { source: JointError::Axis { axis, source }, .. } => {
            place.field("axes").item(*axis).error(source)
        }
        WorldError::Joint { source, .. } => place.error(source),
        WorldError::JointFixed { .. } => place.error("none of its partners is a free body"),
        WorldError::JointSameBody { .. } => place.field("b").error("is the same body as `a`"),
        WorldError::JointAxis { .. } => place.field("second_axis").error("must not be along `axis`"),
        WorldError::JointApart { error, tolerance, .. } => place.error(format_args!(
            "what it holds is off by {error:.3e} at the start, more than {tolerance:.3e} (m or rad); `apart: true` lets it pull"
        )),
        other => place.error(other),
    }
}
