//! Runs the pendulum and prints what it measured beside what it should be.
#![allow(clippy::print_stdout, reason = "an example talks to a person")]

fn main() -> Result<(), validation::Failed> {
    let scene = validation::scene("pendulum").ok_or("no such scene")?;
    println!("{}: {}", scene.name, scene.about);
    for row in scene.rows()? {
        println!("{row}");
    }
    Ok(())
}
