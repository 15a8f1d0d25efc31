//! Conformance of [`BroadPhase`]s: random scripts of calls against a list of boxes that is searched by hand.

use super::SplitMix64;
use crate::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use sim_math::{Aabb, glam::DVec3};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

/// How much to try.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Number of scripts, each on a fresh broad phase.
    pub scripts: u32,
    /// Calls per script.
    pub calls: u32,
    /// Largest number of boxes at once.
    pub max_boxes: usize,
    /// First number of the random stream.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { scripts: 20, calls: 300, max_boxes: 40, seed: 1 }
    }
}

/// The oracle: all boxes in a list, every question answered by looking at all of them.
#[derive(Debug, Default)]
struct Model {
    boxes: BTreeMap<ProxyId, (ProxyKind, Aabb)>,
    /// The list of pairs as it follows from the changes reported so far.
    replayed: BTreeSet<Pair>,
}

impl Model {
    fn overlapping_pairs(&self) -> BTreeSet<Pair> {
        let mut pairs = BTreeSet::new();
        for (&a, (kind_a, box_a)) in &self.boxes {
            for (&b, (kind_b, box_b)) in self.boxes.range(..a) {
                let movable = *kind_a == ProxyKind::Moving || *kind_b == ProxyKind::Moving;
                if movable && box_a.overlaps(box_b) {
                    pairs.insert(Pair::new(a, b));
                }
            }
        }
        pairs
    }

    fn random_id(&self, random: &mut SplitMix64) -> Option<ProxyId> {
        let n = random.below(self.boxes.len());
        self.boxes.keys().nth(n).copied()
    }
}

/// Boxes of all sizes, some degenerate, some infinite, some far away, many touching on whole coordinates.
fn random_box(random: &mut SplitMix64) -> Aabb {
    let center = random.vec3(6.0);
    match random.below(24) {
        0 => Aabb {
            min: DVec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
            max: DVec3::new(f64::INFINITY, f64::INFINITY, center.z),
        },
        1 => Aabb { min: center, max: center },
        2 => Aabb::from_center_half_extents(center, DVec3::splat(random.range(2.0, 8.0))),
        3 => Aabb::from_center_half_extents(center * 1e8, DVec3::ONE),
        4..=8 => Aabb::from_center_half_extents(center.floor(), DVec3::splat(0.5)),
        _ => Aabb::from_center_half_extents(center, random.vec3(1.0)),
    }
}

/// Runs the kit on broad phases made by `make`; the first violation as text.
///
/// # Errors
/// What the broad phase did wrong, with the script and the call.
pub fn conformance(make: &mut dyn FnMut() -> Box<dyn BroadPhase>, effort: &Effort) -> Result<(), String> {
    for script in 0..effort.scripts {
        let run = |broad: &mut dyn BroadPhase| {
            let mut random = SplitMix64(effort.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(script)));
            let mut model = Model::default();
            let mut log = Vec::new();
            for call in 0..effort.calls {
                one_call(broad, &mut model, &mut random, effort.max_boxes, &mut log)
                    .map_err(|e| format!("script {script}, call {call}: {e}"))?;
            }
            Ok::<_, String>(log)
        };
        let first = run(make().as_mut())?;
        let second = run(make().as_mut())?;
        if first != second {
            return Err(format!("script {script}: the same calls gave another order of results"));
        }
    }
    zeros(make().as_mut())?;
    refusals(make().as_mut())
}

/// Boxes on both sides of the origin that touch at zeros of different sign, many at once.
fn zeros(broad: &mut dyn BroadPhase) -> Result<(), String> {
    let mut model = Model::default();
    for k in 0..64 {
        let below = k & 1 == 0;
        let (zero, far) = if below { (-0.0, -1.0) } else { (0.0, 1.0) };
        let ends = [zero, far];
        // Of each axis: touching at zero, or all around it.
        let side = |axis: u32| if k >> axis & 2 == 0 { ends } else { [-2.0, 2.0] };
        let [x, y, z] = [side(0), side(1), side(2)];
        let (a, b) = (DVec3::new(x[0], y[0], z[0]), DVec3::new(x[1], y[1], z[1]));
        let (id, aabb) = (ProxyId(k), Aabb { min: a.min(b), max: a.max(b) });
        broad.insert(id, ProxyKind::Moving, &aabb).map_err(|e| format!("insert of {id}: {e}"))?;
        model.boxes.insert(id, (ProxyKind::Moving, aabb));
    }
    check_pairs(broad, &model, &mut Vec::new())
        .map_err(|e| format!("boxes that touch at zeros of both signs: {e}"))
}

