//! How far does it come? A creature is dropped on a plane and driven; the way of its trunk counts after it has settled.
//!
//! # Reference
//!
//! Arnold (1997), section 3.3; randomised parameters and repeats: Fontijne (2000), section 4.5.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h(t) | set-point of a hinge, by the creature's spectra | rad |
//! | k, c, λ | stiffness and damping of a servo, greatest torque: in proportion to the diameter of the joint | N·m/rad, N·m·s/rad, N·m |
//! | x(t) | centre of the trunk, horizontal part | m |
//!
//! # Formula
//!
//! ```text
//! servo     τ = k (h − q) − c q̇, at most λ;   h is held for a step
//! distance  |x(settle + measure) − x(settle)|, a straight line;  or the way along x, less what it went astray
//! fitness   distance · (1 + Σ weights of the terms)
//! ```
//!
//! # Cost
//!
//! (settle + measure)/step steps of one tree.
//!
//! # Numerics
//!
//! What is measured depends on the step: runs of champions are repeated with shorter ones.
//!
//! # Failure
//!
//! A creature that cannot be built or whose run ends early is faulty; one that is paid for by the simulation is dishonest.
//!
//! # Tested by
//!
//! `a_ball_that_rolls_scores_its_speed`, `evaluations_are_the_same_bits_again`, `a_creature_without_drives_stays_where_it_falls`, `creatures_that_move_are_honest_or_named`

use super::judge::{Judge, Spent};
use crate::{
    arnold::{BodyPlan, Creature, CreatureDesign, Form},
    job::{Budget, Outcome, Verdict},
    random::Random,
};
use serde::{Deserialize, Serialize};
use sim_core::{
    Simulation,
    math::{Pose, glam::DVec3},
    narrowphase::shapes::{Ellipsoid, Frustum},
    prelude::{Body, ConeNewton, HalfSpace, Shape, TimeSteppingParams, World, time_stepping},
    traits::{BodyId, TreeId, joint::JointMotor},
    world::{LinkBuilder, Tree, TreeJoint},
};

/// Which way counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Track {
    /// As far as it can, in any direction.
    Any,
    /// Along x; going astray by as much as it came divides the distance by two.
    AlongX,
}

/// What else counts beside the distance: each is a weight of something between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Terms {
    /// Economy: 1/(1 + work per weight and distance).
    pub economy: f64,
    /// Smoothness: 1/(1 + mean acceleration of the trunk/g).
    pub smoothness: f64,
    /// Mean height of the trunk, as a share of the body length, at most 1.
    pub height: f64,
}

/// Settings of the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LocomotionParams {
    /// Time before the distance counts, s. Default 10.
    pub settle: f64,
    /// Time in which it counts, s. Default 10.
    pub measure: f64,
    /// Length of a step, s. Default 1/240.
    pub step: f64,
    /// Which way counts. Default any.
    pub track: Track,
    /// What else counts. Default nothing.
    pub terms: Terms,
    /// Friction of everything. Default 0.8.
    pub friction: f64,
    /// Restitution of everything. Default 0.2.
    pub restitution: f64,
    /// Gravity, m/s². Default 9.81.
    pub gravity: f64,
    /// Share by which friction, restitution, gravity and the height of the drop are changed at random in each evaluation. Default 0.
    pub jitter: f64,
    /// Evaluations of one genome, of which the worst counts. Default 1.
    pub repeats: u32,
    /// Greatest torque of a joint per diameter, N. Default 600.
    pub strength: f64,
    /// Stiffness of a servo per diameter, N/rad. Default 1500.
    pub stiffness: f64,
    /// Damping over stiffness, s. Default 0.05.
    pub damping_time: f64,
    /// The limit of honesty.
    pub judge: Judge,
}

impl Default for LocomotionParams {
    fn default() -> Self {
        Self {
            settle: 10.0,
            measure: 10.0,
            step: 1.0 / 240.0,
            track: Track::Any,
            terms: Terms::default(),
            friction: 0.8,
            restitution: 0.2,
            gravity: 9.81,
            jitter: 0.0,
            repeats: 1,
            strength: 600.0,
            stiffness: 1500.0,
            damping_time: 0.05,
            judge: Judge::default(),
        }
    }
}

/// The task.
#[derive(Debug, Clone, PartialEq)]
pub struct Locomotion {
    /// Its settings.
    pub params: LocomotionParams,
    /// What the creatures have in common.
    pub design: CreatureDesign,
}

