//! Where the camera and the sun are: as in the page.

use super::raster::{Depth, Triangle};
use crate::CliError;
use crate::mesh::Mesh;
use scene::Recording;
use scene::recording::{BodyKind, ShapeInfo};
use sim_math::glam::DVec3;
use sim_math::{Aabb, ops};

/// Degrees from the bottom to the top of the picture.
const FIELD: f64 = 32.0;
const SHADOW_PIXELS: usize = 2048;

/// Camera and sun.
#[derive(Debug)]
pub(super) struct View {
    pub(super) eye: DVec3,
    /// Middle and size of the action, metres.
    pub(super) center: DVec3,
    pub(super) radius: f64,
    /// Distance of grid lines, metres.
    pub(super) spacing: f64,
    /// Unit vector to the sun.
    pub(super) sun: DVec3,
    /// How far a point is moved off its surface before it is looked for in the shadow, metres.
    pub(super) bias: f64,
    /// Angle of one pixel, radians.
    pub(super) pixel_angle: f64,
    right: DVec3,
    upwards: DVec3,
    ahead: DVec3,
    size: [f64; 2],
    scale: f64,
}

impl View {
    /// Looks at where most bodies are in a frame; `size` in pixels. A larger `zoom` shows less of it.
    pub(super) fn of(
        recording: &mut Recording,
        frame: usize,
        size: [f64; 2],
        zoom: f64,
    ) -> Result<Self, CliError> {
        let (area, body) = action(recording, frame)?;
        let (center, radius) = (area.center(), 0.5 * (area.max - area.min).length());
        let up = recording.header().up;
        let side = sideways(up);
        let back = side.cross(up);
        let half = ops::tan(FIELD.to_radians() / 2.0);
        let ahead = -(side * 0.42 + back * 0.78 + up * 0.46).normalize();
        let right = ahead.cross(up).normalize();
        let upwards = right.cross(ahead);
        // As near as all corners of the area allow, with a margin.
        let (wide, tall) = (0.86 * half * size[0] / size[1], 0.8 * half);
        let away = corners(&area).map(|c| {
            let c = c - center;
            (c.dot(right).abs() / wide).max(c.dot(upwards).abs() / tall) - c.dot(ahead)
        });
        let eye = center - ahead * away.into_iter().fold(0.1 * radius, f64::max);
        let scale = zoom * size[1] / 2.0 / half;
        Ok(Self {
            eye,
            center,
            radius,
            spacing: ops::powf(10.0, ops::log10(radius * 0.8).floor()),
            sun: (up * 2.4 + side * 1.3 - back * 0.6).normalize(),
            bias: 0.03 * body,
            pixel_angle: 1.0 / scale,
            right,
            upwards,
            ahead,
            size,
            scale,
        })
    }

    /// Pixel and inverse depth of a point; `None` behind or at the eye.
    pub(super) fn project(&self, point: DVec3) -> Option<DVec3> {
        let from = point - self.eye;
        let depth = from.dot(self.ahead);
        (depth > 1e-3 * self.radius).then(|| {
            let k = self.scale / depth;
            let (x, y) = (from.dot(self.right) * k, from.dot(self.upwards) * k);
            DVec3::new(self.size[0] / 2.0 + x, self.size[1] / 2.0 - y, 1.0 / depth)
        })
    }

    /// Unit vector from the eye through a pixel.
    pub(super) fn ray(&self, x: f64, y: f64) -> DVec3 {
        let (x, y) = ((x - self.size[0] / 2.0) / self.scale, (self.size[1] / 2.0 - y) / self.scale);
        (self.ahead + self.right * x + self.upwards * y).normalize()
    }

    /// Everything as the sun sees it.
    pub(super) fn shadow(&self, triangles: &[Triangle]) -> Depth {
        let mut depth = Depth::new(SHADOW_PIXELS, SHADOW_PIXELS);
        for (i, triangle) in triangles.iter().enumerate() {
            depth.draw(i as u32, triangle.corners.map(|c| self.seen_by_sun(c)), true);
        }
        depth
    }

    fn seen_by_sun(&self, point: DVec3) -> DVec3 {
        let (u, v) = self.sun.any_orthonormal_pair();
        let (from, half) = (point - self.center, SHADOW_PIXELS as f64 / 2.0);
        let k = half / (1.6 * self.radius);
        DVec3::new(half + from.dot(u) * k, half + from.dot(v) * k, from.dot(self.sun))
    }

    /// How much of the sun reaches a point, 0 to 1.
    pub(super) fn lit(&self, shadow: &Depth, point: DVec3) -> f64 {
        shadow.free(self.seen_by_sun(point + self.sun * self.bias))
    }
}

