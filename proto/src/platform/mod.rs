//! Platform of a node: files, threads, connections, random numbers and the time of day.
//!
//! Coordinators and workers reach all of these through a [`Platform`]. They measure durations with
//! the clock of the asynchronous runtime: [`Instant`] and `tokio::time`. [`System`] is the
//! operating system. Tests replace both: a simulated platform decides when a thread runs, when a
//! byte arrives and which bytes of a file survive a crash.

mod connection;
mod machine;
mod node_platform;
mod resources;
mod system;
mod thread;

pub use connection::{BoxFuture, ByteStream, Connector, Listener};
pub use machine::Machine;
pub use node_platform::Platform;
pub use resources::Resources;
pub use system::{System, random};
pub use thread::{Panicked, Thread};
pub use tokio::time::Instant;
