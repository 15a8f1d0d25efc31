//! Any bytes as a recording: refused, or every frame can be read or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scene::Recording;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut recording) = Recording::from_bytes(bytes.to_vec()) {
        for frame in 0..recording.len() {
            let _ = recording.frame(frame);
        }
    }
});
