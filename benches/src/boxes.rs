//! Moving boxes for broad-phase benches: scene W1 and four others, each fixed by its number of boxes.
//!
//! | scene | what moves |
//! |---|---|
//! | `w1` | sizes log-uniform over 1 : 1000 in a cube, about 5 overlaps per box |
//! | `clustered` | dice of side 1 to 1.2 settled in layers on a tenth of the floor's area, trembling by 0.5 mm |
//! | `flat` | boxes of side 0.5 to 1.5 in one layer, 3 m of side length per box |
//! | `sparse` | `w1` with ten times the spacing |
//! | `huge` | `w1` and one box over everything |

use sim_math::{Aabb, glam::DVec3, ops};
use sim_traits::{BroadPhase, ProxyId, ProxyKind};

/// The generator that the workloads name, spelled out because scenes must never change.
#[derive(Debug, Clone, Copy)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// In [lo, hi).
    pub fn range(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// Each component in [lo, hi), drawn in the order x, y, z.
    pub fn vec3(&mut self, lo: f64, hi: f64) -> DVec3 {
        let x = self.range(lo, hi);
        let y = self.range(lo, hi);
        DVec3::new(x, y, self.range(lo, hi))
    }
}

/// Boxes that move; [`MovingBoxes::step`] gives the next step's.
#[derive(Debug, Clone)]
pub struct MovingBoxes {
    /// 0, 1, 2, ...
    pub ids: Vec<ProxyId>,
    /// Boxes of the present step, metres.
    pub boxes: Vec<Aabb>,
    half: Vec<DVec3>,
    center: Vec<DVec3>,
    velocity: Vec<DVec3>,
    /// Centres are reflected at the walls of this box.
    room: Aabb,
    /// Amplitude of a random walk around the place of rest, metres; 0 for straight motion.
    tremble: f64,
    random: SplitMix64,
}

impl MovingBoxes {
    /// The scene of that name.
    #[must_use]
    pub fn scene(name: &str, n: usize) -> Option<Self> {
        match name {
            "w1" => Some(Self::w1(n, 6.0)),
            "clustered" => Some(Self::clustered(n)),
            "flat" => Some(Self::flat(n)),
            "sparse" => Some(Self::w1(n, 60.0)),
            "huge" => Some(Self::huge(n)),
            _ => None,
        }
    }

    fn empty(room: Aabb) -> Self {
        Self {
            ids: Vec::new(),
            boxes: Vec::new(),
            half: Vec::new(),
            center: Vec::new(),
            velocity: Vec::new(),
            room,
            tremble: 0.0,
            random: SplitMix64(42),
        }
    }

    fn push(&mut self, half: DVec3, center: DVec3, velocity: DVec3) {
        self.ids.push(ProxyId(self.ids.len() as u32));
        self.boxes.push(Aabb::from_center_half_extents(center, half));
        self.half.push(half);
        self.center.push(center);
        self.velocity.push(velocity);
    }

    fn w1(n: usize, spacing: f64) -> Self {
        let side = spacing * ops::cbrt(n as f64);
        let mut scene = Self::empty(Aabb { min: DVec3::ZERO, max: DVec3::splat(side) });
        for _ in 0..n {
            let s = ops::powf(10.0, scene.random.range(-1.5, 1.5));
            let half = 0.5 * s * scene.random.vec3(0.5, 1.0);
            let center = scene.random.vec3(0.0, side);
            let velocity = scene.random.vec3(-0.05, 0.05);
            scene.push(half, center, velocity);
        }
        scene
    }

    fn huge(n: usize) -> Self {
        let mut scene = Self::w1(n, 6.0);
        let room = scene.room;
        scene.push(room.size(), room.center(), DVec3::splat(0.01));
        scene
    }

    fn flat(n: usize) -> Self {
        let side = 3.0 * (n as f64).sqrt() / 2.0;
        let mut scene =
            Self::empty(Aabb { min: DVec3::new(0.0, 0.0, -0.1), max: DVec3::new(side, side, 0.1) });
        for _ in 0..n {
            let half = scene.random.vec3(0.25, 0.75);
            let center = scene.random.vec3(0.0, 1.0) * DVec3::new(side, side, 0.0);
            let velocity = scene.random.vec3(-0.05, 0.05) * DVec3::new(1.0, 1.0, 0.02);
            scene.push(half, center, velocity);
        }
        scene
    }

    fn clustered(n: usize) -> Self {
        let side = 6.0 * ops::cbrt(n as f64);
        let row = ((side / 10.0_f64.sqrt()) as usize).max(1);
        let mut scene = Self::empty(Aabb::EVERYWHERE);
        for i in 0..n {
            let half = scene.random.vec3(0.5, 0.6);
            let place = DVec3::new((i % row) as f64, (i / row % row) as f64, (i / (row * row)) as f64);
            let center = place * 1.1 + scene.random.vec3(-0.02, 0.02);
            scene.push(half, center, DVec3::ZERO);
        }
        scene.tremble = 0.0005;
        scene
    }

    /// Inserts all boxes.
    ///
    /// # Panics
    /// If the broad phase is not empty.
    #[allow(clippy::expect_used, reason = "a bench has no one to report to")]
    pub fn insert_into(&self, broad: &mut dyn BroadPhase) {
        for (&id, aabb) in self.ids.iter().zip(&self.boxes) {
            broad.insert(id, ProxyKind::Moving, aabb).expect("the broad phase is empty");
        }
    }

    /// Moves all boxes by one step.
    pub fn step(&mut self) {
        for i in 0..self.ids.len() {
            let mut center = self.center[i];
            if self.tremble > 0.0 {
                center += self.random.vec3(-self.tremble, self.tremble);
            } else {
                for axis in 0..3 {
                    let next = center[axis] + self.velocity[i][axis];
                    if next < self.room.min[axis] || next > self.room.max[axis] {
                        self.velocity[i][axis] = -self.velocity[i][axis];
                    }
                    center[axis] += self.velocity[i][axis];
                }
                self.center[i] = center;
            }
            self.boxes[i] = Aabb::from_center_half_extents(center, self.half[i]);
        }
    }
}
