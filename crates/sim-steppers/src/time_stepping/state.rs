//! What a step of time reads and writes, by concern. Functions of this module take the structs that they need, and no others.

use super::{
    detect::Detect,
    flight::BodyStep,
    forces::ForceRows,
    impact::Impacts,
    joined::Joined,
    normals::Normals,
    params::{Scaled, TimeSteppingParams},
    repay::Debts,
    rest::Resting,
    sites::Sites,
    stepper::Stage,
    traction::SiteTraction,
    trees::StepTrees,
};
use crate::parts::Parts;
use constraint_dynamics::{
    Delassus, Islands, PoolBody, PoolContact,
    normals::NormalSweeps,
    pool::{PoolBlock, PoolWorkspace, PreparedPool},
    soften::Softener,
};
use sim_math::glam::DVec3;
use sim_world::{EventKind, StepReport, TimerId};

/// What the user chose: parts and parameters.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) parts: Parts,
    /// As given: lengths are shares of `radius`.
    pub(super) given: TimeSteppingParams,
    /// The same with lengths in metres.
    pub(super) params: Scaled,
    /// Radius of the smallest free body, m.
    pub(super) radius: f64,
    /// How far from the origin bodies were when it was found, m.
    pub(super) farthest: f64,
}

impl Setup {
    pub(super) fn new(parts: Parts, given: TimeSteppingParams) -> Self {
        let (radius, farthest) = (1.0, 0.0);
        let params = given.in_metres(parts.contacts.is_soft(), radius, farthest);
        Self { parts, given, params, radius, farthest }
    }

    /// Lengths in metres, for bodies of which the smallest has this radius and the farthest is so far from the origin, m.
    pub(super) fn set_scale(&mut self, radius: f64, farthest: f64) {
        (self.radius, self.farthest) = (radius, farthest);
        self.params = self.given.in_metres(self.parts.contacts.is_soft(), radius, farthest);
    }
}

/// What detection finds: boxes, pairs, contacts within reach of a step.
#[derive(Debug, Default)]
pub(super) struct Detection {
    pub(super) detect: Detect,
    /// Contacts as rows, for a contact law.
    pub(super) sites: Sites,
    /// What neighbours make of contacts.
    pub(super) neighbours: Normals,
}

/// The bodies of a step, by slot.
#[derive(Debug, Default)]
pub(super) struct StepBodies {
    /// Mass, place and velocity, as solvers want them.
    pub(super) pool: Vec<PoolBody>,
    /// What happens to them in the step.
    pub(super) body_steps: Vec<BodyStep>,
    /// Trees, whose links are among them.
    pub(super) trees: StepTrees,
}

/// The problem of a step, and its solution.
#[derive(Debug, Default)]
pub(super) struct Problem {
    /// Length of the step that it is for, s.
    pub(super) h: f64,
    /// What earlier steps left.
    pub(super) memory: Memory,
    pub(super) joined: Joined,
    /// By site: what surfaces do besides Coulomb friction; empty if none does anything.
    pub(super) tractions: Vec<SiteTraction>,
    /// Forces that are blocks.
    pub(super) force_rows: ForceRows,
    pub(super) impacts: Impacts,
    /// By site: flies to a bounce.
    pub(super) bouncing: Vec<bool>,
    pub(super) islands: Islands,
    /// Sites of the present problem, and the same in the order of islands.
    pub(super) chosen: Vec<u32>,
    pub(super) order: Vec<u32>,
    /// Islands to be solved.
    pub(super) spans: Vec<IslandSpan>,
    /// In the order of islands.
    pub(super) contacts: Vec<PoolContact>,
    pub(super) impulses: Vec<DVec3>,
    pub(super) delassus: Delassus,
    /// An island with joints: W, laws, blocks, impulses.
    pub(super) mixed: Mixed,
    pub(super) pool_workspace: PoolWorkspace,
    pub(super) prepared: PreparedPool,
    pub(super) softener: Softener,
    pub(super) normals: NormalSweeps,
    pub(super) local_starts: Vec<u32>,
    pub(super) local_columns: Vec<u32>,
}

/// What a step leaves for the next.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) resting: Resting,
    pub(super) debts: Debts,
    /// Length of the step whose impulses are remembered, s.
    pub(super) last_step: f64,
}

/// An island of a problem: where its contacts start and end in the order of islands, and its blocks of joints.
#[derive(Debug, Clone, Copy)]
pub(super) struct IslandSpan {
    pub(super) contacts: [u32; 2],
    pub(super) blocks: [u32; 2],
}

/// What an island with joints needs besides.
#[derive(Debug, Default)]
pub(super) struct Mixed {
    /// Blocks of all islands, in their order.
    pub(super) order: Vec<u32>,
    /// Those of the present island, and its problem.
    pub(super) blocks: Vec<PoolBlock>,
    pub(super) delassus: Delassus,
    pub(super) impulses: Vec<DVec3>,
    /// A correction was not solved.
    pub(super) jammed: bool,
}

/// What is told of a run: report, trace, contacts that began or ended.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) report: StepReport,
    /// How many advances there were.
    pub(super) advances: u64,
    /// Contacts that began or ended in the present step.
    pub(super) begun: Vec<EventKind>,
    pub(super) trace: Option<Vec<Stage>>,
    /// Scratch: timers that are due.
    pub(super) due: Vec<(f64, TimerId)>,
}

impl Books {
    pub(super) fn trace(&mut self, stage: Stage) {
        if let Some(trace) = &mut self.trace {
            trace.push(stage);
        }
    }
}
