//! The cluster of a run, and how faults begin and end in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::damage::{Backups, copy_folder, damaged};
use super::fault::{Fault, Link, Node, workers};
use super::schedule::Schedule;
use crate::cluster::disks::fill;
use crate::cluster::harness::{COORDINATOR, Cluster, WORKER_READY, fails, free_port};
use crate::cluster::proxy::{LinkMode, Proxy};
use crate::common::SmallDisk;
use crate::common::{expect, strata};

/// Size of a disk that is filled, in KiB.
const DISK: u32 = 8192;

/// Time for which paused workers stay paused after the coordinator has another journal.
const PAUSE: Duration = Duration::from_millis(200);

/// Number of reads between two flipped bits of a link. It is small because a link is damaged for a
/// few seconds only.
const DAMAGE_INTERVAL: usize = 17;

/// The token of an encrypted cluster.
const TOKEN: &str = "a-secret-that-is-long-enough";

/// Coordinator, workers and the proxies between them.
pub(super) struct Target {
    /// Small file systems, by the name of their node. They are unmounted first, so that the cluster
    /// can remove its folder.
    disks: Vec<(String, SmallDisk)>,
    pub(super) cluster: Cluster,
    control: Vec<Proxy>,
    exchange: Vec<Proxy>,
    pub(super) backups: Backups,
    /// Nodes that were terminated, and are started again when they have ended.
    terminated: BTreeSet<String>,
    /// Faults that were skipped or had no effect, with the reason.
    pub(super) notes: Vec<String>,
}

impl Target {
    /// Starts the cluster of a schedule.
    pub(super) fn start(schedule: &Schedule, is_tls: bool) -> Target {
        let dir = TempDir::with_prefix(format!("strata-chaos-{}-", schedule.seed)).unwrap();
        let (scheme, common) = security(dir.path(), is_tls);
        let mut disks = Vec::new();
        let mut notes = Vec::new();
        for node in workers().chain([Node::Coordinator]).filter(|node| schedule.fills(*node)) {
            let name = node.name();
            match SmallDisk::mount(&dir.path().join(&name), DISK) {
                Some(disk) => disks.push((name, disk)),
                None => notes.push(format!("skipped: no small file system for {name} here")),
            }
        }
        let more = format!(
            "--lease {}ms --narrow {} --worker-timeout {}ms",
            schedule.lease.as_millis(),
            schedule.narrow,
            schedule.worker_timeout.as_millis()
        );
        let cluster = Cluster::in_folder(dir, scheme, "127.0.0.1", common, &more);
        let (control, exchange) = (Vec::new(), Vec::new());
        let backups = Backups::default();
        let terminated = BTreeSet::new();
        let mut target = Target { cluster, control, exchange, disks, backups, terminated, notes };
        workers().for_each(|worker| target.join(&worker.name(), scheme));
        target
    }

    fn join(&mut self, name: &str, scheme: &str) {
        let port = free_port();
        let (control, exchange) = (Proxy::to(self.cluster.grpc), Proxy::to(port));
        let more = format!(
            "--coordinator {} --listen 127.0.0.1:{port} --advertise {}",
            control.url_of(scheme),
            exchange.url_of(scheme)
        );
        for proxy in [&control, &exchange] {
            proxy.set_damage_interval(DAMAGE_INTERVAL);
        }
        self.cluster.join(name, &more);
        self.control.push(control);
        self.exchange.push(exchange);
    }

    fn link(&self, link: Link) -> &Proxy {
        match link {
            Link::Control(number) => &self.control[usize::from(number) - 1],
            Link::Exchange(number) => &self.exchange[usize::from(number) - 1],
        }
    }

    fn journal(&self) -> PathBuf {
        self.cluster.data(COORDINATOR).join("journal.redb")
    }

    /// The file that fills a node's disk.
    fn ballast(&self, node: Node) -> Option<PathBuf> {
        let name = node.name();
        let is_small = self.disks.iter().any(|(disk, _)| *disk == name);
        is_small.then(|| self.cluster.data(&name).join("ballast"))
    }

    /// The file in which the fault with this number keeps the journal.
    fn kept(&self, number: usize) -> PathBuf {
        self.cluster.path().join(format!("journal-of-fault-{number}"))
    }

