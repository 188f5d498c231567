//! Worker of the dense engine, with the space in memory or by parts, alone or among several.

mod blocks;
mod layers;
mod older;
mod restore;
mod sources;
mod worker;

pub use layers::numbering;
pub use worker::{DenseSetup, DenseWorker};
