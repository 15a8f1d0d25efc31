//! Trees as plain data, and the checks on the way back.

use super::{
    SnapshotError,
    data::{SlotData, damaged},
};
use crate::{
    slots::Slots,
    tree::{LinkSpec, Tree, model_of, state_of},
    world::World,
};
use rigid_impulse::Body as RigidState;
use serde::{Deserialize, Serialize};
use sim_math::Pose;
use sim_traits::{BodyId, TreeId, joint::JointMotor};
use std::sync::Arc;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TreeData {
    name: String,
    specs: Vec<LinkSpec>,
    base: Pose,
    q: Vec<f64>,
    v: Vec<f64>,
    links: Vec<BodyId>,
    forces: Vec<f64>,
    motors: Vec<Option<JointMotor>>,
    impulses: Vec<[f64; 3]>,
    self_collision: bool,
}

impl TreeData {
    pub(super) fn of(tree: &Tree) -> Self {
        Self {
            name: tree.name.clone(),
            specs: tree.specs.to_vec(),
            base: *tree.base(),
            q: tree.state.q.clone(),
            v: tree.state.v.clone(),
            links: tree.links.clone(),
            forces: tree.forces.clone(),
            motors: tree.motors.clone(),
            impulses: tree.impulses.clone(),
            self_collision: tree.self_collision,
        }
    }

    fn tree(self) -> Result<Tree, SnapshotError> {
        let model = model_of(&self.specs).map_err(|_| damaged("links that make no tree"))?;
        let (n, nv) = (model.link_count(), model.v_len());
        if self.links.len() != n
            || self.forces.len() != nv
            || self.motors.len() != nv
            || self.impulses.len() != nv
        {
            return Err(damaged("a tree with numbers of another"));
        }
        let numbers = self.forces.iter().chain(self.impulses.iter().flatten());
        if !numbers.copied().all(f64::is_finite) {
            return Err(damaged("a force of a tree is not finite"));
        }
        RigidState::fixed(self.base).map_err(|_| damaged("a tree whose base is nowhere"))?;
        let mut centers = vec![Pose::IDENTITY; n];
        for spec in &self.specs {
            RigidState::fixed(spec.link_from_center).map_err(|_| damaged("a link whose mass is nowhere"))?;
            if let Some(k) = model.link_index(&spec.name) {
                centers[k as usize] = spec.link_from_center;
            }
        }
        let state = state_of(self.q, self.v, self.base);
        state.check(&model).map_err(|_| damaged("coordinates that no tree has"))?;
        Ok(Tree {
            name: self.name,
            specs: Arc::new(self.specs),
            model: Arc::new(model),
            state,
            links: self.links,
            link_from_center: Arc::new(centers),
            forces: self.forces,
            motors: self.motors,
            impulses: self.impulses,
            self_collision: self.self_collision,
        })
    }
}

/// Puts trees into a world that has its bodies already.
pub(super) fn restore_trees(
    world: &mut World,
    data: Vec<SlotData<TreeData>>,
    free: Vec<u32>,
) -> Result<(), SnapshotError> {
    let mut trees = Vec::with_capacity(data.len().min(1 << 16));
    for (slot, (generation, data)) in (0..).zip(data) {
        let tree = data.map(TreeData::tree).transpose()?;
        for (k, link) in (0..).zip(tree.iter().flat_map(|tree| &tree.links)) {
            let body = world.bodies.get_mut(*link).filter(|body| body.is_free() && body.link.is_none());
            let body = body.ok_or(damaged("a tree with links that are not there"))?;
            body.link = Some((TreeId::new(slot, generation), k));
        }
        trees.push((generation, tree));
    }
    world.trees = Slots::from_raw(trees, free).ok_or(damaged("slots of trees"))?;
    world.find_linked();
    Ok(())
}