    /// Begins the fault with this number.
    pub(super) fn begin(&mut self, number: usize, fault: &Fault) {
        for name in fault.nodes().into_iter().map(Node::name) {
            // The node is still ending.
            if self.terminated.contains(&name) {
                self.kill(&name);
                self.cluster.start(&name);
            }
        }
        match fault {
            Fault::Killed(nodes) => nodes.iter().for_each(|node| self.kill(&node.name())),
            Fault::Paused(node) => self.cluster.signal(&node.name(), Signal::STOP),
            Fault::LongPause => self.cluster.signal(COORDINATOR, Signal::STOP),
            Fault::Terminated(node) => {
                self.cluster.signal(&node.name(), Signal::TERM);
                self.terminated.insert(node.name());
            }
            Fault::Network(link, mode) => self.link(*link).set_mode(*mode),
            Fault::FullDisk { node, restarts } => self.fill(*node, *restarts),
            Fault::DamagedFile { worker, damage, is_live, place } => {
                let name = Node::Worker(*worker).name();
                if !is_live {
                    self.kill(&name);
                }
                if !self.backups.damage(&self.cluster.data(&name), *damage, *place) {
                    self.notes.push(format!("fault {number}: {name} has no checkpoint file"));
                }
                if !is_live {
                    self.cluster.start(&name);
                }
            }
            Fault::Clone(worker) => self.start_clone(*worker),
            Fault::SecondProcess(node) => self.expect_refusal(*node),
            Fault::DamagedJournal { damage, place } => {
                self.kill(COORDINATOR);
                let bytes = std::fs::read(self.journal()).unwrap();
                std::fs::write(self.kept(number), &bytes).unwrap();
                let bytes = damaged(&bytes, *damage, *place).expect("it is not deleted");
                std::fs::write(self.journal(), bytes).unwrap();
            }
            Fault::RestoredJournal { .. } => {
                self.kill(COORDINATOR);
                std::fs::copy(self.journal(), self.kept(number)).unwrap();
                self.cluster.start(COORDINATOR);
            }
            Fault::LostCoordinator { is_paused } => {
                if *is_paused {
                    self.signal_workers(Signal::STOP);
                }
                self.lose(COORDINATOR);
            }
            Fault::LostWorker(worker) => self.lose(&Node::Worker(*worker).name()),
            // These are commands of clients.
            Fault::RemovedJob { .. } | Fault::Collected => {}
        }
    }

    fn kill(&mut self, name: &str) {
        self.cluster.kill(name);
        self.terminated.remove(name);
    }

    /// Ends the fault with this number.
    pub(super) fn end(&mut self, number: usize, fault: &Fault) {
        match fault {
            Fault::Killed(nodes) => {
                nodes.iter().rev().for_each(|node| self.cluster.start(&node.name()));
            }
            Fault::Paused(node) => self.cluster.signal(&node.name(), Signal::CONT),
            Fault::LongPause => self.cluster.signal(COORDINATOR, Signal::CONT),
            Fault::Network(link, _) => self.link(*link).set_mode(LinkMode::Forward),
            Fault::FullDisk { node, .. } => {
                if let Some(ballast) = self.ballast(*node) {
                    std::fs::remove_file(ballast).unwrap();
                    if !self.cluster.is_running(&node.name()) {
                        self.cluster.start(&node.name());
                    }
                }
            }
            Fault::DamagedFile { .. }
            | Fault::SecondProcess(_)
            | Fault::Terminated(_)
            | Fault::RemovedJob { .. }
            | Fault::Collected => {}
            Fault::Clone(worker) => self.cluster.remove(&clone_of(*worker)),
            Fault::DamagedJournal { .. } => self.start_with_damaged_journal(number),
            Fault::RestoredJournal { is_paused } => {
                if *is_paused {
                    self.signal_workers(Signal::STOP);
                }
                self.kill(COORDINATOR);
                std::fs::copy(self.kept(number), self.journal()).unwrap();
                self.start_coordinator(*is_paused);
            }
            Fault::LostCoordinator { is_paused } => self.start_coordinator(*is_paused),
            Fault::LostWorker(worker) => self.cluster.start(&Node::Worker(*worker).name()),
        }
    }

    fn signal_workers(&self, signal: Signal) {
        workers().for_each(|worker| self.cluster.signal(&worker.name(), signal));
    }

    /// Starts the coordinator. If workers are paused, they continue a little later.
    fn start_coordinator(&mut self, are_paused: bool) {
        self.cluster.start(COORDINATOR);
        if are_paused {
            std::thread::sleep(PAUSE);
            self.signal_workers(Signal::CONT);
        }
    }

