//! `docs/scene-format.md` lists exactly the fields that the types have, each with a unit, a default and a meaning; and the
//! defaults that it states are true.

use scene::format::{
    body::{
        BodySpec, InertiaSpec, LegSpec, MotionSpec, PointMassSpec, RandomSpec, RepeatSpec, RotationSpec,
        VarySpec,
    },
    joint::{
        JointAxisSpec, JointCurveSpec, JointMotorSpec, JointPointSpec, JointSoftSpec, JointSpec,
        JointSpringSpec, JointSurfaceSpec,
    },
    model::{
        AnchorSpec, CombineSpec, ControllerSpec, ForceSpec, MaterialSpec, PairSpec, PartsSpec, RecordSpec,
        RunSpec, Scene, StepperSpec,
    },
    shape::{PartSpec, ShapeSpec},
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor, value::Error},
};
use std::{cell::RefCell, collections::BTreeMap};

/// Asks a type for the names of its fields: a deserializer that listens and gives nothing.
struct Listener<'a> {
    heard: &'a RefCell<Vec<String>>,
    /// Which variant of an enum to ask for.
    variant: usize,
    variants: &'a RefCell<Vec<String>>,
}

fn silence() -> Error {
    serde::de::Error::custom("listening only")
}

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(silence())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.heard.borrow_mut().extend(fields.iter().map(|f| (*f).to_owned()));
        Err(silence())
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.variants.borrow_mut() = variants.iter().map(|v| (*v).to_owned()).collect();
        visitor.visit_enum(Choose { name: variants[self.variant], heard: self.heard })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

struct Choose<'a> {
    name: &'static str,
    heard: &'a RefCell<Vec<String>>,
}

impl<'de> EnumAccess<'de> for Choose<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Error> {
        let deserializer: serde::de::value::StrDeserializer<'_, Error> = self.name.into_deserializer();
        Ok((seed.deserialize(deserializer)?, self))
    }
}

impl<'de> VariantAccess<'de> for Choose<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Error> {
        Err(silence())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(silence())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.heard.borrow_mut().extend(fields.iter().map(|f| (*f).to_owned()));
        Err(silence())
    }
}

/// `field`, or `kind.field` and `kind` for enums.
fn fields_of<T: for<'de> Deserialize<'de>>() -> Vec<String> {
    let (heard, variants) = (RefCell::default(), RefCell::default());
    let _ = T::deserialize(Listener { heard: &heard, variant: 0, variants: &variants });
    let names = variants.borrow().clone();
    if names.is_empty() {
        return heard.into_inner();
    }
    let mut all = Vec::new();
    for (k, name) in names.iter().enumerate() {
        let (heard, variants) = (RefCell::default(), RefCell::default());
        let _ = T::deserialize(Listener { heard: &heard, variant: k, variants: &variants });
        let heard = heard.into_inner();
        if heard.is_empty() {
            all.push(name.clone());
        }
        all.extend(heard.iter().map(|field| format!("{name}.{field}")));
    }
    all
}

/// Rows of each section: type name to (field or kind.field, row).
fn documented() -> BTreeMap<String, Vec<(String, Vec<String>)>> {
    let text = include_str!("../../../docs/scene-format.md");
    let mut sections: BTreeMap<String, Vec<(String, Vec<String>)>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("### `") {
            current = Some(name.trim_end_matches('`').to_owned());
        } else if line.starts_with('#') {
            current = None;
        }
        let Some(name) = current.as_ref().filter(|_| line.starts_with("| `")) else { continue };
        let cells: Vec<String> = line.trim_matches('|').split(" | ").map(|c| c.trim().to_owned()).collect();
        let bare = |k: usize| cells[k].trim_matches('`').to_owned();
        let (key, rest) = match cells.len() {
            4 => (bare(0), cells[1..].to_vec()),
            5 if cells[1] == "-" => (bare(0), cells[2..].to_vec()),
            5 => (format!("{}.{}", bare(0), bare(1)), cells[2..].to_vec()),
            // Tables of other things, such as controllers.
            _ => continue,
        };
        sections.entry(name.clone()).or_default().push((key, rest));
    }
    sections
}

