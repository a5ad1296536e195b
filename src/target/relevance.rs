//! The third check: does the passage cover the question?
