//! Clusters of real processes under kills, pauses, network cuts, damage and refusals. In the end
//! every layer has the counts of a search in one process.

mod answers;
mod beside;
mod chaos;
mod clients;
mod connections;
mod dense;
mod diagrams;
mod directed;
mod disks;
mod elastic;
mod engines;
mod faults;
mod folders;
mod follower;
pub(crate) mod harness;
mod health;
mod journals;
mod learning;
mod liars;
mod memory;
mod networks;
mod paths;
mod proxy;
mod random;
mod removal;
mod tls;
mod tokens;
mod verify;
mod wide;
