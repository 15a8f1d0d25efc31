//! A faster form of trees made of hinges and sliders, with an optional free root: the same results to rounding, in about half the time.
//!
//! [`PackedTree::new`] turns the frame of each link so that its joint lies on a coordinate axis; the algorithms then know the axis at
//! compile time and never multiply by the zeros and ones of general rotations. They are generic over [`Lane`]: one state, or four states of one
//! model at once ([`Lanes4`]), every lane with the bits of the single run.
//!
//! Use it when one model is evaluated very often; everything else (impulses, Jacobians, other joints) is in the general functions.

mod aba;
mod crba;
mod deep_crba;
mod kernels;
mod lane;
mod rnea;
mod sincos;

pub use aba::packed_aba;
pub use crba::packed_crba;
pub use lane::{Lane, Lanes4};
pub use rnea::packed_rnea;

use crate::{BaseMotion, Joint, Model, algorithm::check_len};
use kernels::{Articulated, V3, add, cross, rotate_back, sym_mul_const, zero};
use sim_math::{
    glam::{DMat3, DQuat, DVec3},
    rotation::minimal_rotation,
};
use sim_traits::DynamicsError;
use thiserror::Error;

/// A joint that has no packed form.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("link {link:?} has no packed form: {why}")]
pub struct NotPackable {
    /// The link.
    pub link: String,
    /// What stands in the way.
    pub why: &'static str,
}

/// What moves a packed link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Hinge,
    Slider,
    Free,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackedLink {
    parent_slot: usize,
    kind: Kind,
    axis: u8,
    /// The joint frame is turned against the parent's.
    turned: bool,
    q: usize,
    v: usize,
    /// −1 if the joint axis points against the coordinate axis: coordinates, velocities and forces change sign.
    sign: f64,
    armature: f64,
    r: [f64; 3],
    /// Axes of the joint frame in the parent, column after column.
    e: [[f64; 3]; 3],
    mass: f64,
    h: [f64; 3],
    inertia: [f64; 6],
}

/// A [`Model`] of hinges, sliders and an optional free root, laid out for speed.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedTree {
    links: Vec<PackedLink>,
    q_len: usize,
    v_len: usize,
    gravity: DVec3,
    /// For each slot the parent's slot and the place of its velocity, `u32::MAX` for a free root and for the base.
    walk: Vec<[u32; 2]>,
    /// Longest way to the base, in joints.
    depth: usize,
}

impl PackedTree {
    /// Packs a model.
    ///
    /// # Errors
    /// [`NotPackable`] names the first link whose joint is neither hinge, slider nor free root, or that has no inertia of its own
    /// along its joint.
    pub fn new(model: &Model) -> Result<Self, NotPackable> {
        let mut links = Vec::with_capacity(model.link_count());
        // Axes of the packed frame of each slot in the link's own frame; the base keeps its own.
        let mut frames = vec![DMat3::IDENTITY];
        for (i, link) in model.links.iter().enumerate() {
            let refuse = |why| NotPackable { link: model.names[i].clone(), why };
            let (kind, axis, sign, frame) = match link.joint {
                Joint::Revolute { axis } => with_axis(Kind::Hinge, axis).ok_or_else(|| refuse("bad axis"))?,
                Joint::Prismatic { axis } => {
                    with_axis(Kind::Slider, axis).ok_or_else(|| refuse("bad axis"))?
                }
                Joint::Free if link.parent_slot == 0 => (Kind::Free, 0, 1.0, DMat3::IDENTITY),
                Joint::Free => return Err(refuse("only the root may be free")),
                _ => return Err(refuse("only hinges, sliders and a free root are packed")),
            };
            let to_packed = sim_math::spatial::SpatialTransform::new(frame, DVec3::ZERO);
            let inertia = to_packed.inverse_rigid_inertia(&link.inertia);
            let armature = match kind {
                Kind::Free => 0.0,
                _ => model.armature[link.v],
            };
            let parent = frames[link.parent_slot];
            let e = parent.transpose() * link.parent_from_joint.rotation * frame;
            let own = match kind {
                Kind::Hinge => inertia.inertia_at_origin.diagonal()[axis as usize],
                _ => inertia.mass,
            };
            let has_inertia = own + armature > 0.0 && inertia.mass > 0.0;
            if !has_inertia {
                return Err(refuse("no inertia of its own along the joint"));
            }
            if kind == Kind::Free && model.armature[link.v..link.v_end].iter().any(|a| *a != 0.0) {
                return Err(refuse("rotor inertia on a free joint"));
            }
            links.push(PackedLink {
                parent_slot: link.parent_slot,
                kind,
                axis,
                turned: e != DMat3::IDENTITY,
                q: link.q,
                v: link.v,
                sign,
                armature,
                r: (parent.transpose() * link.parent_from_joint.translation).to_array(),
                e: e.to_cols_array_2d(),
                mass: inertia.mass,
                h: inertia.first_moment.to_array(),
                inertia: inertia.inertia_at_origin.to_array(),
            });
            frames.push(frame);
        }
        let mut walk = vec![[0, u32::MAX]];
        let mut depths = vec![0];
        for link in &links {
            let v = if link.kind == Kind::Free { u32::MAX } else { link.v as u32 };
            walk.push([link.parent_slot as u32, v]);
            depths.push(depths[link.parent_slot] + 1);
        }
        let depth = depths.into_iter().fold(0, usize::max);
        Ok(Self { links, q_len: model.q_len(), v_len: model.v_len(), gravity: model.gravity, walk, depth })
    }

