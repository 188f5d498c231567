//! Tests of job folders: manifests and histories after crashes and failed writes, and detection of
//! damage.

use std::path::Path;
use std::sync::Arc;

use strata_store::{
    Checkpoint, CheckpointFile, Counters, DataDir, EngineKind, FaultyFs, Fs, Hex64, HistoryPrefix,
    JobDir, JobSpec, KeptFile, LayerRecord, Manifest, RealFs, RunState, StoreError, Weight,
};
use strata_store::{check_name, is_temporary};

fn real() -> Arc<dyn Fs> {
    Arc::new(RealFs)
}

fn spec() -> JobSpec {
    JobSpec {
        space: "panex".to_owned(),
        params: [("levels".to_owned(), "6".to_owned())].into(),
        shards: 64,
        engine: EngineKind::Explicit,
    }
}

fn record(file: &str) -> CheckpointFile {
    CheckpointFile {
        depth: 3,
        worker: 0,
        file: file.to_owned(),
        bytes: 1000,
        states: 77,
        positions: 77,
        regions: 5,
        generated: 99,
        digest: Weight([1, 9]),
        seal: Hex64(0xabc),
    }
}

fn checkpoint(file: &str, history: HistoryPrefix) -> Checkpoint {
    Checkpoint { depth: 3, layers: vec![record(file)], history, counters: Counters::default() }
}

