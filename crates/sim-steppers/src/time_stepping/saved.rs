//! The tables of the stepper as bytes: what a fresh stepper would not find again to the bit.
//!
//! The contacts found at the end of the last step, what the narrow phase remembers of pairs, who touches, and the impulses that the next step begins
//! with. Boxes are built anew.

use super::stepper::TimeStepping;
use sim_world::{SnapshotError, World};

#[cfg(not(feature = "serde"))]
impl TimeStepping {
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
        super::detect::{Site, Watched},
        SnapshotError, TimeStepping, World,
    };
    use constraint_dynamics::{ContactKey, Remembered};
    use serde::{Deserialize, Serialize};
    use sim_math::glam::DVec3;
    use sim_traits::{ColliderId, FeatureId, FixedState, Pair, PairCache, ProxyId};
    use sim_world::{
        Contact,
        snapshot::{open, seal},
    };
    use std::hash::BuildHasher;

    const KIND: &str = "time-stepping";
    const VERSION: u32 = 1;

    type KeyData = ([u32; 2], [u32; 2], [FeatureId; 2], u32);

    #[derive(Serialize, Deserialize)]
    struct PairData {
        key: [u32; 2],
        names: [ColliderId; 2],
        bodies: [u32; 2],
        sensor: Option<u8>,
        cache: PairCache,
        touching: bool,
        contact: Option<(u64, Contact)>,
    }

    #[derive(Serialize, Deserialize)]
    struct Tables {
        params: u64,
        advances: u64,
        last_step: f64,
        pairs: Vec<PairData>,
        sites: Vec<Site>,
        keys: Vec<KeyData>,
        warm: Vec<(KeyData, DVec3, DVec3)>,
    }

    fn key_data(key: &ContactKey) -> KeyData {
        (key.pair, key.pieces, key.features, key.copy)
    }

    fn key_of(data: KeyData) -> ContactKey {
        ContactKey { pair: data.0, pieces: data.1, features: data.2, copy: data.3 }
    }

    impl TimeStepping {
        fn params_digest(&self) -> u64 {
            FixedState.hash_one(format!("{:?} {}", self.params, self.parts.contact_solver.kind()))
        }

        pub(in super::super) fn save_tables(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
            let before_changes = world.revision() - world.changes().len() as u64;
            if self.seen != Some(before_changes) || self.reached.to_bits() != world.time().to_bits() {
                // It does not know this world: a fresh one is as good.
                return Ok(Vec::new());
            }
            let pairs = self.detect.watched.iter().map(|w| PairData {
                key: [w.key.a.0, w.key.b.0],
                names: w.names,
                bodies: w.bodies,
                sensor: w.sensor,
                cache: w.cache,
                touching: w.touching,
                contact: w.contact,
            });
            let warm = self.warm.entries().iter().map(|e| (key_data(&e.key), e.point, e.impulse));
            let tables = Tables {
                params: self.params_digest(),
                advances: self.advances,
                last_step: self.last_step,
                pairs: pairs.collect(),
                sites: self.detect.sites.clone(),
                keys: self.detect.keys.iter().map(key_data).collect(),
                warm: warm.collect(),
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
            let damaged = |what| SnapshotError::Damaged { what };
            self.detect.clear(&mut self.parts).map_err(|_| damaged("boxes of before"))?;
            let (slots, bodies) = (world.collider_slots(), world.body_slots());
            for data in tables.pairs {
                let [a, b] = data.key;
                let known =
                    a < b && (b as usize) < slots && data.bodies.iter().all(|&k| (k as usize) < bodies);
                if !known || data.sensor.is_some_and(|s| s > 1) {
                    return Err(damaged("a pair"));
                }
                let key = Pair::new(ProxyId(a), ProxyId(b));
                if self.detect.watched.last().is_some_and(|last| last.key >= key) {
                    return Err(damaged("the order of pairs"));
                }
                let mut pair = Watched::new(key, data.names, data.bodies, data.sensor);
                (pair.cache, pair.touching, pair.contact) = (data.cache, data.touching, data.contact);
                self.detect.watched.push(pair);
            }
            let pairs = self.detect.watched.len();
            let fits =
                |s: &Site| (s.pair as usize) < pairs && s.bodies.iter().all(|&k| (k as usize) < bodies);
            let finite = |s: &Site| s.point.is_finite() && s.frame.is_finite() && s.gap.is_finite();
            if tables.sites.len() != tables.keys.len() || !tables.sites.iter().all(|s| fits(s) && finite(s)) {
                return Err(damaged("a contact"));
            }
            self.detect.sites = tables.sites;
            self.detect.keys = tables.keys.into_iter().map(key_of).collect();
            let warm = tables.warm.into_iter();
            self.warm.store(warm.map(|(key, point, impulse)| Remembered {
                key: key_of(key),
                point,
                impulse,
            }));
            (self.last_step, self.advances) = (tables.last_step, tables.advances);
            self.reached = world.time();
            self.seen = Some(world.revision() - world.changes().len() as u64);
            Ok(())
        }
    }
}
