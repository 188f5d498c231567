//! Workers whose numbers have gaps, in one folder or each in its own, with exits that travel as
//! images; and shards that move from checkpoint to checkpoint. None of it changes what is found.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod drive;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use drive::{LayerNumbers, Outcome};
use strata::{Budget, KeepLayers, LayerReport, Restore, Setup, Worker, WorkerError};
use strata_explicit::{Bounds, Engine, Exchange, Inbox, MemoryRun, run_header, run_image};
use strata_puzzles::panex::{Panex, PanexConfig};
use strata_space::{Digest, LayerStats};
use strata_store::{
    BlockEncoder, CheckpointFile, EncodeOptions, EntryKey, JobDir, Layer, RealFs, StoreError,
};

const JOB: &str = "job";
const SHARDS: u32 = 64;
const LEVEL: u8 = 5;

fn engine() -> Arc<Engine> {
    Arc::new(Engine::tabled(Panex::new(PanexConfig::new(LEVEL)).unwrap(), SHARDS))
}

fn alone() -> Outcome {
    drive::search(drive::Crew::default(), |shards| {
        Engine::tabled(Panex::new(PanexConfig::new(LEVEL)).unwrap(), shards)
    })
}

/// Every run goes to its receiver as bytes.
struct Wire {
    inboxes: BTreeMap<usize, Arc<Inbox>>,
    owners: Arc<[u16]>,
    locals: u32,
    encoder: Mutex<BlockEncoder>,
    /// Who has settled what since it was last asked.
    settled: Mutex<Vec<(usize, u32)>>,
}

impl Exchange for Wire {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> strata_explicit::Result<()> {
        let sent = run_image(&run, &mut self.encoder.lock().unwrap(), JOB, depth)?;
        let received =
            Layer::from_bytes(sent.into_image().unwrap(), "batch", &run_header(JOB, depth))?;
        let owns = |shard: u32| self.owners.get(shard as usize) == Some(&(to as u16));
        let bounds = Bounds { owns: &owns, locals: self.locals };
        Ok(self.inboxes[&to].accept_image(depth, received, &bounds)?)
    }

    fn flush(&self, from: usize, depth: u32) -> strata_explicit::Result<()> {
        self.settled.lock().unwrap().push((from, depth));
        Ok(())
    }

    fn recycled_run(&self, from: usize) -> MemoryRun {
        self.inboxes[&from].recycled_run()
    }
}

/// Workers by number, and who owns what.
struct Crew {
    workers: BTreeMap<usize, Worker>,
    wire: Arc<Wire>,
    owners: Arc<[u16]>,
}

/// Shards dealt out in turns, so that a worker's are not next to each other.
fn in_turns(numbers: &[u16]) -> Arc<[u16]> {
    (0..SHARDS as usize).map(|shard| numbers[shard * 7 % 64 / 3 % numbers.len()]).collect()
}

impl Crew {
    /// Workers of these numbers; `folder` gives each its data directory.
    fn hire(
        engine: &Arc<Engine>,
        owners: &Arc<[u16]>,
        numbers: &[usize],
        folder: impl Fn(usize) -> std::path::PathBuf,
        spare_memory: u64,
    ) -> Crew {
        let tables = engine.table_bytes();
        let memory = Budget::least(tables, 1) as u64 + spare_memory;
        let setup = |number: &usize| Setup {
            worker: *number,
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
            locals: engine.locals(),
            encoder: Mutex::new(BlockEncoder::new(EncodeOptions::default()).unwrap()),
            settled: Mutex::default(),
        });
        let hire = |setup: Setup| {
            let (number, inbox) = (setup.worker, wire.inboxes[&setup.worker].clone());
            (number, Worker::new(setup, engine.clone(), inbox, wire.clone()).unwrap())
        };
        let workers = setups.into_iter().map(hire).collect();
        Crew { workers, wire, owners: owners.clone() }
    }

    /// What all workers make of a layer together.
    fn layer(
        &mut self,
        mut step: impl FnMut(usize, &mut Worker) -> Result<LayerReport, WorkerError>,
    ) -> (LayerNumbers, Vec<LayerReport>) {
        let reports = self.workers.iter_mut().map(|(number, worker)| step(*number, worker));
        let reports = reports.collect::<Result<Vec<LayerReport>, _>>().unwrap();
        let depth = reports[0].depth;
        let mut stats = LayerStats::default();
        for report in &reports {
            assert_eq!(report.depth, depth);
            stats.add(&report.stats);
        }
        let settled = std::mem::take(&mut *self.wire.settled.lock().unwrap());
        let all: Vec<(usize, u32)> = self.workers.keys().map(|number| (*number, depth)).collect();
        assert_eq!(settled, all, "every worker settles once, before it reports");
        let LayerStats { states, generated, digest, .. } = stats;
        (LayerNumbers { depth, states, generated, digest }, reports)
    }

    /// Compares layers with those of one worker, up to a depth.
    fn follow(&mut self, expected: &[LayerNumbers], to: u32) {
        while self.workers.values().next().unwrap().depth() < to {
            let (found, _) = self.layer(|_, worker| worker.advance());
            assert_eq!(found, expected[found.depth as usize]);
        }
    }

    fn save(&mut self) -> Vec<CheckpointFile> {
        let records = self.workers.values_mut().map(|worker| worker.save().unwrap());
        let records: Vec<CheckpointFile> = records.flatten().collect();
        self.workers.values_mut().for_each(|worker| worker.saved().unwrap());
        records
    }

    fn restore(
        &mut self,
        depth: u32,
        records: &[CheckpointFile],
        before: &Arc<[u16]>,
    ) -> LayerNumbers {
        let (found, reports) = {
            let gone = gone(&self.workers.keys().copied().collect::<Vec<_>>(), records);
            let first = *self.workers.keys().next().unwrap();
            self.layer(|number, worker| {
                let inherited_files = if number == first { gone.clone() } else { HashSet::new() };
                worker.restore(&restore(depth, records, before, inherited_files))
            })
        };
        assert_eq!(reports.len(), self.workers.len());
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
    Restore { depth, records: records.to_vec(), owners_before, kept, inherited_files }
}