fn line(depth: u32) -> LayerRecord {
    LayerRecord {
        depth,
        states: 10 * u64::from(depth),
        positions: 10 * u64::from(depth),
        orbits: None,
        generated: 20,
        regions: 1,
        bytes: 300,
        digest: Weight([u64::from(depth), 2]),
        seconds: f64::from(depth) / 7.0,
        read_bytes: 400,
        written_bytes: 500,
        memo_hits: 9 * u64::from(depth),
        memo_misses: u64::from(depth),
        memo_miss_seconds: f64::from(depth) / 7.0,
        kept: if depth == 2 {
            vec![KeptFile { worker: 1, file: "kept".to_owned(), bytes: 5, seal: Hex64(6) }]
        } else {
            Vec::new()
        },
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn manifests_round_trip() {
    let data = tempfile::tempdir().unwrap();
    let (job, mut manifest) = JobDir::create(real(), data.path(), "panex-6", spec()).unwrap();
    assert_eq!(manifest, job.read_manifest().unwrap());
    manifest.state = RunState::Stopped;
    manifest.seconds = 1.0 / 3.0;
    manifest.checkpoint = Some(checkpoint("layer", HistoryPrefix::default()));
    job.write_manifest(&manifest).unwrap();
    let (reopened, found) = JobDir::open(real(), job.path()).unwrap();
    assert_eq!((found, reopened.job()), (manifest.clone(), "panex-6"));
    let text = std::fs::read_to_string(job.path().join("manifest.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["checksum"].as_str().unwrap().len(), 16);
    assert_eq!(names(job.path()), ["manifest.json"]);
    let again = JobDir::create(real(), data.path(), "panex-6", spec());
    assert!(matches!(again, Err(StoreError::Exists { .. })));
    manifest.job = "other".to_owned();
    assert!(job.write_manifest(&manifest).is_err());
}

#[test]
fn every_damaged_manifest_is_found() {
    let data = tempfile::tempdir().unwrap();
    let (job, mut manifest) = JobDir::create(real(), data.path(), "panex-6", spec()).unwrap();
    manifest.checkpoint = Some(checkpoint("layer", HistoryPrefix::default()));
    job.write_manifest(&manifest).unwrap();
    let path = job.path().join("manifest.json");
    let good = std::fs::read(&path).unwrap();
    let assert_corrupt = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).unwrap();
        match job.read_manifest() {
            Err(StoreError::Corrupt { file, offset, .. }) => {
                assert_eq!(file, path);
                assert!(offset <= bytes.len() as u64);
            }
            other => panic!("{what}: {other:?}"),
        }
    };
    for at in 0..good.len() {
        for flip in [0x01, 0x20, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            assert_corrupt(&bad, &format!("byte {at} ^ {flip:#x}"));
        }
        assert_corrupt(&good[..at], &format!("cut to {at}"));
    }
    let mut long = good.clone();
    long.push(b'\n');
    assert_corrupt(&long, "a byte more");
    let (other, _) = JobDir::create(real(), data.path(), "panex-7", spec()).unwrap();
    let other = std::fs::read(other.path().join("manifest.json")).unwrap();
    assert_corrupt(&other, "another job's manifest");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(job.read_manifest(), Err(StoreError::NotFound { .. })));
}

#[test]
fn names_that_lead_out_of_the_folder_are_refused() {
    let bad = ["", ".", "..", "../x", "a/b", "/etc/passwd", "a\\b", ".hidden", "a\0", "ä", "a b"];
    for name in bad {
        assert!(check_name("file name", name).is_err(), "{name:?}");
    }
    let data = tempfile::tempdir().unwrap();
    let (job, mut manifest) = JobDir::create(real(), data.path(), "panex-6", spec()).unwrap();
    assert!(JobDir::create(real(), data.path(), "../x", spec()).is_err());
    assert!(job.file_path("../manifest.json").is_err());
    manifest.checkpoint = Some(checkpoint("../layer", HistoryPrefix::default()));
    assert!(matches!(job.write_manifest(&manifest), Err(StoreError::Corrupt { .. })));
    let mut history = job.create_history().unwrap();
    let mut escaping = line(2);
    escaping.kept[0].file = "../x".to_owned();
    history.append(&escaping).unwrap();
    let record = history.checkpoint().unwrap();
    assert!(matches!(job.resume_history(&record), Err(StoreError::Corrupt { .. })));
    // Without a checkpoint, reading ends before the malformed line.
    assert_eq!(job.read_history(None).unwrap().lines, []);
}

#[test]
fn a_failed_manifest_leaves_the_old_one() {
    let data = tempfile::tempdir().unwrap();
    let fs = FaultyFs::new();
    let (job, old) = JobDir::create(Arc::new(fs.clone()), data.path(), "panex-6", spec()).unwrap();
    let new = Manifest { state: RunState::Done, ..old.clone() };
    for budget in [0, 1, 100] {
        fs.fill_after(budget);
        assert!(job.write_manifest(&new).unwrap_err().is_disk_full());
        fs.heal();
        assert_eq!(job.read_manifest().unwrap(), old);
        assert_eq!(names(job.path()), ["manifest.json"]);
    }
    let unreadable = Manifest { seconds: f64::NAN, ..old.clone() };
    assert!(job.write_manifest(&unreadable).is_err());
    assert_eq!(job.read_manifest().unwrap(), old);
    for steps in 0..2 {
        fs.fail_after(steps);
        assert!(job.write_manifest(&new).is_err());
        fs.heal();
        fs.crash().unwrap();
        assert_eq!(job.read_manifest().unwrap(), old);
    }
    job.write_manifest(&new).unwrap();
    fs.crash().unwrap();
    assert_eq!(job.read_manifest().unwrap(), new);
}

#[test]
fn a_history_is_resumed_at_its_checkpoint() {
    let data = tempfile::tempdir().unwrap();
    let fs = FaultyFs::new();
    let (job, _) = JobDir::create(Arc::new(fs.clone()), data.path(), "panex-6", spec()).unwrap();
    assert!(job.read_history(None).unwrap().lines.is_empty(), "no file yet");
    let mut history = job.create_history().unwrap();
    let lines: Vec<_> = (0..6).map(line).collect();
    for line in &lines[..4] {
        history.append(line).unwrap();
    }
    let record = history.checkpoint().unwrap();
    assert_eq!(record.lines, 4);
    history.append(&lines[4]).unwrap();
    history.flush().unwrap();
    history.append(&line(99)).unwrap();
    let view = job.read_history(Some(&record)).unwrap();
    assert_eq!((view.lines.as_slice(), view.after_checkpoint), (&lines[..5], 1));
    assert_eq!(job.read_history(None).unwrap().after_checkpoint, 5);
    drop(history);
    fs.crash().unwrap();
    let (mut history, found) = job.resume_history(&record).unwrap();
    assert_eq!(found, lines[..4]);
    for line in &lines[4..] {
        history.append(line).unwrap();
    }
    let record = history.checkpoint().unwrap();
    let view = job.read_history(Some(&record)).unwrap();
    assert_eq!((view.lines.as_slice(), view.after_checkpoint), (&lines[..], 0));
}

#[test]
fn damage_after_the_checkpoint_is_cut_off_and_before_it_is_detected() {
    let data = tempfile::tempdir().unwrap();
    let (job, _) = JobDir::create(real(), data.path(), "panex-6", spec()).unwrap();
    let mut history = job.create_history().unwrap();
    for depth in 0..4 {
        history.append(&line(depth)).unwrap();
    }
    let record = history.checkpoint().unwrap();
    history.append(&line(4)).unwrap();
    history.flush().unwrap();
    let path = job.path().join("history.jsonl");
    let good = std::fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x01;
        for bytes in [&bad[..], &good[..at]] {
            std::fs::write(&path, bytes).unwrap();
            let read = job.read_history(Some(&record));
            let resumed = job.resume_history(&record);
            if (at as u64) < record.bytes {
                assert!(matches!(read, Err(StoreError::Corrupt { .. })), "byte {at}");
                assert!(matches!(resumed, Err(StoreError::Corrupt { .. })), "byte {at}");
            } else {
                assert!(read.unwrap().lines.len() <= 5);
                assert_eq!(resumed.unwrap().1.len(), 4);
                assert_eq!(std::fs::metadata(&path).unwrap().len(), record.bytes);
            }
        }
    }
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(job.resume_history(&record), Err(StoreError::NotFound { .. })));
}