/// One random call, checked. What the broad phase reports is appended to `log` in the order it came.
fn one_call(
    broad: &mut dyn BroadPhase,
    model: &mut Model,
    random: &mut SplitMix64,
    max_boxes: usize,
    log: &mut Vec<Pair>,
) -> Result<(), String> {
    match random.below(12) {
        0..=2 => {
            if model.boxes.len() < max_boxes {
                let id = ProxyId(random.below(4 * max_boxes) as u32);
                let kind = if random.below(4) == 0 { ProxyKind::Fixed } else { ProxyKind::Moving };
                let aabb = random_box(random);
                let present = model.boxes.contains_key(&id);
                match (broad.insert(id, kind, &aabb), present) {
                    (Ok(()), false) => drop(model.boxes.insert(id, (kind, aabb))),
                    (Err(BroadPhaseError::Duplicate { .. }), true) => {}
                    (answer, _) => {
                        return Err(format!("insert of {id}, present = {present}, gave {answer:?}"));
                    }
                }
            }
        }
        3 => {
            if let Some(id) = model.random_id(random) {
                broad.remove(id).map_err(|e| format!("remove of {id}: {e}"))?;
                model.boxes.remove(&id);
            }
        }
        4..=6 => move_some(broad, model, random)?,
        7 => check_pairs(broad, model, log)?,
        8 => check_changes(broad, model, log)?,
        9 => check_box_visit(broad, model, &random_box(random))?,
        10 => {
            let ray = Ray {
                origin: random.vec3(9.0),
                direction: random_direction(random),
                t_max: random.range(0.0, 20.0),
            };
            check_ray_visit(broad, model, &ray)?;
        }
        _ => bad_batch(broad, model, random)?,
    }
    if broad.len() != model.boxes.len() {
        return Err(format!("len() is {}, there are {} boxes", broad.len(), model.boxes.len()));
    }
    Ok(())
}

/// Directions with zero components included.
fn random_direction(random: &mut SplitMix64) -> DVec3 {
    let direction = random.unit_vec3();
    match random.below(4) {
        0 => DVec3::X.copysign(direction),
        1 => direction.with_y(0.0) + DVec3::X,
        _ => direction,
    }
}

fn move_some(broad: &mut dyn BroadPhase, model: &mut Model, random: &mut SplitMix64) -> Result<(), String> {
    let (mut ids, mut boxes) = (Vec::new(), Vec::new());
    for (&id, &(_, aabb)) in &model.boxes {
        match random.below(6) {
            0 => boxes.push(random_box(random)),
            1..=3 => {
                let shift = random.vec3(0.3);
                boxes.push(Aabb { min: aabb.min + shift, max: aabb.max + shift });
            }
            _ => continue,
        }
        ids.push(id);
    }
    broad.update(&ids, &boxes).map_err(|e| format!("update: {e}"))?;
    for (id, aabb) in ids.iter().zip(boxes) {
        if let Some(entry) = model.boxes.get_mut(id) {
            entry.1 = aabb;
        }
    }
    Ok(())
}

/// A batch with one bad item must be refused and change nothing.
fn bad_batch(broad: &mut dyn BroadPhase, model: &Model, random: &mut SplitMix64) -> Result<(), String> {
    let Some(id) = model.random_id(random) else { return Ok(()) };
    let unknown = ProxyId(u32::MAX);
    let good = random_box(random);
    let nan = Aabb { min: DVec3::new(0.0, f64::NAN, 0.0), max: DVec3::ONE };
    let inverted = Aabb { min: DVec3::ONE, max: DVec3::ZERO };
    for (ids, boxes) in [([id, unknown], [good, good]), ([id, id], [good, nan]), ([id, id], [good, inverted])]
    {
        if broad.update(&ids, &boxes).is_ok() {
            return Err(format!("update accepted {ids:?} with {boxes:?}"));
        }
    }
    if broad.update(&[id], &[]).is_ok() {
        return Err("update accepted one id and no box".into());
    }
    check_pairs(broad, model, &mut Vec::new()).map_err(|e| format!("after a refused batch: {e}"))
}

fn check_pairs(broad: &mut dyn BroadPhase, model: &Model, log: &mut Vec<Pair>) -> Result<(), String> {
    let mut pairs = vec![Pair::new(ProxyId(0), ProxyId(1)); 3]; // stale content must go
    broad.pairs(&mut pairs);
    log.extend(&pairs);
    let reported: BTreeSet<Pair> = pairs.iter().copied().collect();
    if reported.len() != pairs.len() {
        return Err("pairs() lists a pair twice".into());
    }
    compare(broad.is_exact(), &model.overlapping_pairs(), &reported, "pairs()")?;
    match reported.iter().find(|p| [p.a, p.b].iter().any(|id| !model.boxes.contains_key(id))) {
        Some(pair) => Err(format!("pairs() lists {pair} with a box that does not exist")),
        None => Ok(()),
    }
}

