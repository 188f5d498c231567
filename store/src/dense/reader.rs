//! The reader of dense layers: it returns the words of ranges of blocks.

use std::ops::Range;

use strata_space::dense::DenseState;
use xxhash_rust::xxh3::xxh3_64;

use super::chunk;
use super::encoder::key;
use super::numbering::{DENSE_ENCODING, DenseNumbering, inconsistent};
use crate::error::{Result, StoreError};
use crate::layer::file::Layer;
use crate::layer::format;
use crate::layer::index::BlockMeta;

/// Reads the states of a dense layer, and checks each chunk that it reads.
#[derive(Debug)]
pub struct DenseReader<'a> {
    layer: &'a Layer,
    numbering: DenseNumbering,
}

impl<'a> DenseReader<'a> {
    /// A reader of a layer of a space with this numbering.
    ///
    /// # Errors
    /// `Corrupt` if the file is not a dense layer, or its chunks are not ranges of blocks.
    pub fn new(layer: &'a Layer, numbering: DenseNumbering) -> Result<DenseReader<'a>> {
        let name = layer.name();
        let kind = layer.header().kind;
        if !kind.is_dense() {
            return Err(StoreError::corrupt(&name, 10, "a dense layer", format!("{kind:?}")));
        }
        format::check(&name, 16, "encoding", &DENSE_ENCODING, &layer.header().encoding)?;
        for chunk in layer.blocks() {
            let range = range_of(chunk).filter(|range| {
                let blocks = u64::from(range.end - range.start);
                range.end <= numbering.blocks
                    && u64::from(chunk.regions) <= blocks
                    && u64::from(chunk.raw_len) == blocks * u64::from(numbering.rows) * 8
            });
            if range.is_none() {
                let DenseNumbering { blocks, rows, .. } = numbering;
                let expected = format!("a chunk of {blocks} blocks of {rows} rows");
                let BlockMeta { first, last, raw_len, .. } = chunk;
                let found = format!("{first} to {last} in {raw_len} bytes");
                return Err(StoreError::corrupt(&name, chunk.offset, expected, found));
            }
        }
        Ok(DenseReader { layer, numbering })
    }

    /// Fills `words` with the states of blocks from `first` on: a word for each row.
    ///
    /// # Errors
    /// `Corrupt` if a chunk is damaged or has another numbering, `Read` if the file cannot be read, `Io` or
    /// `NotFound` if a closed file cannot be opened, `Inconsistent` if `words` does not have whole blocks.
    pub fn read(&self, first: u32, words: &mut [u64]) -> Result<()> {
        let mut next = 0;
        for piece in self.pieces(first, words.len())? {
            words[next..piece.wanted.start].fill(0);
            next = piece.wanted.end;
            let target = &mut words[piece.wanted];
            if piece.part == (0..piece.words) {
                decode(self.layer, &self.numbering, piece.chunk, target)?;
                continue;
            }
            let mut all = vec![0; piece.words];
            decode(self.layer, &self.numbering, piece.chunk, &mut all)?;
            target.copy_from_slice(&all[piece.part]);
        }
        words[next..].fill(0);
        Ok(())
    }

    /// Reads the blocks from `first` on that have states: sets their words, a word for each row, and their
    /// counts, one for each block, to the number of words with states. The other words stay as they are. All
    /// counts must be 0. Checks the number of states of whole chunks against the index.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_filled(&self, first: u32, words: &mut [u64], counts: &mut [u32]) -> Result<()> {
        let rows = self.numbering.rows as usize;
        for piece in self.pieces(first, words.len())? {
            let (target, blocks) = (&mut words[piece.wanted.clone()], piece.wanted);
            let counts = &mut counts[blocks.start / rows..blocks.end / rows];
            if piece.part == (0..piece.words) {
                decode_filled(self.layer, &self.numbering, piece.chunk, (target, counts))?;
                continue;
            }
            let mut all = vec![0; piece.words];
            decode(self.layer, &self.numbering, piece.chunk, &mut all)?;
            target.copy_from_slice(&all[piece.part]);
            for (count, words) in counts.iter_mut().zip(target.chunks_exact(rows)) {
                *count = words.iter().map(|word| u32::from(*word != 0)).sum();
            }
        }
        Ok(())
    }

