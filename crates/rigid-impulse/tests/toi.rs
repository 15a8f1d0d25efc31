//! Time-of-impact bounds against real motions.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use rigid_impulse::{
    Body, PrincipalMass,
    bounds::{Travel, date_of_impact, time_to_impact},
    motion::{Ballistic, Fixed, Motion},
};
use sim_math::{
    Pose,
    glam::DVec3,
    testkit::{SplitMix64, soak},
};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// A capsule anywhere in a body: convex, and its distances are closed forms.
#[derive(Debug, Clone, Copy)]
struct Capsule {
    ends: [DVec3; 2],
    radius: f64,
}

impl Capsule {
    fn random(random: &mut SplitMix64) -> Self {
        Self { ends: [random.vec3(0.5), random.vec3(0.5)], radius: random.range(0.01, 0.3) }
    }

    fn reach(&self) -> f64 {
        self.ends[0].length().max(self.ends[1].length()) + self.radius
    }

    fn placed(&self, pose: &Pose) -> [DVec3; 2] {
        self.ends.map(|e| pose.transform_point(e))
    }
}

/// Closest points of two segments.
fn closest([p0, p1]: [DVec3; 2], [q0, q1]: [DVec3; 2]) -> (DVec3, DVec3) {
    let (d, e, r) = (p1 - p0, q1 - q0, p0 - q0);
    let (a, b, c, f, g) = (d.dot(d), d.dot(e), e.dot(e), d.dot(r), e.dot(r));
    let det = a * c - b * b;
    let mut s = if det > 1e-12 * a * c { ((b * g - c * f) / det).clamp(0.0, 1.0) } else { 0.0 };
    let mut t = if c > 0.0 { (b * s + g) / c } else { 0.0 };
    if !(0.0..=1.0).contains(&t) {
        t = t.clamp(0.0, 1.0);
        s = if a > 0.0 { ((b * t - f) / a).clamp(0.0, 1.0) } else { 0.0 };
    }
    (p0 + d * s, q0 + e * t)
}

/// Distance and the unit vector from A to B.
fn separation(a: (&Body, &Capsule), b: (&Body, &Capsule)) -> (f64, DVec3) {
    let (p, q) = closest(a.1.placed(a.0.pose()), b.1.placed(b.0.pose()));
    let apart = q - p;
    (apart.length() - a.1.radius - b.1.radius, apart.normalize_or_zero())
}

fn random_body(random: &mut SplitMix64) -> Body {
    let half = DVec3::new(random.range(0.05, 0.5), random.range(0.05, 0.5), random.range(0.05, 0.5));
    let mass = PrincipalMass::cuboid(random.range(0.5, 2.0), half).unwrap();
    let mut body = Body::free(mass, Pose::new(random.vec3(2.0), random.unit_quat())).unwrap();
    body.state.velocity.linear = random.vec3(5.0);
    // Mostly slow spins: there the bound is tight.
    let spin = random.unit();
    body.state.velocity.angular = random.vec3(10.0 * spin * spin * spin);
    body
}

fn bound(a: (&Body, &Capsule), b: (&Body, &Capsule), envelope: f64) -> f64 {
    let (distance, direction) = separation(a, b);
    let travel = |body: &Body, capsule: &Capsule, direction: DVec3| {
        Ballistic::of(body, GRAVITY, capsule.reach()).travel(direction, distance)
    };
    time_to_impact(distance, envelope, travel(a.0, a.1, direction), travel(b.0, b.1, -direction))
}

// proves: MIR-23, FON-81
#[test]
fn soak_the_bound_is_never_later_than_the_contact() {
    let mut random = soak::random(101);
    let (mut pairs, mut near) = (0, 0);
    while pairs < soak::cases(100_000) {
        let (shape_a, shape_b) = (Capsule::random(&mut random), Capsule::random(&mut random));
        let (mut a, mut b) = (random_body(&mut random), random_body(&mut random));
        // Some against something that does not move, so that gravity does not cancel.
        let against_wall = random.below(3) == 0;
        if against_wall {
            b = Body::fixed(*b.pose()).unwrap();
        } else if random.below(2) == 0 {
            // Aim at each other.
            a.state.velocity.linear += (b.pose().translation - a.pose().translation) * random.range(0.0, 5.0);
        }
        if separation((&a, &shape_a), (&b, &shape_b)).0 <= 1e-3 {
            continue;
        }
        pairs += 1;
        let time = bound((&a, &shape_a), (&b, &shape_b), 1e-3).min(1.0);
        const SAMPLES: u32 = 8;
        let mut least = f64::INFINITY;
        for _ in 0..SAMPLES {
            a.advance(time / f64::from(SAMPLES), GRAVITY).unwrap();
            b.advance(time / f64::from(SAMPLES), GRAVITY).unwrap();
            let (distance, _) = separation((&a, &shape_a), (&b, &shape_b));
            assert!(distance > 0.0, "touching at {distance} before {time}");
            least = least.min(distance);
        }
        near += u32::from(least < 0.05);
    }
    assert!(near > 500, "only {near} pairs came near");
}

