//! A body as impulses see it.

use constraint_dynamics::PoolBody;
use rigid_impulse::{BodyModel, BodyState};

/// A body of this model in this state.
pub(crate) fn pooled(model: &BodyModel, state: &BodyState) -> PoolBody {
    PoolBody {
        center: state.pose().translation,
        inverse_mass: model.inverse_mass(),
        inverse_inertia: state.inverse_inertia(model),
        velocity: state.velocity,
    }
}
