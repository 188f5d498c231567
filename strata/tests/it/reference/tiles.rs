//! Reference for sliding tiles, from the rules alone.

use super::search::layers_of;

/// The boards after a move of the blank, which is 0.
pub(crate) fn slides(columns: usize, board: &[u8]) -> Vec<Vec<u8>> {
    let blank = board.iter().position(|tile| *tile == 0).unwrap();
    let distance = |other: usize| {
        (blank / columns).abs_diff(other / columns) + (blank % columns).abs_diff(other % columns)
    };
    let beside = (0..board.len()).filter(|other| distance(*other) == 1);
    let slide = |other| {
        let mut next = board.to_vec();
        next.swap(blank, other);
        next
    };
    beside.map(slide).collect()
}

/// The image of a board of side 3 or less under the transposition that fixes `start`.
pub(crate) fn image(start: &[u8], board: &[u8]) -> Vec<u8> {
    let side = if board.len() == 4 { 2 } else { 3 };
    let transposed = |at: usize| at % side * side + at / side;
    let renamed = |tile: u8| {
        let at = start.iter().position(|at| *at == tile).unwrap();
        start[transposed(at)]
    };
    (0..board.len()).map(|at| renamed(board[transposed(at)])).collect()
}

/// By depth up to a limit, the number of orbits under a transposition and of boards, by a plain search.
pub(crate) fn orbits(start: &[u8], depth: usize) -> Vec<(u64, u64)> {
    let side = if start.len() == 4 { 2 } else { 3 };
    let layers = layers_of(&[start.to_vec()], depth, |board| slides(side, board));
    // Each orbit is counted once, at its smaller board.
    let is_least = |board: &&Vec<u8>| **board <= image(start, board);
    let count = |layer: &Vec<Vec<u8>>| (layer.iter().filter(is_least).count(), layer.len());
    layers.iter().map(count).map(|(orbits, boards)| (orbits as u64, boards as u64)).collect()
}
