//! Names of things: small, ordered, safe to keep after the thing is gone.
//!
//! World objects are addressed by index and generation: an index is reused, but with a higher generation, so
//! a stale id never reaches a newer object. Inside one phase, where the owner guarantees freshness, a bare
//! index does ([`ProxyId`], [`PartId`]).

use std::fmt;

macro_rules! generational_id {
    ($name:ident, $noun:literal) => {
        #[doc = concat!("Address of ", $noun, ": slot index and the generation of the slot's tenant.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name {
            index: u32,
            generation: u32,
        }

        impl $name {
            /// From its two numbers.
            #[inline]
            #[must_use]
            pub const fn new(index: u32, generation: u32) -> Self {
                Self { index, generation }
            }

            /// Slot number, dense from 0.
            #[inline]
            #[must_use]
            pub const fn index(self) -> u32 {
                self.index
            }

            /// How many tenants the slot had before this one.
            #[inline]
            #[must_use]
            pub const fn generation(self) -> u32 {
                self.generation
            }
        }

        impl fmt::Display for $name {
            /// `body 3`, or `body 3.1` for the second tenant of slot 3.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.generation {
                    0 => write!(f, "{} {}", $noun, self.index),
                    g => write!(f, "{} {}.{g}", $noun, self.index),
                }
            }
        }
    };
}

generational_id!(BodyId, "body");
generational_id!(ColliderId, "collider");
generational_id!(JointId, "joint");
generational_id!(TreeId, "tree");
generational_id!(SystemId, "system");

macro_rules! index_id {
    ($name:ident, $noun:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            /// For indexing.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", $noun, self.0)
            }
        }
    };
}

index_id!(
    ProxyId,
    "proxy",
    "Slot of a box in a broad phase, chosen by the caller; small numbers make small tables."
);
index_id!(PartId, "part", "Part of a velocity system: a body of the free-body pool, a link of a tree.");

/// Two proxies, the smaller first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pair {
    /// The smaller id.
    pub a: ProxyId,
    /// The larger id.
    pub b: ProxyId,
}

impl Pair {
    /// The pair of two different proxies, in either order.
    #[inline]
    #[must_use]
    pub fn new(x: ProxyId, y: ProxyId) -> Self {
        debug_assert!(x != y, "a proxy does not pair with itself: {x}");
        if x < y { Self { a: x, b: y } } else { Self { a: y, b: x } }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.a.0, self.b.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_the_same_in_either_order() {
        assert_eq!(Pair::new(ProxyId(7), ProxyId(3)), Pair::new(ProxyId(3), ProxyId(7)));
        assert_eq!(Pair::new(ProxyId(7), ProxyId(3)).a, ProxyId(3));
    }

    #[test]
    fn ids_print_so_that_a_person_finds_the_object() {
        assert_eq!(BodyId::new(3, 0).to_string(), "body 3");
        assert_eq!(ColliderId::new(3, 2).to_string(), "collider 3.2");
        assert_eq!(PartId(5).to_string(), "part 5");
        assert!(BodyId::new(3, 0) != BodyId::new(3, 1));
    }
}
