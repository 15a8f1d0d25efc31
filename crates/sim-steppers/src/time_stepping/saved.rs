//! The tables of the stepper as bytes: what a fresh stepper would not find again to the bit.
//!
//! The contacts found of pairs and since when, what the narrow phase remembers of them, who touches, the impulses that the next step begins with, and
//! the boxes, because they say which pairs are looked at.

use super::stepper::TimeStepping;
use sim_world::{SnapshotError, World};

#[cfg(not(feature = "serde"))]
pub(super) fn save_tables(_stepper: &TimeStepping, _world: &World) -> Result<Vec<u8>, SnapshotError> {
    Err(SnapshotError::NoSerde)
}

#[cfg(not(feature = "serde"))]
pub(super) fn load_tables(
    _stepper: &mut TimeStepping,
    _world: &World,
    _bytes: &[u8],
) -> Result<(), SnapshotError> {
    Err(SnapshotError::NoSerde)
}

#[cfg(feature = "serde")]
pub(super) use tables::{load_tables, save_tables};

#[cfg(feature = "serde")]
mod tables {
    use super::{
        super::{
            candidate::{Candidate, Found, Sensor},
            detect::Placed,
            patches::Origin,
            sites::{Previous, read_sites},
            state::Setup,
            travel::{NextMove, Travel},
        },
        SnapshotError, TimeStepping, World,
    };
    use crate::{anchor::Anchor, parts::ContactMethod};
    use constraint_dynamics::soft::SoftManifold;
    use serde::{Deserialize, Serialize};
    use sim_traits::{ColliderId, FixedState, Manifold, Pair, PairCache, ProxyId};
    use sim_world::{
        Contact,
        snapshot::{open, seal},
    };
    use std::hash::BuildHasher;

    const KIND: &str = "time-stepping";
    const VERSION: u32 = 9;

    #[derive(Serialize, Deserialize)]
    struct PairData {
        key: [u32; 2],
        names: [ColliderId; 2],
        bodies: [u32; 2],
        sensor: Option<Sensor>,
        cache: PairCache,
        touching: bool,
        contact: Option<(u64, Contact)>,
        found: Found,
        fresh: bool,
        span: [u32; 2],
    }

    #[derive(Serialize, Deserialize)]
    struct Tables {
        params: u64,
        advances: u64,
        last_step: f64,
        given_way: f64,
        scale: [f64; 2],
        pairs: Vec<PairData>,
        travels: Vec<Option<Travel>>,
        next_moves: Vec<NextMove>,
        placed: Vec<Option<Placed>>,
        anchors: Vec<Option<Anchor>>,
        impulses: Vec<Previous>,
        patches: Vec<(Origin, Vec<u32>, Vec<f64>)>,
        owed: Vec<f64>,
    }

    fn params_digest(setup: &Setup) -> u64 {
        let method = match &setup.parts.contacts {
            ContactMethod::Law(law) => law.kind().to_owned(),
            ContactMethod::Soft(params) => format!("{params:?}"),
        };
        FixedState.hash_one(format!("{:?} {method}", setup.given))
    }

    pub(in super::super) fn save_tables(
        stepper: &TimeStepping,
        world: &World,
    ) -> Result<Vec<u8>, SnapshotError> {
        if stepper.seen != Some(world.mark_before_changes())
            || stepper.reached.to_bits() != world.time().to_bits()
        {
            // It does not know this world: a fresh one is as good.
            return Ok(Vec::new());
        }
        let pairs = stepper.found.detect.candidates.iter().map(|w| PairData {
            key: [w.key.a.0, w.key.b.0],
            names: w.rest.names,
            bodies: w.bodies,
            sensor: w.sensor,
            cache: w.rest.cache,
            touching: w.touching,
            contact: stepper.found.detect.exerted.of(w),
            found: w.rest.found.clone(),
            fresh: w.fresh,
            span: w.span,
        });
        let tables = Tables {
            params: params_digest(&stepper.setup),
            advances: stepper.books.advances,
            last_step: stepper.problem.memory.last_step,
            given_way: stepper.problem.memory.debts.given_way,
            scale: [stepper.setup.radius, stepper.setup.farthest],
            pairs: pairs.collect(),
            travels: stepper.found.detect.travels.all.clone(),
            next_moves: stepper.found.detect.travels.steps.clone(),
            placed: stepper.found.detect.placed.clone(),
            anchors: stepper.sleep.anchors.clone(),
            impulses: stepper.found.sites.impulses.clone(),
            patches: stepper.soft.as_ref().map_or_else(Vec::new, |soft| {
                let both = soft.patches.origins.iter().zip(&soft.patches.manifolds);
                both.map(|(origin, m)| {
                    let (names, numbers) = m.to_numbers();
                    (*origin, names.to_vec(), numbers.to_vec())
                })
                .collect()
            }),
            owed: stepper.soft.as_ref().map_or_else(Vec::new, |soft| soft.guard.owed.clone()),
        };
        seal(KIND, VERSION, &tables)
    }