/// A prefix that ends within a line is refused: the next line would be appended to an incomplete one.
#[test]
fn a_prefix_that_ends_within_a_line_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let (job, _) = JobDir::create(real(), data.path(), "panex-6", spec()).unwrap();
    let mut history = job.create_history().unwrap();
    (0..2).for_each(|depth| history.append(&line(depth)).unwrap());
    let whole = history.checkpoint().unwrap();
    let path = job.path().join("history.jsonl");
    let bytes = std::fs::read(&path).unwrap();
    let prefix = |len: usize| HistoryPrefix {
        bytes: len as u64,
        lines: whole.lines - u64::from(len < bytes.len()),
        checksum: Hex64(xxhash_rust::xxh3::xxh3_64(&bytes[..len])),
    };
    assert_eq!(prefix(bytes.len()), whole);
    assert_eq!(job.read_history(Some(&whole)).unwrap().lines.len(), 2);
    let cut = prefix(bytes.len() - 1);
    assert!(matches!(job.read_history(Some(&cut)), Err(StoreError::Corrupt { .. })));
    assert!(matches!(job.resume_history(&cut), Err(StoreError::Corrupt { .. })));
}

#[test]
fn leftovers_are_removed_and_named_files_are_kept() {
    let data = tempfile::tempdir().unwrap();
    let (job, mut manifest) = JobDir::create(real(), data.path(), "panex-6", spec()).unwrap();
    drop(job.create_history().unwrap());
    let layer = job.layer_path(3, 0);
    let layer = layer.file_name().unwrap().to_str().unwrap();
    for name in [layer, "kept", "layer-000002-000.strata", "run.1-2.tmp"] {
        std::fs::write(job.path().join(name), "x").unwrap();
    }
    assert!(job.temp_path("run") != job.temp_path("run"));
    manifest.checkpoint = Some(checkpoint(layer, HistoryPrefix::default()));
    assert_eq!(job.remove_leftovers(&manifest, &[line(1), line(2)]).unwrap(), 2);
    assert_eq!(names(job.path()), ["history.jsonl", "kept", layer, "manifest.json"]);
    job.remove().unwrap();
    assert!(names(data.path()).is_empty());
}

#[test]
fn a_locked_data_directory_is_refused_and_names_the_holder() {
    let data = tempfile::tempdir().unwrap();
    let dir = data.path().join("data");
    let lock = DataDir::lock(&RealFs, &dir).unwrap();
    match DataDir::lock(&RealFs, &dir) {
        Err(error @ StoreError::Locked { .. }) => {
            let text = error.to_string();
            let process = format!("in use by another process (process {}, ", std::process::id());
            assert!(text.contains(&process), "{text}");
        }
        other => panic!("{other:?}"),
    }
    for job in ["b", "a"] {
        JobDir::create(real(), &dir, job, spec()).unwrap();
    }
    JobDir::attach(real(), &dir, "without-manifest").unwrap();
    assert_eq!(lock.jobs(&RealFs).unwrap(), ["a", "b"]);
    drop(lock);
    assert_eq!(std::fs::read(dir.join(".lock")).unwrap(), b"");
    DataDir::lock(&RealFs, &dir).unwrap();
}

