use rigid_impulse::impact::*;
use sim_math::{glam::*, ops, testkit::SplitMix64};
use sim_traits::{Impact, ImpactLaw};
fn main() {
    let mut random = SplitMix64(1);
    let mut law = Integrated::default(); law.tolerance = 1e-8;
    let mut s = DVec3::ZERO; let mut steps = 0;
    for _ in 0..2000 {
        let axes = DMat3::from_quat(random.unit_quat());
        let span = ops::ln(100.0);
        let ev = DVec3::new(ops::exp(-span * random.unit()), ops::exp(-span * random.unit()), ops::exp(-span * random.unit()));
        let k = axes * DMat3::from_diagonal(ev) * axes.transpose();
        let k = (k + k.transpose()) * 0.5;
        let mut v = random.vec3(1.0); v.z = -v.z.abs();
        let impact = Impact { k, velocity: v, friction: random.range(0.05, 1.5), restitution: random.unit() };
        let r = integrate(&impact, &law).unwrap();
        s += r.impulse; steps += r.steps;
    }
    println!("{s} {steps}");
}
