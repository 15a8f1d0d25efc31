//! The three outputs, checked by reading them back.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use scene::recording::{BodyInfo, BodyKind, BodyState, Frame, Header, Recorder, Recording, ShapeInfo};
use serde_json::Value;
use sim_cli::gltf::gltf;
use sim_cli::still::{StillParams, movie, render, still};
use sim_math::{Pose, glam::DQuat, glam::DVec3, ops};

/// A ball that falls past a box and vanishes, above a ground.
fn recording() -> Recording {
    let mut recorder =
        Recorder::new(Vec::new(), Header { title: "test".to_owned(), ..Header::default() }).unwrap();
    let shapes = [
        ShapeInfo::HalfSpace { normal: DVec3::Z },
        ShapeInfo::Sphere { radius: 0.3 },
        ShapeInfo::Cuboid { half_extents: DVec3::splat(0.2) },
    ];
    let ids = shapes.map(|shape| recorder.add_shape(shape).unwrap());
    recorder.add_body(BodyInfo::new("ground", BodyKind::Fixed, 0.0, ids[0])).unwrap();
    let red = Some("#ff0000".to_owned());
    recorder.add_body(BodyInfo { color: red, ..BodyInfo::new("ball", BodyKind::Free, 1.0, ids[1]) }).unwrap();
    recorder.add_body(BodyInfo::new("box", BodyKind::Free, 1.0, ids[2])).unwrap();
    for i in 0..100 {
        let time = f64::from(i) / 60.0;
        let at = |x: f64, z: f64| BodyState {
            pose: Pose::from_translation(DVec3::new(x, 0.0, z)),
            ..BodyState::default()
        };
        let mut turning = at(1.0, 0.2);
        turning.pose.rotation = DQuat::from_rotation_z(time);
        turning.spin = DVec3::Z;
        let ball = (i < 90).then(|| at(0.0, 2.0 - 0.5 * time));
        recorder
            .push(&Frame { time, bodies: vec![Some(at(0.0, 0.0)), ball, Some(turning)], ..Frame::default() })
            .unwrap();
    }
    Recording::from_bytes(recorder.finish().unwrap()).unwrap()
}

/// JSON and binary part of a `.glb`.
fn parts(glb: &[u8]) -> (Value, &[u8]) {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&glb[..4], word(4), word(8)), (&b"glTF"[..], 2, glb.len()));
    let json = &glb[20..20 + word(12)];
    let rest = 20 + word(12);
    assert_eq!(&glb[rest + 4..rest + 8], b"BIN\0");
    (serde_json::from_slice(json).unwrap(), &glb[rest + 8..rest + 8 + word(rest)])
}

