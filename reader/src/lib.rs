//! Placeholder, replaced by the trained reader.
