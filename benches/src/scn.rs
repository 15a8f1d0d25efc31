//! Contact scenes of workload W3 (`benches/scenes/*.scn`): the same bodies for this engine and for its peers.
//!
//! A line is a word and its numbers: `gravity x y z`, `dt`, `steps`, `mu`, `rest` (combined coefficients of every pair), and
//! `body id s|d shape p0 p1 p2 mass Ix Iy Iz  x y z  qw qx qy qz  vx vy vz  wx wy wz`, in SI units and world axes; `s` is fixed,
//! `d` moves; the parameters of a box are its half extents, of a sphere its radius, of a capsule radius and half height along z.

use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    spatial::Motion,
};

/// Shape of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// Half extents, m.
    Cuboid(DVec3),
    /// Radius, m.
    Ball(f64),
    /// Radius and half height along z, m.
    Capsule(f64, f64),
}

/// One body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScnBody {
    /// True if it does not move.
    pub fixed: bool,
    /// Shape, centred at the centre of mass.
    pub form: Form,
    /// kg.
    pub mass: f64,
    /// Principal moments along the body's axes, kg·m².
    pub moments: DVec3,
    /// Where it starts.
    pub pose: Pose,
    /// How it starts, world axes.
    pub velocity: Motion,
}

/// A whole scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Scn {
    /// m/s².
    pub gravity: DVec3,
    /// Step, s.
    pub dt: f64,
    /// How many steps.
    pub steps: u32,
    /// Friction of every pair.
    pub friction: f64,
    /// Restitution of every pair.
    pub restitution: f64,
    /// The bodies in order.
    pub bodies: Vec<ScnBody>,
}

impl Scn {
    /// A scene from its text.
    ///
    /// # Errors
    /// The line that makes no sense, with its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut scene = Self {
            gravity: DVec3::ZERO,
            dt: 0.0,
            steps: 0,
            friction: 0.0,
            restitution: 0.0,
            bodies: Vec::new(),
        };
        for (number, line) in (1..).zip(text.lines()) {
            scene.line(line).ok_or_else(|| format!("line {number}: {line}"))?;
        }
        Ok(scene)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        let Some(word) = words.next() else { return Some(()) };
        if word == "body" {
            self.bodies.push(body(&mut words)?);
            return words.next().is_none().then_some(());
        }
        let numbers: Vec<f64> = words.map(|w| w.parse().ok()).collect::<Option<_>>()?;
        match (word, numbers.as_slice()) {
            ("gravity", &[x, y, z]) => self.gravity = DVec3::new(x, y, z),
            ("dt", &[dt]) => self.dt = dt,
            ("steps", &[steps]) => self.steps = steps as u32,
            ("mu", &[mu]) => self.friction = mu,
            ("rest", &[rest]) => self.restitution = rest,
            _ => return None,
        }
        Some(())
    }
}

fn body<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<ScnBody> {
    let _id: u32 = words.next()?.parse().ok()?;
    let fixed = match words.next()? {
        "s" => true,
        "d" => false,
        _ => return None,
    };
    let shape = words.next()?;
    let mut next = || words.next()?.parse::<f64>().ok().filter(|x| x.is_finite());
    let mut vector = || Some(DVec3::new(next()?, next()?, next()?));
    let p = vector()?;
    let form = match shape {
        "box" => Form::Cuboid(p),
        "sphere" => Form::Ball(p.x),
        "capsule" => Form::Capsule(p.x, p.y),
        _ => return None,
    };
    // mass Ix Iy | Iz x y | z qw qx | qy qz vx | vy vz wx | wy wz
    let [a, b, c, d, e] = [vector()?, vector()?, vector()?, vector()?, vector()?];
    let (wy, wz) = (next()?, next()?);
    Some(ScnBody {
        fixed,
        form,
        mass: a.x,
        moments: DVec3::new(a.y, a.z, b.x),
        pose: Pose::new(DVec3::new(b.y, b.z, c.x), DQuat::from_xyzw(c.z, d.x, d.y, c.y)),
        velocity: Motion::new(DVec3::new(e.z, wy, wz), DVec3::new(d.z, e.x, e.y)),
    })
}

/// The scenes of W3 by name.
pub const CONTACT_SCENES: [(&str, &str); 4] = [
    ("pyramid20", include_str!("../scenes/pyramid20.scn")),
    ("wall10", include_str!("../scenes/wall10.scn")),
    ("dominoes100", include_str!("../scenes/dominoes100.scn")),
    ("pit1000", include_str!("../scenes/pit1000.scn")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_have_the_bodies_they_are_named_for() {
        let count = |name: &str| {
            let (_, text) = CONTACT_SCENES.iter().find(|(n, _)| *n == name).unwrap();
            let scene = Scn::parse(text).unwrap();
            assert!((scene.dt - 1.0 / 60.0).abs() < 1e-15 && scene.friction > 0.0);
            assert!(scene.bodies.iter().all(|b| (b.pose.rotation.length() - 1.0).abs() < 1e-6));
            scene.bodies.iter().filter(|b| !b.fixed).count()
        };
        assert_eq!(count("pyramid20"), 210);
        assert_eq!(count("wall10"), 100);
        assert_eq!(count("dominoes100"), 100);
        assert_eq!(count("pit1000"), 1000);
    }

    #[test]
    fn a_bad_line_is_named() {
        assert_eq!(Scn::parse("dt 1\nmu two").unwrap_err(), "line 2: mu two");
        assert!(Scn::parse("body 0 d cube 1 1 1").is_err());
    }
}