    fn fill(&mut self, node: Node, restarts: bool) {
        let Some(ballast) = self.ballast(node) else { return };
        fill(&ballast);
        if restarts {
            let name = node.name();
            self.kill(&name);
            // The node may run although it cannot write, or end with the code for a full disk.
            if let Some(status) = self.cluster.try_start(&name) {
                assert_eq!(status.code(), Some(4), "{name} ended on a full disk");
            }
        }
    }

    fn start_clone(&mut self, worker: u8) {
        let (name, clone) = (Node::Worker(worker).name(), clone_of(worker));
        let copy = self.cluster.data(&clone);
        copy_folder(&self.cluster.data(&name), &copy);
        let more = format!("--data-dir {}", copy.display());
        let line = self.cluster.worker_line(&name, &more);
        self.cluster.add(&clone, &line, WORKER_READY);
    }

    /// Asserts that a second process with a node's data directory is refused.
    fn expect_refusal(&self, node: Node) {
        let name = node.name();
        let data = format!("--data-dir {}", self.cluster.data(&name).display());
        let line = match node {
            Node::Worker(_) => self.cluster.worker_line(&name, &data),
            Node::Coordinator => {
                let ports = (free_port(), free_port());
                self.cluster.coordinator_line("127.0.0.1", ports, &data)
            }
        };
        fails(2, &mut strata(&line), "in use by another process");
    }

    /// Starts the coordinator with a damaged journal. Either it names the file and ends, or the
    /// damage is in an unused part of the file.
    fn start_with_damaged_journal(&mut self, number: usize) {
        let mark = self.cluster.mark(COORDINATOR);
        let Some(status) = self.cluster.try_start(COORDINATOR) else {
            self.notes.push(format!("fault {number}: the journal has no damage in use"));
            return;
        };
        let log = self.cluster.log(COORDINATOR)[mark..].to_owned();
        assert_eq!(status.code(), Some(12), "{log}");
        assert!(log.contains("journal.redb"), "{log}");
        std::fs::copy(self.kept(number), self.journal()).unwrap();
        self.cluster.start(COORDINATOR);
    }

    /// Kills a node and empties its data directory, which may be a mounted one.
    fn lose(&mut self, name: &str) {
        self.kill(name);
        for entry in std::fs::read_dir(self.cluster.data(name)).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => std::fs::remove_dir_all(path).unwrap(),
                false => std::fs::remove_file(path).unwrap(),
            }
        }
    }

    /// Counts what the faults did.
    pub(super) fn count(&self, effects: &mut BTreeMap<String, u32>) {
        let mut add = |what: &str, count: usize| {
            *effects.entry(what.to_owned()).or_default() += count as u32;
        };
        let log = self.cluster.log(COORDINATOR);
        add("sessions", log.matches("session started").count());
        add("sessions that ended early", log.matches("back to the last checkpoint").count());
        add("pauses without a journal", log.matches("paused at the last checkpoint").count());
        for proxy in self.control.iter().chain(&self.exchange) {
            add("flipped bits", proxy.damaged());
            add("truncated connections", proxy.truncated());
            add("duplicated connections", proxy.duplicated());
        }
    }

    /// Asserts that no node has ended by itself or panicked. Those that were told to end start again.
    pub(super) fn check(&mut self) {
        while let Some((name, status)) = self.cluster.take_ended() {
            let was_told = self.terminated.remove(&name);
            assert!(was_told && status.success(), "{name} has ended: {status}");
            self.cluster.start(&name);
        }
        self.cluster.assert_no_panic();
    }

    /// Whether all terminated nodes have been started again.
    pub(super) fn is_whole(&self) -> bool {
        self.terminated.is_empty()
    }
}

/// The name of a clone among the nodes.
fn clone_of(worker: u8) -> String {
    format!("clone-of-w{worker}")
}

/// Scheme of URLs, and arguments of all nodes and clients.
fn security(dir: &Path, is_tls: bool) -> (&'static str, String) {
    if !is_tls {
        return ("http", String::new());
    }
    let (token, tls) = (dir.join("token"), dir.join("tls"));
    std::fs::write(&token, TOKEN).unwrap();
    expect(0, &mut strata(&format!("tls-init {}", tls.display())));
    let file = |name: &str| tls.join(name).display().to_string();
    let common = format!(
        "--token-file {} --tls-ca {} --tls-cert {} --tls-key {}",
        token.display(),
        file("ca.pem"),
        file("node.pem"),
        file("node-key.pem")
    );
    ("https", common)
}
