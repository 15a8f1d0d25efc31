//! Mass properties of a triangle mesh: the ten volume integrals, and the check that the mesh is closed.

use sim_math::mass::{ClosedSurface, MassError, VolumeIntegrals};
use sim_math::testkit::icosphere;
use std::hint::black_box;
use tumblestone_benches::Suite;

fn icospheres(suite: &mut Suite) -> Result<(), MassError> {
    for (level, integrals, check) in [
        (3, "math/mass/integrals_320", "math/mass/check_320"),
        (6, "math/mass/integrals_20480", "math/mass/check_20480"),
    ] {
        let (vertices, faces) = icosphere(level);
        let surface = ClosedSurface::from_triangles(&vertices, &faces)?;
        let count = faces.len() as u64;
        suite.case(integrals).elements(count).iterations(10).run(|| VolumeIntegrals::of(black_box(&surface)));
        suite.case(check).elements(count).iterations(10).run(|| {
            ClosedSurface::from_triangles(black_box(&vertices), black_box(&faces)).map(|s| s.bounds())
        });
    }
    Ok(())
}

fn all(suite: &mut Suite) {
    if let Err(error) = icospheres(suite) {
        unreachable!("an icosphere is closed: {error}");
    }
}

tumblestone_benches::main!(all);
