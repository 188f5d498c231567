//! Reference distances between any two Panex positions, from the rules alone.

use std::collections::HashMap;

use super::search::layers_of;
use super::{CentreTop, Position, Tile};

/// All legal positions of a level, reachable or not, centre-top ones included, in words.
pub(crate) fn all_positions(n: u8) -> Vec<String> {
    let tiles: Vec<Tile> = (1..=n as Tile).flat_map(|tile| [tile, -tile]).collect();
    let mut found = Vec::new();
    place(&tiles, Position([Vec::new(), Vec::new(), Vec::new()]), 0, &mut found);
    found.iter().map(text).collect()
}

/// Puts the remaining tiles onto a column and the next ones, in every arrangement once.
fn place(left: &[Tile], position: Position, column: usize, out: &mut Vec<Position>) {
    if left.is_empty() {
        out.push(position);
        return;
    }
    for column in column..3 {
        for (at, tile) in left.iter().enumerate() {
            let mut rest = left.to_vec();
            rest.remove(at);
            let mut next = position.clone();
            next.0[column].push(*tile);
            // More tiles on top do not make it legal again.
            if next.is_legal() {
                place(&rest, next, column, out);
            }
        }
    }
}

/// The number of moves to every position that can be reached from one.
pub(crate) fn distances(from: &str, centre_top: CentreTop) -> HashMap<String, u32> {
    let layers = layers_of(&[read(from)], usize::MAX, |position| position.successors(centre_top));
    let layers = (0..).zip(&layers);
    layers.flat_map(|(depth, layer)| layer.iter().map(move |at| (text(at), depth))).collect()
}

/// Whether a position has a tile on the centre's layer 0.
pub(crate) fn uses_centre_top(position: &str) -> bool {
    read(position).blocks_track()
}

/// Whether a position comes first among its images under the puzzle's symmetries, so that every pair of
/// positions is the image of one that begins with such a position.
pub(crate) fn is_first_image(position: &str) -> bool {
    let position = read(position);
    let mirrored = position.mirrored();
    let images = [position.recoloured(), mirrored.recoloured(), mirrored];
    images.iter().all(|image| position <= *image)
}

/// The position after some moves, given as columns `(from, to)`; None if one of them is illegal.
pub(crate) fn play(from: &str, moves: &[(usize, usize)], centre_top: CentreTop) -> Option<String> {
    let mut at = read(from);
    for (from, to) in moves {
        let mut next = at.clone();
        let tile = next.0[*from].pop()?;
        next.0[*to].push(tile);
        if !at.successors(centre_top).contains(&next) {
            return None;
        }
        at = next;
    }
    Some(text(&at))
}

/// A position in words: columns from the top down.
fn text(position: &Position) -> String {
    let tile = |tile: &Tile| format!("{}{}", if *tile > 0 { "b" } else { "o" }, tile.abs());
    let column = |column: &Vec<Tile>| match column.len() {
        0 => "-".to_owned(),
        _ => column.iter().rev().map(tile).collect::<Vec<_>>().join(" "),
    };
    position.0.each_ref().map(column).join(" / ")
}

fn read(text: &str) -> Position {
    let tile = |word: &str| {
        let level: Tile = word[1..].parse().expect("a level");
        if word.starts_with('b') { level } else { -level }
    };
    let mut columns = text.split(" / ").map(|column| {
        let words = column.split(' ').filter(|word| *word != "-");
        words.map(tile).rev().collect::<Vec<Tile>>()
    });
    Position(std::array::from_fn(|_| columns.next().expect("three columns")))
}
