//! Trees of joints in a step of time.
//!
//! | file | concern |
//! |---|---|
//! | `mod` | what a step knows of a tree; velocities of links in the pool |
//! | `kick` | velocities after the forces of a step, and rows of limits, motors and dry friction |
//! | `problem` | islands with trees as one problem |
//! | `motion` | where velocities take a tree in a step |
//! | `books` | what a step did, in the account |
//! | `correct` | overlaps of links opened |
//!
//! A link is a body of the pool, so that detection, contacts and events do not know of trees. Its mass there is that of the link alone and is not used: impulses
//! act on trees in the coordinates of [`articulated_featherstone::Whitened`].

mod books;
pub(super) mod correct;
mod kick;
mod motion;
pub(super) mod problem;

use super::state::StepBodies;
use articulated_featherstone::{Model, State, Whitened, Workspace};
pub(super) use books::book_trees;
pub(super) use kick::{kick, missed_limits};
pub(super) use motion::{launch_trees, pose_ahead};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    integrate::OdeScratch,
    spatial::{Force, Motion},
};
use sim_traits::{Bounds, DynamicsError, TreeId};
use sim_world::{LinkState, Rest, StepError, Tree, World};
use std::sync::Arc;

/// What acts at one velocity of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DofKind {
    /// A lower or upper limit.
    Limit,
    Motor,
    Friction,
}

/// A row at one velocity of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct DofRow {
    pub(super) dof: u32,
    pub(super) kind: DofKind,
    /// −1 for upper limits.
    pub(super) sign: f64,
    pub(super) bounds: Bounds,
    pub(super) bias: f64,
    pub(super) impulse: f64,
}

/// Forces and moments about the world's origin that contacts and joints exert on the links of a tree in a step, N·s and N·m·s.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Exerted {
    pub(super) impulse: DVec3,
    pub(super) moment: DVec3,
}

/// One tree in a step.
#[derive(Debug)]
pub(super) struct TreeStep {
    pub(super) id: TreeId,
    pub(super) slot: u32,
    pub(super) model: Arc<Model>,
    /// Body slots of the links.
    pub(super) slots: Vec<u32>,
    centers: Vec<Pose>,
    /// At the start of the step; its velocities are those after impacts.
    pub(super) start: State,
    world_from_link: Vec<Pose>,
    /// Velocities: after forces, and with impulses.
    pub(super) free: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) whitened: Whitened,
    pub(super) ws: Workspace,
    /// What dampers and springs add to the diagonal of the mass matrix: h c + h² k.
    extra: Vec<f64>,
    tau: Vec<f64>,
    on_links: Vec<Force>,
    /// Mass, and acceleration by gravity and constant forces, by link.
    masses: Vec<f64>,
    pulls: Vec<DVec3>,
    pub(super) x: Vec<f64>,
    pub(super) rows: Vec<DofRow>,
    /// Impulses of the last step by velocity: limit, motor, friction.
    pub(super) impulses: Vec<[f64; 3]>,
    /// Every limit has a row, however far.
    pub(super) all_limits: bool,
    /// An impulse acts on it, or a joint holds it.
    pub(super) pushed: bool,
    /// Its forces are answered at the start of the step: dampers and springs are stiff, or constant forces act on links.
    stiff: bool,
    pub(super) exerted: Exerted,
    /// At the end of the step, and of which velocities and length: known once per solution.
    end: State,
    pub(super) end_links: Vec<LinkState>,
    ahead: Option<f64>,
    ahead_v: Vec<f64>,
    /// Work of actuators and dampers on the way, J.
    way_work: f64,
    y: Vec<f64>,
    scratch: OdeScratch,
}

/// The trees of a step.
#[derive(Debug, Default)]
pub(super) struct StepTrees {
    pub(super) all: Vec<TreeStep>,
    /// By body slot: tree and link, or nothing.
    links: Vec<Option<(u32, u32)>>,
    pub(super) problem: problem::TreeProblem,
}

impl TreeStep {
    fn new(id: TreeId, slot: u32, tree: &Tree) -> Self {
        let model = tree.model().clone();
        let (n, nv) = (model.link_count(), model.v_len());
        Self {
            id,
            slot,
            slots: tree.links().iter().map(|link| link.index()).collect(),
            centers: tree.link_from_centers().to_vec(),
            start: tree.state().clone(),
            world_from_link: vec![Pose::IDENTITY; n],
            free: vec![0.0; nv],
            v: vec![0.0; nv],
            whitened: Whitened::new(&model),
            ws: Workspace::new(&model),
            extra: vec![0.0; nv],
            tau: vec![0.0; nv],
            on_links: vec![Force::ZERO; n],
            masses: vec![0.0; n],
            pulls: vec![DVec3::ZERO; n],
            x: vec![0.0; nv],
            rows: Vec::with_capacity(3 * nv),
            impulses: vec![[0.0; 3]; nv],
            all_limits: false,
            pushed: false,
            stiff: false,
            exerted: Exerted::default(),
            end: tree.state().clone(),
            end_links: Vec::with_capacity(n),
            ahead: None,
            ahead_v: vec![0.0; nv],
            way_work: 0.0,
            y: vec![0.0; model.q_len() + nv + 1],
            scratch: OdeScratch::default(),
            model,
        }
    }

