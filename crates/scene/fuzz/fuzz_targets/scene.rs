//! Any bytes as a scene file: an error or a world, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use scene::{
    format::{Memory, load},
    lower::{Registry, lower},
};

fuzz_target!(|data: &[u8]| {
    for name in ["fuzz.ron", "fuzz.json"] {
        let files = Memory([(name.to_owned(), data.to_vec())].into());
        if let Ok(loaded) = load(&files, name) {
            let _ = lower(&loaded, &files, &Registry::standard());
        }
    }
});
