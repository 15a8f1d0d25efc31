//! One loop, compiled twice: for any x86-64 and for processors with AVX2, chosen when it is called.
//!
//! Rust contracts no multiplication and addition into one rounding, and the loops fix the order of their sums, so
//! both give the same bits. Other architectures have the plain loop only, as has a build that may assume AVX2.
//! The choice costs a load, two branches and a call that is not inlined, so short rows go without.

/// Whether the loops for AVX2 may run.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
#[inline]
pub(crate) fn available() -> bool {
    #[cfg(test)]
    if tests::PLAIN.get() {
        return false;
    }
    std::arch::is_x86_feature_detected!("avx2")
}

/// Numbers in a row from which on the wide loop is worth its call.
pub(crate) const ROW: usize = 16;

/// `wide! { length; fn ... }`: a function of plain loops over rows of that length, made twice.
macro_rules! wide {
    ($length:expr; $(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($arg: $type),*) $(-> $result)? $body
            #[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
            {
                #[allow(unsafe_code, reason = "a function for some processors only; its body is safe code")]
                #[target_feature(enable = "avx2")]
                unsafe fn with_avx2($($arg: $type),*) $(-> $result)? {
                    plain($($arg),*)
                }
                if $length >= $crate::wide::ROW && $crate::wide::available() {
                    #[allow(unsafe_code, reason = "calls what this processor has been found to have")]
                    // SAFETY: the processor has AVX2.
                    return unsafe { with_avx2($($arg),*) };
                }
            }
            plain($($arg),*)
        }
    };
}
pub(crate) use wide;

#[cfg(all(test, target_arch = "x86_64", not(target_feature = "avx2")))]
mod tests {
    use crate::families::{Family, changed_pair};
    use crate::{Driver, Solution};
    use sim_math::testkit::SplitMix64;
    use std::cell::Cell;

    thread_local! {
        /// Keeps the wide loops from being taken.
        pub(super) static PLAIN: Cell<bool> = const { Cell::new(false) };
    }

    #[test]
    fn both_loops_give_the_same_bits() {
        let solve = |plain: bool| -> Vec<(Vec<u64>, Solution)> {
            PLAIN.set(plain);
            let mut random = SplitMix64(31);
            let mut driver = Driver::default();
            let mut answers = Vec::new();
            for family in [Family::PositiveDefinite, Family::Contact, Family::Friction4, Family::Friction8] {
                for n in [9, 20, 37, 60, 90] {
                    let (p, near) = changed_pair(family, n, 1e-3, &mut random);
                    let mut z = vec![0.0; p.q.len()];
                    driver.run(&p.problem().unwrap(), &mut z).unwrap();
                    let basis = driver.active().to_vec();
                    for (p, guess) in [(&p, None), (&near, Some(&basis[..]))] {
                        let solution = driver.run_from(&p.problem().unwrap(), guess, &mut z).unwrap();
                        answers.push((z.iter().map(|z| z.to_bits()).collect(), solution));
                    }
                }
            }
            PLAIN.set(false);
            answers
        };
        assert_eq!(solve(true), solve(false));
    }
}
