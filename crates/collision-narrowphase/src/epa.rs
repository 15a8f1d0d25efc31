//! stub
use crate::{Polyhedron, relative::Frame};
use sim_traits::Separation;
pub(crate) fn polyhedra(_a: &Polyhedron, _b: &Polyhedron, _f: &Frame) -> Option<Separation> {
    None
}
