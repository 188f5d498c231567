//! Run images: runs of exits as bytes for another process, in the format of spilled runs.

use strata_store::{
    BlockEncoder, FileKind, Layer, LayerHeader, LayerTotals, LayerWriter, StoreError,
};

use super::run::MemoryRun;

/// Header of a run of the exits of layer `depth`.
pub fn run_header(job: &str, depth: u32) -> LayerHeader {
    LayerHeader { kind: FileKind::Run, job: job.to_owned(), depth, encoding: 0 }
}

/// Encodes a sorted run of exits of layer `depth` as a sealed file in memory, with each region
/// once. The receiver passes its bytes ([`Layer::into_image`]) to [`Inbox::accept_image`].
///
/// # Errors
/// `Inconsistent` if the run is not sorted, `Io` if compression fails. The encoder is empty and can
/// be used again in either case.
///
/// [`Inbox::accept_image`]: crate::Inbox::accept_image
pub fn run_image(
    run: &MemoryRun,
    encoder: &mut BlockEncoder,
    job: &str,
    depth: u32,
) -> strata_store::Result<Layer> {
    let writer = LayerWriter::memory(run_header(job, depth))?;
    write_run(writer, encoder, |encoder, writer| {
        run.for_each_region(|key, locals| encoder.push(writer, key, locals))
    })
}

/// Writes a run with `fill` and seals it.
pub(crate) fn write_run(
    writer: LayerWriter,
    encoder: &mut BlockEncoder,
    fill: impl FnOnce(&mut BlockEncoder, &LayerWriter) -> strata_store::Result<()>,
) -> strata_store::Result<Layer> {
    let filled = fill(encoder, &writer).and_then(|()| encoder.finish(&writer));
    let part = filled.inspect_err(|_| encoder.discard())?;
    let totals = LayerTotals {
        regions: part.blocks.iter().map(|block| u64::from(block.regions)).sum(),
        states: part.blocks.iter().map(|block| u64::from(block.states)).sum(),
        ..LayerTotals::default()
    };
    writer.seal(vec![part], totals)
}

/// Bounds of the exits that a worker accepts from other processes.
#[derive(Copy, Clone)]
pub struct Bounds<'a> {
    /// Whether the worker owns a shard. Called with any number, also of shards that the job does
    /// not have.
    pub owns: &'a dyn Fn(u32) -> bool,
    /// Exclusive bound of locals, see [`Engine::locals`](crate::Engine::locals).
    pub locals: u32,
}

impl std::fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bounds").field("locals", &self.locals).finish_non_exhaustive()
    }
}

/// Reads all of a run in memory and checks it against the expected header and the bounds.
///
/// # Errors
/// `Corrupt` at the first deviation, `Inconsistent` if the run is not in memory.
pub(crate) fn check(
    run: &Layer,
    expect: &LayerHeader,
    bounds: &Bounds<'_>,
) -> strata_store::Result<()> {
    let corrupt = |offset, expected: String, found: String| StoreError::Corrupt {
        file: run.name(),
        offset,
        expected,
        found,
    };
    if run.image().is_none() {
        let what = "a received run is not in memory".to_owned();
        return Err(StoreError::Inconsistent { file: run.name(), what });
    }
    if run.header() != expect {
        // The offset of the kind, the first header field that differs between files.
        return Err(corrupt(10, format!("{expect:?}"), format!("{:?}", run.header())));
    }
    // `verify` below compares the index of shards with the entries.
    if let Some(foreign) = run.shards().iter().find(|entry| !(bounds.owns)(entry.shard)) {
        let block = run.blocks().get(foreign.first_block as usize);
        let offset = block.map_or(0, |block| block.offset);
        return Err(corrupt(offset, "own shards".to_owned(), format!("shard {}", foreign.shard)));
    }
    let mut beyond = None;
    run.verify(&mut |key, locals| {
        let greatest = locals.last().copied().unwrap_or(0);
        if greatest >= bounds.locals && beyond.is_none() {
            beyond = Some((key, greatest));
        }
    })?;
    let Some((key, greatest)) = beyond else { return Ok(()) };
    let block = run.blocks().iter().find(|block| key <= block.last);
    let offset = block.map_or(0, |block| block.offset);
    let expected = format!("locals below {}", bounds.locals);
    Err(corrupt(offset, expected, format!("{greatest} in region {key}")))
}
