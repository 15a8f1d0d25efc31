//! What can be wrong with the description of a tree.

use sim_math::MathError;
use thiserror::Error;

/// Why a model was refused, with the link and the value.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A model without links.
    #[error("a tree needs at least one link")]
    Empty,
    /// More links or coordinates than a `u32` counts.
    #[error("{count} links are more than a model can hold")]
    TooMany {
        /// How many were given.
        count: usize,
    },
    /// Two links with one name.
    #[error("link {name:?} is given twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A parent that is no link.
    #[error("link {link:?}: there is no parent {parent:?}")]
    UnknownParent {
        /// The child.
        link: String,
        /// The name it asks for.
        parent: String,
    },
    /// Links that are their own ancestors.
    #[error("link {link:?} is its own ancestor: {path}")]
    Cycle {
        /// A link on the cycle.
        link: String,
        /// The cycle, from child to parent.
        path: String,
    },
    /// A number that is NaN or infinite.
    #[error("link {link:?}: {what} is not finite: {value}")]
    NonFinite {
        /// The link; empty for the model itself.
        link: String,
        /// Which number.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A number outside its range.
    #[error("link {link:?}: {what} is {value}, expected {expected}")]
    OutOfRange {
        /// The link.
        link: String,
        /// Which number.
        what: &'static str,
        /// The number.
        value: f64,
        /// What would have been right.
        expected: &'static str,
    },
    /// A mass or an inertia that no body has.
    #[error("link {link:?}: {source}")]
    BadInertia {
        /// The link.
        link: String,
        /// What is wrong with it.
        source: MathError,
    },
    /// A link without mass at the end of a branch: nothing would resist its joint.
    #[error("link {link:?} has no mass and nothing with mass below it, so its joint has no inertia")]
    MasslessLeaf {
        /// The link.
        link: String,
    },
    /// A degree of freedom that the joint does not have.
    #[error("link {link:?}: its joint has {count} degrees of freedom, there is no number {dof}")]
    UnknownDof {
        /// The link.
        link: String,
        /// The one named.
        dof: usize,
        /// How many there are.
        count: usize,
    },
}
