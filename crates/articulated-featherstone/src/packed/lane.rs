//! Numbers the packed kernels run on. Every lane does the arithmetic of one `f64` in the same order, so its result has the same bits.
//!
//! A caller hands over one `f64` or four states side by side ([`Lanes4`]). The kernels work on parts as wide as the machine's vector registers:
//! with registers of two numbers, four states are done as two pairs, because eight numbers of four lanes would fill all sixteen registers.

use super::sincos::{is_usual, reduced, sin_cos};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// What a caller stores for each coordinate: one number, or one for each of four states.
pub trait Lane: Copy + Debug + PartialEq + Send + Sync {
    /// What the kernels compute on.
    type Part: Part;
    /// How many states.
    const LANES: usize;
    /// How many parts they are done in.
    const PARTS: usize;
    /// The lanes of one part.
    fn part(&self, part: usize) -> Self::Part;
    /// Replaces the lanes of one part.
    fn set_part(&mut self, part: usize, x: Self::Part);
    /// Number of one lane; lane 0 of a single number.
    fn lane(self, lane: usize) -> f64;
    /// The same number in every lane.
    fn splat(x: f64) -> Self;
}

/// Arithmetic lane by lane.
pub trait Part:
    Copy
    + Debug
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// Number of the first lane.
    fn first(self) -> f64;
    /// Sine and cosine of each number of `x`, of equal length all.
    fn sin_cos_all(x: &[Self], sin: &mut [Self], cos: &mut [Self]);
    /// True if every lane is greater than zero.
    fn all_positive(self) -> bool;
}

impl Lane for f64 {
    type Part = Self;
    const LANES: usize = 1;
    const PARTS: usize = 1;

    #[inline(always)]
    fn part(&self, _part: usize) -> Self {
        *self
    }

    #[inline(always)]
    fn set_part(&mut self, _part: usize, x: Self) {
        *self = x;
    }

    #[inline(always)]
    fn lane(self, _lane: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }
}

impl Part for f64 {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn first(self) -> f64 {
        self
    }

    #[inline]
    fn sin_cos_all(x: &[Self], sin: &mut [Self], cos: &mut [Self]) {
        // One test for all leaves a loop without branches, which the compiler turns into vector code.
        let usual = x.iter().fold(true, |all, x| all & is_usual(*x));
        let out = sin.iter_mut().zip(cos.iter_mut()).zip(x);
        if usual {
            for ((s, c), x) in out {
                (*s, *c) = reduced(*x);
            }
        } else {
            for ((s, c), x) in out {
                (*s, *c) = sin_cos(*x);
            }
        }
    }

    #[inline(always)]
    fn all_positive(self) -> bool {
        self > 0.0
    }
}

/// Four numbers side by side, one for each state.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(32))]
pub struct Lanes4(pub [f64; 4]);

/// Two numbers side by side: half of a [`Lanes4`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(16))]
pub struct Lanes2(pub [f64; 2]);

macro_rules! lanewise {
    ($name:ident, $count:literal, $trait:ident, $method:ident, $assign:tt) => {
        impl $trait for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                let mut out = self.0;
                for k in 0..$count {
                    out[k] $assign o.0[k];
                }
                Self(out)
            }
        }
    };
}

macro_rules! lanes {
    ($name:ident, $count:literal) => {
        lanewise!($name, $count, Add, add, +=);
        lanewise!($name, $count, Sub, sub, -=);
        lanewise!($name, $count, Mul, mul, *=);
        lanewise!($name, $count, Div, div, /=);

        impl Neg for $name {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                let mut out = self.0;
                for k in 0..$count {
                    out[k] = -out[k];
                }
                Self(out)
            }
        }

        impl AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }

        impl SubAssign for $name {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }

        impl Part for $name {
            #[inline(always)]
            fn splat(x: f64) -> Self {
                Self([x; $count])
            }

            #[inline(always)]
            fn first(self) -> f64 {
                self.0[0]
            }

            #[inline]
            fn sin_cos_all(x: &[Self], sin: &mut [Self], cos: &mut [Self]) {
                let usual = x.iter().flat_map(|x| x.0).fold(true, |all, x| all & is_usual(x));
                for ((s, c), x) in sin.iter_mut().zip(cos.iter_mut()).zip(x) {
                    for k in 0..$count {
                        (s.0[k], c.0[k]) = if usual { reduced(x.0[k]) } else { sin_cos(x.0[k]) };
                    }
                }
            }

            #[inline(always)]
            fn all_positive(self) -> bool {
                self.0.iter().all(|x| *x > 0.0)
            }
        }
    };
}

lanes!(Lanes2, 2);
lanes!(Lanes4, 4);

impl Lane for Lanes4 {
    #[cfg(target_feature = "avx")]
    type Part = Self;
    #[cfg(not(target_feature = "avx"))]
    type Part = Lanes2;
    const LANES: usize = 4;
    const PARTS: usize = if cfg!(target_feature = "avx") { 1 } else { 2 };

    #[cfg(target_feature = "avx")]
    #[inline(always)]
    fn part(&self, _part: usize) -> Self {
        *self
    }

    #[cfg(target_feature = "avx")]
    #[inline(always)]
    fn set_part(&mut self, _part: usize, x: Self) {
        *self = x;
    }

    #[cfg(not(target_feature = "avx"))]
    #[inline(always)]
    fn part(&self, part: usize) -> Lanes2 {
        let first = 2 * (part & 1);
        Lanes2([self.0[first], self.0[first + 1]])
    }

    #[cfg(not(target_feature = "avx"))]
    #[inline(always)]
    fn set_part(&mut self, part: usize, x: Lanes2) {
        let first = 2 * (part & 1);
        self.0[first] = x.0[0];
        self.0[first + 1] = x.0[1];
    }

    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane & 3]
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; 4])
    }
}
