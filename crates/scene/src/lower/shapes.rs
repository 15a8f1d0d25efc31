//! Shapes of scene files to collision shapes.

use super::{dish::dish, motion::pose};
use crate::{
    format::{
        Files, Loaded, ShapeSpec, Triple,
        error::{Place, SceneError},
        load::MAX_FILE,
        nearest,
        shape::MeshSolid,
    },
    mesh,
};
use collision_narrowphase::{
    Polyhedron, PolyhedronError, polyhedron,
    shapes::{Ellipsoid, Frustum},
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{Capsule, Cuboid, Cylinder, HalfSpace, Shape, ShapeError, Sphere};
use std::collections::BTreeMap;

/// Most convex pieces of one body.
const MAX_PIECES: usize = 10_000;
/// Deepest nesting of compounds and named shapes.
const MAX_DEPTH: usize = 16;
/// Most points of a hull that is built.
const MAX_HULL_POINTS: usize = 200_000;

/// A collision shape in the frame of a body.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The shape.
    pub shape: Shape,
    /// Where it is in the body's frame.
    pub body_from_shape: Pose,
    /// Material of its own.
    pub material: Option<String>,
    /// Density of its own, kg/m³.
    pub density: Option<f64>,
}

/// Builds shapes; keeps meshes that were read.
pub(crate) struct Shaper<'a> {
    loaded: &'a Loaded,
    files: &'a dyn Files,
    meshes: BTreeMap<(String, bool, u64), Vec<Shape>>,
    /// Points of all hulls so far: bounds the work of a hostile scene.
    hull_points: usize,
}

/// Where in the tree of shapes we are.
struct Level<'p> {
    depth: usize,
    frame: Pose,
    material: Option<&'p String>,
    density: Option<f64>,
}

impl<'a> Shaper<'a> {
    pub(crate) fn new(loaded: &'a Loaded, files: &'a dyn Files) -> Self {
        Self { loaded, files, meshes: BTreeMap::new(), hull_points: 0 }
    }

    /// All convex pieces of a shape.
    pub(crate) fn build(&mut self, spec: &ShapeSpec, place: &Place) -> Result<Vec<Piece>, SceneError> {
        let mut out = Vec::new();
        let top = Level { depth: 0, frame: Pose::IDENTITY, material: None, density: None };
        self.add(spec, place, &top, &mut out)?;
        Ok(out)
    }

    fn add(
        &mut self,
        spec: &ShapeSpec,
        place: &Place,
        level: &Level<'_>,
        out: &mut Vec<Piece>,
    ) -> Result<(), SceneError> {
        if level.depth > MAX_DEPTH {
            return Err(place.error(format_args!("shapes are nested more than {MAX_DEPTH} deep")));
        }
        match spec {
            ShapeSpec::Compound(parts) => {
                if parts.is_empty() {
                    return Err(place.error("a compound needs a part"));
                }
                for (k, part) in parts.iter().enumerate() {
                    let here = place.item(k);
                    if let Some(density) = part.density {
                        here.positive("density", density)?;
                    }
                    if let Some(name) = &part.material {
                        self.known_material(name, &here.field("material"))?;
                    }
                    let part_pose = pose(part.at, &part.rotation, ["at", "rotation"], &here)?;
                    let inner = Level {
                        depth: level.depth + 1,
                        frame: level.frame * part_pose,
                        material: part.material.as_ref().or(level.material),
                        density: part.density.or(if part.material.is_some() { None } else { level.density }),
                    };
                    self.add(&part.shape, &here.field("shape"), &inner, out)?;
                }
                Ok(())
            }
            ShapeSpec::Named(name) => {
                let loaded = self.loaded;
                let Some(shape) = loaded.scene.shapes.get(name) else {
                    return Err(unknown("shape", name, loaded.scene.shapes.keys(), place));
                };
                let inner = Level { depth: level.depth + 1, ..*level };
                self.add(shape, &loaded.shape(name), &inner, out)
            }
            _ => {
                let solids = self.solids(spec, place)?;
                if out.len() + solids.len() > MAX_PIECES {
                    return Err(place.error(format_args!("more than {MAX_PIECES} pieces")));
                }
                out.extend(solids.into_iter().map(|shape| Piece {
                    shape,
                    body_from_shape: level.frame,
                    material: level.material.cloned(),
                    density: level.density,
                }));
                Ok(())
            }
        }
    }

