//! Builds a [`Model`] from links in any order, and says what is wrong with them.

use crate::{DofParams, Joint, Model, ModelError, model::LinkData};
use sim_math::{
    MathError, Pose, Sym3,
    glam::DVec3,
    spatial::{RigidInertia, SpatialTransform},
};
use sim_traits::FixedMap;

/// Description of one link and of the joint that holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    name: String,
    parent: Option<String>,
    joint: Joint,
    parent_from_joint: Pose,
    frame: Option<Pose>,
    inertia: Result<RigidInertia, MathError>,
    massless: bool,
    dofs: Vec<(usize, DofParams)>,
    all_dofs: Option<DofParams>,
}

impl Link {
    /// A link on the base, without mass so far.
    #[must_use]
    pub fn new(name: impl Into<String>, joint: Joint) -> Self {
        Self {
            name: name.into(),
            parent: None,
            joint,
            parent_from_joint: Pose::default(),
            frame: None,
            inertia: Ok(RigidInertia::ZERO),
            massless: true,
            dofs: Vec::new(),
            all_dofs: None,
        }
    }

    /// Hangs the link on another one.
    #[must_use]
    pub fn on(mut self, parent: impl Into<String>) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// Pose of the joint frame in the frame of the parent (or of the base).
    #[must_use]
    pub fn at(mut self, parent_from_joint: Pose) -> Self {
        self.parent_from_joint = parent_from_joint;
        self
    }

    /// Pose of the link's own frame in the frame that its joint moves, for links described in another frame than their joint's.
    ///
    /// Everything about the link is then given and answered in this frame: inertia, poses of the joints it carries, wrenches,
    /// velocities, Jacobians. Only coordinates and velocities of the joint itself stay those of [`Joint`].
    #[must_use]
    pub fn frame(mut self, moved_from_link: Pose) -> Self {
        self.frame = Some(moved_from_link);
        self
    }

    /// Mass, kg; centre of mass in the link frame, m; inertia tensor about the centre of mass in link axes, kg·m².
    #[must_use]
    pub fn mass(mut self, mass: f64, center_of_mass: DVec3, inertia: Sym3) -> Self {
        self.inertia = RigidInertia::new(mass, center_of_mass, inertia);
        self.massless = false;
        self
    }

    /// Mass and inertia at the origin of the link frame, in its axes.
    #[must_use]
    pub fn inertia(mut self, inertia: RigidInertia) -> Self {
        self.inertia =
            RigidInertia::new(inertia.mass, inertia.center_of_mass(), inertia.inertia()).map(|_| inertia);
        self.massless = false;
        self
    }

    /// Elements at degree of freedom `dof` of the joint.
    #[must_use]
    pub fn dof(mut self, dof: usize, params: DofParams) -> Self {
        self.dofs.push((dof, params));
        self
    }

    /// The same elements at all degrees of freedom of the joint.
    #[must_use]
    pub fn all_dofs(mut self, params: DofParams) -> Self {
        self.all_dofs = Some(params);
        self
    }
}

/// Collects links; [`ModelBuilder::build`] checks and orders them.
#[derive(Debug, Clone, Default)]
pub struct ModelBuilder {
    links: Vec<Link>,
    gravity: DVec3,
}

impl ModelBuilder {
    /// No links, no gravity.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Acceleration of free fall in world axes, m/s².
    #[must_use]
    pub fn gravity(mut self, gravity: DVec3) -> Self {
        self.gravity = gravity;
        self
    }

    /// Adds a link; parents may come later.
    #[must_use]
    pub fn link(mut self, link: Link) -> Self {
        self.links.push(link);
        self
    }

    /// Adds a joint composed of several: `link` hangs on a chain of massless links, one for each joint in
    /// front of its own. The chain starts at `link`'s parent and pose; the supports are called `name/0`, `name/1`, …
    #[must_use]
    pub fn chain(mut self, in_front: &[Joint], mut link: Link) -> Self {
        for (i, joint) in in_front.iter().enumerate() {
            let mut support = Link::new(format!("{}/{i}", link.name), *joint).at(link.parent_from_joint);
            support.parent = link.parent.replace(support.name.clone());
            link.parent_from_joint = Pose::default();
            self.links.push(support);
        }
        self.links.push(link);
        self
    }

    /// Checks everything and numbers the links depth-first, children in the order in which they were given.
    ///
    /// # Errors
    /// [`ModelError`] with the name of the link and the value.
    pub fn build(&self) -> Result<Model, ModelError> {
        if self.links.is_empty() {
            return Err(ModelError::Empty);
        }
        if self.links.len() > (u32::MAX / 8) as usize {
            return Err(ModelError::TooMany { count: self.links.len() });
        }
        check_finite("", "gravity", &self.gravity.to_array())?;
        for link in &self.links {
            check_link(link)?;
        }
        let parents = self.resolve_parents()?;
        let order = depth_first(&parents);
        if order.len() < self.links.len() {
            return Err(self.describe_cycle(&parents, &order));
        }
        let model = self.assemble(&parents, &order);
        check_massless(&model)?;
        Ok(model)
    }

