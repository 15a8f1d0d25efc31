//! W4: dynamics of the five workload trees, general and packed, one and four states at a time.

use articulated_featherstone::{
    Lanes4, PackedTree, PackedWorkspace, Workspace, aba, contact_matrix, crba, factorize, packed_aba,
    packed_crba, packed_rnea, rnea, testkit::read_tree,
};
use sim_math::{glam::DVec3, spatial::Force};
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
            packed_aba(&tree, &state.base, &state.q, &state.v, &tau, &mut pw, &mut out).is_ok()
        });
        suite.case(&format!("articulated/rnea/{name}")).run(|| {
            state.q[last] += 1e-9;
            packed_rnea(&tree, &state.base, &state.q, &state.v, &tau, &mut pw, &mut out).is_ok()
        });
        suite.case(&format!("articulated/crba/{name}")).run(|| {
            state.q[last] += 1e-9;
            packed_crba(&tree, &state.q, &mut pw, &mut m).is_ok()
        });
        let splat = |x: &[f64]| x.iter().map(|x| Lanes4([*x; 4])).collect::<Vec<_>>();
        let (mut q4, v4, tau4, mut out4) = (splat(&state.q), splat(&state.v), splat(&tau), splat(&out));
        suite.case(&format!("articulated/aba4/{name}")).elements(4).run(|| {
            q4[last].0[0] += 1e-9;
            packed_aba(&tree, &state.base, &q4, &v4, &tau4, &mut wide, &mut out4).is_ok()
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

tumblestone_benches::main!(cases);
