//! The corpus predicate (R-KB-1): the one function that decides what may be cited, to whom.
