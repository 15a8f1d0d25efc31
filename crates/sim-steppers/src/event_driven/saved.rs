//! The tables of the stepper as bytes: what a fresh stepper would not find again to the bit.
//!
//! The boxes of the present window, when each pair is to be looked at and by which bound, what the narrow phase remembers of
//! it, whether it touches, since when bodies have been calm. Slots, heap and broad phase are built anew: their order has
//! no influence on results.

#[cfg(not(feature = "serde"))]
use super::stepper::EventDriven;
use sim_world::{SnapshotError, World};

#[cfg(not(feature = "serde"))]
pub(super) fn save_tables(_stepper: &EventDriven, _world: &World) -> Result<Vec<u8>, SnapshotError> {
    Err(SnapshotError::NoSerde)
}

#[cfg(not(feature = "serde"))]
pub(super) fn load_tables(
    _stepper: &mut EventDriven,
    _world: &World,
    _bytes: &[u8],
) -> Result<(), SnapshotError> {
    Err(SnapshotError::NoSerde)
}

#[cfg(feature = "serde")]
pub(super) use tables::{load_tables, save_tables};

#[cfg(feature = "serde")]
mod tables {
    use super::super::{
        clusters::sync_clusters,
        control::{enter, sync_controllers},
        lifetimes::await_leave,
        state::{Books, Response, Setup, Tables},
    };
    use super::{
        super::{
            boxes::Proxy,
            pairs::ActivePair,
            phase::Bearing,
            stepper::{EventDriven, Item},
            touch::ContactName,
        },
        SnapshotError, World,
    };
    use crate::{anchor::Anchor, scale::Scale};
    use rigid_impulse::bounds::Travel;
    use serde::{Deserialize, Serialize};
    use sim_math::{Aabb, Pose, glam::DVec3};
    use sim_traits::{BodyId, ColliderId, FixedState, Pair, PairCache, ProxyId, ProxyKind};
    use sim_world::{
        Contact, EventKind, TimerId,
        snapshot::{open, seal},
    };
    use std::hash::BuildHasher;

    const KIND: &str = "event-driven";
    const VERSION: u32 = 7;

    #[derive(Serialize, Deserialize)]
    enum ProxyData {
        Absent,
        Fixed(Aabb),
        Moving(Aabb),
    }

    #[derive(Serialize, Deserialize)]
    struct PairData {
        key: [u32; 2],
        names: [ColliderId; 2],
        bodies: [u32; 2],
        sensor: Option<u8>,
        date: f64,
        cache: PairCache,
        since: f64,
        distance: f64,
        normal: DVec3,
        travel: Travel,
        aimed: bool,
        ended: Option<u8>,
        touching: bool,
        turn: u32,
        events: u32,
        contact: Option<(u64, Contact)>,
        bearing: (f64, Vec<(ContactName, DVec3)>),
        parted: Option<(f64, f64)>,
        slips: Vec<(ContactName, DVec3)>,
    }

    #[derive(Serialize, Deserialize)]
    struct Saved {
        params: u64,
        scale: Scale,
        until: f64,
        proxies: Vec<ProxyData>,
        leaves: Vec<f64>,
        /// When somebody is looked at that may leave its box; it may have another motion by now.
        leave: Option<f64>,
        pairs: Vec<PairData>,
        timers: Vec<(TimerId, f64)>,
        anchors: Vec<Option<(BodyId, Pose, f64)>>,
        advances: u64,
        lent: Vec<[f64; 2]>,
        /// Slots, names, and whether the first is a sensor.
        pending: Vec<([u32; 2], [ColliderId; 2], bool)>,
    }

    const fn damaged(what: &'static str) -> SnapshotError {
        SnapshotError::Damaged { what }
    }

    fn params_digest(setup: &Setup) -> u64 {
        FixedState.hash_one(format!("{:?}", setup.given))
    }

