//! Test driver that runs workers layer by layer until a search ends, without checkpoints.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::path::Path;
use std::sync::Arc;

use strata::LayerRecord;
use strata_engine::explicit::{
    Engine, Exchange, Inbox, InboxOptions, LocalExchange, MemoryRun, Result, SortBuffers,
};
use strata_run::{Budget, KeepLayers, LayerReport, Setup, Worker};
use strata_space::{Digest, Finish, LayerStats};
use strata_store::{
    EncodeOptions, EngineKind, EntryKey, Fs, JobDir, KeptFile, Layer, LocalWidth, RealFs, Word,
};

const JOB: &str = "job";

/// Depth limit, larger than any test needs. A search that loses states might revisit old ones without
/// end.
const MAX_DEPTH: u32 = 2000;

/// Settings of a search. Layers must not depend on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchSetup {
    pub(crate) workers: usize,
    /// Threads of each worker.
    pub(crate) threads: usize,
    pub(crate) shards: u32,
    pub(crate) keep: KeepLayers,
    /// Bytes of memory above the least budget.
    pub(crate) extra_memory: u64,
    /// Bytes of exits that an inbox holds in memory; None for those of the budget.
    pub(crate) inbox_memory: Option<usize>,
    /// Whether exits are sent through an [`UnreliableExchange`].
    pub(crate) unreliable: bool,
    /// The last layer, if it is known.
    pub(crate) last_depth: Option<u32>,
    /// How layers and spilled runs are written.
    pub(crate) encode: EncodeOptions,
}

impl Default for SearchSetup {
    fn default() -> SearchSetup {
        SearchSetup {
            workers: 1,
            threads: 1,
            shards: 64,
            keep: KeepLayers::Last,
            extra_memory: 64 << 20,
            inbox_memory: None,
            unreliable: false,
            last_depth: None,
            encode: EncodeOptions::default(),
        }
    }
}

/// Figures of a layer that must not depend on the setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayerNumbers {
    pub(crate) depth: u32,
    pub(crate) states: u64,
    pub(crate) positions: u64,
    pub(crate) generated: u64,
    pub(crate) digest: Digest,
}

impl LayerNumbers {
    pub(crate) fn new(depth: u32, stats: &LayerStats) -> LayerNumbers {
        let LayerStats { states, positions, generated, digest, .. } = *stats;
        LayerNumbers { depth, states, positions, generated, digest }
    }
}

/// Result of a search, and the files in its folder at the end.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// All layers, depth 0 included; an empty last one is not listed.
    pub(crate) layers: Vec<LayerNumbers>,
    /// Moves of a shortest solution, if the search ended on one.
    pub(crate) moves: Option<u32>,
    pub(crate) spilled_bytes: u64,
    /// Layer files in the job's folder at the end.
    pub(crate) layer_files: usize,
    /// Spilled runs in the job's folder at the end.
    pub(crate) run_files: usize,
    /// By depth, the files of the layers that are kept.
    pub(crate) kept: Vec<Vec<KeptFile>>,
}

impl Outcome {
    pub(crate) fn states(&self) -> Vec<u64> {
        self.layers.iter().map(|layer| layer.states).collect()
    }

    pub(crate) fn generated(&self) -> Vec<u64> {
        self.layers.iter().map(|layer| layer.generated).collect()
    }

    pub(crate) fn digests(&self) -> Vec<Digest> {
        self.layers.iter().map(|layer| layer.digest).collect()
    }
}

/// Searches to the end. `open` makes the engine for a number of shards.
pub(crate) fn search(setup: SearchSetup, open: impl FnOnce(u32) -> Engine) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    search_in(dir.path(), setup, open)
}

/// Opens the kept files of a layer.
pub(crate) fn open_kept(dir: &Path, depth: u32, files: &[KeptFile]) -> Vec<Layer> {
    let folder = JobDir::attach(Arc::new(RealFs), dir, JOB).unwrap();
    let open = |kept: &KeptFile| {
        let path = folder.file_path(&kept.file).unwrap();
        Layer::open(folder.fs().clone(), &path, &kept.expect(JOB, depth, EngineKind::Explicit))
            .unwrap()
    };
    files.iter().map(open).collect()
}

/// Searches to the end in a given folder, where the kept layers stay.
pub(crate) fn search_in(
    dir: &Path,
    setup: SearchSetup,
    open: impl FnOnce(u32) -> Engine,
) -> Outcome {
    let engine = Arc::new(open(setup.shards));
    let finish = engine.finish();
    let mut workers = start_workers(setup, &engine, dir);
    let mut outcome = Outcome {
        layers: Vec::new(),
        moves: None,
        spilled_bytes: 0,
        layer_files: 0,
        run_files: 0,
        kept: Vec::new(),
    };
    let mut reports = on_all_workers(&mut workers, Worker::seed);
    loop {
        let depth = reports[0].layer.depth;
        assert!(depth <= MAX_DEPTH, "the search does not end");
        let stats = sum(&reports);
        outcome.spilled_bytes = reports.iter().map(|report| report.spilled).sum();
        if stats.states == 0 {
            break;
        }
        outcome.kept.push(reports.iter().flat_map(|report| report.layer.kept.clone()).collect());
        outcome.layers.push(LayerNumbers::new(depth, &stats));
        outcome.moves = answer(finish, depth, &stats);
        if outcome.moves.is_some() {
            break;
        }
        reports = on_all_workers(&mut workers, Worker::advance);
    }
    outcome.layer_files = files(dir, "layer-");
    outcome.run_files = files(dir, "run-");
    if setup.keep != KeepLayers::Last {
        for worker in &mut workers {
            worker.save().unwrap();
        }
    }
    outcome
}

