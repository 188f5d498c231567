//! Lemma P2: in every segment of the real puzzle only small and slot tiles move, and it ends in a
//! listed row. Positions with the same signature have the same segments, whatever their colours.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::proof_lemmas::certificate::Certificate;
use crate::proof_lemmas::model::{Position, Puzzle, level};
use crate::proof_lemmas::useful::Useful;

/// Least lengths of segments by end (as in the certificate) and change of the order vector.
type Table = BTreeMap<(String, u32), u32>;

#[derive(Default, PartialEq, Eq, Debug)]
struct Found {
    useful_positions: usize,
    signatures: usize,
    /// Entries of the tables of all positions.
    entries: usize,
    /// Entries whose priced length equals the certificate's bound; 0 below N = 4.
    tight: usize,
}

/// All segments from an N-useful position.
fn segments(puzzle: Puzzle, start: Position, small: u8) -> Table {
    let first = Useful::new(puzzle, &start, small).unwrap();
    let mut table = Table::new();
    let mut known = FxHashSet::from_iter([start]);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((position, length)) = queue.pop_front() {
        if let Some(end) = Useful::new(puzzle, &position, small) {
            let entry = (first.row_of(&end, &position), first.order ^ end.order);
            table.entry(entry).or_insert(length);
            if length > 0 {
                continue;
            }
        }
        puzzle.moves(&position, |tile, after| {
            assert!(level(tile) <= small || first.is_slot(tile), "a fourth lower tile moves");
            if known.insert(after) {
                queue.push_back((after, length + 1));
            }
        });
    }
    table
}

/// Checks the segments between all N-useful positions that can be reached from the start.
fn check(levels: u8, small: u8) -> Found {
    let (puzzle, certificate) = (Puzzle { levels }, Certificate::made_here());
    let mut useful = Vec::new();
    puzzle.search(puzzle.start(), |position, _| {
        useful.extend(Useful::new(puzzle, position, small).map(|u| (*position, u)));
    });
    let mut found = Found { useful_positions: useful.len(), ..Found::default() };
    let mut tables: FxHashMap<String, Table> = FxHashMap::default();
    for (position, first) in useful {
        let signature = first.signature();
        assert!(certificate.lists(&signature), "{signature} of {position:?}");
        let table = segments(puzzle, position, small);
        for ((end, change), &length) in &table {
            let bit = (change >> (small - 1)) as usize;
            let bound = certificate.row(&signature, end, bit, small);
            let bound = bound.unwrap_or_else(|| panic!("no row {end} of {signature}"));
            if small >= 4 {
                let lower_bits = (1..small).filter(|i| change >> (i - 1) & 1 == 1);
                let prices: i64 = lower_bits.map(|i| certificate.price(i)).sum();
                let priced = i64::from(length) - prices;
                assert!(bound <= priced, "{signature} to {end}: {bound} > {priced}");
                found.tight += usize::from(bound == priced);
            }
        }
        found.entries += table.len();
        let of_signature = tables.entry(signature).or_insert_with(|| table.clone());
        assert_eq!(*of_signature, table, "{position:?}");
    }
    found.signatures = tables.len();
    found
}

fn found(useful_positions: usize, signatures: usize, entries: usize, tight: usize) -> Found {
    Found { useful_positions, signatures, entries, tight }
}

#[test]
fn only_slot_tiles_move_between_useful_positions() {
    assert_eq!(check(3, 2), found(120, 15, 4_064, 0));
    assert_eq!(check(4, 2), found(960, 58, 39_488, 0));
    assert_eq!(check(4, 3), found(240, 15, 16_256, 0));
}

#[test]
#[ignore = "takes 32 s in release"]
fn only_slot_tiles_move_between_useful_positions_of_level_5() {
    assert_eq!(check(5, 2), found(12_000, 267, 496_256, 0));
    assert_eq!(check(5, 3), found(1_920, 58, 157_952, 0));
    assert_eq!(check(5, 4), found(480, 15, 65_024, 16_064));
}

/// The theorem says nothing about the others.
#[test]
fn some_legal_positions_cannot_be_reached() {
    for (levels, legal, reachable) in [(3, 3_456, 3_048), (4, 103_104, 58_608)] {
        let puzzle = Puzzle { levels };
        let found = (legal_positions(puzzle).len(), puzzle.distances(puzzle.start()).len());
        assert_eq!(found, (legal, reachable));
    }
}

/// All legal positions: tiles are put on top of columns, one after the other.
fn legal_positions(puzzle: Puzzle) -> FxHashSet<Position> {
    let mut layer = FxHashSet::from_iter([Position::default()]);
    let tiles = 2..2 * puzzle.levels + 2;
    for _ in tiles.clone() {
        let mut next = FxHashSet::default();
        for position in &layer {
            let used: Vec<u8> = position.iter().flat_map(|column| column.tiles()).collect();
            for tile in tiles.clone().filter(|tile| !used.contains(tile)) {
                for c in 0..3 {
                    let mut after = *position;
                    after[c] = after[c].push(tile);
                    if puzzle.is_legal(&after) {
                        next.insert(after);
                    }
                }
            }
        }
        layer = next;
    }
    layer
}
