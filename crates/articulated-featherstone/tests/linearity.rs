//! How the work grows with the number of links, counted in additions, multiplications and divisions.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests may panic and use the platform's functions"
)]

use articulated_featherstone::{
    BaseMotion, Joint, Lane, Link, ModelBuilder, PackedTree, PackedWorkspace, Part, packed_aba, packed_rnea,
};
use sim_math::{Pose, Sym3, glam::DVec3};
use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

thread_local! {
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
}

/// A number that counts what is done with it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counted(f64);

fn count(x: f64) -> Counted {
    OPERATIONS.with(|n| n.set(n.get() + 1));
    Counted(x)
}

macro_rules! counted {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Counted {
            type Output = Self;
            fn $method(self, o: Self) -> Self {
                count(self.0 $op o.0)
            }
        }
    };
}
counted!(Add, add, +);
counted!(Sub, sub, -);
counted!(Mul, mul, *);
counted!(Div, div, /);

impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        count(-self.0)
    }
}

impl AddAssign for Counted {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Counted {
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl Part for Counted {
    fn splat(x: f64) -> Self {
        Self(x)
    }
    fn first(self) -> f64 {
        self.0
    }
    fn sin_cos_all(x: &[Self], sin: &mut [Self], cos: &mut [Self]) {
        for (k, x) in x.iter().enumerate() {
            (sin[k], cos[k]) = (count(x.0.sin()), count(x.0.cos()));
        }
    }
    fn all_positive(self) -> bool {
        self.0 > 0.0
    }
}

impl Lane for Counted {
    type Part = Self;
    const LANES: usize = 1;
    const PARTS: usize = 1;
    fn part(&self, _part: usize) -> Self {
        *self
    }
    fn set_part(&mut self, _part: usize, x: Self) {
        *self = x;
    }
    fn lane(self, _lane: usize) -> f64 {
        self.0
    }
    fn splat(x: f64) -> Self {
        Self(x)
    }
}

/// Operations of one ABA and one RNEA on a tree of n links: a chain, or every link on the one half its number.
fn operations(n: usize, chain: bool) -> (u64, u64) {
    let mut builder = ModelBuilder::new().gravity(DVec3::new(0.0, 0.0, -9.81));
    for i in 0..n {
        let axis = if i % 2 == 0 { DVec3::Y } else { DVec3::X };
        let mut link = Link::new(i.to_string(), Joint::Revolute { axis })
            .at(Pose::from_translation(DVec3::new(0.0, 0.0, -0.2)))
            .mass(1.0, DVec3::new(0.0, 0.0, -0.1), Sym3::from_scalar(0.01));
        if i > 0 {
            link = link.on(if chain { i - 1 } else { (i - 1) / 2 }.to_string());
        }
        builder = builder.link(link);
    }
    let tree = PackedTree::new(&builder.build().unwrap()).unwrap();
    let mut ws = PackedWorkspace::<Counted>::new(&tree);
    let q: Vec<Counted> = (0..n).map(|k| Counted(0.01 * (k % 7) as f64)).collect();
    let mut out = vec![Counted(0.0); n];
    let counted = |work: &mut dyn FnMut()| {
        OPERATIONS.with(|n| n.set(0));
        work();
        OPERATIONS.with(Cell::get)
    };
    let base = BaseMotion::default();
    let aba = counted(&mut || packed_aba(&tree, &base, &q, &q, &q, &[], &mut ws, &mut out).unwrap());
    let rnea = counted(&mut || packed_rnea(&tree, &base, &q, &q, &q, &[], &mut ws, &mut out).unwrap());
    (aba, rnea)
}

// proves: MIR-62, ARN-21
#[test]
fn the_work_of_aba_and_rnea_is_linear_in_the_number_of_links() {
    for chain in [true, false] {
        let (small, large) = (operations(10, chain), operations(1000, chain));
        let slope = |a: u64, b: u64| (b as f64 / a as f64).ln() / 100_f64.ln();
        let slopes = (slope(small.0, large.0), slope(small.1, large.1));
        println!("chain {chain}: {small:?} {large:?}, slopes {slopes:?}");
        assert!(slopes.0 <= 1.05 && slopes.1 <= 1.05, "{slopes:?}");
        // In a chain exactly: every link costs the same, the first and the last apart.
        let middle = operations(100, chain);
        if chain {
            assert_eq!(large.0 - middle.0, (middle.0 - small.0) * 10, "aba");
            assert_eq!(large.1 - middle.1, (middle.1 - small.1) * 10, "rnea");
        }
    }
}
