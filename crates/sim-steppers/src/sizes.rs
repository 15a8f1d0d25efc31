//! The sizes of records that `docs/architecture.md` states.

use crate::{event_driven, time_stepping};
use constraint_dynamics::{PoolBody, PoolContact, soft::SoftBody};
use rigid_impulse::{BodyModel, BodyState};
use sim_traits::{FreeBody, Manifold};
use sim_world::{Body, Dense, Piece};

#[test]
fn the_sizes_of_records_are_those_of_the_architecture_page() {
    let [body_step, site] = time_stepping::SIZES;
    let [member, touch] = event_driven::SIZES;
    let sizes = [
        ("BodyModel", size_of::<BodyModel>()),
        ("BodyState", size_of::<BodyState>()),
        ("Piece", size_of::<Piece>()),
        ("Dense", size_of::<Dense>()),
        ("Body", size_of::<Body>()),
        ("PoolBody", size_of::<PoolBody>()),
        ("BodyStep", body_step),
        ("FreeBody", size_of::<FreeBody>()),
        ("SoftBody", size_of::<SoftBody>()),
        ("Member", member),
        ("Manifold", size_of::<Manifold>()),
        ("Site", site),
        ("PoolContact", size_of::<PoolContact>()),
        ("Touch", touch),
    ];
    let text = include_str!("../../../docs/architecture.md");
    let table = text.split("## What is copied in a step").nth(1).unwrap_or_default();
    let wrong: Vec<String> = sizes
        .iter()
        .map(|(name, size)| format!("`{name}` {size}"))
        .filter(|entry| !table.contains(&format!("{entry},")) && !table.contains(&format!("{entry} |")))
        .collect();
    assert!(wrong.is_empty(), "docs/architecture.md is to say: {}", wrong.join(", "));
}
