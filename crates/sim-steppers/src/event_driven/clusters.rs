//! Bodies under forces: ends of their pieces, and neighbours that move with them.

use super::{
    check,
    state::{Books, Setup, Tables},
    stepper::Item,
};
use sim_world::{StepError, World};

/// Rank of the first cluster among events of equal time: after all timers, before all pairs.
const FIRST_RANK: u64 = 1 << 31;

/// A body of a cluster got another motion at `time` (s), and with it the others of the cluster.
pub(super) fn neighbours_changed(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    body: u32,
    time: f64,
) -> Result<(), StepError> {
    match world.body_in_slot(body).and_then(|(_, b)| b.cluster()) {
        Some(cluster) => cluster_changed(setup, tables, books, world, cluster, Some(body), time),
        None => Ok(()),
    }
}

/// The bodies of a cluster, except one, are on new pieces since `time` (s).
pub(super) fn cluster_changed(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    cluster: u32,
    except: Option<u32>,
    time: f64,
) -> Result<(), StepError> {
    for member in world.cluster_members(cluster) {
        if Some(member.index()) != except {
            check::motion_changed(setup, tables, books, world, member.index(), None, time)?;
        }
    }
    if let Some(&event) = tables.clusters.get(cluster as usize) {
        tables.queue.reschedule_ranked(event, world.cluster_end(cluster))?;
    }
    Ok(())
}

/// Schedules the ends of all pieces anew: clusters are numbered afresh when forces change.
pub(super) fn sync_clusters(tables: &mut Tables, world: &World) -> Result<(), StepError> {
    tables.clusters_found = world.clusters_found();
    while tables.clusters.len() > world.cluster_count() as usize {
        if let Some(event) = tables.clusters.pop() {
            tables.queue.cancel(event)?;
        }
    }
    for cluster in 0..world.cluster_count() {
        let end = world.cluster_end(cluster);
        match tables.clusters.get(cluster as usize) {
            Some(&event) => tables.queue.reschedule_ranked(event, end)?,
            None => {
                let rank = FIRST_RANK + u64::from(cluster);
                let event = tables.queue.schedule_ranked(end, rank, Item::Pieces(cluster))?;
                tables.clusters.push(event);
            }
        }
    }
    Ok(())
}
