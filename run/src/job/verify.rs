//! Verification of a job's folder: whether manifest, history and layer files are intact and consistent.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use strata_engine::symbolic::AnySearch;
use strata_space::LayerStats;
use strata_store::{CheckpointFile, EngineKind, JobDir, Layer, Manifest, StoreError};

use super::checker::LayerCounter;
use super::files::{open_kept, open_record};
use super::history::{JobHistory, add, check, read_history};
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::local::symbolic::{check_diagram, load_diagram};
use crate::plan::sums::{stats_of, totals_of};

/// Maximum number of retries after a running job has published a newer checkpoint.
const ATTEMPTS: u32 = 100;

/// The outcome of a verification.
#[derive(Debug)]
pub struct Verified {
    /// The manifest that was verified: a running job may have a newer one by now.
    pub manifest: Manifest,
    /// The history of the job.
    pub history: JobHistory,
    /// The amount of data that was read.
    pub read: Reread,
}

/// Amount of data that was read again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reread {
    /// Number of files.
    pub files: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// States in the files.
    pub states: u64,
}

/// Verifies a job's folder, also while the job runs: reads every file that manifest and history name, and
/// recomputes the counts and digests of their states.
///
/// # Errors
/// The first damage found, as [`Error::Store`].
pub fn verify(folder: &JobDir, manifest: Manifest, space: Space) -> Result<Verified> {
    if manifest.spec.engine.is_symbolic() {
        return verify_symbolic(folder, manifest, &space);
    }
    let counter = LayerCounter::new(&manifest.spec, space);
    let mut counter = counter.map_err(|_| other_engine(folder, &manifest))?;
    let mut files = BTreeMap::new();
    let verified = verify_files(folder, manifest, &mut |layer| {
        let stats = counter.recount(layer)?;
        files.insert((layer.header().depth, layer.path()), stats);
        Ok(stats)
    })?;
    if let Some(symmetries) = counter.symmetries() {
        check_orbits(folder, &verified.history, symmetries, &files)?;
    }
    Ok(verified)
}

/// Checks the orbits of layers whose files were read again.
fn check_orbits(
    folder: &JobDir,
    history: &JobHistory,
    symmetries: NonZeroU32,
    files: &BTreeMap<(u32, Option<PathBuf>), LayerStats>,
) -> std::result::Result<(), StoreError> {
    for line in &history.lines {
        let of_layer = files.iter().filter(|((depth, _), _)| *depth == line.depth);
        let mut sum = LayerStats::default();
        of_layer.for_each(|(_, stats)| sum.add(stats));
        let Some(orbits) = line.orbits.filter(|_| sum.positions == line.positions) else {
            continue;
        };
        let pairs = sum.positions.saturating_add(sum.fixed);
        let found = (pairs / u64::from(symmetries.get()), pairs % u64::from(symmetries.get()));
        let at = || folder.path().join("history.jsonl");
        check(&at, "orbits", &(orbits, 0), &found)?;
    }
    Ok(())
}

/// Reads a layer in full, and counts its states.
type Recount<'a> = dyn FnMut(&Layer) -> std::result::Result<LayerStats, StoreError> + 'a;

fn verify_files(
    folder: &JobDir,
    manifest: Manifest,
    recount: &mut Recount<'_>,
) -> Result<Verified> {
    let (manifest, (history, layers)) = with_current(folder, manifest, |manifest| -> Result<_> {
        let history = read_history(folder, manifest)?;
        Ok((history, open_checkpoint(folder, manifest)?))
    })?;
    let mut read = Reread::default();
    for layer in &layers {
        read.add(reread(layer, Some(recount))?);
    }
    read.add(read_kept(folder, manifest.spec.engine, &history, Some(recount))?);
    Ok(Verified { manifest, history, read })
}

/// The error of a job whose engine cannot search its space.
fn other_engine(folder: &JobDir, manifest: &Manifest) -> StoreError {
    StoreError::Corrupt {
        file: folder.path().join("manifest.json"),
        offset: 0,
        expected: "an engine that can search the space".to_owned(),
        found: manifest.spec.engine.name().to_owned(),
    }
}

fn verify_symbolic(folder: &JobDir, manifest: Manifest, space: &Space) -> Result<Verified> {
    let options = strata_engine::symbolic::Options {
        memory: usize::MAX,
        keep_layers: false,
        digests: manifest.spec.engine.has_digests(),
        verify: 0,
        threads: 1,
    };
    let form = space.nested().map_err(|_| other_engine(folder, &manifest))?;
    let mut search = form.open(options).map_err(Error::Step)?;
    let (manifest, (history, read)) = with_current(folder, manifest, |manifest| -> Result<_> {
        let history = read_history(folder, manifest)?;
        Ok((history, read_diagrams(folder, manifest, &mut *search)?))
    })?;
    Ok(Verified { manifest, history, read })
}

