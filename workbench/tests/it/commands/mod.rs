//! The program: its commands as processes.

mod panex;
mod proof;
mod tiles;
mod usage;

use std::process::{Command, Output};

use serde_json::Value;

/// The program, without the `STRATA_*` variables of the environment. A line has the words after `strata`.
fn strata(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata-panex"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("STRATA_") {
            command.env_remove(name);
        }
    }
    command.args(line.split_whitespace());
    command
}

/// Exit code and output of a finished process.
struct Finished {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Finished {
    fn of(output: Output) -> Finished {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Finished { code: output.status.code(), stdout, stderr }
    }

    /// The JSON events of one kind.
    fn events(&self, kind: &str) -> Vec<Value> {
        let lines = self.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.filter(|event: &Value| event["event"] == kind).collect()
    }

    /// The one event of a kind.
    fn event(&self, kind: &str) -> Value {
        let events = self.events(kind);
        assert_eq!(events.len(), 1, "{kind}: {}{}", self.stdout, self.stderr);
        events[0].clone()
    }
}

/// Runs and expects an exit code.
fn expect(code: i32, command: &mut Command) -> Finished {
    let ran = Finished::of(command.output().expect("the program starts"));
    assert_eq!(ran.code, Some(code), "{command:?}\n{}\n{}", ran.stdout, ran.stderr);
    ran
}

/// Runs and expects a refusal: one line with the reason, and nothing on standard output.
fn refused(command: &mut Command, reason: &str) {
    let ran = expect(2, command);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(ran.stderr.contains(reason), "{reason}: {}", ran.stderr);
}
