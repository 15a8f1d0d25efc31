//! Eight numbers in one register: a whole slot is one load.
#![allow(
    unsafe_code,
    reason = "vector instructions; the build has the feature, and the pointers are those of arrays of the right length"
)]
#![allow(
    clippy::incompatible_msrv,
    reason = "these instructions came with Rust 1.89; who builds for a processor that has them needs that"
)]

use super::{Lane, Slot};
use std::arch::x86_64::{
    __m512d, _CMP_EQ_OQ, _CMP_GT_OQ, _mm512_add_pd, _mm512_cmp_pd_mask, _mm512_div_pd, _mm512_loadu_pd,
    _mm512_mask_blend_pd, _mm512_max_pd, _mm512_min_pd, _mm512_mul_pd, _mm512_set1_pd, _mm512_setzero_pd,
    _mm512_shuffle_f64x2, _mm512_sqrt_pd, _mm512_storeu_pd, _mm512_sub_pd, _mm512_unpackhi_pd,
    _mm512_unpacklo_pd, _mm512_xor_pd,
};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Eight numbers side by side.
#[derive(Debug, Clone, Copy)]
pub(in crate::soft) struct Eight(__m512d);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $instruction:ident) => {
        impl $trait for Eight {
            type Output = Self;

            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                // SAFETY: the build has AVX-512.
                Self(unsafe { $instruction(self.0, o.0) })
            }
        }
    };
}

lanewise!(Add, add, _mm512_add_pd);
lanewise!(Sub, sub, _mm512_sub_pd);
lanewise!(Mul, mul, _mm512_mul_pd);
lanewise!(Div, div, _mm512_div_pd);

impl Neg for Eight {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: the build has AVX-512.
        Self(unsafe { _mm512_xor_pd(self.0, _mm512_set1_pd(-0.0)) })
    }
}

impl AddAssign for Eight {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Eight {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

/// Columns of eight rows.
#[inline(always)]
fn transposed(r: [__m512d; 8]) -> [__m512d; 8] {
    // SAFETY: the build has AVX-512.
    unsafe {
        let low = |k: usize| _mm512_unpacklo_pd(r[k], r[k + 1]);
        let high = |k: usize| _mm512_unpackhi_pd(r[k], r[k + 1]);
        let (a, b) = ([low(0), low(2), low(4), low(6)], [high(0), high(2), high(4), high(6)]);
        let four = |x: [__m512d; 4]| {
            let (p, q) = (_mm512_shuffle_f64x2::<0x88>(x[0], x[1]), _mm512_shuffle_f64x2::<0xdd>(x[0], x[1]));
            let (s, t) = (_mm512_shuffle_f64x2::<0x88>(x[2], x[3]), _mm512_shuffle_f64x2::<0xdd>(x[2], x[3]));
            [
                _mm512_shuffle_f64x2::<0x88>(p, s),
                _mm512_shuffle_f64x2::<0x88>(q, t),
                _mm512_shuffle_f64x2::<0xdd>(p, s),
                _mm512_shuffle_f64x2::<0xdd>(q, t),
            ]
        };
        let ([c0, c2, c4, c6], [c1, c3, c5, c7]) = (four(a), four(b));
        [c0, c1, c2, c3, c4, c5, c6, c7]
    }
}

impl Lane for Eight {
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: the build has AVX-512.
        Self(unsafe { _mm512_set1_pd(x) })
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: the build has AVX-512.
        Self(unsafe { _mm512_max_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: the build has AVX-512.
        Self(unsafe { _mm512_min_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: the build has AVX-512.
        Self(unsafe { _mm512_sqrt_pd(self.0) })
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: the build has AVX-512.
        unsafe { _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self.0, _mm512_setzero_pd()) == 0xff }
    }

    #[inline(always)]
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8] {
        // SAFETY: a slot has eight numbers.
        let load = |k: usize| unsafe { _mm512_loadu_pd(row(k).as_ptr()) };
        let rows = [load(0), load(1), load(2), load(3), load(4), load(5), load(6), load(7)];
        transposed(rows).map(Self)
    }

    #[inline(always)]
    fn rows(columns: [Self; 8], mut write: impl FnMut(usize, Slot)) {
        let rows = transposed(columns.map(|c| c.0));
        for (k, row) in rows.into_iter().enumerate() {
            let mut slot = Slot::default();
            // SAFETY: a slot has eight numbers.
            unsafe { _mm512_storeu_pd(slot.as_mut_ptr(), row) };
            write(k, slot);
        }
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        // SAFETY: the build has AVX-512.
        Self(unsafe {
            let positive = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, _mm512_setzero_pd());
            _mm512_mask_blend_pd(positive, no.0, yes.0)
        })
    }
}
