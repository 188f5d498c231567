//! Tests of reassigned shards. Counts and digests stay the same when worker numbers have gaps,
//! workers have separate folders, exits are sent as images, or shards move between checkpoints.

use crate::drive;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use drive::{LayerNumbers, Outcome};
use strata_engine::explicit::{Bounds, Engine, Exchange, Inbox, MemoryRun, RunEncoder};
use strata_puzzles::panex::{Panex, PanexConfig};
use strata_run::{Budget, KeepLayers, LayerReport, Restore, Setup, Worker, WorkerError};
use strata_space::Digest;
use strata_store::{CheckpointFile, EncodeOptions, EntryKey, JobDir, RealFs, StoreError, Word};

const JOB: &str = "job";
const SHARDS: u32 = 64;
const LEVEL: u8 = 5;

fn engine() -> Arc<Engine> {
    Arc::new(Engine::tabled(Panex::new(PanexConfig::new(LEVEL)).unwrap(), SHARDS))
}

fn alone() -> Outcome {
    drive::search(drive::SearchSetup::default(), |shards| {
        Engine::tabled(Panex::new(PanexConfig::new(LEVEL)).unwrap(), shards)
    })
}

/// An exchange that sends every run to its receiver as bytes.
struct Wire {
    inboxes: BTreeMap<usize, Arc<Inbox>>,
    owners: Arc<[u16]>,
    engine: Arc<Engine>,
    encoder: Mutex<RunEncoder>,
    /// Worker and depth of each flush since the last check.
    flushed: Mutex<Vec<(usize, u32)>>,
}

impl Exchange for Wire {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> strata_engine::explicit::Result<()> {
        let owns = |shard: u32| self.owners.get(shard as usize) == Some(&(to as u16));
        let (locals, exit_edges) = (self.engine.locals(), self.engine.exit_edges());
        let bounds = Bounds { owns: &owns, locals, exit_edges };
        self.encoder.lock().unwrap().encode(&run, |bytes| {
            Ok(self.inboxes[&to].accept_encoded(depth, &bytes, "batch", &bounds)?)
        })
    }

    fn flush(&self, from: usize, depth: u32) -> strata_engine::explicit::Result<()> {
        self.flushed.lock().unwrap().push((from, depth));
        Ok(())
    }

    fn recycled_run(&self, from: usize) -> MemoryRun {
        self.inboxes[&from].recycled_run()
    }
}

/// Workers by number, and the owner of each shard.
struct Workers {
    by_number: BTreeMap<usize, Worker>,
    wire: Arc<Wire>,
    owners: Arc<[u16]>,
}

/// Owners of the shards, interleaved so that a worker's shards are not adjacent.
fn interleaved(numbers: &[u16]) -> Arc<[u16]> {
    (0..SHARDS as usize).map(|shard| numbers[shard * 7 % 64 / 3 % numbers.len()]).collect()
}

impl Workers {
    /// Workers of these numbers; `folder` gives each its data directory.
    fn start(
        engine: &Arc<Engine>,
        owners: &Arc<[u16]>,
        numbers: &[usize],
        folder: impl Fn(usize) -> std::path::PathBuf,
        extra_memory: u64,
    ) -> Workers {
        let tables = engine.table_bytes();
        let memory = Budget::least(tables, 1) as u64 + extra_memory;
        let setup = |number: &usize| Setup {
            worker: *number,
            width: engine.width(),
            last_depth: None,
            owners: owners.clone(),
            threads: 1,
            budget: Budget::for_node(memory, tables, 1, numbers.len()).unwrap(),
            encode: EncodeOptions::default(),
            keep: KeepLayers::Last,
            folder: JobDir::attach(Arc::new(RealFs), &folder(*number), JOB).unwrap(),
        };
        let setups: Vec<Setup> = numbers.iter().map(setup).collect();
        let inboxes = setups.iter().map(|setup| (setup.worker, Arc::new(setup.inbox().unwrap())));
        let wire = Arc::new(Wire {
            inboxes: inboxes.collect(),
            owners: owners.clone(),
            engine: engine.clone(),
            encoder: Mutex::new(RunEncoder::new(1, engine.locals()).unwrap()),
            flushed: Mutex::default(),
        });
        let start = |setup: Setup| {
            let (number, inbox) = (setup.worker, wire.inboxes[&setup.worker].clone());
            (number, Worker::new(setup, engine.clone(), inbox, wire.clone()).unwrap())
        };
        let by_number = setups.into_iter().map(start).collect();
        Workers { by_number, wire, owners: owners.clone() }
    }