/// Files of workers that are none any more.
fn gone(numbers: &[usize], records: &[CheckpointFile]) -> HashSet<String> {
    let gone = records.iter().filter(|record| !numbers.contains(&(record.worker as usize)));
    gone.map(|record| record.file.clone()).collect()
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
fn numbers_with_gaps_find_the_same() {
    let expected = alone().layers;
    let engine = engine();
    let owners = in_turns(&[0, 4, 7]);
    for (numbers, owners, spare_memory) in [
        (vec![0, 4, 7], owners.clone(), 64 << 20),
        // Worker 2 has no shards; nobody has memory.
        (vec![0, 2, 4, 7], owners.clone(), 0),
        (vec![4095], in_turns(&[4095]), 64 << 20),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut crew =
            Crew::hire(&engine, &owners, &numbers, |_| dir.path().to_owned(), spare_memory);
        let (found, _) = crew.layer(|_, worker| worker.seed());
        assert_eq!(found, expected[0]);
        crew.follow(&expected, expected.len() as u32 - 1);
        assert!(expected.last().unwrap().digest != Digest::default());
    }
}

#[test]
fn shards_move_between_workers() {
    let expected = alone().layers;
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |_| dir.path().to_owned();
    // The depth of the checkpoint from which the next crew goes on.
    let steps = [
        (vec![0, 4, 7], in_turns(&[0, 4, 7]), 0),
        (vec![4], in_turns(&[4]), 1),
        (vec![0, 4, 7], in_turns(&[0, 4, 7]), 30),
        (vec![0, 1, 4, 7], in_turns(&[0, 1, 4, 7]), 31),
        // The same again; then one that has no shards comes, stays, and gets some.
        (vec![0, 1, 4, 7], in_turns(&[0, 1, 4, 7]), 40),
        (vec![0, 1, 4, 7], in_turns(&[1, 4, 7]), 60),
        (vec![0, 1, 4, 7, 900], in_turns(&[1, 4, 7]), 60),
        (vec![0, 900], in_turns(&[0, 900]), expected.len() as u32 - 1),
    ];
    let mut saved: Option<(Vec<CheckpointFile>, Arc<[u16]>, u32)> = None;
    for (numbers, owners, to) in steps {
        let mut crew = Crew::hire(&engine, &owners, &numbers, folder, 1 << 20);
        let found = match &saved {
            None => crew.layer(|_, worker| worker.seed()).0,
            Some((records, before, depth)) => {
                let found = crew.restore(*depth, records, before);
                // Nothing that is named goes before the next checkpoint.
                let there = files(dir.path());
                assert!(names(records).keys().all(|name| there.contains_key(name)));
                found
            }
        };
        assert_eq!(found, expected[found.depth as usize]);
        crew.follow(&expected, to);
        let records = crew.save();
        assert_eq!(files(dir.path()), names(&records), "{numbers:?} leave what nobody needs");
        saved = Some((records, crew.owners.clone(), to));
    }
}

#[test]
fn what_is_on_disk_is_counted_once() {
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |_| dir.path().to_owned();
    let (before, after) = (in_turns(&[0, 4, 7]), in_turns(&[4, 9]));
    let mut crew = Crew::hire(&engine, &before, &[0, 4, 7], folder, 1 << 20);
    crew.layer(|_, worker| worker.seed());
    let expected = alone().layers;
    crew.follow(&expected, 30);
    let records = crew.save();
    drop(crew);
    let mut crew = Crew::hire(&engine, &after, &[4, 9], folder, 1 << 20);
    let gone = gone(&[4, 9], &records);
    let kept: HashSet<String> = gone.iter().take(1).cloned().collect();
    let (_, reports) = crew.layer(|number, worker| {
        let inherited_files = if number == 9 { gone.clone() } else { HashSet::new() };
        let kept = kept.clone();
        worker.restore(&Restore { kept, ..restore(30, &records, &before, inherited_files) })
    });
    let counted = |reports: &[LayerReport]| reports.iter().map(|r| r.disk_left).sum::<u64>();
    assert_eq!(counted(&reports), files(dir.path()).values().sum::<u64>());
    // What is kept stays, and stays counted.
    let records = crew.save();
    let there = files(dir.path());
    assert_eq!(there.len(), records.len() + 1);
    assert!(kept.iter().all(|name| there.contains_key(name)));
}

/// As in a cluster: what a worker needs of others is copied into its folder first.
#[test]
fn workers_with_folders_of_their_own_open_only_what_they_need() {
    let expected = alone().layers;
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |number: usize| {
        let path = dir.path().join(number.to_string());
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let before = in_turns(&[0, 4, 7]);
    // Worker 7 is gone; 0 keeps what it has, 5 gets 7's shards.
    let after: Arc<[u16]> = before.iter().map(|n| if *n == 7 { 5 } else { *n }).collect();
    let mut crew = Crew::hire(&engine, &before, &[0, 4, 7], folder, 1 << 20);
    crew.layer(|_, worker| worker.seed());
    crew.follow(&expected, 25);
    let records = crew.save();
    let mut crew = Crew::hire(&engine, &after, &[0, 4, 5], folder, 1 << 20);
    let fetched: HashSet<String> = gone(&[0, 4, 5], &records);
    for name in &fetched {
        std::fs::copy(folder(7).join(JOB).join(name), folder(5).join(JOB).join(name)).unwrap();
    }
    let (found, _) = crew.layer(|number, worker| {
        let inherited_files = if number == 5 { fetched.clone() } else { HashSet::new() };
        worker.restore(&restore(25, &records, &before, inherited_files))
    });
    assert_eq!(found, expected[25]);
    let saved = crew.save();
    for number in [0, 4, 5] {
        let own = saved.iter().filter(|record| record.worker as usize == number).cloned();
        let own: Vec<CheckpointFile> = own.collect();
        assert_eq!(files(&folder(number)), names(&own), "worker {number}");
        // Who has the shards it had takes its files over as they are.
        let same = own.iter().all(|record| records.contains(record));
        assert_eq!(same, number != 5);
    }
    crew.follow(&expected, expected.len() as u32 - 1);
}

#[test]
fn a_checkpoint_that_lacks_what_is_needed_is_refused() {
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let folder = |_| dir.path().to_owned();
    let (before, after) = (in_turns(&[0, 4, 7]), in_turns(&[4]));
    let mut crew = Crew::hire(&engine, &before, &[0, 4, 7], folder, 1 << 20);
    crew.layer(|_, worker| worker.seed());
    crew.follow(&alone().layers, 20);
    let records = crew.save();
    let whole = restore(20, &records, &before, HashSet::new());
    let attempt = |owners: &Arc<[u16]>, number: usize, from: &Restore| {
        let mut crew = Crew::hire(&engine, owners, &[0, 4, 7], folder, 1 << 20);
        crew.workers.get_mut(&number).unwrap().restore(from).map(|_| ())
    };
    attempt(&after, 4, &whole).unwrap();
    // Whoever has the shards it had needs its own files only, who has none needs none.
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
fn exits_that_are_not_the_receivers_are_refused() {
    let engine = engine();
    let dir = tempfile::tempdir().unwrap();
    let owners = in_turns(&[0, 4, 7]);
    let crew = Crew::hire(&engine, &owners, &[0, 4, 7], |_| dir.path().to_owned(), 1 << 20);
    let shard_of = |worker: u16| owners.iter().position(|owner| *owner == worker).unwrap() as u32;
    let send = |shard: u32, local: u32| {
        let mut run = MemoryRun::default();
        run.push(EntryKey { shard, region: 3 }, None, &[1, local]);
        crew.wire.send(4, 8, run)
    };
    send(shard_of(4), engine.locals() - 1).unwrap();
    for (shard, local) in
        [(shard_of(7), 2), (SHARDS, 2), (shard_of(4), engine.locals()), (shard_of(4), u32::MAX)]
    {
        let error = send(shard, local).unwrap_err();
        assert!(error.is_corrupt(), "shard {shard}, local {local}");
    }
    assert_eq!(crew.wire.inboxes[&4].take(8).unwrap().len(), 1);
}
