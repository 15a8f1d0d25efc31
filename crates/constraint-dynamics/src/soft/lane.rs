//! Numbers the soft kernel runs on: one contact patch, or eight side by side. Every lane does the arithmetic of one
//! `f64` in the same order, so that it has the same bits, whatever vector registers the machine has.

#![allow(unsafe_code, reason = "code for some processors only")]

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Deref, DerefMut, Div, Mul, Neg, Sub, SubAssign};

#[cfg(target_arch = "x86_64")]
mod avx;
#[cfg(all(target_arch = "x86_64", knows_avx512))]
mod avx512;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain;
#[cfg(target_arch = "x86_64")]
mod sse2;

/// Lanes for every target.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) type Plain = Twice<plain::Four>;
/// Lanes for every x86-64.
#[cfg(target_arch = "x86_64")]
pub(super) type Sse2 = Twice<sse2::Two>;
/// Lanes for processors with AVX.
#[cfg(target_arch = "x86_64")]
pub(super) type Avx = Twice<avx::Four>;
/// Lanes for processors with AVX-512.
#[cfg(all(target_arch = "x86_64", knows_avx512))]
pub(super) type Avx512 = avx512::Eight;

/// The vector instructions that there are lanes for, those with the widest registers last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instructions {
    /// Those that the compiler finds.
    #[cfg(any(test, not(target_arch = "x86_64")))]
    Plain,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "x86_64")]
    Avx,
    #[cfg(all(target_arch = "x86_64", knows_avx512))]
    Avx512,
}

impl Instructions {
    /// All that this build knows.
    pub(super) const ALL: &'static [Self] = &[
        #[cfg(any(test, not(target_arch = "x86_64")))]
        Self::Plain,
        #[cfg(target_arch = "x86_64")]
        Self::Sse2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx,
        #[cfg(all(target_arch = "x86_64", knows_avx512))]
        Self::Avx512,
    ];

    /// True if the processor has them.
    pub(super) fn are_there(self) -> bool {
        match self {
            #[cfg(any(test, not(target_arch = "x86_64")))]
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx => std::arch::is_x86_feature_detected!("avx"),
            #[cfg(all(target_arch = "x86_64", knows_avx512))]
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512dq")
            }
        }
    }

    /// Those with the widest registers that the processor has.
    pub(super) fn widest() -> Self {
        Self::ALL.iter().rev().copied().find(|i| i.are_there()).unwrap_or(Self::ALL[0])
    }
}

/// Eight numbers that are read and written together: one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(64))]
pub(super) struct Slot(pub(super) [f64; 8]);

impl Deref for Slot {
    type Target = [f64; 8];

    #[inline(always)]
    fn deref(&self) -> &[f64; 8] {
        &self.0
    }
}

impl DerefMut for Slot {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64; 8] {
        &mut self.0
    }
}

impl Slot {
    /// Number by number; whole arrays, which compilers make one instruction of.
    #[inline(always)]
    pub(super) fn with(&self, o: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        let (x, y) = (self.0, o.0);
        Self(std::array::from_fn(|k| of(x[k], y[k])))
    }
}

/// Most lanes of any kind.
pub(super) const MAX_LANES: usize = 8;

/// Arithmetic lane by lane.
///
/// Kinds for vector instructions are used only where the processor has these: see [`Instructions`]. All arithmetic on them is to be within [`Lane::compiled`]
/// and inlined there; what is not is right, but slow.
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
    /// Work compiled for the instructions of this kind.
    ///
    /// # Safety
    /// The processor has them.
    #[inline(always)]
    unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
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
    /// Hands out the row of each lane, made of its columns.
    fn rows(columns: [Self; 8], write: impl FnMut(usize, Slot));
    /// `yes` where this is greater than zero, `no` elsewhere.
    fn if_positive(self, yes: Self, no: Self) -> Self;
    /// True if every lane is zero: not if one is NaN.
    fn is_zero(self) -> bool;
}

