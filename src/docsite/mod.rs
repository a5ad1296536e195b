//! Documentation sites.
