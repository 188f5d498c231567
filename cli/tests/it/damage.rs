//! Damage to every kind of file, in a finished and in a stopped job. Each case ends with exit code
//! 12 and the name of the file, never with a wrong number.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{expect, only_job, solve, verify};
use tempfile::{TempDir, tempdir};

/// An intact job folder. Each test damages a fresh copy of it.
struct IntactJob {
    line: &'static str,
    origin: TempDir,
    scratch: TempDir,
}

impl IntactJob {
    fn new(line: &'static str, limit: &str, code: i32) -> IntactJob {
        let (origin, scratch) = (tempdir().unwrap(), tempdir().unwrap());
        expect(code, &mut solve(origin.path(), &format!("{line} {limit}")));
        IntactJob { line, origin, scratch }
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(only_job(self.origin.path())).unwrap();
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The folder in an intact copy of the job.
    fn copy(&self) -> PathBuf {
        let job = only_job(self.origin.path());
        let copy = self.scratch.path().join(job.file_name().unwrap());
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir_all(&copy).unwrap();
        for file in self.files() {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
        copy
    }

    /// Damages a copy and expects both commands to name one of the files.
    fn expect_corrupt(&self, what: &str, names: &[&str], damage: impl Fn(&Path)) {
        let resume = &mut solve(self.scratch.path(), &format!("{} --resume", self.line));
        let copy = self.copy();
        damage(&copy);
        // `verify` gets the job's folder itself: a job without a manifest is not found in a data
        // directory.
        let verify = &mut verify(&copy);
        for command in [verify, resume] {
            let ran = expect(12, command);
            assert_eq!(ran.events_or_none("result"), 0, "{what}");
            let named = names.iter().any(|name| ran.stderr.contains(name));
            assert!(named, "{what} of {names:?}: {}", ran.stderr);
            let explained =
                ran.stderr.contains("expected") || ran.stderr.contains("does not exist");
            assert!(explained, "{what}: {}", ran.stderr);
        }
    }
}

impl common::Finished {
    fn events_or_none(&self, kind: &str) -> usize {
        let mark = format!("\"event\":\"{kind}\"");
        self.stdout.lines().filter(|line| line.contains(&mark)).count()
    }
}

fn flip(path: &Path, offset: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[offset] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn damage_every_file(intact: &IntactJob) {
    let files = intact.files();
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let length = fs::metadata(file).unwrap().len() as usize;
        for step in 0..4 {
            let offset = (length - 1) * step / 3;
            intact.expect_corrupt(&format!("flip at {offset}"), &[name], |copy| {
                flip(&copy.join(name), offset);
            });
        }
        for left in [0, length / 2, length - 1] {
            intact.expect_corrupt(&format!("cut to {left}"), &[name], |copy| {
                let file = fs::File::options().write(true).open(copy.join(name)).unwrap();
                file.set_len(left as u64).unwrap();
            });
        }
        intact.expect_corrupt("removal", &[name], |copy| {
            fs::remove_file(copy.join(name)).unwrap();
        });
    }
    for pair in files.windows(2) {
        let names = [&pair[0], &pair[1]].map(|f| f.file_name().unwrap().to_str().unwrap());
        intact.expect_corrupt("swap", &names, |copy| {
            let [a, b] = names.map(|name| copy.join(name));
            fs::rename(&a, copy.join("c")).unwrap();
            fs::rename(&b, &a).unwrap();
            fs::rename(copy.join("c"), &b).unwrap();
        });
    }
}

#[test]
fn damage_to_a_finished_job_is_detected() {
    damage_every_file(&IntactJob::new("panex 4", "--keep-layers every:30", 0));
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn damage_to_a_stopped_job_is_detected() {
    let limit = "--keep-layers every:50 --max-layers 120 --workers 2";
    damage_every_file(&IntactJob::new("panex 5", limit, 4));
}

#[test]
fn a_stale_file_is_detected_and_an_older_folder_is_valid() {
    let intact = IntactJob::new("panex 5", "--max-layers 60", 4);
    let old = intact.copy();
    let kept = tempdir().unwrap();
    let kept = kept.path().join(old.file_name().unwrap());
    fs::rename(&old, &kept).unwrap();
    let folder = only_job(intact.origin.path());
    expect(4, &mut solve(intact.origin.path(), "panex 5 --max-layers 61 --resume"));
    // Files of the older checkpoint in place of those of the newer one.
    for name in ["manifest.json", "history.jsonl", "layer-000060-000.strata"] {
        let stale = kept.join(name);
        if name.starts_with("layer") {
            // The same layer has the same file in both.
            assert_eq!(fs::read(&stale).unwrap(), fs::read(folder.join(name)).unwrap());
            continue;
        }
        intact.expect_corrupt("a stale file", &[name, "layer-000059-000"], |copy| {
            fs::copy(&stale, copy.join(name)).unwrap();
        });
    }
    // The whole older folder is a valid job.
    let data = kept.parent().unwrap();
    expect(0, &mut verify(&kept));
    expect(0, &mut solve(data, "panex 5 --resume"));
}

#[test]
fn files_that_no_manifest_names_are_removed() {
    let intact = IntactJob::new("panex 4", "--max-layers 40", 4);
    let folder = only_job(intact.origin.path());
    // First for the stopped job, then for the finished one.
    for _ in 0..2 {
        for name in ["layer-000041-000.strata", "layer-000.123-4.tmp", "run-000-000001.tmp"] {
            fs::write(folder.join(name), "torn").unwrap();
        }
        expect(0, &mut verify(&folder));
        let ran = expect(0, &mut solve(intact.origin.path(), "panex 4 --resume"));
        assert_eq!(ran.event("result")["moves"], 128);
        let named = intact.files();
        assert_eq!(named.len(), 4, "{named:?}");
    }
}
