//! Checks a job's folder: that manifest, history and layer files are whole and agree.

use std::path::PathBuf;

use strata::{LayerSummary, Totals};
use strata::{load_frontier, read_diagram};
use strata_explicit::{Kernel, count};
use strata_space::{Digest, LayerStats, Weight};
use strata_store::{
    Checkpoint, CheckpointFile, Counters, Hex128, HistoryLine, JobDir, LayerTotals, Manifest,
    RunState, StoreError,
};
use strata_symbolic::AnySearch;

/// What a checkpoint vouches for in a job's history.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The layers in order, from depth 0.
    pub(crate) lines: Vec<HistoryLine>,
    /// Their sums.
    pub(crate) totals: Totals,
}

/// What was read again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reread {
    /// Files.
    pub(crate) files: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// States in them.
    pub(crate) states: u64,
}

fn digest(words: Hex128) -> Digest {
    Weight(words.0)
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

fn check<T: PartialEq + std::fmt::Debug>(
    file: &dyn Fn() -> PathBuf,
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), StoreError> {
    if expected == found { Ok(()) } else { Err(differs(file(), what, expected, found)) }
}

/// Reads the history up to the checkpoint and compares it with the manifest.
pub(crate) fn ledger(folder: &JobDir, manifest: &Manifest) -> Result<Ledger, StoreError> {
    let at = || folder.path().join("manifest.json");
    let done = manifest.state == RunState::Done;
    check(&at, "a result only once it is done:", &done, &manifest.result.is_some())?;
    let Some(checkpoint) = &manifest.checkpoint else {
        return check(&at, "a checkpoint once it is done:", &false, &done)
            .map(|()| Ledger::default());
    };
    let mut lines = folder.read_history(Some(&checkpoint.history))?.lines;
    // What follows the prefix that the checkpoint vouches for is not looked at.
    lines.truncate(usize::try_from(checkpoint.history.lines).unwrap_or(usize::MAX));
    let ledger = sum_up(folder, checkpoint, lines)?;
    let Totals { depth, states, generated, widest, digest, .. } = ledger.totals;
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
    records(folder, manifest, checkpoint, &ledger)?;
    Ok(ledger)
}

/// Sums up the lines, which must have consecutive depths up to the checkpoint's.
fn sum_up(
    folder: &JobDir,
    checkpoint: &Checkpoint,
    lines: Vec<HistoryLine>,
) -> Result<Ledger, StoreError> {
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
    Ok(Ledger { lines, totals })
}

/// Compares the checkpoint's records with the lines of its layers.
fn records(
    folder: &JobDir,
    manifest: &Manifest,
    checkpoint: &Checkpoint,
    ledger: &Ledger,
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
            sum.states += record.states;
            sum.regions += record.regions;
            sum.generated += record.generated;
            sum.digest += digest(record.digest);
        }
        let Some(line) = ledger.lines.get(depth as usize) else { continue };
        let expected = LayerSummary { bytes: 0, kept: Vec::new(), ..LayerSummary::of_line(line) };
        check(&at, "the history's layer", &expected, &sum)?;
    }
    let depths = first..=checkpoint.depth;
    let strange = checkpoint.layers.iter().find(|record| !depths.contains(&record.depth));
    check(&at, "no file of depth", &None, &strange.map(|record| record.depth))
}

/// The checkpoint's layers, opened: they stay readable when a running job removes them.
pub(crate) fn open_checkpoint(
    folder: &JobDir,
    manifest: &Manifest,
) -> Result<Vec<strata_store::Layer>, StoreError> {
    let records = manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers);
    let open = |record: &CheckpointFile| {
        let path = folder.file_path(&record.file)?;
        let layer =
            strata_store::Layer::open(folder.fs().clone(), &path, &record.expect(folder.job()))?;
        let expected = LayerTotals {
            regions: record.regions,
            states: record.states,
            generated: record.generated,
            digest: record.digest.0,
        };
        check(&|| path.clone(), "totals", &expected, layer.totals())?;
        Ok(layer)
    };
    records.map(open).collect()
}

/// Reads a layer again in full; with a kernel also recomputes what its states add up to.
pub(crate) fn reread(
    layer: &strata_store::Layer,
    kernel: Option<&mut (dyn Kernel + 'static)>,
) -> Result<Reread, StoreError> {
    layer.verify(&mut |_, _| {})?;
    if let Some(kernel) = kernel {
        let stats = count(kernel, layer, |_| true)?;
        let found = LayerTotals {
            regions: stats.regions,
            states: stats.states,
            generated: stats.generated,
            digest: stats.digest.0,
        };
        check(&|| layer.path().unwrap_or_default(), "totals", layer.totals(), &found)?;
    }
    Ok(Reread { files: 1, bytes: layer.file_bytes(), states: layer.totals().states })
}

fn of_record(record: &CheckpointFile) -> Reread {
    Reread { files: 1, bytes: record.bytes, states: record.states }
}

/// Reads a symbolic checkpoint again and recomputes what its states add up to.
pub(crate) fn diagrams(
    folder: &JobDir,
    manifest: &Manifest,
    search: &mut dyn AnySearch,
) -> Result<Reread, StoreError> {
    let mut total = Reread::default();
    for record in manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers) {
        load_frontier(folder, record, search)?;
        let LayerStats { states, generated, digest, .. } = search.layer().stats;
        let expected = (record.states, record.generated, record.digest);
        let at = || folder.path().join(&record.file);
        check(&at, "states, moves and digest", &expected, &(states, generated, Hex128(digest.0)))?;
        total.add(of_record(record));
    }
    Ok(total)
}

/// Reads the kept layers again and compares them with the history.
pub(crate) fn kept_files(
    folder: &JobDir,
    ledger: &Ledger,
    mut kernel: Option<&mut (dyn Kernel + 'static)>,
) -> Result<Reread, StoreError> {
    let mut total = Reread::default();
    for line in &ledger.lines {
        let Some(kept) = &line.kept else { continue };
        let mut sum = LayerSummary { depth: line.depth, ..LayerSummary::default() };
        for kept in kept {
            let path = folder.file_path(&kept.file)?;
            let expect = kept.expect(folder.job(), line.depth);
            let layer = strata_store::Layer::open(folder.fs().clone(), &path, &expect)?;
            total.add(reread(&layer, kernel.as_deref_mut())?);
            sum.states += layer.totals().states;
            sum.regions += layer.totals().regions;
            sum.generated += layer.totals().generated;
            sum.digest += digest(Hex128(layer.totals().digest));
        }
        let expected = LayerSummary { bytes: 0, kept: Vec::new(), ..LayerSummary::of_line(line) };
        let at = || folder.path().join("history.jsonl");
        check(&at, "kept files of", &sum, &expected)?;
    }
    Ok(total)
}

impl Reread {
    /// Adds another part.
    pub(crate) fn add(&mut self, other: Reread) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.states += other.states;
    }
}

/// Reads every file again that manifest and history name.
pub(crate) fn files(
    folder: &JobDir,
    manifest: &Manifest,
    ledger: &Ledger,
) -> Result<Reread, StoreError> {
    let mut total = Reread::default();
    if manifest.spec.engine.is_explicit() {
        for layer in open_checkpoint(folder, manifest)? {
            total.add(reread(&layer, None)?);
        }
    } else {
        for record in manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers) {
            read_diagram(folder, record)?;
            total.add(of_record(record));
        }
    }
    total.add(kept_files(folder, ledger, None)?);
    Ok(total)
}
