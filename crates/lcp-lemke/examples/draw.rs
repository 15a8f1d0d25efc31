//! Writes a random problem as text: `draw <pd|contact|friction4|friction8> <n> <seed>`.
//! Another tool can read it; so can `solve_file`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use lcp_lemke::families::Family;
use lcp_lemke::to_text;
use sim_math::testkit::SplitMix64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [family, n, seed] = arguments.as_slice() else {
        return Err("usage: draw <pd|contact|friction4|friction8> <n> <seed>".into());
    };
    let drawn = match family.as_str() {
        "pd" => Family::PositiveDefinite,
        "contact" => Family::Contact,
        "friction4" => Family::Friction4,
        "friction8" => Family::Friction8,
        other => return Err(format!("unknown family {other:?}").into()),
    };
    let p = drawn.draw(n.parse()?, &mut SplitMix64(seed.parse()?));
    print!("{}", to_text(&p.problem()?, &format!("{family}, n = {n}, seed {seed}")));
    Ok(())
}
