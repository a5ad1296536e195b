//! `cargo +nightly fuzz run sections`; what must hold is said in `targets.rs`.

#![no_main]

#[path = "../targets.rs"]
#[allow(dead_code, reason = "each program fuzzes one of them")]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::sections(data));
