//! Notes: nothing in a quoted file can act, every byte is accounted for, and what they look like.

mod acts;
pub(crate) mod hostile;
mod inert;
mod notes;
