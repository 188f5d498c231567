//! History of a job, checked against its manifest.

use std::path::PathBuf;

use strata_space::{LayerStats, MODULI};
use strata_store::{
    Checkpoint, CheckpointFile, Counters, JobDir, LayerRecord, Manifest, RunState, StoreError,
};

use crate::plan::sums::{Totals, stats_of, totals_of};

/// The layers of a job up to its last checkpoint.
#[derive(Clone, Debug, Default)]
pub struct JobHistory {
    /// The layers in order, from depth 0.
    pub(crate) lines: Vec<LayerRecord>,
    /// Their sums.
    pub(crate) totals: Totals,
}

impl JobHistory {
    /// The layers in order, from depth 0.
    pub fn lines(&self) -> &[LayerRecord] {
        &self.lines
    }

    /// Sums over the layers.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}

fn differs(
    file: PathBuf,
    what: &str,
    expected: impl std::fmt::Debug,
    found: impl std::fmt::Debug,
) -> StoreError {
    StoreError::Corrupt {
        file,
        offset: 0,
        expected: format!("{what} {expected:?}"),
        found: format!("{found:?}"),
    }
}

pub(super) fn check<T: PartialEq + std::fmt::Debug>(
    file: &dyn Fn() -> PathBuf,
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), StoreError> {
    if expected == found { Ok(()) } else { Err(differs(file(), what, expected, found)) }
}

/// Adds figures that a file records. Even a file with a valid checksum may record impossible figures.
///
/// # Errors
/// If a sum exceeds 64 bits, or a digest is invalid.
pub(super) fn add(
    file: &dyn Fn() -> PathBuf,
    sum: &mut LayerStats,
    more: &LayerStats,
) -> Result<(), StoreError> {
    let counts = [
        (sum.states, more.states),
        (sum.positions, more.positions),
        (sum.regions, more.regions),
        (sum.generated, more.generated),
    ];
    let fits = counts.iter().all(|(sum, more)| sum.checked_add(*more).is_some());
    check(file, "sums below 2^64:", &true, &fits)?;
    let is_digest = more.digest.0.iter().zip(MODULI).all(|(word, modulus)| *word < modulus);
    check(file, "a digest of residues:", &true, &is_digest)?;
    sum.add(more);
    Ok(())
}

/// Reads the history up to the last checkpoint and compares it with the manifest.
///
/// # Errors
/// If a file is missing or damaged, or the two disagree.
pub fn read_history(folder: &JobDir, manifest: &Manifest) -> Result<JobHistory, StoreError> {
    let at = || folder.path().join("manifest.json");
    let done = manifest.state == RunState::Done;
    check(&at, "a result only once it is done:", &done, &manifest.result.is_some())?;
    let Some(checkpoint) = &manifest.checkpoint else {
        return check(&at, "a checkpoint once it is done:", &false, &done)
            .map(|()| JobHistory::default());
    };
    let mut lines = folder.read_history(Some(&checkpoint.history))?.lines;
    // Lines after the checkpoint's prefix are ignored.
    lines.truncate(usize::try_from(checkpoint.history.lines).unwrap_or(usize::MAX));
    let history = sum_up(folder, checkpoint, lines)?;
    let Totals { depth, states, positions, orbits, generated, widest, digest, .. } = history.totals;
    let counters = &checkpoint.counters;
    check(&at, "states", &states, &counters.states)?;
    check(&at, "positions", &positions, &counters.positions)?;
    check(&at, "generated", &generated, &counters.generated)?;
    if let Some(result) = &manifest.result {
        check(&at, "layers", &depth, &result.layers)?;
        check(&at, "states", &states, &result.states)?;
        check(&at, "positions", &positions, &result.positions)?;
        check(&at, "orbits", &orbits, &result.orbits)?;
        check(&at, "generated", &generated, &result.generated)?;
        check(&at, "widest", &widest, &result.widest)?;
        check(&at, "digest", &digest, &result.digest)?;
    }
    records(folder, manifest, checkpoint, &history)?;
    Ok(history)
}

/// Sums up the lines, which must have consecutive depths up to the checkpoint's.
fn sum_up(
    folder: &JobDir,
    checkpoint: &Checkpoint,
    lines: Vec<LayerRecord>,
) -> Result<JobHistory, StoreError> {
    let at = || folder.path().join("history.jsonl");
    let (mut sum, mut bytes) = (LayerStats::default(), 0_u64);
    for (depth, line) in (0..).zip(&lines) {
        check(&at, "a line of depth", &depth, &line.depth)?;
        add(&at, &mut sum, &stats_of(&line.totals()))?;
        let fits = bytes.checked_add(line.bytes);
        check(&at, "bytes below 2^64:", &true, &fits.is_some())?;
        bytes = fits.unwrap_or_default();
    }
    let Counters { disk_peak_bytes, spilled_bytes, .. } = checkpoint.counters;
    let of_lines = Totals::of_lines(&lines);
    let totals = Totals { disk_peak: disk_peak_bytes, spilled: spilled_bytes, ..of_lines };
    // The empty layer that ends a search of a whole space has no line.
    let mut last = layers_of(checkpoint).filter(|record| record.depth == checkpoint.depth);
    let ended = last.all(|record| record.states == 0);
    let expected = checkpoint.depth as usize + usize::from(!(ended && checkpoint.depth > 0));
    check(&at, "lines", &expected, &lines.len())?;
    Ok(JobHistory { lines, totals })
}

/// The files of the checkpoint's layers, without older ones.
fn layers_of(checkpoint: &Checkpoint) -> impl Iterator<Item = &CheckpointFile> {
    checkpoint.layers.iter().filter(|record| !record.is_older())
}

/// Compares the checkpoint's records with the lines of its layers.
fn records(
    folder: &JobDir,
    manifest: &Manifest,
    checkpoint: &Checkpoint,
    history: &JobHistory,
) -> Result<(), StoreError> {
    let at = || folder.path().join("manifest.json");
    // A diagram has both layers in the file of the second.
    let layers = u32::from(!manifest.spec.engine.is_symbolic());
    let first = checkpoint.depth.saturating_sub(layers);
    let workers = layers_of(checkpoint).map(|record| u64::from(record.worker) + 1).max();
    for depth in first..=checkpoint.depth {
        let mut of_layer: Vec<_> =
            layers_of(checkpoint).filter(|record| record.depth == depth).collect();
        of_layer.sort_by_key(|record| record.worker);
        let found: Vec<u32> = of_layer.iter().map(|record| record.worker).collect();
        check(&at, "workers with a file", &workers.unwrap_or(0), &(found.len() as u64))?;
        check(&at, "files of workers", &(0..).take(found.len()).collect(), &found)?;
        let mut sum = LayerStats::default();
        for record in of_layer {
            add(&at, &mut sum, &stats_of(&record.totals()))?;
        }
        let Some(line) = history.lines.get(depth as usize) else { continue };
        check(&at, "the history's layer", &line.totals(), &totals_of(&sum))?;
    }
    if checkpoint.layers.iter().any(CheckpointFile::is_older) {
        let lines = history.lines.iter().take(first as usize);
        let expected: u64 = lines.map(|line| line.states).sum();
        let found = CheckpointFile::older_states(&checkpoint.layers);
        check(&at, "states of older layers", &expected, &found)?;
    }
    let strange =
        layers_of(checkpoint).find(|record| !(first..=checkpoint.depth).contains(&record.depth));
    check(&at, "no file of depth", &None, &strange.map(|record| record.depth))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use strata_store::{
        CheckpointFile, Digest, EngineKind, HistoryPrefix, JobSpec, RealFs, Weight,
    };

    use super::*;

    fn record(depth: u32, worker: u32, states: u64) -> CheckpointFile {
        CheckpointFile {
            depth,
            worker,
            file: "layer".to_owned(),
            bytes: 1,
            states,
            positions: states,
            regions: 1,
            generated: 0,
            digest: Digest::default(),
            seal: Default::default(),
        }
    }

    /// What is wrong with a job whose layer 0 has these figures and files.
    fn fault(lines: &[(u64, u64, [u64; 2])], layers: Vec<CheckpointFile>) -> String {
        let data = tempfile::tempdir().unwrap();
        let spec = JobSpec {
            space: "hanoi".to_owned(),
            params: Default::default(),
            shards: 1,
            engine: EngineKind::Symbolic,
        };
        let (job, mut manifest) =
            JobDir::create(Arc::new(RealFs), data.path(), "job", spec).unwrap();
        let mut history = job.create_history().unwrap();
        for (depth, (states, bytes, digest)) in (0..).zip(lines) {
            let line = LayerRecord {
                depth,
                states: *states,
                positions: *states,
                regions: 1,
                bytes: *bytes,
                digest: Weight(*digest),
                ..LayerRecord::default()
            };
            history.append(&line).unwrap();
        }
        let history: HistoryPrefix = history.checkpoint().unwrap();
        let depth = lines.len() as u32 - 1;
        let counters = Counters {
            states: lines.iter().fold(0, |a, b| a.wrapping_add(b.0)),
            positions: lines.iter().fold(0, |a, b| a.wrapping_add(b.0)),
            ..Default::default()
        };
        manifest.checkpoint = Some(Checkpoint { depth, layers, history, counters });
        job.write_manifest(&manifest).unwrap();
        let manifest = job.read_manifest().unwrap();
        read_history(&job, &manifest).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn sums_that_overflow_are_damage() {
        let huge = 1 << 63;
        assert_eq!(fault(&[(1, 1, [0, 0])], vec![record(0, 0, 1)]), "");
        let states = fault(&[(huge, 1, [0, 0]), (huge, 1, [0, 0])], vec![record(1, 0, huge)]);
        assert!(states.contains("sums below 2^64"), "{states}");
        let bytes = fault(&[(1, huge, [0, 0]), (1, huge, [0, 0])], vec![record(1, 0, 1)]);
        assert!(bytes.contains("bytes below 2^64"), "{bytes}");
        let files = vec![record(0, 0, huge), record(0, 1, huge)];
        let files = fault(&[(1, 1, [0, 0])], files);
        assert!(files.contains("sums below 2^64"), "{files}");
    }

    #[test]
    fn an_invalid_digest_is_damage() {
        let digest = fault(&[(1, 1, [u64::MAX, 0])], vec![record(0, 0, 1)]);
        assert!(digest.contains("a digest of residues"), "{digest}");
    }

    #[test]
    fn an_impossible_worker_number_is_damage() {
        for worker in [1, u32::MAX - 1, u32::MAX] {
            let found = fault(&[(1, 1, [0, 0])], vec![record(0, worker, 1)]);
            assert!(found.contains("workers with a file"), "{found}");
        }
        let twice = fault(&[(2, 1, [0, 0])], vec![record(0, 1, 1), record(0, 1, 1)]);
        assert!(twice.contains("files of workers"), "{twice}");
    }
}
