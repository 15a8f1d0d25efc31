//! Swept boxes, windows, the broad phase.
//!
//! Every collider that moves has a box that it stays in until the end of the present window. When a collision sends a body out
//! of its box, that box alone is renewed, and what it meets is found by a box query: no work beyond the neighbours.
//!
//! Pieces of trajectory are known to their ends when they begin, so that nobody is ever found outside its box afterwards:
//! Mirtich's violations (1996, section 5.2) and Fontijne's undone steps (2000, section 2.3.1) become events that are known before.
//! A motion that changes is compared with its box at once. A box that is too small for its window, which
//! [`sweep`](super::params::EventDrivenParams::sweep) asks for, knows until when its body stays inside; there it is renewed, and a box query finds
//! what the new one meets.

use super::params::Scaled;
use crate::parts::Parts;
use rigid_impulse::BodyError;
use sim_math::Aabb;
use sim_traits::{Executor, Pair, PairChanges, ProxyId, ProxyKind, for_each_mut};
use sim_world::{Body, Collider, StepError, World};
use std::ops::ControlFlow;

/// What the broad phase knows of a collider slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Proxy {
    /// No collider.
    Absent,
    /// A box that does not move.
    Fixed(Aabb),
    /// A box for the present window.
    Moving(Aabb),
}

/// Boxes of all collider slots.
#[derive(Debug, Default)]
pub(super) struct Boxes {
    pub(super) proxies: Vec<Proxy>,
    /// End of the present window, s.
    pub(super) until: f64,
    ids: Vec<ProxyId>,
    boxes: Vec<Aabb>,
    /// Partners found by the last renewal.
    pub(super) met: Vec<Pair>,
    /// Changes found by the last refresh.
    pub(super) changes: PairChanges,
    /// By slot: when a collider may leave its box, s; infinite if not before the end of the window.
    pub(super) leaves: Vec<f64>,
}

/// Box of a collider from `from` to `until` (s), with margin.
fn swept(
    body: &Body,
    collider: &Collider,
    params: &Scaled,
    from: f64,
    until: f64,
    generous: bool,
) -> Result<Aabb, BodyError> {
    let now = body.at(from)?;
    let dt = (until - from).max(0.0);
    let tight = body.piece().swept_box(&now, dt, collider.shape(), collider.extent())?;
    let radius = collider.extent().radius;
    let margin = if generous && radius.is_finite() { params.margin * radius } else { 0.0 };
    Ok(tight.grown(params.envelope() + margin))
}

/// When a collider may leave a box that it is in at `from` (s); infinite if not before `until`.
fn leaves(
    body: &Body,
    collider: &Collider,
    params: &Scaled,
    aabb: &Aabb,
    from: f64,
    until: f64,
) -> Result<f64, BodyError> {
    let mut end = until;
    while !aabb.contains_box(&swept(body, collider, params, from, end, false)?) {
        let half = from + 0.5 * (end - from);
        if half <= from || half >= end {
            return Ok(from);
        }
        end = half;
    }
    Ok(if end < until { end } else { f64::INFINITY })
}

impl Boxes {
    /// Largest distance of a point of a box that moves from the origin, m.
    pub(super) fn farthest(&self) -> f64 {
        let far = |proxy: &Proxy| match proxy {
            Proxy::Moving(aabb) => {
                Some(aabb.min.abs().max(aabb.max.abs()).length()).filter(|x| x.is_finite())
            }
            Proxy::Absent | Proxy::Fixed(_) => None,
        };
        self.proxies.iter().filter_map(far).fold(0.0, f64::max)
    }

    /// Up to when a box that is made at `from` (s) is to hold, s.
    fn end(&self, params: &Scaled, from: f64) -> f64 {
        (from + params.sweep * params.window).min(self.until)
    }

