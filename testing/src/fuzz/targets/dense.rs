//! Fuzz target for dense layer files: an accepted file has the same states read by chunk, read by
//! range, and after it is written again.

use strata_space::Weight;
use strata_store::{
    DENSE_ENCODING, DenseEncoder, DenseNumbering, DenseReader, FileKind, Layer, LayerHeader,
    LayerTotals, LayerWriter, StoreError,
};

use super::layer::header;
use super::layer_format::{reseal, seal_of};
use super::support::must;
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

const NUMBERING: DenseNumbering =
    DenseNumbering { blocks: 90, rows: 3, lanes: 60, fingerprint: 0x0123_4567_89ab_cdef };

/// Number of words of all blocks.
const WORDS: usize = (NUMBERING.blocks * NUMBERING.rows) as usize;

/// Dense layer files.
pub(super) struct DenseFiles {
    seeds: Vec<Vec<u8>>,
}

impl DenseFiles {
    pub(super) fn new() -> DenseFiles {
        DenseFiles { seeds: seeds() }
    }
}

/// Writes the words of all blocks to a file in memory, in ranges of `step` blocks.
fn image(header: LayerHeader, words: &[u64], step: usize) -> Result<Layer, StoreError> {
    let rows = NUMBERING.rows as usize;
    let writer = LayerWriter::memory(header)?;
    let mut encoder = DenseEncoder::new(NUMBERING);
    for (index, words) in words.chunks(step * rows).enumerate() {
        encoder.push(&writer, (index * step) as u32, words)?;
    }
    let states = words.iter().map(|word| u64::from(word.count_ones())).sum();
    let has_states = |block: &&[u64]| block.iter().any(|word| *word != 0);
    let regions = words.chunks(rows).filter(has_states).count() as u64;
    let totals = LayerTotals {
        regions,
        states,
        positions: states,
        generated: 2 * states,
        digest: Weight([states, 5]),
    };
    writer.seal(vec![encoder.finish()], totals)
}

/// Valid files: empty, one state, few states, many, all.
fn seeds() -> Vec<Vec<u8>> {
    let lanes = u64::MAX >> (64 - NUMBERING.lanes);
    let mut rng = Rng::new(1);
    let mut words = |one_in: usize, mask: u64| -> Vec<u64> {
        let word = |rng: &mut Rng| if rng.once_in(one_in) { rng.edge(60) & mask } else { 0 };
        (0..WORDS).map(|_| word(&mut rng)).collect()
    };
    let mut one = vec![0; WORDS];
    one[WORDS / 2] = 1 << (NUMBERING.lanes - 1);
    let contents = [
        (vec![0; WORDS], 90),
        (one, 90),
        (words(7, 0x0001_0000_0100_1001 & lanes), 30),
        (words(2, lanes), 20),
        (vec![lanes; WORDS], 90),
    ];
    let seed = |(words, step): &(Vec<u64>, usize)| {
        let (kind, encoding) = (FileKind::Dense, DENSE_ENCODING);
        let header = LayerHeader::new(kind, "job-1", 7, encoding);
        let layer = must(image(header, words, *step));
        must(layer.image().map(<[u8]>::to_vec).ok_or("the layer is in a file"))
    };
    contents.iter().map(seed).collect()
}

/// The words of all blocks, chunk by chunk.
fn visited(layer: &Layer) -> Result<Vec<u64>, StoreError> {
    let mut words = vec![0; WORDS];
    DenseReader::new(layer, NUMBERING)?.visit(|first, chunk| {
        let at = (first * NUMBERING.rows) as usize;
        words[at..at + chunk.len()].copy_from_slice(chunk);
        Ok::<(), StoreError>(())
    })?;
    Ok(words)
}

/// The words of blocks from `first` on.
fn read(layer: &Layer, first: usize, blocks: usize) -> Result<Vec<u64>, StoreError> {
    let mut words = vec![1; blocks * NUMBERING.rows as usize];
    DenseReader::new(layer, NUMBERING)?.read(first as u32, &mut words)?;
    Ok(words)
}

impl Target for DenseFiles {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        self.seeds.clone()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        mutate::bytes(input, other, rng);
        if !rng.once_in(8) {
            reseal(input);
        }
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let expect = header(input, FileKind::Dense);
        let layer = match Layer::from_bytes(input.to_vec(), "input", &expect) {
            Ok(layer) => layer,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        let all = NUMBERING.blocks as usize;
        let ranges = [(0, all), (0, 1), (all - 1, 1), (13, 40), (29, 2)];
        // Parts of a file may be readable even if the whole is not. Reading may fail only with an
        // error.
        let parts = ranges.map(|(first, blocks)| read(&layer, first, blocks));
        let words = match visited(&layer) {
            Ok(words) => words,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        for ((first, blocks), part) in ranges.into_iter().zip(parts) {
            let part = part.map_err(|error| format!("{blocks} blocks from {first}: {error}"))?;
            let rows = NUMBERING.rows as usize;
            if part != words[first * rows..(first + blocks) * rows] {
                return Err(format!("{blocks} blocks from {first}: {part:?} of {words:?}"));
            }
        }
        let totals = layer.totals();
        let states: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
        if totals.states != states {
            return Err(format!("{totals:?} of {states} states"));
        }
        // A file with the same seal as a valid file must be that file: manifests record only the
        // seal.
        let same_seal = self.seeds.iter().find(|seed| seal_of(seed) == seal_of(input));
        if same_seal.is_some_and(|seed| seed != input) {
            return Err("another file with the seal of a valid one".to_owned());
        }
        let written = image(expect, &words, 11);
        let written = written.map_err(|error| format!("it cannot be written: {error}"))?;
        match visited(&written) {
            Ok(again) if again == words => Ok(Outcome::Accepted),
            Ok(again) => Err(format!("{words:?} was written as {again:?}")),
            Err(error) => Err(format!("it cannot be read again: {error}")),
        }
    }
}
