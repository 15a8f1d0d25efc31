//! Bodies that joints hold, integrated together from event to event.

use super::World;
use crate::{
    access::StepperAccess,
    body::Rest,
    error::WorldError,
    events::{Event, EventKind},
    force::cluster,
    joint::Joint,
    piece::{Law, Piece},
};
use constraint_dynamics::{
    held::HeldSide,
    joints::{BodyInverse, JointRows, RowLaw},
    restitution::{Bounce, ImpactJoints},
};
use rigid_impulse::Body as RigidState;
use sim_math::{Pose, glam::DMat3};
use sim_traits::{BodyId, JointId};

/// A limit is reached from here on, m or rad.
const REACHED: f64 = 1e-9;

/// Memory for the rows of a cluster.
#[derive(Debug, Default)]
pub struct RowScratch {
    rows: JointRows,
    memory: Vec<f64>,
    poses: Vec<Pose>,
    inverses: Vec<BodyInverse>,
    numbers: Vec<u32>,
}

impl World {
    /// Finds out which bodies are integrated together.
    pub(crate) fn find_clusters(&mut self) {
        let joints = self.linked.then_some(&self.joints);
        self.clusters = cluster::find(&mut self.bodies, &self.forces, joints);
    }

    /// Books the motion of a cluster up to `time` (s), and lets its bodies fly from there until they are integrated on.
    pub(crate) fn cut_cluster(&mut self, cluster: u32, time: f64) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.book_cluster(cluster as usize, time, &mut scratch);
        self.scratch = scratch;
        let count = self.clusters.get(cluster as usize).map_or(0, |c| c.members.len());
        for k in 0..count {
            let id = self.clusters[cluster as usize].members[k];
            let gravity = self.gravity;
            let Some(body) = self.bodies.get_mut(id) else { continue };
            if !matches!(body.piece.law(), Law::Integrated(_)) {
                continue;
            }
            // One that is not finite stays as it is, and is found there.
            if let Ok(state) = body.piece.at(time) {
                body.piece = Piece::ballistic(time, state, gravity + body.pull);
            }
        }
    }

    /// Makes a change of joints of some bodies; their clusters are found anew.
    pub(crate) fn with_links<T>(&mut self, bodies: &[BodyId], change: impl FnOnce(&mut Self) -> T) -> T {
        if !self.linked {
            return change(self);
        }
        let cut = |world: &mut Self| {
            for id in bodies {
                if let Some(cluster) = world.bodies.get(*id).and_then(|b| b.cluster) {
                    world.cut_cluster(cluster, world.time);
                }
            }
        };
        cut(self);
        let out = change(self);
        self.find_clusters();
        // A cluster may be another one now.
        cut(self);
        out
    }

    /// True if bodies of a cluster that joints hold are not integrated together yet.
    #[must_use]
    pub fn is_cut(&self, cluster: u32) -> bool {
        let flies = |id: &BodyId| {
            self.get(*id).is_some_and(|b| b.rest() == Rest::Awake && !matches!(b.piece.law(), Law::Integrated(_)))
        };
        self.is_linked(cluster as usize) && self.cluster_members(cluster).iter().any(flies)
    }

    /// Adds the rows of the joints of a cluster at `time` (s) to those that answer an impact: what is held, and limits that are reached.
    /// `place` gives the number and the state of a body that takes part; others stand firm.
    pub fn link_rows(
        &self,
        cluster: u32,
        time: f64,
        place: &dyn Fn(BodyId) -> Option<(u32, RigidState)>,
        scratch: &mut RowScratch,
        out: &mut ImpactJoints,
    ) {
        let Some(cluster) = self.clusters.get(cluster as usize) else { return };
        for &slot in &cluster.joints {
            let Some((_, joint)) = self.joint_in_slot(slot) else { continue };
            let RowScratch { rows, memory, poses, inverses, numbers } = scratch;
            rows.clear();
            poses.clear();
            inverses.clear();
            numbers.clear();
            for id in joint.bodies() {
                let known = place(*id);
                let state = known.map(|(_, state)| state).or_else(|| self.get(*id)?.piece().at(time).ok());
                poses.push(state.map_or(Pose::IDENTITY, |s| *s.pose()));
                inverses.push(state.map_or(BodyInverse { mass: 0.0, inertia: DMat3::ZERO }, |s| BodyInverse {
                    mass: s.inverse_mass(),
                    inertia: s.inverse_inertia(),
                }));
                numbers.push(known.map_or(u32::MAX, |(number, _)| number));
            }
            joint.soft_rows_at(poses, inverses, memory, rows);
            for block in &rows.blocks {
                for i in 0..usize::from(block.rows) {
                    let sides = rows.sides_of(block).iter().map(|side| HeldSide {
                        body: numbers.get(side.body as usize).copied().unwrap_or(u32::MAX),
                        moment: side.moments.col(i),
                        force: side.forces.col(i),
                    });
                    match block.laws[i] {
                        RowLaw::Hold => out.held.rows.add(sides),
                        RowLaw::Drive { damping, most, .. }
                            if damping == f64::INFINITY && most == f64::INFINITY =>
                        {
                            out.held.rows.add(sides);
                        }
                        RowLaw::Limit { restitution } if block.position[i] <= REACHED => {
                            out.limit(sides, Bounce { restitution, rest: 0.0 });
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

impl StepperAccess<'_> {
    /// Says whether joints make clusters: bodies that they hold are then integrated together, as those that springs connect are.
    pub fn link_joints(&mut self, linked: bool) {
        if self.world.linked == linked {
            return;
        }
        let time = self.world.time;
        for cluster in 0..self.world.clusters.len() as u32 {
            if self.world.is_linked(cluster as usize) {
                self.world.cut_cluster(cluster, time);
            }
        }
        self.world.linked = linked;
        if self.world.joint_count() > 0 {
            self.world.find_clusters();
        }
    }

    /// Begins new pieces at `time` (s) for free bodies that got other states, and for those that are integrated with them.
    ///
    /// # Errors
    /// A motion under forces that is not finite, naming the body.
    pub fn relaunch_all(&mut self, states: &[(BodyId, RigidState)], time: f64) -> Result<(), WorldError> {
        let linked = |world: &World, id: BodyId| {
            world.get(id).and_then(|b| b.cluster).filter(|c| world.is_linked(*c as usize))
        };
        for &(id, state) in states {
            let Some(cluster) = linked(self.world, id) else {
                self.relaunch(id, time, state)?;
                continue;
            };
            // Once for each cluster: after it nobody is integrated.
            self.world.cut_cluster(cluster, time);
            let gravity = self.world.gravity;
            if let Some(body) = self.world.bodies.get_mut(id) {
                body.piece = Piece::ballistic(time, state, gravity + body.pull);
            }
        }
        for &(id, _) in states {
            if let Some(cluster) = linked(self.world, id).filter(|c| self.world.is_cut(*c)) {
                self.world.launch(cluster, time, None)?;
            }
        }
        Ok(())
    }

    /// Breaks joints that bear more than they can, at `time` (s): true if any did. Clusters are others then, and those that are cut want to go on.
    pub fn break_overloaded(&mut self, time: f64) -> bool {
        let mut broken = false;
        while let Some((id, load)) = self.world.overloaded.pop() {
            let Some(joint) = self.world.joints.get(id).filter(|j: &&Joint| j.is_active()) else { continue };
            let bodies = joint.bodies.clone();
            let cut = |world: &mut World| {
                for id in &bodies {
                    if let Some(cluster) = world.bodies.get(*id).and_then(|b| b.cluster) {
                        world.cut_cluster(cluster, time);
                    }
                }
            };
            cut(self.world);
            if let Some(joint) = self.world.joints.get_mut::<JointId>(id) {
                joint.broken = true;
                joint.impulses.clear();
                joint.reaction = load;
            }
            self.world.find_clusters();
            let (force, torque) = (load.linear.length(), load.moment.length());
            let kind = EventKind::JointBroken { joint: id, force, torque, impulse: 0.0 };
            self.world.list(Event { time, kind });
            broken = true;
        }
        broken
    }
}
