//! Contact points in world coordinates, for contact laws that solve rows.

use super::{
    candidate::{Candidate, Horizon},
    impact::rest_speed,
    normals::Bend,
    patches::rounding,
    state::{Detection, Setup},
};
use constraint_dynamics::PoolBody;
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    rotation::frame_from_normal,
};
use sim_traits::{ContactPoint, FeatureId};
use sim_world::{StepError, World};

/// One contact point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Site {
    pub(super) pair: u32,
    pub(super) number: u32,
    pub(super) bodies: [u32; 2],
    /// World, m.
    pub(super) point: DVec3,
    /// Two tangents and the normal, world axes.
    pub(super) frame: DMat3,
    /// m; negative where the bodies overlap.
    pub(super) gap: f64,
    pub(super) friction: f64,
    pub(super) restitution: f64,
    /// Speed of approach below which it does not bounce, m/s.
    pub(super) rest_speed: f64,
}

impl Site {
    /// Velocity along the normal, m/s.
    pub(super) fn normal_velocity(&self, pool: &[PoolBody]) -> f64 {
        let [a, b] = self.bodies.map(|slot| pool[slot as usize].velocity_at(self.point));
        self.frame.z_axis.dot(a - b)
    }
}

/// Name of a contact that stays the same while the same features of the same pieces of the same colliders meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContactKey {
    /// Colliders.
    pub(super) pair: [u32; 2],
    /// Convex pieces of both.
    pub(super) pieces: [u32; 2],
    /// Features of both.
    pub(super) features: [FeatureId; 2],
    /// Number among contacts that are equal in all else.
    pub(super) copy: u32,
}

/// Impulse of a contact in the last step: that of the contact with its key in the reading before or, where the contacts of a pair were found anew, of
/// the nearest one there, because features of flush faces change with the last bit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Previous {
    /// World axes, because tangents depend on the normal, on A, N·s; zero for what is new.
    pub(super) impulse: DVec3,
    /// True if the contact was not solved since it was found anew.
    pub(super) anew: bool,
}

impl Previous {
    const NOTHING: Self = Self { impulse: DVec3::ZERO, anew: true };

    /// What a contact bore in the step that was just solved.
    pub(super) fn solved(impulse: DVec3) -> Self {
        Self { impulse, anew: false }
    }
}

/// All contact points of a step, in the order of pairs.
#[derive(Debug, Default)]
pub(super) struct Sites {
    pub(super) all: Vec<Site>,
    /// Names of the sites for what is remembered of them.
    pub(super) keys: Vec<ContactKey>,
    /// Impulses of the last step.
    pub(super) impulses: Vec<Previous>,
    /// Keys, impulses and sites of the reading before.
    before: (Vec<ContactKey>, Vec<Previous>, Vec<Site>),
    /// One of them bounces.
    pub(super) bouncy: bool,
}

