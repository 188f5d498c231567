//! Coordinator and workers as processes. They are killed at the end of a test. Their logs are
//! printed if the test fails.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::cluster::follower::Follower;
use crate::common::{Finished, strata};

/// Time limit of every wait, long enough for a busy machine. It ends tests that would hang.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(300);

/// Lines of each log that are shown when a test fails.
const TAIL: usize = 25;

/// Text in the log of a coordinator that has started.
pub(crate) const COORDINATOR_READY: &str = "coordinator is ready";

/// Text in the log of a worker that has started.
pub(crate) const WORKER_READY: &str = "worker is ready";

/// The coordinator's name among the nodes.
pub(crate) const COORDINATOR: &str = "coordinator";

/// Waits until a condition holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A free port below the ephemeral range, so that it is still free when a node restarts.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 12_000;
    const COUNT: u16 = 18_000;
    // More ports than a test needs, since tests that run at the same time have neighbouring process
    // ids.
    const EACH: u32 = 32;
    let begin = (std::process::id() % (u32::from(COUNT) / EACH) * EACH) as u16;
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (begin + next) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A process, and how to start it again.
struct Node {
    words: Vec<String>,
    log: PathBuf,
    child: Option<Child>,
    /// Text in its log that shows that the node has started.
    ready: &'static str,
}

impl Node {
    fn text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    fn child(&self) -> &Child {
        self.child.as_ref().expect("the node runs")
    }

    /// How the node ended, if it has ended by itself since the last call.
    fn take_ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut()?.try_wait().unwrap()?;
        self.child = None;
        Some(status)
    }
}

/// Coordinator and workers as processes.
pub(crate) struct Cluster {
    dir: TempDir,
    nodes: BTreeMap<String, Node>,
    pub(crate) grpc: u16,
    pub(crate) http: u16,
    /// `http` or `https`.
    scheme: &'static str,
    /// Arguments of all nodes and clients.
    common: String,
    /// File descriptors that each node may open.
    descriptors: Option<u32>,
}

impl Cluster {
    /// A coordinator alone, with these arguments in addition.
    pub(crate) fn empty(more: &str) -> Cluster {
        Cluster::with_token(more, None)
    }

    /// A coordinator alone. With a token, all nodes and clients of the cluster use it.
    pub(crate) fn with_token(more: &str, token: Option<&str>) -> Cluster {
        Cluster::with_descriptors(more, token, None)
    }

    /// A coordinator alone. Each node of the cluster may open `descriptors` file descriptors.
    pub(crate) fn with_descriptors(
        more: &str,
        token: Option<&str>,
        descriptors: Option<u32>,
    ) -> Cluster {
        let dir = TempDir::new().unwrap();
        let common = token.map_or(String::new(), |token| {
            let path = dir.path().join("token");
            std::fs::write(&path, format!("{token}\n")).unwrap();
            format!("--token-file {}", path.display())
        });
        Cluster::launch(dir, "http", "127.0.0.1", common, more, descriptors)
    }

    /// A coordinator alone on an address, in a folder, with a URL of this scheme and with arguments
    /// of all nodes and clients.
    pub(crate) fn in_folder(
        dir: TempDir,
        scheme: &'static str,
        address: &str,
        common: String,
        more: &str,
    ) -> Cluster {
        Cluster::launch(dir, scheme, address, common, more, None)
    }

    fn launch(
        dir: TempDir,
        scheme: &'static str,
        address: &str,
        common: String,
        more: &str,
        descriptors: Option<u32>,
    ) -> Cluster {
        let (grpc, http) = (free_port(), free_port());
        let mut cluster =
            Cluster { dir, nodes: BTreeMap::new(), grpc, http, scheme, common, descriptors };
        let line = cluster.coordinator_line(address, (grpc, http), more);
        cluster.add(COORDINATOR, &line, COORDINATOR_READY);
        cluster
    }

    /// Arguments of a coordinator with two ports.
    pub(crate) fn coordinator_line(
        &self,
        address: &str,
        (grpc, http): (u16, u16),
        more: &str,
    ) -> String {
        // Several workers take part even though the layers are narrow.
        let defaults =
            [("--lease", "1s"), ("--narrow", "2000"), ("--checkpoint-interval", "200ms")];
        let defaults = defaults.iter().filter(|(flag, _)| !more.contains(flag));
        let defaults: String = defaults.map(|(flag, value)| format!(" {flag} {value}")).collect();
        let data = if more.contains("--data-dir") {
            String::new()
        } else {
            format!("--data-dir {}", self.data(COORDINATOR).display())
        };
        format!(
            "coordinator --listen {address}:{grpc} --http 127.0.0.1:{http} {data} {defaults} {} {more}",
            self.common,
        )
    }

