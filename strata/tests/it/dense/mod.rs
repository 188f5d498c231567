//! The worker of the dense engine: in memory and by parts, resumed at every depth, with faults.

mod files;
mod workers;

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use strata::LayerRecord;
use strata_engine::dense::{Options, PartSearch, Search, SearchError};
use strata_puzzles::permutation::Permutation;
use strata_puzzles::{DenseHanoi, Hanoi};
use strata_run::{DenseSetup, DenseWorker, KeepLayers, LayerReport, Restore, Work};
use strata_space::dense::{
    BlockStep, BlockSteps, DenseParts, DenseShape, DenseSpace, DenseState, DenseTables, LaneMap,
    MoveTable, RowStep,
};
use strata_space::{LayerStats, Puzzle, file_value};
use strata_store::{CheckpointFile, FaultyFs, Fs, JobDir, KeptFile, RealFs};

use crate::drive::stats_of;

fn hanoi() -> Arc<dyn DenseSpace> {
    Arc::new(DenseHanoi::new(Hanoi::new(9, 4, true).unwrap()).unwrap())
}

/// A puzzle from a file in which symmetric blocks are one block.
fn from_file(file: &str) -> Arc<dyn DenseSpace> {
    let given = [("file", file_value(file)), ("symmetry", "on".to_owned())];
    let given = given.map(|(name, value)| (name.to_owned(), value));
    let space = Permutation::open(&given.into()).unwrap().dense().unwrap();
    assert!(space.tables().is_folded());
    space
}

/// Swaps of neighbours on a ring of eight: 40,320 states.
fn folded() -> Arc<dyn DenseSpace> {
    let swap = |first: u32| format!("({first},{})\n", first % 8 + 1);
    from_file(&(1..=8).map(swap).collect::<String>())
}

/// Turns of the faces of a cube in one direction, which move its corners: 40,320 states.
fn folded_turns() -> Arc<dyn DenseSpace> {
    let space = from_file("(1,2,3,4)\n(5,6,7,8)\n(1,4,6,5)\n(2,8,7,3)\n(1,5,8,2)\n(3,7,6,4)\n");
    assert!(!space.tables().is_undirected());
    space
}

/// A ring of blocks of 2 rows and 3 lanes, with moves in one direction: one step along the blocks,
/// and one that turns the lanes of every other block.
#[derive(Debug)]
struct Ring(DenseTables);

impl Ring {
    const BLOCKS: u32 = 40;

    fn space() -> Arc<dyn DenseSpace> {
        let shape = DenseShape { blocks: Ring::BLOCKS, rows: 2, lanes: 3 };
        let maps = [[0, 1, 2], [1, 2, 0], [2, 0, 1]].map(|images| LaneMap::new(images.to_vec()));
        let step = |block, class| BlockStep { block, class };
        let table = |step_by: u32, turn: u16| {
            let steps = (0..Ring::BLOCKS).flat_map(|block| {
                let next = (block + step_by) % Ring::BLOCKS;
                [step(next, 0), step(block, 1 + block % 2)]
            });
            let row = |row, map| RowStep { row, map };
            let rows = vec![row(1, 0), row(0, 0), row(0, turn), row(1, turn), row(0, 0), row(1, 0)];
            MoveTable { moves: 2, steps: BlockSteps::Full(steps.collect()), rows }
        };
        let parts = DenseParts {
            shape,
            moves: table(1, 1),
            converses: Some(table(Ring::BLOCKS - 1, 2)),
            maps: maps.to_vec(),
            start: DenseState { block: 3, row: 0, lane: 1 },
            goals: Vec::new(),
            multiplicities: Vec::new(),
        };
        let tables = DenseTables::new(parts).unwrap();
        tables.check_converses().unwrap();
        Arc::new(Ring(tables))
    }
}

impl DenseSpace for Ring {
    fn tables(&self) -> &DenseTables {
        &self.0
    }

    fn text(&self, state: DenseState) -> String {
        format!("{state:?}")
    }

    fn parse(&self, _: &str) -> Option<DenseState> {
        None
    }
}

