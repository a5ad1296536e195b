//! The integration tests: one binary, so that it is linked once; one module for each subject, and one harness.

mod admin;
mod adversarial;
mod app;
mod extract;
#[expect(dead_code, reason = "the fake offers more than today's tests ask of it")]
mod gitlab;
mod gitlab_client;
mod interference;
mod layers;
mod leaks;
mod postgres;
mod reply;
mod resolve;
mod walk;
