//! A falling ball as a page, a model and a picture, in the folder for temporary files.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use scene::recording::{BodyInfo, BodyKind, BodyState, Frame, Header, Recorder, Recording, ShapeInfo};
use sim_cli::still::StillParams;
use sim_math::{Pose, glam::DVec3};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut recorder =
        Recorder::new(Vec::new(), Header { title: "Falling ball".into(), ..Header::default() })?;
    let ground = recorder.add_shape(ShapeInfo::HalfSpace { normal: DVec3::Z })?;
    let ball = recorder.add_shape(ShapeInfo::Sphere { radius: 0.1 })?;
    recorder.add_body(BodyInfo::new("ground", BodyKind::Fixed, 0.0, ground))?;
    recorder.add_body(BodyInfo::new("ball", BodyKind::Free, 1.0, ball))?;
    for i in 0..27 {
        let time = f64::from(i) / 60.0;
        let falling = BodyState {
            pose: Pose::from_translation(DVec3::Z * (1.1 - 4.905 * time * time)),
            velocity: DVec3::Z * (-9.81 * time),
            spin: DVec3::ZERO,
        };
        let bodies = vec![Some(BodyState::default()), Some(falling)];
        recorder.push(&Frame { time, bodies, ..Frame::default() })?;
    }
    let mut recording = Recording::from_bytes(recorder.finish()?)?;

    let folder = std::env::temp_dir();
    let files = [
        ("falling_ball.html", sim_cli::page::page(&recording)?.into_bytes()),
        ("falling_ball.glb", sim_cli::gltf::gltf(&mut recording)?),
        (
            "falling_ball.png",
            sim_cli::still::still(&mut recording, &StillParams { time: 0.3, ..StillParams::default() })?,
        ),
    ];
    for (name, bytes) in files {
        sim_cli::write_file(&folder.join(name), &bytes)?;
        println!("{:>8} bytes  {}", bytes.len(), folder.join(name).display());
    }
    Ok(())
}