/// Memory for all of a space, and for a few blocks.
fn budgets(space: &Arc<dyn DenseSpace>) -> [u64; 2] {
    let refused = PartSearch::new(space, &Options { memory: 0, ..Options::default() });
    let Err(SearchError::Budget { needed, .. }) = refused else { panic!("{refused:?}") };
    let shape = space.tables().shape();
    [1 << 30, needed + u64::from(shape.rows) * 32 * u64::from(shape.blocks / 5)]
}

fn setup(fs: &Arc<dyn Fs>, dir: &Path, memory: u64, keep: KeepLayers) -> DenseSetup {
    let folder = JobDir::attach(Arc::clone(fs), dir, "job").unwrap();
    DenseSetup { worker: 0, owners: Arc::new([0]), threads: 2, memory, digest: true, keep, folder }
}

/// All layers of a search in memory, then the empty one.
fn expected(space: &Arc<dyn DenseSpace>) -> Vec<LayerStats> {
    let mut search = Search::new(Arc::clone(space), &Options::default()).unwrap();
    let mut layers = vec![search.stats()];
    layers.extend(std::iter::from_fn(|| search.advance()));
    layers.push(LayerStats::default());
    layers
}

/// The files that keep the layer of a report, with its depth.
fn kept_of(report: &LayerReport) -> Vec<(u32, KeptFile)> {
    let LayerRecord { depth, kept, .. } = &report.layer;
    kept.iter().map(|kept| (*depth, kept.clone())).collect()
}

/// What a job records.
#[derive(Clone, Default)]
struct Records {
    depth: u32,
    files: Vec<CheckpointFile>,
    kept: Vec<(u32, KeptFile)>,
}

impl Records {
    fn add(&mut self, report: &LayerReport) {
        self.kept.retain(|(depth, _)| *depth < report.layer.depth);
        self.kept.extend(kept_of(report));
    }

    fn restore(&self) -> Restore {
        Restore {
            depth: self.depth,
            records: self.files.clone(),
            kept: self.kept.iter().map(|(_, kept)| kept.file.clone()).collect(),
            kept_layers: self.kept.clone(),
            owners_before: Arc::new([0]),
            inherited_files: HashSet::new(),
        }
    }
}

#[test]
fn layers_are_the_same_in_memory_by_parts_and_from_every_checkpoint() {
    for space in [hanoi(), Ring::space(), folded(), folded_turns()] {
        let expected = expected(&space);
        for (index, memory) in budgets(&space).into_iter().enumerate() {
            let fs: Arc<dyn Fs> = Arc::new(RealFs);
            let dir = tempfile::tempdir().unwrap();
            let keep = KeepLayers::Every(NonZeroU32::new(3).unwrap());
            let new = |memory| {
                let setup = setup(&fs, dir.path(), memory, keep);
                DenseWorker::new(setup, Arc::clone(&space)).unwrap()
            };
            let mut worker = new(memory);
            assert_eq!(worker.parts() > 1, index == 1);
            let mut records = Records::default();
            let mut report = worker.seed().unwrap();
            for stats in &expected {
                assert_eq!(stats_of(&report), *stats, "depth {}", report.layer.depth);
                records.add(&report);
                (records.depth, records.files) = (report.layer.depth, worker.save().unwrap());
                worker.saved().unwrap();
                if stats.states == 0 {
                    break;
                }
                // The next session has the other amount of memory.
                worker = new(budgets(&space)[(index + report.layer.depth as usize) % 2]);
                let restored = worker.restore(&records.restore()).unwrap();
                let found = stats.found;
                assert_eq!(LayerStats { found, ..stats_of(&restored) }, *stats);
                report = worker.advance(&[]).unwrap();
            }
            // Kept layers, and those of the last checkpoint.
            let named = records.restore();
            let named = named.records.iter().map(|file| &file.file).chain(&named.kept);
            let named: HashSet<String> = named.cloned().collect();
            let folder = dir.path().join("job");
            let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let files: HashSet<String> = files.map(|name| name.into_string().unwrap()).collect();
            assert!(files.is_superset(&named), "{named:?} of {files:?}");
            let extra: Vec<_> = files.difference(&named).filter(|n| !n.ends_with(".tmp")).collect();
            assert!(extra.is_empty(), "{extra:?}");
        }
    }
}

