//! Bounces, at the time at which they happen.
//!
//! # Reference
//!
//! Newton's restitution, limited by energy ([`constraint_dynamics::restitution`]); follow-up impacts after Arnold (1997), section 2.5.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | gap of a contact | m |
//! | u | velocity along the normal | m/s |
//! | a | acceleration along the normal without contact | m/s² |
//!
//! # Formula
//!
//! ```text
//! step cut at the first t with g + u t + ½ a t² = 0, for contacts that bounce
//! while a touching contact that bounces approaches: impact of all touching contacts that approach
//! rest speed = max(min(g h/8, √(g r/50)), r/(10⁴ h)): slower approaches do not bounce
//! after the last cut: contacts that would be hit in what is left of the step are answered as if they touched
//! ```
//!
//! r is the radius of the smaller body. An impact before its time keeps all energy: neither heights nor speeds change by it.
//!
//! # Cost
//!
//! One small contact problem per island and round; a cut step costs as much as a whole one.
//!
//! # Numerics
//!
//! Between impacts bodies are on exact parabolas, so that a bounce is as exact as its time: to rounding for balls, to the square of the turn within a
//! step for others. An impact takes no time and no gravity.
//!
//! # Failure
//!
//! That of the contact law. More than 64 rounds leave the rest to the contact problem, which does not bounce.
//!
//! # Tested by
//!
//! `tests/time_bouncing.rs`

use super::{sites::Site, stepper::TimeStepping};
use constraint_dynamics::{
    PoolContact, pool,
    restitution::{ImpactReport, impact},
};
use rigid_impulse::CollisionKind;
use sim_math::glam::DVec3;
use sim_world::{StepError, World};

const MAX_ROUNDS: u32 = 64;

impl TimeStepping {
    /// Velocity of a contact along its normal, m/s.
    pub(super) fn normal_velocity(&self, site: &Site) -> f64 {
        let at = |k: u32| self.pool[k as usize].velocity_at(site.point);
        site.frame.z_axis.dot(at(site.bodies[0]) - at(site.bodies[1]))
    }

    /// Speed of approach below which a contact does not bounce, m/s.
    pub(super) fn rest_speed(&self, site: &Site) -> f64 {
        let h = self.params.step();
        let pull = site
            .bodies
            .map(|k| self.flyers[k as usize].acceleration.length())
            .into_iter()
            .fold(0.0, f64::max);
        let radius =
            site.bodies.map(|k| self.detect.trails.radius(k)).into_iter().fold(f64::INFINITY, f64::min);
        let pulled = (0.125 * pull * h).min((0.02 * pull * radius).sqrt());
        self.params.rest_speed * pulled.max(1e-4 * radius.min(f64::MAX) / h)
    }

    /// Time until a contact that bounces is hit, s; `None` if it does not bounce or is not hit within `h`.
    pub(super) fn time_of_bounce(&self, site: &Site, h: f64) -> Option<f64> {
        if site.restitution <= 0.0 {
            return None;
        }
        let (g, u) = (site.gap.max(0.0), self.normal_velocity(site));
        // One that touches has bounced already if it leaves, and rests if it does not.
        if site.gap <= self.params.touch && u <= self.rest_speed(site) {
            return None;
        }
        let n = site.frame.z_axis;
        let of = |k: u32| self.flyers[k as usize].acceleration;
        let a = n.dot(of(site.bodies[0]) - of(site.bodies[1]));
        // The smallest positive root of g + u t + ½ a t², without cancellation.
        let discriminant = u * u - 2.0 * a * g;
        if discriminant < 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        let t = if u <= 0.0 { 2.0 * g / (root - u) } else { -(u + root) / a };
        let speed = -(u + a * t);
        (t > 0.0 && t <= h && speed > self.rest_speed(site)).then_some(t)
    }

    /// Answers all impacts at the world's time, and those within `early` seconds, which have no other chance.
    pub(super) fn impacts(&mut self, world: &mut World, early: f64) -> Result<(), StepError> {
        if !self.sites.bouncy {
            return Ok(());
        }
        for _ in 0..MAX_ROUNDS {
            let mut active = std::mem::take(&mut self.chosen);
            let hit = |site: &Site| {
                let touches =
                    site.gap <= self.params.touch && self.normal_velocity(site) < -self.rest_speed(site);
                touches || (early > 0.0 && self.time_of_bounce(site, early).is_some())
            };
            active.clear();
            active.extend((0..).zip(&self.sites.all).filter(|(_, site)| hit(site)).map(|(k, _)| k));
            let bounces = active.iter().any(|&k| self.sites.all[k as usize].restitution > 0.0);
            self.chosen = active;
            if !bounces {
                return Ok(());
            }
            self.islands_of_chosen();
            for island in 0..self.islands.len() {
                self.impact_of_island(world, island)?;
            }
        }
        Ok(())
    }

    fn impact_of_island(&mut self, world: &mut World, island: usize) -> Result<(), StepError> {
        let members: Vec<usize> =
            self.islands.contacts(island).iter().map(|&m| self.chosen[m as usize] as usize).collect();
        let sites = &self.sites.all;
        if members.iter().all(|&k| sites[k].restitution <= 0.0) {
            return Ok(());
        }
        self.contacts.clear();
        self.contacts.extend(members.iter().map(|&k| contact_at(&sites[k], 0.0)));
        let restitution: Vec<f64> = members.iter().map(|&k| sites[k].restitution).collect();
        pool::assemble(&self.pool, &self.contacts, &mut self.pool_workspace, &mut self.delassus);
        self.impulses.clear();
        self.impulses.resize(members.len(), DVec3::ZERO);
        let Some(solver) = self.parts.contacts.solver() else { return Ok(()) };
        let report: ImpactReport = impact(
            &mut self.delassus,
            &restitution,
            0.0,
            solver,
            &mut self.impact_workspace,
            &mut self.impulses,
        )
        .map_err(|source| self.law_error(world, &members, source))?;
        self.report.solver.iterations += u64::from(report.iterations);
        // Their work is that of the mean velocity over all impulses.
        let before: Vec<[DVec3; 2]> = (0..members.len()).map(|m| self.ends_of(m)).collect();
        pool::apply(&mut self.pool, &self.contacts, &self.impulses);
        for (m, &k) in members.iter().enumerate() {
            let approach = -self.delassus.velocity[m].z;
            let impulse = self.contacts[m].frame * self.impulses[m];
            for slot in self.contacts[m].bodies {
                self.flyers[slot as usize].struck = true;
            }
            self.book(world, k, impulse, approach, CollisionKind::Ordinary, before[m]);
        }
        for slot in 0..self.pool.len() {
            self.flyers[slot].start = self.pool[slot].velocity;
        }
        Ok(())
    }
}

/// A contact for the solver, with a bias along the normal, m/s.
pub(super) fn contact_at(site: &Site, bias: f64) -> PoolContact {
    PoolContact {
        bodies: site.bodies,
        point: site.point,
        frame: site.frame,
        friction: site.friction,
        bias: DVec3::new(0.0, 0.0, bias),
    }
}
