//! A worker as a process of a cluster: the asynchronous edge around the library's workers.
#![forbid(unsafe_code)]

mod node;

pub use node::{Node, NodeError, NodeOptions};
