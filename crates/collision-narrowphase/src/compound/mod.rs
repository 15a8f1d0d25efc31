//! Bodies made of convex pieces, in a tree of hulls that are opened on need.

mod author;
mod distance;
mod tree;

pub use author::{CompoundBuilder, OutlineError};
pub use distance::{CompoundDistance, compound_distance};
pub use tree::NodeVolume;

pub(crate) use distance::{Tree, distance, visit_near};

use crate::{PolyhedronError, convex, polyhedron::Polyhedron};
use sim_math::{
    Aabb, Pose,
    glam::DVec3,
    mass::{self, Amount, MassError, MassProperties},
};
use sim_traits::{CustomShape, Shape};
use std::{any::Any, sync::Arc};
use thiserror::Error;
use tree::Node;

/// Pieces that do not make a compound.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum CompoundError {
    /// There is no piece.
    #[error("a compound needs at least one piece")]
    Empty,
    /// More pieces than can be numbered.
    #[error("{pieces} pieces are more than {limit}")]
    TooMany {
        /// What was given.
        pieces: usize,
        /// The most that can be handled.
        limit: usize,
    },
    /// A piece that is not bounded and convex.
    #[error("piece {piece} is a {shape}, which is not bounded and convex")]
    NotConvex {
        /// Index of the piece.
        piece: usize,
        /// Its name.
        shape: &'static str,
    },
    /// The pose of a piece is not finite or not a rotation.
    #[error("piece {piece} has the pose {pose:?}")]
    BadPose {
        /// Index of the piece.
        piece: usize,
        /// The pose as given.
        pose: Pose,
    },
    /// The pieces below a node have no hull.
    #[error("no hull around pieces {first} and others: {fault}")]
    Hull {
        /// First of the pieces.
        first: usize,
        /// Why.
        fault: PolyhedronError,
    },
}

/// A convex piece and where it is in the compound's frame.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Bounded and convex.
    pub shape: Shape,
    /// Maps the piece's frame to the compound's.
    pub body_from_piece: Pose,
}

/// A rigid union of convex pieces.
///
/// ```
/// use collision_narrowphase::{compound::Compound, default_chain, polyhedron::torus};
/// use sim_math::{Pose, glam::DVec3};
/// use sim_traits::{Capsule, NarrowPhase, PairCache, Shape};
///
/// let wedges = torus(1.0, 0.25, 16, 8)?;
/// let ring = Shape::from(Compound::new(wedges.into_iter().map(|w| (w.into(), Pose::IDENTITY)).collect())?);
/// let bar = Shape::from(Capsule::new(0.3, 2.0)?);
/// // The bar goes through the hole.
/// let gap = default_chain().separation(&ring, &bar, &Pose::IDENTITY, &mut PairCache::default())?;
/// assert!(gap.distance > 0.4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Compound {
    pieces: Vec<Piece>,
    nodes: Vec<Node>,
    radius: f64,
}

impl Compound {
    /// Most pieces.
    pub const MAX_PIECES: usize = 1 << 20;

    /// From convex shapes and where they are in the compound's frame, with hulls as inner nodes.
    ///
    /// # Errors
    /// No pieces, a piece that is not bounded and convex, a bad pose.
    pub fn new(pieces: Vec<(Shape, Pose)>) -> Result<Self, CompoundError> {
        Self::with_volumes(pieces, NodeVolume::Hull)
    }

