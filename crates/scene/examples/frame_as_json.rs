//! Prints frames of a recording as JSON, for looking inside and for comparing readers.
//!
//! ```sh
//! cargo run -p scene --example frame_as_json RECORDING [FRAME ...]
//! ```
//! Without frames: the first, the middle and the last. Without a recording: a small one made on the spot.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use scene::recording::{
    BodyInfo, BodyKind, BodyState, Frame, Header, JointState, Recorder, Recording, ShapeInfo,
};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut recording = match words.first() {
        Some(path) => Recording::open(path)?,
        None => small()?,
    };
    let last = recording.len().saturating_sub(1);
    let mut frames = vec![0, last / 2, last];
    if words.len() > 1 {
        frames = words[1..].iter().map(|w| w.parse()).collect::<Result<_, _>>()?;
    }
    let found = frames.into_iter().map(|i| Ok(as_json(i, recording.frame(i)?)));
    let found: Result<Vec<Value>, scene::RecordingError> = found.collect();
    println!("{}", Value::Array(found?));
    Ok(())
}

/// Position and quaternion of each body, what joints bear, and how much else there is.
fn as_json(index: usize, frame: &Frame) -> Value {
    let pose = |s: &BodyState| [&s.pose.translation.to_array()[..], &s.pose.rotation.to_array()].concat();
    let bodies: Vec<Option<Vec<f64>>> = frame.bodies.iter().map(|s| s.as_ref().map(pose)).collect();
    let load = |s: &JointState| json!({ "force": s.force.to_array(), "torque": s.torque.to_array(), "acts": s.acts, "broken": s.broken, "atLimits": s.at_limits });
    let joints: Vec<Option<Value>> = frame.joints.iter().map(|s| s.as_ref().map(load)).collect();
    json!({
        "frame": index,
        "time": frame.time,
        "bodies": bodies,
        "joints": joints,
        "contacts": frame.contacts.len(),
        "pairs": frame.pairs.len(),
        "boxes": frame.boxes.iter().flatten().count(),
    })
}

fn small() -> Result<Recording, scene::RecordingError> {
    let mut recorder = Recorder::new(Vec::new(), Header::default())?;
    let shape = recorder.add_shape(ShapeInfo::Sphere { radius: 0.1 })?;
    recorder.add_body(BodyInfo::new("ball", BodyKind::Free, 1.0, shape))?;
    recorder.push(&Frame { bodies: vec![Some(BodyState::default())], ..Frame::default() })?;
    Recording::from_bytes(recorder.finish()?)
}
