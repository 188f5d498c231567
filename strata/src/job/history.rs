//! A job's history, checked against its manifest.

use std::path::PathBuf;

use strata_store::{
    Checkpoint, Counters, Hex128, HistoryLine, JobDir, Manifest, RunState, StoreError,
};

use crate::plan::sums::{LayerSummary, Totals, stats_of};

/// The layers up to a checkpoint, which records their checksum.
#[derive(Clone, Debug, Default)]
pub struct JobHistory {
    /// The layers in order, from depth 0.
    pub(crate) lines: Vec<HistoryLine>,
    /// Their sums.
    pub(crate) totals: Totals,
}

impl JobHistory {
    /// The layers in order, from depth 0.
    pub fn lines(&self) -> &[HistoryLine] {
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

/// Reads the history up to the checkpoint and compares it with the manifest.
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
    let Totals { depth, states, generated, widest, digest, .. } = history.totals;
    let counters = &checkpoint.counters;
    check(&at, "states", &states, &counters.states)?;
    check(&at, "generated", &generated, &counters.generated)?;
    if let Some(result) = &manifest.result {
        check(&at, "layers", &depth, &result.layers)?;
        check(&at, "states", &states, &result.states)?;
        check(&at, "generated", &generated, &result.generated)?;
        check(&at, "widest", &widest, &result.widest)?;
        check(&at, "digest", &Hex128(digest.0), &result.digest)?;
    }
    records(folder, manifest, checkpoint, &history)?;
    Ok(history)
}

/// Sums up the lines, which must have consecutive depths up to the checkpoint's.
fn sum_up(
    folder: &JobDir,
    checkpoint: &Checkpoint,
    lines: Vec<HistoryLine>,
) -> Result<JobHistory, StoreError> {
    let at = || folder.path().join("history.jsonl");
    for (depth, line) in (0..).zip(&lines) {
        check(&at, "a line of depth", &depth, &line.depth)?;
    }
    let Counters { disk_peak_bytes, spilled_bytes, .. } = checkpoint.counters;
    let totals = Totals::of_lines(&lines, disk_peak_bytes, spilled_bytes);
    // The empty layer that ends a search of a whole space has no line.
    let last = checkpoint.layers.iter().filter(|record| record.depth == checkpoint.depth);
    let ended = last.map(|record| record.states).sum::<u64>() == 0;
    let expected = checkpoint.depth as usize + usize::from(!(ended && checkpoint.depth > 0));
    check(&at, "lines", &expected, &lines.len())?;
    Ok(JobHistory { lines, totals })
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
    let layers = u32::from(manifest.spec.engine.is_explicit());
    let first = checkpoint.depth.saturating_sub(layers);
    let workers = checkpoint.layers.iter().map(|record| record.worker + 1).max().unwrap_or(0);
    for depth in first..=checkpoint.depth {
        let mut of_layer: Vec<_> =
            checkpoint.layers.iter().filter(|record| record.depth == depth).collect();
        of_layer.sort_by_key(|record| record.worker);
        let found: Vec<u32> = of_layer.iter().map(|record| record.worker).collect();
        check(&at, "files of workers", &(0..workers).collect(), &found)?;
        let mut sum = LayerSummary { depth, ..LayerSummary::default() };
        for record in of_layer {
            sum.stats.add(&stats_of(&record.totals()));
        }
        let Some(line) = history.lines.get(depth as usize) else { continue };
        let expected = LayerSummary { bytes: 0, kept: Vec::new(), ..LayerSummary::of_line(line) };
        check(&at, "the history's layer", &expected, &sum)?;
    }
    let depths = first..=checkpoint.depth;
    let strange = checkpoint.layers.iter().find(|record| !depths.contains(&record.depth));
    check(&at, "no file of depth", &None, &strange.map(|record| record.depth))
}
