//! One moment of a recording as a picture, drawn without a browser or a graphics card.
//!
//! Bodies are triangles in a depth buffer, half-spaces are met by a ray for each pixel, the sun throws shadows
//! through a second depth buffer. Joints lie over it: what bodies hide of them shines through. Colours and the place of the camera
//! are those of the page.

mod joints;
mod movie;
mod raster;
mod view;

use crate::mesh::Mesh;
use crate::{CliError, look};
use raster::{Depth, Triangle};
use scene::Recording;
use scene::recording::{BodyKind, ShapeInfo};
use sim_math::glam::DVec3;
use sim_math::{Pose, ops};
use view::View;

pub use movie::movie;
pub(crate) use view::{area, sideways};

/// What to draw and how large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StillParams {
    /// Seconds of simulated time; the nearest frame is drawn.
    pub time: f64,
    /// Pixels, 1 to 8192.
    pub width: u32,
    /// Pixels, 1 to 8192.
    pub height: u32,
    /// Light bodies on a dark background.
    pub dark: bool,
    /// Larger shows less, and that larger; 1 shows most bodies.
    pub zoom: f64,
    /// So many earlier moments are drawn too, evenly from the start on, as under a stroboscope; at most 100.
    pub poses: u32,
    /// Draw joints and springs.
    pub joints: bool,
    /// Draw the forces that joints bear.
    pub reactions: bool,
    /// The moment whose bodies the camera takes in, s; that of the picture if absent.
    pub look_at: Option<f64>,
}

impl Default for StillParams {
    /// The start, 960 by 540 pixels, light.
    fn default() -> Self {
        Self {
            time: 0.0,
            width: 960,
            height: 540,
            dark: false,
            zoom: 1.0,
            poses: 0,
            joints: true,
            reactions: false,
            look_at: None,
        }
    }
}

/// Pixels are drawn twice as fine in each direction and averaged.
const FINE: usize = 2;

/// How much of a joint is seen through a body.
const HIDDEN: f64 = 0.55;

/// Colours and strengths of a theme, in linear light.
struct Theme {
    background: look::Rgb,
    ground: look::Rgb,
    line: look::Rgb,
    sky: f64,
    sun: f64,
}

/// Everything in world coordinates, ready to draw.
struct Picture {
    triangles: Vec<Triangle>,
    /// Joints.
    strokes: Vec<Triangle>,
    /// A point and the outward normal.
    planes: Vec<(DVec3, DVec3)>,
    view: View,
    theme: Theme,
    shadow: Depth,
    up: DVec3,
}

/// The bytes of a PNG file.
///
/// # Errors
/// [`CliError::Argument`] for a size or time that cannot be, [`CliError::Empty`] without frames,
/// [`CliError::Frame`] if the recording is corrupt.
pub fn still(recording: &mut Recording, params: &StillParams) -> Result<Vec<u8>, CliError> {
    let pixels = render(recording, params)?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, params.width, params.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let fail = |e: png::EncodingError| CliError::Encode(e.to_string());
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(&pixels).map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(out)
}

/// Red, green and blue of each pixel, row by row from the top.
///
/// # Errors
/// As [`still`].
pub fn render(recording: &mut Recording, params: &StillParams) -> Result<Vec<u8>, CliError> {
    let bad = |item: &str, what: String| CliError::Argument { item: item.to_owned(), what };
    for (item, value) in [("width", params.width), ("height", params.height)] {
        if !(1..=8192).contains(&value) {
            return Err(bad(item, format!("must be 1 to 8192 pixels, got {value}")));
        }
    }
    if !params.time.is_finite() {
        return Err(bad("time", format!("must be finite, got {}", params.time)));
    }
    if !(0.01..=100.0).contains(&params.zoom) {
        return Err(bad("zoom", format!("must be 0.01 to 100, got {}", params.zoom)));
    }
    if params.poses > 100 {
        return Err(bad("poses", format!("must be at most 100, got {}", params.poses)));
    }
    let picture = Picture::new(recording, params)?;
    let (width, height) = (params.width as usize * FINE, params.height as usize * FINE);
    let depth = picture.depth(&picture.triangles, width, height);
    let over = (!picture.strokes.is_empty()).then(|| picture.depth(&picture.strokes, width, height));
    let mut pixels = Vec::with_capacity(width * height * 3 / FINE / FINE);
    for y in 0..params.height as usize {
        for x in 0..params.width as usize {
            let mut sum = [0.0; 3];
            for k in 0..FINE * FINE {
                let (fx, fy) = (x * FINE + k % FINE, y * FINE + k / FINE);
                let below = picture.color(&depth, fx, fy);
                let color = match &over {
                    Some(over) => picture.over(below, over, &depth, fx, fy),
                    None => below,
                };
                sum.iter_mut().zip(color).for_each(|(s, c)| *s += c / (FINE * FINE) as f64);
            }
            pixels.extend(sum.map(look::encoded));
        }
    }
    Ok(pixels)
}

