//! Height fields: ground given by heights on a regular grid, solid below.
//!
//! # Reference
//! Amanatides and Woo 1987 (walking a grid along a ray); triangles as in meshes.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | cell (i, j) | square between columns i, i + 1 and rows j, j + 1 |
//! | triangle 2c, 2c + 1 | below and above the diagonal of cell c = i · (rows − 1) + j |
//!
//! # Formula
//! ```text
//! point (i, j) = (i · pitch.x, j · pitch.y, heights[i · rows + j]);   diagonal from (i, j) to (i + 1, j + 1)
//! ```
//!
//! # Cost
//! Memory: the heights. A box costs the cells below it, a ray the cells it passes over.
//!
//! # Numerics
//! The same triangles, tests and tolerances as a mesh of the same points.
//!
//! # Failure
//! [`FieldError`] for a bad grid, with the index.
//!
//! # Tested by
//! `tests/height_field.rs`

use crate::{
    mesh::{
        MeshHit, moved_box,
        triangle::{Part, ShearedRay, closest_point},
    },
    ray::{RayError, check_ray},
    surface::{Surface, normal_of},
};
use sim_math::{
    Aabb, Pose,
    glam::{DVec2, DVec3},
};
use sim_traits::{CustomShape, Ray, Shape};
use std::{any::Any, ops::ControlFlow, sync::Arc};
use thiserror::Error;

/// A grid that is no height field.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum FieldError {
    /// Fewer than two columns or rows, or more points than can be numbered.
    #[error("a height field needs 2 to 2²⁷ points, at least 2 each way, got {columns} by {rows}")]
    BadSize {
        /// Points along x.
        columns: usize,
        /// Points along y.
        rows: usize,
    },
    /// Not as many heights as points.
    #[error("{columns} by {rows} points need {} heights, got {got}", columns * rows)]
    WrongLength {
        /// Points along x.
        columns: usize,
        /// Points along y.
        rows: usize,
        /// Number of heights.
        got: usize,
    },
    /// A pitch or depth that is not positive and finite.
    #[error("{what} must be positive and finite, got {value}")]
    BadLength {
        /// Name of the parameter.
        what: &'static str,
        /// What was given, metres.
        value: f64,
    },
    /// A height is NaN, infinite or beyond 1e30 m.
    #[error("height {index} is {value}")]
    NonFinite {
        /// Index of the height.
        index: usize,
        /// What was given, metres.
        value: f64,
    },
}

/// Ground over a rectangle from the origin to (columns − 1, rows − 1) · pitch, solid down to a given depth.
///
/// ```
/// use collision_narrowphase::height_field::HeightField;
/// use sim_math::glam::{DVec2, DVec3};
///
/// let field = HeightField::new(3, 2, DVec2::ONE, vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0], 5.0)?;
/// assert_eq!(field.height_at(DVec2::new(0.5, 0.5)), Some(0.5));
/// assert!(field.contains(DVec3::new(1.0, 0.5, 0.9)));
/// # Ok::<(), collision_narrowphase::height_field::FieldError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeightField {
    columns: u32,
    rows: u32,
    pitch: DVec2,
    heights: Vec<f64>,
    bounds: Aabb,
    radius: f64,
}

