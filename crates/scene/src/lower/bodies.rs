//! Bodies: shapes, mass, place, copies.

use super::{
    Materials,
    motion::{Prescribed, pose},
    pattern::{MAX_BODIES, copies},
    random::Random,
    shapes::{Piece, Shaper},
};
use crate::format::{
    BodySpec, Files, KindSpec, Loaded,
    body::VaryField,
    error::{Place, SceneError},
};
use rigid_impulse::{Material, MaterialId};
use sim_math::{
    Pose, Sym3,
    mass::{self, MassProperties},
};
use sim_traits::BodyId;
use sim_world::{
    Body, BodyBuilder, ColliderBuilder, DEFAULT_DENSITY, DEFAULT_FRICTION, DEFAULT_RESTITUTION, Groups,
    World, WorldError, mass_of,
};
use std::collections::BTreeSet;

/// Most collision shapes of a scene.
const MAX_COLLIDERS: usize = 200_000;

/// A body of a scene in the world.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Which one in the world.
    pub id: BodyId,
    /// Name; of a copy `family[k]`.
    pub name: String,
    /// Name that all copies share.
    pub family: String,
    /// How it moves.
    pub kind: KindSpec,
    /// Its shapes in its frame.
    pub pieces: Vec<Piece>,
    /// Colour, `#rrggbb`.
    pub color: Option<String>,
    pub(crate) place: Place,
}

/// Adds all bodies of a scene.
pub(crate) fn add_all(
    world: &mut World,
    loaded: &Loaded,
    files: &dyn Files,
    materials: &Materials,
) -> Result<Vec<Placed>, SceneError> {
    let mut shaper = Shaper::new(loaded, files);
    let mut names = BTreeSet::new();
    let mut out: Vec<Placed> = Vec::new();
    let mut colliders = 0;
    for (k, spec) in loaded.scene.bodies.iter().enumerate() {
        let place = loaded.body(k);
        let family = spec.name.clone().unwrap_or_else(|| place.name().to_owned());
        if !names.insert(family.clone()) {
            return Err(place.field("name").error(format_args!("`{family}` is the name of another body")));
        }
        let pieces = match &spec.shape {
            Some(shape) => shaper.build(shape, &place.field("shape"))?,
            None => Vec::new(),
        };
        check(spec, &shaper, &place)?;
        let start = pose(spec.position, &spec.rotation, ["position", "rotation"], &place)?;
        let places = match &spec.repeat {
            Some(repeat) => {
                let radius = pieces
                    .iter()
                    .map(|p| p.body_from_shape.translation.length() + p.shape.bounding_radius())
                    .fold(0.0, f64::max);
                copies(repeat, start, radius, &place.field("repeat"))?
            }
            None => vec![start],
        };
        colliders += places.len() * pieces.len();
        if (out.len() + places.len()) as u64 > MAX_BODIES {
            return Err(place.error(format_args!("more than {MAX_BODIES} bodies in the scene")));
        }
        if colliders > MAX_COLLIDERS {
            return Err(place.error(format_args!("more than {MAX_COLLIDERS} shapes in the scene")));
        }
        let mut random = spec.random.as_ref().map(|r| Random::new(r.seed));
        for (n, at) in places.iter().enumerate() {
            let share = if places.len() > 1 { n as f64 / (places.len() - 1) as f64 } else { 0.0 };
            let numbers = Numbers::new(spec, share, materials, &place)?;
            let mut builder = body(spec, &pieces, *at, &numbers, materials, &place)?;
            let (mut linear, mut angular) = (spec.velocity.0, spec.angular_velocity.0);
            if let (Some(random), Some(range)) = (&mut random, &spec.random) {
                linear += random.in_ball() * range.speed;
                angular += random.in_ball() * range.spin;
            }
            if spec.kind == KindSpec::Free {
                builder = builder.moving(linear).spinning(angular);
            }
            let id = world.add(builder).map_err(|e| blame(&e, &place))?;
            let name = if spec.repeat.is_some() { format!("{family}[{n}]") } else { family.clone() };
            out.push(Placed {
                id,
                name,
                family: family.clone(),
                kind: spec.kind,
                pieces: pieces.clone(),
                color: spec.color.clone(),
                place: place.clone(),
            });
        }
    }
    Ok(out)
}