fn floats(model: &Value, bytes: &[u8], accessor: &Value) -> Vec<f32> {
    let accessor = &model["accessors"][accessor.as_u64().unwrap() as usize];
    let view = &model["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let at = view["byteOffset"].as_u64().unwrap() as usize;
    let length = view["byteLength"].as_u64().unwrap() as usize;
    bytes[at..at + length].chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn a_model_moves_as_the_recording_does() {
    let mut recording = recording();
    let glb = gltf(&mut recording).unwrap();
    let (model, bytes) = parts(&glb);
    let nodes = model["nodes"].as_array().unwrap();
    let named = |name: &str| nodes.iter().position(|n| n["name"] == name).unwrap();
    let animation = &model["animations"][0];
    let track = |name: &str, path: &str| {
        let channels = animation["channels"].as_array().unwrap();
        let found =
            channels.iter().find(|c| c["target"]["node"] == named(name) && c["target"]["path"] == path)?;
        let sampler = &animation["samplers"][found["sampler"].as_u64().unwrap() as usize];
        Some((floats(&model, bytes, &sampler["input"]), floats(&model, bytes, &sampler["output"])))
    };
    assert!(track("ground", "translation").is_none(), "what stands still has no track");
    let (times, places) = track("ball", "translation").unwrap();
    let (_, turns) = track("box", "rotation").unwrap();
    let (_, scales) = track("ball", "scale").unwrap();
    assert_eq!((times.len(), places.len(), turns.len()), (100, 300, 400));
    for i in 0..100 {
        let t = f64::from(times[i]);
        assert!((t - i as f64 / 60.0).abs() < 1e-6);
        if i < 90 {
            assert!((f64::from(places[3 * i + 2]) - (2.0 - 0.5 * t)).abs() < 1e-4);
        }
        assert!((f64::from(turns[4 * i + 2]) - ops::sin(t / 2.0)).abs() < 1e-4);
        assert_eq!(scales[3 * i] > 0.5, i < 90, "the ball is gone from frame 90 on");
    }
    // Up is y in glTF: the root turns z there.
    let root = &nodes[model["scenes"][0]["nodes"][0].as_u64().unwrap() as usize];
    let q: Vec<f64> = root["rotation"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    let up = DQuat::from_xyzw(q[0], q[1], q[2], q[3]) * DVec3::Z;
    assert!((up - DVec3::Y).length() < 1e-6);
}

// proves: ARN-97
#[test]
fn a_picture_shows_shaded_bodies_and_a_shadow_on_the_ground() {
    let mut recording = recording();
    let params = StillParams { width: 320, height: 180, ..StillParams::default() };
    let pixels = render(&mut recording, &params).unwrap();
    let rgb: Vec<[u8; 3]> = pixels.chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
    assert_eq!(rgb.len(), 320 * 180);
    let red: Vec<u8> = rgb.iter().filter(|c| c[0] > 90 && c[1] < 40 && c[2] < 40).map(|c| c[0]).collect();
    assert!(red.len() > 300, "{} red pixels", red.len());
    let (darkest, lightest) = (red.iter().min().unwrap(), red.iter().max().unwrap());
    assert!(lightest - darkest > 60, "a ball is lit from one side: {darkest} to {lightest}");
    // The ground is light grey where the sun shines and clearly darker, still grey, where the ball is in its way.
    let grey = |c: &&[u8; 3]| c[0].abs_diff(c[2]) < 24 && c[0].abs_diff(c[1]) < 16;
    let shadow = rgb.iter().filter(grey).filter(|c| (100..205).contains(&c[1])).count();
    let light = rgb.iter().filter(grey).filter(|c| c[1] > 215).count();
    assert!(shadow > 150 && light > 20_000, "{shadow} in shadow, {light} lit");
    // At the end the ball is gone, and so is its red.
    let gone = render(&mut recording, &StillParams { time: 1.6, ..params }).unwrap();
    assert!(!gone.chunks(3).any(|c| c[0] > 90 && c[1] < 40 && c[2] < 40));
}

#[test]
fn a_png_can_be_read_and_bad_sizes_are_refused() {
    let mut recording = recording();
    let params = StillParams { width: 64, height: 48, dark: true, ..StillParams::default() };
    let bytes = still(&mut recording, &params).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (64, 48));
    assert_eq!(pixels, render(&mut recording, &params).unwrap());
    let error = still(&mut recording, &StillParams { width: 9000, ..params }).unwrap_err();
    assert_eq!(error.to_string(), "width: must be 1 to 8192 pixels, got 9000");
    assert!(still(&mut recording, &StillParams { time: f64::NAN, ..params }).is_err());
    assert!(still(&mut recording, &StillParams { zoom: 0.0, ..params }).is_err());
}

// proves: ARN-100
#[test]
fn a_movie_has_a_picture_for_each_moment_and_a_stroboscope_shows_earlier_ones() {
    let mut recording = recording();
    let params = StillParams { width: 96, height: 64, ..StillParams::default() };
    let bytes = movie(&mut recording, &params, 8).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let control = *reader.info().animation_control().unwrap();
    // 99 frames at 60 Hz are 1.65 s.
    assert_eq!(control.num_frames, 13);
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let mut pictures = Vec::new();
    for _ in 0..control.num_frames {
        reader.next_frame(&mut pixels).unwrap();
        pictures.push(pixels.clone());
    }
    let at = |k: usize| StillParams { time: k as f64 / 8.0, look_at: Some(0.0), ..params };
    for (k, picture) in pictures.iter().enumerate() {
        assert_eq!(*picture, render(&mut recording, &at(k)).unwrap(), "picture {k}");
    }
    assert!(pictures.windows(2).all(|w| w[0] != w[1]), "something moves all the time");
    assert!(movie(&mut recording, &params, 0).is_err());
    // The ball in red at five moments covers more than at one.
    let red = |params: &StillParams, recording: &mut Recording| {
        render(recording, params).unwrap().chunks(3).filter(|c| c[0] > 90 && c[1] < 40 && c[2] < 40).count()
    };
    let moment = StillParams { time: 1.4, look_at: Some(0.0), width: 320, height: 180, ..params };
    let (one, five) =
        (red(&moment, &mut recording), red(&StillParams { poses: 4, ..moment }, &mut recording));
    assert!(five as f64 > 1.5 * one as f64, "{one} and {five}");
}

#[test]
fn without_frames_there_is_nothing_to_show() {
    let empty = Recorder::new(Vec::new(), Header::default()).unwrap().finish().unwrap();
    let mut empty = Recording::from_bytes(empty).unwrap();
    let message = "the recording has no frames";
    assert_eq!(sim_cli::page::page(&empty).unwrap_err().to_string(), message);
    assert_eq!(gltf(&mut empty).unwrap_err().to_string(), message);
    assert_eq!(still(&mut empty, &StillParams::default()).unwrap_err().to_string(), message);
}

#[test]
fn a_page_holds_the_bytes_of_the_recording() {
    let recording = recording();
    let html = sim_cli::page::page(&recording).unwrap();
    let (_, rest) = html.split_once("<script id=\"recording\" type=\"text/plain\">").unwrap();
    let text = rest.split_once("</script>").unwrap().0;
    assert_eq!(text.len(), recording.bytes().len().div_ceil(3) * 4);
    assert!(text.starts_with("dHVtYmxlMQ"), "{}", &text[..20]);
}
