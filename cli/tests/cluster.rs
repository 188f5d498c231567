//! Clusters of real processes under kills, pauses, network cuts, damage and refusals. In the end
//! every layer has the same counts.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

#[path = "cluster/answers.rs"]
mod answers;
#[path = "cluster/beside.rs"]
mod beside;
#[path = "cluster/chaos/mod.rs"]
mod chaos;
#[path = "cluster/clients.rs"]
mod clients;
#[path = "cluster/connections.rs"]
mod connections;
#[path = "cluster/dense.rs"]
mod dense;
#[path = "cluster/diagrams.rs"]
mod diagrams;
#[path = "cluster/directed.rs"]
mod directed;
#[path = "cluster/disks.rs"]
mod disks;
#[path = "cluster/elastic.rs"]
mod elastic;
#[path = "cluster/engines.rs"]
mod engines;
#[path = "cluster/faults.rs"]
mod faults;
#[path = "cluster/folders.rs"]
mod folders;
#[path = "cluster/follower.rs"]
mod follower;
#[path = "cluster/harness.rs"]
mod harness;
#[path = "cluster/health.rs"]
mod health;
#[path = "cluster/journals.rs"]
mod journals;
#[path = "cluster/liars.rs"]
mod liars;
#[path = "cluster/memory.rs"]
mod memory;
#[path = "cluster/networks.rs"]
mod networks;
#[path = "cluster/paths.rs"]
mod paths;
#[path = "cluster/proxy.rs"]
mod proxy;
#[path = "cluster/random.rs"]
mod random;
#[path = "cluster/removal.rs"]
mod removal;
#[path = "cluster/tls.rs"]
mod tls;
#[path = "cluster/tokens.rs"]
mod tokens;
#[path = "cluster/verify.rs"]
mod verify;
#[path = "cluster/wide.rs"]
mod wide;

mod common;