    /// Reads the tree where it is now.
    fn read(&mut self, tree: &Tree, world: &World) -> Result<(), DynamicsError> {
        self.start.q.copy_from_slice(tree.coordinates());
        self.start.v.copy_from_slice(tree.velocities());
        self.start.base = tree.state().base;
        self.free.copy_from_slice(tree.velocities());
        self.v.copy_from_slice(tree.velocities());
        self.impulses.copy_from_slice(tree.impulses());
        self.end_links.clear();
        tree.link_states(&self.start, &mut self.ws, &mut self.end_links)?;
        for (pose, frame) in self.world_from_link.iter_mut().zip(self.ws.world_from_links()) {
            *pose = frame.to_pose();
        }
        for (k, slot) in self.slots.iter().enumerate() {
            let Some((_, body)) = world.body_in_slot(*slot) else { continue };
            self.masses[k] = body.mass();
            self.pulls[k] = world.gravity() + body.pull();
        }
        self.rows.clear();
        (self.all_limits, self.pushed, self.ahead) = (false, false, None);
        self.exerted = Exerted::default();
        Ok(())
    }

    /// True if its forces act at the start of the step, and the rest of it is motion without forces.
    pub(super) fn is_kicked(&self) -> bool {
        self.pushed || self.stiff
    }

    /// Unit wrenches at the origin of a link in its axes, from moments about its centre of mass and forces in world axes.
    pub(super) fn pushes(&self, link: u32, moments: &DMat3, forces: &DMat3) -> [Force; 3] {
        let frame = &self.world_from_link[link as usize];
        let center = self.centers[link as usize].translation;
        [0, 1, 2].map(|k| {
            let force = frame.inverse_transform_vector(forces.col(k));
            Force::new(frame.inverse_transform_vector(moments.col(k)) + center.cross(force), force)
        })
    }

    /// Velocities at the centres of mass of the links for joint velocities `v`, world axes.
    fn link_velocities(
        &mut self,
        v: &[f64],
        mut see: impl FnMut(usize, Motion),
    ) -> Result<(), DynamicsError> {
        let motions = self.whitened.link_velocities(&self.model, v)?;
        for (k, v) in motions.iter().enumerate() {
            let frame = &self.world_from_link[k];
            let linear = v.linear + v.angular.cross(self.centers[k].translation);
            see(k, Motion::new(frame.transform_vector(v.angular), frame.transform_vector(linear)));
        }
        Ok(())
    }
}

impl StepTrees {
    /// Tree and link of a body.
    pub(super) fn link(&self, slot: u32) -> Option<(u32, u32)> {
        self.links.get(slot as usize).copied().flatten()
    }

    /// True if the body in a slot is a link.
    pub(super) fn is_link(&self, slot: u32) -> bool {
        !self.all.is_empty() && self.link(slot).is_some()
    }

    /// True if one of two bodies is a link.
    pub(super) fn has_link(&self, bodies: [u32; 2]) -> bool {
        !self.all.is_empty() && bodies.into_iter().any(|slot| self.link(slot).is_some())
    }
}

/// The error of a tree of the step.
pub(super) fn failed(world: &World, tree: TreeId) -> impl Fn(DynamicsError) -> StepError + use<> {
    let time = world.time();
    move |source| StepError::Tree { tree, time, source }
}

/// Reads the trees of the world that are awake. Links that their joints hold in place do not move by impulses.
pub(super) fn read_trees(bodies: &mut StepBodies, world: &World) -> Result<(), StepError> {
    let StepTrees { all, links, .. } = &mut bodies.trees;
    links.clear();
    if world.tree_count() == 0 {
        all.clear();
        return Ok(());
    }
    links.resize(world.body_slots(), None);
    let mut count = 0;
    for slot in 0..world.tree_slots() as u32 {
        let Some((id, tree)) = world.tree_in_slot(slot) else { continue };
        let frozen = |link| world.get(link).is_none_or(|body| body.rest() != Rest::Awake);
        if tree.links().iter().any(|link| frozen(*link)) {
            continue;
        }
        let known = all.get(count).is_some_and(|t| t.id == id && Arc::ptr_eq(&t.model, tree.model()));
        if !known {
            // Trees of a world keep their order.
            all.truncate(count);
            all.push(TreeStep::new(id, slot, tree));
        }
        let step = &mut all[count];
        step.read(tree, world).map_err(failed(world, id))?;
        for (k, link) in (0..).zip(&step.slots) {
            links[*link as usize] = Some((count as u32, k));
            if step.whitened.path_len(k) == 0 {
                let body = &mut bodies.pool[*link as usize];
                (body.inverse_mass, body.inverse_inertia) = (0.0, DMat3::ZERO);
            }
        }
        count += 1;
    }
    all.truncate(count);
    Ok(())
}

/// True if nothing has frozen a tree.
fn is_awake(step: &TreeStep, world: &World) -> bool {
    let awake = |slot: &u32| world.body_in_slot(*slot).is_some_and(|(_, body)| body.rest() == Rest::Awake);
    step.slots.iter().all(awake)
}

/// Links of trees whose forces act at the start of the step move as bodies that contacts push.
pub(super) fn mark_links(bodies: &mut StepBodies) {
    let StepBodies { trees, body_steps, .. } = bodies;
    for step in &mut trees.all {
        step.pushed |= step.slots.iter().any(|slot| body_steps[*slot as usize].pushed);
        if step.is_kicked() {
            step.slots.iter().for_each(|slot| body_steps[*slot as usize].pushed = true);
        } else {
            step.ahead = None;
        }
    }
}

/// Appends what holds the links of a tree together, as pairs of bodies: the first of them stands for the tree.
pub(super) fn pair_links(trees: &StepTrees, mut pair: impl FnMut([u32; 2], Option<u32>)) {
    for (k, tree) in (0..).zip(&trees.all) {
        let mut tree_of = Some(k);
        let movable = (0..).zip(&tree.slots).filter(|(link, _)| tree.whitened.path_len(*link) > 0);
        let mut last = u32::MAX;
        for (_, slot) in movable {
            pair([*slot, last], tree_of.take());
            last = *slot;
        }
    }
}
