//! The integration tests: one binary, so that it is linked once; one module for each subject, and one harness.

#![expect(clippy::unwrap_used, reason = "this is test code; a helper outside a test function is one too")]

mod admin;
mod adversarial;
mod app;
mod archive;
mod ask;
mod canary;
mod check;
mod cli;
mod config;
mod crash;
mod door;
mod extract;
mod fuzz;
mod gaplife;
mod gaps;
#[expect(dead_code, reason = "the fake offers more than today's tests ask of it")]
mod gitlab;
mod gitlab_client;
mod history;
mod install;
mod interference;
mod later;
mod layers;
mod leaks;
mod life;
mod port;
mod postgres;
mod process;
mod replay;
mod reply;
mod report;
mod resolve;
mod thousand;
mod traces;
mod translation;
mod trouble;
mod unlucky;
mod walk;
