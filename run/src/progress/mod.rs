//! Progress in logs: when a line is due, and the fields of lines about layers and checkpoints.
//!
//! The command line, the coordinator and the workers log the same lines, with the same fields in the
//! same order.

mod line;
mod pace;

pub use line::{CheckpointLine, Field, LayerLine};
pub use pace::Pace;
