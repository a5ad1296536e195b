//! The integration tests: one binary, so that it is linked once; every module shares one harness.

mod reply;
