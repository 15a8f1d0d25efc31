//! Tells the soft solver whether this compiler knows AVX-512: from Rust 1.89 on.

use std::{env, process::Command};

/// The first minor version that does.
const FIRST: u32 = 89;

/// The y of `rustc x.y.z`.
fn minor_version() -> Option<u32> {
    let out = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    text.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}

#[allow(clippy::print_stdout, reason = "that is how build scripts answer")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(knows_avx512)");
    if minor_version().is_some_and(|minor| minor >= FIRST) {
        println!("cargo::rustc-cfg=knows_avx512");
    }
}
