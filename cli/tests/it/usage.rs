//! Command line of the process: usage errors, variables, closed pipes.

use std::io::Read;
use std::process::{Command, Output, Stdio};

/// The program, without the `STRATA_*` variables of the environment.
fn strata(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("STRATA_") {
            command.env_remove(name);
        }
    }
    command.args(line.split_whitespace());
    command
}

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("strata starts");
    let text = |bytes| String::from_utf8(bytes).expect("strata prints UTF-8");
    (status.code(), text(stdout), text(stderr))
}

fn assert_refused(command: &mut Command, reason: &str) {
    let (code, stdout, stderr) = run(command);
    assert_eq!(code, Some(2), "{command:?}: {stderr}");
    assert_eq!(stdout, "");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    assert!(stderr.contains(reason), "{stderr}");
}

#[test]
fn invalid_input_is_one_line_and_exit_2() {
    assert_refused(&mut strata("slove"), "unrecognized subcommand 'slove'");
    assert_refused(&mut strata("solve"), "<DOMAIN>");
    assert_refused(&mut strata("solve panex 3 --memory 64XB"), "unknown unit");
    assert_refused(&mut strata("solve panex 3 --memory -5"), "negative");
    assert_refused(&mut strata("solve panex 3 --threads 0"), "--threads");
    assert_refused(&mut strata("completions tclsh"), "tclsh");
    for (line, help) in [
        ("slove", "see 'strata --help'"),
        ("--bogus", "see 'strata --help'"),
        ("plot --bogus", "see 'strata plot --help'"),
        ("--quiet panex bound --bogus", "see 'strata panex bound --help'"),
    ] {
        assert_refused(&mut strata(line), help);
    }
}

#[test]
fn invalid_variables_are_named() {
    for (name, value) in [
        ("STRATA_THREADS", "zero"),
        ("STRATA_MEMORY", "much"),
        ("STRATA_KEEP_LAYERS", "some"),
        ("STRATA_RESUME", "perhaps"),
        ("STRATA_CENTRE_TOP", "maybe"),
        ("STRATA_LOG_FORMAT", "xml"),
    ] {
        let mut command = strata("solve panex 3");
        assert_refused(command.env(name, value), name);
    }
}

#[test]
fn a_flag_overrides_its_variable() {
    let mut command = strata("completions bash --progress none");
    let (code, script, stderr) = run(command.env("STRATA_PROGRESS", "rainbow"));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(script.contains("STRATA_COMPLETE=\"bash\""), "{script}");
}

#[test]
fn help_lists_the_exit_codes() {
    for line in ["--help", "-h", "solve --help"] {
        let (code, stdout, stderr) = run(&mut strata(line));
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        assert!(stdout.contains("130  interrupted"), "{line}");
    }
}

#[test]
fn no_command_is_a_usage_error() {
    let (code, stdout, stderr) = run(&mut strata(""));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("Usage: strata"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut command = strata("completions bash");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = strata("completions bash");
    let child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.starts_with("error: cannot write to standard output"), "{stderr}");
}