    /// The same with a choice of what encloses the pieces below an inner node.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_volumes(pieces: Vec<(Shape, Pose)>, volume: NodeVolume) -> Result<Self, CompoundError> {
        if pieces.is_empty() {
            return Err(CompoundError::Empty);
        }
        if pieces.len() > Self::MAX_PIECES {
            return Err(CompoundError::TooMany { pieces: pieces.len(), limit: Self::MAX_PIECES });
        }
        for (piece, (shape, pose)) in pieces.iter().enumerate() {
            if !convex::is_convex(shape) {
                return Err(CompoundError::NotConvex { piece, shape: shape.name() });
            }
            if !pose.is_finite() || (pose.rotation.length_squared() - 1.0).abs() > 1e-6 {
                return Err(CompoundError::BadPose { piece, pose: *pose });
            }
        }
        let pieces: Vec<Piece> = pieces
            .into_iter()
            .map(|(shape, body_from_piece)| Piece { shape, body_from_piece: body_from_piece.renormalized() })
            .collect();
        let radius = pieces
            .iter()
            .map(|p| match crate::as_polyhedron(&p.shape) {
                Some(q) => q
                    .vertices()
                    .iter()
                    .map(|v| p.body_from_piece.transform_point(v.position).length())
                    .fold(0.0, f64::max),
                None => p.body_from_piece.translation.length() + p.shape.bounding_radius(),
            })
            .fold(0.0, f64::max);
        let nodes = tree::build(&pieces, volume)?;
        Ok(Self { pieces, nodes, radius })
    }

    /// The pieces, in the order given.
    #[inline]
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// True if a point of the compound's frame lies in one of the pieces or on its surface.
    #[must_use]
    pub fn contains(&self, point: DVec3) -> bool {
        self.pieces.iter().any(|p| {
            crate::contain::contains_point(&p.shape, p.body_from_piece.inverse_transform_point(point))
        })
    }

    /// Mass, centre and inertia for a uniform density (kg/m³); pieces that overlap count twice.
    ///
    /// # Errors
    /// A density that is not positive, or a piece whose volume is not known (a support map that is neither a polyhedron
    /// nor a frustum nor an ellipsoid).
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MassError> {
        let parts: Vec<MassProperties> = self
            .pieces
            .iter()
            .map(|p| Ok(shape_mass(&p.shape, Amount::Density(density))?.transformed(&p.body_from_piece)))
            .collect::<Result<_, MassError>>()?;
        mass::combine(&parts)
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// Mass properties of a convex shape in its own frame.
fn shape_mass(shape: &Shape, amount: Amount) -> Result<MassProperties, MassError> {
    match shape {
        Shape::Sphere(s) => mass::solid::sphere(s.radius(), amount),
        Shape::Capsule(c) => mass::solid::capsule(c.radius(), c.half_height(), amount),
        Shape::Cuboid(c) => mass::solid::cuboid(c.half_extents(), amount),
        Shape::Cylinder(c) => mass::solid::cylinder(c.radius(), c.half_height(), amount),
        Shape::Convex(s) => {
            if let Some(p) = s.as_any().downcast_ref::<Polyhedron>() {
                let (points, faces) = p.to_faces();
                let counts: Vec<u32> = faces.iter().map(|f| f.len() as u32).collect();
                let corners: Vec<u32> = faces.concat();
                let surface = mass::ClosedSurface::from_polygons(&points, &counts, &corners)?;
                MassProperties::from_polyhedron(&surface, amount)
            } else if let Some(f) = s.as_any().downcast_ref::<crate::shapes::Frustum>() {
                mass::solid::frustum(f.bottom(), f.top(), f.half_height(), amount)
            } else if let Some(e) = s.as_any().downcast_ref::<crate::shapes::Ellipsoid>() {
                mass::solid::ellipsoid(e.radii(), amount)
            } else {
                // No volume is known for a general support map: as if it had no mass, which is an error.
                mass::solid::sphere(f64::NAN, amount)
            }
        }
        _ => mass::solid::sphere(f64::NAN, amount),
    }
}

impl CustomShape for Compound {
    fn aabb(&self, world_from_shape: &Pose) -> Aabb {
        let first = self.pieces[0].shape.aabb(&(*world_from_shape * self.pieces[0].body_from_piece));
        self.pieces[1..]
            .iter()
            .fold(first, |all, p| all.merged(&p.shape.aabb(&(*world_from_shape * p.body_from_piece))))
    }

    fn bounding_radius(&self) -> f64 {
        self.radius
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "compound"
    }
}

impl From<Compound> for Shape {
    fn from(compound: Compound) -> Self {
        Self::Custom(Arc::new(compound))
    }
}
