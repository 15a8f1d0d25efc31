//! Draws how sliding velocities move during a collision, with the rays of constant sliding: `docs/flow.svg`.
//!
//! ```sh
//! cargo run -p rigid-impulse --example flow_figure
//! ```
//!
//! Left: friction too weak to hold, so that every trajectory leaves along the one diverging ray. Right: more friction, and
//! every trajectory ends at the origin, where the contact sticks.

use rigid_impulse::impact::{SlidingFlow, critical_friction, rays};
use sim_math::{
    glam::{DMat3, DVec2},
    ops,
};
use std::{error::Error, fmt::Write as _, fs, path::Path};

/// Half the width of a panel in pixels, and of the velocities shown, m/s.
const HALF: f64 = 240.0;
const REACH: f64 = 1.0;

fn pixel(center: f64, u: DVec2) -> (f64, f64) {
    (center + u.x / REACH * HALF, HALF + 40.0 - u.y / REACH * HALF)
}

/// A trajectory of the tangential velocity, until it leaves the panel or stops.
fn trajectory(flow: &SlidingFlow, start: DVec2) -> Vec<DVec2> {
    let mut path = vec![start];
    let mut u = start;
    for _ in 0..4000 {
        let speed = u.length();
        if speed < 4e-3 || u.abs().max_element() > REACH * 1.001 {
            break;
        }
        // Midpoint rule in steps of a hundredth of the speed.
        let rate = |u: DVec2| flow.tangential_rate(u.normalize());
        let h = 0.01 * (speed + 0.02) / rate(u).length().max(1e-9);
        u += rate(u + rate(u) * (0.5 * h)) * h;
        path.push(u);
    }
    path
}

fn panel(svg: &mut String, flow: &SlidingFlow, center: f64, title: &str) -> Result<(), Box<dyn Error>> {
    let id = if center < 300.0 { "left" } else { "right" };
    let (x, y) = (center - HALF, 40.0);
    let size = 2.0 * HALF;
    writeln!(
        svg,
        r#"<clipPath id="{id}"><rect x="{x}" y="{y}" width="{size}" height="{size}"/></clipPath>"#
    )?;
    writeln!(
        svg,
        r##"<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="#fbfbf8" stroke="#999"/>"##
    )?;
    writeln!(svg, r#"<text x="{center}" y="28" text-anchor="middle" font-size="17">{title}</text>"#)?;
    writeln!(svg, r#"<g clip-path="url(#{id})">"#)?;
    for (a, b) in [(DVec2::NEG_X, DVec2::X), (DVec2::NEG_Y, DVec2::Y)] {
        let ((x1, y1), (x2, y2)) = (pixel(center, a), pixel(center, b));
        writeln!(svg, r##"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#ddd"/>"##)?;
    }
    // Starts along the border; where the flow diverges also around the origin.
    let mut starts: Vec<DVec2> = Vec::new();
    for k in 0..11 {
        let s = -1.0 + 0.2 * f64::from(k);
        starts.extend([DVec2::new(s, 1.0), DVec2::new(s, -1.0), DVec2::new(1.0, s), DVec2::new(-1.0, s)]);
    }
    for start in starts {
        let path = trajectory(flow, start * REACH);
        if path.len() < 12 {
            continue; // leaves at once
        }
        write!(svg, r##"<polyline fill="none" stroke="#4a78a8" stroke-width="1.2" points=""##)?;
        for u in path.iter().step_by(8).chain(path.last()) {
            let (x, y) = pixel(center, *u);
            write!(svg, "{x:.1},{y:.1} ")?;
        }
        writeln!(svg, r#""/>"#)?;
        // An arrow head a third of the way along.
        let n = path.len() / 3;
        let (tip, along) = (path[n], (path[n + 1] - path[n]).normalize());
        let side = along.perp() * 0.012;
        let back = tip - along * 0.035;
        let points: Vec<String> = [tip, back + side, back - side]
            .iter()
            .map(|u| pixel(center, *u))
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        writeln!(svg, r##"<polygon fill="#4a78a8" points="{}"/>"##, points.join(" "))?;
    }
    for ray in rays(flow).as_slice() {
        let (color, dash) = if ray.diverges() { ("#c0392b", "none") } else { ("#2e8b57", "7 5") };
        let ((x1, y1), (x2, y2)) = (pixel(center, DVec2::ZERO), pixel(center, ray.direction * 1.5));
        writeln!(
            svg,
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{color}" stroke-width="2.6" stroke-dasharray="{dash}"/>"#
        )?;
        let degrees = ops::atan2(ray.direction.y, ray.direction.x).to_degrees();
        // Beside the ray, clear of the line.
        let (x, y) = pixel(center, ray.direction * 0.72 + ray.direction.perp() * 0.13);
        let label = format!(
            r##"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" font-size="14" fill="{color}" stroke="#fbfbf8" stroke-width="4" paint-order="stroke">{degrees:.0}°</text>"##
        );
        writeln!(svg, "{label}")?;
    }
    let (x, y) = pixel(center, DVec2::ZERO);
    writeln!(svg, r##"<circle cx="{x}" cy="{y}" r="4" fill="#222"/>"##)?;
    writeln!(svg, "</g>")?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    // The matrix of figure 3.3 of Mirtich's thesis, 1/kg.
    let k = DMat3::from_cols_array(&[8., -2., 1., -2., 3., -1., 1., -1., 5.]);
    let critical = critical_friction(&SlidingFlow::new(&k, 0.2));
    let mut svg = String::from(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1060 575" font-family="Helvetica, Arial, sans-serif">"#,
    );
    svg.push('\n');
    svg.push_str(r##"<rect width="1060" height="575" fill="white"/>"##);
    svg.push('\n');
    panel(&mut svg, &SlidingFlow::new(&k, 0.2), 265.0, "μ = 0.2: sticking is unstable")?;
    panel(&mut svg, &SlidingFlow::new(&k, 0.4), 795.0, "μ = 0.4: sticking is stable")?;
    writeln!(
        svg,
        r##"<text x="530" y="553" text-anchor="middle" font-size="15">tangential velocity (u_x, u_y) from −1 to 1 m/s;  <tspan fill="#c0392b">diverging ray</tspan>,  <tspan fill="#2e8b57">converging rays</tspan>;  critical friction {critical:.4}</text>"##
    )?;
    svg.push_str("</svg>\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/flow.svg");
    fs::write(&path, svg)?;
    Ok(())
}