/// A creature in its world.
#[derive(Debug)]
struct Trial {
    sim: Simulation,
    tree: TreeId,
    trunk: BodyId,
    plan: BodyPlan,
}

/// A defect, as text for the outcome.
fn flaw(error: impl std::fmt::Display) -> Outcome {
    Outcome::refused(Verdict::Faulty { flaw: error.to_string() })
}

impl Locomotion {
    /// Evaluates a creature: pure, and the worst of all repeats.
    #[must_use]
    pub fn evaluate(&self, creature: &Creature, seed: u64, budget: Budget) -> Outcome {
        let mut outcomes = Vec::new();
        for repeat in 0..u64::from(self.params.repeats.max(1)) {
            let outcome = self.once(creature, &mut Random::of_child(seed, repeat, 0), budget);
            let refused = outcome.score().is_none();
            outcomes.push(outcome);
            if refused {
                break;
            }
        }
        let steps = outcomes.iter().map(|o| o.steps).sum();
        Outcome::worst(&outcomes).map_or_else(|| flaw("no evaluation"), |o| Outcome { steps, ..o.clone() })
    }

    fn once(&self, creature: &Creature, random: &mut Random, budget: Budget) -> Outcome {
        let plan = match BodyPlan::grow(creature, &self.design) {
            Ok(plan) => plan,
            Err(error) => return flaw(error),
        };
        match self.enter(plan, random) {
            Ok(mut trial) => self.run(&mut trial, budget),
            Err(error) => flaw(error),
        }
    }

    /// A world with the creature above its plane.
    fn enter(&self, plan: BodyPlan, random: &mut Random) -> Result<Trial, Box<dyn std::error::Error>> {
        let p = &self.params;
        let mut jitter = |value: f64| value * (1.0 + p.jitter * random.range(-1.0, 1.0));
        let [friction, gravity, drop] = [jitter(p.friction), jitter(p.gravity), jitter(0.02)];
        let restitution = jitter(p.restitution).clamp(0.0, 1.0);
        let mut world = World::new([0.0, 0.0, -gravity])?;
        world.add(Body::fixed().shape(HalfSpace::up()).friction(friction).restitution(restitution))?;
        let poses = plan.poses(&vec![0.0; plan.parts.len()]);
        let lowest =
            plan.parts.iter().zip(&poses).map(|(part, pose)| lowest(part.form, pose)).fold(0.0, f64::min);
        let mut builder = Tree::builder("creature").at(Pose::from_translation(DVec3::Z * (drop - lowest)));
        for part in &plan.parts {
            let (shape, at) = shape_of(part.form)?;
            let body = Body::free()
                .shape_at(shape, at)
                .mass_properties(part.mass)
                .friction(friction)
                .restitution(restitution);
            let joint = match part.parent {
                None => TreeJoint::Free,
                Some(_) => TreeJoint::Revolute { axis: part.axis },
            };
            let mut link = LinkBuilder::new(part.name.clone(), joint).at(part.parent_from_joint).body(body);
            if let Some(parent) = part.parent {
                link = link.on(plan.parts[parent].name.clone()).limits(-2.5, 2.5);
            }
            builder = builder.link(link);
        }
        let tree = world.add_tree(builder)?;
        let trunk = world.tree(tree)?.link("trunk").ok_or("a creature without a trunk")?;
        let stepper = time_stepping(ConeNewton::default(), TimeSteppingParams::default().dt(p.step));
        let sim = Simulation::builder(world).stepper(stepper).build()?;
        Ok(Trial { sim, tree, trunk, plan })
    }

    fn run(&self, trial: &mut Trial, budget: Budget) -> Outcome {
        let p = &self.params;
        let [settle, measure] = [p.settle, p.measure].map(|t| (t / p.step).ceil() as u64);
        if settle + measure > budget.steps {
            let rule = format!("needs {} steps, the budget is {}", settle + measure, budget.steps);
            return Outcome::refused(Verdict::Disqualified { rule });
        }
        let (mut spent, mut seen) = (Spent::default(), Seen::default());
        let mut start = DVec3::ZERO;
        for k in 0..settle + measure {
            if let Err(error) = self.drive(trial, k as f64 * p.step) {
                return flaw(error);
            }
            let report = match trial.sim.advance(p.step) {
                Ok(report) => report,
                Err(error) => return flaw(error),
            };
            if report.quarantined > 0 {
                return flaw("a part was frozen: its motion stopped being finite");
            }
            spent.include(&report.energy);
            let body = &trial.sim.world()[trial.trunk];
            seen.include(body.center(), body.velocity().linear, p.step);
            if k + 1 == settle {
                start = body.center();
                seen = Seen { last: seen.last, ..Seen::default() };
            }
        }
        self.outcome(trial, &spent, &seen, start)
    }