    pub(crate) fn known_material(&self, name: &str, place: &Place) -> Result<(), SceneError> {
        let materials = &self.loaded.scene.materials;
        if materials.contains_key(name) {
            Ok(())
        } else {
            Err(unknown("material", name, materials.keys(), place))
        }
    }

    /// Convex solids of a shape that has no parts.
    fn solids(&mut self, spec: &ShapeSpec, place: &Place) -> Result<Vec<Shape>, SceneError> {
        let bad = |e: ShapeError| place.error(e);
        let one = |shape: Shape| Ok(vec![shape]);
        match spec {
            ShapeSpec::Sphere { radius } => {
                one(Sphere::new(place.positive("radius", *radius)?).map_err(bad)?.into())
            }
            ShapeSpec::Cuboid { size } => {
                let size = place.vector("size", *size)?;
                if size.min_element() <= 0.0 {
                    let [x, y, z] = size.to_array();
                    let problem = format!("must be positive, got ({x}, {y}, {z})");
                    return Err(place.field("size").error(problem));
                }
                one(Cuboid::new(0.5 * size).map_err(bad)?.into())
            }
            ShapeSpec::Capsule { radius, height } => {
                let (r, h) = (place.positive("radius", *radius)?, place.positive("height", *height)?);
                one(Capsule::new(r, 0.5 * h).map_err(bad)?.into())
            }
            ShapeSpec::Cylinder { radius, height } => {
                let (r, h) = (place.positive("radius", *radius)?, place.positive("height", *height)?);
                one(Cylinder::new(r, 0.5 * h).map_err(bad)?.into())
            }
            ShapeSpec::Cone { radius, height } => {
                let (r, h) = (place.positive("radius", *radius)?, place.positive("height", *height)?);
                one(Frustum::cone(r, 0.5 * h).map_err(bad)?.into())
            }
            ShapeSpec::Frustum { bottom, top, height } => {
                let (b, t) = (place.natural("bottom", *bottom)?, place.natural("top", *top)?);
                let h = place.positive("height", *height)?;
                one(Frustum::new(b, t, 0.5 * h).map_err(bad)?.into())
            }
            ShapeSpec::Ellipsoid { radii } => {
                let radii = place.vector("radii", *radii)?;
                if radii.min_element() <= 0.0 {
                    let [x, y, z] = radii.to_array();
                    let problem = format!("must be positive, got ({x}, {y}, {z})");
                    return Err(place.field("radii").error(problem));
                }
                one(Ellipsoid::new(radii).map_err(bad)?.into())
            }
            ShapeSpec::HalfSpace { normal } => {
                one(HalfSpace::new(place.direction("normal", *normal)?).map_err(bad)?.into())
            }
            ShapeSpec::Hull { points } => {
                one(self.hull(&points.iter().map(|p| p.0).collect::<Vec<_>>(), &place.field("points"))?)
            }
            ShapeSpec::Prism { points, height } => one(self.prism(points, *height, place)?),
            ShapeSpec::Dish { curvature, rim, thickness, rings, sectors } => {
                let lengths = (
                    place.positive("curvature", *curvature)?,
                    place.positive("rim", *rim)?,
                    place.positive("thickness", *thickness)?,
                );
                if lengths.1 >= lengths.0 {
                    let problem = format!("must be below the curvature {curvature}, got {rim}");
                    return Err(place.field("rim").error(problem));
                }
                let rings = place.count("rings", u64::from(*rings), 64)?;
                if *sectors < 3 {
                    return Err(place
                        .field("sectors")
                        .error(format_args!("must be 3 or more, got {sectors}")));
                }
                let sectors = place.count("sectors", u64::from(*sectors), 256)?;
                if rings * sectors > 4096 {
                    let problem = format!("{rings} rings of {sectors} sectors are more than 4096 pieces");
                    return Err(place.error(problem));
                }
                dish(lengths, rings, sectors)
                    .map(|list| list.into_iter().map(Shape::from).collect())
                    .map_err(|e| place.error(e))
            }
            ShapeSpec::Torus { major, minor, segments, sides } => {
                let (major, minor) = (place.positive("major", *major)?, place.positive("minor", *minor)?);
                let segments = place.count("segments", u64::from(*segments), 256)?;
                let sides = place.count("sides", u64::from(*sides), 256)?;
                polyhedron::torus(major, minor, segments, sides)
                    .map(|list| list.into_iter().map(Shape::from).collect())
                    .map_err(|e| place.error(e))
            }
            ShapeSpec::Icosphere { radius, subdivisions } => {
                let radius = place.positive("radius", *radius)?;
                if *subdivisions > 5 {
                    let problem = format!("must be at most 5, got {subdivisions}");
                    return Err(place.field("subdivisions").error(problem));
                }
                let ball = Polyhedron::icosphere(radius, *subdivisions).map_err(|e| place.error(e))?;
                one(ball.into())
            }
            ShapeSpec::Mesh { file, solid, scale } => self.mesh(file, *solid, *scale, place),
            // Not solids: handled by the caller.
            ShapeSpec::Named(_) | ShapeSpec::Compound(_) => Ok(Vec::new()),
        }
    }

