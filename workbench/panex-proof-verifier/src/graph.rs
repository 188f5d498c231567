//! Graphs of the level step (section 6 of the document), and tables of lengths.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::certificate::Certificate;
use crate::puzzle::{CAPS, Columns, FREE, Place, Signature, TOWERS, UNREACHED, search};
use crate::report::{Result, ensure, fails};

/// Least costs to the rows of a signature, or to the nodes of a graph, by order vector.
pub type Table = Vec<Vec<i64>>;

/// An N-useful position inside a segment of level N+1. The first node of a graph is the start.
pub(crate) struct Node {
    pub(crate) place: Place,
    /// The row of the graph's signature, if the position is (N+1)-useful.
    pub(crate) row: Option<usize>,
    /// Index of the signature of level N, if the node has edges.
    pub(crate) signature: usize,
    /// By row of that signature: the target, and 1 if both X change places, else 0.
    pub(crate) edges: Vec<(usize, usize)>,
}

/// Graphs of the listed signatures and of the whole puzzle, and tables that need no claims.
pub struct Graphs {
    outline: (Vec<(Signature, usize)>, Vec<Vec<Place>>),
    pub(crate) graphs: Vec<Vec<Node>>,
    pub(crate) top: Vec<Node>,
    /// Lengths of the segments of level 2, by signature.
    pub level_2: Vec<Table>,
    /// X(3), X(4), X(5), X(6).
    pub(crate) exact: [usize; 4],
    /// Lengths of paths at level 6 that change all levels below 4 or none, so that those levels
    /// have one bit.
    pub(crate) level_6: Vec<Table>,
}

impl Graphs {
    /// Derives graphs and tables. This proves I(N) for all N >= 2, or fails.
    pub fn derive(certificate: &Certificate) -> Result<Graphs> {
        let (listed, mut edges) = (0..certificate.index.len(), 0);
        let level_2 = listed.clone().map(|at| base(certificate, at)).collect::<Result<Vec<_>>>()?;
        let graphs = listed.map(|at| graph(certificate, at, &mut edges)).collect::<Result<_>>()?;
        let top = graph(certificate, certificate.index.len(), &mut edges)?;
        let outline = (certificate.signatures.clone(), certificate.rows.clone());
        let (exact, level_6, mut tables) = ([0; 4], Vec::new(), level_2.clone());
        let mut graphs = Graphs { outline, graphs, top, level_2, exact, level_6 };
        for level in 2..=5 {
            // The goal is the start with the colours of all levels exchanged.
            let length = distances(&graphs.top, &tables, level)[0][(2 << level) - 1];
            graphs.exact[level - 2] = length as usize;
            if level < 5 {
                tables = graphs.next_tables(&tables, level);
            }
        }
        // Keeps bits of levels 5 and 4, and one that levels 3, 2 and 1 share.
        for costs in tables.iter_mut().flatten() {
            *costs = (0..8).map(|bits| costs[4 * bits + 3 * (bits % 2)]).collect();
        }
        graphs.level_6 = graphs.next_tables(&tables, 3);
        Ok(graphs)
    }

    /// Whether a certificate has the signatures and rows from which these graphs were derived.
    pub fn fit(&self, certificate: &Certificate) -> bool {
        self.outline.0 == certificate.signatures && self.outline.1 == certificate.rows
    }

    /// Tables of level N+1, with order vectors of `bits` + 1 bits, from those of level N.
    pub fn next_tables(&self, tables: &[Table], bits: usize) -> Vec<Table> {
        let next = |(graph, table): (&Vec<Node>, &Table)| {
            let mut next = vec![vec![UNREACHED; 2 << bits]; table.len()];
            for (node, costs) in graph.iter().zip(distances(graph, tables, bits)) {
                node.row.into_iter().for_each(|row| next[row].clone_from(&costs));
            }
            next
        };
        self.graphs.iter().zip(tables).map(next).collect()
    }
}

/// The table of level 2 of the signature with index `at` (hypothesis C5).
fn base(certificate: &Certificate, at: usize) -> Result<Table> {
    let (signature, class) = certificate.signatures[at];
    let rows = &certificate.rows[class];
    let [a, b, c] = signature.e.map(|e| usize::from(e > 0));
    let at = |row: &Place| format!("{signature:?}, row {row:?}");
    for row in rows {
        let count = ["A", "B", "C", "X"].map(|tile| row.1.concat().matches(tile).count());
        ensure(count == [a, b, c, 0], "a row has the tiles of its signatures", at(row))?;
    }
    let lengths = search(signature, TOWERS)?;
    for end in lengths.keys() {
        ensure(rows.contains(end), "segments of level 2 end in listed rows", at(end))?;
    }
    let unreached = vec![UNREACHED; 4];
    Ok(rows.iter().map(|row| lengths.get(row).unwrap_or(&unreached).clone()).collect())
}