    /// Adds the states of blocks from `first` on to `words`: a word for each row.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn add(&self, first: u32, words: &mut [u64]) -> Result<()> {
        let mut all = Vec::new();
        for piece in self.pieces(first, words.len())? {
            all.resize(piece.words, 0);
            decode(self.layer, &self.numbering, piece.chunk, &mut all)?;
            let (target, source) = (&mut words[piece.wanted], &all[piece.part]);
            target.iter_mut().zip(source).for_each(|(word, more)| *word |= more);
        }
        Ok(())
    }

    /// The chunks that overlap the range of `words` words from block `first` on, ascending.
    ///
    /// # Errors
    /// `Inconsistent` if the range is not one of whole blocks.
    fn pieces(&self, first: u32, words: usize) -> Result<impl Iterator<Item = Piece<'a>>> {
        let blocks = self.numbering.blocks_of(first, words);
        let blocks = blocks.map_err(|what| inconsistent(self.layer.name(), what))?;
        let rows = self.numbering.rows as usize;
        let range = first..first + blocks;
        let chunks = self.chunks(&range).iter();
        Ok(chunks.filter_map(move |chunk| {
            let all = range_of(chunk)?;
            let common = range.start.max(all.start)..range.end.min(all.end);
            let words_of = |blocks: &Range<u32>, from: u32| {
                (blocks.start - from) as usize * rows..(blocks.end - from) as usize * rows
            };
            Some(Piece {
                chunk,
                words: all.len() * rows,
                wanted: words_of(&common, range.start),
                part: words_of(&common, all.start),
            })
        }))
    }

    /// Calls `visit` with the first block and the words of each chunk, ascending. Checks the number of
    /// states of each chunk against the index.
    ///
    /// # Errors
    /// `Corrupt` if a chunk is damaged or has another numbering, `Read` if the file cannot be read, `Io` or
    /// `NotFound` if a closed file cannot be opened, and the errors of `visit`.
    pub fn visit<E: From<StoreError>>(
        &self,
        mut visit: impl FnMut(u32, &[u64]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut words = Vec::new();
        for chunk in self.layer.blocks() {
            let Some(range) = range_of(chunk) else { continue };
            let blocks = (range.end - range.start) as usize;
            words.resize(blocks * self.numbering.rows as usize, 0);
            decode(self.layer, &self.numbering, chunk, &mut words)?;
            let states: u32 = words.iter().map(|word| word.count_ones()).sum();
            if states != chunk.states {
                let (expected, found) = (format!("{} states", chunk.states), states.to_string());
                let name = self.layer.name();
                return Err(StoreError::corrupt(&name, chunk.offset, expected, found).into());
            }
            visit(range.start, &words)?;
        }
        Ok(())
    }

    /// Calls `found` with the index of each of some states that the layer has. States must ascend. Chunks
    /// without any of their blocks are not read.
    ///
    /// # Errors
    /// `Corrupt` if a chunk is damaged or has another numbering, `Read` if the file cannot be read, `Io` or
    /// `NotFound` if a closed file cannot be opened.
    pub fn find(&self, states: &[DenseState], mut found: impl FnMut(usize)) -> Result<()> {
        let (mut words, mut at, rows) = (Vec::new(), 0, self.numbering.rows as usize);
        for chunk in self.layer.blocks() {
            let Some(range) = range_of(chunk) else { continue };
            at += states[at..].partition_point(|state| state.block < range.start);
            let end = at + states[at..].partition_point(|state| state.block < range.end);
            if at == end {
                continue;
            }
            words.resize(range.len() * rows, 0);
            decode(self.layer, &self.numbering, chunk, &mut words)?;
            for (index, state) in (at..end).zip(&states[at..end]) {
                let word = (state.block - range.start) as usize * rows + usize::from(state.row);
                let word = words.get(word).copied().unwrap_or(0);
                if word.checked_shr(state.lane.into()).is_some_and(|word| word & 1 == 1) {
                    found(index);
                }
            }
            at = end;
        }
        Ok(())
    }

    /// Upper bound of the number of states in a range of blocks: the states of all chunks that overlap it.
    pub fn states_near(&self, blocks: Range<u32>) -> u64 {
        self.chunks(&blocks).iter().map(|chunk| u64::from(chunk.states)).sum()
    }

    /// The chunks that overlap a range of blocks.
    fn chunks(&self, blocks: &Range<u32>) -> &'a [BlockMeta] {
        chunks_near(self.layer, blocks)
    }
}

