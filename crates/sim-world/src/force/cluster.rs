//! Clusters: free bodies whose motions depend on each other through springs, or on a force of their own that has no closed form.

use super::{ForceGenerator, ForceId};
use crate::{body::Body, slots::Slots, world::count};
use sim_traits::BodyId;

/// Bodies that are integrated together, and the forces on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// Free bodies by slot.
    pub(crate) members: Vec<BodyId>,
    /// Indices of all forces on them, constant ones too, in order.
    pub(crate) forces: Vec<u32>,
}

fn root(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        count(1);
        parent[k as usize] = parent[parent[k as usize] as usize];
        k = parent[k as usize];
    }
    k
}

/// The clusters of a world, by the slot of their first member; each body learns which one it is in.
pub(crate) fn find(bodies: &mut Slots<Body>, forces: &Slots<ForceGenerator>) -> Vec<Cluster> {
    let slots = bodies.capacity();
    let mut parent: Vec<u32> = (0..slots as u32).collect();
    let mut stateful = vec![false; slots];
    let free = |bodies: &Slots<Body>, id: BodyId| bodies.get(id).is_some_and(Body::is_free);
    for force in forces.iter::<ForceId>().map(|(_, f)| f).filter(|f| !f.is_uniform()) {
        let mut before: Option<u32> = None;
        for id in force.bodies().filter(|id| free(bodies, *id)) {
            count(1);
            stateful[id.index() as usize] = true;
            let top = root(&mut parent, id.index());
            if let Some(other) = before {
                let other = root(&mut parent, other);
                parent[top.max(other) as usize] = top.min(other);
            }
            before = Some(id.index());
        }
    }
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut number = vec![u32::MAX; slots];
    for slot in 0..slots as u32 {
        count(1);
        let top = root(&mut parent, slot) as usize;
        let Some((id, body)) = bodies.at_mut::<BodyId>(slot) else { continue };
        body.cluster = None;
        if !stateful[slot as usize] {
            continue;
        }
        if number[top] == u32::MAX {
            number[top] = clusters.len() as u32;
            clusters.push(Cluster::default());
        }
        body.cluster = Some(number[top]);
        clusters[number[top] as usize].members.push(id);
    }
    for (id, force) in forces.iter::<ForceId>() {
        count(1);
        let of = force.bodies().find_map(|id| bodies.get(id).and_then(|b| b.cluster));
        if let Some(cluster) = of {
            clusters[cluster as usize].forces.push(id.index());
        }
    }
    clusters
}