    pub(in super::super) fn load_tables(
        stepper: &mut TimeStepping,
        world: &World,
        bytes: &[u8],
    ) -> Result<(), SnapshotError> {
        stepper.seen = None;
        if bytes.is_empty() {
            return Ok(());
        }
        let tables: Tables = open(KIND, VERSION, bytes)?;
        if tables.params != params_digest(&stepper.setup) {
            return Err(SnapshotError::Mismatch { what: "set of parameters" });
        }
        let damaged = |what| SnapshotError::Damaged { what };
        if tables.scale.iter().any(|x| !x.is_finite() || *x < 0.0) {
            return Err(damaged("the sizes of bodies"));
        }
        stepper.setup.set_scale(tables.scale[0], tables.scale[1]);
        stepper.found.detect.clear(&mut stepper.setup.parts).map_err(|_| damaged("boxes of before"))?;
        let (slots, bodies) = (world.collider_slots(), world.body_slots());
        for data in tables.pairs {
            let [a, b] = data.key;
            let known = a < b && (b as usize) < slots && data.bodies.iter().all(|&k| (k as usize) < bodies);
            if !known {
                return Err(damaged("a pair"));
            }
            let key = Pair::new(ProxyId(a), ProxyId(b));
            if stepper.found.detect.candidates.last().is_some_and(|last| last.key >= key) {
                return Err(damaged("the order of pairs"));
            }
            let mut pair = Candidate::new(key, data.names, data.bodies, data.sensor, None);
            (pair.rest.cache, pair.touching) = (data.cache, data.touching);
            data.contact.into_iter().for_each(|known| stepper.found.detect.exerted.put(&mut pair, known));
            (pair.rest.found, pair.fresh, pair.span) = (data.found, data.fresh, data.span);
            pair.set_gauge(stepper.setup.params.margin);
            let finite = |m: &Manifold| {
                m.normal.is_finite()
                    && m.points().iter().all(|p| p.point_a.is_finite() && p.point_b.is_finite())
            };
            let end = u64::from(pair.span[0]) + u64::from(pair.span[1]);
            if !pair.rest.found.manifolds.iter().all(finite) || end > tables.patches.len() as u64 {
                return Err(damaged("a contact"));
            }
            stepper.found.detect.candidates.push(pair);
        }
        stepper.sleep.anchors = tables.anchors;
        let travels = [tables.travels.len(), tables.next_moves.len()];
        if travels.iter().any(|n| *n > bodies) || travels[0] != travels[1] || tables.placed.len() > slots {
            return Err(damaged("the number of boxes"));
        }
        (stepper.found.detect.travels.all, stepper.found.detect.travels.steps) =
            (tables.travels, tables.next_moves);
        stepper.found.detect.travels.read_gauges();
        stepper.found.detect.placed = tables.placed;
        let boxes = stepper.found.detect.put_back(world, &mut stepper.setup.parts);
        boxes.map_err(|_| damaged("a box"))?;
        if !tables.owed.iter().all(|x| x.is_finite()) || tables.owed.len() > bodies {
            return Err(damaged("an energy"));
        }
        if let Some(soft) = &mut stepper.soft {
            soft.guard.owed = tables.owed;
            soft.patches.clear();
            for (origin, names, numbers) in tables.patches {
                let manifold = names
                    .try_into()
                    .ok()
                    .zip(numbers.try_into().ok())
                    .and_then(|(names, numbers)| SoftManifold::from_numbers(names, &numbers));
                let known = |m: &SoftManifold| m.bodies().iter().all(|&k| (k as usize) < bodies);
                let Some(manifold) = manifold.filter(known) else { return Err(damaged("a contact")) };
                soft.patches.put_back(manifold, origin);
            }
        } else {
            let sites = read_sites(&stepper.setup, &mut stepper.found, world);
            sites.map_err(|_| damaged("a contact"))?;
            if tables.impulses.len() != stepper.found.sites.all.len() {
                return Err(damaged("an impulse"));
            }
            stepper.found.sites.impulses = tables.impulses;
        }
        (stepper.problem.memory.last_step, stepper.books.advances) = (tables.last_step, tables.advances);
        stepper.problem.memory.debts.given_way = tables.given_way;
        stepper.reached = world.time();
        stepper.seen = Some(world.mark_before_changes());
        Ok(())
    }
}
