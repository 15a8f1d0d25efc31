//! Trees of a world.

use super::{Change, World, filters::sorted};
use crate::{
    access::StepperAccess,
    body::{Body, BodyBuilder},
    collider::Collider,
    error::WorldError,
    piece::Piece,
    stepper::StepError,
    tree::{LinkBuilder, LinkSpec, LinkState, Tree, TreeBuilder, model_of, state_of},
};
use articulated_featherstone::{Joint as TreeJoint, ModelError, State, Whitened, Workspace};
use rigid_impulse::BodyKind;
use sim_math::{
    Pose, Sym3,
    glam::{DMat3, DVec3},
    spatial::{Force, RigidInertia},
};
use sim_traits::{BodyId, DynamicsError, JointId, TreeId, joint::JointMotor};
use std::sync::Arc;

/// A link on its way into the world.
struct NewLink {
    spec: LinkSpec,
    body: Body,
    colliders: Vec<Collider>,
    motors: Vec<Option<JointMotor>>,
    start: Option<(Vec<f64>, Vec<f64>)>,
}

impl World {
    /// Adds a tree at the world's time: its links become bodies.
    ///
    /// # Errors
    /// Naming the id that the tree would have got, and the link: what [`articulated_featherstone::ModelBuilder`] refuses (no links, an unknown parent, a cycle,
    /// an axis without direction, limits that are reversed), a body that cannot be, coordinates or motors that the joint does not have.
    pub fn add_tree(&mut self, tree: TreeBuilder) -> Result<TreeId, WorldError> {
        let id: TreeId = self.trees.next_id();
        let TreeBuilder { name, base, links, self_collision } = tree;
        let model_error = |source: ModelError| WorldError::TreeModel { tree: id, source };
        check_base(id, &base)?;
        let mut new: Vec<NewLink> =
            links.into_iter().map(|link| self.new_link(id, link)).collect::<Result<_, _>>()?;
        let specs: Vec<LinkSpec> = new.iter().map(|link| link.spec.clone()).collect();
        let model = model_of(&specs).map_err(model_error)?;
        let mut state = state_of(Vec::new(), Vec::new(), base);
        (state.q, state.v) = {
            let neutral = State::new(&model);
            (neutral.q, neutral.v)
        };
        let mut motors = vec![None; model.v_len()];
        let place = |link: &NewLink| model.link_index(&link.spec.name).unwrap_or(0);
        for link in &new {
            let (at, name) = (place(link), &link.spec.name);
            motors[model.v_range(at)].clone_from_slice(&link.motors);
            if let Some((q, v)) = &link.start {
                set_numbers(id, name, "coordinates", q, &mut state.q[model.q_range(at)])?;
                set_numbers(id, name, "velocities", v, &mut state.v[model.v_range(at)])?;
            }
        }
        new.sort_by_key(place);
        let mut tree = Tree {
            name,
            link_from_center: Arc::new(new.iter().map(|link| link.spec.link_from_center).collect()),
            specs: Arc::new(specs),
            forces: vec![0.0; model.v_len()],
            impulses: vec![[0.0; 3]; model.v_len()],
            model: Arc::new(model),
            state,
            links: Vec::with_capacity(new.len()),
            motors,
            self_collision,
        };
        let states = states_of(id, &tree, &tree.state)?;
        check_invertible(id, &tree)?;
        for ((k, link), (pose, velocity)) in (0..).zip(new).zip(states) {
            let NewLink { mut body, colliders, .. } = link;
            let named = |source| WorldError::TreeLink {
                tree: id,
                link: tree.model.name(k).to_owned(),
                source: Box::new(WorldError::Body { body: self.bodies.next_id(), source }),
            };
            body.now.set_pose(pose).map_err(named)?;
            body.now.velocity = velocity;
            body.piece = Piece::ballistic(self.time, &body.model, body.now, self.gravity);
            body.link = Some((id, k));
            let owner: BodyId = self.bodies.next_id();
            let colliders = colliders.into_iter().map(|c| Collider { body: owner, ..c });
            body.colliders = colliders.map(|c| self.colliders.insert(c)).collect();
            let owner = self.bodies.insert(body);
            tree.links.push(owner);
            self.note(Change::Added(owner));
        }
        let id = self.trees.insert(tree);
        self.find_linked();
        Ok(id)
    }

