//! Dense layer files: the numbering of states, writing from planes, and the layers of a search by parts.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use strata_engine::dense::PartLayers;
use strata_space::dense::DenseSpace;
use strata_store::{
    DenseEncoder, DenseNumbering, DenseReader, FilePart, Layer, LayerWriter, Result, StoreError,
};

/// Number of words that are read at a time when a layer is written from memory.
const WORDS: usize = 1 << 18;

/// The numbering of a space's states in files.
pub fn numbering(space: &dyn DenseSpace) -> DenseNumbering {
    let (shape, fingerprint) = (space.tables().shape(), space.tables().fingerprint());
    DenseNumbering { blocks: shape.blocks, rows: shape.rows, lanes: shape.lanes, fingerprint }
}

/// Divides blocks into ranges of about [`WORDS`] words.
fn ranges(blocks: Range<u32>, rows: u32) -> impl Iterator<Item = Range<u32>> + use<> {
    let step = (WORDS / rows.max(1) as usize).max(1);
    let end = blocks.end;
    blocks.step_by(step).map(move |first| first..end.min(first.saturating_add(step as u32)))
}

/// Writes the states of some blocks. `read` fills words with the states of blocks from the given one on.
pub(super) fn write_words<E: From<StoreError>>(
    numbering: DenseNumbering,
    to: &LayerWriter,
    blocks: &[Range<u32>],
    mut read: impl FnMut(u32, &mut [u64]) -> std::result::Result<(), E>,
) -> std::result::Result<FilePart, E> {
    let mut encoder = DenseEncoder::new(numbering);
    let mut words = Vec::new();
    for blocks in blocks.iter().flat_map(|blocks| ranges(blocks.clone(), numbering.rows)) {
        words.resize(blocks.len() * numbering.rows as usize, 0);
        read(blocks.start, &mut words)?;
        encoder.push(to, blocks.start, &words)?;
    }
    Ok(encoder.finish())
}

/// Readers of layer files of one space, whose states are read together as one set.
pub(super) struct Readers<'a>(Vec<DenseReader<'a>>);

impl<'a> Readers<'a> {
    /// Readers of those files that have states.
    ///
    /// # Errors
    /// `Corrupt` if a file has another numbering.
    pub(super) fn new(
        numbering: DenseNumbering,
        layers: impl Iterator<Item = &'a Layer>,
    ) -> Result<Readers<'a>> {
        let filled = layers.filter(|layer| layer.totals().states > 0);
        let readers = filled.map(|layer| DenseReader::new(layer, numbering));
        Ok(Readers(readers.collect::<Result<_>>()?))
    }

    /// Upper bound of the number of states that the files have in a range of blocks.
    fn states_near(&self, blocks: &Range<u32>) -> u64 {
        self.0.iter().map(|reader| reader.states_near(blocks.clone())).sum()
    }

    /// Reads the states that any of the files has in blocks from `first` on.
    ///
    /// # Errors
    /// If a file is damaged.
    pub(super) fn read(&self, first: u32, words: &mut [u64]) -> Result<()> {
        let Some((reader, others)) = self.0.split_first() else {
            words.fill(0);
            return Ok(());
        };
        reader.read(first, words)?;
        others.iter().try_for_each(|reader| reader.add(first, words))
    }
}

/// The layers that one step of a search by parts reads and writes.
pub(super) struct StepLayers<'a> {
    numbering: DenseNumbering,
    current: Readers<'a>,
    earlier: Readers<'a>,
    writer: &'a LayerWriter,
    /// Encoders of the ranges written by threads. Each encoder takes ascending ranges.
    encoders: Mutex<Vec<DenseEncoder>>,
}

impl<'a> StepLayers<'a> {
    /// A step from the files of the current layer and of earlier layers, whose states are not new.
    ///
    /// # Errors
    /// `Corrupt` if a file has another numbering.
    pub(super) fn new(
        numbering: DenseNumbering,
        current: impl Iterator<Item = &'a Layer>,
        earlier: impl Iterator<Item = &'a Layer>,
        writer: &'a LayerWriter,
    ) -> Result<StepLayers<'a>> {
        let (current, earlier) =
            (Readers::new(numbering, current)?, Readers::new(numbering, earlier)?);
        Ok(StepLayers { numbering, current, earlier, writer, encoders: Mutex::default() })
    }

    /// The parts that were written.
    pub(super) fn into_parts(self) -> Vec<FilePart> {
        let encoders = self.encoders.into_inner().unwrap_or_else(PoisonError::into_inner);
        encoders.into_iter().map(|mut encoder| encoder.finish()).collect()
    }
}

impl PartLayers for StepLayers<'_> {
    type Error = StoreError;

    fn current_states(&self, blocks: Range<u32>) -> u64 {
        self.current.states_near(&blocks)
    }

    fn read_current(&self, first: u32, words: &mut [u64]) -> Result<()> {
        self.current.read(first, words)
    }

    fn read_earlier(&self, first: u32, words: &mut [u64]) -> Result<()> {
        self.earlier.read(first, words)
    }

    fn write(&self, first: u32, words: &[u64]) -> Result<()> {
        let encoders = || self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = encoders();
        let fitting = (0..free.len()).filter(|at| free[*at].next_block() <= first);
        // The encoder nearest to the range, so that others remain for earlier ranges.
        let nearest = fitting.max_by_key(|at| free[*at].next_block());
        let encoder = nearest.map(|at| free.swap_remove(at));
        drop(free);
        let mut encoder = encoder.unwrap_or_else(|| DenseEncoder::new(self.numbering));
        encoder.push(self.writer, first, words)?;
        encoders().push(encoder);
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
        LayerWriter::memory(LayerHeader::new(kind, "job", 1, encoding)).unwrap()
    }

    /// A layer with one state in every `step`-th word.
    fn layer(step: usize) -> (Layer, Vec<u64>) {
        let mut words = vec![0; 90_000];
        words.iter_mut().step_by(step).enumerate().for_each(|(at, word)| *word = 1 << (at % 64));
        let writer = writer();
        let read = |first: u32, to: &mut [u64]| {
            let at = first as usize * 3;
            to.copy_from_slice(&words[at..at + to.len()]);
            Ok::<_, StoreError>(())
        };
        let part =
            write_words(NUMBERING, &writer, std::slice::from_ref(&(0..NUMBERING.blocks)), read)
                .unwrap();
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
                let current = std::iter::once(current);
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