    /// Set-points of all hinges for a step that begins at a time.
    fn drive(&self, trial: &mut Trial, time: f64) -> Result<(), String> {
        let p = &self.params;
        // The six velocities of the trunk come first, then one for each part: parents come before children in both.
        for (k, part) in trial.plan.parts.iter().enumerate().skip(1) {
            let stiffness = p.stiffness * part.diameter;
            let motor = JointMotor::position(
                part.set_point(time),
                stiffness,
                stiffness * p.damping_time,
                p.strength * part.diameter,
            );
            let world = trial.sim.world_mut();
            let dof = dof_of(world, trial.tree, &part.name).unwrap_or(5 + k);
            world.set_tree_motor(trial.tree, dof, Some(motor)).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn outcome(&self, trial: &Trial, spent: &Spent, seen: &Seen, start: DVec3) -> Outcome {
        let p = &self.params;
        let end = trial.sim.world()[trial.trunk].center();
        let way = (end - start).truncate();
        let distance = match p.track {
            Track::Any => way.length(),
            Track::AlongX if way.x > 0.0 => way.x / (1.0 + way.y.abs() / way.x),
            Track::AlongX => 0.0,
        };
        let (mass, length) = (trial.plan.total_mass(), trial.plan.body_length());
        let weight = mass * p.gravity;
        let verdict = p.judge.verdict(spent, weight);
        let n = seen.count.max(1.0);
        let cost = spent.actuators / (weight * distance.max(1e-9));
        let terms = p.terms.economy / (1.0 + cost)
            + p.terms.smoothness / (1.0 + seen.acceleration / n / p.gravity)
            + p.terms.height * (seen.height / n / length).clamp(0.0, 1.0);
        let mut outcome = match verdict {
            Verdict::Valid => Outcome::valid(distance * (1.0 + terms)),
            other => Outcome::refused(other),
        };
        let total = p.settle + p.measure;
        outcome.measures = [
            ("distance", distance),
            ("body length", length),
            ("body lengths", distance / length),
            ("mass", mass),
            ("power per mass", spent.actuators / total / mass),
            ("work of actuators", spent.actuators),
            ("mean height", seen.height / n),
        ]
        .into_iter()
        .chain(spent.gifts())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        outcome.digest = trial.sim.world().digest();
        outcome.steps = ((p.settle + p.measure) / p.step).ceil() as u64;
        outcome
    }
}

/// The velocity of the hinge of a part.
fn dof_of(world: &World, tree: TreeId, name: &str) -> Option<usize> {
    let tree = world.tree(tree).ok()?;
    let model = tree.model();
    Some(model.v_range(model.link_index(name)?).start)
}

/// Sums over the steps that count.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    count: f64,
    height: f64,
    acceleration: f64,
    last: Option<DVec3>,
}

impl Seen {
    fn include(&mut self, center: DVec3, velocity: DVec3, step: f64) {
        self.count += 1.0;
        self.height += center.z;
        if let Some(last) = self.last.replace(velocity) {
            self.acceleration += (velocity - last).length() / step;
        }
    }
}

/// The shape of a part, and where it is in the frame of the part.
fn shape_of(form: Form) -> Result<(Shape, Pose), Box<dyn std::error::Error>> {
    Ok(match form {
        Form::Ellipsoid(radii) => (Ellipsoid::new(radii)?.into(), Pose::IDENTITY),
        Form::Frustum { start, end, length } => {
            let shape = Frustum::new(start, end, 0.5 * length)?;
            (shape.into(), Pose::from_translation(DVec3::Z * (0.5 * length)))
        }
    })
}

/// Lowest point of a part, m.
fn lowest(form: Form, pose: &Pose) -> f64 {
    match form {
        Form::Ellipsoid(radii) => {
            let down = pose.inverse_transform_vector(DVec3::Z) * radii;
            pose.translation.z - down.length()
        }
        Form::Frustum { start, end, length } => {
            let axis = pose.transform_vector(DVec3::Z);
            let rim = (1.0 - axis.z * axis.z).max(0.0).sqrt();
            let ends = [pose.translation.z - start * rim, pose.translation.z + length * axis.z - end * rim];
            ends[0].min(ends[1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arnold::Spectrum, genome::Genome};

    fn task(settle: f64, measure: f64) -> Locomotion {
        let params = LocomotionParams { settle, measure, ..Default::default() };
        Locomotion { params, design: CreatureDesign::quadruped() }
    }

    const BUDGET: Budget = Budget { steps: 10_000 };

    fn measure(outcome: &Outcome, name: &str) -> f64 {
        outcome.measures.iter().find(|(n, _)| n == name).unwrap().1
    }

    // proves: ARN-90
    #[test]
    fn a_ball_that_rolls_scores_its_speed() {
        // The task's measure on a body of one part: a ball that rolls at 1 m/s comes 10 m in 10 s.
        let task = task(10.0, 10.0);
        let ball = Form::Ellipsoid(DVec3::splat(0.2));
        let part = crate::arnold::Part {
            name: "trunk".into(),
            parent: None,
            parent_from_joint: Pose::IDENTITY,
            axis: DVec3::X,
            form: ball,
            mass: ball.mass(1000.0).unwrap(),
            diameter: 0.0,
            course: None,
            delay: 0.0,
        };
        let mut trial = task.enter(BodyPlan { parts: vec![part] }, &mut Random::new(1)).unwrap();
        // It has come to lie, and is then set rolling.
        trial.sim.advance(1.0).unwrap();
        let tree = trial.sim.world().tree(trial.tree).unwrap();
        let q = tree.coordinates().to_vec();
        let mut v = vec![0.0; 6];
        let state = trial.sim.world()[trial.trunk].velocity();
        assert!(state.linear.length() < 1e-6, "{}", state.linear);
        (v[1], v[3]) = (1.0 / 0.2, 1.0);
        trial.sim.world_mut().set_tree_state(trial.tree, &q, &v).unwrap();
        let outcome = task.run(&mut trial, BUDGET);
        assert!((measure(&outcome, "distance") - 10.0).abs() < 0.01, "{outcome:?}");
    }

    #[test]
    fn evaluations_are_the_same_bits_again() {
        let task = task(0.5, 0.5);
        let creature = Creature::random(&task.design, &mut Random::new(3));
        let first = task.evaluate(&creature, 7, BUDGET);
        assert_eq!(first, task.evaluate(&creature, 7, BUDGET));
        assert!(first.steps == 240 && first.digest != 0, "{first:?}");
        let jittered = Locomotion { params: LocomotionParams { jitter: 0.1, ..task.params.clone() }, ..task };
        // proves: FON-130
        let (a, b) = (jittered.evaluate(&creature, 7, BUDGET), jittered.evaluate(&creature, 8, BUDGET));
        assert!(a.digest != b.digest && a == jittered.evaluate(&creature, 7, BUDGET));
    }

    #[test]
    fn a_creature_without_drives_stays_where_it_falls() {
        let task = task(2.0, 1.0);
        let mut creature = Creature::random(&task.design, &mut Random::new(5));
        for pair in &mut creature.pairs {
            pair.drives = [(); 2].map(|()| Spectrum(vec![[0.0; 2]; 8]));
        }
        let outcome = task.evaluate(&creature, 1, BUDGET);
        assert!(measure(&outcome, "distance") < 0.05, "{outcome:?}");
    }

    // proves: FON-129
    #[test]
    fn creatures_that_move_are_honest_or_named() {
        let task = task(1.0, 2.0);
        let mut random = Random::new(11);
        let mut valid = 0;
        for seed in 0..8 {
            let creature = Creature::random(&task.design, &mut random);
            let outcome = task.evaluate(&creature, seed, BUDGET);
            match &outcome.verdict {
                Verdict::Valid => {
                    valid += 1;
                    assert!(outcome.fitness >= 0.0 && measure(&outcome, "work of actuators") > 0.0);
                }
                Verdict::Dishonest { cause, share } => assert!(*share > 0.05 && !cause.is_empty()),
                other => panic!("{other:?}"),
            }
        }
        assert!(valid > 0);
        let short = task.evaluate(&Creature::random(&task.design, &mut random), 0, Budget { steps: 10 });
        assert!(matches!(short.verdict, Verdict::Disqualified { rule } if rule.contains("the budget is 10")));
        let mut broken = Creature::random(&task.design, &mut random);
        broken.pairs[0].lengths[0] = f64::NAN;
        let outcome = task.evaluate(&broken, 0, BUDGET);
        assert!(matches!(outcome.verdict, Verdict::Faulty { flaw } if flaw.contains("limb pair 0: length")));
    }
}