impl Sites {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.keys.clear();
        self.impulses.clear();
        self.bouncy = false;
    }

    /// Goes back to the sites of the reading before, so that what was solved for them holds to the bit, unless one that was not among them is hit or
    /// a pair of theirs is gone; false then.
    pub(super) fn go_back(&mut self, candidates: &[Candidate], hit: impl Fn(&Site) -> bool) -> bool {
        let mut rest = 0;
        for (key, site) in self.keys.iter().zip(&self.all) {
            // Both readings are in the order of pairs.
            while self.before.0.get(rest).is_some_and(|k| k.pair < key.pair) {
                rest += 1;
            }
            let known = self.before.0[rest..].iter().take_while(|k| k.pair == key.pair).any(|k| k == key);
            if !known && hit(site) {
                return false;
            }
        }
        // Pairs may have come and gone: where those of the sites are in the list now.
        let mut index = 0;
        for (key, site) in self.before.0.iter().zip(&mut self.before.2) {
            let pair = |k: usize| candidates.get(k).map(|pair| [pair.key.a.0, pair.key.b.0]);
            while pair(index).is_some_and(|pair| pair < key.pair) {
                index += 1;
            }
            if pair(index) != Some(key.pair) {
                return false;
            }
            site.pair = index as u32;
        }
        std::mem::swap(&mut self.keys, &mut self.before.0);
        std::mem::swap(&mut self.impulses, &mut self.before.1);
        std::mem::swap(&mut self.all, &mut self.before.2);
        true
    }

    /// Reads what was found of the pairs; contacts found in earlier steps are followed to where their points are now, with their impulses.
    /// `rest_speed` is that of two bodies; contacts found anew have the impulses of those before within `radius`, m.
    pub(super) fn read(
        &mut self,
        world: &World,
        candidates: &mut [Candidate],
        radius: f64,
        rest_speed: impl Fn([u32; 2]) -> f64,
    ) -> Result<(), StepError> {
        std::mem::swap(&mut self.before.0, &mut self.keys);
        std::mem::swap(&mut self.before.1, &mut self.impulses);
        std::mem::swap(&mut self.before.2, &mut self.all);
        let mut rest = 0;
        self.clear();
        for (index, pair) in candidates.iter_mut().enumerate() {
            if pair.rest.found.manifolds.is_empty() || pair.sensor.is_some() {
                continue;
            }
            let Some(([a, b], [body_a, body_b])) = pair.sides(world) else { continue };
            let surface = world.surface_pair(a, b);
            let rest_speed = rest_speed(pair.bodies);
            let world_from_a = *body_a.state().pose() * a.extent().body_from_shape;
            // Where B's points have come in A's frame since they were found.
            let moved = (!pair.fresh).then(|| {
                let world_from_b = *body_b.state().pose() * b.extent().body_from_shape;
                world_from_a.inverse_mul(&world_from_b) * pair.rest.found.a_from_b.inverse()
            });
            pair.distance = f64::INFINITY;
            let first = self.keys.len();
            // Both readings are in the order of pairs.
            let (keys, impulses) = (&self.before.0, &self.before.1);
            let this = [pair.key.a.0, pair.key.b.0];
            while keys.get(rest).is_some_and(|k| k.pair < this) {
                rest += 1;
            }
            let radii = [a, b].map(|c| rounding(c.shape()));
            for (k, manifold) in pair.rest.found.manifolds.iter().enumerate() {
                let bend = pair.rest.bend(k);
                let along = if let Bend::Along(m) = bend { m } else { manifold.normal };
                let normal = world_from_a.transform_vector(along);
                let frame = frame_from_normal(normal.normalize_or_zero()).or_else(|source| {
                    pair.name(world)
                        .map_or(Ok(DMat3::IDENTITY), |pair| Err(StepError::Contact { pair, source }))
                })?;
                for point in manifold.points() {
                    let [on_a, on_b] = present(point, moved.as_ref());
                    pair.distance = pair.distance.min(manifold.normal.dot(on_a - on_b));
                    if bend == Bend::Drop {
                        continue;
                    }
                    // Round ones touch elsewhere in another direction.
                    let turned = manifold.normal - along;
                    let (on_a, on_b) = (on_a + radii[0] * turned, on_b - radii[1] * turned);
                    let exact = moved.is_none() && bend == Bend::Keep;
                    let gap = if exact { point.separation } else { along.dot(on_a - on_b) };
                    let middle = 0.5 * (on_a + on_b);
                    self.bouncy |= surface.restitution > 0.0;
                    let mut key = ContactKey {
                        pair: [pair.key.a.0, pair.key.b.0],
                        pieces: manifold.pieces,
                        features: point.features,
                        copy: 0,
                    };
                    key.copy = self.keys[first..]
                        .iter()
                        .filter(|k| k.pieces == key.pieces && k.features == key.features)
                        .count() as u32;
                    // Most often at the same place of the list; seams come and go.
                    let likely = rest + self.keys.len() - first;
                    let place = world_from_a.transform_point(middle);
                    let before = if !pair.fresh && keys.get(likely) == Some(&key) {
                        Some(likely)
                    } else {
                        let of_pair = || keys[rest..].iter().take_while(|k| k.pair == this).zip(rest..);
                        let named = || of_pair().find(|(k, _)| **k == key).map(|(_, at)| at);
                        let near = || nearest(of_pair(), &self.before.2, &key, place, radius);
                        if pair.fresh { near().or_else(named) } else { named() }
                    };
                    let known = before.map_or(Previous::NOTHING, |k| impulses[k]);
                    self.impulses.push(Previous { anew: known.anew || pair.fresh, ..known });
                    self.keys.push(key);
                    self.all.push(Site {
                        pair: index as u32,
                        number: self.all.len() as u32,
                        bodies: pair.bodies,
                        point: place,
                        frame,
                        gap,
                        friction: surface.friction,
                        restitution: surface.restitution,
                        rest_speed,
                    });
                }
            }
        }
        Ok(())
    }
}

/// The nearest contact of the same pieces within `radius` of a place, m.
fn nearest<'a>(
    of_pair: impl Iterator<Item = (&'a ContactKey, usize)>,
    sites: &[Site],
    key: &ContactKey,
    place: DVec3,
    radius: f64,
) -> Option<usize> {
    let mut nearest = (radius * radius, None);
    for (_, at) in of_pair.filter(|(k, _)| k.pieces == key.pieces) {
        let distance = (sites[at].point - place).length_squared();
        if distance <= nearest.0 {
            nearest = (distance, Some(at));
        }
    }
    nearest.1
}

/// The two points in A's frame now.
fn present(point: &ContactPoint, moved: Option<&Pose>) -> [DVec3; 2] {
    [point.point_a, moved.map_or(point.point_b, |moved| moved.transform_point(point.point_b))]
}

/// Finds the contacts within reach of the next step; those found before are followed where their bodies have moved by less than `lenient` (m) since.
pub(super) fn follow_sites(
    setup: &mut Setup,
    found: &mut Detection,
    world: &World,
    lenient: f64,
) -> Result<(), StepError> {
    let mut horizon = Horizon::new(&setup.params, setup.params.step(), false);
    horizon.lenient = lenient;
    let seen = found.detect.run(world, &mut setup.parts, &horizon)?;
    if seen.moved || seen.renewed { read_sites(setup, found, world) } else { Ok(()) }
}

/// Contacts as rows, with normals that know their neighbours.
pub(super) fn read_sites(setup: &Setup, found: &mut Detection, world: &World) -> Result<(), StepError> {
    let Detection { detect, neighbours, sites } = found;
    let params = &setup.params;
    neighbours.judge(world, &mut detect.candidates, None, [params.step(), params.slop]);
    let rest_speed = |bodies| rest_speed(world, &detect.travels, params, bodies);
    sites.read(world, &mut detect.candidates, 10.0 * params.margin, rest_speed)
}