impl HeightField {
    /// From `columns` times `rows` heights (metres), column by column, `pitch` metres apart along x and y. The ground is
    /// solid down to `depth` metres below its lowest point.
    ///
    /// # Errors
    /// A bad size, length or height.
    pub fn new(
        columns: usize,
        rows: usize,
        pitch: DVec2,
        heights: Vec<f64>,
        depth: f64,
    ) -> Result<Self, FieldError> {
        let points = columns.saturating_mul(rows);
        if columns < 2 || rows < 2 || points > 1 << 27 {
            return Err(FieldError::BadSize { columns, rows });
        }
        if heights.len() != points {
            return Err(FieldError::WrongLength { columns, rows, got: heights.len() });
        }
        for (what, value) in [("pitch.x", pitch.x), ("pitch.y", pitch.y), ("depth", depth)] {
            if !(value > 0.0 && value < 1e30) {
                return Err(FieldError::BadLength { what, value });
            }
        }
        if let Some(index) = heights.iter().position(|h| !h.is_finite() || h.abs() > 1e30) {
            return Err(FieldError::NonFinite { index, value: heights[index] });
        }
        let (low, high) =
            heights.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |r, h| (r.0.min(*h), r.1.max(*h)));
        let far = pitch * DVec2::new((columns - 1) as f64, (rows - 1) as f64);
        let bounds = Aabb { min: DVec3::new(0.0, 0.0, low - depth), max: far.extend(high) };
        let radius = bounds.min.abs().max(bounds.max.abs()).length();
        Ok(Self { columns: columns as u32, rows: rows as u32, pitch, heights, bounds, radius })
    }

    /// Number of triangles.
    #[must_use]
    pub fn len(&self) -> u32 {
        2 * (self.columns - 1) * (self.rows - 1)
    }

    /// Never true: a field has at least one cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Point (i, j), metres.
    #[inline]
    fn point(&self, i: u32, j: u32) -> DVec3 {
        let height = self.heights[(i * self.rows + j) as usize];
        DVec3::new(f64::from(i) * self.pitch.x, f64::from(j) * self.pitch.y, height)
    }

    /// Corners of a triangle, counter-clockwise seen from above, metres.
    #[must_use]
    pub fn triangle(&self, triangle: u32) -> [DVec3; 3] {
        let (i, j) = self.cell(triangle);
        let (p, r) = (self.point(i, j), self.point(i + 1, j + 1));
        if triangle % 2 == 0 { [p, self.point(i + 1, j), r] } else { [p, r, self.point(i, j + 1)] }
    }

    #[inline]
    fn cell(&self, triangle: u32) -> (u32, u32) {
        let cell = triangle / 2;
        (cell / (self.rows - 1), cell % (self.rows - 1))
    }

    /// Height of the ground over (x, y), metres; `None` outside the grid.
    #[must_use]
    pub fn height_at(&self, position: DVec2) -> Option<f64> {
        let g = position / self.pitch;
        let (nx, ny) = (f64::from(self.columns - 1), f64::from(self.rows - 1));
        if !(g.x >= 0.0 && g.y >= 0.0 && g.x <= nx && g.y <= ny) {
            return None;
        }
        let (i, j) = ((g.x as u32).min(self.columns - 2), (g.y as u32).min(self.rows - 2));
        let (u, v) = (g.x - f64::from(i), g.y - f64::from(j));
        let h = |i: u32, j: u32| self.heights[(i * self.rows + j) as usize];
        let (p, r) = (h(i, j), h(i + 1, j + 1));
        Some(if u >= v {
            let q = h(i + 1, j);
            p + u * (q - p) + v * (r - q)
        } else {
            let q = h(i, j + 1);
            p + v * (q - p) + u * (r - q)
        })
    }

    /// True if a point (metres) is in the ground or on its surface.
    #[must_use]
    pub fn contains(&self, point: DVec3) -> bool {
        point.z >= self.bounds.min.z && self.height_at(point.truncate()).is_some_and(|h| point.z <= h)
    }

    /// First point of the surface on a ray in the field's frame, from above or below.
    ///
    /// # Errors
    /// [`RayError::BadRay`].
    pub fn ray_cast(&self, ray: &Ray) -> Result<Option<MeshHit>, RayError> {
        check_ray(ray)?;
        let slack = 1e-14 * (ray.origin.abs().max_element() + self.radius);
        let Some((enter, leave)) =
            self.surface_box().grown(4.0 * slack).ray_interval(ray.origin, ray.direction, ray.t_max)
        else {
            return Ok(None);
        };
        let sheared = ShearedRay::new(ray.origin, ray.direction, slack);
        let start = ray.origin + enter * ray.direction;
        let mut cell = [0_i64; 2];
        let last = [i64::from(self.columns) - 2, i64::from(self.rows) - 2];
        let pitch = self.pitch.to_array();
        // Parameter of the next border across each axis, and from border to border.
        let (mut next, mut step) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
        let forward = [ray.direction.x > 0.0, ray.direction.y > 0.0];
        for k in 0..2 {
            cell[k] = ((start[k] / pitch[k]).floor() as i64).clamp(0, last[k]);
            let d = ray.direction[k];
            if d != 0.0 {
                step[k] = pitch[k] / d.abs();
                let border = (cell[k] + i64::from(forward[k])) as f64 * pitch[k];
                next[k] = (border - ray.origin[k]) / d;
            }
        }
        let mut begin = enter;
        loop {
            let end = next[0].min(next[1]).min(leave);
            // A ray through a border or a corner may belong to any of the cells there.
            let (p, q) = (ray.origin + begin * ray.direction, ray.origin + end * ray.direction);
            let span = Aabb { min: p.min(q), max: p.max(q) }.grown(2.0 * slack);
            let mut best: Option<(f64, u32)> = None;
            let _ = self.visit_box(&span, &mut |id, corners| {
                if let Some(t) = sheared.hit(corners, best.map_or(ray.t_max, |b| b.0))
                    && best.is_none_or(|b| t < b.0 || id < b.1)
                {
                    best = Some((t, id));
                }
                ControlFlow::Continue(())
            });
            if let Some((t, triangle)) = best {
                return Ok(Some(MeshHit { t, triangle, normal: normal_of(&self.triangle(triangle)) }));
            }
            let k = usize::from(next[1] < next[0]);
            cell[k] += if forward[k] { 1 } else { -1 };
            if next[k] > leave || next[k].is_infinite() || !(0..=last[k]).contains(&cell[k]) {
                return Ok(None);
            }
            begin = next[k];
            next[k] += step[k];
        }
    }

    fn surface_box(&self) -> Aabb {
        let low = self.heights.iter().copied().fold(f64::INFINITY, f64::min);
        Aabb { min: self.bounds.min.with_z(low), max: self.bounds.max }
    }

    /// Ranges of cells below a box, empty if it is beside the grid.
    fn cells(&self, aabb: &Aabb) -> [std::ops::Range<u32>; 2] {
        let range = |lo: f64, hi: f64, cells: u32| {
            // `as` saturates; a box that ends on a border belongs to both sides.
            let first = (lo.ceil() - 1.0).max(0.0) as u32;
            let end = ((hi.floor() + 1.0).max(0.0) as u32).min(cells);
            if hi < 0.0 || lo > f64::from(cells) { 0..0 } else { first..end }
        };
        [
            range(aabb.min.x / self.pitch.x, aabb.max.x / self.pitch.x, self.columns - 1),
            range(aabb.min.y / self.pitch.y, aabb.max.y / self.pitch.y, self.rows - 1),
        ]
    }
}

