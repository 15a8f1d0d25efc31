//! A scene file as a whole: everything but shapes and bodies.

use super::{body::BodySpec, is_default, joint::JointSpec, shape::ShapeSpec, vector::Triple};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor},
};
use std::{collections::BTreeMap, fmt, marker::PhantomData};

/// A scene file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// Title, for people.
    #[serde(skip_serializing_if = "is_default")]
    pub title: Option<String>,
    /// What happens in it, for people.
    #[serde(skip_serializing_if = "is_default")]
    pub about: Option<String>,
    /// Files whose materials, shapes, bodies, joints, forces and controllers come first, relative to this file. Their other settings
    /// hold where this file has none.
    #[serde(skip_serializing_if = "is_default")]
    pub include: Vec<String>,
    /// Gravity, m/s². Default (0, 0, −9.81).
    #[serde(skip_serializing_if = "is_default")]
    pub gravity: Option<Triple>,
    /// Materials by name.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "unique_keys")]
    pub materials: BTreeMap<String, MaterialSpec>,
    /// Friction and restitution of pairs of materials.
    #[serde(skip_serializing_if = "is_default")]
    pub pairs: Vec<PairSpec>,
    /// How numbers of two surfaces combine that are not in `pairs`.
    #[serde(skip_serializing_if = "is_default")]
    pub combine: CombineSpec,
    /// Shapes by name.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "unique_keys")]
    pub shapes: BTreeMap<String, ShapeSpec>,
    /// Bodies.
    #[serde(skip_serializing_if = "is_default")]
    pub bodies: Vec<BodySpec>,
    /// Joints.
    #[serde(skip_serializing_if = "is_default")]
    pub joints: Vec<JointSpec>,
    /// Forces besides gravity.
    #[serde(skip_serializing_if = "is_default")]
    pub forces: Vec<ForceSpec>,
    /// Controllers by name and parameters.
    #[serde(skip_serializing_if = "is_default")]
    pub controllers: Vec<ControllerSpec>,
    /// What moves the world on in time.
    #[serde(skip_serializing_if = "is_default")]
    pub stepper: StepperSpec,
    /// Algorithms that the stepper uses.
    #[serde(skip_serializing_if = "is_default")]
    pub parts: PartsSpec,
    /// How long to run.
    #[serde(skip_serializing_if = "is_default")]
    pub run: RunSpec,
    /// What to record.
    #[serde(skip_serializing_if = "is_default")]
    pub record: RecordSpec,
}

/// A material.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaterialSpec {
    /// kg/m³. Default 1000.
    #[serde(skip_serializing_if = "is_default")]
    pub density: Option<f64>,
    /// Coefficient of friction. Default 0.5.
    #[serde(skip_serializing_if = "is_default")]
    pub friction: Option<f64>,
    /// Coefficient of restitution. Default 0.2.
    #[serde(skip_serializing_if = "is_default")]
    pub restitution: Option<f64>,
    /// Rolling friction, m. Default 0.
    #[serde(skip_serializing_if = "is_default")]
    pub rolling_friction: Option<f64>,
    /// Torsional friction, m. Default 0.
    #[serde(skip_serializing_if = "is_default")]
    pub torsional_friction: Option<f64>,
}

/// What two materials do together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairSpec {
    /// One material.
    pub a: String,
    /// The other one, or the same.
    pub b: String,
    /// Coefficient of friction.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
}

/// Rules for two surfaces.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CombineSpec {
    /// Rule for friction. Default `geometric_mean`.
    #[serde(skip_serializing_if = "is_default")]
    pub friction: Option<Rule>,
    /// Rule for restitution. Default `greatest`.
    #[serde(skip_serializing_if = "is_default")]
    pub restitution: Option<Rule>,
    /// Rule for rolling and torsional friction. Default `greatest`.
    #[serde(skip_serializing_if = "is_default")]
    pub turning: Option<Rule>,
}

/// How two coefficients become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// √(x y).
    GeometricMean,
    /// (x + y)/2.
    Average,
    /// x y.
    Product,
    /// The smaller.
    Least,
    /// The larger.
    Greatest,
}

/// A force besides gravity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ForceSpec {
    /// Constant force at the centre of mass and constant torque, world axes.
    Constant {
        /// Name of a body; of all copies if it is repeated.
        body: String,
        /// N.
        #[serde(default, skip_serializing_if = "is_default")]
        force: Triple,
        /// N·m.
        #[serde(default, skip_serializing_if = "is_default")]
        torque: Triple,
    },
    /// Spring and damper between two points.
    Spring {
        /// One end.
        a: AnchorSpec,
        /// The other end.
        b: AnchorSpec,
        /// N/m.
        stiffness: f64,
        /// N·s/m.
        #[serde(default, skip_serializing_if = "is_default")]
        damping: f64,
        /// Length without force, m.
        #[serde(default, skip_serializing_if = "is_default")]
        rest_length: f64,
    },
    /// Drag against velocity and angular velocity.
    Drag {
        /// Name of a body; of all copies if it is repeated.
        body: String,
        /// N·s/m.
        #[serde(default, skip_serializing_if = "is_default")]
        linear: f64,
        /// N·m·s.
        #[serde(default, skip_serializing_if = "is_default")]
        angular: f64,
    },
}