    /// A coordinator and workers `w1`, `w2` and so on.
    pub(crate) fn of(workers: usize) -> Cluster {
        let mut cluster = Cluster::empty("");
        (1..=workers).for_each(|number| cluster.join(&format!("w{number}"), ""));
        cluster
    }

    /// One more worker, with these arguments in addition.
    pub(crate) fn join(&mut self, name: &str, more: &str) {
        let line = self.worker_line(name, more);
        let mark = self.mark(COORDINATOR);
        self.add(name, &line, WORKER_READY);
        self.await_log(COORDINATOR, mark, &format!("worker connected worker=\"{name}\""));
    }

    /// Arguments of a worker.
    pub(crate) fn worker_line(&self, name: &str, more: &str) -> String {
        let coordinator = if more.contains("--coordinator") { String::new() } else { self.at() };
        let port = if more.contains("--listen") {
            String::new()
        } else {
            format!("--listen 127.0.0.1:{}", free_port())
        };
        let data = if more.contains("--data-dir") {
            String::new()
        } else {
            format!("--data-dir {}", self.data(name).display())
        };
        let memory = if more.contains("--memory") { "" } else { "--memory 96MiB" };
        format!(
            "worker {coordinator} {port} {data} --name {name} --threads 1 {memory} {} {more}",
            self.common,
        )
    }

    /// One more node, started.
    pub(crate) fn add(&mut self, name: &str, line: &str, ready: &'static str) {
        let words = line.split_whitespace().map(str::to_owned).collect();
        let log = self.dir.path().join(format!("{name}.log"));
        let node = Node { words, log, child: None, ready };
        self.nodes.insert(name.to_owned(), node);
        self.start(name);
    }

    fn at(&self) -> String {
        format!("--coordinator {}", self.url())
    }

