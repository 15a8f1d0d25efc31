//! Numbers the soft kernel runs on: one contact patch, or four side by side. Every lane does the arithmetic of one
//! `f64` in the same order, so that it has the same bits, whatever vector registers the machine has.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

#[cfg(all(target_arch = "x86_64", target_feature = "avx"))]
mod avx;
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "avx"))))]
mod plain;
#[cfg(test)]
pub(super) use plain::Four as PlainFour;

/// Four numbers side by side: in a vector register where the build may use one.
#[cfg(all(target_arch = "x86_64", target_feature = "avx"))]
pub(super) type Four = avx::Four;
/// Four numbers side by side: in a vector register where the build may use one.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx")))]
pub(super) type Four = plain::Four;

/// One body's six numbers, padded to a cache line.
pub(super) type Slot = [f64; 8];

/// Arithmetic lane by lane.
pub(super) trait Lane:
    Copy
    + Debug
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
    /// How many numbers side by side.
    const LANES: usize;
    /// Number of one lane.
    fn lane(self, lane: usize) -> f64;
    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// The greater number of each lane.
    fn max(self, o: Self) -> Self;
    /// The lesser number of each lane.
    fn min(self, o: Self) -> Self;
    /// Square root of each lane.
    fn sqrt(self) -> Self;
    /// Number k of the row of each lane, for all k.
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8];
    /// The row of each lane from its columns; rows beyond the lanes mean nothing.
    fn rows(columns: [Self; 8]) -> [Slot; 4];
    /// `yes` where this is greater than zero, `no` elsewhere.
    fn if_positive(self, yes: Self, no: Self) -> Self;
}

/// The greater of two numbers that are not NaN, as one instruction.
#[inline(always)]
fn greater(x: f64, y: f64) -> f64 {
    if x > y { x } else { y }
}

/// The lesser of two numbers that are not NaN, as one instruction.
#[inline(always)]
fn lesser(x: f64, y: f64) -> f64 {
    if x < y { x } else { y }
}

/// `yes` or `no` without a branch, which would be taken at random.
#[inline(always)]
fn chosen(which: bool, yes: f64, no: f64) -> f64 {
    let mask = u64::from(which).wrapping_neg();
    f64::from_bits((yes.to_bits() & mask) | (no.to_bits() & !mask))
}

impl Lane for f64 {
    const LANES: usize = 1;

    #[inline(always)]
    fn lane(self, _lane: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        greater(self, o)
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        lesser(self, o)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8] {
        *row(0)
    }

    #[inline(always)]
    fn rows(columns: [Self; 8]) -> [Slot; 4] {
        [columns; 4]
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        chosen(self > 0.0, yes, no)
    }
}

/// A vector in every lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vec3<L> {
    pub(super) x: L,
    pub(super) y: L,
    pub(super) z: L,
}

impl<L: Lane> Vec3<L> {
    #[inline(always)]
    pub(super) fn dot(self, o: Self) -> L {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    #[inline(always)]
    pub(super) fn cross(self, o: Self) -> Self {
        Self {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }

    #[inline(always)]
    pub(super) fn scale(self, s: L) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }

    #[inline(always)]
    pub(super) fn plus(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }

    #[inline(always)]
    pub(super) fn minus(self, o: Self) -> Self {
        Self { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

/// A symmetric 3x3 matrix in every lane: xx, yy, zz, xy, xz, yz.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sym<L>(pub(super) [L; 6]);

impl<L: Lane> Sym<L> {
    #[inline(always)]
    pub(super) fn times(self, v: Vec3<L>) -> Vec3<L> {
        let [xx, yy, zz, xy, xz, yz] = self.0;
        Vec3 {
            x: xx * v.x + xy * v.y + xz * v.z,
            y: xy * v.x + yy * v.y + yz * v.z,
            z: xz * v.x + yz * v.y + zz * v.z,
        }
    }
}