    /// A link, with the body that it is to be.
    fn new_link(&self, tree: TreeId, link: LinkBuilder) -> Result<NewLink, WorldError> {
        let LinkBuilder { name, parent, joint, parent_from_joint, body, dofs, motors, start } = link;
        let at = |source| WorldError::TreeLink { tree, link: name.clone(), source: Box::new(source) };
        let id: BodyId = self.bodies.next_id();
        let body = body.ok_or(WorldError::Massless { body: id }).map_err(at)?;
        let placed = BodyBuilder::pose(body, Pose::IDENTITY);
        let (body, colliders) = placed.build(id, self.time, self.gravity, &self.materials).map_err(at)?;
        let BodyKind::Free(mass) = *body.kind() else {
            return Err(at(WorldError::NotFree { body: id, what: "links have mass" }));
        };
        // Built at the origin: the pose of the centre of mass is that in the frame of the link.
        let link_from_center = *body.now.pose();
        let axes = DMat3::from_quat(link_from_center.rotation);
        let about_center = Sym3::from_diagonal(mass.moments()).congruence(axes);
        let inertia = RigidInertia::from_com(mass.mass(), link_from_center.translation, about_center);
        if let Some(k) = dofs.iter().position(|d| d.hard_stiffness != 0.0) {
            let (what, value) = ("hard spring, which worlds do not have", dofs[k].hard_stiffness);
            return Err(WorldError::TreeNumber { tree, link: name, what, index: k, value });
        }
        for (k, motor) in motors.iter().enumerate() {
            check_motor(tree, &name, k, joint, motor.as_ref())?;
        }
        let spec = LinkSpec { name, parent, joint, parent_from_joint, dofs, inertia, link_from_center };
        Ok(NewLink { spec, body, colliders, motors, start })
    }

    /// Removes a tree with its links, and the forces and joints on them.
    ///
    /// # Errors
    /// There is no such tree.
    pub fn remove_tree(&mut self, id: TreeId) -> Result<(), WorldError> {
        let tree: Tree = self.trees.remove(id).ok_or(WorldError::UnknownTree { id })?;
        for link in tree.links {
            if let Some(body) = self.bodies.get_mut(link) {
                body.link = None;
            }
            self.remove(link)?;
        }
        self.find_linked();
        Ok(())
    }

    /// A tree.
    ///
    /// # Errors
    /// There is no such tree.
    pub fn tree(&self, id: TreeId) -> Result<&Tree, WorldError> {
        self.trees.get(id).ok_or(WorldError::UnknownTree { id })
    }

    /// A tree, if it is still there.
    #[must_use]
    pub fn get_tree(&self, id: TreeId) -> Option<&Tree> {
        self.trees.get(id)
    }

    /// All trees in the order of their slots.
    pub fn trees(&self) -> impl Iterator<Item = (TreeId, &Tree)> {
        self.trees.iter()
    }

    /// Number of trees.
    #[must_use]
    pub fn tree_count(&self) -> usize {
        self.trees.len()
    }

    /// Sets the forces of actuators, N·m or N, by velocity: they act until they are set again, cut to the greatest force of their joint.
    ///
    /// # Errors
    /// There is no such tree; another number of forces than velocities; a number that is not finite.
    pub fn set_tree_forces(&mut self, id: TreeId, forces: &[f64]) -> Result<(), WorldError> {
        let tree = self.trees.get_mut(id).ok_or(WorldError::UnknownTree { id })?;
        let mut cut = tree.forces.clone();
        set_numbers(id, "", "forces", forces, &mut cut)?;
        for (force, dof) in cut.iter_mut().zip(tree.model.dofs()) {
            *force = force.clamp(-dof.max_force, dof.max_force);
        }
        tree.forces = cut;
        Ok(())
    }

