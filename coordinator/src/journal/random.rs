//! Random letters for unique names.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Six characters of `a` to `z` and `2` to `7`, which are hard to confuse.
pub(super) fn letters() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    // The standard library seeds hash maps with random numbers of the operating system.
    let bits = RandomState::new().hash_one(0);
    (0..6).map(|place| char::from(LETTERS[(bits >> (5 * place)) as usize % 32])).collect()
}
