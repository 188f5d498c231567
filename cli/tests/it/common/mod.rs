//! Helpers of the process tests: running the program, reading its events.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program, without the `STRATA_*` variables of the environment.
pub(crate) fn strata(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("STRATA_") {
            command.env_remove(name);
        }
    }
    command.args(line.split_whitespace());
    command
}

/// `strata solve` in a data directory, with JSON output and no progress.
pub(crate) fn solve(dir: &Path, line: &str) -> Command {
    let threads = if line.contains("--threads") { "" } else { "--threads 1" };
    // Most tests check how the explicit engine uses files, threads and memory.
    let engine = if line.contains("--engine") { "" } else { "--engine explicit" };
    let mut command = strata(&format!("solve --json --progress none {engine} {threads} {line}"));
    command.arg("--data-dir").arg(dir);
    command
}

/// Exit code and output of a finished process.
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    pub(crate) fn of(output: Output) -> Finished {
        let text = |bytes| String::from_utf8(bytes).expect("strata prints UTF-8");
        Finished {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The JSON events of one kind.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        let lines = self.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.filter(|event: &Value| event["event"] == kind).collect()
    }

    /// The one event of a kind.
    pub(crate) fn event(&self, kind: &str) -> Value {
        let events = self.events(kind);
        assert_eq!(events.len(), 1, "{kind}: {}{}", self.stdout, self.stderr);
        events[0].clone()
    }

    /// Orbits of every layer; none where they are not known.
    pub(crate) fn orbits(&self) -> Vec<Option<u64>> {
        self.events("layer").iter().map(|event| event["orbits"].as_u64()).collect()
    }

    /// Depth, states, moves, digest and positions of every layer, those of earlier sessions included.
    pub(crate) fn layers(&self) -> Vec<(u64, u64, u64, String, u64)> {
        let layer = |event: &Value| {
            (
                event["depth"].as_u64().unwrap(),
                event["states"].as_u64().unwrap(),
                event["generated"].as_u64().unwrap(),
                event["digest"].as_str().unwrap().to_owned(),
                event["positions"].as_u64().unwrap(),
            )
        };
        self.events("layer").iter().map(layer).collect()
    }
}

pub(crate) fn run(command: &mut Command) -> Finished {
    Finished::of(command.output().expect("strata starts"))
}

/// Runs and expects an exit code.
pub(crate) fn expect(code: i32, command: &mut Command) -> Finished {
    let ran = run(command);
    assert_eq!(ran.code, Some(code), "{command:?}\n{}\n{}", ran.stdout, ran.stderr);
    ran
}

/// Runs and expects a refusal: one line with the reason, and nothing on standard output.
pub(crate) fn refused(command: &mut Command, reason: &str) -> String {
    let ran = expect(2, command);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(ran.stderr.contains(reason), "{reason}: {}", ran.stderr);
    ran.stderr
}

/// A puzzle that ships as a file, on a command line.
pub(crate) fn data(name: &str) -> String {
    format!("puzzle {}/../puzzles/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The only job folder in a data directory.
pub(crate) fn only_job(dir: &Path) -> PathBuf {
    let mut jobs: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("manifest.json").exists())
        .collect();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    jobs.remove(0)
}

/// Empties the complete layer files in a job's folder, as another process could. Those that are being
/// written have other names.
pub(crate) fn cut_layers(job: &Path) {
    for entry in std::fs::read_dir(job).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("layer-") && name.ends_with(".strata") {
            // It may be gone.
            if let Ok(file) = std::fs::File::options().write(true).open(entry.path()) {
                file.set_len(0).unwrap();
            }
        }
    }
}

/// `strata verify` of a folder.
pub(crate) fn verify(dir: &Path) -> Command {
    let mut command = strata("verify");
    command.arg(dir);
    command
}

/// A separate file system of a given size, unmounted on drop.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts the file system. None without permission to mount.
    pub(crate) fn mount(folder: &Path, kibibytes: u32) -> Option<SmallDisk> {
        std::fs::create_dir_all(folder).unwrap();
        let size = format!("size={kibibytes}k");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then(|| SmallDisk(folder.to_owned()))
    }

    /// Makes it read-only, as the system does after errors of a disk.
    pub(crate) fn make_read_only(&self) {
        let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status();
        assert!(remounted.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
