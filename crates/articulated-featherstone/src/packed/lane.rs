//! Numbers the packed kernels run on: one `f64`, or four states side by side. Every lane does the arithmetic of one `f64`
//! in the same order, so its result has the same bits.

use super::sincos::sin_cos;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A number or a few of them.
pub trait Lane:
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
    /// How many numbers.
    const LANES: usize;
    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// Number of one lane; lane 0 of a single number.
    fn lane(self, lane: usize) -> f64;
    /// Sine and cosine of each lane.
    fn sin_cos(self) -> (Self, Self);
    /// True if every lane is greater than zero.
    fn all_positive(self) -> bool;
}

impl Lane for f64 {
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn lane(self, _lane: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        sin_cos(self)
    }

    #[inline(always)]
    fn all_positive(self) -> bool {
        self > 0.0
    }
}

/// Four numbers side by side, as the compiler likes to put them into vector registers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(32))]
pub struct Lanes4(pub [f64; 4]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Lanes4 {
            type Output = Self;

            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                let (a, b) = (self.0, o.0);
                Self([a[0] $op b[0], a[1] $op b[1], a[2] $op b[2], a[3] $op b[3]])
            }
        }
    };
}

lanewise!(Add, add, +);
lanewise!(Sub, sub, -);
lanewise!(Mul, mul, *);
lanewise!(Div, div, /);

impl Neg for Lanes4 {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl AddAssign for Lanes4 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Lanes4 {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl Lane for Lanes4 {
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; 4])
    }

    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane & 3]
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let [a, b, c, d] = self.0.map(sin_cos);
        (Self([a.0, b.0, c.0, d.0]), Self([a.1, b.1, c.1, d.1]))
    }

    #[inline(always)]
    fn all_positive(self) -> bool {
        self.0.iter().all(|x| *x > 0.0)
    }
}
