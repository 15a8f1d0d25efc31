//! The Delassus operator of a set of contacts, in block rows.

use sim_math::glam::{DMat3, DVec3};
use sim_traits::{Law, RowError, RowProblem};

/// W = J M⁻¹ Jᵀ in 3x3 blocks by contacts, the velocity b of each contact without impulses, and its friction.
///
/// Row c holds the blocks `starts[c]..starts[c + 1]`, their columns ascending. Everything is in the contact frames.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delassus {
    /// Where rows start; one more than there are contacts.
    pub starts: Vec<u32>,
    /// Column of each block.
    pub columns: Vec<u32>,
    /// Blocks, 1/kg.
    pub blocks: Vec<DMat3>,
    /// Velocities without impulses, bias included, m/s.
    pub velocity: Vec<DVec3>,
    /// Coefficients of friction.
    pub friction: Vec<f64>,
    /// Laws of the blocks after the contacts.
    pub laws: Vec<Law>,
}

impl Delassus {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
        self.blocks.clear();
        self.velocity.clear();
        self.friction.clear();
        self.laws.clear();
    }

    /// Number of contacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.velocity.len()
    }

    /// True if there are no contacts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.velocity.is_empty()
    }

    /// The problem, checked.
    ///
    /// # Errors
    /// See [`RowProblem::new`].
    pub fn problem(&self) -> Result<RowProblem<'_>, RowError> {
        RowProblem::new(&self.starts, &self.columns, &self.blocks, &self.velocity, &self.friction, &self.laws)
    }
}