    /// Sets or takes away the motor of a velocity.
    ///
    /// # Errors
    /// There is no such tree or velocity; a number that cannot be.
    pub fn set_tree_motor(
        &mut self,
        id: TreeId,
        dof: usize,
        motor: Option<JointMotor>,
    ) -> Result<(), WorldError> {
        let tree = self.trees.get_mut(id).ok_or(WorldError::UnknownTree { id })?;
        let count = tree.model.v_len();
        let Some(link) = tree.model.dof_link(dof as u32).filter(|_| dof < count) else {
            let source = DynamicsError::UnknownDof { dof: dof as u32, count };
            return Err(WorldError::Tree { tree: id, source });
        };
        if let Some(joint) = tree.model.joint(link) {
            check_motor(id, tree.model.name(link), dof, joint, motor.as_ref())?;
        }
        tree.motors[dof] = motor;
        Ok(())
    }

    /// Puts a tree elsewhere at once: coordinates and velocities of all its joints.
    ///
    /// # Errors
    /// There is no such tree; another number of coordinates or velocities than it has; a number that is not finite, a quaternion of length zero.
    pub fn set_tree_state(&mut self, id: TreeId, q: &[f64], v: &[f64]) -> Result<(), WorldError> {
        let tree = self.tree(id)?;
        let mut state = tree.state.clone();
        set_numbers(id, "", "coordinates", q, &mut state.q)?;
        set_numbers(id, "", "velocities", v, &mut state.v)?;
        let states = states_of(id, tree, &state)?;
        let links = tree.links.clone();
        let stretched = if self.account.is_open() { self.held_energy() } else { 0.0 };
        let rotors = self.tree(id)?.rotor_energy();
        if let Some(tree) = self.trees.get_mut(id) {
            tree.state = state;
        }
        let rotors = self.tree(id)?.rotor_energy() - rotors;
        self.account.pushed_rotors(rotors);
        for (link, (pose, velocity)) in links.iter().zip(states) {
            let mut state = self.body(*link)?.now;
            state.set_pose(pose).map_err(|source| WorldError::Body { body: *link, source })?;
            state.velocity = velocity;
            self.restart(*link, state)?;
        }
        if self.account.is_open() {
            self.account.springs += self.held_energy() - stretched;
        }
        for link in links {
            self.note(Change::Moved(link));
        }
        Ok(())
    }

    /// Applies an impulse (N·s, world axes) at a world point of a link: the whole tree answers.
    pub(super) fn push_link(
        &mut self,
        id: TreeId,
        link: u32,
        point: DVec3,
        impulse: DVec3,
    ) -> Result<(), WorldError> {
        let tree = self.tree(id)?;
        let named = |source| WorldError::Tree { tree: id, source };
        let (mut ws, mut whitened) = (Workspace::new(&tree.model), Whitened::new(&tree.model));
        let mut state = tree.state.clone();
        let mut frames = Vec::new();
        tree.link_states(&state, &mut ws, &mut frames).map_err(named)?;
        let world_from_link = ws.world_from_links()[link as usize].to_pose();
        let force = world_from_link.inverse_transform_vector(impulse);
        let arm = world_from_link.inverse_transform_point(point);
        let mut on_links = vec![Force::ZERO; tree.links.len()];
        on_links[link as usize] = Force::at_offset(arm, force);
        whitened.factor(&tree.model, &state.q, &[], &mut ws).map_err(named)?;
        let n = tree.model.v_len();
        let mut x = vec![0.0; n];
        whitened.forces(&tree.model, &vec![0.0; n], &on_links, &mut x).map_err(named)?;
        whitened.add_velocity(&tree.model, &x, &mut state.v).map_err(named)?;
        let (q, v) = (state.q, state.v);
        self.set_tree_state(id, &q, &v)
    }

