//! Eight numbers in one register: a whole slot is one load.
#![allow(
    unsafe_code,
    reason = "vector instructions, used where the processor has them; the pointers are those of arrays of the right length"
)]
#![allow(
    clippy::incompatible_msrv,
    reason = "these instructions came with Rust 1.89; older compilers leave this file out"
)]

use super::{Lane, Slot, each, inlined};
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
                // SAFETY: the processor has AVX-512, see `Lane`.
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
        // SAFETY: the processor has AVX-512, see `Lane`.
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

/// Four columns of rows of which numbers have been paired.
#[inline(always)]
fn four(x: [__m512d; 4]) -> [__m512d; 4] {
    // SAFETY: the processor has AVX-512, see `Lane`.
    unsafe {
        let (p, q) = (_mm512_shuffle_f64x2::<0x88>(x[0], x[1]), _mm512_shuffle_f64x2::<0xdd>(x[0], x[1]));
        let (s, t) = (_mm512_shuffle_f64x2::<0x88>(x[2], x[3]), _mm512_shuffle_f64x2::<0xdd>(x[2], x[3]));
        [
            _mm512_shuffle_f64x2::<0x88>(p, s),
            _mm512_shuffle_f64x2::<0x88>(q, t),
            _mm512_shuffle_f64x2::<0xdd>(p, s),
            _mm512_shuffle_f64x2::<0xdd>(q, t),
        ]
    }
}

/// Columns of eight rows.
#[inline(always)]
fn transposed(r: [__m512d; 8]) -> [__m512d; 8] {
    // SAFETY: the processor has AVX-512, see `Lane`.
    unsafe {
        let low = [
            _mm512_unpacklo_pd(r[0], r[1]),
            _mm512_unpacklo_pd(r[2], r[3]),
            _mm512_unpacklo_pd(r[4], r[5]),
            _mm512_unpacklo_pd(r[6], r[7]),
        ];
        let high = [
            _mm512_unpackhi_pd(r[0], r[1]),
            _mm512_unpackhi_pd(r[2], r[3]),
            _mm512_unpackhi_pd(r[4], r[5]),
            _mm512_unpackhi_pd(r[6], r[7]),
        ];
        let ([c0, c2, c4, c6], [c1, c3, c5, c7]) = (four(low), four(high));
        [c0, c1, c2, c3, c4, c5, c6, c7]
    }
}

/// A slot in one register.
#[inline(always)]
fn load(row: &Slot) -> __m512d {
    // SAFETY: a slot has eight numbers; the processor has AVX-512, see `Lane`.
    unsafe { _mm512_loadu_pd(row.as_ptr()) }
}

impl Lane for Eight {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx512f,avx512dq")]
        unsafe fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        // SAFETY: as the caller promises.
        unsafe { with_avx512(work) }
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: the processor has AVX-512, see `Lane`.
        Self(unsafe { _mm512_set1_pd(x) })
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        // SAFETY: the processor has AVX-512, see `Lane`.
        Self(unsafe { _mm512_max_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        // SAFETY: the processor has AVX-512, see `Lane`.
        Self(unsafe { _mm512_min_pd(self.0, o.0) })
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: the processor has AVX-512, see `Lane`.
        Self(unsafe { _mm512_sqrt_pd(self.0) })
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: the processor has AVX-512, see `Lane`.
        unsafe { _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self.0, _mm512_setzero_pd()) == 0xff }
    }

    #[inline(always)]
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8] {
        let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
        let columns = transposed([
            load(rows[0]),
            load(rows[1]),
            load(rows[2]),
            load(rows[3]),
            load(rows[4]),
            load(rows[5]),
            load(rows[6]),
            load(rows[7]),
        ]);
        each(inlined!(|k: usize| Self(columns[k])))
    }

    #[inline(always)]
    fn rows(columns: [Self; 8], mut write: impl FnMut(usize, Slot)) {
        let rows = transposed(each(inlined!(|k: usize| columns[k].0)));
        for (k, row) in rows.into_iter().enumerate() {
            let mut slot = Slot::default();
            // SAFETY: a slot has eight numbers.
            unsafe { _mm512_storeu_pd(slot.as_mut_ptr(), row) };
            write(k, slot);
        }
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        // SAFETY: the processor has AVX-512, see `Lane`.
        Self(unsafe {
            let positive = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, _mm512_setzero_pd());
            _mm512_mask_blend_pd(positive, no.0, yes.0)
        })
    }
}
