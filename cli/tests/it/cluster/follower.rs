//! A client that follows a job in the background, and the layers it prints.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::tempdir;

use crate::cluster::harness::{WAIT_TIMEOUT, eventually};
use crate::common::{Finished, expect, solve};

/// Depth, states, moves, digest and positions of a layer.
pub(crate) type Layer = (u64, u64, u64, String, u64);

/// Layers and result of a search without a cluster.
pub(crate) struct Expected {
    pub(crate) layers: Vec<Layer>,
    pub(crate) result: Value,
}

impl Expected {
    /// Searches in one process.
    pub(crate) fn of(line: &str) -> Expected {
        let dir = tempdir().unwrap();
        let ran = expect(0, &mut solve(dir.path(), line));
        Expected { layers: ran.layers(), result: ran.event("result") }
    }

    /// Asserts that a client printed the first of these layers, and returns their number.
    pub(crate) fn assert_prefix(&self, ran: &Finished) -> usize {
        let layers = table(ran);
        let differs = layers.iter().zip(&self.layers).find(|(found, right)| found != right);
        assert_eq!(differs, None);
        assert!(layers.len() <= self.layers.len());
        layers.len()
    }

    /// Asserts that a client printed these layers and this result.
    pub(crate) fn assert_printed(&self, ran: &Finished) {
        assert_eq!(self.assert_prefix(ran), self.layers.len());
        let result = ran.event("result");
        for field in [
            "moves",
            "layers",
            "states",
            "positions",
            "generated",
            "widest",
            "widest_depth",
            "digest",
        ] {
            assert_eq!(result[field], self.result[field], "{field}");
        }
    }
}

/// The expected layers and result of `panex 6`, which the tests search.
pub(crate) fn expected() -> &'static Expected {
    static EXPECTED: OnceLock<Expected> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let expected = Expected::of("panex 6");
        assert!(expected.layers.len() > 400);
        expected
    })
}

/// A client that follows a job in the background.
pub(crate) struct Follower {
    child: Child,
    seen: Arc<Mutex<String>>,
    output: Option<JoinHandle<()>>,
    errors: Option<JoinHandle<String>>,
}

impl Follower {
    pub(crate) fn start(command: &mut Command) -> Follower {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let seen = Arc::new(Mutex::new(String::new()));
        let writer = Arc::clone(&seen);
        let output = std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let line = line.unwrap();
                writer.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        Follower { child, seen, output: Some(output), errors: Some(errors) }
    }

    /// All lines so far.
    pub(crate) fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    fn so_far(&self) -> Finished {
        Finished { code: None, stdout: self.seen(), stderr: String::new() }
    }

    /// Waits until the job has a layer of this depth or a deeper one.
    pub(crate) fn until_depth(&self, depth: u64) -> u64 {
        let mut deepest = 0;
        eventually(&format!("layer {depth}"), || {
            deepest = table(&self.so_far()).last().map_or(0, |layer| layer.0);
            deepest >= depth
        });
        deepest
    }

    /// The job's id.
    pub(crate) fn job(&self) -> String {
        let mut id = String::new();
        eventually("the job's id", || {
            let events = self.so_far().events("job");
            id = events.first().and_then(|job| job["job"].as_str()).unwrap_or("").to_owned();
            !id.is_empty()
        });
        id
    }

    /// Whether the client has not ended yet.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the client's end.
    pub(crate) fn finish(mut self) -> Finished {
        let begun = Instant::now();
        while self.is_running() {
            assert!(begun.elapsed() < WAIT_TIMEOUT, "the client does not end: {}", self.tail());
            std::thread::sleep(Duration::from_millis(20));
        }
        self.output.take().unwrap().join().unwrap();
        let stderr = self.errors.take().unwrap().join().unwrap();
        Finished { code: self.child.wait().unwrap().code(), stdout: self.seen(), stderr }
    }

    /// The last line so far.
    pub(crate) fn tail(&self) -> String {
        let seen = self.seen();
        seen.lines().last().unwrap_or("nothing seen").to_owned()
    }

    /// Waits for the client's end and expects an exit code.
    pub(crate) fn expect(self, code: i32) -> Finished {
        let ran = self.finish();
        let tail: Vec<&str> = ran.stdout.lines().rev().take(3).collect();
        assert_eq!(ran.code, Some(code), "{}\n{tail:?}", ran.stderr);
        ran
    }

    /// Waits for the client's end and expects the right result, layer by layer.
    pub(crate) fn expect_answer(self) -> Finished {
        let ran = self.expect(0);
        expected().assert_printed(&ran);
        ran
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The layers that a client printed, after rollbacks. A layer that is repeated must be the same.
pub(crate) fn table(ran: &Finished) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut all: Vec<Layer> = Vec::new();
    for line in ran.stdout.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        match event["event"].as_str() {
            Some("rolled_back") => {
                layers.truncate(event["depth"].as_u64().map_or(0, |depth| depth as usize + 1));
            }
            Some("layer") => {
                let one = Finished { code: None, stdout: line.to_owned(), stderr: String::new() };
                let layer = one.layers().remove(0);
                assert_eq!(layer.0, layers.len() as u64, "out of order");
                match all.get(layers.len()) {
                    Some(before) => assert_eq!(*before, layer, "a repeated layer differs"),
                    None => all.push(layer.clone()),
                }
                layers.push(layer);
            }
            _ => {}
        }
    }
    layers
}
