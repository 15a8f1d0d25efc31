//! Bodies under forces: ends of their pieces, and neighbours that move with them.

use super::stepper::{EventDriven, Item};
use sim_world::{StepError, World};

/// Rank of the first cluster among events of equal time: after all timers, before all pairs.
const FIRST_RANK: u64 = 1 << 31;

impl EventDriven {
    /// A body of a cluster got another motion at `time` (s), and with it the others of the cluster.
    pub(super) fn neighbours_changed(
        &mut self,
        world: &World,
        body: u32,
        time: f64,
    ) -> Result<(), StepError> {
        match world.body_in_slot(body).and_then(|(_, b)| b.cluster()) {
            Some(cluster) => self.cluster_changed(world, cluster, Some(body), time),
            None => Ok(()),
        }
    }

    /// The bodies of a cluster, except one, are on new pieces since `time` (s).
    pub(super) fn cluster_changed(
        &mut self,
        world: &World,
        cluster: u32,
        except: Option<u32>,
        time: f64,
    ) -> Result<(), StepError> {
        for member in world.cluster_members(cluster) {
            if Some(member.index()) != except {
                self.motion_changed(world, member.index(), None, time)?;
            }
        }
        if let Some(&event) = self.clusters.get(cluster as usize) {
            self.queue.reschedule_ranked(event, world.cluster_end(cluster))?;
        }
        Ok(())
    }

    /// Schedules the ends of all pieces anew: clusters are numbered afresh when forces change.
    pub(super) fn sync_clusters(&mut self, world: &World) -> Result<(), StepError> {
        while self.clusters.len() > world.cluster_count() as usize {
            if let Some(event) = self.clusters.pop() {
                self.queue.cancel(event)?;
            }
        }
        for cluster in 0..world.cluster_count() {
            let end = world.cluster_end(cluster);
            match self.clusters.get(cluster as usize) {
                Some(&event) => self.queue.reschedule_ranked(event, end)?,
                None => {
                    let rank = FIRST_RANK + u64::from(cluster);
                    let event = self.queue.schedule_ranked(end, rank, Item::Pieces(cluster))?;
                    self.clusters.push(event);
                }
            }
        }
        Ok(())
    }
}
