//! How far bodies have come, so that what was found of them is found again only when it may have changed.
//!
//! # Reference
//!
//! Path length as a bound of displacement: the triangle inequality.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | path | sum over all steps of the largest distance that a point of the body moved | m |
//! | reach | largest distance that a point of the body can move in the next step, without contact | m |
//! | radius | largest distance of a point of the body from its centre of mass | m |
//! | spin | the same for the cores of balls and capsules, whose turning does not bring surfaces closer | m |
//!
//! # Formula
//!
//! ```text
//! path += |Δx| + 2 r |Im(q q₀⁻¹)|,    reach = h (|v| + r |ω| + h |a|)
//! closing = h |v_a − v_b| + stray_a + stray_b,    stray = h (spin |ω| + h |a|)
//! a has no end:  closing = h |v_a + ω_a × (x_b − x_a) − v_b| + h |ω_a| r_b + stray_b + h² |a_a|
//! ```
//!
//! # Cost
//!
//! Some thirty operations per body and step.
//!
//! # Numerics
//!
//! A body that keeps its pose to the bit adds nothing. What has no end, as a half-space, may turn: its path counts the way of its centre only, and
//! [`Travels::sweeps`] tells that its pairs are to be looked at, by where the other body is.
//!
//! # Failure
//!
//! None: a path that is not finite keeps nothing.
//!
//! # Tested by
//!
//! `recycled_contacts_are_those_found_anew` in `tests/time_soft.rs`, `tests/time_turning.rs`

use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_traits::BodyId;
use sim_world::{Body, Collider, World};

/// One body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Travel {
    pub(super) id: BodyId,
    pub(super) pose: Pose,
    pub(super) path: f64,
    pub(super) reach: f64,
    pub(super) radius: f64,
    pub(super) spin: f64,
}

/// By body slot.
#[derive(Debug, Default)]
pub(super) struct Travels {
    pub(super) all: Vec<Option<Travel>>,
    /// Path, and path at the end of the next step, m: what is asked most.
    gauges: Vec<[f64; 2]>,
    pub(super) steps: Vec<NextMove>,
}

/// How a body moves in the next step, without contact.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct NextMove {
    /// h v, m.
    linear: DVec3,
    /// What turning and forces add at most for a point of its surface, m; of what has no end, forces alone.
    stray: f64,
    /// h ω, rad, of what has no end.
    sweep: DVec3,
    /// It has no end, and turns or has turned since the step before.
    sweeps: bool,
}

/// Radius times turn, where a half-space that does not turn has an infinite radius.
pub(super) fn swing(radius: f64, turn: f64) -> f64 {
    if turn > 0.0 { radius * turn } else { 0.0 }
}

impl Travels {
    /// Forgets all bodies.
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    /// Forgets a body: its size may be another.
    pub(super) fn forget(&mut self, slot: u32) {
        if let Some(known) = self.all.get_mut(slot as usize) {
            *known = None;
        }
    }

    /// Takes notice of where the bodies are now, before a step of `h` seconds; true if any has moved.
    pub(super) fn follow(&mut self, world: &World, h: f64) -> bool {
        let mut any = false;
        self.all.resize(world.body_slots(), None);
        self.steps.clear();
        self.steps.resize(world.body_slots(), NextMove::default());
        for (slot, known) in (0..).zip(&mut self.all) {
            let Some((id, body)) = world.body_in_slot(slot) else {
                *known = None;
                continue;
            };
            let pose = *body.state().pose();
            let mut swept = false;
            let travel = match known.as_mut().filter(|t| t.id == id) {
                Some(travel) => {
                    if travel.pose != pose {
                        any = true;
                        let turn = pose.rotation * travel.pose.rotation.conjugate();
                        let turned = 2.0 * DVec3::new(turn.x, turn.y, turn.z).length();
                        travel.path += (pose.translation - travel.pose.translation).length();
                        if travel.radius < f64::INFINITY {
                            travel.path += swing(travel.radius, turned);
                        } else {
                            swept = turned > 0.0;
                        }
                        travel.pose = pose;
                    }
                    travel
                }
                None => {
                    any = true;
                    let extents = body.colliders().iter().filter_map(|c| world.collider(*c).ok());
                    let [radius, spin] =
                        extents.map(Collider::extent).fold([0.0_f64; 2], |[radius, spin], e| {
                            [radius.max(e.radius), spin.max(e.spin_radius)]
                        });
                    known.insert(Travel { id, pose, path: 0.0, reach: 0.0, radius, spin })
                }
            };
            self.steps[slot as usize] = travel.next_move(world, body, h, swept);
        }
        self.read_gauges();
        any
    }

    /// Finds out what is asked most.
    pub(super) fn read_gauges(&mut self) {
        self.gauges.clear();
        self.gauges
            .extend(self.all.iter().map(|t| t.map_or([f64::INFINITY; 2], |t| [t.path, t.path + t.reach])));
    }

    /// Path of a body now, and at most at the end of the next step, m; infinite if there is none.
    #[inline]
    pub(super) fn gauge(&self, slot: u32) -> [f64; 2] {
        self.gauges.get(slot as usize).copied().unwrap_or([f64::INFINITY; 2])
    }