impl Surface for HeightField {
    fn name(&self) -> &'static str {
        "height field"
    }

    fn visit_box(
        &self,
        aabb: &Aabb,
        visit: &mut dyn FnMut(u32, &[DVec3; 3]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let [columns, rows] = self.cells(aabb);
        for i in columns {
            for j in rows.clone() {
                let first = 2 * (i * (self.rows - 1) + j);
                for id in [first, first + 1] {
                    let t = self.triangle(id);
                    let (low, high) = (t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2]));
                    if low.cmple(aabb.max).all() && high.cmpge(aabb.min).all() {
                        visit(id, &t)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn visit_nearest(
        &self,
        aabb: &Aabb,
        mut limit: f64,
        visit: &mut dyn FnMut(u32, &[DVec3; 3], f64) -> f64,
    ) -> f64 {
        let whole = self.surface_box();
        let beside = (whole.min - aabb.max).max(aabb.min - whole.max).max(DVec3::ZERO).length();
        let everything = beside + whole.size().length();
        let mut reach = beside + self.pitch.max_element();
        loop {
            let within = reach.min(limit);
            let _ = self.visit_box(&aabb.grown(within), &mut |id, t| {
                limit = visit(id, t, limit).min(limit);
                if limit < 0.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if limit <= within || reach >= everything {
                return limit;
            }
            reach *= 2.0;
        }
    }

    fn all_around(&self, triangle: u32, part: Part, test: &mut dyn FnMut(DVec3) -> bool) -> bool {
        let (i, j) = self.cell(triangle);
        let corners = if triangle % 2 == 0 {
            [(i, j), (i + 1, j), (i + 1, j + 1)]
        } else {
            [(i, j), (i + 1, j + 1), (i, j + 1)]
        };
        let exists = |x: i64, y: i64| {
            (0..i64::from(self.columns)).contains(&x) && (0..i64::from(self.rows)).contains(&y)
        };
        let mut at = |x: i64, y: i64| !exists(x, y) || test(self.point(x as u32, y as u32));
        match part {
            Part::Face => true,
            Part::Edge(k) => {
                // The corner across the edge: the fourth of a parallelogram.
                let ((ax, ay), (bx, by)) = (corners[k], corners[(k + 1) % 3]);
                let (cx, cy) = corners[(k + 2) % 3];
                let across = |a: u32, b: u32, c: u32| i64::from(a) + i64::from(b) - i64::from(c);
                at(across(ax, bx, cx), across(ay, by, cy))
            }
            Part::Corner(k) => {
                let (x, y) = (i64::from(corners[k].0), i64::from(corners[k].1));
                // Six neighbours: along the axes and along the diagonal.
                [(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)].iter().all(|(u, v)| at(x + u, y + v))
            }
        }
    }

    fn is_gentle(&self, triangle: u32) -> bool {
        let t = self.triangle(triangle);
        let n = normal_of(&t);
        // The point across each edge may lie below the plane by 15° at most, and must be there.
        (0..3).all(|k| {
            let middle = t[k].midpoint(t[(k + 1) % 3]);
            let mut exists = false;
            let near = self.all_around(triangle, Part::Edge(k), &mut |q| {
                exists = true;
                let to = q - middle;
                n.dot(to) >= -0.2588 * to.length()
            });
            exists && near
        })
    }

    fn one_sided(&self) -> bool {
        true
    }

    fn way_out(&self, point: DVec3) -> Option<(u32, DVec3, DVec3)> {
        if !self.contains(point) {
            return None;
        }
        let mut best: Option<(u32, DVec3, f64)> = None;
        self.visit_nearest(&Aabb { min: point, max: point }, f64::INFINITY, &mut |id, t, limit| {
            let (x, _) = closest_point(point, *t);
            let distance = (x - point).length();
            if best.is_none_or(|b| distance < b.2) {
                best = Some((id, x, distance));
            }
            limit.min(distance)
        });
        let (id, x, _) = best?;
        let out = (x - point).try_normalize().unwrap_or_else(|| normal_of(&self.triangle(id)));
        Some((id, out, x))
    }
}

impl CustomShape for HeightField {
    fn aabb(&self, world_from_shape: &Pose) -> Aabb {
        moved_box(&self.bounds, world_from_shape)
    }

    fn bounding_radius(&self) -> f64 {
        self.radius
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "height field"
    }
}

impl From<HeightField> for Shape {
    fn from(field: HeightField) -> Self {
        Self::Custom(Arc::new(field))
    }
}