    /// Number of links.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Number of coordinates, as in the model.
    #[must_use]
    pub fn q_len(&self) -> usize {
        self.q_len
    }

    /// Number of velocities, as in the model.
    #[must_use]
    pub fn v_len(&self) -> usize {
        self.v_len
    }
}

/// Packed axis, sign and frame (packed axes in the link's own frame) for a joint axis.
fn with_axis(kind: Kind, axis: DVec3) -> Option<(Kind, u8, f64, DMat3)> {
    for (k, e) in DVec3::AXES.into_iter().enumerate() {
        if axis == e {
            return Some((kind, k as u8, 1.0, DMat3::IDENTITY));
        }
        if axis == -e {
            return Some((kind, k as u8, -1.0, DMat3::IDENTITY));
        }
    }
    let turn: DQuat = minimal_rotation(DVec3::Z, axis.normalize()).ok()?;
    Some((kind, 2, 1.0, DMat3::from_quat(turn.normalize())))
}

/// Motion of a link, packed axes. With the classical acceleration of the origin, linear velocities are not needed.
#[derive(Debug, Clone, Copy)]
struct Kin<T> {
    w: V3<T>,
    aw: V3<T>,
    /// Acceleration of the link origin.
    ac: V3<T>,
    /// α̃ + ω̃ ω̃ by rows: the acceleration of a point at r is `ac` + K r.
    k: [V3<T>; 3],
}

impl<T: Lane> Kin<T> {
    #[inline(always)]
    fn new(w: V3<T>, aw: V3<T>, ac: V3<T>) -> Self {
        let (xx, yy, zz) = (w[0] * w[0], w[1] * w[1], w[2] * w[2]);
        let (xy, xz, yz) = (w[0] * w[1], w[0] * w[2], w[1] * w[2]);
        let k = [
            [-(yy + zz), xy - aw[2], xz + aw[1]],
            [xy + aw[2], -(xx + zz), yz - aw[0]],
            [xz - aw[1], yz + aw[0], -(xx + yy)],
        ];
        Self { w, aw, ac, k }
    }

    /// Acceleration of the point at `r`.
    #[inline(always)]
    fn at(&self, r: V3<T>) -> V3<T> {
        std::array::from_fn(|i| {
            self.ac[i] + (self.k[i][0] * r[0] + self.k[i][1] * r[1] + self.k[i][2] * r[2])
        })
    }
}

/// Spatial velocity and acceleration of the base, gravity taken out.
#[derive(Debug, Clone, Copy)]
struct BaseKin<T> {
    w: V3<T>,
    v: V3<T>,
    aw: V3<T>,
    al: V3<T>,
}

#[derive(Debug, Clone, Copy)]
struct Work<T> {
    kin: Kin<T>,
    /// Sine and cosine of a hinge; for a slider the second is the distance.
    sc: (T, T),
    n: V3<T>,
    f: V3<T>,
    art: Articulated<T>,
    d_inv: T,
    u: T,
    /// Rotation of a free root, columns.
    free: [V3<T>; 3],
}

/// Memory of the packed algorithms.
#[derive(Debug, Clone)]
pub struct PackedWorkspace<T> {
    work: Vec<Work<T>>,
    /// Joint axes in the base frame, for the mass matrix of deep trees.
    axes: Vec<[T; 6]>,
}