/// The chunks of a layer that overlap a range of blocks.
pub(super) fn chunks_near<'a>(layer: &'a Layer, blocks: &Range<u32>) -> &'a [BlockMeta] {
    let chunks = layer.blocks();
    let from = chunks.partition_point(|chunk| chunk.last < key(blocks.start));
    let to = chunks.partition_point(|chunk| chunk.first < key(blocks.end));
    chunks.get(from..to).unwrap_or_default()
}

/// A chunk that overlaps the wanted words.
struct Piece<'a> {
    chunk: &'a BlockMeta,
    /// Number of words of the chunk.
    words: usize,
    /// The common words, as a range of the wanted words.
    wanted: Range<usize>,
    /// The common words, as a range of the chunk's words.
    part: Range<usize>,
}

/// The range of blocks of a chunk; None if its keys are not blocks.
fn range_of(chunk: &BlockMeta) -> Option<Range<u32>> {
    if chunk.first.shard != 0 || chunk.last.shard != 0 {
        return None;
    }
    let [first, last] = [chunk.first, chunk.last].map(|key| u32::try_from(key.region).ok());
    Some(first?..last?.checked_add(1)?)
}

/// Reads, checks and decodes a chunk into `words`.
fn decode(
    layer: &Layer,
    numbering: &DenseNumbering,
    chunk: &BlockMeta,
    words: &mut [u64],
) -> Result<()> {
    let mut buffer = Vec::new();
    let stored = read_stored(layer, chunk, &mut buffer)?;
    let decoded = chunk::decode(stored, numbering.fingerprint, words);
    decoded.map_err(|wrong| corrupt(layer, chunk, wrong))?;
    let lanes = words.iter().fold(0, |lanes, word| lanes | word);
    check_lanes(layer, numbering, chunk, lanes)
}

/// Reads, checks and decodes the blocks of a chunk that have states, as [`DenseReader::read_filled`] does.
fn decode_filled(
    layer: &Layer,
    numbering: &DenseNumbering,
    chunk: &BlockMeta,
    to: (&mut [u64], &mut [u32]),
) -> Result<()> {
    let mut buffer = Vec::new();
    let stored = read_stored(layer, chunk, &mut buffer)?;
    let (fingerprint, rows) = (numbering.fingerprint, numbering.rows as usize);
    let decoded = chunk::decode_filled(stored, fingerprint, rows, to);
    let decoded = decoded.map_err(|wrong| corrupt(layer, chunk, wrong))?;
    if decoded.states != u64::from(chunk.states) {
        let expected = format!("{} states", chunk.states);
        return Err(corrupt(layer, chunk, (0, expected, decoded.states.to_string())));
    }
    check_lanes(layer, numbering, chunk, decoded.lanes)
}

/// The stored bytes of a chunk.
fn read_stored<'a>(
    layer: &'a Layer,
    chunk: &BlockMeta,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8]> {
    let stored = layer.data().source.read(chunk.offset, chunk.stored_len as usize, buffer)?;
    let checksum = xxh3_64(stored);
    if checksum != chunk.checksum {
        let expected = format!("chunk checksum {:016x}", chunk.checksum);
        return Err(corrupt(layer, chunk, (0, expected, format!("{checksum:016x}"))));
    }
    Ok(stored)
}

fn corrupt(layer: &Layer, chunk: &BlockMeta, (at, expected, found): chunk::Wrong) -> StoreError {
    StoreError::corrupt(&layer.name(), chunk.offset + at as u64, expected, found)
}

fn check_lanes(
    layer: &Layer,
    numbering: &DenseNumbering,
    chunk: &BlockMeta,
    lanes: u64,
) -> Result<()> {
    if lanes & !numbering.lane_mask() == 0 {
        return Ok(());
    }
    Err(corrupt(layer, chunk, (0, "states in lanes".to_owned(), "others".to_owned())))
}