#[test]
fn a_checkpoint_survives_a_crash_at_every_sync_and_rename() {
    for space in [hanoi(), Ring::space(), folded(), folded_turns()] {
        let expected = expected(&space);
        for memory in budgets(&space) {
            let mut completed = false;
            for steps in (0..).step_by(3) {
                let faulty = Arc::new(FaultyFs::new());
                let fs: Arc<dyn Fs> = faulty.clone();
                let dir = tempfile::tempdir().unwrap();
                let new = || {
                    let setup = setup(&fs, dir.path(), memory, KeepLayers::Last);
                    DenseWorker::new(setup, Arc::clone(&space)).unwrap()
                };
                let (mut worker, mut records, mut last) = (new(), Records::default(), None);
                let mut report = worker.seed().unwrap();
                faulty.fail_after(steps);
                let outcome = loop {
                    records.add(&report);
                    if report.layer.depth % 4 == 1 {
                        match worker.save() {
                            Ok(files) => {
                                (records.depth, records.files) = (report.layer.depth, files);
                                last = Some(records.clone());
                            }
                            Err(error) => break Err(error),
                        }
                        worker.saved().unwrap();
                    }
                    if report.layer.depth == 12 {
                        break Ok(());
                    }
                    report = worker.advance(&[]).unwrap();
                };
                drop(worker);
                faulty.heal();
                faulty.crash().unwrap();
                if let Some(last) = last {
                    let mut worker = new();
                    worker.restore(&last.restore()).unwrap();
                    let next = worker.advance(&[]).unwrap();
                    assert_eq!(stats_of(&next), expected[next.layer.depth as usize]);
                }
                completed = outcome.is_ok();
                if completed {
                    break;
                }
            }
            assert!(completed);
        }
    }
}

#[test]
fn a_full_disk_leaves_the_last_two_layers_to_be_saved() {
    let space = hanoi();
    let [_, by_parts] = budgets(&space);
    let expected = expected(&space);
    let faulty = Arc::new(FaultyFs::new());
    let fs: Arc<dyn Fs> = faulty.clone();
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&fs, dir.path(), by_parts, KeepLayers::All);
    let mut worker = DenseWorker::new(setup.clone(), Arc::clone(&space)).unwrap();
    let mut records = Records::default();
    records.add(&worker.seed().unwrap());
    faulty.fill_after(20_000);
    let error = loop {
        match worker.advance(&[]) {
            Ok(report) => records.add(&report),
            Err(error) => break error,
        }
    };
    assert!(error.store().unwrap().is_disk_full(), "{error}");
    faulty.heal();
    (records.depth, records.files) = (worker.depth(), worker.save().unwrap());
    assert_eq!(records.files.len(), 2);
    let mut worker = DenseWorker::new(setup, space).unwrap();
    worker.restore(&records.restore()).unwrap();
    let next = worker.advance(&[]).unwrap();
    assert_eq!(stats_of(&next), expected[next.layer.depth as usize]);
}

#[test]
fn a_damaged_or_missing_layer_is_refused() {
    let space = Ring::space();
    let fs: Arc<dyn Fs> = Arc::new(RealFs);
    let dir = tempfile::tempdir().unwrap();
    let setup = setup(&fs, dir.path(), 1 << 30, KeepLayers::Last);
    let mut worker = DenseWorker::new(setup.clone(), Arc::clone(&space)).unwrap();
    let mut records = Records::default();
    records.add(&worker.seed().unwrap());
    for _ in 0..4 {
        records.add(&worker.advance(&[]).unwrap());
    }
    (records.depth, records.files) = (4, worker.save().unwrap());
    let restore = |records: &Records| {
        let mut worker = DenseWorker::new(setup.clone(), Arc::clone(&space)).unwrap();
        worker.restore(&records.restore())
    };
    restore(&records).unwrap();
    // Directed moves need all layers.
    let mut fewer = records.clone();
    fewer.kept.remove(1);
    assert!(restore(&fewer).unwrap_err().to_string().contains("layer 1 is not there"));
    let path = dir.path().join("job").join(&records.files[1].file);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 4;
    std::fs::write(&path, bytes).unwrap();
    assert!(restore(&records).unwrap_err().is_corrupt());
    std::fs::remove_file(path).unwrap();
    assert!(restore(&records).unwrap_err().is_corrupt());
}
