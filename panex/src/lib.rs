//! The Panex puzzle itself: what can be said about it without a search engine.
#![deny(unsafe_code)]

pub mod choke;
