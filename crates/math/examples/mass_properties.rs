//! Mass properties of an L-shaped polyhedron and of a rattleback top.
//!
//! `cargo run -p sim-math --example mass_properties`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use sim_math::glam::DVec3;
use sim_math::mass::{Amount, ClosedSurface, MassError, MassProperties, combine, solid};

fn main() -> Result<(), MassError> {
    // An L of 2 m by 2 m, arms 1 m wide, 1 m thick: two hexagons and six quadrilaterals. No need to cut it
    // into convex parts or triangles.
    let outline = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)];
    let corner = |z: f64| outline.map(|(x, y)| DVec3::new(x, y, z));
    let vertices = [corner(0.0), corner(1.0)].concat();
    let mut counts = vec![6, 6];
    let mut corners: Vec<u32> = (0..6).rev().chain(6..12).collect();
    for k in 0..6 {
        let next = (k + 1) % 6;
        counts.push(4);
        corners.extend([k, next, next + 6, k + 6]);
    }
    let surface = ClosedSurface::from_polygons(&vertices, &counts, &corners)?;
    let l = MassProperties::from_polyhedron(&surface, Amount::Density(700.0))?;
    print("L of wood, 700 kg/m³", &l)?;

    // A rattleback: 500 g of ellipsoid with 30 g stuck to its surface beside the long axis. The principal
    // axes of inertia are then skewed against those of curvature, which makes it reverse its spin.
    let radii = DVec3::new(0.10, 0.03, 0.02);
    let hull = solid::ellipsoid(radii, Amount::Mass(0.5))?;
    let weight = MassProperties::point(0.03, radii * DVec3::new(0.8, 0.6, 0.0))?;
    print("rattleback, 500 g + 30 g", &combine(&[hull, weight])?)
}

fn print(name: &str, body: &MassProperties) -> Result<(), MassError> {
    let frame = body.principal()?;
    println!("{name}");
    println!("  mass            {:.6} kg", body.mass);
    println!("  centre of mass  {:.6} m", body.center_of_mass);
    println!("  inertia about it, kg·m²");
    for row in 0..3 {
        let [x, y, z] = [0, 1, 2].map(|column| body.inertia.to_rows()[row][column]);
        println!("    {x:13.6e} {y:13.6e} {z:13.6e}");
    }
    let [a, b, c] = frame.moments.to_array();
    println!("  principal moments  {a:.6e} {b:.6e} {c:.6e} kg·m²");
    let x = frame.user_from_body.transform_vector(DVec3::X);
    println!("  first principal axis  {x:.6}");
    Ok(())
}