    pub(in super::super) fn save_tables(
        stepper: &EventDriven,
        world: &World,
    ) -> Result<Vec<u8>, SnapshotError> {
        let EventDriven { setup, tables, response, books } = stepper;
        if tables.seen != Some(world.mark_before_changes())
            || tables.reached.to_bits() != world.time().to_bits()
        {
            // It does not know this world: a fresh one is as good.
            return Ok(Vec::new());
        }
        let date = |event| tables.queue.time(event).ok_or(damaged("a pair without event"));
        let mut pairs = Vec::new();
        for (_, p) in tables.pairs.iter() {
            pairs.push(PairData {
                key: [p.key.a.0, p.key.b.0],
                names: p.names,
                bodies: p.bodies,
                sensor: p.sensor,
                date: date(p.event)?,
                cache: p.cache,
                since: p.since,
                distance: p.distance,
                normal: p.normal,
                travel: p.travel,
                aimed: p.aimed,
                ended: p.ended,
                touching: p.touching,
                turn: p.turn,
                events: p.events,
                contact: p.contact,
                bearing: (p.bearing.since, p.bearing.forces.to_vec()),
                parted: p.parted,
                slips: p.slips.to_vec(),
            });
        }
        let mut timers = Vec::new();
        for &(timer, event) in tables.timers.iter().flatten() {
            timers.push((timer, date(event)?));
        }
        let proxies = tables.boxes.proxies.iter().map(|proxy| match proxy {
            Proxy::Absent => ProxyData::Absent,
            Proxy::Fixed(aabb) => ProxyData::Fixed(*aabb),
            Proxy::Moving(aabb) => ProxyData::Moving(*aabb),
        });
        let pending = tables.pending.iter().filter_map(|(key, kind)| match *kind {
            EventKind::ContactEnded { a, b } => Some(([key.a.0, key.b.0], [a, b], false)),
            EventKind::SensorLeft { sensor, other } => Some(([key.a.0, key.b.0], [sensor, other], true)),
            _ => None,
        });
        let anchors = tables.sleep.anchors.iter().map(|a| a.map(|a| (a.id, a.pose, a.since)));
        let saved = Saved {
            params: params_digest(setup),
            scale: setup.scale,
            until: tables.boxes.until,
            proxies: proxies.collect(),
            leaves: tables.boxes.leaves.clone(),
            leave: tables.leave.and_then(|event| tables.queue.time(event)),
            pairs,
            timers,
            anchors: anchors.collect(),
            advances: books.advances,
            lent: response.lent.0.clone(),
            pending: pending.collect(),
        };
        seal(KIND, VERSION, &saved)
    }

    pub(in super::super) fn load_tables(
        stepper: &mut EventDriven,
        world: &World,
        bytes: &[u8],
    ) -> Result<(), SnapshotError> {
        let EventDriven { setup, tables, response, books } = stepper;
        tables.seen = None;
        if bytes.is_empty() {
            return Ok(());
        }
        let saved: Saved = open(KIND, VERSION, bytes)?;
        if saved.params != params_digest(setup) {
            return Err(SnapshotError::Mismatch { what: "set of parameters" });
        }
        fill(setup, tables, response, books, world, saved)?;
        tables.reached = world.time();
        tables.seen = Some(world.mark_before_changes());
        Ok(())
    }

