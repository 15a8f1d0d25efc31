use lcp_lemke::*; use lcp_lemke::families::*; use sim_math::testkit::SplitMix64;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let f = match std::env::args().nth(2).unwrap().as_str() { "pd" => Family::PositiveDefinite, "contact" => Family::Contact, "friction4" => Family::Friction4, _ => Family::Friction8 };
    let reps: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let mut r = SplitMix64(42);
    let p = f.draw(n, &mut r); let pr = p.problem().unwrap();
    let mut d = Driver::default(); d.reserve(p.q.len()); let mut z = vec![0.0; p.q.len()];
    for _ in 0..reps { d.run_from(&pr, None, &mut z).unwrap(); }
}
