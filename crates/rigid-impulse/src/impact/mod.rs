//! Impact laws: from collision matrix and relative velocity to impulse.
//!
//! All of them work in the contact frame: z is the normal from B to A, the relative velocity is u = `u_A` − `u_B`, the
//! impulse acts on A.

mod algebraic;
mod flow;
mod integrate;
mod phases;
mod rays;
mod reference;
mod restitution;
mod series;
mod stepper;
mod sticking;
mod tail;
mod torsion;

pub use algebraic::{Algebraic, Frictionless};
pub use flow::SlidingFlow;
pub use integrate::{Ending, ImpactReport, Integrated, integrate};
pub use phases::{PhaseReport, Phases, integrate_phases};
pub use rays::{Ray, Rays, diverging_ray, rays};
pub use reference::reference;
pub use restitution::Restitution;
pub use sticking::{Sticking, critical_friction, sticking};
pub use torsion::{Torsion, TorsionReport, integrate_torsion};

use sim_traits::{Impact, ImpactError};

/// Checks an impact, and that its matrix is symmetric positive semi-definite.
#[inline]
fn checked(impact: &Impact) -> Result<SlidingFlow, ImpactError> {
    impact.validate()?;
    let k = &impact.k;
    let flow = SlidingFlow::new(k, impact.friction);
    let SlidingFlow { a, b, c, d, e, f, .. } = flow;
    let size = a.max(b).max(c);
    let skew = (k.x_axis.y - f).abs().max((k.x_axis.z - e).abs()).max((k.y_axis.z - d).abs());
    // Principal minors down to rounding.
    let (slack2, slack3) = (-1e-9 * size * size, -1e-9 * size * size * size);
    let minors =
        a >= 0.0 && b >= 0.0 && a * b - f * f >= slack2 && a * c - e * e >= slack2 && b * c - d * d >= slack2;
    let det = a * (b * c - d * d) - f * (f * c - d * e) + e * (f * d - b * e);
    if skew <= 1e-9 * size && minors && det >= slack3 {
        Ok(flow)
    } else {
        Err(ImpactError::BadMatrix { k_zz: c })
    }
}