impl<T: Lane> PackedWorkspace<T> {
    /// Allocates for `tree`.
    #[must_use]
    pub fn new(tree: &PackedTree) -> Self {
        let o = T::splat(0.0);
        let kin = Kin::new(zero(), zero(), zero());
        let art = Articulated { j: [o; 6], h: [zero(); 3], m: [o; 6] };
        let work = Work { kin, sc: (o, o), n: zero(), f: zero(), art, d_inv: o, u: o, free: [zero(); 3] };
        Self { work: vec![work; tree.links.len() + 1], axes: vec![[o; 6]; tree.links.len() + 1] }
    }

    fn check(&self, tree: &PackedTree) -> Result<(), DynamicsError> {
        check_len("packed workspace", self.work.len(), tree.links.len() + 1)
    }
}

/// Writes what the base does into slot 0.
fn place_base<T: Lane>(tree: &PackedTree, base: &BaseMotion, ws: &mut PackedWorkspace<T>) -> BaseKin<T> {
    let a = base.acceleration_with_gravity(tree.gravity);
    let splat = |v: DVec3| v.to_array().map(T::splat);
    let kin = BaseKin {
        w: splat(base.velocity.angular),
        v: splat(base.velocity.linear),
        aw: splat(a.angular),
        al: splat(a.linear),
    };
    ws.work[0].kin = Kin::new(kin.w, kin.aw, add(kin.al, cross(kin.w, kin.v)));
    kin
}

/// Checks lengths and that all numbers are finite.
fn check_numbers<T: Lane>(what: &'static str, x: &[T], expected: usize) -> Result<(), DynamicsError> {
    check_len(what, x.len(), expected)?;
    let o = T::splat(0.0);
    let sum = x.iter().fold(o, |sum, x| sum + *x * o);
    if sum == o {
        return Ok(());
    }
    for (index, x) in x.iter().enumerate() {
        for lane in 0..T::LANES {
            if !x.lane(lane).is_finite() {
                return Err(DynamicsError::NonFinite { what, index, value: x.lane(lane) });
            }
        }
    }
    Ok(())
}

/// Calls a kernel with axis, kind and turn of the joint frame known at compile time.
macro_rules! dispatch {
    ($link:expr, $kernel:ident, $free:expr, ($($arg:expr),*)) => {
        match ($link.kind, $link.axis, $link.turned) {
            (Kind::Hinge, 0, false) => $kernel::<T, 0, true, false>($($arg),*),
            (Kind::Hinge, 1, false) => $kernel::<T, 1, true, false>($($arg),*),
            (Kind::Hinge, _, false) => $kernel::<T, 2, true, false>($($arg),*),
            (Kind::Hinge, 0, true) => $kernel::<T, 0, true, true>($($arg),*),
            (Kind::Hinge, 1, true) => $kernel::<T, 1, true, true>($($arg),*),
            (Kind::Hinge, _, true) => $kernel::<T, 2, true, true>($($arg),*),
            (Kind::Slider, 0, _) => $kernel::<T, 0, false, true>($($arg),*),
            (Kind::Slider, 1, _) => $kernel::<T, 1, false, true>($($arg),*),
            (Kind::Slider, _, _) => $kernel::<T, 2, false, true>($($arg),*),
            (Kind::Free, _, _) => $free,
        }
    };
}
pub(crate) use dispatch;

/// A motion of the parent as the link sees it: both halves to link axes at the link origin.
#[inline(always)]
fn to_link<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    w: V3<T>,
    v: V3<T>,
) -> (V3<T>, V3<T>) {
    let v = add(v, cross(w, link.r.map(T::splat)));
    let (w, mut v) = if FIX { (rotate_back(&link.e, w), rotate_back(&link.e, v)) } else { (w, v) };
    if HINGE {
        (kernels::turn_back::<T, A>(sc, w), kernels::turn_back::<T, A>(sc, v))
    } else {
        let (b, c) = ((A + 1) % 3, (A + 2) % 3);
        v[b] += w[c] * sc.1;
        v[c] -= w[b] * sc.1;
        (w, v)
    }
}

/// A wrench on the link as the parent feels it.
#[inline(always)]
fn to_parent<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    n: V3<T>,
    f: V3<T>,
) -> (V3<T>, V3<T>) {
    let (mut n, f) = if HINGE {
        (kernels::turn::<T, A>(sc, n), kernels::turn::<T, A>(sc, f))
    } else {
        let (b, c) = ((A + 1) % 3, (A + 2) % 3);
        let mut n = n;
        n[b] -= sc.1 * f[c];
        n[c] += sc.1 * f[b];
        (n, f)
    };
    let (m, f) = if FIX { (kernels::rotate(&link.e, n), kernels::rotate(&link.e, f)) } else { (n, f) };
    n = add(m, kernels::cross_const(link.r, f));
    (n, f)
}

