//! A body as impulses see it.

use constraint_dynamics::PoolBody;
use rigid_impulse::Body as RigidState;

/// What a state tells of its body.
pub(crate) fn pooled(state: &RigidState) -> PoolBody {
    PoolBody {
        center: state.pose().translation,
        inverse_mass: state.inverse_mass(),
        inverse_inertia: state.inverse_inertia(),
        velocity: state.velocity,
    }
}
