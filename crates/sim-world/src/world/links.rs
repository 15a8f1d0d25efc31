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
use rigid_impulse::BodyState;
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    spatial::Force,
};
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
    /// Joints that break under a blow.
    brittle: Vec<Brittle>,
}

/// A joint that breaks under a blow: its rows among those that hold and among limits, and the body that it pushes.
#[derive(Debug, Clone, Copy)]
struct Brittle {
    joint: JointId,
    most: f64,
    rows: [[u32; 2]; 2],
    body: u32,
}

impl RowScratch {
    /// Forgets the joints of the last impact.
    pub fn clear(&mut self) {
        self.brittle.clear();
    }

    /// Calls `act` with each joint that an impact breaks, and the impulse on it, N·s.
    pub fn broken_by(&self, joints: &ImpactJoints, impulses: [&[f64]; 2], mut act: impl FnMut(JointId, f64)) {
        for brittle in &self.brittle {
            let mut sum = DVec3::ZERO;
            for (list, (rows, impulses)) in
                [&joints.held.rows, &joints.limits].into_iter().zip(impulses).enumerate()
            {
                for row in brittle.rows[list][0]..brittle.rows[list][1] {
                    let p = impulses.get(row as usize).copied().unwrap_or(0.0);
                    let own = rows.of(row as usize).iter().filter(|s| s.body == brittle.body);
                    sum += own.map(|s| s.force * p).sum::<DVec3>();
                }
            }
            if sum.length() > brittle.most {
                act(brittle.joint, sum.length());
            }
        }
    }
}

impl World {
    /// Finds out which bodies are integrated together.
    pub(crate) fn find_clusters(&mut self) {
        let joints = self.jointed.then_some(&self.joints);
        self.clusters = cluster::find(&mut self.bodies, &self.forces, joints);
        self.clusters_found += 1;
        self.regroup = false;
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
            if let Ok(state) = body.at(time) {
                body.piece = Piece::ballistic(time, &body.model, state, gravity + body.pull);
            }
        }
    }

    /// Makes a change of joints of some bodies; their motions begin anew.
    pub(crate) fn with_links<T>(&mut self, bodies: &[BodyId], change: impl FnOnce(&mut Self) -> T) -> T {
        if self.jointed {
            bodies.iter().for_each(|id| self.end_motion(*id));
            self.regroup = true;
        }
        change(self)
    }

    /// True if bodies of a cluster that joints hold are not integrated together yet.
    #[must_use]
    pub fn is_cut(&self, cluster: u32) -> bool {
        let flies = |id: &BodyId| {
            self.get(*id)
                .is_some_and(|b| b.rest() == Rest::Awake && !matches!(b.piece.law(), Law::Integrated(_)))
        };
        self.is_linked(cluster as usize) && self.cluster_members(cluster).iter().any(flies)
    }

    /// Adds the rows of the joints of a cluster at `time` (s) to those that answer an impact: what is held, and limits that are reached.
    /// `place` gives the number and the state of a body that takes part; others stand firm.
    pub fn link_rows(
        &self,
        cluster: u32,
        time: f64,
        place: &dyn Fn(BodyId) -> Option<(u32, BodyState)>,
        scratch: &mut RowScratch,
        out: &mut ImpactJoints,
    ) {
        let Some(cluster) = self.clusters.get(cluster as usize) else { return };
        for &slot in &cluster.joints {
            let Some((id, joint)) = self.joint_in_slot(slot) else { continue };
            let RowScratch { rows, memory, poses, inverses, numbers, brittle } = scratch;
            let first = [out.held.len() as u32, out.limits.len() as u32];
            rows.clear();
            poses.clear();
            inverses.clear();
            numbers.clear();
            for body in joint.bodies() {
                let known = place(*body);
                let body = self.get(*body);
                let state = known.map(|(_, state)| state).or_else(|| body?.at(time).ok());
                let pose = state.map_or(Pose::IDENTITY, |s| *s.pose());
                poses.push(pose);
                let still = BodyInverse { mass: 0.0, inertia: DMat3::ZERO };
                inverses.push(body.map_or(still, |body| BodyInverse {
                    mass: body.model().inverse_mass(),
                    inertia: body.model().inverse_inertia(pose.rotation),
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
            let most = joint.breaking().impulse;
            let pushed = numbers.iter().rev().find(|k| **k != u32::MAX);
            if let (true, Some(&body)) = (most < f64::INFINITY, pushed) {
                let last = [out.held.len() as u32, out.limits.len() as u32];
                let rows = [[first[0], last[0]], [first[1], last[1]]];
                brittle.push(Brittle { joint: id, most, rows, body });
            }
        }
    }
}

impl StepperAccess<'_> {
    /// Says whether joints make clusters: bodies that they hold are then integrated together, as those that springs connect are.
    ///
    /// # Errors
    /// A motion that is not finite, or a joint whose bodies are not where it holds them.
    pub fn link_joints(&mut self, jointed: bool) -> Result<(), WorldError> {
        if self.world.jointed == jointed {
            return Ok(());
        }
        for slot in 0..self.world.joints.capacity() as u32 {
            let bodies = self.world.joint_in_slot(slot).map(|(_, joint)| joint.bodies.clone());
            bodies.iter().flatten().for_each(|id| self.world.end_motion(*id));
        }
        self.world.jointed = jointed;
        self.world.regroup |= self.world.joint_count() > 0;
        self.world.renew_motions()
    }

    /// Begins new pieces at `time` (s) for free bodies that got other states, and for those that are integrated with them.
    ///
    /// # Errors
    /// A motion under forces that is not finite, naming the body.
    pub fn relaunch_all(&mut self, states: &[(BodyId, BodyState)], time: f64) -> Result<(), WorldError> {
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
                body.piece = Piece::ballistic(time, &body.model, state, gravity + body.pull);
            }
        }
        for &(id, _) in states {
            if let Some(cluster) = linked(self.world, id).filter(|c| self.world.is_cut(*c)) {
                self.world.launch(cluster, time, None)?;
            }
        }
        Ok(())
    }

    /// Says that a blow breaks a joint, with its impulse, N·s.
    pub fn overload_joint(&mut self, id: JointId, impulse: f64) {
        let load = self.world.joints.get(id).map_or(Force::ZERO, |j: &Joint| j.reaction);
        self.world.overloaded.push((id, load, impulse));
    }

    /// Breaks joints that bear more than they can, at `time` (s): true if any did. Clusters are others then, and those that are cut want to go on.
    pub fn break_overloaded(&mut self, time: f64) -> bool {
        let mut broken = false;
        while let Some((id, load, impulse)) = self.world.overloaded.pop() {
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
            let kind = EventKind::JointBroken { joint: id, force, torque, impulse };
            self.world.list(Event { time, kind });
            broken = true;
        }
        broken
    }
}
