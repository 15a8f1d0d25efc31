//! Draws two polyhedra and their closest features into an SVG.
//!
//! `cargo run -p collision-narrowphase --example closest_features > features.svg`

use collision_narrowphase::{Polyhedron, vclip::vclip};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};
use sim_traits::{FeatureId, PairCache};
use std::fmt::Write;

/// Orthographic view from above right, 120 pixels to the metre.
fn project(p: DVec3) -> (f64, f64) {
    let q = DQuat::from_rotation_x(-1.1) * DQuat::from_rotation_z(0.5) * p;
    (300.0 + 120.0 * q.x, 200.0 - 120.0 * q.y)
}

fn line(out: &mut String, from: DVec3, to: DVec3, style: &str) {
    let ((x1, y1), (x2, y2)) = (project(from), project(to));
    let _ = writeln!(out, r#"<line x1="{x1:.2}" y1="{y1:.2}" x2="{x2:.2}" y2="{y2:.2}" {style}/>"#);
}

fn draw(out: &mut String, shape: &Polyhedron, pose: &Pose, feature: FeatureId) {
    for k in 0..shape.edges().len() as u32 {
        let [t, h] = shape.segment(k).map(|p| pose.transform_point(p));
        line(out, t, h, r##"stroke="#888" stroke-width="1""##);
    }
    let bold = r##"stroke="#c30" stroke-width="4" stroke-linecap="round""##;
    match feature.dimension() {
        Some(0) => {
            let (x, y) = project(pose.transform_point(shape.position(feature.index())));
            let _ = writeln!(out, r##"<circle cx="{x:.2}" cy="{y:.2}" r="6" fill="#c30"/>"##);
        }
        Some(1) => {
            let [t, h] = shape.segment(feature.index()).map(|p| pose.transform_point(p));
            line(out, t, h, bold);
        }
        Some(2) => {
            for side in shape.sides(feature.index()) {
                let [t, h] = shape.segment(side.edge).map(|p| pose.transform_point(p));
                line(out, t, h, bold);
            }
        }
        _ => {}
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a = Polyhedron::dodecahedron(1.0)?;
    let b = Polyhedron::cone(0.6, 0.7, 9)?;
    let a_from_b = Pose::new(DVec3::new(1.9, 0.4, 0.6), DQuat::from_rotation_y(-1.2));
    let found = vclip(&a, &b, &a_from_b, &mut PairCache::default())?;

    let mut svg = String::from(r#"<svg xmlns="http://www.w3.org/2000/svg" width="680" height="400">"#);
    svg.push('\n');
    draw(&mut svg, &a, &Pose::IDENTITY, found.features[0]);
    draw(&mut svg, &b, &a_from_b, found.features[1]);
    let (p, q) = (found.separation.point_a, found.separation.point_b);
    line(&mut svg, p, q, r##"stroke="#06c" stroke-width="2" stroke-dasharray="4 3""##);
    let _ = writeln!(
        svg,
        r#"<text x="20" y="380" font-family="sans-serif">distance {:.6} m, {} states</text>"#,
        found.separation.distance, found.iterations
    );
    svg.push_str("</svg>");
    #[allow(clippy::print_stdout, reason = "the picture is the output")]
    {
        println!("{svg}");
    }
    Ok(())
}
