//! Coding of a chunk: the words of consecutive blocks, either raw or as gaps between states.

use crate::layer::varint;

/// Bytes before the states: the fingerprint of the numbering and the coding.
pub(super) const HEAD: usize = 9;

/// Coding of states as varints: the first position, then the number of positions between two states.
const GAPS: u8 = 0;
/// Coding of words as they are.
const RAW: u8 = 1;

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// States are written as gaps only if the words are at least this many times as long, because words are
/// read in at most half the time.
const LONGER: usize = 2;

/// Appends a chunk with `states` states to `out`, as gaps if they have at most 1/[`LONGER`] of the bytes of
/// words.
pub(super) fn encode(fingerprint: u64, words: &[u64], states: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&fingerprint.to_le_bytes());
    let (start, most) = (out.len(), size_of_val(words) / LONGER);
    out.push(GAPS);
    // A gap has a byte at least.
    if states as usize > most || !push_gaps(words, start + most, out) {
        out.truncate(start);
        out.push(RAW);
        if cfg!(target_endian = "little") {
            out.extend_from_slice(bytemuck::cast_slice(words));
        } else {
            out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
}

/// Appends the gaps. Stops and returns false if `out` becomes longer than `most` bytes.
fn push_gaps(words: &[u64], most: usize, out: &mut Vec<u8>) -> bool {
    let mut next = 0;
    for (index, word) in words.iter().enumerate() {
        let mut left = *word;
        while left != 0 {
            let position = index * BITS + left.trailing_zeros() as usize;
            varint::put(out, (position - next) as u32);
            next = position + 1;
            left &= left - 1;
        }
        if out.len() > most {
            return false;
        }
    }
    true
}

/// An error of decoding: the offset in the chunk, what is expected there, and what was found.
pub(super) type Wrong = (usize, String, String);

/// The states of a chunk, after its head.
enum States<'a> {
    Gaps(&'a [u8]),
    Raw(&'a [[u8; 8]]),
}

impl<'a> States<'a> {
    /// The states of a chunk of `words` words.
    fn of(stored: &'a [u8], fingerprint: u64, words: usize) -> Result<States<'a>, Wrong> {
        let wrong = |at: usize, expected: String, found: String| Err((at, expected, found));
        let Some((head, states)) = stored.split_first_chunk::<HEAD>() else {
            return wrong(0, format!("at least {HEAD} bytes"), stored.len().to_string());
        };
        let [numbering @ .., coding] = head;
        let found = u64::from_le_bytes(*numbering);
        if found != fingerprint {
            return wrong(0, format!("the numbering {fingerprint:016x}"), format!("{found:016x}"));
        }
        match *coding {
            GAPS => Ok(States::Gaps(states)),
            RAW if states.len() == words * size_of::<u64>() => {
                Ok(States::Raw(states.as_chunks::<8>().0))
            }
            RAW => {
                let expected = format!("{} bytes of words", words * size_of::<u64>());
                wrong(HEAD, expected, states.len().to_string())
            }
            other => wrong(HEAD - 1, "coding 0 or 1".to_owned(), other.to_string()),
        }
    }
}

/// Decodes a chunk into its words.
///
/// # Errors
/// [`Wrong`].
pub(super) fn decode(stored: &[u8], fingerprint: u64, words: &mut [u64]) -> Result<(), Wrong> {
    match States::of(stored, fingerprint, words.len())? {
        States::Gaps(gaps) => {
            words.fill(0);
            let bits = words.len() * BITS;
            each_position(gaps, bits, |position| words[position / BITS] |= 1 << (position % BITS))
        }
        States::Raw(stored) => {
            for (word, bytes) in words.iter_mut().zip(stored) {
                *word = u64::from_le_bytes(*bytes);
            }
            Ok(())
        }
    }
}

/// What was decoded of a chunk.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoded {
    /// Number of states.
    pub(super) states: u64,
    /// The lanes that have a state in any word.
    pub(super) lanes: u64,
}

/// Decodes a chunk of blocks of `rows` words each, but only the blocks with states: sets their words, and
/// their counts to the number of words with states. All counts must be 0.
///
/// # Errors
/// [`Wrong`].
pub(super) fn decode_filled(
    stored: &[u8],
    fingerprint: u64,
    rows: usize,
    (words, counts): (&mut [u64], &mut [u32]),
) -> Result<Decoded, Wrong> {
    let mut decoded = Decoded::default();
    match States::of(stored, fingerprint, words.len())? {
        States::Gaps(gaps) => {
            let bits = words.len() * BITS;
            // The block of the last position, as its number and the words of it.
            let (mut block, mut of_block) = (0, 0..0);
            each_position(gaps, bits, |position| {
                let at = position / BITS;
                if at >= of_block.end {
                    block = at / rows;
                    of_block = block * rows..(block + 1) * rows;
                    words[of_block.clone()].fill(0);
                }
                let lane = 1 << (position % BITS);
                counts[block] += u32::from(words[at] == 0);
                words[at] |= lane;
                decoded.states += 1;
                decoded.lanes |= lane;
            })?;
        }
        States::Raw(stored) => {
            let blocks = words.chunks_exact_mut(rows).zip(stored.chunks_exact(rows));
            for ((words, stored), count) in blocks.zip(counts) {
                for (word, bytes) in words.iter_mut().zip(stored) {
                    *word = u64::from_le_bytes(*bytes);
                    *count += u32::from(*word != 0);
                    decoded.states += u64::from(word.count_ones());
                    decoded.lanes |= *word;
                }
            }
        }
    }
    Ok(decoded)
}

/// Calls `visit` with the positions that gaps stand for, ascending, each below `bits`.
fn each_position(gaps: &[u8], bits: usize, mut visit: impl FnMut(usize)) -> Result<(), Wrong> {
    let (mut at, mut next) = (0, 0_u64);
    while let Some(byte) = gaps.get(at) {
        let start = at;
        let gap = if *byte < 0x80 {
            // Most gaps are short.
            at += 1;
            u64::from(*byte)
        } else if let Some(gap) = varint::get(gaps, &mut at) {
            gap.into()
        } else {
            return Err((HEAD + start, "a gap".to_owned(), "other bytes".to_owned()));
        };
        let position = next + gap;
        if position >= bits as u64 {
            let expected = format!("a position below {bits}");
            return Err((HEAD + start, expected, position.to_string()));
        }
        visit(position as usize);
        next = position + 1;
    }
    Ok(())
}
