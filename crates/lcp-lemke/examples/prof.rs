use lcp_lemke::*; use lcp_lemke::families::*; use sim_math::testkit::SplitMix64;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let f = match std::env::args().nth(2).unwrap().as_str() { "pd" => Family::PositiveDefinite, "contact" => Family::Contact, "friction4" => Family::Friction4, _ => Family::Friction8 };
    let reps: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let warm = std::env::args().nth(4).is_some();
    let mut r = SplitMix64(42);
    let (p, c) = changed_pair(f, n, 1e-3, &mut r); let pr = p.problem().unwrap();
    let mut d = Driver::default(); d.reserve(p.q.len()); let mut z = vec![0.0; p.q.len()];
    if warm { d.run(&pr, &mut z).unwrap(); let g = d.active().to_vec(); let cp = c.problem().unwrap();
        for _ in 0..reps { d.run_from(&cp, Some(&g), &mut z).unwrap(); } }
    else { for _ in 0..reps { d.run_from(&pr, None, &mut z).unwrap(); } }
}