    /// Finds out which links of one tree pass through each other.
    pub(crate) fn find_linked(&mut self) {
        let mut linked = Vec::new();
        for (_, tree) in self.trees.iter::<TreeId>() {
            for k in 0..tree.links.len() {
                let below =
                    (0..k).filter(|j| !tree.self_collision || tree.model.parent(k as u32) == Some(*j as u32));
                linked.extend(below.map(|j| sorted(tree.links[k], tree.links[j])));
            }
        }
        linked.sort_unstable();
        self.linked = linked;
    }

    // For steppers.

    /// Tree in a slot, with its id.
    #[must_use]
    pub fn tree_in_slot(&self, slot: u32) -> Option<(TreeId, &Tree)> {
        self.trees.at(slot)
    }

    /// Number of slots of trees, empty ones included.
    #[must_use]
    pub fn tree_slots(&self) -> usize {
        self.trees.capacity()
    }

    /// `Ok` for worlds without trees.
    ///
    /// # Errors
    /// [`StepError::UnsupportedTree`] for the first.
    pub fn refuse_trees(&self, stepper: &'static str) -> Result<(), StepError> {
        match self.trees().next() {
            Some((tree, found)) => {
                Err(StepError::UnsupportedTree { tree, name: found.name.clone(), stepper })
            }
            None => Ok(()),
        }
    }

    /// Joints that hold on to a link, in the order of their slots.
    #[must_use]
    pub fn joints_of_tree(&self, id: TreeId) -> Vec<JointId> {
        let of_tree =
            |body: &BodyId| self.get(*body).and_then(Body::tree).is_some_and(|(tree, _)| tree == id);
        self.joints().filter(|(_, joint)| joint.bodies().iter().any(of_tree)).map(|(id, _)| id).collect()
    }
}

impl StepperAccess<'_> {
    /// Puts a tree where a step of time has brought it at `time` (s): coordinates and velocities, and its links as [`StepperAccess::arrive`] does. `impulses` are those of
    /// limits, motors and dry friction.
    ///
    /// # Errors
    /// A pose that cannot be, naming the body.
    pub fn arrive_tree(
        &mut self,
        slot: u32,
        time: f64,
        state: &State,
        links: &[LinkState],
        impulses: &[[f64; 3]],
    ) -> Result<(), WorldError> {
        let Some((_, tree)) = self.world.trees.at_mut::<TreeId>(slot) else { return Ok(()) };
        tree.state.q.copy_from_slice(&state.q);
        tree.state.v.copy_from_slice(&state.v);
        tree.impulses.copy_from_slice(impulses);
        for (k, (pose, velocity)) in links.iter().enumerate() {
            let Some(link) = self.world.trees.at::<TreeId>(slot).map(|(_, tree)| tree.links[k]) else {
                break;
            };
            self.arrive(link.index(), time, *pose, *velocity)?;
        }
        Ok(())
    }

    /// Puts a tree elsewhere at the world's time, to open an overlap, with its velocities: as [`StepperAccess::put_right`], whose answer it gives for all links.
    pub fn put_tree_right(&mut self, slot: u32, state: &State, links: &[LinkState], user: bool) -> f64 {
        let Some((_, tree)) = self.world.trees.at_mut::<TreeId>(slot) else { return 0.0 };
        let before = tree.spring_energy();
        tree.state.q.copy_from_slice(&state.q);
        let springs = tree.spring_energy() - before;
        self.world.account.stretched(springs, user);
        let mut lifted = springs;
        for (k, (pose, velocity)) in links.iter().enumerate() {
            let Some(link) = self.world.trees.at::<TreeId>(slot).map(|(_, tree)| tree.links[k]) else {
                break;
            };
            let Some(mut state) = self.get(link).map(|body| body.now) else { continue };
            if state.set_pose(*pose).is_ok() {
                state.velocity = *velocity;
                lifted += self.put_right(link, state, user);
            }
        }
        lifted
    }
}