/// The statistics of a layer.
pub(crate) fn sum(reports: &[LayerReport]) -> LayerStats {
    stats_of(&LayerReport::sum(reports.iter().cloned()).unwrap())
}

/// The figures of a report as an engine counts them.
pub(crate) fn stats_of(report: &LayerReport) -> LayerStats {
    let LayerRecord { states, positions, generated, regions, digest, .. } = report.layer;
    let LayerReport { odd, even, found, fixed, .. } = *report;
    LayerStats { states, positions, generated, regions, digest, odd, even, found, fixed }
}

fn answer(finish: Finish, depth: u32, stats: &LayerStats) -> Option<u32> {
    match finish {
        Finish::Meeting if stats.odd => Some(2 * depth - 1),
        Finish::Meeting if stats.even => Some(2 * depth),
        Finish::State(_) if stats.found => Some(depth),
        _ => None,
    }
}

/// Owner of each shard.
pub(crate) fn owners(setup: SearchSetup) -> Arc<[u16]> {
    let owner = |shard| (shard as usize * setup.workers / setup.shards as usize) as u16;
    (0..setup.shards).map(owner).collect()
}

/// Workers without states.
pub(crate) fn start_workers(setup: SearchSetup, engine: &Arc<Engine>, dir: &Path) -> Vec<Worker> {
    start_workers_on(Arc::new(RealFs), setup, engine, dir)
}

/// Workers without states, with files in a file system.
pub(crate) fn start_workers_on(
    fs: Arc<dyn Fs>,
    setup: SearchSetup,
    engine: &Arc<Engine>,
    dir: &Path,
) -> Vec<Worker> {
    let folder = JobDir::attach(fs, dir, JOB).unwrap();
    let tables = engine.table_bytes();
    let memory = Budget::least(tables, setup.workers * setup.threads) as u64 + setup.extra_memory;
    let budget = Budget::new(memory, tables, setup.workers, setup.threads).unwrap();
    let owners = owners(setup);
    let worker_setup = |worker| Setup {
        worker,
        width: engine.width(),
        last_depth: setup.last_depth,
        owners: owners.clone(),
        threads: setup.threads,
        budget,
        encode: setup.encode,
        keep: setup.keep,
        folder: folder.clone(),
    };
    let setups: Vec<Setup> = (0..setup.workers).map(worker_setup).collect();
    let inboxes: Vec<Arc<Inbox>> =
        setups.iter().map(|worker_setup| Arc::new(inbox(setup, worker_setup))).collect();
    let local = LocalExchange::new(inboxes.clone());
    let exchange: Arc<dyn Exchange> = if setup.unreliable {
        Arc::new(UnreliableExchange(local, engine.width()))
    } else {
        Arc::new(local)
    };
    let workers = setups.into_iter().zip(inboxes);
    workers
        .map(|(worker, inbox)| {
            Worker::new(worker, engine.clone(), inbox, exchange.clone()).unwrap()
        })
        .collect()
}

fn inbox(setup: SearchSetup, worker: &Setup) -> Inbox {
    let Some(memory) = setup.inbox_memory else {
        return worker.inbox().unwrap();
    };
    let options = InboxOptions {
        memory,
        width: worker.width,
        job: JOB.into(),
        folder: worker.folder.path().to_owned(),
        prefix: format!("run-{:03}", worker.worker),
        recycled_runs: worker.threads,
        encode: worker.encode,
    };
    Inbox::new(worker.folder.fs().clone(), options).unwrap()
}

/// Runs an operation on all workers in parallel.
pub(crate) fn on_all_workers(
    workers: &mut [Worker],
    step: fn(&mut Worker) -> std::result::Result<LayerReport, strata_run::WorkerError>,
) -> Vec<LayerReport> {
    if let [only] = workers {
        return vec![step(only).unwrap()];
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            workers.iter_mut().map(|worker| scope.spawn(move || step(worker).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The names in a folder, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Copies the files of a folder to which other threads may write. Files that disappear are left out.
pub(crate) fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_files(&from, &to);
        } else if let Err(error) = std::fs::copy(&from, &to) {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{}", from.display());
        }
    }
}

fn files(dir: &Path, prefix: &str) -> usize {
    names_in(&dir.join(JOB)).iter().filter(|name| name.contains(prefix)).count()
}

/// An exchange of exits with locals of a width. It splits every run into pieces and delivers them in
/// reverse order, each twice.
struct UnreliableExchange(LocalExchange, LocalWidth);

impl Exchange for UnreliableExchange {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> Result<()> {
        const PIECES: usize = 10;
        let mut regions: Vec<(EntryKey, Vec<Word>)> = Vec::new();
        run.for_each_region(self.1, |key, locals| {
            regions.push((key, locals.to_vec()));
            Ok(())
        })?;
        for piece in regions.chunks(regions.len().div_ceil(PIECES).max(1)).rev() {
            for _ in 0..2 {
                let mut run = self.0.recycled_run(to);
                piece.iter().for_each(|(key, locals)| run.push(*key, None, locals));
                run.sort(&mut SortBuffers::default());
                self.0.send(to, depth, run)?;
            }
        }
        Ok(())
    }

    fn flush(&self, from: usize, depth: u32) -> Result<()> {
        self.0.flush(from, depth)
    }

    fn recycled_run(&self, from: usize) -> MemoryRun {
        self.0.recycled_run(from)
    }
}