fn compare<T: Ord + std::fmt::Debug>(
    exact: bool,
    expected: &BTreeSet<T>,
    got: &BTreeSet<T>,
    what: &str,
) -> Result<(), String> {
    if let Some(missing) = expected.difference(got).next() {
        return Err(format!("{what} misses {missing:?}"));
    }
    match got.difference(expected).next() {
        Some(extra) if exact => Err(format!("{what} is called exact but adds {extra:?}")),
        _ => Ok(()),
    }
}

fn check_changes(broad: &mut dyn BroadPhase, model: &mut Model, log: &mut Vec<Pair>) -> Result<(), String> {
    let mut changes = PairChanges::default();
    broad.pair_changes(&mut changes);
    log.extend(changes.ended.iter().chain(&changes.begun));
    for pair in &changes.ended {
        if !model.replayed.remove(pair) {
            return Err(format!("{pair} ended but was not there"));
        }
    }
    for &pair in &changes.begun {
        if !model.replayed.insert(pair) {
            return Err(format!("{pair} began twice"));
        }
    }
    let mut pairs = Vec::new();
    broad.pairs(&mut pairs);
    let listed: BTreeSet<Pair> = pairs.into_iter().collect();
    if let Some(pair) = model.replayed.symmetric_difference(&listed).next() {
        return Err(format!("changes and list disagree about {pair}"));
    }
    Ok(())
}

fn check_box_visit(broad: &dyn BroadPhase, model: &Model, aabb: &Aabb) -> Result<(), String> {
    let mut visited = Vec::new();
    broad.visit_box(aabb, &mut |id| {
        visited.push(id);
        ControlFlow::Continue(())
    });
    let expected = model.boxes.iter().filter(|(_, (_, b))| b.overlaps(aabb)).map(|(&id, _)| id).collect();
    check_visit(broad, &expected, &visited, "visit_box")?;
    if !visited.is_empty() {
        let mut count = 0;
        broad.visit_box(aabb, &mut |_| {
            count += 1;
            ControlFlow::Break(())
        });
        if count != 1 {
            return Err(format!("visit_box went on after a break: {count} visits"));
        }
    }
    Ok(())
}

fn check_ray_visit(broad: &dyn BroadPhase, model: &Model, ray: &Ray) -> Result<(), String> {
    let hits = |t_max: f64| -> BTreeSet<ProxyId> {
        let meets = |b: &Aabb| b.ray_interval(ray.origin, ray.direction, t_max).is_some();
        model.boxes.iter().filter(|(_, (_, b))| meets(b)).map(|(&id, _)| id).collect()
    };
    let mut visited = Vec::new();
    broad.visit_ray(ray, &mut |id| {
        visited.push(id);
        ray.t_max
    });
    check_visit(broad, &hits(ray.t_max), &visited, "visit_ray")?;
    // A visitor that shortens the ray to the first hit must still see the nearest box.
    let nearest =
        |b: &Aabb, t_max: f64| b.ray_interval(ray.origin, ray.direction, t_max).map(|(enter, _)| enter);
    let mut closest = ray.t_max;
    broad.visit_ray(ray, &mut |id| {
        if let Some(t) = model.boxes.get(&id).and_then(|(_, b)| nearest(b, closest)) {
            closest = closest.min(t);
        }
        closest
    });
    let expected = model.boxes.values().filter_map(|(_, b)| nearest(b, ray.t_max)).fold(ray.t_max, f64::min);
    if closest > expected {
        return Err(format!("a shortened ray missed the box at t = {expected}, found t = {closest}"));
    }
    Ok(())
}

fn check_visit(
    broad: &dyn BroadPhase,
    expected: &BTreeSet<ProxyId>,
    visited: &[ProxyId],
    what: &str,
) -> Result<(), String> {
    let unique: BTreeSet<ProxyId> = visited.iter().copied().collect();
    if unique.len() != visited.len() {
        return Err(format!("{what} visits a box twice"));
    }
    compare(broad.is_exact(), expected, &unique, what)
}

