//! `strata path` in a process of its own, for the web page of a coordinator.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use strata_run::CancelToken;
use strata_store::{Fs, RealFs, create_private};

use crate::program;

/// Time after which a process is killed. Browsers do not wait for more than five minutes.
pub(crate) const LIMIT: Duration = Duration::from_secs(4 * 60);

/// Time between two looks at a process.
const POLL: Duration = Duration::from_millis(20);

/// `strata path` in a process of its own, which takes neither memory nor threads of the coordinator.
///
/// The process is killed after a time, and when the coordinator ends. If the coordinator is killed
/// itself, the process sees the end of its standard input, and ends.
#[derive(Debug)]
pub(crate) struct PathCommand {
    pub(crate) program: PathBuf,
    /// The command and its flags, to which the job is added.
    pub(crate) words: Vec<OsString>,
    /// Folder for the output, and for what does not fit the memory. It is removed before and after. The
    /// folder above exists.
    pub(crate) folder: PathBuf,
    /// Time after which the process is killed.
    pub(crate) limit: Duration,
    /// Cancelled when the coordinator ends.
    pub(crate) stop: CancelToken,
}

/// The moves of a job and the positions before each and after the last one, if there are any.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) moves: Vec<String>,
    pub(crate) positions: Vec<String>,
}

/// Output of a process.
struct Output {
    status: ExitStatus,
    text: String,
    errors: String,
}

impl PathCommand {
    /// A shortest solution of a job, checked by a replay.
    ///
    /// # Errors
    /// With the reason, for people.
    pub(crate) fn find(&self, job: &str) -> Result<Found, String> {
        let output = self.output(job)?;
        if !output.status.success() {
            let reason = output.errors.lines().last().unwrap_or("it ended without a reason");
            return Err(reason.strip_prefix("error: ").unwrap_or(reason).to_owned());
        }
        let lines = output.text.lines();
        let mut events = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let path = events.rfind(|event| event["event"] == "path");
        let path = path.ok_or("strata path has printed no moves")?;
        let texts = |name: &str| -> Option<Vec<String>> {
            let texts = path[name].as_array()?.iter();
            texts.map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let moves = texts("moves").ok_or("strata path has printed no moves")?;
        Ok(Found { moves, positions: texts("positions").unwrap_or_default() })
    }

    /// Runs the process with its files in the folder.
    fn output(&self, job: &str) -> Result<Output, String> {
        let failed = |error: io::Error| {
            format!("strata path cannot use the folder {}: {error}", self.folder.display())
        };
        remove(&self.folder).and_then(|()| RealFs.create_dir(&self.folder)).map_err(failed)?;
        let output = self.output_in_folder(job, failed);
        remove(&self.folder).map_err(failed)?;
        output
    }

    fn output_in_folder(
        &self,
        job: &str,
        failed: impl Fn(io::Error) -> String + Copy,
    ) -> Result<Output, String> {
        let [text, errors] = ["output", "errors"].map(|name| self.folder.join(name));
        let mut child = Command::new(&self.program)
            .args(&self.words)
            .env("STRATA_DATA_DIR", &self.folder)
            .env_remove("STRATA_PATH_FILE")
            .arg("--")
            .arg(job)
            .stdin(Stdio::piped())
            .stdout(create_private(&text).map_err(failed)?)
            .stderr(create_private(&errors).map_err(failed)?)
            .spawn()
            .map_err(|error| format!("strata path cannot start: {error}"))?;
        let status = self.wait(&mut child, job);
        if status.is_err() {
            // It fails if the process has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
        let status = status?;
        let read = |file: &Path| fs::read(file).map_err(failed);
        let [text, errors] = [read(&text)?, read(&errors)?]
            .map(|content| String::from_utf8_lossy(&content).into_owned());
        Ok(Output { status, text, errors })
    }

    /// Waits for the end of the process, whose standard input stays open.
    fn wait(&self, child: &mut Child, job: &str) -> Result<ExitStatus, String> {
        let begun = Instant::now();
        // `Child::wait` would close it.
        let _open = child.stdin.take();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(error) => return Err(format!("strata path cannot be waited for: {error}")),
            }
            if self.stop.is_cancelled() {
                return Err("The coordinator is ending.".to_owned());
            }
            if begun.elapsed() > self.limit {
                let (limit, name) = (humantime::format_duration(self.limit), program::name());
                return Err(format!(
                    "The moves were not found within {limit}. The command {name} path {job} has no \
                     time limit."
                ));
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Removes a folder of searches, if there is one.
///
/// # Errors
/// The operating system's error.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell in place of the program, with a folder that holds a file of an earlier run.
    fn shell(script: &str) -> (tempfile::TempDir, PathCommand) {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("path");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("left over"), "").unwrap();
        let words = ["-c", script].map(OsString::from).to_vec();
        let (limit, stop) = (LIMIT, CancelToken::new());
        (parent, PathCommand { program: "/bin/sh".into(), words, folder, limit, stop })
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn moves_and_positions_are_those_of_the_command_and_its_error_is_the_reason() {
        let run = |script: &str| shell(script).1.find("panex-3-x");
        let found =
            run("echo '{\"event\":\"path\",\"moves\":[\"a\"],\"positions\":[\"0\",\"1\"]}'");
        assert_eq!(found, Ok(Found { moves: texts(&["a"]), positions: texts(&["0", "1"]) }));
        let found = run("echo '{\"event\":\"path\",\"moves\":[\"a\"],\"positions\":null}'");
        assert_eq!(found, Ok(Found { moves: texts(&["a"]), positions: Vec::new() }));
        let refused = run("echo 'error: it has kept layers: last' >&2; exit 2");
        assert_eq!(refused, Err("it has kept layers: last".to_owned()));
        assert!(run("echo nothing").unwrap_err().contains("no moves"));
    }

    #[test]
    fn files_of_a_run_and_of_those_before_are_removed() {
        let (_parent, command) = shell("ls \"$STRATA_DATA_DIR\" >&2; exit 1");
        assert_eq!(command.find("x"), Err("output".to_owned()));
        assert!(!command.folder.exists());
    }

    #[test]
    fn files_of_a_run_are_for_the_owner_only() {
        let (_parent, command) =
            shell("stat -c %a \"$STRATA_DATA_DIR\"/* \"$STRATA_DATA_DIR\" >&2; exit 1");
        let output = command.output("x").unwrap();
        assert_eq!(output.errors, "600\n600\n700\n");
    }

    #[test]
    fn a_process_ends_after_the_limit_and_with_the_coordinator() {
        let (_parent, mut command) = shell("exec sleep 100");
        command.limit = Duration::from_millis(200);
        let begun = Instant::now();
        let error = command.find("panex-3-x").unwrap_err();
        let expected = "The moves were not found within 200ms. The command strata path panex-3-x has \
                        no time limit.";
        assert_eq!(error, expected);
        command.limit = LIMIT;
        command.stop.cancel();
        assert_eq!(command.find("x"), Err("The coordinator is ending.".to_owned()));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn standard_input_of_the_process_stays_open() {
        let (_parent, command) = shell("timeout 0.3 cat; test $? -eq 124");
        assert!(command.find("x").unwrap_err().contains("no moves"));
    }
}