    /// Runs an operation on all workers and adds up their reports of the layer.
    fn layer(
        &mut self,
        mut step: impl FnMut(usize, &mut Worker) -> Result<LayerReport, WorkerError>,
    ) -> (LayerNumbers, Vec<LayerReport>) {
        let reports = self.by_number.iter_mut().map(|(number, worker)| step(*number, worker));
        let reports = reports.collect::<Result<Vec<LayerReport>, _>>().unwrap();
        let depth = reports[0].layer.depth;
        let found = LayerNumbers::new(depth, &drive::sum(&reports));
        let flushed = std::mem::take(&mut *self.wire.flushed.lock().unwrap());
        let all: Vec<(usize, u32)> = self.by_number.keys().map(|number| (*number, depth)).collect();
        assert_eq!(flushed, all, "every worker flushes once, before it reports");
        (found, reports)
    }

    /// Advances to a depth and compares the layers with those of a single worker.
    fn check_layers(&mut self, expected: &[LayerNumbers], to: u32) {
        while self.by_number.values().next().unwrap().depth() < to {
            let (found, _) = self.layer(|_, worker| worker.advance());
            assert_eq!(found, expected[found.depth as usize]);
        }
    }

    fn save(&mut self) -> Vec<CheckpointFile> {
        let records = self.by_number.values_mut().map(|worker| worker.save().unwrap());
        let records: Vec<CheckpointFile> = records.flatten().collect();
        self.by_number.values_mut().for_each(|worker| worker.saved().unwrap());
        records
    }

    fn restore(
        &mut self,
        depth: u32,
        records: &[CheckpointFile],
        before: &Arc<[u16]>,
    ) -> LayerNumbers {
        let numbers: Vec<usize> = self.by_number.keys().copied().collect();
        let removed = files_of_removed_workers(&numbers, records);
        let (found, reports) = self.layer(|number, worker| {
            let inherited_files =
                if number == numbers[0] { removed.clone() } else { HashSet::new() };
            worker.restore(&restore(depth, records, before, inherited_files))
        });
        assert_eq!(reports.len(), self.by_number.len());
        found
    }
}

fn restore(
    depth: u32,
    records: &[CheckpointFile],
    before: &Arc<[u16]>,
    inherited_files: HashSet<String>,
) -> Restore {
    let (owners_before, kept) = (before.clone(), HashSet::new());
    let records = records.to_vec();
    Restore { depth, records, owners_before, kept, inherited_files }
}

/// Files of workers that no longer exist.
fn files_of_removed_workers(numbers: &[usize], records: &[CheckpointFile]) -> HashSet<String> {
    let removed = records.iter().filter(|record| !numbers.contains(&(record.worker as usize)));
    removed.map(|record| record.file.clone()).collect()
}

fn files(dir: &Path) -> BTreeMap<String, u64> {
    let files = std::fs::read_dir(dir.join(JOB)).unwrap().map(|entry| entry.unwrap());
    files
        .map(|file| (file.file_name().into_string().unwrap(), file.metadata().unwrap().len()))
        .collect()
}

fn names(records: &[CheckpointFile]) -> BTreeMap<String, u64> {
    records.iter().map(|record| (record.file.clone(), record.bytes)).collect()
}

#[test]
fn worker_numbers_with_gaps_give_the_same_layers() {
    let expected = alone().layers;
    let engine = engine();
    let owners = interleaved(&[0, 4, 7]);
    for (numbers, owners, extra_memory) in [
        (vec![0, 4, 7], owners.clone(), 64 << 20),
        // Worker 2 owns no shards; all workers have the least memory budget.
        (vec![0, 2, 4, 7], owners.clone(), 0),
        (vec![4095], interleaved(&[4095]), 64 << 20),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut workers =
            Workers::start(&engine, &owners, &numbers, |_| dir.path().to_owned(), extra_memory);
        let (found, _) = workers.layer(|_, worker| worker.seed());
        assert_eq!(found, expected[0]);
        workers.check_layers(&expected, expected.len() as u32 - 1);
        assert!(expected.last().unwrap().digest != Digest::default());
    }
}

