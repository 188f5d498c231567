//! Layer files of a job, opened by its records.

use strata_store::{CheckpointFile, EngineKind, ExpectedFile, JobDir, KeptFile, Layer, Result};

/// Opens a file of a checkpoint.
///
/// # Errors
/// If it is missing, damaged or another one.
pub(crate) fn open_record(
    folder: &JobDir,
    engine: EngineKind,
    record: &CheckpointFile,
) -> Result<Layer> {
    let path = folder.file_path(&record.file)?;
    let expect = ExpectedFile { kind: engine.file_kind(), ..record.expect(folder.job()) };
    Layer::open(folder.fs().clone(), &path, &expect)
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
    let expect = ExpectedFile { kind: engine.file_kind(), ..kept.expect(folder.job(), depth) };
    Layer::open(folder.fs().clone(), &path, &expect)
}