#[test]
fn every_field_is_documented_and_nothing_else() {
    let mut sections = documented();
    let types: [(&str, Vec<String>); 30] = [
        ("Scene", fields_of::<Scene>()),
        ("MaterialSpec", fields_of::<MaterialSpec>()),
        ("PairSpec", fields_of::<PairSpec>()),
        ("CombineSpec", fields_of::<CombineSpec>()),
        ("BodySpec", fields_of::<BodySpec>()),
        ("PointMassSpec", fields_of::<PointMassSpec>()),
        ("InertiaSpec", fields_of::<InertiaSpec>()),
        ("VarySpec", fields_of::<VarySpec>()),
        ("RandomSpec", fields_of::<RandomSpec>()),
        ("RotationSpec", fields_of::<RotationSpec>()),
        ("MotionSpec", fields_of::<MotionSpec>()),
        ("RepeatSpec", fields_of::<RepeatSpec>()),
        ("LegSpec", fields_of::<LegSpec>()),
        ("ShapeSpec", fields_of::<ShapeSpec>()),
        ("PartSpec", fields_of::<PartSpec>()),
        ("JointSpec", fields_of::<JointSpec>()),
        ("JointAxisSpec", fields_of::<JointAxisSpec>()),
        ("JointMotorSpec", fields_of::<JointMotorSpec>()),
        ("JointSpringSpec", fields_of::<JointSpringSpec>()),
        ("JointSoftSpec", fields_of::<JointSoftSpec>()),
        ("JointPointSpec", fields_of::<JointPointSpec>()),
        ("JointCurveSpec", fields_of::<JointCurveSpec>()),
        ("JointSurfaceSpec", fields_of::<JointSurfaceSpec>()),
        ("ForceSpec", fields_of::<ForceSpec>()),
        ("AnchorSpec", fields_of::<AnchorSpec>()),
        ("ControllerSpec", fields_of::<ControllerSpec>()),
        ("StepperSpec", fields_of::<StepperSpec>()),
        ("PartsSpec", fields_of::<PartsSpec>()),
        ("RunSpec", fields_of::<RunSpec>()),
        ("RecordSpec", fields_of::<RecordSpec>()),
    ];
    for (name, fields) in types {
        assert!(!fields.is_empty(), "{name} told no fields");
        let rows = sections.remove(name).unwrap_or_else(|| panic!("{name} is not in the documentation"));
        let listed: Vec<&String> = rows.iter().map(|(key, _)| key).collect();
        assert_eq!(listed, fields.iter().collect::<Vec<_>>(), "fields of {name}");
        for (key, cells) in &rows {
            assert!(cells.iter().all(|c| !c.is_empty()), "{name}.{key}: unit, default or meaning is missing");
        }
    }
    assert!(sections.is_empty(), "documented and not there: {:?}", sections.keys());
}

#[test]
fn required_fields_are_required_and_others_are_not() {
    let value = |field: &str| match field {
        "count" => "3",
        "radius" | "height" | "bottom" | "top" | "curvature" | "rim" | "thickness" | "major" | "minor" => "1",
        _ => "?",
    };
    // The shapes that need numbers alone: with all required fields they are read, and without any of them they are not.
    for (key, _) in documented()["ShapeSpec"].iter().filter(|(_, cells)| cells[1] == "required") {
        let (kind, field) = key.split_once('.').unwrap();
        let required: Vec<&str> = documented_required(kind);
        if required.iter().any(|f| value(f) == "?") {
            continue;
        }
        let all: Vec<String> = required.iter().map(|f| format!("{f}: {}", value(f))).collect();
        let parse = |fields: &[String]| {
            let text = format!("(bodies: [(shape: {kind}({}))])", fields.join(", "));
            scene::format::text::parse(&text, scene::format::text::Syntax::Ron, "x.ron")
        };
        parse(&all).unwrap();
        let without: Vec<String> =
            all.iter().filter(|f| !f.starts_with(&format!("{field}:"))).cloned().collect();
        assert_eq!(parse(&without).unwrap_err().problem, format!("missing field `{field}`"), "{key}");
    }
}

fn documented_required(kind: &str) -> Vec<&'static str> {
    let sections = documented();
    let rows = sections["ShapeSpec"].clone();
    rows.into_iter()
        .filter(|(_, cells)| cells[1] == "required")
        .filter_map(|(key, _)| {
            let (k, f) = key.split_once('.')?;
            (k == kind).then(|| &*Box::leak(f.to_owned().into_boxed_str()))
        })
        .collect()
}