    fn resolve_parents(&self) -> Result<Vec<Option<usize>>, ModelError> {
        let mut index = FixedMap::default();
        for (i, link) in self.links.iter().enumerate() {
            if index.insert(link.name.as_str(), i).is_some() {
                return Err(ModelError::DuplicateName { name: link.name.clone() });
            }
        }
        let resolve =
            |link: &Link| match &link.parent {
                None => Ok(None),
                Some(parent) => index.get(parent.as_str()).copied().map(Some).ok_or_else(|| {
                    ModelError::UnknownParent { link: link.name.clone(), parent: parent.clone() }
                }),
            };
        self.links.iter().map(resolve).collect()
    }

    /// Every link that depth-first search from the base misses leads to a cycle.
    fn describe_cycle(&self, parents: &[Option<usize>], order: &[usize]) -> ModelError {
        let mut reached = vec![false; parents.len()];
        for &i in order {
            reached[i] = true;
        }
        let mut i = reached.iter().position(|r| !r).unwrap_or(0);
        for _ in 0..parents.len() {
            i = parents[i].unwrap_or(i);
        }
        let (start, mut path) = (i, self.links[i].name.clone());
        while let Some(p) = parents[i] {
            path.push_str(" -> ");
            path.push_str(&self.links[p].name);
            i = p;
            if i == start {
                break;
            }
        }
        ModelError::Cycle { link: self.links[start].name.clone(), path }
    }

    fn assemble(&self, parents: &[Option<usize>], order: &[usize]) -> Model {
        let n = order.len();
        let mut place = vec![0; n];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let mut model = Model {
            links: Vec::with_capacity(n),
            names: Vec::with_capacity(n),
            poses: Vec::with_capacity(n),
            subtree_end: (1..=n as u32).collect(),
            dofs: Vec::new(),
            armature: Vec::new(),
            dof_link: Vec::new(),
            q_len: 0,
            gravity: self.gravity,
        };
        for (new, &old) in order.iter().enumerate() {
            let link = &self.links[old];
            let parent_slot = parents[old].map_or(0, |p| place[p] + 1);
            let v = model.dofs.len();
            let count = link.joint.v_len();
            for k in 0..count {
                let mut params = link.all_dofs.unwrap_or_default();
                for (dof, p) in &link.dofs {
                    if *dof == k {
                        params = *p;
                    }
                }
                model.dofs.push(params);
                model.armature.push(params.armature);
                model.dof_link.push(new as u32);
            }
            let normalized =
                Pose::new(link.parent_from_joint.translation, link.parent_from_joint.rotation.normalize());
            model.links.push(LinkData {
                parent_slot,
                q: model.q_len,
                v,
                v_end: v + count,
                joint: link.joint,
                parent_from_joint: SpatialTransform::from_pose(&normalized),
                moved_from_link: link.frame.map(|frame| {
                    SpatialTransform::from_pose(&Pose::new(frame.translation, frame.rotation.normalize()))
                }),
                inertia: link.inertia.unwrap_or(RigidInertia::ZERO),
            });
            model.q_len += link.joint.q_len();
            model.names.push(link.name.clone());
            model.poses.push(normalized);
        }
        for i in (0..n).rev() {
            let slot = model.links[i].parent_slot;
            if slot > 0 {
                model.subtree_end[slot - 1] = model.subtree_end[slot - 1].max(model.subtree_end[i]);
            }
        }
        model
    }
}

/// Pre-order; links on a cycle are missing.
fn depth_first(parents: &[Option<usize>]) -> Vec<usize> {
    let n = parents.len();
    // Children as linked lists, built backwards so that they come out in the given order.
    let (mut first, mut next) = (vec![usize::MAX; n + 1], vec![usize::MAX; n]);
    for i in (0..n).rev() {
        let slot = parents[i].unwrap_or(n);
        next[i] = first[slot];
        first[slot] = i;
    }
    let (mut order, mut stack) = (Vec::with_capacity(n), vec![first[n]]);
    while let Some(i) = stack.pop() {
        if i == usize::MAX {
            continue;
        }
        order.push(i);
        stack.push(next[i]);
        stack.push(first[i]);
    }
    order
}

fn check_finite(link: &str, what: &'static str, values: &[f64]) -> Result<(), ModelError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(ModelError::NonFinite { link: link.to_owned(), what, value }),
        None => Ok(()),
    }
}

