//! What meets what, and with which friction and restitution.

use super::{Change, World};
use crate::{
    body::{Body, Rest, check_surface},
    collider::{Collider, Groups, Surface, Traction, TurningFriction},
    error::WorldError,
    stepper::StepError,
};
use rigid_impulse::SurfacePair;
use sim_math::glam::DVec3;
use sim_traits::{BodyId, ColliderId};

impl World {
    /// Friction and restitution of two colliders together.
    #[must_use]
    pub fn surface_pair(&self, a: &Collider, b: &Collider) -> SurfacePair {
        let table = &self.materials;
        if let (Surface::Named(x), Surface::Named(y)) = (a.surface, b.surface) {
            if let Some(pair) = table.pair(x, y) {
                return pair;
            }
        }
        let numbers = |surface: Surface| match surface {
            Surface::Own { friction, restitution } => (friction, restitution),
            Surface::Named(id) => table.get(id).map_or((0.0, 0.0), |m| (m.friction, m.restitution)),
        };
        let ((f1, e1), (f2, e2)) = (numbers(a.surface), numbers(b.surface));
        SurfacePair { friction: table.friction.apply(f1, f2), restitution: table.restitution.apply(e1, e2) }
    }

    /// Gives a collider another friction and restitution: they hold from the next advance on, in contacts that last too. Sleepers wake: what held them
    /// may not hold them any more. Density and shape are of a body's making: for others, remove it and add another.
    ///
    /// ```
    /// use sim_traits::Sphere;
    /// use sim_world::{Body, Surface, World};
    ///
    /// let mut world = World::new([0.0, 0.0, -9.81])?;
    /// let ball = world.add(Body::free().shape(Sphere::new(0.1)?).friction(0.8))?;
    /// let worn = Surface::Own { friction: 0.3, restitution: 0.0 };
    /// world.set_surface(world[ball].colliders()[0], worn)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no such collider or material; a number that cannot be. Nothing is changed then.
    pub fn set_surface(&mut self, id: ColliderId, surface: Surface) -> Result<(), WorldError> {
        let body = self.collider(id)?.body;
        check_surface(body, surface, &self.materials)?;
        self.colliders.get_mut(id).ok_or(WorldError::UnknownCollider { id })?.surface = surface;
        self.note(Change::Materials);
        Ok(())
    }

    /// Rolling and torsional friction of two colliders together, by the rule of the table.
    #[must_use]
    pub fn turning_friction(&self, a: &Collider, b: &Collider) -> TurningFriction {
        let table = &self.materials;
        let [x, y] = [a, b].map(|c| {
            let material = match c.surface {
                Surface::Named(id) => table.get(id),
                Surface::Own { .. } => None,
            };
            let usual = material.map_or([0.0; 2], |m| [m.rolling_friction, m.torsional_friction]);
            let Traction { rolling_friction, torsional_friction, .. } = c.traction;
            [rolling_friction.unwrap_or(usual[0]), torsional_friction.unwrap_or(usual[1])]
        });
        let [rolling, torsional] = [0, 1].map(|k| table.turning.apply(x[k], y[k]));
        TurningFriction { rolling, torsional }
    }

    /// True if a surface may have rolling or torsional friction, or move along itself. Quick.
    #[inline]
    #[must_use]
    pub fn has_traction(&self) -> bool {
        self.tractions || self.materials.has_turning_friction()
    }

    /// Gives a collider another rolling and torsional friction and another velocity of its surface: they hold from the next advance on. Sleepers wake.
    ///
    /// ```
    /// use sim_traits::Cuboid;
    /// use sim_world::{Body, Traction, World};
    ///
    /// let mut world = World::new([0.0, 0.0, -9.81])?;
    /// let belt = world.add(Body::fixed().shape(Cuboid::new([2.0, 0.5, 0.1].into())?))?;
    /// let moving = Traction { surface_velocity: [1.5, 0.0, 0.0].into(), ..Traction::default() };
    /// world.set_traction(world[belt].colliders()[0], moving)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no such collider; a number that cannot be. Nothing is changed then.
    pub fn set_traction(&mut self, id: ColliderId, traction: Traction) -> Result<(), WorldError> {
        let body = self.collider(id)?.body;
        traction.check().map_err(|source| WorldError::Body { body, source })?;
        self.colliders.get_mut(id).ok_or(WorldError::UnknownCollider { id })?.traction = traction;
        self.tractions |= !traction.is_plain();
        self.note(Change::Materials);
        Ok(())
    }

