//! The algorithms: free functions over [`crate::Model`], [`crate::State`] and [`crate::Workspace`], one file each.

pub(crate) mod aba;
pub(crate) mod crba;
pub(crate) mod derivatives;
pub(crate) mod impulse;
pub(crate) mod integrate;
pub(crate) mod jacobian;
pub(crate) mod kinematics;
pub(crate) mod limits;
pub(crate) mod loops;
pub(crate) mod mass_solve;
pub(crate) mod momentum;
pub(crate) mod rnea;
pub(crate) mod whitened;

use sim_traits::DynamicsError;

/// `Ok` if a slice has the right length.
#[inline]
pub(crate) fn check_len(what: &'static str, got: usize, expected: usize) -> Result<(), DynamicsError> {
    if got == expected { Ok(()) } else { Err(DynamicsError::WrongLength { what, expected, got }) }
}
