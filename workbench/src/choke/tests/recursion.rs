//! Comparison of tables of the recursion with tables of searches over positions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::super::classes::{BaseTable, Structure};
use super::super::error::UNREACHED;
use super::super::graph::{self, Reach};
use super::super::kernel::AvailableVectors;
use super::super::run::Run;
use super::super::signature::{LEVEL_CAP, Pattern, ROW_CAP, Signature};
use super::super::tables::{Keep, Tables};

type Table = BTreeMap<Pattern, Vec<u32>>;

fn by_tiles(small: u8, signature: &Signature) -> Table {
    let BaseTable { patterns, costs } = BaseTable::search(small, signature);
    patterns.iter().copied().zip(costs.iter().cloned()).collect()
}

/// The tables of level `small + 1`, made by a plain search from the base tables of level `small`.
struct Recursion {
    small: u8,
    tables: FxHashMap<Signature, BaseTable>,
}

impl Recursion {
    fn new(small: u8) -> Self {
        Self { small, tables: FxHashMap::default() }
    }

    fn table(&mut self, signature: &Signature) -> Table {
        let Self { small, tables } = self;
        let nodes = graph::build(signature, Reach::Segment, &mut |s| {
            let table = tables.entry(*s).or_insert_with(|| BaseTable::search(*small, s));
            Arc::clone(&table.patterns)
        });
        let half = 1_usize << *small;
        let mut costs = vec![vec![UNREACHED; 2 * half]; nodes.len()];
        costs[0][0] = 0;
        let mut heap = BinaryHeap::from([Reverse((0, 0, 0))]);
        while let Some(Reverse((cost, node, swaps))) = heap.pop() {
            let ends = cost > 0 && nodes[node].useful.is_some();
            if cost > costs[node][swaps] || ends {
                continue;
            }
            let rows = &tables[&nodes[node].signature].costs;
            for (edge, row) in nodes[node].edges.iter().zip(rows.iter()) {
                let (to, from) = (edge.to as usize, if edge.flips { swaps ^ half } else { swaps });
                for (w, &more) in row.iter().enumerate().filter(|(_, c)| **c < UNREACHED) {
                    let known = &mut costs[to][from ^ w];
                    if cost + more < *known {
                        *known = cost + more;
                        heap.push(Reverse((cost + more, to, from ^ w)));
                    }
                }
            }
        }
        let rows = nodes.iter().zip(costs);
        rows.filter_map(|(node, costs)| Some((node.useful?, costs))).collect()
    }
}

#[test]
fn level_two_follows_from_level_one() {
    let mut recursion = Recursion::new(1);
    for signature in Signature::all(LEVEL_CAP - 1, ROW_CAP - 1).iter().step_by(7) {
        assert_eq!(recursion.table(signature), by_tiles(2, signature), "{signature:?}");
    }
}

#[test]
fn level_three_follows_from_level_two() {
    let mut recursion = Recursion::new(2);
    for signature in Signature::all(LEVEL_CAP - 1, ROW_CAP - 1).iter().step_by(211) {
        assert_eq!(recursion.table(signature), by_tiles(3, signature), "{signature:?}");
    }
}

#[test]
#[ignore = "takes long"]
fn all_of_level_two_and_many_of_level_three() {
    let signatures = Signature::all(LEVEL_CAP - 1, ROW_CAP - 1);
    let mut recursion = Recursion::new(1);
    for signature in &signatures {
        assert_eq!(recursion.table(signature), by_tiles(2, signature), "{signature:?}");
    }
    let mut recursion = Recursion::new(2);
    for signature in signatures.iter().step_by(37) {
        assert_eq!(recursion.table(signature), by_tiles(3, signature), "{signature:?}");
    }
}

/// The next level's tables of all classes.
pub(super) fn next_level(tables: &Tables) -> Tables {
    let structure = Structure::shared();
    let run = Run {
        threads: 2,
        vectors: AvailableVectors::new(None),
        cancel: None,
        progress: None,
        started: Instant::now(),
    };
    let all: Vec<usize> = (0..structure.classes.len()).collect();
    tables.next(structure, &all, Keep::Rows, &run).unwrap()
}

pub(super) fn level_three() -> Tables {
    next_level(&Tables::base(Structure::shared()))
}

#[test]
fn the_tables_of_a_class_hold_for_its_signatures() {
    let structure = Structure::shared();
    let tables = level_three();
    let mut seen = vec![0; structure.classes.len()];
    let mut signatures: Vec<_> = structure.class_of.iter().collect();
    signatures.sort_unstable();
    for (signature, &class) in signatures.into_iter().rev() {
        seen[class] += 1;
        // The first of each class and then one in fifty.
        if seen[class] % 50 == 1 {
            let patterns = structure.classes[class].patterns.iter().enumerate();
            let row = |row| tables.row(structure, class, row).to_vec();
            let table: Table = patterns.map(|(k, pattern)| (*pattern, row(k))).collect();
            assert_eq!(table, by_tiles(3, signature), "{signature:?}");
        }
    }
    assert!(seen.iter().all(|&count| count > 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_caps_are_never_binding(
        signature in prop::sample::select(Signature::all(LEVEL_CAP, ROW_CAP)),
        more in prop::array::uniform6(0..4_u8),
    ) {
        let mut beyond = signature;
        for (level, more) in beyond.lower.iter_mut().zip(more) {
            *level += if *level == LEVEL_CAP { more } else { 0 };
        }
        for (row, more) in beyond.support.iter_mut().zip(&more[3..]) {
            *row += if *row == ROW_CAP { *more } else { 0 };
        }
        prop_assert_eq!(by_tiles(2, &beyond), by_tiles(2, &signature));
    }
}
