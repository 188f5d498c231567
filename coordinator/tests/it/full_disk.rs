//! Tests of the journal on a file system that is full for a while.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use strata_coordinator::{JobEntry, JobOptions, Journal, JournalError};
use strata_store::{EngineKind, JobSpec, LayerRecord, Weight};

/// A file system of 32 MiB. Dropping it removes it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts the file system; `None` where mounting is not allowed.
    fn mount(folder: &Path) -> Option<SmallDisk> {
        std::fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=32m", "tmpfs"]).arg(folder);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then(|| SmallDisk(folder.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn submit(journal: &Journal) -> Result<JobEntry, JournalError> {
    let spec = JobSpec {
        space: "hanoi".to_owned(),
        params: Default::default(),
        shards: 1,
        engine: EngineKind::Explicit,
    };
    Ok(journal.submit("hanoi", None, spec, JobOptions::default(), 0, None)?.0)
}

/// Fills a file system with one file.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    while file.write_all(&[1; 512]).is_ok() {}
}

/// The layers of a checkpoint that takes about 3 MB.
fn lines(from: u32) -> Vec<LayerRecord> {
    let line = |depth| LayerRecord {
        depth,
        states: 10,
        positions: 10,
        generated: 30,
        regions: 5,
        bytes: 100,
        digest: Weight([7, 8]),
        seconds: 1.0,
        ..LayerRecord::default()
    };
    (from..from + 20_000).map(line).collect()
}

#[test]
fn a_journal_can_be_read_on_a_full_disk_and_written_when_there_is_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("small")) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    let path = disk.0.join("journal.redb");
    let journal = Journal::open(&path).unwrap();
    let job = submit(&journal).unwrap().id;
    let ballast = disk.0.join("ballast");
    for round in 0..2 {
        let before = journal.layers(&job).unwrap();
        let new = lines(before.len() as u32);
        fill(&ballast);
        // Each error is that of the disk, at once and after further attempts.
        for _ in 0..2 {
            let error = journal.checkpoint(&job, &new, |_| ()).unwrap_err();
            assert!(error.is_disk_full(), "round {round}: {error}");
            assert_eq!(journal.find(&job).unwrap().progress.is_some(), round > 0);
            std::thread::sleep(Duration::from_millis(600));
        }
        assert!(journal.layers(&job).unwrap() == before);
        std::fs::remove_file(&ballast).unwrap();
        std::thread::sleep(Duration::from_millis(1100));
        journal.checkpoint(&job, &new, |_| ()).unwrap();
        assert!(journal.layers(&job).unwrap() == [before, new].concat());
        submit(&journal).unwrap();
    }
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    assert_eq!((journal.jobs().unwrap().len(), journal.layers(&job).unwrap().len()), (3, 40_000));
}