#[test]
fn new_folders_survive_a_loss_of_power() {
    let data = tempfile::tempdir().unwrap();
    let fs = FaultyFs::new();
    let dir = data.path().join("a/b/data");
    drop(DataDir::lock(&fs, &dir).unwrap());
    JobDir::create(Arc::new(fs.clone()), &dir, "a", spec()).unwrap();
    fs.create_dir(&dir.join("unsynced")).unwrap();
    fs.crash().unwrap();
    assert!(!dir.join("unsynced").exists());
    JobDir::open(real(), &dir.join("a")).unwrap();
}

/// A process that is killed leaves a folder whose name is not durable.
#[test]
fn folders_of_an_interrupted_creation_survive_a_loss_of_power() {
    let mut interrupted = 0;
    for steps in 0.. {
        let data = tempfile::tempdir().unwrap();
        let fs = FaultyFs::new();
        let dir = data.path().join("a/b/data");
        fs.fail_after(steps);
        let done = DataDir::lock(&fs, &dir).is_ok();
        interrupted += usize::from(!done && data.path().join("a").exists());
        fs.heal();
        drop(DataDir::lock(&fs, &dir).unwrap());
        fs.crash().unwrap();
        assert!(dir.join(".lock").exists(), "after {steps} steps");
        if done {
            break;
        }
    }
    assert!(interrupted >= 3, "{interrupted}");
}

#[test]
fn a_file_or_link_in_place_of_a_data_directory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("file");
    std::fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink("nowhere", data.path().join("link")).unwrap();
    for name in ["file", "file/data", "link"] {
        let dir = data.path().join(name);
        let error = DataDir::lock(&RealFs, &dir).unwrap_err();
        assert!(matches!(&error, StoreError::Io { op: "create", path, .. } if *path == dir));
    }
}

#[test]
fn leftovers_of_a_data_directory_are_recognised_by_their_names() {
    let data = tempfile::tempdir().unwrap();
    let lock = DataDir::lock(&RealFs, data.path()).unwrap();
    let left = ["worker-id.1-20.tmp", "worker-id.77-0.tmp"];
    let kept = [".lock", "other.1-2.tmp", "worker-id", "worker-id.mine.tmp", "worker-id.tmp"];
    left.iter().chain(&kept[1..]).for_each(|n| std::fs::write(data.path().join(n), "").unwrap());
    std::fs::create_dir(data.path().join("worker-id.3-4.tmp")).unwrap();
    let is_leftover = |name: &str| is_temporary(name, "worker-id");
    assert_eq!(lock.remove_leftovers(&RealFs, is_leftover).unwrap(), 2);
    // A folder is not a temporary file.
    let mut expected = [&kept[..], &["worker-id.3-4.tmp"]].concat();
    expected.sort_unstable();
    assert_eq!(names(data.path()), expected);
}

#[test]
fn data_directories_of_killed_processes_are_removed() {
    let parent = tempfile::tempdir().unwrap();
    let make = |name: &str, lock: Option<&str>| {
        let dir = parent.path().join(name);
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("layer"), "x").unwrap();
        lock.inspect(|text| std::fs::write(dir.join(".lock"), text).unwrap());
    };
    make("t-killed", Some("{\"pid\":1}"));
    make("t-starting", Some(""));
    make("t-without", None);
    make("other", Some("{\"pid\":1}"));
    let in_use = DataDir::lock(&RealFs, &parent.path().join("t-used")).unwrap();
    let remove = || DataDir::remove_abandoned(parent.path(), |n| n.starts_with("t-")).unwrap();
    assert_eq!(remove(), 1);
    assert_eq!(names(parent.path()), ["other", "t-starting", "t-used", "t-without"]);
    drop(in_use);
    assert_eq!(remove(), 0);
}

#[test]
fn differences_of_specifications_are_named() {
    let mut other = spec();
    assert!(spec().differences(&other).is_empty());
    other.shards = 65;
    other.params = [("levels".to_owned(), "7".to_owned()), ("k".to_owned(), "3".to_owned())].into();
    let text = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    let wanted = [text("shards", "64", "65"), text("k", "", "3"), text("levels", "6", "7")];
    assert_eq!(spec().differences(&other), wanted);
}
