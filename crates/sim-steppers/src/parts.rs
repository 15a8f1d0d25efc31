//! The exchangeable parts of steppers: one set for all of them.

use collision_broadphase::CoherentHash;
use collision_narrowphase::default_chain;
use constraint_dynamics::{ConeNewton, soft::SoftParams};
use rigid_impulse::impact::Integrated;
use sim_traits::{BroadPhase, Executor, ImpactLaw, NarrowPhase, RowSolver, Serial};
use sim_world::Part;

/// How time stepping answers contacts.
#[derive(Debug)]
#[non_exhaustive]
pub enum ContactMethod {
    /// One problem per island and step, by a contact law: no penetration, friction to the residual that the law states.
    Law(Box<dyn RowSolver>),
    /// Stiff springs in substeps: a few millimetres deep, and many times faster.
    Soft(SoftParams),
}

impl ContactMethod {
    /// With a contact law.
    pub fn law(law: impl Into<Box<dyn RowSolver>>) -> Self {
        Self::Law(law.into())
    }

    pub(crate) fn is_soft(&self) -> bool {
        matches!(self, Self::Soft(_))
    }

    /// The contact law, if there is one.
    pub(crate) fn solver(&mut self) -> Option<&mut dyn RowSolver> {
        match self {
            Self::Law(law) => Some(law.as_mut()),
            Self::Soft(_) => None,
        }
    }
}

/// The exchangeable parts of a stepper. Every stepper takes from the set what it needs.
///
/// Setters take a part of any type, or a box that was chosen at run time:
///
/// ```
/// use collision_broadphase::{BruteForce, DynamicTree};
/// use sim_steppers::Parts;
/// use sim_traits::BroadPhase;
///
/// let few_bodies = true;
/// let chosen: Box<dyn BroadPhase> =
///     if few_bodies { BruteForce::default().into() } else { DynamicTree::default().into() };
/// let parts = Parts::default().broad_phase(chosen).impact_law(rigid_impulse::impact::Frictionless);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Parts {
    /// Which boxes overlap. It must be empty. Default [`CoherentHash`], which is quickest when few boxes change between two events.
    pub broad_phase: Box<dyn BroadPhase>,
    /// How far apart two shapes are, and where they touch. Default [`default_chain`].
    pub narrow_phase: Box<dyn NarrowPhase>,
    /// What impulse one collision exerts; only [`EventDriven`](crate::EventDriven) asks. Default [`Integrated`].
    pub impact_law: Box<dyn ImpactLaw>,
    /// How contacts are answered together; only [`TimeStepping`](crate::TimeStepping) asks. Default [`ConeNewton`].
    pub contacts: ContactMethod,
    /// Where threads come from. Default [`Serial`].
    pub executor: Box<dyn Executor>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            broad_phase: CoherentHash::default().into(),
            narrow_phase: default_chain().into(),
            impact_law: Integrated::default().into(),
            contacts: ContactMethod::law(ConeNewton::default()),
            executor: Serial.into(),
        }
    }
}

impl Parts {
    /// With another broad phase, which must be empty.
    #[must_use]
    pub fn broad_phase(mut self, part: impl Into<Box<dyn BroadPhase>>) -> Self {
        self.broad_phase = part.into();
        self
    }

    /// With another narrow phase.
    #[must_use]
    pub fn narrow_phase(mut self, part: impl Into<Box<dyn NarrowPhase>>) -> Self {
        self.narrow_phase = part.into();
        self
    }

    /// With another impact law.
    #[must_use]
    pub fn impact_law(mut self, part: impl Into<Box<dyn ImpactLaw>>) -> Self {
        self.impact_law = part.into();
        self
    }

    /// With another answer to contacts.
    #[must_use]
    pub fn contacts(mut self, contacts: ContactMethod) -> Self {
        self.contacts = contacts;
        self
    }

    /// With another contact law.
    #[must_use]
    pub fn contact_law(mut self, law: impl Into<Box<dyn RowSolver>>) -> Self {
        self.contacts = ContactMethod::law(law);
        self
    }

    /// With the soft solver in place of a contact law.
    #[must_use]
    pub fn soft(mut self, params: SoftParams) -> Self {
        self.contacts = ContactMethod::Soft(params);
        self
    }

    /// With another executor.
    #[must_use]
    pub fn executor(mut self, part: impl Into<Box<dyn Executor>>) -> Self {
        self.executor = part.into();
        self
    }

    /// Puts in a part that was chosen at run time.
    ///
    /// # Errors
    /// Gives back a part of a kind that this set does not have.
    pub fn set(&mut self, part: Part) -> Result<(), Part> {
        match part {
            Part::BroadPhase(part) => self.broad_phase = part,
            Part::NarrowPhase(part) => self.narrow_phase = part,
            Part::ImpactLaw(part) => self.impact_law = part,
            Part::ContactLaw(law) => self.contacts = ContactMethod::Law(law),
            Part::SoftContacts(params) => self.contacts = ContactMethod::Soft(params),
            Part::Executor(part) => self.executor = part,
            other => return Err(other),
        }
        Ok(())
    }
}