/// Every kind of bad input has its error.
fn refusals(broad: &mut dyn BroadPhase) -> Result<(), String> {
    let (id, unit) = (ProxyId(3), Aabb { min: DVec3::ZERO, max: DVec3::ONE });
    let nan = Aabb { min: DVec3::ZERO, max: DVec3::new(1.0, f64::NAN, 1.0) };
    let inverted = Aabb { min: DVec3::new(0.0, 2.0, 0.0), max: DVec3::ONE };
    for bad in [nan, inverted] {
        match broad.insert(id, ProxyKind::Moving, &bad) {
            Err(BroadPhaseError::InvalidBox { id: named, .. }) if named == id => {}
            other => return Err(format!("insert of {bad:?}: expected InvalidBox, got {other:?}")),
        }
    }
    if broad.remove(id) != Err(BroadPhaseError::Unknown { id }) {
        return Err("remove of an unknown id was accepted, or a refused insert left something behind".into());
    }
    broad.insert(id, ProxyKind::Moving, &unit).map_err(|e| e.to_string())?;
    broad.remove(id).map_err(|e| e.to_string())?;
    if !broad.is_empty() {
        return Err("not empty after the only box was removed".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Fault {
        None,
        ForgetsTouching,
        AddsFixedPairs,
        AcceptsNan,
        HalfABatch,
        LosesEndings,
        IgnoresBreak,
        CutsRays,
    }

    /// A list of boxes, right or wrong in one way.
    #[derive(Debug)]
    struct List {
        fault: Fault,
        boxes: BTreeMap<ProxyId, (ProxyKind, Aabb)>,
        reported: BTreeSet<Pair>,
    }

    impl BroadPhase for List {
        fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
            if self.fault != Fault::AcceptsNan {
                BroadPhaseError::check_box(id, aabb)?;
            }
            if self.boxes.contains_key(&id) {
                return Err(BroadPhaseError::Duplicate { id });
            }
            self.boxes.insert(id, (kind, *aabb));
            Ok(())
        }

        fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
            self.boxes.remove(&id).map(drop).ok_or(BroadPhaseError::Unknown { id })
        }

        fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
            if ids.len() != boxes.len() {
                return Err(BroadPhaseError::BatchLength { ids: ids.len(), boxes: boxes.len() });
            }
            for check in if self.fault == Fault::HalfABatch { [false, false] } else { [true, false] } {
                for (&id, aabb) in ids.iter().zip(boxes) {
                    BroadPhaseError::check_box(id, aabb)?;
                    let entry = self.boxes.get_mut(&id).ok_or(BroadPhaseError::Unknown { id })?;
                    if !check {
                        entry.1 = *aabb;
                    }
                }
            }
            Ok(())
        }

        fn pairs(&mut self, out: &mut Vec<Pair>) {
            out.clear();
            let model = Model { boxes: self.boxes.clone(), ..Model::default() };
            out.extend(model.overlapping_pairs());
            if self.fault == Fault::ForgetsTouching {
                out.retain(|p| self.boxes[&p.a].1.grown(-1e-9).overlaps(&self.boxes[&p.b].1));
            }
            if self.fault == Fault::AddsFixedPairs {
                let fixed: Vec<_> = self.boxes.iter().filter(|(_, b)| b.0 == ProxyKind::Fixed).collect();
                if let [(&a, x), (&b, y), ..] = fixed[..] {
                    if x.1.overlaps(&y.1) {
                        out.push(Pair::new(a, b));
                    }
                }
            }
        }

        fn pair_changes(&mut self, out: &mut PairChanges) {
            let mut pairs = Vec::new();
            self.pairs(&mut pairs);
            let now: BTreeSet<Pair> = pairs.into_iter().collect();
            out.begun = now.difference(&self.reported).copied().collect();
            out.ended = self.reported.difference(&now).copied().collect();
            if self.fault == Fault::LosesEndings {
                out.ended.clear();
            }
            self.reported = now;
        }

        fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
            for (&id, _) in self.boxes.iter().filter(|(_, (_, b))| b.overlaps(aabb)) {
                if visit(id).is_break() && self.fault != Fault::IgnoresBreak {
                    return;
                }
            }
        }

        fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
            let mut t_max = if self.fault == Fault::CutsRays { 0.5 * ray.t_max } else { ray.t_max };
            for (&id, (_, aabb)) in &self.boxes {
                if aabb.ray_interval(ray.origin, ray.direction, t_max).is_some() {
                    t_max = t_max.min(visit(id));
                }
            }
        }

        fn len(&self) -> usize {
            self.boxes.len()
        }

        fn is_exact(&self) -> bool {
            true
        }
    }

    fn run(fault: Fault) -> Result<(), String> {
        let mut make = || -> Box<dyn BroadPhase> {
            Box::new(List { fault, boxes: BTreeMap::new(), reported: BTreeSet::new() })
        };
        conformance(&mut make, &Effort::default())
    }

    #[test]
    fn an_honest_list_conforms() {
        run(Fault::None).unwrap();
    }

    #[test]
    fn every_fault_is_found() {
        for fault in [
            Fault::ForgetsTouching,
            Fault::AddsFixedPairs,
            Fault::AcceptsNan,
            Fault::HalfABatch,
            Fault::LosesEndings,
            Fault::IgnoresBreak,
            Fault::CutsRays,
        ] {
            assert!(run(fault).is_err(), "{fault:?} passed");
        }
    }
}
