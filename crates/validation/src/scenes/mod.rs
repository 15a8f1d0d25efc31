//! The scenes, one file each.

mod bouncing_ball;
mod chains;
mod dominoes;
mod double_pendulum;
mod elastic_balls;
mod gyroscope;
mod incline;
mod kane_levinson;
mod pendulum;
mod rattleback;
mod resting;
mod slide_to_roll;
mod steps_of_time;
mod torque_free_top;
mod trees;
mod worlds;

use crate::Scene;

/// Every scene, in the order of the page.
pub const SCENES: &[Scene] = &[
    torque_free_top::SCENE,
    pendulum::SCENE,
    double_pendulum::SCENE,
    gyroscope::SCENE,
    kane_levinson::SCENE,
    bouncing_ball::SCENE,
    elastic_balls::FALLING,
    elastic_balls::MEETING,
    chains::CRADLE,
    chains::DROP,
    slide_to_roll::SCENE,
    incline::SLIDING,
    incline::CREEPING,
    rattleback::SCENE,
    dominoes::SCENE,
    resting::SPIN,
    resting::WALL,
    steps_of_time::SCENE,
];

/// The scene of that name.
#[must_use]
pub fn scene(name: &str) -> Option<&'static Scene> {
    SCENES.iter().find(|scene| scene.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (i, scene) in SCENES.iter().enumerate() {
            assert!(SCENES[..i].iter().all(|other| other.name != scene.name), "{}", scene.name);
        }
    }
}
