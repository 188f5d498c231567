//! Graphs of the level step, which tell how a segment of level N+1 is a chain of segments of level
//! N, and tables of lengths: what follows from rules, signatures and rows alone.
//!
//! A graph is the same for every N (Lemmas P2 and P3). Its construction is the step of I(N). A row
//! that no segment has only adds an edge, which can only weaken the lower bound.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::certificate::{Certificate, Outline};
use crate::failure::{Result, ensure, fails};
use crate::puzzle::{CAPS, Columns, FREE, Place, Signature, UNREACHED, search};

/// Least costs to the rows of one signature, by row and order vector.
pub type Table = Vec<Vec<i64>>;
/// Nodes in the order in which they are found. The first one is the start.
pub(crate) type Graph = Vec<Node>;

/// An N-useful position inside a segment of level N+1.
pub(crate) struct Node {
    pub(crate) place: Place,
    /// The row of the graph's signature, if the position is (N+1)-useful.
    pub(crate) row: Option<usize>,
    /// Index of the signature of level N, if the node has edges.
    pub(crate) signature: usize,
    /// By row of that signature: where the segment ends, and whether both X change places.
    pub(crate) edges: Vec<(usize, bool)>,
}

/// Graphs of all signatures and of the whole puzzle, and tables that need no claims.
pub struct Graphs {
    outline: Outline,
    pub(crate) graphs: Vec<Graph>,
    pub(crate) top: Graph,
    /// Lengths of the segments of level 2, by signature.
    pub level_2: Vec<Table>,
    /// X(3), X(4), X(5), X(6).
    pub(crate) exact: [i64; 4],
    /// Lengths of some paths of level 6, by the pattern of a grammar's segment.
    pub(crate) level_6: Vec<Table>,
}

impl Graphs {
    /// Derives graphs and tables. This proves I(N) for all N >= 2, or fails.
    pub fn derive(certificate: &Certificate) -> Result<Graphs> {
        let outline = certificate.outline.clone();
        let (mut graphs, mut level_2, mut work) = (Vec::new(), Vec::new(), 0);
        for (at, &(signature, class)) in outline.signatures.iter().enumerate() {
            for row in &outline.rows[class] {
                let count = |place: &Columns| {
                    ["A", "B", "C", "X"].map(|tile| place.concat().matches(tile).count())
                };
                let has_tiles = count(&row.1) == count(&signature.slots());
                let place = format_args!("{signature}, row {row}");
                ensure(has_tiles, "a row has the tiles of its signatures", place)?;
            }
            let mut table = vec![vec![UNREACHED; 4]; outline.rows[class].len()];
            for (end, lengths) in search(signature, 2)? {
                table[outline.find(at, &end, "segments of level 2 end in listed rows")?] = lengths;
            }
            level_2.push(table);
            graphs.push(graph(&outline, signature, Some(at), &mut work)?);
        }
        let top = graph(&outline, Signature { shape: 0, e: [0; 3], g: [1; 3] }, None, &mut work)?;
        let (exact, level_6, mut tables) = ([0; 4], Vec::new(), level_2.clone());
        let mut graphs = Graphs { outline, graphs, top, level_2, exact, level_6 };
        for level in 2..=5 {
            // The goal is the start with the colours of all levels exchanged.
            graphs.exact[level - 2] = distances(&graphs.top, &tables, level)[(2 << level) - 1];
            if level < 5 {
                tables = graphs.next_tables(&tables, level, <[i64]>::to_vec);
            }
        }
        tables.iter_mut().flatten().for_each(|costs| *costs = by_pattern(costs, 3));
        graphs.level_6 = graphs.next_tables(&tables, 3, |costs| by_pattern(costs, 2));
        Ok(graphs)
    }

    /// Whether a certificate has the signatures and rows that these graphs were derived from.
    pub fn fit(&self, certificate: &Certificate) -> bool {
        self.outline == certificate.outline
    }

    /// Tables of level N+1 from those of level N, whose order vectors have `bits` bits. Costs of
    /// paths to a node have one more; `fold` makes the costs of a row from them.
    pub fn next_tables(
        &self,
        tables: &[Table],
        bits: usize,
        fold: impl Fn(&[i64]) -> Vec<i64>,
    ) -> Vec<Table> {
        let next = |(graph, table): (&Graph, &Table)| {
            let mut next = vec![fold(&vec![UNREACHED; 2 << bits]); table.len()];
            let distances = distances(graph, tables, bits);
            for (node, costs) in graph.iter().zip(distances.chunks(2 << bits)) {
                node.row.into_iter().for_each(|row| next[row] = fold(costs));
            }
            next
        };
        self.graphs.iter().zip(tables).map(next).collect()
    }
}

