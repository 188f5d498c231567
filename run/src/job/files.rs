//! Opening of a job's layer files by their records.

use std::path::Path;

use strata_store::{CheckpointFile, EngineKind, ExpectedFile, JobDir, KeptFile, Layer, Result};

use crate::local::worker::check_encoding;

/// Opens a file of a checkpoint.
///
/// # Errors
/// If the file is missing, damaged or not the one recorded.
pub(crate) fn open_record(
    folder: &JobDir,
    engine: EngineKind,
    record: &CheckpointFile,
) -> Result<Layer> {
    let path = folder.file_path(&record.file)?;
    opened(folder, engine, &path, &record.expect(folder.job(), engine))
}

/// Opens a kept file of a layer.
///
/// # Errors
/// As [`open_record`].
pub(crate) fn open_kept(
    folder: &JobDir,
    engine: EngineKind,
    depth: u32,
    kept: &KeptFile,
) -> Result<Layer> {
    let path = folder.file_path(&kept.file)?;
    opened(folder, engine, &path, &kept.expect(folder.job(), depth, engine))
}

fn opened(
    folder: &JobDir,
    engine: EngineKind,
    path: &Path,
    expect: &ExpectedFile<'_>,
) -> Result<Layer> {
    let layer = Layer::open(folder.fs().clone(), path, expect)?;
    if engine.is_explicit() {
        check_encoding(&layer)?;
    }
    Ok(layer)
}
