//! Faults, and which ends of a job each of them permits.

use std::fmt;

use crate::cluster::harness::COORDINATOR;
use crate::cluster::proxy::LinkMode;

/// Number of workers.
pub(super) const WORKERS: u8 = 3;

/// A process of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Coordinator,
    /// A worker, from 1.
    Worker(u8),
}

impl Node {
    /// Its name in the cluster.
    pub(super) fn name(self) -> String {
        match self {
            Node::Coordinator => COORDINATOR.to_owned(),
            Node::Worker(number) => format!("w{number}"),
        }
    }
}

/// All workers.
pub(super) fn workers() -> impl Iterator<Item = Node> {
    (1..=WORKERS).map(Node::Worker)
}

/// The connections of a worker that pass a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Those to the coordinator.
    Control(u8),
    /// Those over which other workers send exits to it.
    Exchange(u8),
}

/// How a file is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// One bit is flipped.
    Flip,
    /// The second half is missing.
    Truncate,
    /// A part is overwritten.
    Overwrite,
    /// The file is missing.
    Delete,
}

/// A fault, with a start and an end. [`super::inject`] defines what happens at both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// SIGKILL; at the end the processes start again.
    Killed(Vec<Node>),
    /// SIGSTOP; at the end SIGCONT.
    Paused(Node),
    /// The coordinator is paused for several leases.
    LongPause,
    /// SIGTERM. The node ends when it has handed over or saved what it has, and starts again.
    Terminated(Node),
    /// The proxy of a link is in this mode.
    Network(Link, LinkMode),
    /// The file system of a node's data directory is full. The node may start again meanwhile.
    FullDisk { node: Node, restarts: bool },
    /// A checkpoint file is damaged, while the worker runs or while it is down.
    DamagedFile { worker: u8, damage: Damage, is_live: bool, place: u64 },
    /// A second process runs with a copy of a worker's data directory.
    Clone(u8),
    /// A second process starts with the data directory of a node.
    SecondProcess(Node),
    /// The journal is damaged while the coordinator is down.
    DamagedJournal { damage: Damage, place: u64 },
    /// At its end, the journal is put back to its state at the fault's start. Workers may be paused
    /// until the coordinator is back, and then have orders from before.
    RestoredJournal { is_paused: bool },
    /// The coordinator's folder is lost while the coordinator is down. Workers may be paused
    /// meanwhile.
    LostCoordinator { is_paused: bool },
    /// A worker's data directory is lost while it is down.
    LostWorker(u8),
    /// A job is removed, whatever its state.
    RemovedJob { place: u64 },
    /// All jobs that are done are removed by `gc`.
    Collected,
}

impl Fault {
    /// The kind of the fault, for statistics.
    pub(super) fn kind(&self) -> String {
        let kind = match self {
            Fault::Killed(_) => "killed",
            Fault::Paused(_) => "paused",
            Fault::LongPause => "long pause of the coordinator",
            Fault::Terminated(Node::Coordinator) => "terminated coordinator",
            Fault::Terminated(_) => "terminated worker",
            Fault::Network(link, mode) => {
                let link = match link {
                    Link::Control(_) => "control link",
                    Link::Exchange(_) => "exchange link",
                };
                return format!("{link}: {mode:?}");
            }
            Fault::FullDisk { node: Node::Coordinator, .. } => "full disk of the coordinator",
            Fault::FullDisk { .. } => "full disk of a worker",
            Fault::DamagedFile { damage: Damage::Delete, .. } => "deleted file",
            Fault::DamagedFile { .. } => "damaged file",
            Fault::Clone(_) => "cloned identity",
            Fault::SecondProcess(_) => "second process",
            Fault::DamagedJournal { .. } => "damaged journal",
            Fault::RestoredJournal { .. } => "restored journal",
            Fault::LostCoordinator { .. } => "lost coordinator's folder",
            Fault::LostWorker(_) => "lost worker's folder",
            Fault::RemovedJob { .. } => "removed job",
            Fault::Collected => "collected jobs",
        };
        kind.to_owned()
    }

    /// The nodes that no other fault may affect at the same time.
    pub(super) fn nodes(&self) -> Vec<Node> {
        match self {
            Fault::Killed(nodes) => nodes.clone(),
            Fault::Paused(node)
            | Fault::Terminated(node)
            | Fault::FullDisk { node, .. }
            | Fault::SecondProcess(node) => vec![*node],
            Fault::Network(..) | Fault::RemovedJob { .. } | Fault::Collected => Vec::new(),
            Fault::DamagedFile { worker, .. }
            | Fault::Clone(worker)
            | Fault::LostWorker(worker) => {
                vec![Node::Worker(*worker)]
            }
            Fault::RestoredJournal { is_paused: true }
            | Fault::LostCoordinator { is_paused: true } => {
                [Node::Coordinator].into_iter().chain(workers()).collect()
            }
            Fault::LongPause
            | Fault::DamagedJournal { .. }
            | Fault::RestoredJournal { .. }
            | Fault::LostCoordinator { .. } => vec![Node::Coordinator],
        }
    }

    /// Exit codes other than 0 with which a job may end because of this fault: see the rows of
    /// `docs/recovery.md`.
    pub(super) fn permits(&self) -> &'static [i32] {
        match self {
            Fault::FullDisk { .. } => &[4],
            Fault::DamagedFile { .. } | Fault::Clone(_) => &[12],
            Fault::DamagedJournal { .. } | Fault::RestoredJournal { .. } => &[11, 12],
            // A job may be done and removed before its client has the result.
            Fault::LostCoordinator { .. } | Fault::Collected => &[11],
            Fault::LostWorker(_) => &[5],
            Fault::Killed(_)
            | Fault::Paused(_)
            | Fault::LongPause
            | Fault::Terminated(_)
            | Fault::Network(..)
            | Fault::SecondProcess(_)
            | Fault::RemovedJob { .. } => &[],
        }
    }

    /// Whether a job may be lost for good, so that it must be submitted again.
    pub(super) fn loses_jobs(&self) -> bool {
        match self {
            Fault::Clone(_)
            | Fault::DamagedJournal { .. }
            | Fault::RestoredJournal { .. }
            | Fault::LostCoordinator { .. }
            | Fault::LostWorker(_) => true,
            // The file may have been incomplete, so that its copy is not a backup.
            Fault::DamagedFile { is_live, .. } => *is_live,
            _ => false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