/// What can be wrong with a body whatever its copies.
fn check(spec: &BodySpec, shaper: &Shaper<'_>, place: &Place) -> Result<(), SceneError> {
    place.vector("velocity", spec.velocity)?;
    place.vector("angular_velocity", spec.angular_velocity)?;
    for (name, value) in [("density", spec.density), ("mass", spec.mass)] {
        if let Some(value) = value {
            place.positive(name, value)?;
        }
    }
    if let Some(value) = spec.friction {
        place.natural("friction", value)?;
    }
    if let Some(value) = spec.restitution {
        place.share("restitution", value)?;
    }
    for (name, length) in
        [("rolling_friction", spec.rolling_friction), ("torsional_friction", spec.torsional_friction)]
    {
        place.natural(name, length.unwrap_or_default())?;
    }
    place.vector("surface_velocity", spec.surface_velocity)?;
    if let Some(name) = &spec.material {
        shaper.known_material(name, &place.field("material"))?;
    }
    if let Some(random) = &spec.random {
        place.field("random").natural("speed", random.speed)?;
        place.field("random").natural("spin", random.spin)?;
    }
    match (spec.kind, &spec.motion) {
        (KindSpec::Scripted, None) => return Err(place.error("a scripted body needs a `motion`")),
        (KindSpec::Free | KindSpec::Fixed, Some(_)) => {
            return Err(place.field("motion").error("only a body of kind `scripted` has a motion"));
        }
        _ => {}
    }
    if spec.kind != KindSpec::Free {
        let given = [
            ("velocity", spec.velocity != Default::default()),
            ("angular_velocity", spec.angular_velocity != Default::default()),
            ("mass", spec.mass.is_some()),
            ("point_masses", !spec.point_masses.is_empty()),
            ("inertia", spec.inertia.is_some()),
            ("random", spec.random.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            return Err(place.field(name).error("only a body of kind `free` has one"));
        }
    }
    if let Some(color) = &spec.color {
        let digits = color.strip_prefix('#').filter(|d| d.len() == 6);
        if !digits.is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit())) {
            let shown: String = color.chars().take(40).collect();
            return Err(place.field("color").error(format_args!("must be like #3a7bd5, got `{shown}`")));
        }
    }
    Ok(())
}

/// Numbers of one copy.
struct Numbers {
    density: f64,
    friction: Option<f64>,
    restitution: Option<f64>,
    mass: Option<f64>,
}

impl Numbers {
    fn new(spec: &BodySpec, share: f64, materials: &Materials, place: &Place) -> Result<Self, SceneError> {
        let of_material = spec.material.as_ref().and_then(|name| materials.get(name));
        let mut numbers = Self {
            density: spec.density.or(of_material.map(|(_, m)| m.density)).unwrap_or(DEFAULT_DENSITY),
            friction: spec.friction,
            restitution: spec.restitution,
            mass: spec.mass,
        };
        for (k, vary) in spec.vary.iter().enumerate() {
            let place = place.field("vary").item(k);
            // Both ends exactly; in between their mean by weight.
            let value =
                place.finite("from", vary.from)? * (1.0 - share) + place.finite("to", vary.to)? * share;
            let bad = |what: &str| Err(place.error(format_args!("{what}, got {value}")));
            match vary.field {
                VaryField::Friction | VaryField::Restitution if value < 0.0 => {
                    return bad("must not be negative");
                }
                VaryField::Restitution if value > 1.0 => return bad("must be at most 1"),
                VaryField::Density | VaryField::Mass if value <= 0.0 => return bad("must be positive"),
                VaryField::Friction => numbers.friction = Some(value),
                VaryField::Restitution => numbers.restitution = Some(value),
                VaryField::Density => numbers.density = value,
                VaryField::Mass => numbers.mass = Some(value),
            }
        }
        Ok(numbers)
    }
}