    /// The coordinator's URL.
    pub(crate) fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.grpc)
    }

    /// The folder of everything in this cluster.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A node's data directory.
    pub(crate) fn data(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn node(&self, name: &str) -> &Node {
        self.nodes.get(name).expect("there is such a node")
    }

    fn node_mut(&mut self, name: &str) -> &mut Node {
        self.nodes.get_mut(name).expect("there is such a node")
    }

    /// Starts a node, for the first time or again, with its data directory.
    pub(crate) fn start(&mut self, name: &str) {
        let mark = self.spawn(name);
        self.await_log(name, mark, self.node(name).ready);
    }

    /// Starts a node that may refuse to run. Returns how it ended if it did.
    pub(crate) fn try_start(&mut self, name: &str) -> Option<ExitStatus> {
        let mark = self.spawn(name);
        let mut ended = None;
        eventually(&format!("{name} is ready or ends"), || {
            ended = self.node_mut(name).take_ended();
            ended.is_some() || self.log(name)[mark..].contains(self.node(name).ready)
        });
        ended
    }

    /// Starts a node, and returns the length of its log before.
    fn spawn(&mut self, name: &str) -> usize {
        let descriptors = self.descriptors;
        let node = self.node_mut(name);
        let mark = node.text().len();
        let log = File::options().create(true).append(true).open(&node.log).unwrap();
        let mut command = strata("");
        if let Some(descriptors) = descriptors {
            let program = command.get_program().to_owned();
            command = Command::new("sh");
            command.arg("-c").arg(format!("ulimit -n {descriptors}; exec \"$0\" \"$@\""));
            command.arg(program);
        }
        command.args(&node.words).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        node.child = Some(command.spawn().unwrap());
        mark
    }

    /// Keeps the folder of the cluster after the test, and returns its path.
    pub(crate) fn keep(&mut self) -> PathBuf {
        self.dir.disable_cleanup(true);
        self.dir.path().to_owned()
    }

    /// Starts all nodes that do not run.
    pub(crate) fn start_all(&mut self) {
        let down = self.nodes.iter().filter(|(_, node)| node.child.is_none());
        let down: Vec<String> = down.map(|(name, _)| name.clone()).collect();
        down.iter().for_each(|name| self.start(name));
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self, name: &str) {
        let mut child = self.node_mut(name).child.take().expect("the node runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// `kill -9` to all.
    pub(crate) fn kill_all(&mut self) {
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        for name in names {
            if self.node(&name).child.is_some() {
                self.kill(&name);
            }
        }
    }

    /// A node that has ended by itself since the last call.
    pub(crate) fn take_ended(&mut self) -> Option<(String, ExitStatus)> {
        let mut nodes = self.nodes.iter_mut();
        nodes.find_map(|(name, node)| Some((name.clone(), node.take_ended()?)))
    }

    /// Whether a node runs, or is paused.
    pub(crate) fn is_running(&self, name: &str) -> bool {
        self.node(name).child.is_some()
    }

    /// Kills a node that is not to be started again.
    pub(crate) fn remove(&mut self, name: &str) {
        self.kill(name);
        self.nodes.remove(name);
    }

    /// The process of a node.
    pub(crate) fn pid(&self, name: &str) -> Pid {
        Pid::from_child(self.node(name).child())
    }

    pub(crate) fn signal(&self, name: &str, signal: Signal) {
        kill_process(self.pid(name), signal).unwrap();
    }

    /// Waits for the end of a node.
    pub(crate) fn ended(&mut self, name: &str) -> ExitStatus {
        let mut child = self.node_mut(name).child.take().expect("the node runs");
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            if begun.elapsed() > WAIT_TIMEOUT {
                let _ = child.kill();
                panic!("{name} does not end");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Everything a node has logged.
    pub(crate) fn log(&self, name: &str) -> String {
        self.node(name).text()
    }

    /// The current length of a node's log.
    pub(crate) fn mark(&self, name: &str) -> usize {
        self.log(name).len()
    }

    /// Waits until a node's log contains a text after a mark.
    pub(crate) fn await_log(&self, name: &str, mark: usize, text: &str) {
        eventually(&format!("{name} logs {text:?}"), || self.log(name)[mark..].contains(text));
    }

    /// Asserts that no process panicked, in whichever log.
    pub(crate) fn assert_no_panic(&self) {
        for (name, node) in &self.nodes {
            let text = node.text();
            assert!(!text.contains("panicked"), "{name}: {text}");
        }
    }

    /// A client command.
    pub(crate) fn client(&self, line: &str) -> Command {
        // Most tests are about how several workers share the explicit engine.
        let explicit = line.contains("submit ") && !line.contains("--engine");
        let engine = if explicit { "--engine explicit" } else { "" };
        strata(&format!("{line} {engine} {} {}", self.at(), self.common))
    }

    /// A client command that follows a job.
    pub(crate) fn follow(&self, line: &str) -> Follower {
        Follower::start(&mut self.client(&format!("--json --progress none {line}")))
    }

    /// A job as `status` prints it.
    pub(crate) fn status(&self, job: &str) -> serde_json::Value {
        let command = &mut self.client(&format!("--json status {job}"));
        crate::common::expect(0, command).event("job_status")
    }

    /// Submits a job with `--detach`, and returns its id.
    pub(crate) fn submit(&self, line: &str) -> String {
        let command = &mut self.client(&format!("submit {line} --detach"));
        crate::common::expect(0, command).stdout.trim().to_owned()
    }

    /// A GET request to the coordinator's HTTP port: status and body.
    pub(crate) fn get(&self, path: &str, headers: &str) -> (u16, String) {
        let text = self.page(path, headers);
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).expect("a status line").parse().unwrap();
        (status, body.to_owned())
    }

    /// Response of the coordinator's HTTP server, headers included.
    pub(crate) fn page(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.http)).unwrap();
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in self.nodes.values_mut() {
            if let Some(child) = &mut node.child {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
        if std::thread::panicking() {
            for (name, node) in &self.nodes {
                let text = node.text();
                let lines: Vec<&str> = text.lines().collect();
                let tail = &lines[lines.len().saturating_sub(TAIL)..];
                eprintln!("--- {name}: {}\n{}", node.words.join(" "), tail.join("\n"));
            }
        }
    }
}

/// Expects a command to fail with a code, and a reason in its last line.
pub(crate) fn fails(code: i32, command: &mut Command, reason: &str) -> Finished {
    let ran = crate::common::expect(code, command);
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("error: ") && last.contains(reason), "{reason}: {}", ran.stderr);
    ran
}
