//! Exit codes of the commands that read jobs: `verify`, `stats`, `layer` and `path`.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;

use std::fs;
use std::path::Path;

use common::{Finished, expect, only_job, refused, solve, strata, verify};
use tempfile::tempdir;

fn stats(dir: &Path) -> std::process::Command {
    let mut command = strata("stats");
    command.arg(dir);
    command
}

fn layer(dir: &Path, depth: u32) -> std::process::Command {
    let mut command = strata("layer");
    command.arg(dir).arg(depth.to_string());
    command
}

/// The commands that read a job in a folder.
fn readers(dir: &Path) -> [std::process::Command; 3] {
    [verify(dir), stats(dir), layer(dir, 0)]
}

fn is_one_line(ran: &Finished) {
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_job_that_is_there_is_read() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 4 --keep-layers all"));
    for mut command in readers(dir.path()) {
        expect(0, &mut command);
    }
    for flags in ["--list", "--sample 2"] {
        expect(0, layer(dir.path(), 3).args(flags.split_whitespace()));
    }
    // A stopped job is read, too.
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), "hanoi 4 --max-layers 3 --keep-layers all"));
    for mut command in readers(dir.path()) {
        expect(0, &mut command);
    }
}

#[test]
fn a_folder_without_a_job_is_no_such_job() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "no job").unwrap();
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for place in [dir.path().join("missing"), empty, file.clone(), file.join("below")] {
        for mut command in readers(&place) {
            is_one_line(&expect(11, &mut command));
        }
    }
}

#[test]
fn a_data_directory_with_several_jobs_is_refused() {
    let dir = tempdir().unwrap();
    for line in ["hanoi 2", "hanoi 3"] {
        expect(0, &mut solve(dir.path(), line));
    }
    for mut command in readers(dir.path()) {
        refused(&mut command, "holds several jobs");
    }
}

#[test]
fn a_layer_that_is_not_there_is_refused() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 4"));
    refused(&mut layer(dir.path(), 3), "keep");
    refused(&mut layer(dir.path(), 99), "99");
    refused(layer(dir.path(), 15).arg("--sample=0"), "--sample");
    refused(layer(dir.path(), 15).args(["--list", "--sample=1"]), "--sample");
}

#[test]
fn damage_is_corrupt_data() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 4 --keep-layers all"));
    let job = only_job(dir.path());
    let file = |prefix: &str| {
        let files = fs::read_dir(&job).unwrap().map(|file| file.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let mut files: Vec<_> = files.filter(|path| name(path).starts_with(prefix)).collect();
        files.sort();
        files.remove(0)
    };
    let damaged = |path: &Path, commands: Vec<std::process::Command>| {
        let intact = fs::read(path).unwrap();
        let mut bytes = intact.clone();
        bytes[intact.len() / 2] ^= 1;
        fs::write(path, bytes).unwrap();
        for mut command in commands {
            let ran = expect(12, &mut command);
            is_one_line(&ran);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(ran.stderr.contains(name), "{name}: {}", ran.stderr);
        }
        fs::write(path, intact).unwrap();
    };
    damaged(&file("manifest"), readers(&job).into());
    damaged(&file("history"), readers(&job).into());
    let of_layer = vec![verify(&job), {
        let mut command = layer(&job, 0);
        command.arg("--list");
        command
    }];
    damaged(&file("layer-"), of_layer);
    for mut command in readers(&job) {
        expect(0, &mut command);
    }
}

#[test]
fn a_coordinator_that_does_not_answer_is_unreachable() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for line in ["path job", "stats job"] {
        let ran = expect(10, strata(line).args(["--coordinator", &url]));
        is_one_line(&ran);
    }
    // What is wrong with the command line is found before the coordinator is asked.
    let moves = tempdir().unwrap().path().join("missing/moves");
    let command = &mut strata("path job --coordinator");
    refused(command.arg(&url).arg("--path-file").arg(moves), "--path-file");
    refused(&mut strata("path"), "JOB");
    refused(&mut strata("stats"), "JOB");
    refused(&mut strata("verify"), "DIR");
    refused(&mut strata("layer ."), "DEPTH");
}
