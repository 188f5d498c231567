//! A whole cluster in one process: coordinator and workers as they are, on simulated time, network
//! and disks.
//!
//! [`run`] takes everything from a seed: the settings, the jobs, the faults and their times, the
//! delays of messages and threads. The same seed gives the same run. It ends when every job is done
//! with the right numbers; anything else, except an end that the faults of the run explain, is an
//! error. `docs/testing.md` says how to use it.
//!
//! - `world`, `threads`, `process`, `platform`: random numbers and time; threads that run one at a
//!   time; what a node asks of its machine;
//! - `links`, `connection`, `network`: faults of links, streams of bytes, listeners;
//! - `image`, `disk`, `journal`: files, and what a loss of power takes from them;
//! - `node`, `byzantine`: hosts and the processes on them;
//! - `fault`, `job`, `run`: what happens in a run, and what must be true.
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
mod run;
mod threads;
mod world;

pub use run::{Outcome, Violation, run};
