//! Box and ray visits of the column sweep.
//!
//! A ray walks the rows of the column grid in its direction and, in each row, the few cells it crosses, padded
//! so that rounding cannot miss one. A box is visited in the first of its cells that the walk meets.

use super::{
    ColumnSweep, DEAD, EXTRA, PENDING,
    columns::{Columns, Fat, INDEX},
};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{ProxyId, Ray};
use std::ops::ControlFlow;

/// Each live box that overlaps, exactly once: columns first, then boxes outside them.
pub(super) fn visit_box(sweep: &ColumnSweep, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
    let mut stopped = false;
    let mut offer = |slot: u32| {
        let s = slot as usize;
        if !stopped && sweep.proxies.boxes[s].overlaps(aabb) {
            stopped = visit(sweep.proxies.ids[s]).is_break();
        }
    };
    for columns in [&sweep.moving, &sweep.fixed] {
        columns.query(aabb, |slot| {
            if sweep.flags[slot as usize] & (PENDING | EXTRA | DEAD) == 0 {
                offer(slot);
            }
        });
    }
    for slot in outside_columns(sweep) {
        offer(slot);
    }
}

/// Each live box that the ray meets, exactly once.
pub(super) fn visit_ray(sweep: &ColumnSweep, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
    let mut t_max = ray.t_max;
    let mut offer = |slot: u32| {
        let s = slot as usize;
        if sweep.proxies.boxes[s].ray_interval(ray.origin, ray.direction, t_max).is_some() {
            t_max = t_max.min(visit(sweep.proxies.ids[s]));
        }
        t_max
    };
    for columns in [&sweep.moving, &sweep.fixed] {
        columns.ray(ray, &mut |slot| {
            let known = sweep.flags[slot as usize] & (PENDING | EXTRA | DEAD) == 0;
            if known { offer(slot) } else { f64::INFINITY }
        });
    }
    for slot in outside_columns(sweep) {
        offer(slot);
    }
}

/// Live boxes that are not, or not where they should be, in the columns.
fn outside_columns(sweep: &ColumnSweep) -> impl Iterator<Item = u32> + '_ {
    let flags = |slot: u32| sweep.flags[slot as usize];
    let pending = sweep.pending.iter().copied().filter(move |&s| flags(s) & DEAD == 0);
    let extras = sweep.extras.iter().map(|e| e.0).filter(move |&s| flags(s) & PENDING == 0);
    pending.chain(extras)
}

/// Cells that a ray crosses in one row.
#[derive(Debug, Clone, Copy)]
struct Row {
    index: i32,
    first: i32,
    last: i32,
}

impl Columns {
    /// Calls `offer` once for each box that the ray may meet; the answer is the new largest `t`.
    fn ray(&self, ray: &Ray, offer: &mut dyn FnMut(u32) -> f64) {
        let mut t_max = ray.t_max;
        for &(slot, _) in &self.huge {
            t_max = t_max.min(offer(slot));
        }
        let order = |v: DVec3| [v[self.frame.axes[0]], v[self.frame.axes[1]], v[self.frame.axes[2]]];
        let o = order(ray.origin - self.frame.origin);
        let d = order(ray.direction);
        let widen = |x: [f32; 3], sign: f64| DVec3::from(x.map(f64::from)) + sign * 1e-6;
        let bounds = Aabb { min: widen(self.bounds.lo, -1.0), max: widen(self.bounds.hi, 1.0) };
        let Some((t0, t1)) = bounds.ray_interval(o.into(), d.into(), t_max) else { return };
        let (major, minor) = if d[1].abs() >= d[2].abs() { (1, 2) } else { (2, 1) };
        let d_at = |axis: usize, t: f64| if d[axis] == 0.0 { 0.0 } else { d[axis] * t };
        let (from, to) = (o[major] + d_at(major, t0), o[major] + d_at(major, t1));
        let rows = (self.padded(from.min(to), -1.0), self.padded(from.max(to), 1.0));
        let reach = [1, 2].map(|d| (o[d] + d_at(d, t0)).abs().max((o[d] + d_at(d, t1)).abs()));
        let padding = 1e-5 * reach[0].max(reach[1]) * f64::from(self.inv_cell);
        let walk = f64::from(rows.1) - f64::from(rows.0);
        if walk * (1.0 + padding) > self.slots.len() as f64 + 16.0 {
            // A box far away has blown up the bounds: looking at all boxes is less than walking there.
            for &slot in &self.slots {
                offer(slot);
            }
            return;
        }
        let cell = 1.0 / f64::from(self.inv_cell);
        let backwards = d[major] < 0.0;
        // The whole way along the sweep axis, not that of a row: a box must be met in its first row or never.
        let (x0, x1) = (o[0] + d_at(0, t0), o[0] + d_at(0, t1));
        let pad = 1e-6 * (x0.abs().max(x1.abs()) + cell);
        let along = ((x0.min(x1) - pad) as f32, (x0.max(x1) + pad) as f32);
        let mut previous = None;
        for n in 0..=(rows.1 - rows.0) {
            let index = if backwards { rows.1 - n } else { rows.0 + n };
            let (mut enter, mut leave) = (t0, t1.min(t_max));
            if d[major] != 0.0 {
                let pad = 1e-3 + 1e-6 * f64::from(index).abs();
                let a = ((f64::from(index) - pad) * cell - o[major]) / d[major];
                let b = ((f64::from(index) + 1.0 + pad) * cell - o[major]) / d[major];
                (enter, leave) = (enter.max(a.min(b)), leave.min(a.max(b)));
            }
            if enter > t_max {
                return;
            }
            if enter > leave {
                continue;
            }
            let span = |axis: usize| {
                let (p, q) = (o[axis] + d_at(axis, enter), o[axis] + d_at(axis, leave));
                (p.min(q), p.max(q))
            };
            let (lo, hi) = span(minor);
            let row = Row { index, first: self.padded(lo, -1.0), last: self.padded(hi, 1.0) };
            for z in row.first..=row.last {
                self.ray_cell((major, minor), row, z, previous, along, &mut |slot| {
                    t_max = t_max.min(offer(slot));
                });
            }
            previous = Some(row);
        }
    }

    /// Cell of a coordinate, moved outwards by far more than rounding.
    fn padded(&self, x: f64, sign: f64) -> i32 {
        let scaled = x * f64::from(self.inv_cell);
        (scaled + sign * (1e-3 + 1e-6 * scaled.abs())).floor() as i32
    }

    fn ray_cell(
        &self,
        (major, minor): (usize, usize),
        row: Row,
        z: i32,
        previous: Option<Row>,
        along: (f32, f32),
        offer: &mut dyn FnMut(u32),
    ) {
        let column = if major == 1 { self.column(row.index, z) } else { self.column(z, row.index) };
        let fat = |e: u32| -> &Fat { &self.fats[(e & INDEX) as usize] };
        let begin = column.partition_point(|&e| fat(e).lo[0] < along.0 - self.longest);
        for &e in &column[begin..] {
            let f = fat(e);
            if f.lo[0] > along.1 {
                break;
            }
            let cells = self.cells(f);
            let has = |axis: usize, i: i32| cells.first[axis - 1] <= i && i <= cells.last[axis - 1];
            let meets = |r: Row| {
                has(major, r.index) && cells.first[minor - 1] <= r.last && r.first <= cells.last[minor - 1]
            };
            let first_here =
                has(major, row.index) && z == cells.first[minor - 1].max(row.first) && has(minor, z);
            if first_here && !previous.is_some_and(meets) {
                offer(self.slots[(e & INDEX) as usize]);
            }
        }
    }
}
