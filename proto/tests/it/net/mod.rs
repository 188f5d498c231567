//! Connections and messages of a cluster.

mod connections;
mod convert;
mod incoming;
