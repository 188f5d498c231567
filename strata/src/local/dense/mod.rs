//! Worker of the dense engine, with the space in memory or by parts.

mod layers;
mod worker;

pub(crate) use layers::numbering;
pub use worker::{DenseSetup, DenseWorker};
