//! Mutations of bytes and texts of any format.

use crate::fuzz::rng::Rng;

/// Longest input that a mutation makes, in bytes.
pub(crate) const MAX_LEN: usize = 64 << 10;

/// Random number of changes of one input, mostly small.
pub(crate) fn changes(rng: &mut Rng) -> usize {
    1 + rng.bits().trailing_zeros().min(7) as usize
}

/// A range of at most `most` elements.
fn range(rng: &mut Rng, len: usize, most: usize) -> std::ops::Range<usize> {
    let start = rng.below(len);
    let end = start + rng.below(most.min(len - start) + 1);
    start..end
}

/// Changes bytes: flips, numbers, insertions, deletions, copies, and parts of another input.
pub fn bytes(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    for _ in 0..changes(rng) {
        one_change(input, other, rng);
    }
    input.truncate(MAX_LEN);
}

fn one_change(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let len = input.len();
    if len == 0 {
        let part = range(rng, other.len().max(1), 64);
        input.extend_from_slice(other.get(part).unwrap_or(&[0]));
        return;
    }
    match rng.below(12) {
        0..=2 => input[rng.below(len)] ^= 1 << rng.below(8),
        3 => input[rng.below(len)] = rng.bits() as u8,
        4 | 5 => number(input, rng),
        6 => {
            let (at, count) = (rng.below(len + 1), 1 + rng.below(16));
            let byte = rng.bits() as u8;
            let new: Vec<u8> =
                (0..count).map(|_| if byte < 128 { byte } else { rng.bits() as u8 }).collect();
            input.splice(at..at, new);
        }
        7 => drop(input.drain(range(rng, len, 32))),
        8 => {
            let copied = input[range(rng, len, 256)].to_vec();
            let at = rng.below(len + 1);
            input.splice(at..at, copied);
        }
        9 => {
            let copied = input[range(rng, len, 64)].to_vec();
            let at = rng.below(len - copied.len() + 1);
            input[at..at + copied.len()].copy_from_slice(&copied);
        }
        10 => {
            let replaced = range(rng, len, 128);
            let part = range(rng, other.len().max(1), 128);
            input.splice(replaced, other.get(part).unwrap_or_default().to_vec());
        }
        _ => input.truncate(rng.below(len)),
    }
}

/// Overwrites, or changes by a little, a little-endian number of 1, 2, 4, 8 or 16 bytes.
pub(crate) fn number(input: &mut [u8], rng: &mut Rng) {
    let width = (1 << rng.below(5)).min(input.len());
    let at = rng.below(input.len() - width + 1);
    let mut word = [0; 16];
    word[..width].copy_from_slice(&input[at..at + width]);
    let old = u128::from_le_bytes(word);
    let new = match rng.below(3) {
        0 => old.wrapping_add(u128::from(rng.bits() % 9)).wrapping_sub(4),
        1 => old.rotate_left(rng.below(128) as u32),
        _ => u128::from(rng.edge(input.len())),
    };
    input[at..at + width].copy_from_slice(&new.to_le_bytes()[..width]);
}

/// Parts of texts that parsers may get wrong.
const WORDS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "00",
    "+1",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e999",
    "-0.0",
    "1e-999",
    "NaN",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "é",
    "\u{2028}",
    "\u{0}",
    "\n",
    "\r\n",
    "\t",
    " ",
    "/",
    "../",
    ".",
    "-",
    "_",
    ",",
    "(",
    ")",
    "9999999999999999999999999999",
];

/// Changes a text: characters, words of `dictionary` and of `WORDS`, repetitions and deletions.
pub fn text(input: &mut Vec<u8>, other: &[u8], dictionary: &[&str], rng: &mut Rng) {
    for _ in 0..changes(rng) {
        if rng.once_in(3) || input.is_empty() {
            let words = if dictionary.is_empty() || rng.once_in(3) { &WORDS } else { dictionary };
            let word = rng.pick(words).as_bytes().to_vec();
            let at = rng.below(input.len() + 1);
            let replaced = if rng.once_in(2) { token(input, at) } else { at..at };
            input.splice(replaced, word);
        } else if rng.once_in(2) {
            one_change(input, other, rng);
        } else {
            let (a, b) = (rng.below(input.len()), rng.below(input.len()));
            let (a, b) = (token(input, a), token(input, b));
            let moved = input[a].to_vec();
            input.splice(b, moved);
        }
    }
    input.truncate(MAX_LEN);
}

/// The range of the word, letters and digits, around a place.
fn token(input: &[u8], at: usize) -> std::ops::Range<usize> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let end = at + input[at..].iter().take_while(|byte| is_word(byte)).count();
    let start = at - input[..at].iter().rev().take_while(|byte| is_word(byte)).count();
    start..end
}