/// Where a spring holds on to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AnchorSpec {
    /// A point of the world, m.
    World(Triple),
    /// A point of a body.
    Body {
        /// Name of the body.
        name: String,
        /// In the frame of the body, m.
        #[serde(default, skip_serializing_if = "is_default")]
        at: Triple,
    },
}

/// A controller by its name in the registry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// Name in the registry, such as `gravity` or `kick`.
    pub name: String,
    /// First time it acts, s. Default 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: f64,
    /// Time between two acts, s; acts once if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub period: Option<f64>,
    /// Most acts; no limit if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub times: Option<u32>,
    /// Numbers, vectors and names that the controller asks for.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "unique_keys")]
    pub params: BTreeMap<String, ParamValue>,
}

/// A parameter of a controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamValue {
    /// A number.
    Number(f64),
    /// A vector.
    Vector(Triple),
    /// A name or a word.
    Text(String),
}

/// What moves the world on, and its parameters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepperSpec {
    /// Which one. Default `time`, or `event_driven` where a field of that stepper is set.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: Option<String>,
    /// Collision envelope, m. Default 1e-3 of the radius of the smallest free body.
    #[serde(skip_serializing_if = "is_default")]
    pub envelope: Option<f64>,
    /// Collision envelope as a share of the size of the smallest free body, instead of `envelope`. Default none.
    #[serde(skip_serializing_if = "is_default")]
    pub envelope_share: Option<f64>,
    /// Length of a broad-phase window, s. Default 0.05.
    #[serde(skip_serializing_if = "is_default")]
    pub window: Option<f64>,
    /// `standard`: one impulse at the closest points; `improved`: at every contact of a pair. Default `improved`.
    #[serde(skip_serializing_if = "is_default")]
    pub contacts: Option<ContactsSpec>,
    /// Resting contact by micro-collisions. Default true.
    #[serde(skip_serializing_if = "is_default")]
    pub micro_collisions: Option<bool>,
    /// Time after which bodies that do not move fall asleep, s. Default none: nobody sleeps.
    #[serde(skip_serializing_if = "is_default")]
    pub sleep: Option<f64>,
    /// Most events in one call. Default 1e8.
    #[serde(skip_serializing_if = "is_default")]
    pub max_events: Option<u64>,
    /// Longest step of time stepping, s. Default 1/60.
    #[serde(skip_serializing_if = "is_default")]
    pub step: Option<f64>,
}

/// Which contacts of a pair get an impulse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactsSpec {
    /// The closest points.
    Standard,
    /// All contacts of the pair.
    Improved,
}

/// Algorithms by name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartsSpec {
    /// Finds pairs of boxes. Default `coherent_hash`.
    #[serde(skip_serializing_if = "is_default")]
    pub broad_phase: Option<String>,
    /// Finds distances and contacts. Default `default`.
    #[serde(skip_serializing_if = "is_default")]
    pub narrow_phase: Option<String>,
    /// Law of impact. Default `integrated`.
    #[serde(skip_serializing_if = "is_default")]
    pub impact: Option<String>,
    /// Law of contact under time stepping, which it selects if `stepper.kind` is not given. Default `cone`.
    #[serde(skip_serializing_if = "is_default")]
    pub solver: Option<String>,
    /// Threads that share the work of one step; results do not depend on them. Default 1.
    #[serde(skip_serializing_if = "is_default")]
    pub threads: Option<usize>,
}

/// How long to run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSpec {
    /// Simulated time, s. Default 5.
    #[serde(skip_serializing_if = "is_default")]
    pub until: Option<f64>,
}

/// What to record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordSpec {
    /// Frames per simulated second, Hz. Default 60.
    #[serde(skip_serializing_if = "is_default")]
    pub rate: Option<f64>,
    /// Collisions as contact points with impulses. Default true.
    #[serde(skip_serializing_if = "is_default")]
    pub contacts: Option<bool>,
    /// Boxes and pairs of the broad phase. Default true for up to 200 bodies, else false.
    #[serde(skip_serializing_if = "is_default")]
    pub boxes: Option<bool>,
}

/// A map whose keys may not come twice: plain maps would keep the last one and say nothing.
fn unique_keys<'de, D, V>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct Unique<V>(PhantomData<V>);
    impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map from names")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(key) = access.next_key::<String>()? {
                if map.contains_key(&key) {
                    return Err(de::Error::custom(format_args!("`{key}` is given twice")));
                }
                let value = access.next_value()?;
                map.insert(key, value);
            }
            Ok(map)
        }
    }
    deserializer.deserialize_map(Unique(PhantomData))
}
