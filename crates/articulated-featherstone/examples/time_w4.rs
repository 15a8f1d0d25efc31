//! Times workload W4: the five trees, and each with a random rotation and axis at every joint.
//!
//! `time_w4 [SECONDS]` prints one line for each tree: name, microseconds of one packed ABA, RNEA, CRBA and CRBA above the diagonal, of one state in a batch of
//! four (ABA), of one contact matrix with its factorisation by the general functions, and |q̈|.
//! `time_w4 --write DIR` writes the trees for `benches/peers/pinocchio`, so that all solve the same numbers.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use articulated_featherstone::{
    Joint, Lanes4, Model, PackedTree, PackedWorkspace, State, Workspace, contact_matrix, factorize,
    packed_aba, packed_crba, packed_crba_upper, packed_rnea,
    testkit::{read_tree, read_turned_tree},
};
use sim_math::{glam::DVec3, spatial::Force, testkit::SplitMix64};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const MODELS: [(&str, &str); 5] = [
    ("arm6", include_str!("../tests/models/arm6.tree")),
    ("chain10", include_str!("../tests/models/chain10.tree")),
    ("humanoid30", include_str!("../tests/models/humanoid30.tree")),
    ("chain50", include_str!("../tests/models/chain50.tree")),
    ("chain100", include_str!("../tests/models/chain100.tree")),
];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Name, model, state and joint forces.
type Tree = (String, Model, State, Vec<f64>);

/// Plain trees first, then the turned ones.
fn trees() -> Result<Vec<Tree>> {
    let mut random = SplitMix64(4);
    let mut out = Vec::new();
    for (name, text) in MODELS {
        let (model, state, tau) = read_tree(text).ok_or("bad model")?;
        out.push((name.to_owned(), model, state, tau));
    }
    for (name, text) in MODELS {
        let (model, state, tau) = read_turned_tree(text, &mut random).ok_or("bad model")?;
        out.push((format!("{name}_turned"), model, state, tau));
    }
    Ok(out)
}

fn write_tree(model: &Model, state: &State, tau: &[f64]) -> Result<String> {
    let mut text = String::new();
    for link in 0..model.link_count() as u32 {
        let parent = model.parent(link).map_or(-1, i64::from);
        let (kind, axis) = match model.joint(link) {
            Some(Joint::Free) => ("free", DVec3::Z),
            Some(Joint::Revolute { axis }) => ("rev", axis),
            _ => return Err("only hinges and free joints".into()),
        };
        let pose = model.parent_from_joint(link).ok_or("no pose")?;
        let inertia = model.inertia(link).ok_or("no inertia")?;
        write!(text, "link {parent} {kind}")?;
        let numbers = axis
            .to_array()
            .into_iter()
            .chain(pose.translation.to_array())
            .chain(pose.rotation.to_array())
            .chain([inertia.mass])
            .chain(inertia.center_of_mass().to_array())
            .chain(inertia.inertia().to_array());
        for x in numbers {
            write!(text, " {x:?}")?;
        }
        text.push('\n');
    }
    for (key, numbers) in [("q", &state.q[..]), ("v", &state.v[..]), ("tau", tau)] {
        text.push_str(key);
        for x in numbers {
            write!(text, " {x:?}")?;
        }
        text.push('\n');
    }
    Ok(text)
}

/// Least time of one call in microseconds over as many rounds as fit.
fn time_of(seconds: f64, mut call: impl FnMut()) -> f64 {
    const CALLS: u32 = 50; // A round of long trees must fit between two interruptions of a busy machine.
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    loop {
        let start = Instant::now();
        for _ in 0..CALLS {
            call();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
        if begin.elapsed() > Duration::from_secs_f64(seconds) {
            return best;
        }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let ["--write", folder] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        for (name, model, state, tau) in trees()? {
            std::fs::write(format!("{folder}/{name}.peer"), write_tree(&model, &state, &tau)?)?;
        }
        return Ok(());
    }
    let seconds: f64 = arguments.first().map_or(Ok(0.01), |s| s.parse())?;
    for (name, model, mut state, tau) in trees()? {
        let tree = PackedTree::new(&model)?;
        let nv = model.v_len();
        let mut ws = PackedWorkspace::<f64>::new(&tree);
        let (mut out, mut m) = (vec![0.0; nv], vec![0.0; nv * nv]);
        packed_aba(&tree, &state.base, &state.q, &state.v, &tau, &[], &mut ws, &mut out)?;
        let norm = out.iter().map(|x| x * x).sum::<f64>().sqrt();
        let last = state.q.len() - 1;
        let mut good = true;
        let aba = time_of(seconds, || {
            state.q[last] += 1e-9;
            good &= packed_aba(&tree, &state.base, &state.q, &state.v, &tau, &[], &mut ws, &mut out).is_ok();
        });
        let rnea = time_of(seconds, || {
            state.q[last] += 1e-9;
            good &= packed_rnea(&tree, &state.base, &state.q, &state.v, &tau, &[], &mut ws, &mut out).is_ok();
        });
        let crba = time_of(seconds, || {
            state.q[last] += 1e-9;
            good &= packed_crba(&tree, &state.q, &mut ws, &mut m).is_ok();
        });
        let upper = time_of(seconds, || {
            state.q[last] += 1e-9;
            good &= packed_crba_upper(&tree, &state.q, &mut ws, &mut m).is_ok();
        });
        let splat = |x: &[f64]| x.iter().map(|x| Lanes4([*x; 4])).collect::<Vec<_>>();
        let (mut q4, v4, tau4, mut out4) = (splat(&state.q), splat(&state.v), splat(&tau), splat(&out));
        let mut wide = PackedWorkspace::<Lanes4>::new(&tree);
        let batch = time_of(seconds, || {
            for x in &mut q4[last].0 {
                *x += 1e-9;
            }
            good &= packed_aba(&tree, &state.base, &q4, &v4, &tau4, &[], &mut wide, &mut out4).is_ok();
        }) / 4.0;
        let mut general = Workspace::new(&model);
        let link = model.link_count() as u32 - 1;
        let pushes = DVec3::AXES.map(|e| Force::at_offset(DVec3::new(0.1, 0.0, -0.05), e));
        let contact = time_of(seconds, || {
            state.q[last] += 1e-9;
            good &= factorize(&model, &state.q, &mut general)
                .and_then(|()| contact_matrix(&model, &general, link, pushes))
                .is_ok();
        });
        if !good {
            return Err("a call failed".into());
        }
        println!("{name} {aba:.4} {rnea:.4} {crba:.4} {upper:.4} {batch:.4} {contact:.4} {norm:.12e}");
    }
    Ok(())
}
