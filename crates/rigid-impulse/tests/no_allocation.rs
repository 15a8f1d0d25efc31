//! Collisions must not allocate: the laws never, contacts of systems not after their workspace has grown.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "support/turning.rs"]
mod turning;

use rigid_impulse::{
    Body, CollisionKind, CollisionWorkspace, Contact, ContactFrame, FreeBodies, MicroParams, PrincipalMass,
    Sides, collide_pair,
    impact::{Algebraic, Frictionless, Integrated, Phases, Restitution},
};
use sim_math::{
    Pose,
    glam::DVec3,
    testkit::{
        SplitMix64,
        allocations::{CountingAllocator, count},
    },
};
use sim_traits::{ImpactLaw, PartId, VelocitySystem};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn the_counter_counts() {
    let before = count();
    drop(std::hint::black_box(vec![1.0_f64; 3]));
    assert_eq!(count() - before, 1);
}

#[test]
fn no_law_allocates() {
    let impacts = turning::workload(2026).unwrap();
    let (poisson, newton) = (Integrated::with(Restitution::Poisson), Integrated::with(Restitution::Newton));
    let mut stronge = Integrated::default();
    stronge.tolerance = turning::TOLERANCE;
    let (algebraic, phases) = (Algebraic::default(), Phases::default());
    let laws: [(&str, &dyn ImpactLaw); 6] = [
        ("stronge", &stronge),
        ("poisson", &poisson),
        ("newton", &newton),
        ("algebraic", &algebraic),
        ("frictionless", &Frictionless),
        ("phases", &phases),
    ];
    for (name, law) in laws {
        let before = count();
        let mut sum = DVec3::ZERO;
        for impact in &impacts {
            sum += law.impulse(impact).unwrap();
        }
        assert_eq!(count() - before, 0, "{name}");
        assert!(sum.z > 0.0);
    }
}

#[test]
fn micro_collisions_do_not_allocate() {
    let impacts = turning::workload(2026).unwrap();
    let law = Integrated::default();
    for micro in [MicroParams::mirtich(1e-3), MicroParams::fontijne(1e-3, 0.9)] {
        let before = count();
        let mut kinds = [0; 2];
        for impact in &impacts {
            let mut slow = *impact;
            slow.velocity *= 1e-3;
            for impact in [&slow, impact] {
                let (_, kind) = micro.resolve(impact, 5e-4, 9.81, &law).unwrap();
                kinds[usize::from(kind == CollisionKind::Ordinary)] += 1;
            }
        }
        assert_eq!(count() - before, 0);
        assert!(kinds[0] > 500 && kinds[1] > 500, "{kinds:?}");
    }
}

#[test]
fn contacts_do_not_allocate_with_a_grown_workspace() {
    let mut random = SplitMix64(77);
    let mut pool = FreeBodies::default();
    let mut q = Vec::new();
    for _ in 0..4 {
        pool.add_free(PrincipalMass::cuboid(random.range(0.5, 2.0), DVec3::new(0.2, 0.3, 0.5)).unwrap());
        q.extend_from_slice(&random.vec3(1.0).to_array());
        q.extend_from_slice(&random.unit_quat().to_array());
    }
    pool.prepare(&q).unwrap();
    let other = pool.clone();
    let mut v: Vec<f64> = (0..24).map(|_| random.range(-1.0, 1.0)).collect();
    let mut v_other: Vec<f64> = v.iter().map(|v| -v).collect();
    let (mut ws, law) = (CollisionWorkspace::default(), Integrated::default());
    let mut grown = 0;
    let mut hits = 0;
    for round in 0..200 {
        let frame = ContactFrame::new(random.vec3(1.0), random.unit_vec3()).unwrap();
        for sides in [
            Sides::Same { system: &pool, a: PartId(round % 4), b: PartId((round + 1) % 4) },
            Sides::Two { a: (&pool, PartId(round % 4)), b: (&other, PartId(2)) },
        ] {
            let contact = Contact { sides, frame };
            let (_, impulse) = contact.collide(&law, 0.4, 0.5, &mut ws, &mut v, &mut v_other).unwrap();
            hits += u32::from(impulse.z > 0.0);
        }
        if round == 0 {
            grown = count();
        }
    }
    assert_eq!(count() - grown, 0, "{hits} collisions");
    assert!(hits > 50, "{hits}");
}

#[test]
fn two_bodies_collide_without_allocation() {
    let mut random = SplitMix64(78);
    let mass = PrincipalMass::ball(1.0, 0.3).unwrap();
    let mut a = Body::free(mass, Pose::from_translation(DVec3::Z)).unwrap();
    let mut b = Body::free(mass, Pose::IDENTITY).unwrap();
    let before = count();
    let mut hits = 0;
    for _ in 0..200 {
        a.apply_impulse(DVec3::Z, random.vec3(1.0));
        let frame = ContactFrame::new(random.vec3(0.3), random.unit_vec3()).unwrap();
        let impulse = collide_pair(&mut a, &mut b, &frame, &Integrated::default(), 0.4, 0.5).unwrap();
        hits += u32::from(impulse != DVec3::ZERO);
    }
    assert_eq!(count() - before, 0, "{hits} collisions");
    assert!(hits > 50, "{hits}");
}