fn check_axis(link: &str, what: &'static str, axis: DVec3) -> Result<(), ModelError> {
    check_finite(link, what, &axis.to_array())?;
    let value = axis.length();
    if (value - 1.0).abs() > 1e-9 {
        return Err(ModelError::OutOfRange { link: link.to_owned(), what, value, expected: "length 1" });
    }
    Ok(())
}

fn check_link(link: &Link) -> Result<(), ModelError> {
    let name = link.name.as_str();
    let range =
        |what, value, expected| ModelError::OutOfRange { link: name.to_owned(), what, value, expected };
    match link.joint {
        Joint::Revolute { axis } | Joint::Prismatic { axis } | Joint::Cylindrical { axis } => {
            check_axis(name, "length of the axis", axis)?;
        }
        Joint::Helical { axis, pitch } => {
            check_axis(name, "length of the axis", axis)?;
            check_finite(name, "pitch", &[pitch])?;
        }
        Joint::Universal { first, second } => {
            check_axis(name, "length of the first axis", first)?;
            check_axis(name, "length of the second axis", second)?;
            let sine = first.cross(second).length();
            if sine < 1e-9 {
                return Err(range("sine of the angle between the axes", sine, "not parallel"));
            }
        }
        Joint::Fixed | Joint::Spherical | Joint::Planar | Joint::Free => {}
    }
    check_finite(name, "joint position", &link.parent_from_joint.translation.to_array())?;
    check_finite(name, "joint rotation", &link.parent_from_joint.rotation.to_array())?;
    let length = link.parent_from_joint.rotation.length();
    if (length - 1.0).abs() > 1e-6 {
        return Err(range("length of the joint rotation", length, "length 1"));
    }
    if let Some(frame) = &link.frame {
        check_finite(name, "frame position", &frame.translation.to_array())?;
        check_finite(name, "frame rotation", &frame.rotation.to_array())?;
        let length = frame.rotation.length();
        if (length - 1.0).abs() > 1e-6 {
            return Err(range("length of the frame rotation", length, "length 1"));
        }
    }
    if let Err(source) = link.inertia {
        return Err(ModelError::BadInertia { link: name.to_owned(), source });
    }
    let count = link.joint.v_len();
    if let Some(&(dof, _)) = link.dofs.iter().find(|(dof, _)| *dof >= count) {
        return Err(ModelError::UnknownDof { link: name.to_owned(), dof, count });
    }
    for params in link.dofs.iter().map(|(_, p)| p).chain(link.all_dofs.iter()) {
        check_dof(link, params)?;
    }
    Ok(())
}

fn check_dof(link: &Link, p: &DofParams) -> Result<(), ModelError> {
    let name = link.name.as_str();
    for (what, value) in [
        ("armature", p.armature),
        ("damping", p.damping),
        ("dry friction", p.dry_friction),
        ("stiffness", p.stiffness),
    ] {
        check_finite(name, what, &[value])?;
        if value < 0.0 {
            return Err(ModelError::OutOfRange {
                link: name.to_owned(),
                what,
                value,
                expected: "at least 0",
            });
        }
    }
    check_finite(name, "rest position", &[p.rest])?;
    check_finite(name, "hard spring", &[p.hard_stiffness, p.hard_position])?;
    let out =
        |what, value, expected| Err(ModelError::OutOfRange { link: name.to_owned(), what, value, expected });
    if p.lower.is_nan() || p.upper.is_nan() {
        return Err(ModelError::NonFinite { link: name.to_owned(), what: "limit", value: f64::NAN });
    }
    if p.lower > p.upper {
        return out("lower limit", p.lower, "at most the upper limit");
    }
    if p.max_force.is_nan() || p.max_force < 0.0 {
        return out("largest force", p.max_force, "at least 0");
    }
    let needs_coordinate = p.stiffness != 0.0
        || p.hard_stiffness != 0.0
        || p.lower != f64::NEG_INFINITY
        || p.upper != f64::INFINITY;
    if needs_coordinate && !link.joint.has_plain_coordinates() {
        return out("spring or limit on a quaternion", p.stiffness, "none: compose the joint of hinges");
    }
    Ok(())
}

/// A joint that moves no mass has no acceleration: refuse it here, where its name is known.
fn check_massless(model: &Model) -> Result<(), ModelError> {
    let mut heavy: Vec<bool> = model.links.iter().map(|l| l.inertia.mass > 0.0).collect();
    for i in (0..heavy.len()).rev() {
        let link = &model.links[i];
        let driven = model.armature[link.v..link.v_end].iter().all(|a| *a > 0.0);
        if !heavy[i] && !driven {
            return Err(ModelError::MasslessLeaf { link: model.names[i].clone() });
        }
        if heavy[i] && link.parent_slot > 0 {
            heavy[link.parent_slot - 1] = true;
        }
    }
    Ok(())
}
