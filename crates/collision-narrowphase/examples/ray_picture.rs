//! Draws a chair with a dish on its seat, on hilly ground, by one ray per pixel: an SVG on standard output.
//!
//! `cargo run -p collision-narrowphase --example ray_picture > chair.svg`
#![allow(clippy::print_stdout, reason = "the picture is the output")]

use collision_narrowphase::{compound::CompoundBuilder, mesh::TriMesh, ray::ray_cast_batch};
use sim_math::{Pose, glam::DVec3, ops};
use sim_traits::{Ray, Serial, Shape};

const WIDTH: usize = 180;
const HEIGHT: usize = 150;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dish = CompoundBuilder::dish(0.16, 1.1, 0.012, 20)?;
    let chair = CompoundBuilder::chair(0.5, 1.0, 0.05)?
        .add_all(dish, Pose::from_translation(DVec3::new(0.05, 0.0, 0.55)))
        .build()?;
    let ground = TriMesh::terrain(40, 0.15, |x, y| 0.04 * (ops::sin(3.0 * x) + ops::cos(4.0 * y)) - 0.08)?;
    let scene: [(Shape, [f64; 3]); 2] =
        [(chair.into(), [0.72, 0.52, 0.30]), (ground.into(), [0.45, 0.62, 0.38])];

    let (eye, target) = (DVec3::new(1.9, -1.5, 1.6), DVec3::new(0.0, 0.0, 0.42));
    let forward = (target - eye).normalize();
    let right = forward.cross(DVec3::Z).normalize();
    let up = right.cross(forward);
    let rays: Vec<Ray> = (0..WIDTH * HEIGHT)
        .map(|k| {
            let x = ((k % WIDTH) as f64 + 0.5) / WIDTH as f64 - 0.5;
            let y = 0.5 - ((k / WIDTH) as f64 + 0.5) / HEIGHT as f64;
            let direction = forward + 0.75 * x * right + 0.75 * y * HEIGHT as f64 / WIDTH as f64 * up;
            Ray { origin: eye, direction, t_max: 20.0 }
        })
        .collect();

    let mut nearest = vec![(f64::INFINITY, [0.86, 0.91, 0.97]); rays.len()];
    let mut hits = vec![None; rays.len()];
    let light = DVec3::new(0.4, -0.7, 0.9).normalize();
    for (shape, colour) in &scene {
        ray_cast_batch(shape, &rays, &mut hits, &Serial)?;
        for (pixel, hit) in nearest.iter_mut().zip(&hits) {
            if let Some(hit) = hit
                && hit.t < pixel.0
            {
                let shade = 0.35 + 0.65 * hit.normal.dot(light).max(0.0);
                *pixel = (hit.t, colour.map(|c| c * shade));
            }
        }
    }

    println!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" shape-rendering="crispEdges">"#
    );
    for (y, line) in nearest.chunks(WIDTH).enumerate() {
        // Runs of one colour are one rectangle.
        let mut x = 0;
        while x < WIDTH {
            let byte = |c: [f64; 3]| c.map(|v| (v * 255.0).clamp(0.0, 255.0) as u8);
            let [r, g, b] = byte(line[x].1);
            let len = line[x..].iter().take_while(|p| byte(p.1) == [r, g, b]).count();
            println!(r##"<rect x="{x}" y="{y}" width="{len}" height="1" fill="#{r:02x}{g:02x}{b:02x}"/>"##);
            x += len;
        }
    }
    println!("</svg>");
    Ok(())
}
