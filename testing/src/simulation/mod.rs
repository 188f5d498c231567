//! Simulation of a whole cluster in one process: the real coordinator and workers, on simulated
//! time, network and disks.
//!
//! [`run`] derives everything from a seed: the settings, the jobs, the faults and their times, the
//! delays of messages and threads. The same seed gives the same run. A run ends when every job is
//! done with the right numbers. Any other end is an error, unless the faults of the run explain it.
//! `docs/testing.md` describes its use.
//!
//! - `world`, `random`, `scheduler`, `threads`, `process`, `platform`: random numbers and time; the order of all
//!   steps; threads that run one at a time; the platform of a node;
//! - `links`, `connection`, `network`: faults of links, streams of bytes, listeners;
//! - `image`, `disk`, `journal`: files, and the effects of a power loss on them;
//! - `node`, `byzantine`: hosts and the processes on them;
//! - `fault`, `job`, `run`: what happens in a run, and what must be true;
//! - `reached`: rare states that many runs together must reach.
#![forbid(unsafe_code)]

mod byzantine;
mod connection;
mod disk;
mod fault;
mod image;
mod job;
mod journal;
mod links;
mod network;
mod node;
mod platform;
mod process;
mod random;
mod reached;
mod run;
mod scheduler;
mod threads;
mod world;

pub use reached::Reached;
pub use run::{Outcome, Violation, run};