/// One copy, without its velocity.
fn body(
    spec: &BodySpec,
    pieces: &[Piece],
    at: Pose,
    numbers: &Numbers,
    materials: &Materials,
    place: &Place,
) -> Result<BodyBuilder, SceneError> {
    let mut builder = match (spec.kind, &spec.motion) {
        (KindSpec::Free, _) => Body::free(),
        (KindSpec::Scripted, Some(motion)) => {
            Body::scripted(Prescribed::new(motion, at, &place.field("motion"))?)
        }
        _ => Body::fixed(),
    };
    builder = builder.pose(at);
    let groups = Groups { member: spec.groups.unwrap_or(u32::MAX), mask: spec.mask.unwrap_or(u32::MAX) };
    let mut parts = Vec::new();
    for piece in pieces {
        let own = piece.material.as_ref().and_then(|name| materials.get(name));
        let of_body = spec.material.as_ref().and_then(|name| materials.get(name));
        let density = piece.density.or(own.map(|(_, m)| m.density)).unwrap_or(numbers.density);
        let mut collider = ColliderBuilder::new(piece.shape.clone())
            .at(piece.body_from_shape)
            .density(density)
            .groups(groups);
        let overridden = own.is_none() && (numbers.friction.is_some() || numbers.restitution.is_some());
        collider = match own.or(of_body) {
            Some((id, _)) if !overridden => collider.material(id),
            material => collider
                .friction(numbers.friction.or(material.map(|(_, m)| m.friction)).unwrap_or(DEFAULT_FRICTION))
                .restitution(
                    numbers
                        .restitution
                        .or(material.map(|(_, m)| m.restitution))
                        .unwrap_or(DEFAULT_RESTITUTION),
                ),
        };
        builder = builder.collider(with_traction(collider, spec, own.or(of_body), overridden));
        if spec.kind == KindSpec::Free {
            parts.push((piece, density));
        }
    }
    if spec.kind == KindSpec::Free {
        if let Some(total) = mass_properties(spec, &parts, numbers.mass, place)? {
            builder = builder.mass_properties(total);
        } else if pieces.is_empty() {
            return Err(place.error("a free body needs a `shape`, `point_masses` or `inertia`"));
        } else if let Some(mass) = numbers.mass {
            builder = builder.mass(mass);
        }
    }
    Ok(builder)
}

/// Rolling and torsional friction and the velocity of a surface. Where the collider is not of its material any more, it has its lengths still.
fn with_traction(
    mut collider: ColliderBuilder,
    spec: &BodySpec,
    material: Option<(MaterialId, &Material)>,
    overridden: bool,
) -> ColliderBuilder {
    let of_material = material.filter(|_| overridden).map(|(_, m)| m);
    if let Some(length) = spec.rolling_friction.or(of_material.map(|m| m.rolling_friction)) {
        collider = collider.rolling_friction(length);
    }
    if let Some(length) = spec.torsional_friction.or(of_material.map(|m| m.torsional_friction)) {
        collider = collider.torsional_friction(length);
    }
    collider.surface_velocity(spec.surface_velocity.0)
}

/// Mass that does not follow from the shapes alone; `None` if it does.
fn mass_properties(
    spec: &BodySpec,
    pieces: &[(&Piece, f64)],
    mass: Option<f64>,
    place: &Place,
) -> Result<Option<MassProperties>, SceneError> {
    if let Some(given) = &spec.inertia {
        let place = place.field("inertia");
        let (moments, products) =
            (place.vector("moments", given.moments)?, place.vector("products", given.products)?);
        let inertia = Sym3 {
            xx: moments.x,
            yy: moments.y,
            zz: moments.z,
            xy: products.x,
            xz: products.y,
            yz: products.z,
        };
        let center = place.vector("center", given.center)?;
        let total = MassProperties::try_new(place.positive("mass", given.mass)?, center, inertia);
        return total.map(Some).map_err(|e| place.error(e));
    }
    if spec.point_masses.is_empty() {
        return Ok(None);
    }
    let mut parts = Vec::with_capacity(pieces.len() + spec.point_masses.len());
    for (piece, density) in pieces {
        let part = mass_of(&piece.shape, *density)
            .ok_or_else(|| place.field("shape").error(format_args!("a {} has no mass", piece.shape.name())))?
            .map_err(|e| place.field("shape").error(e))?;
        parts.push(part.transformed(&piece.body_from_shape));
    }
    if let (Some(mass), false) = (mass, parts.is_empty()) {
        let solid = mass::combine(&parts).and_then(|all| all.with_mass(mass)).map_err(|e| place.error(e))?;
        parts = vec![solid];
    }
    for (k, point) in spec.point_masses.iter().enumerate() {
        let place = place.field("point_masses").item(k);
        let at = place.vector("at", point.at)?;
        parts.push(
            MassProperties::point(place.positive("mass", point.mass)?, at).map_err(|e| place.error(e))?,
        );
    }
    mass::combine(&parts).map(Some).map_err(|e| place.error(e))
}

/// The world's word on a body, at its place in the scene.
fn blame(error: &WorldError, place: &Place) -> SceneError {
    match error {
        WorldError::Body { source, .. } => place.error(source),
        WorldError::Mass { source, .. } => place.field("shape").error(source),
        WorldError::NoMass { shape, .. } => place
            .field("shape")
            .error(format_args!("a {shape} has no mass: give `inertia`, or make the body fixed")),
        WorldError::Unbounded { shape, .. } => place
            .field("shape")
            .error(format_args!("a {shape} has no bounds: make the body fixed or scripted")),
        other => place.error(other),
    }
}
