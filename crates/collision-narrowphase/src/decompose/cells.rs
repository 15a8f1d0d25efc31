//! The grid of a decomposition: which cells hold some of the solid, and the points that span what they hold.

use crate::{mesh::TriMesh, surface::normal_of};
use sim_math::glam::DVec3;

const OUTSIDE: u8 = 0;
const SURFACE: u8 = 1;
const INSIDE: u8 = 2;

/// Cells between planes along each axis.
#[derive(Debug)]
pub(super) struct Cells {
    planes: [Vec<f64>; 3],
    count: [u32; 3],
    state: Vec<u8>,
    /// Corners of the mesh's triangles cut to each cell.
    cut: Vec<Vec<DVec3>>,
    /// Part of each cell that is solid, by eight samples where the surface passes through.
    fill: Vec<f64>,
    /// Scratch: which cells belong to the set at hand.
    mark: Vec<u32>,
    stamp: u32,
}

impl Cells {
    pub(super) fn new(mesh: &TriMesh, resolution: u32) -> Self {
        let bounds = mesh.bounds();
        let pitch = bounds.size().max_element() / f64::from(resolution);
        let planes = [0, 1, 2].map(|axis| {
            let (low, high) = (bounds.min[axis], bounds.max[axis]);
            let n = ((high - low) / pitch).ceil().clamp(1.0, f64::from(resolution)) as u32;
            let mut coordinates: Vec<f64> = mesh.points().iter().map(|p| p[axis]).collect();
            coordinates.sort_by(f64::total_cmp);
            snapped(low, high, n, &coordinates)
        });
        let count = [0, 1, 2].map(|axis: usize| planes[axis].len() as u32 - 1);
        let total = (count[0] * count[1] * count[2]) as usize;
        let mut cells = Self {
            planes,
            count,
            state: vec![OUTSIDE; total],
            cut: vec![Vec::new(); total],
            fill: vec![0.0; total],
            mark: vec![0; total],
            stamp: 0,
        };
        for t in 0..mesh.triangles().len() as u32 {
            cells.add_triangle(mesh.triangle(t), 1e-6 * pitch);
        }
        for cell in 0..total as u32 {
            let (low, high) = cells.corners(cell);
            if cells.state[cell as usize] == OUTSIDE && mesh.contains(0.5 * (low + high)) {
                cells.state[cell as usize] = INSIDE;
            }
            cells.fill[cell as usize] = match cells.state[cell as usize] {
                OUTSIDE => 0.0,
                INSIDE => 1.0,
                _ => {
                    let sample = |k: u32| {
                        let at = |bit: u32| if k >> bit & 1 == 0 { 0.25 } else { 0.75 };
                        mesh.contains(low + (high - low) * DVec3::new(at(0), at(1), at(2)))
                    };
                    0.125 * (0..8).filter(|k| sample(*k)).count() as f64
                }
            };
        }
        cells
    }

    /// Place of a cell along each axis.
    pub(super) fn place(&self, cell: u32) -> [u32; 3] {
        let [nx, ny, _] = self.count;
        [cell % nx, cell / nx % ny, cell / (nx * ny)]
    }

    fn index(&self, [x, y, z]: [u32; 3]) -> u32 {
        (z * self.count[1] + y) * self.count[0] + x
    }

    fn corners(&self, cell: u32) -> (DVec3, DVec3) {
        let [x, y, z] = self.place(cell);
        let at = |x: u32, y: u32, z: u32| {
            DVec3::new(self.planes[0][x as usize], self.planes[1][y as usize], self.planes[2][z as usize])
        };
        (at(x, y, z), at(x + 1, y + 1, z + 1))
    }

    /// Cells that hold some of the solid.
    pub(super) fn solid(&self) -> Vec<u32> {
        (0..self.state.len() as u32).filter(|c| self.state[*c as usize] != OUTSIDE).collect()
    }

    /// First and last place of a set along an axis.
    pub(super) fn range(&self, set: &[u32], axis: usize) -> (u32, u32) {
        set.iter().map(|c| self.place(*c)[axis]).fold((u32::MAX, 0), |r, p| (r.0.min(p), r.1.max(p)))
    }

    /// Length from the first to the last place along an axis, metres.
    pub(super) fn extent(&self, low: u32, high: u32, axis: usize) -> f64 {
        self.planes[axis][high as usize + 1] - self.planes[axis][low as usize]
    }

    /// Estimate of the solid in a set, cubic metres.
    pub(super) fn volume(&self, set: &[u32]) -> f64 {
        set.iter()
            .map(|c| {
                let (low, high) = self.corners(*c);
                (high - low).element_product() * self.fill[*c as usize]
            })
            .sum()
    }

    /// Cuts a triangle by the cells it may be in. A cell holds it if the solid behind it is in the cell.
    fn add_triangle(&mut self, triangle: [DVec3; 3], depth: f64) {
        let [p, q, r] = triangle;
        let behind = -depth * normal_of(&triangle);
        let (low, high) = (p.min(q).min(r), p.max(q).max(r));
        let range = [0, 1, 2].map(|axis: usize| {
            let planes = &self.planes[axis];
            let first = planes.partition_point(|x| *x < low[axis]).saturating_sub(1);
            let last = planes.partition_point(|x| *x <= high[axis]).min(planes.len() - 1);
            first as u32..last as u32
        });
        for z in range[2].clone() {
            for y in range[1].clone() {
                for x in range[0].clone() {
                    let cell = self.index([x, y, z]);
                    let (low, high) = self.corners(cell);
                    let polygon = cut_to_box(&triangle, low, high);
                    if polygon.len() < 3 {
                        continue;
                    }
                    let middle = polygon.iter().sum::<DVec3>() / polygon.len() as f64 + behind;
                    if middle.cmpgt(low).all() && middle.cmplt(high).all() {
                        self.state[cell as usize] = SURFACE;
                        self.cut[cell as usize].extend(polygon);
                    }
                }
            }
        }
    }

