//! Command line of the process: usage errors, variables, closed pipes.

use std::io::Read;
use std::process::Stdio;

use crate::common::{expect, refused, strata};

#[test]
fn invalid_input_is_one_line_and_exit_2() {
    refused(&mut strata("slove"), "unrecognized subcommand 'slove'");
    refused(&mut strata("solve"), "<DOMAIN>");
    refused(&mut strata("solve panex 3 --memory 64XB"), "unknown unit");
    refused(&mut strata("solve panex 3 --memory -5"), "negative");
    refused(&mut strata("solve panex 3 --threads 0"), "--threads");
    refused(&mut strata("completions tclsh"), "tclsh");
    for (line, help) in [
        ("slove", "see 'strata --help'"),
        ("--bogus", "see 'strata --help'"),
        ("plot --bogus", "see 'strata plot --help'"),
        ("--quiet puzzle info --bogus", "see 'strata puzzle info --help'"),
    ] {
        refused(&mut strata(line), help);
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
        refused(command.env(name, value), name);
    }
}

#[test]
fn a_flag_overrides_its_variable() {
    let mut command = strata("completions bash --progress none");
    let ran = expect(0, command.env("STRATA_PROGRESS", "rainbow"));
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("STRATA_COMPLETE=\"bash\""), "{}", ran.stdout);
}

#[test]
fn help_lists_the_exit_codes() {
    for line in ["--help", "-h", "solve --help"] {
        let ran = expect(0, &mut strata(line));
        assert_eq!(ran.stderr, "");
        assert!(ran.stdout.contains("130  interrupted"), "{line}");
    }
}

#[test]
fn no_command_is_a_usage_error() {
    let ran = expect(2, &mut strata(""));
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("Usage: strata"), "{}", ran.stderr);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
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