impl Picture {
    fn new(recording: &mut Recording, params: &StillParams) -> Result<Self, CliError> {
        let frame = recording.nearest(params.time).ok_or(CliError::Empty)?;
        let size = [f64::from(params.width), f64::from(params.height)].map(|v| v * FINE as f64);
        let looked_at = params.look_at.and_then(|time| recording.nearest(time)).unwrap_or(frame);
        let view = View::of(recording, looked_at, size, params.zoom)?;
        let colors = look::colors(recording.bodies(), params.dark);
        let meshes: Vec<Mesh> = recording.shapes().iter().map(|s| Mesh::of(s, 48, 0.0)).collect();
        let (mut triangles, mut planes) = (Vec::new(), Vec::new());
        let poses = params.poses as usize;
        for k in 0..=poses {
            // The moment itself is the last.
            let moment = if k == poses { frame } else { frame * k / poses };
            let states = recording.frame(moment)?.bodies.clone();
            for ((body, state), color) in recording.bodies().iter().zip(&states).zip(&colors) {
                let Some(state) = state.filter(|_| k == poses || body.kind != BodyKind::Fixed) else {
                    continue;
                };
                for collider in &body.colliders {
                    let pose = state.pose * collider.body_from_shape;
                    let shape = collider.shape as usize;
                    match &recording.shapes()[shape] {
                        ShapeInfo::HalfSpace { normal } => {
                            planes.push((pose.translation, pose.transform_vector(*normal)));
                        }
                        _ => add(&mut triangles, &meshes[shape], &pose, *color),
                    }
                }
            }
        }
        let strokes = if params.joints { joint_lines(recording, frame, params)? } else { Vec::new() };
        let up = recording.header().up;
        let shadow = view.shadow(&triangles);
        Ok(Self { triangles, strokes, planes, view, theme: Theme::new(params.dark), shadow, up })
    }

    /// The nearest of some triangles at each fine pixel.
    fn depth(&self, triangles: &[Triangle], width: usize, height: usize) -> Depth {
        let mut depth = Depth::new(width, height);
        for (i, triangle) in triangles.iter().enumerate() {
            let corners = triangle.corners.map(|c| self.view.project(c));
            if let [Some(a), Some(b), Some(c)] = corners {
                depth.draw(i as u32, [a, b, c], triangle.two_sided);
            }
        }
        depth
    }

    /// A pixel with the joints that lie over it: in full where they are in front, half where a body hides them.
    fn over(&self, below: look::Rgb, over: &Depth, depth: &Depth, x: usize, y: usize) -> look::Rgb {
        let Some(line) = over.at(x, y).and_then(|i| self.strokes.get(i as usize)) else { return below };
        let share = if over.is_before(depth, x, y) { 1.0 } else { HIDDEN };
        [0, 1, 2].map(|k| below[k] + (line.color[k] - below[k]) * share)
    }

    /// What is seen through one fine pixel.
    fn color(&self, depth: &Depth, x: usize, y: usize) -> look::Rgb {
        let ray = self.view.ray(x as f64 + 0.5, y as f64 + 0.5);
        let hit = depth.at(x, y);
        let plane = self.planes.iter().filter_map(|&(point, normal)| {
            let slope = ray.dot(normal);
            let t = (point - self.view.eye).dot(normal) / slope;
            (slope < -1e-9 && t > 0.0).then_some((t, normal))
        });
        let nearest = plane.min_by(|a, b| a.0.total_cmp(&b.0));
        let body = hit
            .and_then(|i| self.triangles.get(i as usize))
            .and_then(|t| t.meet(self.view.eye, ray).map(|m| (t, m)));
        match (body, nearest) {
            (Some((triangle, (t, normal))), plane) if plane.is_none_or(|(far, _)| t < far) => {
                self.shade(self.view.eye + ray * t, normal, triangle.color)
            }
            (_, Some((t, normal))) => self.ground(t, ray, normal),
            _ => self.theme.background,
        }
    }

