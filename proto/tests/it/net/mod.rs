//! Tests of a cluster's connections and messages.

mod connections;
mod convert;
mod incoming;
