//! A faster form of trees made of hinges and sliders, with an optional free root: the same results to rounding, in less than half the time.
//!
//! [`PackedTree::new`] turns the frame of each link so that its joint lies on a coordinate axis; the algorithms then know the axis at
//! compile time and never multiply by the zeros and ones of general rotations. They are generic over [`Lane`]: one state, or four states of one
//! model at once ([`Lanes4`]), every lane with the bits of the single run.
//!
//! Use it when one model is evaluated very often; everything else (impulses, Jacobians, other joints) is in the general functions.

mod aba;
mod crba;
mod kernels;
mod lane;
mod rnea;
mod sincos;

pub use aba::packed_aba;
pub use crba::{packed_crba, packed_crba_upper};
pub use lane::{Lane, Lanes2, Lanes4, Part};
pub use rnea::packed_rnea;

use crate::{BaseMotion, Joint, Model, algorithm::check_len};
use kernels::{Articulated, V3, add, cross, dot, rotate, rotate_back, splat3, splat6, sub, v3, zero};
use sim_math::{
    glam::{DMat3, DQuat, DVec3},
    rotation::minimal_rotation,
    spatial::SpatialTransform,
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
    /// No children.
    leaf: bool,
    /// Last among its siblings, so the first to reach the parent on the way back.
    last: bool,
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
    /// Second moments ∫ r rᵀ dm = tr(I)/2 − I at the link origin: xx, yy, zz, xy, xz, yz.
    second: [f64; 6],
}

/// A [`Model`] of hinges, sliders and an optional free root, laid out for speed.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedTree {
    links: Vec<PackedLink>,
    q_len: usize,
    v_len: usize,
    gravity: DVec3,
    /// For each velocity one past the last velocity of its link's subtree.
    v_ends: Vec<u32>,
    /// One chain: every entry of the mass matrix is written.
    chain: bool,
    /// What takes the user's frame of each link to the packed one: rotation, column after column, and origin.
    frames: Vec<([[f64; 3]; 3], [f64; 3])>,
    sliders: bool,
}

impl PackedTree {
    /// Packs a model.
    ///
    /// # Errors
    /// [`NotPackable`] names the first link whose joint is neither hinge, slider nor free root, or that has no inertia of its own
    /// along its joint.
    pub fn new(model: &Model) -> Result<Self, NotPackable> {
        let mut links = Vec::with_capacity(model.link_count());
        // What takes the user's frame of each slot to the packed one; the base keeps its own.
        let mut frames = vec![SpatialTransform::IDENTITY];
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
            let packed_from_moved = SpatialTransform::new(frame.transpose(), DVec3::ZERO);
            let packed_from_link =
                packed_from_moved * link.moved_from_link.unwrap_or(SpatialTransform::IDENTITY);
            let inertia = packed_from_link.rigid_inertia(&link.inertia);
            let armature = match kind {
                Kind::Free => 0.0,
                _ => model.armature[link.v],
            };
            let from_parent = frames[link.parent_slot] * link.parent_from_joint;
            let e = from_parent.rotation * frame;
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
                leaf: true,
                last: true,
                q: link.q,
                v: link.v,
                sign,
                armature,
                r: from_parent.translation.to_array(),
                e: e.to_cols_array_2d(),
                mass: inertia.mass,
                h: inertia.first_moment.to_array(),
                inertia: inertia.inertia_at_origin.to_array(),
                second: second_moments(inertia.inertia_at_origin.to_array()),
            });
            frames.push(packed_from_link);
        }
        let mut seen = vec![false; links.len() + 1];
        for i in (0..links.len()).rev() {
            let parent = links[i].parent_slot;
            links[i].last = !seen[parent];
            links[i].leaf = !seen[i + 1];
            seen[parent] = true;
        }
        let v_ends = model.dof_link.iter().map(|link| {
            let last = model.subtree_end[*link as usize] as usize - 1;
            model.links[last].v_end as u32
        });
        Ok(Self {
            q_len: model.q_len(),
            v_len: model.v_len(),
            gravity: model.gravity,
            v_ends: v_ends.collect(),
            chain: model.links.iter().enumerate().all(|(i, link)| link.parent_slot == i),
            frames: frames[1..]
                .iter()
                .map(|x| (x.rotation.to_cols_array_2d(), x.translation.to_array()))
                .collect(),
            sliders: links.iter().any(|link| link.kind == Kind::Slider),
            links,
        })
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

