//! A recording as an animated model: binary glTF 2.0.
//!
//! One mesh for each shape and colour, one node for each body, and one animation with the motion of every body
//! that moves. A root node turns the scene's up to glTF's y. Bodies that are born or die shrink to nothing while
//! they are not there, because glTF has no other way to hide a node.

use crate::mesh::Mesh;
use crate::{CliError, look};
use scene::Recording;
use scene::recording::{BodyState, ShapeInfo};
use serde_json::{Value, json};
use sim_math::glam::{DQuat, DVec3};

const FLOAT: u32 = 5126;
const UNSIGNED: u32 = 5125;

/// The bytes of a `.glb` file.
///
/// # Errors
/// [`CliError::Empty`] without frames, [`CliError::Frame`] if the recording is corrupt, [`CliError::Encode`] if
/// the model would be larger than the 4 GiB of the format.
pub fn gltf(recording: &mut Recording) -> Result<Vec<u8>, CliError> {
    let tracks = tracks(recording)?;
    let mut builder = Builder::default();
    let extent = tracks
        .iter()
        .flat_map(|t| &t.states)
        .flatten()
        .fold(1.0_f64, |far, s| far.max(s.pose.translation.length()));
    let colors = look::colors(recording.bodies(), false);
    let geometry: Vec<[u32; 3]> =
        recording.shapes().iter().map(|shape| builder.geometry(shape, 2.0 * extent)).collect();
    let mut children = Vec::new();
    for (body, info) in recording.bodies().iter().enumerate() {
        let parts: Vec<u32> = info
            .colliders
            .iter()
            .map(|c| {
                let mesh = builder.mesh(
                    geometry[c.shape as usize],
                    &recording.shapes()[c.shape as usize],
                    colors[body],
                );
                let (t, r) = (c.body_from_shape.translation, c.body_from_shape.rotation);
                builder.node(json!({ "mesh": mesh, "translation": t.to_array(), "rotation": unit(r) }))
            })
            .collect();
        let mut node = json!({ "name": info.name });
        if !parts.is_empty() {
            node["children"] = json!(parts);
        }
        if let Some(state) = tracks[body].states.iter().flatten().next() {
            node["translation"] = json!(state.pose.translation.to_array());
            node["rotation"] = json!(unit(state.pose.rotation));
        }
        let node = builder.node(node);
        children.push(node);
        builder.animate(node, &tracks[body], recording.times());
    }
    let up = DQuat::from_rotation_arc(recording.header().up, DVec3::Y);
    let mut root = json!({ "name": recording.header().title, "rotation": unit(up) });
    if !children.is_empty() {
        root["children"] = json!(children);
    }
    let root = builder.node(root);
    builder.finish(root, &recording.header().title)
}

/// A unit quaternion to the seven digits that single precision has.
fn unit(q: DQuat) -> [f32; 4] {
    q.normalize().to_array().map(|v| v as f32)
}

/// States of one body over all frames; one state only if it never changes.
struct Track {
    states: Vec<Option<BodyState>>,
    moves: bool,
    hides: bool,
}

fn tracks(recording: &mut Recording) -> Result<Vec<Track>, CliError> {
    if recording.is_empty() {
        return Err(CliError::Empty);
    }
    let count = recording.bodies().len();
    let mut tracks: Vec<Track> =
        (0..count).map(|_| Track { states: Vec::new(), moves: false, hides: false }).collect();
    for i in 0..recording.len() {
        let frame = recording.frame(i)?;
        for (body, track) in tracks.iter_mut().enumerate() {
            track.states.push(frame.bodies.get(body).copied().flatten());
        }
    }
    for track in &mut tracks {
        track.hides = track.states.iter().any(Option::is_none);
        let mut poses = track.states.iter().flatten().map(|s| s.pose);
        let first = poses.next();
        track.moves = poses.any(|pose| Some(pose) != first);
    }
    Ok(tracks)
}

/// The JSON and the bytes that it refers to.
#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
    mesh_keys: Vec<([u32; 3], [u8; 3])>,
    materials: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    times: Option<u32>,
}

impl Builder {
    fn node(&mut self, node: Value) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Numbers as an accessor; `bounds` for those that must have them.
    fn floats(&mut self, kind: &str, width: usize, values: &[f32], target: Option<u32>, bounds: bool) -> u32 {
        let mut accessor = json!({ "componentType": FLOAT, "type": kind, "count": values.len() / width });
        if bounds {
            let extreme = |pick: fn(f32, f32) -> f32, start: f32| -> Vec<f32> {
                (0..width).map(|k| values.iter().skip(k).step_by(width).copied().fold(start, pick)).collect()
            };
            accessor["min"] = json!(extreme(f32::min, f32::INFINITY));
            accessor["max"] = json!(extreme(f32::max, f32::NEG_INFINITY));
        }
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(accessor, &bytes, target)
    }

    fn accessor(&mut self, mut accessor: Value, bytes: &[u8], target: Option<u32>) -> u32 {
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        accessor["bufferView"] = json!(self.views.len());
        self.views.push(view);
        self.bytes.extend(bytes);
        self.accessors.push(accessor);
        self.accessors.len() as u32 - 1
    }

