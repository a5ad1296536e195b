//! The integration tests: one binary, so that it is linked once; every module shares one harness.

#[expect(dead_code, reason = "the fake offers more than today's tests ask of it")]
mod gitlab;
mod gitlab_client;
mod layers;
mod postgres;
mod resolve;
