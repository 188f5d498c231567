//! Generator of the journal of a coordinator that has run many small jobs, for measurements.
//!
//! Usage: `many_jobs DATA_DIR [JOBS [KEEP]]`. With KEEP, all but the newest KEEP jobs are removed
//! after each job, as `--retain-jobs` does. Prints the size of the journal, and the time
//! it takes to open.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use strata_coordinator::{ClusterCheckpoint, EndState, JobOptions, JobState, Journal};
use strata_store::{CheckpointFile, EngineKind, Hex64, JobResult, JobSpec, LayerRecord, Weight};

/// Layers of each job.
const LAYERS: u32 = 64;

/// Workers of the cluster.
const WORKERS: u32 = 3;

fn line(depth: u32) -> LayerRecord {
    LayerRecord {
        depth,
        states: 1000 + u64::from(depth),
        positions: 1000 + u64::from(depth),
        generated: 3000,
        regions: 50,
        bytes: 2000,
        digest: Weight([7, 8]),
        seconds: f64::from(depth) / 100.0,
        ..LayerRecord::default()
    }
}

/// A checkpoint of the last two layers, with a file of each worker.
fn checkpoint() -> ClusterCheckpoint {
    let file = |depth: u32, worker: u32| CheckpointFile {
        depth,
        worker,
        file: format!("layer-{depth:06}-{worker:03}.strata"),
        bytes: 4096,
        states: 300,
        positions: 300,
        regions: 20,
        generated: 1000,
        digest: Weight([1, 2]),
        seal: Hex64(99),
    };
    let depths = LAYERS - 2..LAYERS;
    let records = depths.flat_map(|depth| (0..WORKERS).map(move |worker| file(depth, worker)));
    ClusterCheckpoint {
        depth: LAYERS - 1,
        records: records.collect(),
        owners: (0..64).map(|shard| shard % WORKERS as u16).collect(),
        made: 0,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("usage: many_jobs DATA_DIR [JOBS]")?;
    let jobs: u32 = args.next().map_or(Ok(10_000), |jobs| jobs.parse())?;
    let keep: Option<usize> = args.next().map(|keep| keep.parse()).transpose()?;
    let path = Path::new(&folder).join("journal.redb");
    std::fs::create_dir_all(&folder)?;
    let journal = Journal::open(&path)?;
    let spec = JobSpec {
        space: "panex".to_owned(),
        params: [("level".to_owned(), "4".to_owned())].into(),
        shards: 64,
        engine: EngineKind::Explicit,
    };
    let lines: Vec<LayerRecord> = (0..LAYERS).map(line).collect();
    for number in 0..jobs {
        let name = format!("job-{number}-{}", std::process::id());
        let (created, options) = (u64::from(number), JobOptions::default());
        let (job, _) = journal.submit(
            "panex-4",
            Some((&*name).into()),
            spec.clone(),
            options,
            created,
            Some(LAYERS),
        )?;
        journal.checkpoint(&job.id, &lines, |entry| {
            entry.state = JobState::Done;
            entry.checkpoint = Some(checkpoint());
            entry.result = Some(JobResult {
                moves: Some(128),
                layers: LAYERS,
                states: 11_620,
                positions: 11_620,
                orbits: None,
                generated: 30_000,
                widest: 1063,
                digest: Weight([3, 4]),
                seconds: 0.64,
                peak_rss_bytes: 1 << 24,
                disk_peak_bytes: 1 << 20,
            });
        })?;
        if let Some(keep) = keep {
            for job in journal.ended_beyond(keep, &[EndState::Done])? {
                journal.remove(&job.id)?;
            }
        }
    }
    drop(journal);
    let bytes = std::fs::metadata(&path)?.len();
    let begun = Instant::now();
    let left = Journal::open(&path)?.jobs()?.len();
    println!("{left} jobs, {bytes} bytes, opened and read in {:?}", begun.elapsed());
    Ok(())
}
