//! W4: dynamics of the five workload trees, general and packed, one and four states at a time; and chains of 10, 100 and 1000 links,
//! whose instruction counts (`cargo xtask bench articulated/links --count`) show that ABA and RNEA are linear.

use articulated_featherstone::{
    Joint, Lanes4, Link, Model, ModelBuilder, PackedTree, PackedWorkspace, State, Workspace, aba,
    contact_matrix, crba, factorize, packed_aba, packed_crba, packed_crba_upper, packed_rnea, rnea,
    testkit::read_tree,
};
use sim_math::{Pose, Sym3, glam::DVec3, spatial::Force};
use std::hint::black_box;
use tumblestone_benches::Suite;

const MODELS: [(&str, &str); 5] = [
    ("arm6", include_str!("../../../crates/articulated-featherstone/tests/models/arm6.tree")),
    ("chain10", include_str!("../../../crates/articulated-featherstone/tests/models/chain10.tree")),
    ("humanoid30", include_str!("../../../crates/articulated-featherstone/tests/models/humanoid30.tree")),
    ("chain50", include_str!("../../../crates/articulated-featherstone/tests/models/chain50.tree")),
    ("chain100", include_str!("../../../crates/articulated-featherstone/tests/models/chain100.tree")),
];

fn cases(suite: &mut Suite) {
    for (name, text) in MODELS {
        let Some((model, mut state, tau)) = read_tree(text) else { continue };
        let Ok(tree) = PackedTree::new(&model) else { continue };
        let nv = model.v_len();
        let mut ws = Workspace::new(&model);
        let mut pw = PackedWorkspace::<f64>::new(&tree);
        let mut wide = PackedWorkspace::<Lanes4>::new(&tree);
        let (mut out, mut m) = (vec![0.0; nv], vec![0.0; nv * nv]);
        let last = state.q.len() - 1;
        suite.case(&format!("articulated/aba/{name}")).run(|| {
            state.q[last] += 1e-9;
            packed_aba(&tree, &state.base, &state.q, &state.v, &tau, &[], &mut pw, &mut out).is_ok()
        });
        suite.case(&format!("articulated/rnea/{name}")).run(|| {
            state.q[last] += 1e-9;
            packed_rnea(&tree, &state.base, &state.q, &state.v, &tau, &[], &mut pw, &mut out).is_ok()
        });
        suite.case(&format!("articulated/crba/{name}")).run(|| {
            state.q[last] += 1e-9;
            packed_crba(&tree, &state.q, &mut pw, &mut m).is_ok()
        });
        suite.case(&format!("articulated/crba_upper/{name}")).run(|| {
            state.q[last] += 1e-9;
            packed_crba_upper(&tree, &state.q, &mut pw, &mut m).is_ok()
        });
        let splat = |x: &[f64]| x.iter().map(|x| Lanes4([*x; 4])).collect::<Vec<_>>();
        let (mut q4, v4, tau4, mut out4) = (splat(&state.q), splat(&state.v), splat(&tau), splat(&out));
        suite.case(&format!("articulated/aba4/{name}")).elements(4).run(|| {
            q4[last].0[0] += 1e-9;
            packed_aba(&tree, &state.base, &q4, &v4, &tau4, &[], &mut wide, &mut out4).is_ok()
        });
        suite.case(&format!("articulated/general_aba/{name}")).run(|| {
            state.q[last] += 1e-9;
            aba(&model, &state, &tau, &[], &mut ws).is_ok()
        });
        suite.case(&format!("articulated/general_rnea/{name}")).run(|| {
            state.q[last] += 1e-9;
            rnea(&model, &state, &tau, &[], &mut ws).is_ok()
        });
        suite.case(&format!("articulated/general_crba/{name}")).run(|| {
            state.q[last] += 1e-9;
            crba(&model, &state.q, &mut ws, &mut m).is_ok()
        });
        let link = model.link_count() as u32 - 1;
        let pushes = DVec3::AXES.map(|e| Force::at_offset(DVec3::new(0.1, 0.0, -0.05), e));
        suite.case(&format!("articulated/contact_matrix/{name}")).run(|| {
            state.q[last] += 1e-9;
            factorize(&model, &state.q, &mut ws)
                .and_then(|()| contact_matrix(&model, &ws, black_box(link), pushes))
        });
    }
}

/// Links of the workload's chains.
fn chain(n: usize) -> Option<Model> {
    let mut builder = ModelBuilder::new().gravity(DVec3::new(0.0, 0.0, -9.81));
    for i in 0..n {
        let axis = if i % 2 == 0 { DVec3::Y } else { DVec3::X };
        let moments = DVec3::new(0.0035, 0.0035, 0.0004);
        let mut link = Link::new(i.to_string(), Joint::Revolute { axis }).mass(
            1.0,
            DVec3::new(0.0, 0.0, -0.1),
            Sym3::from_diagonal(moments),
        );
        if i > 0 {
            link = link.on((i - 1).to_string()).at(Pose::from_translation(DVec3::new(0.0, 0.0, -0.2)));
        }
        builder = builder.link(link);
    }
    builder.build().ok()
}

fn links(suite: &mut Suite) {
    for n in [10, 100, 1000] {
        let Some(model) = chain(n) else { continue };
        let Ok(tree) = PackedTree::new(&model) else { continue };
        let mut state = State::new(&model);
        for k in 0..n {
            (state.q[k], state.v[k]) = (0.01 * (k % 7) as f64, 0.1 * (k % 5) as f64);
        }
        let tau = vec![0.1; n];
        let mut ws = Workspace::new(&model);
        let mut pw = PackedWorkspace::<f64>::new(&tree);
        let mut out = vec![0.0; n];
        suite
            .case(&format!("articulated/links_aba/{n}"))
            .iterations(20)
            .run(|| packed_aba(&tree, &state.base, &state.q, &state.v, &tau, &[], &mut pw, &mut out).is_ok());
        suite.case(&format!("articulated/links_rnea/{n}")).iterations(20).run(|| {
            packed_rnea(&tree, &state.base, &state.q, &state.v, &tau, &[], &mut pw, &mut out).is_ok()
        });
        suite
            .case(&format!("articulated/links_general_aba/{n}"))
            .iterations(20)
            .run(|| aba(&model, &state, &tau, &[], &mut ws).is_ok());
        suite
            .case(&format!("articulated/links_general_rnea/{n}"))
            .iterations(20)
            .run(|| rnea(&model, &state, &tau, &[], &mut ws).is_ok());
    }
}

tumblestone_benches::main!(cases, links);
