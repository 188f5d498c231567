//! Benchmark of the distribution of states over shards:
//! `cargo bench -p strata-bfs --bench shards -- LEVEL [DEPTH]` (6 and no limit by default).
//!
//! It runs one worker per shard, for each locality s that leaves at least two levels of large
//! tiles. It prints the share of states sent to another shard, their bytes on the wire, and how
//! evenly layers are divided.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use strata_engine::explicit::{Exchange, LocalExchange, MemoryRun, RunEncoder};
use strata_run::catalogue::{Parameters, Registry};
use strata_run::{Budget, KeepLayers, LayerReport, Setup, Worker};
use strata_store::{EncodeOptions, JobDir, RealFs};

const JOB: &str = "shards";

/// Layers with fewer states are left out of the balance figure, since a cluster runs them on one worker.
const NARROW: u64 = 1 << 14;

/// Exchange that counts the exits and bytes sent to other workers.
struct Counter {
    own: usize,
    inner: Arc<LocalExchange>,
    encoder: Mutex<RunEncoder>,
    sent: AtomicU64,
    bytes: AtomicU64,
}

impl Exchange for Counter {
    fn send(&self, to: usize, depth: u32, run: MemoryRun) -> strata_engine::explicit::Result<()> {
        if to != self.own {
            let exits: usize = run.batches().map(|(_, _, locals)| locals.len()).sum();
            let mut encoder = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
            encoder.encode(&run, |bytes| {
                self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                Ok::<(), strata_engine::explicit::Error>(())
            })?;
            self.sent.fetch_add(exits as u64, Ordering::Relaxed);
        }
        self.inner.send(to, depth, run)
    }

    fn recycled_run(&self, from: usize) -> MemoryRun {
        self.inner.recycled_run(from)
    }

    fn flush(&self, from: usize, depth: u32) -> strata_engine::explicit::Result<()> {
        self.inner.flush(from, depth)
    }
}

/// Sums over a search.
#[derive(Default)]
struct Sums {
    states: u64,
    /// States of layers that are not narrow.
    wide: u64,
    /// Sum over the same layers of the states of the fullest worker, times the number of workers.
    uneven: f64,
}

impl Sums {
    fn add(&mut self, reports: &[LayerReport]) {
        let widths = reports.iter().map(|report| report.layer.states);
        let (sum, most) = (widths.clone().sum::<u64>(), widths.max().unwrap_or(0));
        self.states += sum;
        if sum >= NARROW {
            self.wide += sum;
            self.uneven += most as f64 * reports.len() as f64;
        }
    }
}

fn search(level: u32, s: u32, shards: u32, deepest: u32) -> Result<(), Box<dyn Error>> {
    let parameters: Parameters = [("level", level), ("s", s)]
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .into();
    let space = Registry::shipped().open("panex", &parameters)?;
    let workers = shards as usize;
    let budget = Budget::new(8 << 30, space.table_bytes(), workers, 1)?;
    let engine = Arc::new(space.engine(shards));
    let dir = tempfile::tempdir()?;
    let folder = JobDir::attach(Arc::new(RealFs), dir.path(), JOB)?;
    let setups: Vec<Setup> = (0..workers)
        .map(|worker| Setup {
            worker,
            width: engine.width(),
            last_depth: None,
            owners: (0..shards as u16).collect(),
            threads: 1,
            budget,
            encode: EncodeOptions::default(),
            keep: KeepLayers::Last,
            folder: folder.clone(),
        })
        .collect();
    let inboxes = setups.iter().map(|setup| setup.inbox().map(Arc::new));
    let inboxes = inboxes.collect::<Result<Vec<_>, _>>()?;
    let inner = Arc::new(LocalExchange::new(inboxes.clone()));
    let mut counters = Vec::new();
    let mut workers = Vec::new();
    for (setup, inbox) in setups.into_iter().zip(inboxes) {
        let counter = Arc::new(Counter {
            own: setup.worker,
            inner: Arc::clone(&inner),
            encoder: Mutex::new(RunEncoder::new(setup.encode.zstd_level, engine.locals())?),
            sent: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        });
        counters.push(Arc::clone(&counter));
        workers.push(Worker::new(setup, Arc::clone(&engine), inbox, counter)?);
    }
    let mut sums = Sums::default();
    let mut reports = workers.iter_mut().map(Worker::seed).collect::<Result<Vec<_>, _>>()?;
    loop {
        sums.add(&reports);
        let ended = reports.iter().any(|report| report.odd || report.even);
        if ended || reports[0].layer.depth >= deepest {
            break;
        }
        reports = workers.iter_mut().map(Worker::advance).collect::<Result<Vec<_>, _>>()?;
    }
    let total = |count: fn(&Counter) -> &AtomicU64| {
        counters.iter().map(|counter| count(counter).load(Ordering::Relaxed)).sum::<u64>() as f64
    };
    println!(
        "n={level} s={s} shards={shards}: {:.1} % of states sent, {:.3} bytes per state, \
         greatest/mean {:.2}",
        100.0 * total(|counter| &counter.sent) / sums.states as f64,
        total(|counter| &counter.bytes) / sums.states as f64,
        sums.uneven / sums.wide.max(1) as f64,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let level = numbers.next().unwrap_or(6);
    let deepest = numbers.next().unwrap_or(u32::MAX);
    for s in 3..=6.min(level.saturating_sub(2)) {
        for shards in [4, 16, 64] {
            search(level, s, shards, deepest)?;
        }
    }
    Ok(())
}
