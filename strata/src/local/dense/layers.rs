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

/// Words of earlier layers that a thread reads at a time.
const CHUNK_WORDS: usize = 1 << 15;

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
        if others.is_empty() {
            return Ok(());
        }
        // A budget has no room for as many words again.
        let rows = self.numbering.rows as usize;
        let blocks = (CHUNK_WORDS / rows).max(1);
        let mut more = vec![0; words.len().min(blocks * rows)];
        for (index, words) in words.chunks_mut(blocks * rows).enumerate() {
            let more = &mut more[..words.len()];
            for layer in others {
                layer.read(first + (index * blocks) as u32, more)?;
                words.iter_mut().zip(&*more).for_each(|(word, more)| *word |= more);
            }
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

#[cfg(test)]
mod tests {
    use strata_store::{DENSE_ENCODING, FileKind, LayerHeader, LayerTotals};

    use super::*;

    const NUMBERING: DenseNumbering =
        DenseNumbering { blocks: 30_000, rows: 3, lanes: 64, fingerprint: 7 };

    fn writer() -> LayerWriter {
        let (kind, encoding) = (FileKind::Dense, DENSE_ENCODING);
        LayerWriter::memory(LayerHeader { kind, job: "job".into(), depth: 1, encoding }).unwrap()
    }

    /// A layer with one state in every `step`-th word.
    fn layer(step: usize) -> (Layer, Vec<u64>) {
        let mut words = vec![0; 90_000];
        words.iter_mut().step_by(step).enumerate().for_each(|(at, word)| *word = 1 << (at % 64));
        let writer = writer();
        let read = |first: u32, to: &mut [u64]| {
            let at = first as usize * 3;
            to.copy_from_slice(&words[at..at + to.len()]);
        };
        let part = write_words(NUMBERING, &writer, read).unwrap();
        let states = words.iter().filter(|word| **word != 0).count() as u64;
        let regions = words.chunks(3).filter(|block| block.iter().any(|word| *word != 0)).count();
        let totals = LayerTotals { states, regions: regions as u64, ..LayerTotals::default() };
        (writer.seal(vec![part], totals).unwrap(), words)
    }

    #[test]
    fn earlier_layers_are_read_together() {
        let layers = [3, 5, 50_000].map(layer);
        let writer = writer();
        let current = &layers[0].0;
        for (from, blocks) in [(0, 30_000), (123, 29_000), (29_999, 1), (7, 0)] {
            for count in 0..=3 {
                let earlier = layers[..count].iter().map(|(layer, _)| layer);
                let step = StepLayers::new(NUMBERING, current, earlier, &writer).unwrap();
                let mut found = vec![9; blocks * 3];
                step.read_earlier(from as u32, &mut found).unwrap();
                let at = |word| layers[..count].iter().fold(0, |all, (_, words)| all | words[word]);
                let expected: Vec<u64> = (from * 3..(from + blocks) * 3).map(at).collect();
                assert!(found == expected, "{count} layers, {blocks} blocks from {from}");
            }
        }
    }
}
