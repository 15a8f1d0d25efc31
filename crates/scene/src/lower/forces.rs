//! Forces besides gravity.

use super::Names;
use crate::format::{
    Loaded,
    error::{Place, SceneError},
    model::{AnchorSpec, ForceSpec},
};
use sim_world::{Anchor, ForceGenerator, World};

/// Adds all forces of a scene.
pub(crate) fn add_all(world: &mut World, loaded: &Loaded, names: &Names) -> Result<(), SceneError> {
    for (k, spec) in loaded.scene.forces.iter().enumerate() {
        let place = loaded.force(k);
        let mut add = |force: ForceGenerator| world.add_force(force).map_err(|e| place.error(e));
        match spec {
            ForceSpec::Constant { body, force, torque } => {
                let (force, torque) = (place.vector("force", *force)?, place.vector("torque", *torque)?);
                for &body in names.get(body, &place.field("body"))? {
                    add(ForceGenerator::Constant { body, force, torque })?;
                }
            }
            ForceSpec::Drag { body, linear, angular } => {
                let (linear, angular) =
                    (place.natural("linear", *linear)?, place.natural("angular", *angular)?);
                for &body in names.get(body, &place.field("body"))? {
                    add(ForceGenerator::Drag { body, linear, angular })?;
                }
            }
            ForceSpec::Spring { a, b, stiffness, damping, rest_length } => {
                add(ForceGenerator::Spring {
                    a: anchor(a, names, &place.field("a"))?,
                    b: anchor(b, names, &place.field("b"))?,
                    stiffness: place.natural("stiffness", *stiffness)?,
                    damping: place.natural("damping", *damping)?,
                    rest_length: place.natural("rest_length", *rest_length)?,
                })?;
            }
        }
    }
    Ok(())
}

fn anchor(spec: &AnchorSpec, names: &Names, place: &Place) -> Result<Anchor, SceneError> {
    match spec {
        AnchorSpec::World(point) if point.0.is_finite() => Ok(Anchor::World(point.0)),
        AnchorSpec::World(_) => Err(place.error("must be finite")),
        AnchorSpec::Body { name, at } => {
            Ok(Anchor::Body(names.single(name, &place.field("name"))?, place.vector("at", *at)?))
        }
    }
}
