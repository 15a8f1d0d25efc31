//! Solves a problem from a text file: `solve_file <path>`. Prints z, one number in a line, and what is known of it.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use lcp_lemke::{Driver, from_text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1);
    let text = match &path {
        Some(path) => std::fs::read_to_string(path)?,
        None => {
            println!("# no file given: the problem of the README");
            "lcp 1 n 2 M 2 1 1 2 q -5 -6".to_owned()
        }
    };
    let owned = from_text(&text)?;
    let mut z = vec![0.0; owned.q.len()];
    match Driver::default().run(&owned.problem()?, &mut z) {
        Ok(solution) => println!("# {:?}: {:?}", solution.method, solution.certificate),
        Err(failure) => println!("# not solved: {failure}"),
    }
    for v in z {
        println!("{v:?}");
    }
    Ok(())
}