    fn begin_mark(&mut self, set: &[u32]) -> u32 {
        self.stamp += 1;
        for c in set {
            self.mark[*c as usize] = self.stamp;
        }
        self.stamp
    }

    /// Connected parts of a set, over faces of cells.
    pub(super) fn components(&self, set: &[u32]) -> Vec<Vec<u32>> {
        let mut left = set.to_vec();
        left.sort_unstable();
        let mut seen = vec![false; left.len()];
        let mut parts = Vec::new();
        for start in 0..left.len() {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            let mut part = vec![left[start]];
            let mut next = 0;
            while next < part.len() {
                let place = self.place(part[next]);
                next += 1;
                for axis in 0..3 {
                    for up in [false, true] {
                        let mut other = place;
                        if up && place[axis] + 1 < self.count[axis] {
                            other[axis] += 1;
                        } else if !up && place[axis] > 0 {
                            other[axis] -= 1;
                        } else {
                            continue;
                        }
                        if let Ok(k) = left.binary_search(&self.index(other))
                            && !std::mem::replace(&mut seen[k], true)
                        {
                            part.push(left[k]);
                        }
                    }
                }
            }
            parts.push(part);
        }
        parts
    }

    /// Points whose hull contains the solid in a set of cells: the cut triangles, and corners of cells inside the solid
    /// where the set ends.
    pub(super) fn points(&mut self, set: &[u32], mesh: &TriMesh) -> Vec<DVec3> {
        let stamp = self.begin_mark(set);
        let mut points = Vec::new();
        for &cell in set {
            points.extend_from_slice(&self.cut[cell as usize]);
            let place = self.place(cell);
            for corner in 0..8_u32 {
                let at: [u32; 3] = std::array::from_fn(|axis| place[axis] + (corner >> axis & 1));
                if !self.is_border(at, stamp) {
                    continue;
                }
                let p = DVec3::new(
                    self.planes[0][at[0] as usize],
                    self.planes[1][at[1] as usize],
                    self.planes[2][at[2] as usize],
                );
                if mesh.contains(p) {
                    points.push(p);
                }
            }
        }
        points
    }

    /// True if one of the cells at a corner of the grid is not marked.
    fn is_border(&self, at: [u32; 3], stamp: u32) -> bool {
        (0..8_u32).any(|k| {
            let mut place = [0; 3];
            for axis in 0..3 {
                let Some(p) = (at[axis] + (k >> axis & 1)).checked_sub(1) else { return true };
                if p >= self.count[axis] {
                    return true;
                }
                place[axis] = p;
            }
            self.mark[self.index(place) as usize] != stamp
        })
    }
}

/// Planes of n cells from low to high, each moved to the nearest coordinate within half a pitch, in increasing order.
fn snapped(low: f64, high: f64, n: u32, coordinates: &[f64]) -> Vec<f64> {
    let pitch = (high - low) / f64::from(n);
    let mut planes = vec![low];
    for k in 1..n {
        let even = low + f64::from(k) * pitch;
        let at = coordinates.partition_point(|x| *x < even);
        let near = [at.checked_sub(1), Some(at)]
            .into_iter()
            .flatten()
            .filter_map(|i| coordinates.get(i).copied())
            .filter(|x| (*x - even).abs() <= 0.5 * pitch)
            .min_by(|a, b| (a - even).abs().total_cmp(&(b - even).abs()));
        let plane = near.unwrap_or(even);
        let last = planes[planes.len() - 1];
        if plane > last + 1e-3 * pitch && plane < high - 1e-3 * pitch {
            planes.push(plane);
        }
    }
    planes.push(high);
    planes
}

/// A triangle cut to a box (Sutherland and Hodgman), boundary included.
fn cut_to_box(triangle: &[DVec3; 3], low: DVec3, high: DVec3) -> Vec<DVec3> {
    let mut polygon = triangle.to_vec();
    let mut next = Vec::with_capacity(9);
    for axis in 0..3 {
        for (bound, sense) in [(low[axis], -1.0), (high[axis], 1.0)] {
            next.clear();
            let above = |p: &DVec3| sense * (p[axis] - bound);
            for (k, p) in polygon.iter().enumerate() {
                let q = &polygon[(k + 1) % polygon.len()];
                let (hp, hq) = (above(p), above(q));
                if hp <= 0.0 {
                    next.push(*p);
                }
                if (hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0) {
                    // From the inner end, so that both directions give the same point.
                    let (i, o, hi, ho) = if hp < 0.0 { (p, q, hp, hq) } else { (q, p, hq, hp) };
                    let mut x = *i + hi / (hi - ho) * (*o - *i);
                    x[axis] = bound;
                    next.push(x);
                }
            }
            std::mem::swap(&mut polygon, &mut next);
            if polygon.len() < 3 {
                return Vec::new();
            }
        }
    }
    polygon
}