/// An array of the values of a function, which is inlined for sure: [`std::array::from_fn`] is so only where that is small.
#[inline(always)]
pub(super) fn each<T: Copy, const N: usize>(of: impl Fn(usize) -> T) -> [T; N] {
    let mut out = [of(0); N];
    for (k, out) in out.iter_mut().enumerate().skip(1) {
        *out = of(k);
    }
    out
}

/// An expression compiled for the instructions of lanes, see [`Lane::compiled`]. The closure is inlined into that function.
macro_rules! compiled {
    ($lane:ty, $work:expr) => {
        <$lane>::compiled(
            #[inline(always)]
            || $work,
        )
    };
}
pub(super) use compiled;

/// A closure that is inlined for sure.
macro_rules! inlined {
    ($closure:expr) => {
        std::convert::identity(
            #[inline(always)]
            $closure,
        )
    };
}
pub(super) use inlined;

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
        row(0).0
    }

    #[inline(always)]
    fn rows(columns: [Self; 8], mut write: impl FnMut(usize, Slot)) {
        write(0, Slot(columns));
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        chosen(self > 0.0, yes, no)
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0.0
    }
}

/// Twice as many lanes. A patch is a chain of operations that wait for each other; two chains side by side fill the gaps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Twice<L>(L, L);

macro_rules! both {
    ($($trait:ident $method:ident),+) => {$(
        impl<L: Lane> $trait for Twice<L> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self(self.0.$method(o.0), self.1.$method(o.1))
            }
        }
    )+};
}

both!(Add add, Sub sub, Mul mul, Div div);

impl<L: Lane> Neg for Twice<L> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl<L: Lane> AddAssign for Twice<L> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<L: Lane> SubAssign for Twice<L> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<L: Lane> Lane for Twice<L> {
    const LANES: usize = 2 * L::LANES;

    #[inline(always)]
    unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
        // SAFETY: as the caller promises.
        unsafe { L::compiled(work) }
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(L::splat(x), L::splat(x))
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        Self(self.0.max(o.0), self.1.max(o.1))
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        Self(self.0.min(o.0), self.1.min(o.1))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }

    #[inline(always)]
    fn columns<'a>(row: impl Fn(usize) -> &'a Slot) -> [Self; 8] {
        let (x, y) = (L::columns(&row), L::columns(inlined!(|lane: usize| row(lane + L::LANES))));
        each(inlined!(|k: usize| Self(x[k], y[k])))
    }

    #[inline(always)]
    fn rows(columns: [Self; 8], mut write: impl FnMut(usize, Slot)) {
        L::rows(each(inlined!(|k: usize| columns[k].0)), &mut write);
        L::rows(
            each(inlined!(|k: usize| columns[k].1)),
            inlined!(|lane: usize, row: Slot| write(lane + L::LANES, row)),
        );
    }

    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        Self(self.0.if_positive(yes.0, no.0), self.1.if_positive(yes.1, no.1))
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0.is_zero() && self.1.is_zero()
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

/// Axes of a frame in every lane, as columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axes<L>([Vec3<L>; 3]);

impl<L: Lane> Axes<L> {
    #[inline(always)]
    pub(super) fn new([x, y, z, w]: [L; 4]) -> Self {
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, xy, xz) = (x * x2, x * y2, x * z2);
        let (yy, yz, zz) = (y * y2, y * z2, z * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        let one = L::splat(1.0);
        Self([
            Vec3 { x: one - (yy + zz), y: xy + wz, z: xz - wy },
            Vec3 { x: xy - wz, y: one - (xx + zz), z: yz + wx },
            Vec3 { x: xz + wy, y: yz - wx, z: one - (xx + yy) },
        ])
    }

    /// A vector given along these axes, in world axes.
    #[inline(always)]
    pub(super) fn turn(&self, v: Vec3<L>) -> Vec3<L> {
        let [a, b, c] = self.0;
        a.scale(v.x).plus(b.scale(v.y)).plus(c.scale(v.z))
    }
}