#[test]
fn stepping_from_bound_to_bound_finds_every_contact() {
    let mut random = SplitMix64(102);
    let mut hits = 0;
    for _ in 0..300 {
        let (shape_a, shape_b) = (Capsule::random(&mut random), Capsule::random(&mut random));
        let (a, mut b) = (random_body(&mut random), random_body(&mut random));
        b.state.velocity.linear =
            a.state.velocity.linear + (a.pose().translation - b.pose().translation) * 2.0;
        if separation((&a, &shape_a), (&b, &shape_b)).0 <= 1e-3 {
            continue;
        }
        // Bisection on fine samples: the true first contact.
        let at = |t: f64| {
            let (mut x, mut y) = (a, b);
            x.advance(t, GRAVITY).unwrap();
            y.advance(t, GRAVITY).unwrap();
            separation((&x, &shape_a), (&y, &shape_b)).0
        };
        let first = (0..=1000).map(|k| 1e-3 * f64::from(k)).find(|&t| at(t) <= 0.0);
        let (mut x, mut y, mut now) = (a, b, 0.0);
        let mut touched = None;
        for _ in 0..10_000 {
            let (distance, direction) = separation((&x, &shape_a), (&y, &shape_b));
            assert!(distance > 0.0, "passed through");
            if distance < 1e-3 {
                touched = Some(now);
                break;
            }
            let travel = |body: &Body, shape: &Capsule, d: DVec3| {
                Ballistic::of(body, GRAVITY, shape.reach()).travel(d, distance)
            };
            let date = date_of_impact(
                now,
                distance,
                1e-3,
                travel(&x, &shape_a, direction),
                travel(&y, &shape_b, -direction),
            );
            if date > 1.0 {
                break;
            }
            x.advance(date - now, GRAVITY).unwrap();
            y.advance(date - now, GRAVITY).unwrap();
            now = date;
        }
        if let Some(first) = first {
            let touched = touched.expect("a contact was missed");
            assert!(touched <= first, "{touched} after {first}");
            hits += 1;
        }
    }
    assert!(hits > 100, "{hits}");
}

#[test]
fn a_bullet_never_misses_the_paper() {
    // 5 mm bullet at up to 1 km/s against paper of 0.1 mm, from up to 10 m: a step of 1 ms would jump over it.
    let mut random = SplitMix64(103);
    let paper = Fixed { center: DVec3::ZERO, radius: 0.2 };
    let (half, radius, envelope) = (DVec3::new(5e-5, 0.105, 0.148), 2.5e-3, 1e-4);
    for _ in 0..1000 {
        let mass = PrincipalMass::ball(0.004, radius).unwrap();
        let start = DVec3::new(-random.range(0.1, 10.0), random.range(-0.1, 0.1), random.range(-0.1, 0.1));
        let mut bullet = Body::free(mass, Pose::from_translation(start)).unwrap();
        bullet.state.velocity.linear = DVec3::new(random.range(10.0, 1000.0), 0.0, 0.0);
        bullet.state.velocity.angular = random.vec3(1e4);
        let arrival = (-start.x - half.x - radius) / bullet.state.velocity.linear.x;
        let mut now = 0.0;
        let mut steps = 0;
        loop {
            let center = bullet.pose().translation;
            let nearest = center.clamp(-half, half);
            let distance = (center - nearest).length() - radius;
            assert!(distance > 0.0 && center.x < 0.0, "through the paper");
            if distance < envelope {
                break;
            }
            let direction = (nearest - center).normalize();
            // A ball spinning about its centre brings no point nearer.
            let flight = Ballistic { max_spin: 0.0, ..Ballistic::of(&bullet, DVec3::ZERO, radius) };
            let travel = flight.travel(direction, distance);
            let date = date_of_impact(now, distance, envelope, travel, paper.travel(-direction, distance));
            assert!(date < 10.0 * arrival, "lost");
            bullet.advance(date - now, DVec3::ZERO).unwrap();
            now = date;
            steps += 1;
        }
        assert!(now <= arrival && now > arrival * 0.99, "{now} {arrival}");
        assert!(steps < 20, "{steps}");
    }
    assert!(time_to_impact(1.0, 1e-3, Travel::NONE, Travel::NONE).is_infinite());
}
