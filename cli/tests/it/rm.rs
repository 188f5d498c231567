//! `strata rm` of folders.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use strata_store::{DataDir, RealFs};

use crate::common::{expect, only_job, refused, solve, strata};

fn rm(folder: &Path) -> Command {
    let mut command = strata("rm --json");
    command.arg(folder);
    command
}

#[test]
fn the_folder_of_a_job_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "panex 3"));
    let first = only_job(dir.path());
    // A damaged job can be removed, too.
    std::fs::write(first.join("manifest.json"), "{").unwrap();
    let mut command = rm(Path::new("."));
    let removed = expect(0, command.current_dir(&first)).event("removed");
    assert_eq!(removed["job"], first.file_name().unwrap().to_str().unwrap());
    assert_eq!(removed["folder"], first.canonicalize().unwrap_or(first.clone()).to_str().unwrap());
    assert!(!first.exists());
    let code = expect(11, &mut rm(&first));
    assert!(code.stderr.contains("No such file"), "{}", code.stderr);

    expect(0, &mut solve(dir.path(), "panex 3"));
    expect(0, &mut solve(dir.path(), "panex 4"));
    let mut jobs: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    jobs.retain(|path| path.is_dir());
    let mut command = strata("rm");
    let ran = expect(0, command.args(&jobs));
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    assert!(jobs.iter().all(|job| !job.exists()));
}

#[test]
fn a_folder_that_is_not_a_job_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "panex 3"));
    let job = only_job(dir.path());
    refused(&mut rm(dir.path()), "it holds jobs, name one of them");
    let file = job.join("manifest.json");
    refused(&mut rm(&file), "is no folder of a job");
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("precious"), "x").unwrap();
    refused(&mut rm(&other), "is no folder of a job");
    let link = dir.path().join("link");
    symlink(&job, &link).unwrap();
    refused(&mut rm(&link), "is a symbolic link");
    refused(&mut rm(&dir.path().join("link/")), "is a symbolic link");
    // Nothing is removed if one of the folders is refused.
    let mut command = rm(&job);
    refused(command.arg(&other), "is no folder of a job");
    assert!(job.join("manifest.json").exists() && other.join("precious").exists());
}

#[test]
fn a_job_in_use_by_another_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "panex 3"));
    let job = only_job(dir.path());
    let lock = DataDir::lock(&RealFs, dir.path()).unwrap();
    refused(&mut rm(&job), "is in use by another process");
    drop(lock);
    // A worker's folder has no manifest.
    std::fs::remove_file(job.join("manifest.json")).unwrap();
    refused(&mut rm(&job), "is no folder of a job");
    std::fs::write(job.join("journal-id"), "0".repeat(32)).unwrap();
    expect(0, &mut rm(&job));
    assert!(!job.exists());
}

#[test]
fn the_remains_of_an_interrupted_removal_are_deleted_at_the_next_search() {
    let dir = tempfile::tempdir().unwrap();
    let remains = dir.path().join(".removed-panex-3-aaaaaa.1-1");
    std::fs::create_dir(&remains).unwrap();
    std::fs::write(remains.join("layer-000003-000.strata"), "x").unwrap();
    expect(0, &mut solve(dir.path(), "panex 3"));
    assert!(!remains.exists());
}