/// Applies `read` to a job's manifest; when that fails and the job has published a newer manifest
/// meanwhile, to the newer one.
///
/// # Errors
/// The failure of `read` for a manifest that is still the current one.
pub fn with_current<T, E: From<StoreError>>(
    folder: &JobDir,
    mut manifest: Manifest,
    mut read: impl FnMut(&Manifest) -> std::result::Result<T, E>,
) -> std::result::Result<(Manifest, T), E> {
    let mut attempts = 0;
    loop {
        match read(&manifest) {
            Ok(value) => return Ok((manifest, value)),
            Err(error) => {
                let newer = folder.read_manifest()?;
                if newer == manifest || attempts == ATTEMPTS {
                    return Err(error);
                }
                manifest = newer;
            }
        }
        attempts += 1;
    }
}

/// Opens the checkpoint's layers, which stay readable when a running job removes their files.
pub(super) fn open_checkpoint(
    folder: &JobDir,
    manifest: &Manifest,
) -> std::result::Result<Vec<Layer>, StoreError> {
    let records = manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers);
    let open = |record: &CheckpointFile| {
        let layer = open_record(folder, manifest.spec.engine, record)?;
        check(&|| layer.path().unwrap_or_default(), "totals", &record.totals(), layer.totals())?;
        Ok(layer)
    };
    records.map(open).collect()
}

/// Reads a layer in full and checks its checksums or, with `recount`, its counts and digest, too.
fn reread(
    layer: &Layer,
    recount: Option<&mut Recount<'_>>,
) -> std::result::Result<Reread, StoreError> {
    let kind = layer.header().kind;
    match recount.filter(|_| !kind.is_older()) {
        Some(recount) => {
            let found = totals_of(&recount(layer)?);
            check(&|| layer.path().unwrap_or_default(), "totals", layer.totals(), &found)?;
        }
        None if kind.is_dense() => layer.check_blocks()?,
        None => {
            layer.verify(&mut |_, _| {})?;
        }
    }
    Ok(Reread { files: 1, bytes: layer.file_bytes(), states: layer.totals().states })
}

fn of_record(record: &CheckpointFile) -> Reread {
    Reread { files: 1, bytes: record.bytes, states: record.states }
}

/// Reads a symbolic checkpoint and recomputes its counts and digest.
fn read_diagrams(
    folder: &JobDir,
    manifest: &Manifest,
    search: &mut dyn AnySearch,
) -> Result<Reread> {
    let mut total = Reread::default();
    for record in manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers) {
        load_diagram(folder, record, search)?;
        let LayerStats { states, positions, generated, digest, .. } = search.layer().stats;
        let expected = (record.states, record.positions, record.generated, record.digest);
        let found = (states, positions, generated, digest);
        let at = || folder.path().join(&record.file);
        check(&at, "states, positions, moves and digest", &expected, &found)?;
        total.add(of_record(record));
    }
    Ok(total)
}

/// Reads the kept layers and compares them with the history.
pub(crate) fn read_kept_files(
    folder: &JobDir,
    manifest: &Manifest,
    history: &JobHistory,
) -> std::result::Result<Reread, StoreError> {
    read_kept(folder, manifest.spec.engine, history, None)
}

fn read_kept(
    folder: &JobDir,
    engine: EngineKind,
    history: &JobHistory,
    mut recount: Option<&mut Recount<'_>>,
) -> std::result::Result<Reread, StoreError> {
    let mut total = Reread::default();
    for line in &history.lines {
        if line.kept.is_empty() {
            continue;
        }
        let at = || folder.path().join("history.jsonl");
        let mut sum = LayerStats::default();
        for kept in &line.kept {
            let layer = open_kept(folder, engine, line.depth, kept)?;
            // A reborrow: the closure is used again for the next file.
            let recount = recount.as_mut().map(|recount| &mut **recount as &mut Recount<'_>);
            total.add(reread(&layer, recount)?);
            add(&at, &mut sum, &stats_of(layer.totals()))?;
        }
        check(&at, "kept files of the layer:", &line.totals(), &totals_of(&sum))?;
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

/// Reads every file that manifest and history name.
pub(crate) fn read_files(
    folder: &JobDir,
    manifest: &Manifest,
    history: &JobHistory,
) -> std::result::Result<Reread, StoreError> {
    let mut total = Reread::default();
    if !manifest.spec.engine.is_symbolic() {
        for layer in open_checkpoint(folder, manifest)? {
            total.add(reread(&layer, None)?);
        }
    } else {
        for record in manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers) {
            check_diagram(folder, record)?;
            total.add(of_record(record));
        }
    }
    total.add(read_kept_files(folder, manifest, history)?);
    Ok(total)
}
