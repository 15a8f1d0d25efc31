//! Four numbers in one register. Arrays would do, if compilers did not pack them in ways that cost more than they gain.
#![allow(
    unsafe_code,
    reason = "vector instructions, used where the processor has them; the pointers are those of arrays of the right length"
)]

use super::{Lane, Slot};
use std::arch::x86_64::{
    __m256d, _CMP_EQ_OQ, _CMP_GT_OQ, _mm256_add_pd, _mm256_blendv_pd, _mm256_cmp_pd, _mm256_div_pd,
    _mm256_loadu_pd, _mm256_max_pd, _mm256_min_pd, _mm256_movemask_pd, _mm256_mul_pd, _mm256_permute2f128_pd,
    _mm256_set1_pd, _mm256_setzero_pd, _mm256_sqrt_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm256_unpackhi_pd,
    _mm256_unpacklo_pd, _mm256_xor_pd,
};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Four numbers side by side.
#[derive(Debug, Clone, Copy)]
pub(in crate::soft) struct Four(__m256d);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $instruction:ident) => {
        impl $trait for Four {
            type Output = Self;

            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                // SAFETY: the processor has AVX, see `Lane`.
                Self(unsafe { $instruction(self.0, o.0) })
            }
        }
    };
}

lanewise!(Add, add, _mm256_add_pd);
lanewise!(Sub, sub, _mm256_sub_pd);
lanewise!(Mul, mul, _mm256_mul_pd);
lanewise!(Div, div, _mm256_div_pd);

impl Neg for Four {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: the processor has AVX, see `Lane`.
        Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
    }
}

impl AddAssign for Four {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Four {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

/// Columns of four rows.
#[inline(always)]
fn transposed([a, b, c, d]: [__m256d; 4]) -> [Four; 4] {
    // SAFETY: the processor has AVX, see `Lane`.
    unsafe {
        let (ab, cd) = (_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d));
        let (ba, dc) = (_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d));
        [
            Four(_mm256_permute2f128_pd::<0x20>(ab, cd)),
            Four(_mm256_permute2f128_pd::<0x20>(ba, dc)),
            Four(_mm256_permute2f128_pd::<0x31>(ab, cd)),
            Four(_mm256_permute2f128_pd::<0x31>(ba, dc)),
        ]
    }
}

/// Four columns of four slots.
#[inline(always)]
fn half(rows: [&Slot; 4], from: usize) -> [Four; 4] {
    // SAFETY: a slot has eight numbers, and `from` is 0 or 4.
    unsafe {
        transposed([
            _mm256_loadu_pd(rows[0].as_ptr().add(from)),
            _mm256_loadu_pd(rows[1].as_ptr().add(from)),
            _mm256_loadu_pd(rows[2].as_ptr().add(from)),
            _mm256_loadu_pd(rows[3].as_ptr().add(from)),
        ])
    }
}

impl Lane for Four {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx")]
        unsafe fn with_avx<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        // SAFETY: as the caller promises.
        unsafe { with_avx(work) }
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: the processor has AVX, see `Lane`.
        Self(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: the processor has AVX, see `Lane`.
        Self(unsafe { _mm256_max_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: the processor has AVX, see `Lane`.
        Self(unsafe { _mm256_min_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: the processor has AVX, see `Lane`.
        Self(unsafe { _mm256_sqrt_pd(self.0) })
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        // SAFETY: the processor has AVX, see `Lane`.
        unsafe {
            let mask = _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, _mm256_setzero_pd());
            Self(_mm256_blendv_pd(no.0, yes.0, mask))
        }
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: the processor has AVX, see `Lane`.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(self.0, _mm256_setzero_pd())) == 0xf }
    }

    #[inline(always)]
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8] {
        let rows = [row(0), row(1), row(2), row(3)];
        let ([a, b, c, d], [e, f, g, h]) = (half(rows, 0), half(rows, 4));
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn rows([a, b, c, d, e, f, g, h]: [Self; 8], mut write: impl FnMut(usize, Slot)) {
        let (left, right) = (transposed([a.0, b.0, c.0, d.0]), transposed([e.0, f.0, g.0, h.0]));
        for k in 0..4 {
            let mut row = Slot::default();
            // SAFETY: a slot has eight numbers.
            unsafe {
                _mm256_storeu_pd(row.as_mut_ptr(), left[k].0);
                _mm256_storeu_pd(row.as_mut_ptr().add(4), right[k].0);
            }
            write(k, row);
        }
    }
}
