//! Worker of the dense engine, with the space in memory or by parts.

mod layers;
mod worker;

pub use worker::{DenseSetup, DenseWorker};
