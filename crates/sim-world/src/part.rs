//! Parts of steppers, to be exchanged at run time.

use constraint_dynamics::soft::SoftParams;
use sim_traits::{BroadPhase, Executor, ImpactLaw, NarrowPhase, RowSolver};
use std::{any::Any, fmt::Debug};

/// One part of a stepper, chosen at run time.
#[derive(Debug)]
#[non_exhaustive]
pub enum Part {
    /// Which boxes overlap. It must be empty.
    BroadPhase(Box<dyn BroadPhase>),
    /// How far apart two shapes are, and where they touch.
    NarrowPhase(Box<dyn NarrowPhase>),
    /// What impulse one collision exerts.
    ImpactLaw(Box<dyn ImpactLaw>),
    /// What impulses all contacts and joints of an island exert.
    ContactLaw(Box<dyn RowSolver>),
    /// Contacts as stiff springs, in place of a contact law.
    SoftContacts(SoftParams),
    /// Where threads come from.
    Executor(Box<dyn Executor>),
}

impl Part {
    /// Which part it is, for messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::BroadPhase(_) => "broad phase",
            Self::NarrowPhase(_) => "narrow phase",
            Self::ImpactLaw(_) => "impact law",
            Self::ContactLaw(_) => "contact law",
            Self::SoftContacts(_) => "soft solver",
            Self::Executor(_) => "executor",
        }
    }
}

/// A type that can be asked which one it is; every type without borrowed data is.
pub trait AsAny {
    /// To be cast down.
    fn as_any(&self) -> &dyn Any;

    /// To be cast down.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Any> AsAny for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