    /// When the first collider may leave its box, s.
    pub(super) fn first_leave(&self) -> f64 {
        self.leaves.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Removes everything from the broad phase.
    pub(super) fn clear(&mut self, parts: &mut Parts) -> Result<(), StepError> {
        for slot in 0..self.proxies.len() as u32 {
            self.remove(parts, slot)?;
        }
        self.proxies.clear();
        self.leaves.clear();
        Ok(())
    }

    /// Removes one collider.
    pub(super) fn remove(&mut self, parts: &mut Parts, slot: u32) -> Result<(), StepError> {
        if let Some(proxy) = self.proxies.get_mut(slot as usize) {
            if *proxy != Proxy::Absent {
                parts.broad_phase.remove(ProxyId(slot))?;
                *proxy = Proxy::Absent;
                self.leaves[slot as usize] = f64::INFINITY;
            }
        }
        Ok(())
    }

    /// Adds the colliders of a body, or renews their boxes; finds no pairs.
    pub(super) fn place(
        &mut self,
        world: &World,
        parts: &mut Parts,
        params: &Scaled,
        body_slot: u32,
        time: f64,
    ) -> Result<(), StepError> {
        let Some((id, body)) = world.body_in_slot(body_slot) else { return Ok(()) };
        let slots = self.proxies.len().max(world.collider_slots());
        self.proxies.resize(slots, Proxy::Absent);
        self.leaves.resize(slots, f64::INFINITY);
        let end = self.end(params, time);
        for &collider_id in body.colliders() {
            let Some((_, collider)) = world.collider_in_slot(collider_id.index()) else { continue };
            let failed = |source| StepError::Body { body: id, source };
            let aabb = swept(body, collider, params, time, end, true).map_err(failed)?;
            if end < self.until && !body.is_fixed() {
                self.leaves[collider_id.index() as usize] =
                    leaves(body, collider, params, &aabb, time, self.until).map_err(failed)?;
            }
            let proxy_id = ProxyId(collider_id.index());
            let proxy = &mut self.proxies[collider_id.index() as usize];
            if *proxy == Proxy::Absent {
                let kind = if body.is_fixed() { ProxyKind::Fixed } else { ProxyKind::Moving };
                parts.broad_phase.insert(proxy_id, kind, &aabb)?;
            } else {
                parts.broad_phase.update(&[proxy_id], &[aabb])?;
            }
            *proxy = if body.is_fixed() { Proxy::Fixed(aabb) } else { Proxy::Moving(aabb) };
        }
        Ok(())
    }

    /// Begins a window at `time` (s): new boxes for all that moves, through the executor. `changes` then has the pairs that began
    /// and ended.
    pub(super) fn refresh(
        &mut self,
        world: &World,
        parts: &mut Parts,
        params: &Scaled,
        time: f64,
    ) -> Result<(), StepError> {
        self.until = time + params.window;
        let end = self.end(params, time);
        let executor: &dyn Executor = parts.executor.as_ref();
        for_each_mut(executor, &mut self.proxies, &|slot, proxy| {
            if let Proxy::Moving(aabb) = proxy {
                if let Some((body, collider)) = sides(world, slot as u32) {
                    // A state that is not finite shows as an invalid box below.
                    *aabb = swept(body, collider, params, time, end, true)
                        .unwrap_or(Aabb { min: sim_math::glam::DVec3::NAN, max: sim_math::glam::DVec3::NAN });
                }
            }
        });
        self.ids.clear();
        self.boxes.clear();
        for (slot, proxy) in self.proxies.iter().enumerate() {
            if let Proxy::Moving(aabb) = proxy {
                if !aabb.is_valid() {
                    return Err(bad_box(world, params, slot as u32, time, end));
                }
                self.ids.push(ProxyId(slot as u32));
                self.boxes.push(*aabb);
                self.leaves[slot] = f64::INFINITY;
                if let Some((body, collider)) = sides(world, slot as u32).filter(|_| end < self.until) {
                    self.leaves[slot] = leaves(body, collider, params, aabb, time, self.until)
                        .map_err(|source| StepError::Body { body: collider.body(), source })?;
                }
            }
        }
        parts.broad_phase.update(&self.ids, &self.boxes)?;
        parts.broad_phase.pair_changes(&mut self.changes);
        Ok(())
    }

    /// After a body got another motion at `time` (s): renews the boxes that it would leave before the end of the window. True if
    /// there were any; `met` then has the pairs of these boxes.
    pub(super) fn renew(
        &mut self,
        world: &World,
        parts: &mut Parts,
        params: &Scaled,
        body_slot: u32,
        time: f64,
    ) -> Result<bool, StepError> {
        self.met.clear();
        let Some((id, body)) = world.body_in_slot(body_slot) else { return Ok(false) };
        let mut renewed = false;
        for &collider_id in body.colliders() {
            let slot = collider_id.index();
            let Some((_, collider)) = world.collider_in_slot(slot) else { continue };
            let Some(&Proxy::Moving(old)) = self.proxies.get(slot as usize) else { continue };
            let failed = |source| StepError::Body { body: id, source };
            self.leaves[slot as usize] = f64::INFINITY;
            let now = swept(body, collider, params, time, self.until, false).map_err(failed)?;
            if old.contains_box(&now) {
                continue;
            }
            renewed = true;
            let end = self.end(params, time);
            let aabb = swept(body, collider, params, time, end, true).map_err(failed)?;
            if end < self.until {
                self.leaves[slot as usize] =
                    leaves(body, collider, params, &aabb, time, self.until).map_err(failed)?;
            }
            self.proxies[slot as usize] = Proxy::Moving(aabb);
            let proxy = ProxyId(slot);
            parts.broad_phase.update(&[proxy], &[aabb])?;
            let met = &mut self.met;
            parts.broad_phase.visit_box(&aabb, &mut |other| {
                if other != proxy {
                    met.push(Pair::new(proxy, other));
                }
                ControlFlow::Continue(())
            });
        }
        // The order of a visit is the broad phase's own.
        self.met.sort_unstable();
        Ok(renewed)
    }
}

/// A collider and its body.
fn sides(world: &World, slot: u32) -> Option<(&Body, &Collider)> {
    let (_, collider) = world.collider_in_slot(slot)?;
    Some((world.get(collider.body())?, collider))
}

/// The error behind an invalid box.
fn bad_box(world: &World, params: &Scaled, slot: u32, time: f64, until: f64) -> StepError {
    let source = BodyError::NonFinite { what: "swept box", value: f64::NAN };
    let Some((_, collider)) = world.collider_in_slot(slot) else {
        return StepError::EmptySlot { what: "collider", slot, time };
    };
    let body = collider.body();
    match world.get(body).map(|b| swept(b, collider, params, time, until, true)) {
        Some(Err(source)) => StepError::Body { body, source },
        _ => StepError::Body { body, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_driven::lifetimes;
    use crate::{ContactHandling, EventDriven, EventDrivenParams};

    use sim_math::{glam::DVec3, testkit::SplitMix64};
    use sim_traits::{BodyId, Cuboid, HalfSpace, Sphere};
    use sim_world::{Stepper, World};

    fn stepper(change: impl FnOnce(&mut EventDrivenParams)) -> EventDriven {
        let mut params = EventDrivenParams::default();
        change(&mut params);
        let parts = Parts::default();
        EventDriven::with(parts, params)
    }

    fn crowd(random: &mut SplitMix64) -> World {
        let mut world = World::new(DVec3::new(0.0, 0.0, -9.81)).unwrap();
        world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
        for k in 0..27 {
            let at = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) * 0.35;
            let body = if k % 2 == 0 {
                Body::free().shape(Sphere::new(0.1).unwrap())
            } else {
                Body::free().shape(Cuboid::new(DVec3::new(0.1, 0.08, 0.05)).unwrap())
            };
            let body = body.at(at + DVec3::Z * 0.3).moving(random.vec3(3.0)).spinning(random.vec3(10.0));
            world.add(body.restitution(0.5)).unwrap();
        }
        world
    }

    /// Where a collider is now.
    fn present(world: &World, slot: u32) -> Aabb {
        let (_, collider) = world.collider_in_slot(slot).unwrap();
        let pose = *world[collider.body()].state().pose() * collider.extent().body_from_shape;
        collider.shape().aabb(&pose)
    }

    // proves: FON-82
    #[test]
    fn between_windows_nobody_leaves_its_box_and_every_near_pair_is_watched() {
        let mut random = SplitMix64(21);
        for handling in [ContactHandling::Standard, ContactHandling::Improved] {
            let mut world = crowd(&mut random);
            let mut stepper = stepper(|p| (p.contact_handling, p.margin) = (handling, 0.0));
            stepper.prepare(&mut world).unwrap();
            let (mut looks, mut near) = (0, 0);
            while world.time() < 0.6 {
                let wait = stepper.next_event().unwrap() - world.time();
                stepper.advance(&mut world, wait).unwrap();
                // Between events too.
                stepper.advance(&mut world, 1e-4).unwrap();
                let slots = world.collider_slots() as u32;
                for a in 1..slots {
                    let Proxy::Moving(aabb) = stepper.tables.boxes.proxies[a as usize] else { panic!() };
                    assert!(aabb.grown(1e-12).contains_box(&present(&world, a)), "{a} at {}", world.time());
                    for b in 0..a {
                        let close = present(&world, a).grown(1e-4).overlaps(&present(&world, b).grown(1e-4));
                        let active = stepper.tables.pairs.find(Pair::new(ProxyId(a), ProxyId(b))).is_some();
                        assert!(active || !close, "{a} and {b} at {}", world.time());
                        near += u32::from(close);
                    }
                }
                looks += 1;
            }
            assert!(looks > 300 && near > 300, "{looks} {near}");
        }
    }

    /// A bullet at 300 m/s that is pushed about a thousand times a second; at every push its box and its pairs are taken away first,
    /// if that is asked for.
    fn bullet(seed: u64, starve: bool) -> (World, BodyId) {
        let (mut random, mut world) = (SplitMix64(seed), World::new(DVec3::ZERO).unwrap());
        let sheet = Cuboid::new(DVec3::new(0.0005, 20.0, 20.0)).unwrap();
        world.add(Body::fixed().shape(sheet)).unwrap();
        world.add(Body::fixed().shape(sheet).at([30.0, 0.0, 0.0])).unwrap();
        let shape = Sphere::new(0.005).unwrap();
        let id = world.add(Body::free().shape(shape).at([10.0, 0.0, 0.0]).restitution(1.0)).unwrap();
        let mut stepper = stepper(|p| {
            *p = EventDrivenParams::for_size(1.0);
            (p.margin, p.micro) = (0.0, crate::Micro::Off);
        });
        for k in 0..200 {
            stepper.advance(&mut world, 1e-3).unwrap();
            let slot = world[id].colliders()[0].index();
            if starve {
                let small = Aabb { min: DVec3::new(10.0, 90.0, 0.0), max: DVec3::new(10.1, 90.1, 0.1) };
                stepper.tables.boxes.proxies[slot as usize] = Proxy::Moving(small);
                stepper.setup.parts.broad_phase.update(&[ProxyId(slot)], &[small]).unwrap();
                let EventDriven { setup, tables, books, .. } = &mut stepper;
                lifetimes::take_pair_changes(setup, tables, books, &world, world.time()).unwrap();
                let gone: Vec<u32> = stepper.tables.pairs.iter().map(|(pair, _)| pair).collect();
                gone.into_iter().for_each(|pair| lifetimes::drop_pair(&mut stepper.tables, pair).unwrap());
            }
            let speed = if k == 0 { 300.0 } else { 0.0 };
            let push = (DVec3::X * speed + random.vec3(5.0)) * world[id].mass();
            let center = world[id].center();
            world.apply_impulse(id, center, push).unwrap();
        }
        (world, id)
    }

    #[test]
    fn boxes_that_are_too_small_are_noticed_when_a_motion_changes() {
        for seed in 0..5 {
            let (generous, id) = bullet(seed, false);
            let (starved, _) = bullet(seed, true);
            let x = generous[id].position().x;
            assert!(x > 0.0 && x < 30.0, "passed a sheet: {x}");
            let apart = (generous[id].position() - starved[id].position()).length();
            assert!(apart < 1e-9, "seed {seed}: {apart} m apart");
            assert!((generous[id].velocity().linear - starved[id].velocity().linear).length() < 1e-9);
        }
    }
}