/// Derives the graph of a signature with an index; paths end at (N+1)-useful nodes. Without one, it
/// is the graph of the whole puzzle of level N+1; nothing lies below, and paths go on.
fn graph(
    outline: &Outline,
    signature: Signature,
    index: Option<usize>,
    work: &mut usize,
) -> Result<Graph> {
    let mut start = Place(signature.shape, signature.slots());
    let towers = (0..3).filter(|&column| column != FREE[signature.shape]);
    towers.for_each(|column| start.1[column].push('X'));
    let mut numbers = HashMap::from([(start.clone(), 0)]);
    let (mut places, mut graph) = (vec![start], Graph::new());
    while let Some(place) = places.get(graph.len()).cloned() {
        let name = format!("{signature}, node {place}");
        // Levels and rows are relative to N, so the level of X is 1. Two of them cannot be in one column:
        // the upper one would be in row 0 at most.
        let is_useful = (0..3).all(|column| signature.row(1, column, &place.1[column]) >= 1);
        ensure(is_useful, "rows lead to useful positions", &name)?;
        let end = useful_end(signature, &place);
        let row = index.zip(end).map(|(index, end)| {
            outline.find(index, &end, "segments of level N+1 end in listed rows")
        });
        let mut node = Node { place, row: row.transpose()?, signature: 0, edges: Vec::new() };
        if node.row.is_none() || graph.is_empty() {
            let (low, slots, rest) = lower(signature, &node.place);
            for column in [1, FREE[low.shape]] {
                // C is the last tile of the centre, A that of a free side column.
                let has_slot = low.e[if column == 1 { 2 } else { 0 }] > 0;
                let holds = has_slot || index.is_none() || signature.is_grounded(column);
                ensure(holds, "only A, B, C move at level N+1", &name)?;
            }
            let (found, check) = (outline.index.get(&low), "signatures inside segments are listed");
            node.signature = *found.ok_or_else(|| fails(check, format_args!("{name}: {low}")))?;
            let rows = &outline.rows[outline.signatures[node.signature].1];
            *work += rows.len();
            // A limit of the work that a text can cause.
            ensure(*work <= 1 << 21, "graphs have at most 2^21 edges", &name)?;
            for row in rows {
                let (target, flips) = target(&rest, &slots, row);
                let number = *numbers.entry(target).or_insert_with_key(|target| {
                    places.push(target.clone());
                    places.len() - 1
                });
                node.edges.push((number, flips));
            }
        }
        graph.push(node);
    }
    Ok(graph)
}

/// The end of a segment of level N+1, if a node is (N+1)-useful: X is on top of the other tiles in
/// both tower columns, and the row in the free column is N+2 or more (Lemma P2).
fn useful_end(signature: Signature, Place(shape, columns): &Place) -> Option<Place> {
    let (mut columns, free) = (columns.clone(), FREE[*shape]);
    let is_useful = (0..3).all(|c| c == free || columns[c].pop() == Some('X'))
        && signature.row(1, free, &columns[free]) >= 2;
    is_useful.then_some(Place(*shape, columns))
}

/// A node as a start of level N: its capped signature, its slot tiles A, B, C (or blanks) and the
/// tiles below them. The right one of both X becomes Y.
fn lower(signature: Signature, Place(shape, columns): &Place) -> (Signature, [char; 3], Columns) {
    let mut rest = columns.clone();
    if let Some(right) = rest.iter_mut().rev().find(|column| column.contains('X')) {
        *right = right.replace('X', "Y");
    }
    // In shape 0 the free column is the centre, and there is no A.
    let slots = [(FREE[*shape], *shape > 0), (1, true), (1, true)]
        .map(|(column, exists)| if exists { rest[column].pop() } else { None });
    let level = |slot: Option<char>| slot.map_or(0, |tile| signature.tile_level(1, tile));
    let e = slots.map(|slot| level(slot).min(CAPS[0]));
    let g = [0, 1, 2].map(|column| signature.row(1, column, &rest[column]).min(CAPS[1]));
    (Signature { shape: *shape, e, g }, slots.map(|slot| slot.unwrap_or(' ')), rest)
}

/// Where a segment leads, and whether it changes the order of the tiles of level N+1.
fn target(rest: &Columns, slots: &[char; 3], Place(shape, ends): &Place) -> (Place, bool) {
    let mut columns = rest.clone();
    for (column, tiles) in columns.iter_mut().zip(ends) {
        column.extend(tiles.chars().filter_map(|tile| "ABC".find(tile)).map(|slot| slots[slot]));
    }
    let find = |tile| columns.iter().position(|column| column.contains(tile));
    let flips = find('X') > find('Y');
    (Place(*shape, columns.map(|column| column.replace('Y', "X"))), flips)
}

/// The order vector of a pattern: two bits for the highest levels, and one for all `low` others.
pub(crate) fn order_of(pattern: usize, low: usize) -> usize {
    (pattern >> 1 << low) | ((pattern & 1) * ((1 << low) - 1))
}

fn by_pattern(costs: &[i64], low: usize) -> Vec<i64> {
    (0..8).map(|pattern| costs[order_of(pattern, low)]).collect()
}

/// Least costs of paths from the first node, by node and order vector of `bits` + 1 bits. Costs are
/// not negative. The highest bit says whether the tiles of level N+1 have changed places.
fn distances(graph: &Graph, tables: &[Table], bits: usize) -> Vec<i64> {
    let (size, flip) = (2 << bits, 1 << bits);
    let mut distances = vec![UNREACHED; graph.len() * size];
    distances[0] = 0;
    let mut heap = BinaryHeap::from([(Reverse(0), 0)]);
    while let Some((Reverse(distance), state)) = heap.pop() {
        if distance > distances[state] {
            continue;
        }
        let (node, order) = (&graph[state / size], state % size);
        for (&(target, flips), costs) in node.edges.iter().zip(&tables[node.signature]) {
            let order = if flips { order ^ flip } else { order };
            for (change, &cost) in costs.iter().enumerate() {
                let sum = i64::saturating_add(distance, cost);
                let target = target * size + (order ^ change);
                if sum < distances[target] {
                    distances[target] = sum;
                    heap.push((Reverse(sum), target));
                }
            }
        }
    }
    distances
}