    /// `Ok` if no surface has rolling or torsional friction, or moves: for steppers that do not know them.
    ///
    /// # Errors
    /// [`StepError::Unsupported`] for the first body with such a surface.
    pub fn refuse_traction(&self, what: &'static str) -> Result<(), StepError> {
        if !self.has_traction() {
            return Ok(());
        }
        for (_, collider) in self.colliders().filter(|(_, collider)| !collider.sensor) {
            let pair = self.turning_friction(collider, collider);
            let plain = pair == TurningFriction::default();
            if !plain || collider.traction.surface_velocity != DVec3::ZERO {
                return Err(StepError::Unsupported { body: collider.body, what });
            }
        }
        Ok(())
    }

    /// True if two colliders can exert impulses on each other: of different bodies, at least one of them free, groups that
    /// meet, and no sensor among them.
    #[must_use]
    pub fn may_collide(&self, a: &Collider, b: &Collider) -> bool {
        let free = |id| self.bodies.get::<BodyId>(id).is_some_and(Body::is_free);
        a.body != b.body
            && !a.sensor
            && !b.sensor
            && a.groups.meets(b.groups)
            && (free(a.body) || free(b.body))
            && !self.ignores(a.body, b.body)
            && !self.is_quarantined(a.body)
            && !self.is_quarantined(b.body)
    }

    fn is_quarantined(&self, id: BodyId) -> bool {
        self.bodies.get::<BodyId>(id).is_some_and(|b| b.rest == Rest::Quarantined)
    }

    /// True if two colliders are to be reported when they overlap: at least one is a sensor, of different bodies that are
    /// not both fixed, with groups that meet.
    #[must_use]
    pub fn may_sense(&self, a: &Collider, b: &Collider) -> bool {
        let fixed = |id| self.bodies.get::<BodyId>(id).is_none_or(Body::is_fixed);
        a.body != b.body
            && (a.sensor || b.sensor)
            && a.groups.meets(b.groups)
            && !(fixed(a.body) && fixed(b.body))
            && !self.ignores(a.body, b.body)
            && !self.is_quarantined(a.body)
            && !self.is_quarantined(b.body)
    }

    /// Lets two bodies pass through each other, or collide again. Bodies that are inside each other when they are to
    /// collide again are an overlap.
    ///
    /// # Errors
    /// There is no such body.
    pub fn ignore(&mut self, a: BodyId, b: BodyId, ignore: bool) -> Result<(), WorldError> {
        self.body(a)?;
        self.body(b)?;
        let pair = sorted(a, b);
        match (self.ignored.binary_search(&pair), ignore) {
            (Err(place), true) => self.ignored.insert(place, pair),
            (Ok(place), false) => {
                self.ignored.remove(place);
            }
            _ => return Ok(()),
        }
        self.note(Change::Filtered(a));
        Ok(())
    }

    /// Says whether bodies that belong together, such as the limbs of a creature, collide with each other; with all others they do as before. Those that
    /// are inside each other when they are to collide again are an overlap.
    ///
    /// ```
    /// use sim_traits::Sphere;
    /// use sim_world::{Body, World};
    ///
    /// let mut world = World::new([0.0, 0.0, -9.81])?;
    /// let ball = || Body::free().shape(Sphere::new(0.1).unwrap());
    /// let limbs = [world.add(ball())?, world.add(ball().at([0.15, 0.0, 0.0]))?];
    /// world.set_self_collision(&limbs, false)?;
    /// assert!(world.ignores(limbs[0], limbs[1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no such body; nothing is changed then.
    pub fn set_self_collision(&mut self, bodies: &[BodyId], collide: bool) -> Result<(), WorldError> {
        bodies.iter().try_for_each(|id| self.body(*id).map(drop))?;
        for (k, &a) in bodies.iter().enumerate() {
            for &b in bodies[..k].iter().filter(|b| **b != a) {
                self.ignore(a, b, !collide)?;
            }
        }
        Ok(())
    }

    /// True if two bodies pass through each other: by [`World::ignore`], because a joint holds them that does not let them collide, or as links of
    /// one tree.
    #[must_use]
    pub fn ignores(&self, a: BodyId, b: BodyId) -> bool {
        let listed = |pairs: &[[BodyId; 2]]| !pairs.is_empty() && pairs.binary_search(&sorted(a, b)).is_ok();
        listed(&self.ignored) || listed(&self.joined) || listed(&self.linked)
    }

    /// Changes groups and mask of a collider.
    ///
    /// # Errors
    /// There is no such collider.
    pub fn set_groups(&mut self, id: ColliderId, groups: Groups) -> Result<(), WorldError> {
        let collider = self.colliders.get_mut(id).ok_or(WorldError::UnknownCollider { id })?;
        collider.groups = groups;
        let body = collider.body;
        self.note(Change::Filtered(body));
        Ok(())
    }
}

pub(super) fn sorted(a: BodyId, b: BodyId) -> [BodyId; 2] {
    if a <= b { [a, b] } else { [b, a] }
}