    /// A surface under sky and sun.
    fn shade(&self, at: DVec3, normal: DVec3, color: look::Rgb) -> look::Rgb {
        let sun = self.view.sun.dot(normal).max(0.0);
        let sun =
            if sun > 0.0 { sun * self.view.lit(&self.shadow, at + normal * self.view.bias) } else { 0.0 };
        let sky = 0.5 + 0.5 * normal.dot(self.up);
        let light = self.theme.sky * (0.55 + 0.45 * sky) + self.theme.sun * sun;
        color.map(|c| c * light)
    }

    /// Ground with a grid that fades into the background.
    fn ground(&self, t: f64, ray: DVec3, normal: DVec3) -> look::Rgb {
        let at = self.view.eye + ray * t;
        let (u, v) = normal.any_orthonormal_pair();
        let spacing = self.view.spacing;
        let place = at - self.view.center;
        // Width of one fine pixel on the ground, for lines of constant width on the picture.
        let pixel = t * self.view.pixel_angle / ray.dot(normal).abs().max(0.05);
        let line = |every: f64, width: f64| {
            let one = |x: f64| {
                let d = (x / every - (x / every).round()).abs() * every;
                let fade = (1.0 - pixel / (0.3 * every)).clamp(0.0, 1.0);
                (1.0 - d / (width * pixel)).clamp(0.0, 1.0) * fade
            };
            one(place.dot(u)).max(one(place.dot(v)))
        };
        let reach = (place - normal * place.dot(normal)).length() / (5.0 * self.view.radius);
        let strength =
            (0.22 * line(spacing, 1.6)).max(0.4 * line(10.0 * spacing, 2.0)) * ops::exp(-reach * reach);
        let blend = |a: look::Rgb, b: look::Rgb, k: f64| [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * k);
        let shaded = self.shade(at, normal, blend(self.theme.ground, self.theme.line, strength));
        let far = ((t / self.view.radius - 9.0) / 17.0).clamp(0.0, 1.0);
        blend(shaded, self.theme.background, far)
    }
}

impl Theme {
    fn new(dark: bool) -> Self {
        let color = |text| look::hex(text).unwrap_or([0.5; 3]);
        let (background, ground, line, sky, sun) = if dark {
            ("#15181d", "#23272e", "#7c8797", 0.36, 0.66)
        } else {
            ("#e9edf1", "#e9edf1", "#7f8c9b", 0.52, 0.58)
        };
        Self { background: color(background), ground: color(ground), line: color(line), sky, sun }
    }
}

/// Joints of a frame as triangles.
fn joint_lines(
    recording: &mut Recording,
    frame: usize,
    params: &StillParams,
) -> Result<Vec<Triangle>, CliError> {
    let mut masses: Vec<f64> = recording.bodies().iter().map(|b| b.mass).filter(|m| *m > 0.0).collect();
    masses.sort_by(f64::total_cmp);
    let weight = masses.get(masses.len() / 2).copied().unwrap_or(1.0) * 9.81;
    let size = view::body_size(recording, frame)?;
    let scale = joints::Scale { size, force: if params.reactions { weight } else { 0.0 } };
    let now = recording.frame(frame)?.clone();
    let mut out = Vec::new();
    for (k, joint) in recording.joints().iter().enumerate() {
        let load = now.joints.get(k).and_then(Option::as_ref);
        for stroke in joints::strokes(joint, load, &now.bodies, scale) {
            joints::add_stroke(&mut out, &stroke, look::hex(stroke.tone.color()).unwrap_or([0.5; 3]));
        }
    }
    Ok(out)
}

fn add(out: &mut Vec<Triangle>, mesh: &Mesh, pose: &Pose, color: look::Rgb) {
    for t in &mesh.triangles {
        out.push(Triangle {
            corners: t.map(|i| pose.transform_point(mesh.positions[i as usize])),
            normals: t.map(|i| pose.transform_vector(mesh.normals[i as usize])),
            color,
            two_sided: mesh.two_sided,
        });
    }
}
