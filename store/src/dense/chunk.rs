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

/// Appends a chunk to `out`, as gaps if they have at most 1/[`LONGER`] of the bytes of words.
pub(super) fn encode(fingerprint: u64, words: &[u64], out: &mut Vec<u8>) {
    out.extend_from_slice(&fingerprint.to_le_bytes());
    let start = out.len();
    out.push(GAPS);
    if !push_gaps(words, start + size_of_val(words) / LONGER, out) {
        out.truncate(start);
        out.push(RAW);
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
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

/// Decodes a chunk into its words.
///
/// # Errors
/// The offset in the chunk, what is expected there, and what was found.
pub(super) fn decode(
    stored: &[u8],
    fingerprint: u64,
    words: &mut [u64],
) -> Result<(), (usize, String, String)> {
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
        GAPS => decode_gaps(states, words),
        RAW if states.len() == size_of_val(words) => {
            let (stored, _) = states.as_chunks::<8>();
            for (word, bytes) in words.iter_mut().zip(stored) {
                *word = u64::from_le_bytes(*bytes);
            }
            Ok(())
        }
        RAW => {
            let (expected, found) = (size_of_val(words), states.len());
            wrong(HEAD, format!("{expected} bytes of words"), found.to_string())
        }
        other => wrong(HEAD - 1, "coding 0 or 1".to_owned(), other.to_string()),
    }
}

fn decode_gaps(gaps: &[u8], words: &mut [u64]) -> Result<(), (usize, String, String)> {
    words.fill(0);
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
        let Some(word) = words.get_mut((position / BITS as u64) as usize) else {
            let expected = format!("a position below {}", words.len() * BITS);
            return Err((HEAD + start, expected, position.to_string()));
        };
        *word |= 1 << (position % BITS as u64);
        next = position + 1;
    }
    Ok(())
}
