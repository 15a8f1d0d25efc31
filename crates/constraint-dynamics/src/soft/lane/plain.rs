//! Four numbers as an array, for every target.

use super::{Lane, Slot, chosen, greater, lesser};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Four numbers side by side.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(32))]
pub(in crate::soft) struct Four([f64; 4]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $assign:tt) => {
        impl $trait for Four {
            type Output = Self;

            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                let mut out = self.0;
                for k in 0..4 {
                    out[k] $assign o.0[k];
                }
                Self(out)
            }
        }
    };
}

lanewise!(Add, add, +=);
lanewise!(Sub, sub, -=);
lanewise!(Mul, mul, *=);
lanewise!(Div, div, /=);

impl Neg for Four {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([-a, -b, -c, -d])
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

impl Lane for Four {
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; 4])
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        let mut out = self.0;
        for (x, y) in out.iter_mut().zip(o.0) {
            *x = greater(*x, y);
        }
        Self(out)
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        let mut out = self.0;
        for (x, y) in out.iter_mut().zip(o.0) {
            *x = lesser(*x, y);
        }
        Self(out)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([a.sqrt(), b.sqrt(), c.sqrt(), d.sqrt()])
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0.iter().all(|x| *x == 0.0)
    }

    #[inline(always)]
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8] {
        let left = |r: &Slot| Self([r[0], r[1], r[2], r[3]]);
        let right = |r: &Slot| Self([r[4], r[5], r[6], r[7]]);
        let (r0, r1, r2, r3) = (row(0), row(1), row(2), row(3));
        let [a, b, c, d] = transposed([left(r0), left(r1), left(r2), left(r3)]);
        let [e, f, g, h] = transposed([right(r0), right(r1), right(r2), right(r3)]);
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn rows([a, b, c, d, e, f, g, h]: [Self; 8], mut write: impl FnMut(usize, Slot)) {
        let (left, right) = (transposed([a, b, c, d]), transposed([e, f, g, h]));
        for k in 0..4 {
            let (l, r) = (left[k].0, right[k].0);
            write(k, Slot([l[0], l[1], l[2], l[3], r[0], r[1], r[2], r[3]]));
        }
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for ((out, x), yes) in out.iter_mut().zip(self.0).zip(yes.0) {
            *out = chosen(x > 0.0, yes, *out);
        }
        Self(out)
    }
}

/// Columns of four rows, in the two rounds of shuffles that vector registers do best.
#[inline(always)]
fn transposed([a, b, c, d]: [Four; 4]) -> [Four; 4] {
    let low = |x: Four, y: Four| Four([x.0[0], y.0[0], x.0[2], y.0[2]]);
    let high = |x: Four, y: Four| Four([x.0[1], y.0[1], x.0[3], y.0[3]]);
    let left = |x: Four, y: Four| Four([x.0[0], x.0[1], y.0[0], y.0[1]]);
    let right = |x: Four, y: Four| Four([x.0[2], x.0[3], y.0[2], y.0[3]]);
    let (ab, cd, ba, dc) = (low(a, b), low(c, d), high(a, b), high(c, d));
    [left(ab, cd), left(ba, dc), right(ab, cd), right(ba, dc)]
}