fn second_moments(i: [f64; 6]) -> [f64; 6] {
    let half = 0.5 * (i[0] + i[1] + i[2]);
    [half - i[0], half - i[1], half - i[2], -i[3], -i[4], -i[5]]
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

impl<T: Part> Kin<T> {
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
        v3!(i => {
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

/// Angular and linear half of a motion, or moment and force.
type Pair<T> = (V3<T>, V3<T>);

/// What the elimination of a joint leaves for the last pass of ABA.
#[derive(Debug, Clone, Copy)]
struct Eliminated<T> {
    un: V3<T>,
    uf: V3<T>,
    d_inv: T,
    u: T,
}

/// Memory of the packed algorithms. Arrays over links have the base in front.
#[derive(Debug, Clone)]
pub struct PackedWorkspace<L: Lane> {
    /// Joint coordinates, signs folded in; their sines and cosines. A slider has 0 and its distance there.
    x: Vec<L::Part>,
    sin: Vec<L::Part>,
    cos: Vec<L::Part>,
    kin: Vec<Kin<L::Part>>,
    wrench: Vec<Pair<L::Part>>,
    /// Sum over the children of a link of what they leave to it.
    art: Vec<Articulated<L::Part>>,
    eliminated: Vec<Eliminated<L::Part>>,
    /// Acceleration of each link due to joint accelerations alone.
    delta: Vec<Pair<L::Part>>,
    placed: Vec<crba::Placed<L::Part>>,
    composite: Vec<crba::Composite<L::Part>>,
    /// Six rows: the wrenches that move subtrees along their joints, in the frame of the root link.
    columns: Vec<L::Part>,
}

impl<L: Lane> PackedWorkspace<L> {
    /// Allocates for `tree`.
    #[must_use]
    pub fn new(tree: &PackedTree) -> Self {
        let o = L::Part::splat(0.0);
        let (n, pair) = (tree.links.len(), (zero(), zero()));
        let kin = Kin::new(zero(), zero(), zero());
        Self {
            x: vec![o; n],
            sin: vec![o; n],
            cos: vec![o; n],
            kin: vec![kin; n + 1],
            wrench: vec![pair; n + 1],
            art: vec![Articulated { j: [o; 6], h: [zero(); 3], m: [o; 6] }; n + 1],
            eliminated: vec![Eliminated { un: zero(), uf: zero(), d_inv: o, u: o }; n],
            delta: vec![pair; n + 1],
            placed: vec![crba::Placed::at_root(); n + 1],
            composite: vec![crba::Composite::empty(); n + 1],
            columns: vec![o; 6 * tree.v_len],
        }
    }

    fn check(&self, tree: &PackedTree) -> Result<(), DynamicsError> {
        check_len("packed workspace", self.x.len(), tree.links.len())?;
        check_len("packed workspace velocities", self.columns.len(), 6 * tree.v_len)
    }

    /// Sines and cosines of one part of the states.
    #[inline(always)]
    fn place_joints(&mut self, tree: &PackedTree, q: &[L], part: usize) {
        for (x, link) in self.x.iter_mut().zip(&tree.links) {
            *x = q[link.q].part(part) * L::Part::splat(link.sign);
        }
        L::Part::sin_cos_all(&self.x, &mut self.sin, &mut self.cos);
        if tree.sliders {
            for (i, link) in tree.links.iter().enumerate() {
                if link.kind == Kind::Slider {
                    (self.sin[i], self.cos[i]) = (L::Part::splat(0.0), self.x[i]);
                }
            }
        }
    }

    /// Writes what the base does into slot 0.
    #[inline(always)]
    fn place_base(&mut self, tree: &PackedTree, base: &BaseMotion) -> BaseKin<L::Part> {
        let a = base.acceleration_with_gravity(tree.gravity);
        let splat = |v: DVec3| v.to_array().map(L::Part::splat);
        let kin = BaseKin {
            w: splat(base.velocity.angular),
            v: splat(base.velocity.linear),
            aw: splat(a.angular),
            al: splat(a.linear),
        };
        self.kin[0] = Kin::new(kin.w, kin.aw, add(kin.al, cross(kin.w, kin.v)));
        kin
    }

    /// Takes wrenches on the links, given in link axes at the link origin, off the wrenches their joints must bear.
    fn take_wrenches(&mut self, tree: &PackedTree, wrenches: &[[L; 6]], part: usize) {
        for ((own, (turn, origin)), wrench) in self.wrench[1..].iter_mut().zip(&tree.frames).zip(wrenches) {
            let w = wrench.map(|x| x.part(part));
            let f = rotate(turn, [w[3], w[4], w[5]]);
            let n = add(rotate(turn, [w[0], w[1], w[2]]), kernels::cross_const(*origin, f));
            own.0 = sub(own.0, n);
            own.1 = sub(own.1, f);
        }
    }
}

fn check_wrenches<L: Lane>(tree: &PackedTree, wrenches: &[[L; 6]]) -> Result<(), DynamicsError> {
    if !wrenches.is_empty() {
        check_len("wrenches", wrenches.len(), tree.links.len())?;
        check_numbers("wrench numbers", wrenches.as_flattened(), 6 * wrenches.len())?;
    }
    Ok(())
}

/// Checks lengths and that all numbers are finite.
#[inline(always)]
fn check_numbers<L: Lane>(what: &'static str, x: &[L], expected: usize) -> Result<(), DynamicsError> {
    check_len(what, x.len(), expected)?;
    // Adding one to an exponent of all ones carries into the sign bit: whole-number operations that vectorise and, unlike a sum,
    // do not wait for each other.
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let carried = x.iter().fold(0, |carried, x| {
        (0..L::LANES).fold(carried, |c, lane| c | ((x.lane(lane).to_bits() & EXPONENT) + (1 << 52)))
    });
    if carried >> 63 == 0 {
        return Ok(());
    }
    for (index, x) in x.iter().enumerate() {
        for lane in 0..L::LANES {
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
fn to_link<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    w: V3<T>,
    v: V3<T>,
) -> (V3<T>, V3<T>) {
    let v = add(v, cross(w, splat3(link.r)));
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
fn to_parent<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
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
    let (m, f) = if FIX { (rotate(&link.e, n), rotate(&link.e, f)) } else { (n, f) };
    n = add(m, kernels::cross_const(link.r, f));
    (n, f)
}

/// Motion of a link at joint acceleration `qdd`, from that of its parent.
#[inline(always)]
fn forward<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    p: &Kin<T>,
    sc: (T, T),
    qd: T,
    qdd: T,
) -> Kin<T> {
    let (b, c) = ((A + 1) % 3, (A + 2) % 3);
    let mut r = splat3(link.r);
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

/// What makes a link move so: with the acceleration K r + a of its points, ∫ r × (K r + a) dm and ∫ (K r + a) dm.
#[inline(always)]
fn body_force<T: Part>(link: &PackedLink, kin: &Kin<T>) -> (V3<T>, V3<T>) {
    let (mass, h, s) = (T::splat(link.mass), splat3(link.h), splat6(&link.second));
    let (k, a) = (&kin.k, &kin.ac);
    // ∫ (acceleration i) (coordinate j) dm; the columns of ∫ r rᵀ dm are found in its six numbers.
    let columns = [[s[0], s[3], s[4]], [s[3], s[1], s[5]], [s[4], s[5], s[2]]];
    macro_rules! moment {
        ($i:literal, $j:literal) => {
            (k[$i][0] * columns[$j][0] + k[$i][1] * columns[$j][1])
                + (k[$i][2] * columns[$j][2] + a[$i] * h[$j])
        };
    }
    let n = [moment!(2, 1) - moment!(1, 2), moment!(0, 2) - moment!(2, 0), moment!(1, 0) - moment!(0, 1)];
    let f = v3!(i => (mass * a[i] + k[i][0] * h[0]) + (k[i][1] * h[1] + k[i][2] * h[2]));
    (n, f)
}

/// Rotation matrix (columns, base from link) of the quaternion of a free root.
#[inline(always)]
fn free_rotation<T: Part>(link: &PackedLink, q: &[T; 7]) -> [V3<T>; 3] {
    let [x, y, z, w] = [q[3], q[4], q[5], q[6]];
    let (one, two) = (T::splat(1.0), T::splat(2.0));
    let s = two / (x * x + y * y + z * z + w * w);
    let columns = [
        [one - s * (y * y + z * z), s * (x * y + z * w), s * (x * z - y * w)],
        [s * (x * y - z * w), one - s * (x * x + z * z), s * (y * z + x * w)],
        [s * (x * z + y * w), s * (y * z - x * w), one - s * (x * x + y * y)],
    ];
    v3!(c => rotate(&link.e, columns[c]))
}

/// Velocity and acceleration of a free root; `qdd` its six accelerations.
#[inline(always)]
fn forward_free<T: Part>(link: &PackedLink, base: &BaseKin<T>, q: [T; 7], v: [T; 6], qdd: [T; 6]) -> Kin<T> {
    let free = free_rotation(link, &q);
    let p = rotate(&link.e, [q[0], q[1], q[2]]);
    let r = add(splat3(link.r), p);
    let back = |x: V3<T>| v3!(c => dot(free[c], x));
    let (w0, v0) = (back(base.w), back(add(base.v, cross(base.w, r))));
    let (aw0, al0) = (back(base.aw), back(add(base.al, cross(base.aw, r))));
    let (own_w, own_v) = ([v[0], v[1], v[2]], [v[3], v[4], v[5]]);
    let (w, v) = (add(w0, own_w), add(v0, own_v));
    // v × S q̇; a base at rest leaves only v₀ = 0 there, and the product vanishes.
    let cw = cross(w, own_w);
    let cl = add(cross(w, own_v), cross(v, own_w));
    let al = add(add(al0, cl), [qdd[3], qdd[4], qdd[5]]);
    Kin::new(w, add(add(aw0, cw), [qdd[0], qdd[1], qdd[2]]), add(al, cross(w, v)))
}