/// Motion of a link at joint acceleration `qdd`, from that of its parent.
#[inline(always)]
fn forward<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    p: &Kin<T>,
    sc: (T, T),
    qd: T,
    qdd: T,
) -> Kin<T> {
    let (b, c) = ((A + 1) % 3, (A + 2) % 3);
    let mut r = link.r.map(T::splat);
    if !HINGE {
        for i in 0..3 {
            r[i] += T::splat(link.e[A][i]) * sc.1;
        }
    }
    let (mut w, mut aw, mut ac) = (p.w, p.aw, p.at(r));
    if FIX {
        (w, aw, ac) = (rotate_back(&link.e, w), rotate_back(&link.e, aw), rotate_back(&link.e, ac));
    }
    if HINGE {
        w = kernels::turn_back::<T, A>(sc, w);
        aw = kernels::turn_back::<T, A>(sc, aw);
        ac = kernels::turn_back::<T, A>(sc, ac);
        aw[b] += w[c] * qd;
        aw[c] -= w[b] * qd;
        w[A] += qd;
        aw[A] += qdd;
    } else {
        let twice = qd + qd;
        ac[b] += w[c] * twice;
        ac[c] -= w[b] * twice;
        ac[A] += qdd;
    }
    Kin::new(w, aw, ac)
}

/// What makes a link move so: I α + ω × I ω + h × a about its origin, m a + K h.
#[inline(always)]
fn body_force<T: Lane>(link: &PackedLink, k: &Kin<T>) -> (V3<T>, V3<T>) {
    let (mass, h) = (T::splat(link.mass), link.h.map(T::splat));
    let spin = cross(k.w, sym_mul_const(&link.inertia, k.w));
    let n = add(add(sym_mul_const(&link.inertia, k.aw), spin), cross(h, k.ac));
    let f =
        std::array::from_fn(|i| mass * k.ac[i] + (k.k[i][0] * h[0] + k.k[i][1] * h[1] + k.k[i][2] * h[2]));
    (n, f)
}

/// Rotation matrix (columns, base from link) of the quaternion of a free root.
#[inline(always)]
fn free_rotation<T: Lane>(link: &PackedLink, q: &[T]) -> [V3<T>; 3] {
    let [x, y, z, w] = [q[link.q + 3], q[link.q + 4], q[link.q + 5], q[link.q + 6]];
    let (one, two) = (T::splat(1.0), T::splat(2.0));
    let s = two / (x * x + y * y + z * z + w * w);
    let columns = [
        [one - s * (y * y + z * z), s * (x * y + z * w), s * (x * z - y * w)],
        [s * (x * y - z * w), one - s * (x * x + z * z), s * (y * z + x * w)],
        [s * (x * z + y * w), s * (y * z - x * w), one - s * (x * x + y * y)],
    ];
    columns.map(|c| kernels::rotate(&link.e, c))
}

/// Velocity and acceleration of a free root; `qdd` its six accelerations.
#[inline(always)]
fn forward_free<T: Lane>(
    link: &PackedLink,
    base: &BaseKin<T>,
    free: &[V3<T>; 3],
    q: &[T],
    v: &[T],
    qdd: [T; 6],
) -> Kin<T> {
    let p = kernels::rotate(&link.e, [q[link.q], q[link.q + 1], q[link.q + 2]]);
    let r = add(link.r.map(T::splat), p);
    let back = |x: V3<T>| free.map(|c| c[0] * x[0] + c[1] * x[1] + c[2] * x[2]);
    let (w0, v0) = (back(base.w), back(add(base.v, cross(base.w, r))));
    let (aw0, al0) = (back(base.aw), back(add(base.al, cross(base.aw, r))));
    let own_w = [v[link.v], v[link.v + 1], v[link.v + 2]];
    let own_v = [v[link.v + 3], v[link.v + 4], v[link.v + 5]];
    let (w, v) = (add(w0, own_w), add(v0, own_v));
    // v × S q̇; a base at rest leaves only v₀ = 0 there, and the product vanishes.
    let cw = cross(w, own_w);
    let cl = add(cross(w, own_v), cross(v, own_w));
    let al = add(add(al0, cl), [qdd[3], qdd[4], qdd[5]]);
    Kin::new(w, add(add(aw0, cw), [qdd[0], qdd[1], qdd[2]]), add(al, cross(w, v)))
}
