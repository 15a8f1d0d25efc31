//! The tables of the stepper as bytes: what rows remember of the last two steps, and the methods in use.

use super::stepper::ReactionForce;
use sim_world::{SnapshotError, World};

#[cfg(not(feature = "serde"))]
pub(super) fn save_tables(_stepper: &ReactionForce, _world: &World) -> Result<Vec<u8>, SnapshotError> {
    Err(SnapshotError::NoSerde)
}

#[cfg(not(feature = "serde"))]
pub(super) fn load_tables(
    _stepper: &mut ReactionForce,
    _world: &World,
    _bytes: &[u8],
) -> Result<(), SnapshotError> {
    Err(SnapshotError::NoSerde)
}

#[cfg(feature = "serde")]
pub(super) use tables::{load_tables, save_tables};

#[cfg(feature = "serde")]
mod tables {
    use super::{ReactionForce, SnapshotError, World};
    use constraint_dynamics::reaction::{Bound, PartMemory, RowMemory};
    use serde::{Deserialize, Serialize};
    use sim_math::dense::SolveMethod;
    use sim_traits::JointId;
    use sim_world::snapshot::{open, seal};

    const KIND: &str = "reaction-force";
    const VERSION: u32 = 1;

    #[derive(Serialize, Deserialize)]
    struct Tables {
        joints: Vec<JointId>,
        rows: Vec<(f64, f64, u8, u8)>,
        counts: Vec<u32>,
        parts: Vec<(u8, u32, u32)>,
        frames: u64,
    }

    fn damaged() -> SnapshotError {
        SnapshotError::Damaged { what: "the tables of a stepper" }
    }

    pub(in super::super) fn save_tables(
        stepper: &ReactionForce,
        world: &World,
    ) -> Result<Vec<u8>, SnapshotError> {
        if !stepper.knows(world) {
            return Ok(Vec::new());
        }
        let state = &stepper.state;
        let bound = |b: Bound| match b {
            Bound::Free => 0,
            Bound::Low => 1,
            Bound::High => 2,
        };
        let method = |m: SolveMethod| match m {
            SolveMethod::Lu => 0,
            SolveMethod::ConjugateGradient => 1,
            SolveMethod::Svd => 2,
        };
        let tables = Tables {
            joints: stepper.joints.ids.clone(),
            rows: state.rows.iter().map(|r| (r.last, r.before, r.known, bound(r.bound))).collect(),
            counts: state.counts.clone(),
            parts: state.parts.iter().map(|p| (method(p.method), p.good, p.wary)).collect(),
            frames: state.frames,
        };
        seal(KIND, VERSION, &tables)
    }

    pub(in super::super) fn load_tables(
        stepper: &mut ReactionForce,
        world: &World,
        bytes: &[u8],
    ) -> Result<(), SnapshotError> {
        stepper.forget();
        if bytes.is_empty() {
            return Ok(());
        }
        let tables: Tables = open(KIND, VERSION, bytes)?;
        let mut state = constraint_dynamics::reaction::ReactionState {
            counts: tables.counts,
            frames: tables.frames,
            ..Default::default()
        };
        for (last, before, known, bound) in tables.rows {
            let bound = match bound {
                0 => Bound::Free,
                1 => Bound::Low,
                2 => Bound::High,
                _ => return Err(damaged()),
            };
            if known > 2 || !(last.is_finite() && before.is_finite()) {
                return Err(damaged());
            }
            state.rows.push(RowMemory { last, before, known, bound });
        }
        for (method, good, wary) in tables.parts {
            let method = match method {
                0 => SolveMethod::Lu,
                1 => SolveMethod::ConjugateGradient,
                2 => SolveMethod::Svd,
                _ => return Err(damaged()),
            };
            state.parts.push(PartMemory { method, good, wary });
        }
        stepper.remember(world, state, tables.joints);
        Ok(())
    }
}
