//! Two numbers in one register, as every x86-64 has them.
#![allow(
    unsafe_code,
    reason = "vector instructions that every x86-64 has; the pointers are those of arrays of the right length"
)]

use super::{Lane, Slot};
use std::arch::x86_64::{
    __m128d, _mm_add_pd, _mm_and_pd, _mm_andnot_pd, _mm_cmpeq_pd, _mm_cmpgt_pd, _mm_div_pd, _mm_loadu_pd,
    _mm_max_pd, _mm_min_pd, _mm_movemask_pd, _mm_mul_pd, _mm_or_pd, _mm_set1_pd, _mm_setzero_pd, _mm_sqrt_pd,
    _mm_storeu_pd, _mm_sub_pd, _mm_unpackhi_pd, _mm_unpacklo_pd, _mm_xor_pd,
};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Two numbers side by side.
#[derive(Debug, Clone, Copy)]
pub(in crate::soft) struct Two(__m128d);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $instruction:ident) => {
        impl $trait for Two {
            type Output = Self;

            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                // SAFETY: every x86-64 has SSE2.
                Self(unsafe { $instruction(self.0, o.0) })
            }
        }
    };
}

lanewise!(Add, add, _mm_add_pd);
lanewise!(Sub, sub, _mm_sub_pd);
lanewise!(Mul, mul, _mm_mul_pd);
lanewise!(Div, div, _mm_div_pd);

impl Neg for Two {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: every x86-64 has SSE2.
        Self(unsafe { _mm_xor_pd(self.0, _mm_set1_pd(-0.0)) })
    }
}

impl AddAssign for Two {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Two {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

/// Columns of two rows.
#[inline(always)]
fn transposed(a: __m128d, b: __m128d) -> [Two; 2] {
    // SAFETY: every x86-64 has SSE2.
    unsafe { [Two(_mm_unpacklo_pd(a, b)), Two(_mm_unpackhi_pd(a, b))] }
}

/// Two columns of two slots.
#[inline(always)]
fn pair(rows: [&Slot; 2], from: usize) -> [Two; 2] {
    // SAFETY: a slot has eight numbers, and `from` is 6 at most.
    unsafe { transposed(_mm_loadu_pd(rows[0].as_ptr().add(from)), _mm_loadu_pd(rows[1].as_ptr().add(from))) }
}

impl Lane for Two {
    const LANES: usize = 2;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: every x86-64 has SSE2.
        Self(unsafe { _mm_set1_pd(x) })
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: every x86-64 has SSE2.
        Self(unsafe { _mm_max_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: every x86-64 has SSE2.
        Self(unsafe { _mm_min_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: every x86-64 has SSE2.
        Self(unsafe { _mm_sqrt_pd(self.0) })
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        // SAFETY: every x86-64 has SSE2.
        unsafe {
            let mask = _mm_cmpgt_pd(self.0, _mm_setzero_pd());
            Self(_mm_or_pd(_mm_and_pd(mask, yes.0), _mm_andnot_pd(mask, no.0)))
        }
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_movemask_pd(_mm_cmpeq_pd(self.0, _mm_setzero_pd())) == 0b11 }
    }

    #[inline(always)]
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8] {
        let rows = [row(0), row(1)];
        let ([a, b], [c, d], [e, f], [g, h]) = (pair(rows, 0), pair(rows, 2), pair(rows, 4), pair(rows, 6));
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn rows([a, b, c, d, e, f, g, h]: [Self; 8], mut write: impl FnMut(usize, Slot)) {
        let (ab, cd) = (transposed(a.0, b.0), transposed(c.0, d.0));
        let (ef, gh) = (transposed(e.0, f.0), transposed(g.0, h.0));
        for k in 0..2 {
            let mut row = Slot::default();
            for (quarter, part) in [ab[k], cd[k], ef[k], gh[k]].into_iter().enumerate() {
                // SAFETY: a slot has eight numbers.
                unsafe { _mm_storeu_pd(row.as_mut_ptr().add(2 * quarter), part.0) };
            }
            write(k, row);
        }
    }
}
