//! Check of single layer files without a manifest, as a worker of a cluster needs it.

use std::num::NonZeroU32;
use std::sync::Arc;

use strata_engine::dense::Counter;
use strata_engine::explicit::{Kernel, KernelMemory, count};
use strata_engine::symbolic::AnySearch;
use strata_space::LayerStats;
use strata_space::dense::DenseSpace;
use strata_store::{
    CheckpointFile, JobDir, JobSpec, Layer, LayerTotals, StoreError, VerifiedCounts,
};

use super::dense;
use super::files::open_record;
use super::history::check;
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::local::dense::numbering;
use crate::local::symbolic::load_diagram;
use crate::plan::sums::totals_of;

/// Memory for the regions of the kernel that recomputes digests.
const MEMORY: KernelMemory = KernelMemory { regions: 64 << 20, memo: 0, learned: 0 };

/// Checker of checkpoint files: reads them in full and counts their states again.
pub struct FileChecker {
    spec: JobSpec,
    reader: Reader,
}

enum Reader {
    Layers(LayerCounter),
    Diagrams(Box<dyn AnySearch>),
}

/// Counter of the states in layer files of the explicit and the dense engine.
pub(super) enum LayerCounter {
    Explicit(Box<dyn Kernel>),
    Dense {
        space: Arc<dyn DenseSpace>,
        /// Whether layers have digests.
        digest: bool,
    },
}

impl FileChecker {
    /// A checker for the files of jobs of a specification. `space` is the opened space. `memory` is the
    /// limit for the diagrams of a symbolic job, in bytes. The kernel of an explicit job takes 64 MiB; a
    /// dense job takes the tables of the dense form.
    ///
    /// # Errors
    /// [`Error::Space`] if the engine cannot search the space, [`Error::Step`] for too little memory.
    pub fn new(spec: &JobSpec, space: Space, memory: u64) -> Result<FileChecker> {
        let reader = if spec.engine.is_symbolic() {
            let options = strata_engine::symbolic::Options {
                memory: usize::try_from(memory).unwrap_or(usize::MAX),
                keep_layers: false,
                digests: spec.engine.has_digests(),
                verify: 0,
                threads: 1,
            };
            Reader::Diagrams(space.nested()?.open(options).map_err(Error::Step)?)
        } else {
            Reader::Layers(LayerCounter::new(spec, space)?)
        };
        Ok(FileChecker { spec: spec.clone(), reader })
    }

    /// Reads a file of a layer in full. Compares the depth, name, length and seal in the record with the
    /// file, and the file's counts and digest with its states. Returns the counts and digest.
    ///
    /// # Errors
    /// [`Error::Store`] if the file is missing, damaged or not the one recorded; [`Error::Worker`] if a
    /// diagram does not fit the memory.
    pub fn check(&mut self, folder: &JobDir, record: &CheckpointFile) -> Result<LayerTotals> {
        let counter = match &mut self.reader {
            Reader::Layers(counter) => counter,
            Reader::Diagrams(search) => {
                load_diagram(folder, record, &mut **search)?;
                return Ok(totals_of(&search.layer().stats));
            }
        };
        let layer = open_record(folder, self.spec.engine, record)?;
        let found = if record.is_older() {
            // Files of older layers have no digest; their checksums cover every byte.
            let (regions, states) = counter.verify(&layer)?;
            LayerTotals { regions, states, ..LayerTotals::default() }
        } else {
            totals_of(&counter.recount(&layer)?)
        };
        check(&|| layer.path().unwrap_or_default(), "totals", layer.totals(), &found)?;
        Ok(found)
    }
}

impl LayerCounter {
    /// A counter for the files of jobs of a specification, whose engine must be explicit or dense.
    ///
    /// # Errors
    /// [`Error::Space`] if the space has no dense form, and the engine is dense.
    pub(super) fn new(spec: &JobSpec, space: Space) -> Result<LayerCounter> {
        Ok(if spec.engine.is_dense() {
            LayerCounter::Dense { space: space.dense()?, digest: spec.engine.has_digests() }
        } else {
            LayerCounter::Explicit(space.engine(spec.shards).kernel(MEMORY))
        })
    }

    /// The symmetries whose orbits a dense job counts.
    pub(super) fn symmetries(&self) -> Option<NonZeroU32> {
        match self {
            LayerCounter::Dense { space, .. } => space.tables().symmetries(),
            LayerCounter::Explicit(_) => None,
        }
    }

    /// Reads a file of older layers in full. Returns its numbers of regions and states.
    fn verify(&self, layer: &Layer) -> std::result::Result<(u64, u64), StoreError> {
        match self {
            LayerCounter::Explicit(_) => {
                let VerifiedCounts { regions, states, .. } = layer.verify(&mut |_, _| {})?;
                Ok((regions, states))
            }
            LayerCounter::Dense { space, .. } => {
                layer.check_blocks()?;
                let counter = Counter::new(&**space, false);
                let LayerStats { regions, states, .. } =
                    dense::recount(layer, numbering(&**space), &counter)?;
                Ok((regions, states))
            }
        }
    }

    /// Reads a layer file in full, and counts its states.
    pub(super) fn recount(&mut self, layer: &Layer) -> std::result::Result<LayerStats, StoreError> {
        match self {
            LayerCounter::Explicit(kernel) => {
                layer.verify(&mut |_, _| {})?;
                count(&mut **kernel, layer, |_| true)
            }
            LayerCounter::Dense { space, digest } => {
                layer.check_blocks()?;
                let counter = Counter::new(&**space, *digest);
                dense::recount(layer, numbering(&**space), &counter)
            }
        }
    }
}
