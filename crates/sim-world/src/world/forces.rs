//! Forces of a world.

use super::{Change, World};
use crate::{
    error::WorldError,
    force::{ForceGenerator, ForceId},
    piece::Piece,
};
use rigid_impulse::BodyError;
use sim_math::glam::DVec3;
use sim_traits::BodyId;

impl World {
    /// Adds a force.
    ///
    /// # Errors
    /// A number that cannot be, an unknown body, one that is not free, or a motion that stops being finite at once.
    pub fn add_force(&mut self, force: ForceGenerator) -> Result<ForceId, WorldError> {
        self.check_force(&force)?;
        let touched: Vec<BodyId> = force.bodies().collect();
        let id = ForceId(self.forces.len() as u32);
        let added = self.change_forces(&touched, true, |forces| forces.push(Some(force)));
        if let Err(error) = added {
            // Without it the bodies moved before, so they do again.
            let _ = self.change_forces(&touched, true, |forces| forces.truncate(id.0 as usize));
            return Err(error);
        }
        Ok(id)
    }

    /// Puts another force in the place of one: set-points of motors, rest lengths, the output of a controller.
    ///
    /// # Errors
    /// There is no such force; as [`World::add_force`]. The force is then what it was.
    pub fn set_force(&mut self, id: ForceId, force: ForceGenerator) -> Result<(), WorldError> {
        self.check_force(&force)?;
        let place = id.0 as usize;
        let Some(old) = self.forces.get(place).and_then(Option::as_ref) else {
            return Err(WorldError::UnknownForce { id: id.0 });
        };
        if *old == force {
            return Ok(());
        }
        let old = old.clone();
        let same = old.is_uniform() == force.is_uniform() && old.bodies().eq(force.bodies());
        let touched: Vec<BodyId> = old.bodies().chain(force.bodies()).collect();
        let set = self.change_forces(&touched, !same, |forces| forces[place] = Some(force));
        if let Err(error) = set {
            let _ = self.change_forces(&touched, !same, |forces| forces[place] = Some(old));
            return Err(error);
        }
        Ok(())
    }

    /// Removes a force; false if it was not there.
    pub fn remove_force(&mut self, id: ForceId) -> bool {
        let place = id.0 as usize;
        let Some(force) = self.forces.get(place).and_then(Option::as_ref) else { return false };
        let touched: Vec<BodyId> = force.bodies().collect();
        // A motion that is not finite without it is found by the stepper, which names the body.
        let _ = self.change_forces(&touched, true, |forces| forces[place] = None);
        true
    }

    /// A force, if it is still there.
    #[must_use]
    pub fn force(&self, id: ForceId) -> Option<&ForceGenerator> {
        self.forces.get(id.0 as usize)?.as_ref()
    }

    /// All forces.
    pub fn forces(&self) -> impl Iterator<Item = (ForceId, &ForceGenerator)> {
        self.forces.iter().enumerate().filter_map(|(k, f)| Some((ForceId(k as u32), f.as_ref()?)))
    }

    fn check_force(&self, force: &ForceGenerator) -> Result<(), WorldError> {
        for id in force.bodies() {
            force.validate().map_err(|source| WorldError::Body { body: id, source })?;
            if !self.body(id)?.is_free() && !force.has_anchors() {
                return Err(WorldError::NotFree { body: id, what: "forces do not move it" });
            }
        }
        Ok(())
    }

    /// Changes the list of forces and the motions of the bodies that are touched by it.
    fn change_forces(
        &mut self,
        touched: &[BodyId],
        regroup: bool,
        change: impl FnOnce(&mut Vec<Option<ForceGenerator>>),
    ) -> Result<(), WorldError> {
        let ids = self.with_clusters(touched);
        self.with_cut(&ids, |world| {
            world.aside(|world| change(&mut world.forces));
            if regroup {
                world.find_clusters();
            }
            world.sum_pulls(&ids);
        })?;
        let infinite =
            ids.iter().find_map(|id| Some((*id, self.get(*id)?.pull)).filter(|(_, a)| !a.is_finite()));
        infinite.map_or(Ok(()), |(body, a)| {
            let source = BodyError::NonFinite { what: "acceleration by constant forces", value: a.length() };
            Err(WorldError::Body { body, source })
        })
    }

    /// Acceleration by constant forces of some bodies, summed afresh, so that adding and removing one leaves no rounding.
    fn sum_pulls(&mut self, ids: &[BodyId]) {
        for &id in ids {
            let total = self.forces.iter().flatten().filter(|f| f.is_uniform()).map(|f| match f {
                ForceGenerator::Constant { body, force, .. } if *body == id => *force,
                _ => DVec3::ZERO,
            });
            let total: DVec3 = total.sum();
            if let Some(body) = self.bodies.get_mut(id) {
                body.pull = total / body.mass();
            }
        }
    }

    /// The free bodies among some, and all that are integrated with them, by slot.
    fn with_clusters(&self, touched: &[BodyId]) -> Vec<BodyId> {
        let mut ids: Vec<BodyId> = Vec::new();
        for &id in touched {
            let Some(body) = self.get(id).filter(|b| b.is_free()) else { continue };
            ids.push(id);
            if let Some(cluster) = body.cluster {
                ids.extend_from_slice(&self.clusters[cluster as usize].members);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Books the motion of some free bodies (whole clusters) up to the world's time, makes a change, and lets them go on from
    /// where they are.
    pub(super) fn with_cut(
        &mut self,
        ids: &[BodyId],
        change: impl FnOnce(&mut Self),
    ) -> Result<(), WorldError> {
        let (time, gravity) = (self.time, self.gravity);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut done: Vec<u32> = Vec::new();
        for &id in ids {
            let Some(cluster) = self.bodies.get(id).and_then(|b| b.cluster) else { continue };
            if !done.contains(&cluster) {
                done.push(cluster);
                self.book_cluster(cluster as usize, time, &mut scratch);
            }
        }
        self.scratch = scratch;
        for &id in ids {
            let Some(body) = self.bodies.get_mut(id) else { continue };
            self.account.flight(body, gravity, time);
            body.piece = Piece::still(body.now);
            body.rest = crate::body::Rest::Awake;
        }
        change(self);
        let mut result = Ok(());
        done.clear();
        for &id in ids {
            let Some(cluster) = self.bodies.get(id).map(|body| body.cluster) else { continue };
            // Those that joints hold go on together when the stepper comes to it.
            let linked = cluster.is_some_and(|c| self.is_linked(c as usize));
            match cluster.filter(|_| !linked) {
                None => {
                    if let Some(body) = self.bodies.get_mut(id) {
                        body.piece = Piece::ballistic(time, &body.model, body.now, self.gravity + body.pull);
                    }
                }
                Some(cluster) => {
                    if !done.contains(&cluster) {
                        done.push(cluster);
                        result = result.and(self.launch(cluster, time, None));
                    }
                }
            }
            self.note(Change::Pushed(id));
        }
        result
    }
}
