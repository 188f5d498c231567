//! A whole cluster in one process: coordinator and workers as they are, on simulated time, network
//! and disks.
//!
//! [`run`] takes everything from a seed: the settings, the jobs, the faults and their times, the
//! delays of messages and threads. The same seed gives the same run. It ends when every job is done
//! with the right numbers; anything else, except an end that the faults of the run explain, is an
//! error. `docs/testing.md` says how to use it.
//!
//! - `world`, `threads`, `process`: random numbers and time; threads that run one at a time; the
//!   platform of a process;
//! - `network`, `connection`: links, listeners and streams of bytes;
//! - `disk`, `journal`: files, and what a loss of power takes from them;
//! - `node`, `liar`: hosts and the processes on them;
//! - `fault`, `job`, `run`: what happens in a run, and what must be true.
#![forbid(unsafe_code)]

mod connection;
mod disk;
mod fault;
mod job;
mod journal;
mod liar;
mod network;
mod node;
mod process;
mod run;
mod threads;
mod world;

pub use run::{Outcome, Violation, run};
