//! Shapes, scripts and force fields that have no form as data: they are saved by name.

use crate::{control::Controller, force::ForceField, script::Script};
use sim_traits::Shape;
use std::sync::Arc;

/// Names of custom shapes, scripts and force fields. The same names must be registered when a snapshot is restored; what is behind a name
/// is then the caller's word.
///
/// Primitive shapes, polyhedra and the scripts of this workspace need no name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    shapes: Vec<(String, Shape)>,
    scripts: Vec<(String, Arc<dyn Script>)>,
    fields: Vec<(String, Arc<dyn ForceField>)>,
    controllers: Vec<Arc<dyn Controller>>,
}

/// The same object, not an equal one.
#[cfg(feature = "serde")]
fn same(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Convex(a), Shape::Convex(b)) => std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b)),
        (Shape::Custom(a), Shape::Custom(b)) => std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b)),
        _ => false,
    }
}

impl Registry {
    /// Without names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names a shape; bodies must have a clone of this very one. A name given twice keeps its first meaning.
    #[must_use]
    pub fn shape(mut self, name: &str, shape: Shape) -> Self {
        self.shapes.push((name.to_owned(), shape));
        self
    }

    /// Names a script; bodies must have a clone of this very one.
    #[must_use]
    pub fn script(mut self, name: &str, script: Arc<dyn Script>) -> Self {
        self.scripts.push((name.to_owned(), script));
        self
    }

    /// Names a force field; forces must have a clone of this very one.
    #[must_use]
    pub fn field(mut self, name: &str, field: Arc<dyn ForceField>) -> Self {
        self.fields.push((name.to_owned(), field));
        self
    }

    /// Names a kind of controller by an example: a copy of it takes over what was saved. Those of this crate need none, except
    /// call-backs.
    #[must_use]
    pub fn controller(mut self, example: impl Controller + 'static) -> Self {
        self.controllers.push(Arc::new(example));
        self
    }

    #[cfg(feature = "serde")]
    pub(super) fn controller_of(&self, kind: &str) -> Option<Box<dyn Controller>> {
        self.controllers.iter().find(|c| c.kind() == kind).map(|c| c.boxed_clone())
    }

    #[cfg(feature = "serde")]
    pub(super) fn name_of_field(&self, field: &Arc<dyn ForceField>) -> Option<&str> {
        let is = |f: &Arc<dyn ForceField>| std::ptr::addr_eq(Arc::as_ptr(f), Arc::as_ptr(field));
        self.fields.iter().find(|(_, f)| is(f)).map(|(name, _)| name.as_str())
    }

    #[cfg(feature = "serde")]
    pub(super) fn field_named(&self, name: &str) -> Option<&Arc<dyn ForceField>> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, f)| f)
    }

    #[cfg(feature = "serde")]
    pub(super) fn name_of_shape(&self, shape: &Shape) -> Option<&str> {
        self.shapes.iter().find(|(_, s)| same(s, shape)).map(|(name, _)| name.as_str())
    }

    #[cfg(feature = "serde")]
    pub(super) fn name_of_script(&self, script: &Arc<dyn Script>) -> Option<&str> {
        let is = |s: &Arc<dyn Script>| std::ptr::addr_eq(Arc::as_ptr(s), Arc::as_ptr(script));
        self.scripts.iter().find(|(_, s)| is(s)).map(|(name, _)| name.as_str())
    }

    #[cfg(feature = "serde")]
    pub(super) fn shape_named(&self, name: &str) -> Option<&Shape> {
        self.shapes.iter().find(|(n, _)| n == name).map(|(_, s)| s)
    }

    #[cfg(feature = "serde")]
    pub(super) fn script_named(&self, name: &str) -> Option<&Arc<dyn Script>> {
        self.scripts.iter().find(|(n, _)| n == name).map(|(_, s)| s)
    }
}
