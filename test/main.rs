//! The integration tests: one binary, so that it is linked once; every module shares one harness.

#[expect(dead_code, reason = "the fake offers more than today's tests ask of it")]
mod gitlab;
mod layers;
mod postgres;
//! The integration tests: one binary, one module for each subject.

mod extract;
mod admin;