#[test]
fn shards_move_between_workers() {
    let expected = alone().layers;
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |_| dir.path().to_owned();
    // Third field: depth of the checkpoint from which the next session resumes.
    let steps = [
        (vec![0, 4, 7], interleaved(&[0, 4, 7]), 0),
        (vec![4], interleaved(&[4]), 1),
        (vec![0, 4, 7], interleaved(&[0, 4, 7]), 30),
        (vec![0, 1, 4, 7], interleaved(&[0, 1, 4, 7]), 31),
        // The same workers again. Then worker 0 loses its shards, worker 900 joins without shards,
        // and both get shards.
        (vec![0, 1, 4, 7], interleaved(&[0, 1, 4, 7]), 40),
        (vec![0, 1, 4, 7], interleaved(&[1, 4, 7]), 60),
        (vec![0, 1, 4, 7, 900], interleaved(&[1, 4, 7]), 60),
        (vec![0, 900], interleaved(&[0, 900]), expected.len() as u32 - 1),
    ];
    let mut saved: Option<(Vec<CheckpointFile>, Arc<[u16]>, u32)> = None;
    for (numbers, owners, to) in steps {
        let mut workers = Workers::start(&engine, &owners, &numbers, folder, 1 << 20);
        let found = match &saved {
            None => workers.layer(|_, worker| worker.seed()).0,
            Some((records, before, depth)) => {
                let found = workers.restore(*depth, records, before);
                // No file that the checkpoint names is removed before the next checkpoint.
                let present = files(dir.path());
                assert!(names(records).keys().all(|name| present.contains_key(name)));
                found
            }
        };
        assert_eq!(found, expected[found.depth as usize]);
        workers.check_layers(&expected, to);
        let records = workers.save();
        assert_eq!(
            files(dir.path()),
            names(&records),
            "{numbers:?} leave files that are not needed"
        );
        saved = Some((records, workers.owners.clone(), to));
    }
}

#[test]
fn bytes_on_disk_are_counted_once() {
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |_| dir.path().to_owned();
    let (before, after) = (interleaved(&[0, 4, 7]), interleaved(&[4, 9]));
    let mut workers = Workers::start(&engine, &before, &[0, 4, 7], folder, 1 << 20);
    workers.layer(|_, worker| worker.seed());
    let expected = alone().layers;
    workers.check_layers(&expected, 30);
    let records = workers.save();
    drop(workers);
    let mut workers = Workers::start(&engine, &after, &[4, 9], folder, 1 << 20);
    let removed = files_of_removed_workers(&[4, 9], &records);
    let kept: HashSet<String> = removed.iter().take(1).cloned().collect();
    let (_, reports) = workers.layer(|number, worker| {
        let inherited_files = if number == 9 { removed.clone() } else { HashSet::new() };
        let kept = kept.clone();
        worker.restore(&Restore { kept, ..restore(30, &records, &before, inherited_files) })
    });
    let counted = |reports: &[LayerReport]| reports.iter().map(|r| r.disk_left).sum::<u64>();
    assert_eq!(counted(&reports), files(dir.path()).values().sum::<u64>());
    // Kept files stay, besides those of the checkpoint.
    let records = workers.save();
    let present = files(dir.path());
    assert_eq!(present.len(), records.len() + 1);
    assert!(kept.iter().all(|name| present.contains_key(name)));
}

