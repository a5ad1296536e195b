//! The integration tests: one binary, so that it is linked once; one module for each subject.

mod admin;
mod extract;
#[expect(dead_code, reason = "the fake offers more than today's tests ask of it")]
mod gitlab;
mod layers;
mod postgres;
mod reply;
