//! Collisions of one frame as a few contacts: a resting body makes hundreds of micro-collisions between two frames.
//!
//! Collisions of the same two bodies near each other become one contact, whose impulse is their sum and whose point is the
//! mean weighted by impulse: a box that rests on four corners shows four contacts.

use scene::recording::Contact;
use sim_math::glam::DVec3;
use std::collections::BTreeMap;

/// Most contacts of two bodies in one frame; later ones join the nearest.
const MOST: usize = 8;

/// Contacts since the last frame.
#[derive(Debug, Default)]
pub struct Touches {
    /// By the two bodies.
    of: BTreeMap<[u32; 2], Vec<Touch>>,
}

#[derive(Debug, Clone, Copy)]
struct Touch {
    /// Sums, weighted by the size of the impulses.
    weight: f64,
    point: DVec3,
    normal: DVec3,
    impulse: DVec3,
}

impl Touch {
    fn new(c: &Contact, weight: f64) -> Self {
        Self { weight, point: weight * c.point, normal: weight * c.normal, impulse: c.impulse }
    }

    fn join(&mut self, c: &Contact, weight: f64) {
        self.weight += weight;
        self.point += weight * c.point;
        self.normal += weight * c.normal;
        self.impulse += c.impulse;
    }

    fn place(&self) -> DVec3 {
        self.point / self.weight
    }
}

impl Touches {
    /// Adds a collision; if it is nearer than `near` metres to a contact of the same bodies, it belongs to it.
    pub fn add(&mut self, c: &Contact, near: f64) {
        // A collision without impulse still is a contact.
        let weight = c.impulse.length() + 1e-30;
        let all = self.of.entry([c.a, c.b]).or_default();
        let count = all.len();
        let nearest = all
            .iter_mut()
            .map(|touch| (touch.place().distance(c.point), touch))
            .min_by(|x, y| x.0.total_cmp(&y.0));
        match nearest {
            Some((distance, touch)) if distance < near || count >= MOST => touch.join(c, weight),
            _ => all.push(Touch::new(c, weight)),
        }
    }

    /// All contacts since the last call, by their bodies.
    pub fn take(&mut self) -> Vec<Contact> {
        let mut out = Vec::new();
        for ([a, b], touches) in std::mem::take(&mut self.of) {
            for t in touches {
                // Normals that cancel each other belong to no plane; such a contact cannot be drawn.
                let Some(normal) = t.normal.try_normalize() else { continue };
                out.push(Contact { a, b, point: t.place(), normal, impulse: t.impulse });
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(x: f64, z: f64) -> Contact {
        Contact { a: 1, b: 0, point: DVec3::X * x, normal: DVec3::Z, impulse: DVec3::Z * z }
    }

    #[test]
    fn near_hits_are_one_contact_with_their_sum_at_their_mean() {
        let mut touches = Touches::default();
        for (x, z) in [(0.0, 1.0), (0.01, 3.0), (1.0, 2.0), (1.0, 2.0)] {
            touches.add(&hit(x, z), 0.1);
        }
        touches.add(&Contact { a: 2, ..hit(0.0, 5.0) }, 0.1);
        let found = touches.take();
        assert_eq!(
            found.iter().map(|c| (c.a, c.impulse.z)).collect::<Vec<_>>(),
            [(1, 4.0), (1, 4.0), (2, 5.0)]
        );
        assert!((found[0].point.x - 0.0075).abs() < 1e-12 && (found[1].point.x - 1.0).abs() < 1e-12);
        assert!(touches.take().is_empty());
    }

    #[test]
    fn a_line_of_hits_stays_a_handful() {
        let mut touches = Touches::default();
        for k in 0..1000 {
            touches.add(&hit(f64::from(k), 1.0), 0.1);
        }
        let found = touches.take();
        assert_eq!(found.len(), MOST);
        assert!((found.iter().map(|c| c.impulse.z).sum::<f64>() - 1000.0).abs() < 1e-9);
    }
}