    /// Positions, normals and indices of a shape.
    fn geometry(&mut self, shape: &ShapeInfo, ground: f64) -> [u32; 3] {
        let mesh = Mesh::of(shape, 32, ground);
        let flat = |vectors: &[DVec3]| {
            vectors.iter().flat_map(|v| v.to_array().map(|c| c as f32)).collect::<Vec<_>>()
        };
        let positions = self.floats("VEC3", 3, &flat(&mesh.positions), Some(34962), true);
        let normals = self.floats("VEC3", 3, &flat(&mesh.normals), Some(34962), false);
        let indices: Vec<u8> = mesh.triangles.iter().flatten().flat_map(|i| i.to_le_bytes()).collect();
        let accessor = json!({ "componentType": UNSIGNED, "type": "SCALAR", "count": indices.len() / 4 });
        [positions, normals, self.accessor(accessor, &indices, Some(34963))]
    }

    /// A shape in a colour; the same one again if there is one.
    fn mesh(&mut self, geometry: [u32; 3], shape: &ShapeInfo, color: look::Rgb) -> u32 {
        let key = (geometry, color.map(look::encoded));
        if let Some(at) = self.mesh_keys.iter().position(|k| *k == key) {
            return at as u32;
        }
        self.mesh_keys.push(key);
        let [r, g, b] = color;
        self.materials.push(json!({
            "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.75 },
            "doubleSided": matches!(shape, ShapeInfo::Mesh { .. }),
        }));
        let [positions, normals, indices] = geometry;
        self.meshes.push(json!({ "primitives": [{
            "attributes": { "POSITION": positions, "NORMAL": normals },
            "indices": indices,
            "material": self.materials.len() - 1,
        }] }));
        self.meshes.len() as u32 - 1
    }

    fn animate(&mut self, node: u32, track: &Track, times: &[f64]) {
        if times.len() < 2 || !(track.moves || track.hides) {
            return;
        }
        let input = match self.times {
            Some(input) => input,
            None => {
                let start = times[0];
                let values: Vec<f32> = times.iter().map(|t| (t - start) as f32).collect();
                let input = self.floats("SCALAR", 1, &values, None, true);
                self.times = Some(input);
                input
            }
        };
        if track.moves {
            let mut last = track.states.iter().flatten().next().copied().unwrap_or_default();
            let (mut places, mut turns) = (Vec::new(), Vec::new());
            for state in &track.states {
                let mut pose = state.unwrap_or(last).pose;
                // Neighbours on the same side, so that a viewer that blends them takes the short way.
                if pose.rotation.dot(last.pose.rotation) < 0.0 {
                    pose.rotation = -pose.rotation;
                }
                last.pose = pose;
                places.extend(pose.translation.to_array().map(|v| v as f32));
                turns.extend(unit(pose.rotation));
            }
            let places = self.floats("VEC3", 3, &places, None, false);
            let turns = self.floats("VEC4", 4, &turns, None, false);
            self.channel(node, "translation", input, places, "LINEAR");
            self.channel(node, "rotation", input, turns, "LINEAR");
        }
        if track.hides {
            let scales: Vec<f32> =
                track.states.iter().flat_map(|s| [if s.is_some() { 1.0 } else { 0.0 }; 3]).collect();
            let scales = self.floats("VEC3", 3, &scales, None, false);
            self.channel(node, "scale", input, scales, "STEP");
        }
    }

    fn channel(&mut self, node: u32, path: &str, input: u32, output: u32, interpolation: &str) {
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        let sampler = self.samplers.len() - 1;
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    fn finish(self, root: u32, title: &str) -> Result<Vec<u8>, CliError> {
        let mut model = json!({
            "asset": { "version": "2.0", "generator": concat!("tumblestone ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "name": title, "nodes": [root] }],
            "nodes": self.nodes,
        });
        // Empty lists are not allowed.
        let lists = [
            ("meshes", self.meshes),
            ("materials", self.materials),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ];
        for (name, list) in lists {
            if !list.is_empty() {
                model[name] = Value::Array(list);
            }
        }
        if !self.bytes.is_empty() {
            model["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        if !self.channels.is_empty() {
            model["animations"] =
                json!([{ "name": "run", "samplers": self.samplers, "channels": self.channels }]);
        }
        let mut text = serde_json::to_vec(&model).map_err(|e| CliError::Encode(e.to_string()))?;
        text.resize(text.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + text.len() + if self.bytes.is_empty() { 0 } else { 8 + self.bytes.len() };
        let total =
            u32::try_from(total).map_err(|_| CliError::Encode(format!("{total} bytes do not fit a .glb")))?;
        let mut out = Vec::with_capacity(total as usize);
        for word in [0x4654_6C67, 2, total, text.len() as u32, 0x4E4F_534A] {
            out.extend(word.to_le_bytes());
        }
        out.extend(text);
        if !self.bytes.is_empty() {
            // Every view is a multiple of four bytes long, so the whole is too.
            out.extend((self.bytes.len() as u32).to_le_bytes());
            out.extend(0x004E_4942_u32.to_le_bytes());
            out.extend(self.bytes);
        }
        Ok(out)
    }
}