/// Size of the body in the middle of all sizes, m.
pub(super) fn body_size(recording: &mut Recording, frame: usize) -> Result<f64, CliError> {
    Ok(action(recording, frame)?.1)
}

/// A level direction, to the right in pictures.
pub(crate) fn sideways(up: DVec3) -> DVec3 {
    let any = if up.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
    (any - up * any.dot(up)).normalize()
}

/// Where the action is in a frame, with room for most bodies at its edge.
pub(crate) fn area(recording: &mut Recording, frame: usize) -> Result<Aabb, CliError> {
    let (area, body) = action(recording, frame)?;
    Ok(Aabb { min: area.min - 0.5 * body, max: area.max + 0.5 * body })
}

fn corners(area: &Aabb) -> [DVec3; 8] {
    let [a, b] = [area.min, area.max];
    let pick = |i: usize, bit: usize, lo: f64, hi: f64| if i >> bit & 1 == 0 { lo } else { hi };
    std::array::from_fn(|i| DVec3::new(pick(i, 0, a.x, b.x), pick(i, 1, a.y, b.y), pick(i, 2, a.z, b.z)))
}

/// Where the action is in a frame, and size of the body in the middle of all sizes.
fn action(recording: &mut Recording, frame: usize) -> Result<(Aabb, f64), CliError> {
    let reach: Vec<f64> = recording.shapes().iter().map(reach).collect();
    let sizes: Vec<f64> = recording
        .bodies()
        .iter()
        .map(|b| {
            b.colliders
                .iter()
                .map(|c| reach[c.shape as usize] + c.body_from_shape.translation.length())
                .fold(0.0, f64::max)
        })
        .collect();
    let moving: Vec<bool> = recording.bodies().iter().map(|b| b.kind != BodyKind::Fixed).collect();
    let any_moving = moving.iter().zip(&sizes).any(|(&m, &s)| m && s > 0.0);
    let mut places = [Vec::new(), Vec::new(), Vec::new()];
    let mut widths = Vec::new();
    for (b, state) in recording.frame(frame)?.present() {
        if sizes[b] > 0.0 && (moving[b] || !any_moving) {
            places.iter_mut().zip(state.pose.translation.to_array()).for_each(|(p, x)| p.push(x));
            widths.push(sizes[b]);
        }
    }
    if widths.is_empty() {
        return Ok((Aabb { min: DVec3::NEG_ONE, max: DVec3::ONE }, 1.0));
    }
    widths.sort_by(f64::total_cmp);
    let body = widths[widths.len() / 2];
    places.iter_mut().for_each(|p| p.sort_by(f64::total_cmp));
    let most = |percent: usize| {
        let cut = places[0].len() * percent / 100;
        let at =
            |p: usize, end: bool| if end { places[p][places[p].len() - 1 - cut] } else { places[p][cut] };
        let corner = |end: bool| DVec3::new(at(0, end), at(1, end), at(2, end));
        Aabb { min: corner(false) - body * 0.7, max: corner(true) + body * 0.7 }
    };
    let length = |area: &Aabb| (area.max - area.min).length();
    // A few that go far away do not make all others small.
    let mut area = most(3);
    for percent in [10, 20] {
        if length(&most(percent)) < 0.45 * length(&area) {
            area = most(percent);
        }
    }
    let near = 3.0 * (area.max - area.min).length();
    let first = recording.frame(frame)?.bodies.clone();
    for (b, info) in recording.bodies().iter().enumerate().filter(|(b, _)| !moving[*b]) {
        let Some(state) = first.get(b).copied().flatten().filter(|_| sizes[b] > 0.0 && sizes[b] < near)
        else {
            continue;
        };
        for c in &info.colliders {
            let pose = state.pose * c.body_from_shape;
            for p in Mesh::of(&recording.shapes()[c.shape as usize], 8, 0.0).positions {
                let p = pose.transform_point(p);
                area = Aabb { min: area.min.min(p), max: area.max.max(p) };
            }
        }
    }
    Ok((area, body))
}

/// Distance from its origin within which a shape lies, metres; 0 for a half-space.
fn reach(shape: &ShapeInfo) -> f64 {
    match shape {
        ShapeInfo::Sphere { radius } => *radius,
        ShapeInfo::Cuboid { half_extents } => half_extents.length(),
        ShapeInfo::Capsule { radius, half_height } => radius + half_height,
        ShapeInfo::Cylinder { radius, half_height } => ops::hypot(*radius, *half_height),
        ShapeInfo::Frustum { bottom, top, half_height } => ops::hypot(bottom.max(*top), *half_height),
        ShapeInfo::Mesh { vertices, .. } => vertices.iter().map(|v| v.length()).fold(0.0, f64::max),
        _ => 0.0,
    }
}
