//! Writes a random problem as text: `draw <pd|contact|friction4|friction8> <n> <seed>`.
//! Another tool can read it; so can `solve_file`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use lcp_lemke::families::Family;
use lcp_lemke::to_text;
use sim_math::testkit::SplitMix64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (family, n, seed) = match words[..] {
        [] => ("pd", "3", "1"),
        [family, n, seed] => (family, n, seed),
        _ => return Err("usage: draw <pd|contact|friction4|friction8> <n> <seed>".into()),
    };
    let drawn: Family = family.parse()?;
    let p = drawn.draw(n.parse()?, &mut SplitMix64(seed.parse()?));
    print!("{}", to_text(&p.problem()?, &format!("{family}, n = {n}, seed {seed}")));
    Ok(())
}
