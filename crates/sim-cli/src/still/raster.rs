//! Triangles into a buffer of depths.

use crate::look::Rgb;
use sim_math::glam::DVec3;

/// A triangle in the world.
#[derive(Debug, Clone)]
pub(super) struct Triangle {
    pub(super) corners: [DVec3; 3],
    pub(super) normals: [DVec3; 3],
    pub(super) color: Rgb,
    pub(super) two_sided: bool,
}

impl Triangle {
    /// Where a ray meets the plane of the triangle: distance in lengths of the ray, and the blended normal there,
    /// turned towards the eye. Edges are not checked: the buffer has found the triangle.
    pub(super) fn meet(&self, eye: DVec3, ray: DVec3) -> Option<(f64, DVec3)> {
        let [a, b, c] = self.corners;
        let (ab, ac) = (b - a, c - a);
        let across = ray.cross(ac);
        let scale = ab.dot(across);
        if scale.abs() < f64::MIN_POSITIVE {
            return None;
        }
        let from = eye - a;
        let v = (from.dot(across) / scale).clamp(0.0, 1.0);
        let around = from.cross(ab);
        let w = (ray.dot(around) / scale).clamp(0.0, 1.0 - v);
        let t = ac.dot(around) / scale;
        let normal = self.normals[0] * (1.0 - v - w) + self.normals[1] * v + self.normals[2] * w;
        let normal = normal.normalize_or(DVec3::Z);
        Some((t, if normal.dot(ray) > 0.0 && self.two_sided { -normal } else { normal }))
    }
}

/// For each pixel the nearest triangle and its depth.
#[derive(Debug)]
pub(super) struct Depth {
    width: usize,
    height: usize,
    near: Vec<f32>,
    which: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Depth {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            near: vec![f32::NEG_INFINITY; width * height],
            which: vec![NONE; width * height],
        }
    }

    /// Draws a triangle given in pixels; z grows towards the eye and is linear on the picture.
    pub(super) fn draw(&mut self, which: u32, [a, b, c]: [DVec3; 3], two_sided: bool) {
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        // y points down, so what is anticlockwise in the world has a negative area here.
        if area.abs() < 1e-12 || (area > 0.0 && !two_sided) {
            return;
        }
        let range = |lo: f64, hi: f64, size: usize| {
            (lo.floor().clamp(0.0, size as f64) as usize, hi.ceil().clamp(0.0, size as f64) as usize)
        };
        let (x0, x1) = range(a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x), self.width);
        let (y0, y1) = range(a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y), self.height);
        for y in y0..y1 {
            for x in x0..x1 {
                let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                let v = ((px - a.x) * (c.y - a.y) - (py - a.y) * (c.x - a.x)) / area;
                let w = ((b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x)) / area;
                if v < 0.0 || w < 0.0 || v + w > 1.0 {
                    continue;
                }
                let z = (a.z + v * (b.z - a.z) + w * (c.z - a.z)) as f32;
                let at = y * self.width + x;
                if z > self.near[at] {
                    self.near[at] = z;
                    self.which[at] = which;
                }
            }
        }
    }

    /// The nearest triangle at a pixel.
    pub(super) fn at(&self, x: usize, y: usize) -> Option<u32> {
        self.which.get(y * self.width + x).copied().filter(|&w| w != NONE)
    }

    /// True if what is here at a pixel is nearer than what is there.
    pub(super) fn is_before(&self, other: &Self, x: usize, y: usize) -> bool {
        let at = y * self.width + x;
        self.near.get(at).zip(other.near.get(at)).is_some_and(|(here, there)| here > there)
    }

    /// Part of the 3 by 3 pixels around a point that nothing lies in front of; outside the buffer all is free.
    pub(super) fn free(&self, p: DVec3) -> f64 {
        let mut free = 0;
        for k in 0..9 {
            let (x, y) = (p.x + f64::from(k % 3) - 1.0, p.y + f64::from(k / 3) - 1.0);
            let inside = x >= 0.0 && y >= 0.0 && x < self.width as f64 && y < self.height as f64;
            let blocked = inside && self.near[y as usize * self.width + x as usize] > p.z as f32;
            free += u32::from(!blocked);
        }
        f64::from(free) / 9.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle(z: f64) -> [DVec3; 3] {
        [DVec3::new(0.0, 0.0, z), DVec3::new(0.0, 8.0, z), DVec3::new(8.0, 0.0, z)]
    }

    #[test]
    fn the_nearest_wins_whatever_the_order() {
        for order in [[1, 2], [2, 1]] {
            let mut depth = Depth::new(8, 8);
            for which in order {
                depth.draw(which, triangle(f64::from(which)), false);
            }
            assert_eq!(depth.at(1, 1), Some(2));
            assert_eq!(depth.at(7, 7), None);
            assert_eq!(depth.which.iter().filter(|&&w| w == 2).count(), 36);
        }
    }

    #[test]
    fn the_back_is_seen_only_if_it_may_be() {
        let [a, b, c] = triangle(1.0);
        let mut depth = Depth::new(8, 8);
        depth.draw(0, [a, c, b], false);
        assert_eq!(depth.at(1, 1), None);
        depth.draw(0, [a, c, b], true);
        assert_eq!(depth.at(1, 1), Some(0));
    }

    #[test]
    fn triangles_of_any_size_and_place_stay_inside() {
        let mut depth = Depth::new(4, 4);
        for scale in [1e-9, 1.0, 1e9] {
            let far = triangle(0.0).map(|p| (p - DVec3::new(4.0, 4.0, 0.0)) * scale);
            depth.draw(0, far, true);
        }
        depth.draw(0, [DVec3::NAN; 3], true);
        assert_eq!(depth.which.len(), 16);
    }
}
