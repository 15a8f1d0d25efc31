//! Runs a built-in scene and prints where its bodies come to rest: `cargo run -p scene --example run_scene [NAME]`.

#![allow(clippy::print_stdout, reason = "an example shows its results")]

use scene::{builtin, run::Run};

fn main() -> Result<(), scene::SceneError> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "block-drop".to_owned());
    let mut run = Run::new(builtin::setup(&name)?)?;
    let until = run.setup().until;
    run.advance_to(until)?;
    println!("{}: {}", run.setup().title, run.report());
    for body in &run.setup().bodies {
        if let Some(state) = run.world().get(body.id).filter(|b| b.is_free()) {
            let p = state.position();
            println!("  {:12} {:8.4} {:8.4} {:8.4} m", body.name, p.x, p.y, p.z);
        }
    }
    Ok(())
}
