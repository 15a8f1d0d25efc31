//! Three numbers, written `(x, y, z)` or `[x, y, z]`.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
    ser::SerializeTuple,
};
use sim_math::glam::DVec3;
use std::fmt;

/// A vector in a scene file: `(x, y, z)` in RON, `[x, y, z]` in RON and JSON.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Triple(pub DVec3);

impl Triple {
    /// From its components.
    #[must_use]
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self(DVec3::new(x, y, z))
    }
}

impl From<DVec3> for Triple {
    fn from(v: DVec3) -> Self {
        Self(v)
    }
}

impl Serialize for Triple {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(3)?;
        for x in self.0.to_array() {
            tuple.serialize_element(&x)?;
        }
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for Triple {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Three;
        impl<'de> Visitor<'de> for Three {
            type Value = Triple;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("three numbers (x, y, z)")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Triple, A::Error> {
                let mut v = DVec3::ZERO;
                for k in 0..3 {
                    v[k] = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(k, &self))?;
                }
                match seq.next_element::<de::IgnoredAny>()? {
                    None => Ok(Triple(v)),
                    Some(_) => Err(de::Error::invalid_length(4, &self)),
                }
            }
        }
        deserializer.deserialize_any(Three)
    }
}