    fn hull(&mut self, points: &[DVec3], place: &Place) -> Result<Shape, SceneError> {
        self.hull_points = self.hull_points.saturating_add(points.len());
        if self.hull_points > MAX_HULL_POINTS {
            return Err(place.error(format_args!("more than {MAX_HULL_POINTS} points of hulls in one scene")));
        }
        Polyhedron::hull(points).map(Shape::from).map_err(|e| match e {
            PolyhedronError::NonFinite { index, value } => {
                place.item(index).error(format_args!("must be finite, got {}", Triple(value).0))
            }
            other => place.error(other),
        })
    }

    fn prism(&mut self, points: &[(f64, f64)], height: f64, place: &Place) -> Result<Shape, SceneError> {
        let half = 0.5 * place.positive("height", height)?;
        let mut corners = Vec::with_capacity(2 * points.len());
        for z in [-half, half] {
            corners.extend(points.iter().map(|&(x, y)| DVec3::new(x, y, z)));
        }
        self.hull(&corners, &place.field("points")).map_err(|mut e| {
            if points.len() < 3 {
                e.problem = format!("a polygon needs 3 corners, got {}", points.len());
            }
            e
        })
    }

    fn mesh(
        &mut self,
        file: &str,
        solid: MeshSolid,
        scale: f64,
        place: &Place,
    ) -> Result<Vec<Shape>, SceneError> {
        let scale = place.positive("scale", scale)?;
        let here = place.field("file");
        let name = Loaded::beside(place, file);
        let key = (name.clone(), solid == MeshSolid::Pieces, scale.to_bits());
        if let Some(known) = self.meshes.get(&key) {
            return Ok(known.clone());
        }
        let bytes = self
            .files
            .read(&name, MAX_FILE)
            .map_err(|problem| here.error(format_args!("`{name}`: {problem}")))?;
        let mut mesh = mesh::read(&name, &bytes).map_err(|e| here.error(format_args!("`{name}`: {e}")))?;
        drop(bytes);
        for point in &mut mesh.points {
            *point *= scale;
        }
        let shapes = match solid {
            MeshSolid::Hull => vec![self.hull(&mesh.points, &here)?],
            MeshSolid::Pieces => {
                let parts = mesh::pieces(&mesh);
                if parts.len() > MAX_PIECES {
                    return Err(here.error(format_args!("`{name}`: more than {MAX_PIECES} pieces")));
                }
                let mut shapes = Vec::with_capacity(parts.len());
                for (k, part) in parts.iter().enumerate() {
                    self.hull_points = self.hull_points.saturating_add(part.points.len());
                    if self.hull_points > MAX_HULL_POINTS {
                        let problem = format!("more than {MAX_HULL_POINTS} points of hulls in one scene");
                        return Err(here.error(problem));
                    }
                    let piece = Polyhedron::from_faces(&part.points, &part.faces)
                        .map_err(|e| here.error(format_args!("`{name}`: piece {k}: {e}")))?;
                    shapes.push(piece.into());
                }
                shapes
            }
        };
        self.meshes.insert(key, shapes.clone());
        Ok(shapes)
    }
}

/// A name that is not there, with the nearest one that is.
pub(crate) fn unknown<'k>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'k String>,
    place: &Place,
) -> SceneError {
    let shown: String = name.chars().take(40).collect();
    match nearest(name, known.map(String::as_str)) {
        Some(near) => place.error(format_args!("unknown {what} `{shown}`, did you mean `{near}`?")),
        None => place.error(format_args!("unknown {what} `{shown}`")),
    }
}
