//! Names of layer files.

/// Name of a worker's file of a layer, once it is durable.
#[must_use]
pub fn layer_file(depth: u32, worker: u32) -> String {
    format!("layer-{depth:06}-{worker:03}.strata")
}

/// First characters of the names of files that hold older layers together.
pub(crate) const OLDER_PREFIX: &str = "older-";

/// Name of a worker's file of older layers up to a depth, once it is durable.
#[must_use]
pub fn older_file(depth: u32, worker: u32) -> String {
    format!("{OLDER_PREFIX}{depth:06}-{worker:03}.strata")
}