    fn fill(
        setup: &mut Setup,
        tables: &mut Tables,
        response: &mut Response,
        books: &mut Books,
        world: &World,
        saved: Saved,
    ) -> Result<(), SnapshotError> {
        let queue = |_| damaged("the date of an event");
        let refused = |_| damaged("a box");
        tables.pairs.clear();
        tables.queue.clear();
        tables.timers.clear();
        tables.controllers.clear();
        tables.clusters.clear();
        tables.extra.clear();
        tables.boxes.clear(&mut setup.parts).map_err(|_| damaged("boxes of before"))?;
        if saved.leaves.len() != saved.proxies.len() {
            return Err(damaged("the time at which a box is left"));
        }
        let Scale { radius, farthest } = saved.scale;
        if !(radius > 0.0 && radius.is_finite() && farthest >= 0.0 && farthest.is_finite()) {
            return Err(damaged("the size of bodies"));
        }
        setup.set_scale(saved.scale);
        tables.boxes.until = saved.until;
        books.advances = saved.advances;
        response.lent.0 = saved.lent;
        tables.queue.schedule_ranked(saved.until, 0, Item::Window).map_err(queue)?;
        for (slot, data) in saved.proxies.into_iter().enumerate() {
            let (kind, aabb, proxy) = match data {
                ProxyData::Absent => {
                    tables.boxes.proxies.push(Proxy::Absent);
                    continue;
                }
                ProxyData::Fixed(aabb) => (ProxyKind::Fixed, aabb, Proxy::Fixed(aabb)),
                ProxyData::Moving(aabb) => (ProxyKind::Moving, aabb, Proxy::Moving(aabb)),
            };
            // `clear` removes what is listed here and nothing else.
            setup.parts.broad_phase.insert(ProxyId(slot as u32), kind, &aabb).map_err(refused)?;
            tables.boxes.proxies.push(proxy);
        }
        tables.boxes.leaves = saved.leaves;
        tables.leave = None;
        await_leave(setup, tables).map_err(|_| damaged("the time at which a box is left"))?;
        if let (Some(event), Some(date)) = (tables.leave, saved.leave) {
            tables.queue.reschedule_ranked(event, date).map_err(queue)?;
        }
        for (timer, date) in saved.timers {
            let rank = 1 + u64::from(timer.index());
            let event = tables.queue.schedule_ranked(date, rank, Item::Timer(timer)).map_err(queue)?;
            enter(&mut tables.timers, timer.index(), (timer, event));
        }
        sync_controllers(tables, world).map_err(|_| damaged("the time of a controller"))?;
        sync_clusters(tables, world).map_err(|_| damaged("the end of a piece"))?;
        for data in saved.pairs {
            fill_pair(tables, world, data)?;
        }
        tables.sleep.anchors.clear();
        tables
            .sleep
            .anchors
            .extend(saved.anchors.into_iter().map(|a| a.map(|(id, pose, since)| Anchor { id, pose, since })));
        tables.pending.clear();
        for ([a, b], [first, other], sensor) in saved.pending {
            if a >= b {
                return Err(damaged("the end of a contact"));
            }
            let kind = if sensor {
                EventKind::SensorLeft { sensor: first, other }
            } else {
                EventKind::ContactEnded { a: first, b: other }
            };
            tables.pending.push((Pair::new(ProxyId(a), ProxyId(b)), kind));
        }
        confirm_pairs(setup, tables);
        Ok(())
    }

    fn fill_pair(tables: &mut Tables, world: &World, data: PairData) -> Result<(), SnapshotError> {
        let [a, b] = data.key;
        let known = |slot: u32| (slot as usize) < tables.boxes.proxies.len();
        let bodies = data.bodies.iter().all(|&b| (b as usize) < world.body_slots());
        if !(a < b && known(a) && known(b) && bodies && data.sensor.is_none_or(|s| s < 2)) {
            return Err(damaged("a pair"));
        }
        let key = Pair::new(ProxyId(a), ProxyId(b));
        if tables.pairs.find(key).is_some() {
            return Err(damaged("a pair that is there twice"));
        }
        let item = Item::Check(tables.pairs.next_slot());
        let event = tables
            .queue
            .schedule_ranked(data.date, ActivePair::rank(key), item)
            .map_err(|_| damaged("the date of an event"))?;
        let slot = tables.pairs.insert(key, data.bodies, event);
        if let Some(pair) = tables.pairs.get_mut(slot) {
            pair.names = data.names;
            pair.sensor = data.sensor;
            pair.cache = data.cache;
            pair.since = data.since;
            pair.distance = data.distance;
            pair.normal = data.normal;
            pair.travel = data.travel;
            pair.aimed = data.aimed;
            pair.ended = data.ended;
            pair.touching = data.touching;
            pair.turn = data.turn;
            pair.events = data.events;
            pair.contact = data.contact;
            pair.bearing = Bearing { since: data.bearing.0, forces: data.bearing.1.into() };
            pair.parted = data.parted;
            pair.slips = data.slips.into();
        }
        Ok(())
    }

    /// The broad phase counts changes from now on: a pair that it reports now is reported, one that it does not report
    /// is to be confirmed at the next window, as it was before.
    fn confirm_pairs(setup: &mut Setup, tables: &mut Tables) {
        let mut all = std::mem::take(&mut tables.boxes.met);
        setup.parts.broad_phase.pair_changes(&mut tables.boxes.changes);
        setup.parts.broad_phase.pairs(&mut all);
        all.sort_unstable();
        let slots: Vec<u32> = tables.pairs.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            if let Some(pair) = tables.pairs.get_mut(slot) {
                pair.reported = all.binary_search(&pair.key).is_ok();
                if !pair.reported && pair.ended.is_none() {
                    tables.extra.push(slot);
                }
            }
        }
        tables.boxes.met = all;
    }
}
