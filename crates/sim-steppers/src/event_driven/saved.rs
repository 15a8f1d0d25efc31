//! The tables of the stepper as bytes: what a fresh stepper would not find again to the bit.
//!
//! The boxes of the present window, when each pair is to be looked at and by which bound, what the narrow phase remembers of
//! it, whether it touches, since when bodies have been calm. Slots, heap and broad phase are built anew: their order has
//! no influence on results.

#[cfg(not(feature = "serde"))]
use super::stepper::EventDriven;
use sim_world::{SnapshotError, World};

#[cfg(not(feature = "serde"))]
impl EventDriven {
    pub(super) fn save_tables(&self, _world: &World) -> Result<Vec<u8>, SnapshotError> {
        Err(SnapshotError::NoSerde)
    }

    pub(super) fn load_tables(&mut self, _world: &World, _bytes: &[u8]) -> Result<(), SnapshotError> {
        Err(SnapshotError::NoSerde)
    }
}

#[cfg(feature = "serde")]
mod tables {
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
    struct Tables {
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

    impl EventDriven {
        fn params_digest(&self) -> u64 {
            FixedState.hash_one(format!("{:?}", self.given))
        }

        pub(in super::super) fn save_tables(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
            if self.seen != Some(world.mark_before_changes())
                || self.reached.to_bits() != world.time().to_bits()
            {
                // It does not know this world: a fresh one is as good.
                return Ok(Vec::new());
            }
            let date = |event| self.queue.time(event).ok_or(damaged("a pair without event"));
            let mut pairs = Vec::new();
            for (_, p) in self.pairs.iter() {
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
            for &(timer, event) in &self.timers {
                timers.push((timer, date(event)?));
            }
            let proxies = self.boxes.proxies.iter().map(|proxy| match proxy {
                Proxy::Absent => ProxyData::Absent,
                Proxy::Fixed(aabb) => ProxyData::Fixed(*aabb),
                Proxy::Moving(aabb) => ProxyData::Moving(*aabb),
            });
            let pending = self.pending.iter().filter_map(|(key, kind)| match *kind {
                EventKind::ContactEnded { a, b } => Some(([key.a.0, key.b.0], [a, b], false)),
                EventKind::SensorLeft { sensor, other } => Some(([key.a.0, key.b.0], [sensor, other], true)),
                _ => None,
            });
            let anchors = self.sleep.anchors.iter().map(|a| a.map(|a| (a.id, a.pose, a.since)));
            let tables = Tables {
                params: self.params_digest(),
                scale: self.scale,
                until: self.boxes.until,
                proxies: proxies.collect(),
                leaves: self.boxes.leaves.clone(),
                leave: self.leave.and_then(|event| self.queue.time(event)),
                pairs,
                timers,
                anchors: anchors.collect(),
                advances: self.advances,
                lent: self.lent.0.clone(),
                pending: pending.collect(),
            };
            seal(KIND, VERSION, &tables)
        }

        pub(in super::super) fn load_tables(
            &mut self,
            world: &World,
            bytes: &[u8],
        ) -> Result<(), SnapshotError> {
            self.seen = None;
            if bytes.is_empty() {
                return Ok(());
            }
            let tables: Tables = open(KIND, VERSION, bytes)?;
            if tables.params != self.params_digest() {
                return Err(SnapshotError::Mismatch { what: "set of parameters" });
            }
            self.fill(world, tables)?;
            self.reached = world.time();
            self.seen = Some(world.mark_before_changes());
            Ok(())
        }

        fn fill(&mut self, world: &World, tables: Tables) -> Result<(), SnapshotError> {
            let queue = |_| damaged("the date of an event");
            let refused = |_| damaged("a box");
            self.pairs.clear();
            self.queue.clear();
            self.timers.clear();
            self.controllers.clear();
            self.clusters.clear();
            self.extra.clear();
            self.boxes.clear(&mut self.parts).map_err(|_| damaged("boxes of before"))?;
            if tables.leaves.len() != tables.proxies.len() {
                return Err(damaged("the time at which a box is left"));
            }
            let Scale { radius, farthest } = tables.scale;
            if !(radius > 0.0 && radius.is_finite() && farthest >= 0.0 && farthest.is_finite()) {
                return Err(damaged("the size of bodies"));
            }
            self.set_scale(tables.scale);
            self.boxes.until = tables.until;
            self.advances = tables.advances;
            self.lent.0 = tables.lent;
            self.queue.schedule_ranked(tables.until, 0, Item::Window).map_err(queue)?;
            for (slot, data) in tables.proxies.into_iter().enumerate() {
                let (kind, aabb, proxy) = match data {
                    ProxyData::Absent => {
                        self.boxes.proxies.push(Proxy::Absent);
                        continue;
                    }
                    ProxyData::Fixed(aabb) => (ProxyKind::Fixed, aabb, Proxy::Fixed(aabb)),
                    ProxyData::Moving(aabb) => (ProxyKind::Moving, aabb, Proxy::Moving(aabb)),
                };
                // `clear` removes what is listed here and nothing else.
                self.parts.broad_phase.insert(ProxyId(slot as u32), kind, &aabb).map_err(refused)?;
                self.boxes.proxies.push(proxy);
            }
            self.boxes.leaves = tables.leaves;
            self.leave = None;
            self.await_leave().map_err(|_| damaged("the time at which a box is left"))?;
            if let (Some(event), Some(date)) = (self.leave, tables.leave) {
                self.queue.reschedule_ranked(event, date).map_err(queue)?;
            }
            for (timer, date) in tables.timers {
                let rank = 1 + u64::from(timer.index());
                let event = self.queue.schedule_ranked(date, rank, Item::Timer(timer)).map_err(queue)?;
                self.timers.push((timer, event));
            }
            self.sync_controllers(world).map_err(|_| damaged("the time of a controller"))?;
            self.sync_clusters(world).map_err(|_| damaged("the end of a piece"))?;
            for data in tables.pairs {
                self.fill_pair(world, data)?;
            }
            self.sleep.anchors.clear();
            self.sleep.anchors.extend(
                tables.anchors.into_iter().map(|a| a.map(|(id, pose, since)| Anchor { id, pose, since })),
            );
            self.pending.clear();
            for ([a, b], [first, other], sensor) in tables.pending {
                if a >= b {
                    return Err(damaged("the end of a contact"));
                }
                let kind = if sensor {
                    EventKind::SensorLeft { sensor: first, other }
                } else {
                    EventKind::ContactEnded { a: first, b: other }
                };
                self.pending.push((Pair::new(ProxyId(a), ProxyId(b)), kind));
            }
            self.confirm_pairs();
            Ok(())
        }

        fn fill_pair(&mut self, world: &World, data: PairData) -> Result<(), SnapshotError> {
            let [a, b] = data.key;
            let known = |slot: u32| (slot as usize) < self.boxes.proxies.len();
            let bodies = data.bodies.iter().all(|&b| (b as usize) < world.body_slots());
            if !(a < b && known(a) && known(b) && bodies && data.sensor.is_none_or(|s| s < 2)) {
                return Err(damaged("a pair"));
            }
            let key = Pair::new(ProxyId(a), ProxyId(b));
            if self.pairs.find(key).is_some() {
                return Err(damaged("a pair that is there twice"));
            }
            let item = Item::Check(self.pairs.next_slot());
            let event = self
                .queue
                .schedule_ranked(data.date, ActivePair::rank(key), item)
                .map_err(|_| damaged("the date of an event"))?;
            let slot = self.pairs.insert(key, data.bodies, event);
            if let Some(pair) = self.pairs.get_mut(slot) {
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
        fn confirm_pairs(&mut self) {
            let mut all = std::mem::take(&mut self.boxes.met);
            self.parts.broad_phase.pair_changes(&mut self.boxes.changes);
            self.parts.broad_phase.pairs(&mut all);
            all.sort_unstable();
            let slots: Vec<u32> = self.pairs.iter().map(|(slot, _)| slot).collect();
            for slot in slots {
                if let Some(pair) = self.pairs.get_mut(slot) {
                    pair.reported = all.binary_search(&pair.key).is_ok();
                    if !pair.reported && pair.ended.is_none() {
                        self.extra.push(slot);
                    }
                }
            }
            self.boxes.met = all;
        }
    }
}