    /// How far the surfaces of two bodies can come closer in the next step, m.
    #[inline]
    pub(super) fn closing(&self, bodies: [u32; 2]) -> f64 {
        let [a, b] = bodies.map(|slot| self.steps.get(slot as usize).copied().unwrap_or_default());
        if a.sweeps || b.sweeps {
            return self.closing_swept(bodies, [a, b]);
        }
        (a.linear - b.linear).length() + a.stray + b.stray
    }

    /// The same where one of them has no end and turns: only what is near the other one counts.
    fn closing_swept(&self, bodies: [u32; 2], [a, b]: [NextMove; 2]) -> f64 {
        let [Some(travel_a), Some(travel_b)] = bodies.map(|slot| self.get(slot)) else {
            return f64::INFINITY;
        };
        let apart = travel_b.pose.translation - travel_a.pose.translation;
        let mut linear = a.linear - b.linear;
        let mut stray = a.stray + b.stray;
        for (next_move, other) in [(a, travel_b), (b, travel_a)] {
            if next_move.sweeps {
                // The same sign for both: B's surface at A moves by ω_b × (x_a − x_b), and is taken off.
                linear += next_move.sweep.cross(apart);
                stray += swing(other.radius, next_move.sweep.length());
            }
        }
        linear.length() + stray
    }

    /// True if one of two bodies has no end and turns: paths do not tell how far its surface has come.
    #[inline]
    pub(super) fn sweeps(&self, bodies: [u32; 2]) -> bool {
        bodies.iter().any(|slot| self.steps.get(*slot as usize).is_some_and(|s| s.sweeps))
    }

    fn get(&self, slot: u32) -> Option<&Travel> {
        self.all.get(slot as usize)?.as_ref()
    }

    /// Path of a body, m; infinite if there is none.
    pub(super) fn path(&self, slot: u32) -> f64 {
        self.get(slot).map_or(f64::INFINITY, |t| t.path)
    }

    /// How far a body can move in the next step, m; infinite if there is none.
    pub(super) fn reach(&self, slot: u32) -> f64 {
        self.get(slot).map_or(f64::INFINITY, |t| t.reach)
    }

    /// How far a point of a body that turning moves is from its centre, m.
    pub(super) fn spin(&self, slot: u32) -> f64 {
        self.get(slot).map_or(f64::INFINITY, |t| t.spin)
    }

    /// Size of a body, m.
    pub(super) fn radius(&self, slot: u32) -> f64 {
        self.get(slot).map_or(f64::INFINITY, |t| t.radius)
    }

    /// Size of the smaller of two bodies, m.
    pub(super) fn smaller_radius(&self, [a, b]: [u32; 2]) -> f64 {
        self.radius(a).min(self.radius(b))
    }

    /// A body got another velocity since it was followed: how far that takes it in a step of `h` seconds.
    pub(super) fn hasten(&mut self, slot: u32, velocity: Motion, pull: f64, h: f64) {
        let k = slot as usize;
        let Some(travel) = self.all.get_mut(k).and_then(Option::as_mut) else { return };
        let next_move = travel.next_move_of(velocity, pull, h);
        if let (Some(step), Some(gauge)) = (self.steps.get_mut(k), self.gauges.get_mut(k)) {
            (*step, *gauge) = (next_move, [travel.path, travel.path + travel.reach]);
        }
    }
}

impl Travel {
    /// How a free body moves in the next step with a velocity and so much pull (m/s²), which also gives its reach.
    fn next_move_of(&mut self, velocity: Motion, pull: f64, h: f64) -> NextMove {
        let turning = velocity.angular.length();
        self.reach = h * (velocity.linear.length() + swing(self.radius, turning) + h * pull);
        let stray = h * (swing(self.spin, turning) + h * pull);
        NextMove { linear: velocity.linear * h, stray, ..NextMove::default() }
    }

    /// How the body moves in the next step, which also gives its reach.
    fn next_move(&mut self, world: &World, body: &Body, h: f64, swept: bool) -> NextMove {
        if body.is_fixed() && !swept {
            self.reach = 0.0;
            return NextMove::default();
        }
        let velocity = body.velocity();
        if body.is_free() && self.radius < f64::INFINITY {
            return self.next_move_of(velocity, (world.gravity() + body.pull()).length(), h);
        }
        let (turning, pulled) = (velocity.angular.length(), (world.gravity() + body.pull()).length());
        let [pull, acceleration] =
            if body.is_free() { [pulled; 2] } else { [0.0, body.piece().unsteady_acceleration()] };
        self.reach = h * (velocity.linear.length() + swing(self.radius, turning) + h * acceleration);
        if self.radius == f64::INFINITY && (turning > 0.0 || swept) {
            // Always looked at.
            self.reach = f64::INFINITY;
            let (linear, sweep) = (velocity.linear * h, velocity.angular * h);
            return NextMove { linear, stray: h * h * pull, sweep, sweeps: true };
        }
        let stray = h * (swing(self.spin, turning) + h * pull);
        NextMove { linear: velocity.linear * h, stray, ..NextMove::default() }
    }
}
