//! Dense layers in files: the numbering, writing from words, and the layers of a search by parts.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use strata_dense::PartLayers;
use strata_space::dense::DenseSpace;
use strata_store::{
    DenseEncoder, DenseNumbering, DenseReader, FilePart, Layer, LayerWriter, Result,
};

/// Words that are read at a time when a layer is written from memory.
const WORDS: usize = 1 << 18;

/// The numbering of a space's states in files.
pub(crate) fn numbering(space: &dyn DenseSpace) -> DenseNumbering {
    let (shape, fingerprint) = (space.tables().shape(), space.tables().fingerprint());
    DenseNumbering { blocks: shape.blocks, rows: shape.rows, lanes: shape.lanes, fingerprint }
}

/// Ranges of blocks of about [`WORDS`] words.
fn ranges(numbering: &DenseNumbering) -> impl Iterator<Item = Range<u32>> + use<> {
    let DenseNumbering { blocks, rows, .. } = *numbering;
    let step = (WORDS / rows.max(1) as usize).max(1);
    (0..blocks).step_by(step).map(move |first| first..blocks.min(first.saturating_add(step as u32)))
}

/// Appends the states of all blocks, which `read` gives for a range from a block on.
pub(super) fn write_words(
    numbering: DenseNumbering,
    to: &LayerWriter,
    read: impl Fn(u32, &mut [u64]),
) -> Result<FilePart> {
    let mut encoder = DenseEncoder::new(numbering);
    let mut words = Vec::new();
    for blocks in ranges(&numbering) {
        words.resize(blocks.len() * numbering.rows as usize, 0);
        read(blocks.start, &mut words);
        encoder.push(to, blocks.start, &words)?;
    }
    Ok(encoder.finish())
}

/// The layers that one step of a search by parts reads and writes.
pub(super) struct StepLayers<'a> {
    numbering: DenseNumbering,
    current: DenseReader<'a>,
    earlier: Vec<DenseReader<'a>>,
    writer: &'a LayerWriter,
    parts: Mutex<Vec<FilePart>>,
}

impl<'a> StepLayers<'a> {
    /// A step from a layer. No new state is in it or in the earlier ones.
    ///
    /// # Errors
    /// `Corrupt` if a layer is none of this numbering.
    pub(super) fn new(
        numbering: DenseNumbering,
        current: &'a Layer,
        earlier: impl Iterator<Item = &'a Layer>,
        writer: &'a LayerWriter,
    ) -> Result<StepLayers<'a>> {
        Ok(StepLayers {
            numbering,
            current: DenseReader::new(current, numbering)?,
            earlier: earlier
                .map(|layer| DenseReader::new(layer, numbering))
                .collect::<Result<_>>()?,
            writer,
            parts: Mutex::default(),
        })
    }

    /// What was written.
    pub(super) fn into_parts(self) -> Vec<FilePart> {
        self.parts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartLayers for StepLayers<'_> {
    type Error = strata_store::StoreError;

    fn has_current(&self, blocks: Range<u32>) -> bool {
        self.current.states_near(blocks) > 0
    }

    fn read_current(&self, first: u32, words: &mut [u64]) -> Result<()> {
        self.current.read(first, words)
    }

    fn read_earlier(&self, first: u32, words: &mut [u64]) -> Result<()> {
        let Some((layer, others)) = self.earlier.split_first() else {
            words.fill(0);
            return Ok(());
        };
        layer.read(first, words)?;
        let mut more = vec![0; if others.is_empty() { 0 } else { words.len() }];
        for layer in others {
            layer.read(first, &mut more)?;
            words.iter_mut().zip(&more).for_each(|(word, more)| *word |= more);
        }
        Ok(())
    }

    fn write(&self, first: u32, words: &[u64]) -> Result<()> {
        let mut encoder = DenseEncoder::new(self.numbering);
        encoder.push(self.writer, first, words)?;
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(encoder.finish());
        Ok(())
    }
}