/// Derives the graph of a signature with an index, and checks C1 to C4. Nothing lies below the
/// whole puzzle, and all nodes of its graph have edges. Adds to the number of edges.
fn graph(certificate: &Certificate, at: usize, edges: &mut usize) -> Result<Vec<Node>> {
    let Certificate { signatures, index, rows, .. } = certificate;
    let ((signature, class), is_top) = (signatures[at], at == index.len());
    let towers = [0, 1, 2].map(|column| if column == FREE[signature.shape] { "" } else { "X" });
    let start = (signature.shape, signature.start(towers));
    let mut numbers = HashMap::from([(start.clone(), 0)]);
    let (mut places, mut graph) = (vec![start], Vec::new());
    while let Some(place) = places.get(graph.len()).cloned() {
        let name = format!("{signature:?}, node {place:?}");
        // Levels and rows are relative to N: X has level 1.
        let is_useful = (0..3).all(|column| signature.row(1, column, &place.1[column]) >= 1);
        ensure(is_useful, "rows lead to useful positions", &name)?;
        // P2(a) tells whether the node is (N+1)-useful. Its columns without X are the row.
        let (mut end, free) = (place.clone(), FREE[place.0]);
        let has_towers = (0..3).all(|c| c == free || end.1[c].pop() == Some('X'));
        let is_end = !is_top && has_towers && signature.row(1, free, &end.1[free]) >= 2;
        let row = rows[class].iter().position(|row| is_end && *row == end);
        ensure(row.is_some() || !is_end, "segments of level N+1 end in listed rows", &name)?;
        let mut node = Node { place, row, signature: 0, edges: Vec::new() };
        if node.row.is_none() || graph.is_empty() {
            let (low, slots, rest) = lower(signature, &node.place);
            let check = "signatures inside segments are listed";
            node.signature =
                *index.get(&low).ok_or_else(|| fails(check, format!("{name}: {low:?}")))?;
            let is_seen = |c| is_top || signature.is_grounded(c) || !low.is_grounded(c);
            ensure((0..3).all(is_seen), "only A, B, C move at level N+1", &name)?;
            for row in &rows[signatures[node.signature].1] {
                let (target, flips) = target(&rest, slots, row);
                let number = *numbers.entry(target).or_insert_with_key(|target| {
                    places.push(target.clone());
                    places.len() - 1
                });
                node.edges.push((number, flips));
            }
            // A limit of the work that a text can cause.
            *edges += node.edges.len();
            ensure(*edges <= 1 << 21, "graphs have at most 2^21 edges", &name)?;
        }
        graph.push(node);
    }
    Ok(graph)
}

/// A node as a start of level N: its capped signature, its tiles in the slots A, B and C, and the
/// tiles below them. The right X becomes Y.
fn lower(above: Signature, (shape, columns): &Place) -> (Signature, [Option<char>; 3], Columns) {
    let mut rest = columns.clone();
    if let Some(right) = rest.iter_mut().rev().find(|column| column.contains('X')) {
        *right = right.replace('X', "Y");
    }
    // In shape 0 the free column is the centre, and there is no A.
    let slots = [(FREE[*shape], *shape > 0), (1, true), (1, true)]
        .map(|(column, exists)| if exists { rest[column].pop() } else { None });
    let e = slots.map(|slot| slot.map_or(0, |tile| above.tile_level(1, tile).min(CAPS[0])));
    let g = [0, 1, 2].map(|column| above.row(1, column, &rest[column]).min(CAPS[1]));
    (Signature { shape: *shape, e, g }, slots, rest)
}

/// The node to which a segment with a row leads, and 1 if both X change places, else 0.
fn target(rest: &Columns, slots: [Option<char>; 3], (shape, ends): &Place) -> (Place, usize) {
    let mut columns = rest.clone();
    for (column, tiles) in columns.iter_mut().zip(ends) {
        column.extend(tiles.chars().filter_map(|tile| slots["ABC".find(tile)?]));
    }
    let find = |tile| columns.iter().position(|column| column.contains(tile));
    let flips = usize::from(find('X') > find('Y'));
    ((*shape, columns.map(|column| column.replace('Y', "X"))), flips)
}

/// Least costs of paths from the first node. Costs are not negative. The highest order bit is that
/// of level N+1, the other ones are those of the tables.
fn distances(graph: &[Node], tables: &[Table], bits: usize) -> Table {
    let mut distances = vec![vec![UNREACHED; 2 << bits]; graph.len()];
    distances[0][0] = 0;
    let mut heap = BinaryHeap::from([Reverse((0, 0, 0))]);
    while let Some(Reverse((distance, number, order))) = heap.pop() {
        if distance > distances[number][order] {
            continue;
        }
        let node = &graph[number];
        for (&(target, flips), costs) in node.edges.iter().zip(&tables[node.signature]) {
            for (change, &cost) in costs.iter().enumerate() {
                let sum = i64::saturating_add(distance, cost);
                let order = order ^ (flips << bits) ^ change;
                if sum < distances[target][order] {
                    distances[target][order] = sum;
                    heap.push(Reverse((sum, target, order)));
                }
            }
        }
    }
    distances
}