/// Where the links are.
fn states_of(id: TreeId, tree: &Tree, state: &State) -> Result<Vec<LinkState>, WorldError> {
    let mut out = Vec::new();
    let mut ws = Workspace::new(&tree.model);
    tree.link_states(state, &mut ws, &mut out).map_err(|source| WorldError::Tree { tree: id, source })?;
    Ok(out)
}

/// Every joint has inertia to move.
fn check_invertible(id: TreeId, tree: &Tree) -> Result<(), WorldError> {
    let (mut ws, mut whitened) = (Workspace::new(&tree.model), Whitened::new(&tree.model));
    whitened.factor(&tree.model, &tree.state.q, &[], &mut ws).map_err(|source| match source {
        DynamicsError::Singular { part, pivot } => WorldError::TreeNumber {
            tree: id,
            link: tree.model.name(part.0).to_owned(),
            what: "inertia that its joint moves",
            index: part.index(),
            value: pivot,
        },
        source => WorldError::Tree { tree: id, source },
    })
}

fn check_base(tree: TreeId, base: &Pose) -> Result<(), WorldError> {
    let length = base.rotation.length();
    let numbers = base.translation.to_array().into_iter().chain([length]);
    match numbers.into_iter().find(|x| !x.is_finite()).or(((length - 1.0).abs() > 1e-6).then_some(length)) {
        Some(value) => Err(WorldError::TreeNumber {
            tree,
            link: String::new(),
            what: "pose of the base",
            index: 0,
            value,
        }),
        None => Ok(()),
    }
}

fn set_numbers(
    tree: TreeId,
    link: &str,
    what: &'static str,
    from: &[f64],
    to: &mut [f64],
) -> Result<(), WorldError> {
    if from.len() != to.len() {
        let source = DynamicsError::WrongLength { what, expected: to.len(), got: from.len() };
        return Err(WorldError::Tree { tree, source });
    }
    if let Some(index) = from.iter().position(|x| !x.is_finite()) {
        let value = from[index];
        return Err(WorldError::TreeNumber { tree, link: link.to_owned(), what, index, value });
    }
    to.copy_from_slice(from);
    Ok(())
}

fn check_motor(
    tree: TreeId,
    link: &str,
    index: usize,
    joint: TreeJoint,
    motor: Option<&JointMotor>,
) -> Result<(), WorldError> {
    let bad = |what, value| Err(WorldError::TreeNumber { tree, link: link.to_owned(), what, index, value });
    match motor {
        None => Ok(()),
        Some(&JointMotor::Velocity { speed, most }) => {
            if !speed.is_finite() {
                return bad("speed of a motor", speed);
            }
            if most.is_nan() || most < 0.0 { bad("greatest force of a motor", most) } else { Ok(()) }
        }
        Some(&JointMotor::Position { target, speed, stiffness, damping, most }) => {
            if matches!(joint, TreeJoint::Spherical | TreeJoint::Free) && stiffness != 0.0 {
                return bad("stiffness of a motor on a quaternion", stiffness);
            }
            for (what, value) in [("target of a motor", target), ("speed of a motor", speed)] {
                if !value.is_finite() {
                    return bad(what, value);
                }
            }
            for (what, value) in [("stiffness of a motor", stiffness), ("damping of a motor", damping)] {
                if !(value >= 0.0 && value.is_finite()) {
                    return bad(what, value);
                }
            }
            if most.is_nan() || most < 0.0 { bad("greatest force of a motor", most) } else { Ok(()) }
        }
    }
}

/// A link is moved by its tree alone.
pub(super) fn refuse_link(id: BodyId, body: &Body, what: &'static str) -> Result<(), WorldError> {
    match body.link {
        Some((tree, _)) => Err(WorldError::Linked { body: id, tree, what }),
        None => Ok(()),
    }
}
