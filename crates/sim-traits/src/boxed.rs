//! Parts as boxes: what lets a function take a part of any type, or one that was chosen at run time.

/// For a trait of parts: `Box<dyn Trait>` from a value. A function that takes `impl Into<Box<dyn Trait>>` then takes a value of any type with the trait, or
/// a box that was chosen at run time.
#[macro_export]
macro_rules! into_box {
    ($($part:ident),+ $(,)?) => {
        $(
            impl<T: $part + 'static> From<T> for Box<dyn $part> {
                fn from(part: T) -> Self {
                    Box::new(part)
                }
            }
        )+
    };
}

use crate::{BroadPhase, Executor, ImpactLaw, LcpSolver, NarrowPhase, RowSolver, VelocitySystem};

into_box!(BroadPhase, Executor, ImpactLaw, LcpSolver, NarrowPhase, RowSolver, VelocitySystem);

#[cfg(test)]
mod tests {
    use crate::{Executor, Serial};

    fn width(executor: impl Into<Box<dyn Executor>>) -> usize {
        executor.into().parallelism()
    }

    #[test]
    fn a_value_and_a_box_chosen_at_run_time_are_parts() {
        let chosen: Box<dyn Executor> = Serial.into();
        assert_eq!([width(Serial), width(chosen)], [1; 2]);
    }
}
