//! `Prose` to references: where a text says to look.