/// As in a cluster, files of other workers are first copied into the folder of the worker that
/// needs them.
#[test]
fn workers_with_separate_folders_open_only_the_files_they_need() {
    let expected = alone().layers;
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |number: usize| {
        let path = dir.path().join(number.to_string());
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let before = interleaved(&[0, 4, 7]);
    // Worker 7 is lost; worker 0 keeps its shards, worker 5 gets those of worker 7.
    let after: Arc<[u16]> = before.iter().map(|n| if *n == 7 { 5 } else { *n }).collect();
    let mut workers = Workers::start(&engine, &before, &[0, 4, 7], folder, 1 << 20);
    workers.layer(|_, worker| worker.seed());
    workers.check_layers(&expected, 25);
    let records = workers.save();
    let mut workers = Workers::start(&engine, &after, &[0, 4, 5], folder, 1 << 20);
    let fetched: HashSet<String> = files_of_removed_workers(&[0, 4, 5], &records);
    for name in &fetched {
        std::fs::copy(folder(7).join(JOB).join(name), folder(5).join(JOB).join(name)).unwrap();
    }
    let (found, _) = workers.layer(|number, worker| {
        let inherited_files = if number == 5 { fetched.clone() } else { HashSet::new() };
        worker.restore(&restore(25, &records, &before, inherited_files))
    });
    assert_eq!(found, expected[25]);
    let saved = workers.save();
    for number in [0, 4, 5] {
        let own = saved.iter().filter(|record| record.worker as usize == number).cloned();
        let own: Vec<CheckpointFile> = own.collect();
        assert_eq!(files(&folder(number)), names(&own), "worker {number}");
        // A worker with unchanged shards uses its files without copies.
        let same = own.iter().all(|record| records.contains(record));
        assert_eq!(same, number != 5);
    }
    workers.check_layers(&expected, expected.len() as u32 - 1);
}

#[test]
fn a_checkpoint_that_lacks_a_needed_file_is_refused() {
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |_| dir.path().to_owned();
    let (before, after) = (interleaved(&[0, 4, 7]), interleaved(&[4]));
    let mut workers = Workers::start(&engine, &before, &[0, 4, 7], folder, 1 << 20);
    workers.layer(|_, worker| worker.seed());
    workers.check_layers(&alone().layers, 20);
    let records = workers.save();
    let whole = restore(20, &records, &before, HashSet::new());
    let attempt = |owners: &Arc<[u16]>, number: usize, from: &Restore| {
        let mut workers = Workers::start(&engine, owners, &[0, 4, 7], folder, 1 << 20);
        workers.by_number.get_mut(&number).unwrap().restore(from).map(|_| ())
    };
    attempt(&after, 4, &whole).unwrap();
    // A worker with unchanged shards needs only its own files; a worker without shards needs none.
    for lacking in [0, 4, 7] {
        let others = records.iter().filter(|r| r.worker != lacking || r.depth != 19);
        let from = Restore { records: others.cloned().collect(), ..whole.clone() };
        for number in [0, 4, 7] {
            let same = attempt(&before, number, &from);
            assert_eq!(same.is_err(), number == lacking as usize, "{same:?}");
            let moved = attempt(&after, number, &from);
            assert_eq!(moved.is_err(), number == 4, "{moved:?}");
            for error in [same.err(), moved.err()].into_iter().flatten() {
                assert!(
                    matches!(error, WorkerError::Store(StoreError::NotFound { .. })),
                    "{error}"
                );
            }
        }
    }
    let mut wrong = whole.clone();
    wrong.owners_before = vec![4; 3].into();
    let error = attempt(&after, 4, &wrong).unwrap_err();
    assert!(matches!(error, WorkerError::Store(StoreError::Inconsistent { .. })), "{error}");
    let name = &records.iter().find(|record| record.worker == 7).unwrap().file;
    let path = dir.path().join(JOB).join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(attempt(&after, 4, &whole).unwrap_err().is_corrupt());
    attempt(&before, 4, &whole).unwrap();
}

#[test]
fn exits_of_another_receiver_are_refused() {
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let owners = interleaved(&[0, 4, 7]);
    let workers = Workers::start(&engine, &owners, &[0, 4, 7], |_| dir.path().to_owned(), 1 << 20);
    let shard_of = |worker: u16| owners.iter().position(|owner| *owner == worker).unwrap() as u32;
    let send = |shard: u32, local: u32| {
        let mut run = MemoryRun::default();
        run.push(EntryKey { shard, region: 3 }, None, &[Word(1), Word(local)]);
        workers.wire.send(4, 8, run)
    };
    let bound = engine.locals() as u32;
    send(shard_of(4), bound - 1).unwrap();
    for (shard, local) in
        [(shard_of(7), 2), (SHARDS, 2), (shard_of(4), bound), (shard_of(4), u32::MAX)]
    {
        let error = send(shard, local).unwrap_err();
        assert!(error.is_corrupt(), "shard {shard}, local {local}");
    }
    assert_eq!(workers.wire.inboxes[&4].take(8).unwrap().len(), 1);
}
