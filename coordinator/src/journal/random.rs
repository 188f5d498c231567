//! Letters for names that must differ.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Six letters and digits that can be read aloud: `a` to `z`, `2` to `7`.
pub(super) fn letters() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    // The standard library seeds its hash maps with random numbers of the system's.
    let bits = RandomState::new().hash_one(0);
    (0..6).map(|place| char::from(LETTERS[(bits >> (5 * place)) as usize % 32])).collect()
}
