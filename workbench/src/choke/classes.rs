//! The signatures that can occur, merged into classes with equal tables on every level.

use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::board::{Board, Visit};
use super::error::UNREACHED;
use super::graph::{self, Edge, Node, Reach};
use super::signature::{Pattern, Signature};

/// The level of the tables that come from explicit tiles.
pub(crate) const BASE: u8 = 2;

/// An index into [`Structure::classes`].
pub(crate) type ClassId = usize;

/// All data that does not depend on the level.
pub(crate) struct Structure {
    pub(crate) classes: Vec<Class>,
    pub(crate) class_of: FxHashMap<Signature, ClassId>,
    /// The nodes of the whole puzzle of level N + 1, without lower tiles.
    pub(crate) top: Vec<SearchNode>,
}

/// Signatures whose tables are equal on every level.
pub(crate) struct Class {
    /// The ends of segments, in ascending order: the rows of the tables.
    pub(crate) patterns: Arc<[Pattern]>,
    /// The least moves of the base level, by row and swap vector.
    pub(crate) base: Arc<[Vec<u32>]>,
    /// The graph from which the next level's table is made. Node 0 is the start.
    pub(crate) nodes: Vec<SearchNode>,
    /// Node of each row.
    pub(crate) row_nodes: Vec<usize>,
}

/// The parts of a [`Node`] that a search reads.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct SearchNode {
    /// The class whose tables the edges use; none if the search does not expand the node.
    pub(crate) class: Option<ClassId>,
    /// Its pattern, if it is a useful position.
    useful: Option<Pattern>,
    /// Edges, by row of the class.
    pub(crate) edges: Vec<Edge>,
}

/// A signature's segments on the base level.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct BaseTable {
    pub(super) patterns: Arc<[Pattern]>,
    pub(super) costs: Arc<[Vec<u32>]>,
}

impl BaseTable {
    /// Least moves by pattern and swap vector, from explicit tiles.
    pub(super) fn search(small: u8, signature: &Signature) -> Self {
        let board = Board::of_signature(small, signature);
        let start = board.position(signature.shape, &signature.slots());
        let mut found: FxHashMap<Pattern, Vec<u32>> = FxHashMap::default();
        for visit in board.segments(start) {
            if let Some(pattern) = pattern_of(&board, &visit) {
                let costs = found.entry(pattern).or_insert_with(|| vec![UNREACHED; 1 << small]);
                costs[board.swaps(&visit.stacks)] = visit.moves;
            }
        }
        let mut rows: Vec<_> = found.into_iter().collect();
        rows.sort_unstable_by_key(|(pattern, _)| *pattern);
        let (patterns, costs): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        Self { patterns: patterns.into(), costs: costs.into() }
    }
}

/// The pattern of a useful position on a signature's board.
pub(super) fn pattern_of(board: &Board, visit: &Visit) -> Option<Pattern> {
    visit.useful.map(|end| Pattern { end, slots: board.lower(&visit.stacks) })
}

impl Structure {
    /// The structure, computed at the first call.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<Structure> = LazyLock::new(Structure::find);
        &SHARED
    }

    fn find() -> Self {
        let found = Occurring::find();
        let mut partition = found.partition_by_table();
        loop {
            let finer = found.refine(&partition);
            if finer.len() == partition.len() {
                return found.structure(&finer);
            }
            partition = finer;
        }
    }

    /// The nodes of the next level's segments from a signature, numbered as in its class.
    pub(crate) fn graph(&self, signature: &Signature, reach: Reach) -> Vec<Node> {
        graph::build(signature, reach, &mut |s| {
            Arc::clone(&self.classes[self.class_of[s]].patterns)
        })
    }

    /// The classes whose tables a search of these nodes reads.
    pub(super) fn needed<'a>(nodes: impl IntoIterator<Item = &'a SearchNode>) -> Vec<ClassId> {
        let distinct: FxHashSet<ClassId> = nodes.into_iter().filter_map(|n| n.class).collect();
        let mut classes: Vec<ClassId> = distinct.into_iter().collect();
        classes.sort_unstable();
        classes
    }
}

/// The signatures that occur in some puzzle, with their segments.
struct Occurring {
    /// In order of discovery.
    signatures: Vec<Signature>,
    tables: FxHashMap<Signature, BaseTable>,
    graphs: Vec<Vec<Node>>,
    top: Vec<Node>,
}

/// Signatures and the numbers of their blocks; numbers are given in order of discovery.
struct Partition {
    block_of: FxHashMap<Signature, usize>,
    /// Index of the first signature of each block, in the order of discovery.
    first: Vec<usize>,
}

impl Partition {
    fn len(&self) -> usize {
        self.first.len()
    }

    /// The partition in which signatures with equal keys share a block.
    fn by<K: Eq + std::hash::Hash>(signatures: &[Signature], key: impl Fn(usize) -> K) -> Self {
        let (mut blocks, mut first) = (FxHashMap::default(), Vec::new());
        let block_of = signatures.iter().enumerate().map(|(i, signature)| {
            let block = *blocks.entry(key(i)).or_insert_with(|| {
                first.push(i);
                first.len() - 1
            });
            (*signature, block)
        });
        Self { block_of: block_of.collect(), first }
    }
}

impl Occurring {
    /// Collects all signatures that occur: starts with those of the whole puzzle and its nodes and
    /// adds the signatures of their nodes until there are no new ones.
    fn find() -> Self {
        let mut signatures = Vec::new();
        let mut tables: FxHashMap<Signature, BaseTable> = FxHashMap::default();
        let mut graphs = Vec::new();
        let mut occurs = |signature: &Signature, signatures: &mut Vec<Signature>| {
            let table = tables.entry(*signature).or_insert_with(|| {
                signatures.push(*signature);
                BaseTable::search(BASE, signature)
            });
            Arc::clone(&table.patterns)
        };
        let top =
            graph::build(&Signature::EMPTY, Reach::Everything, &mut |s| occurs(s, &mut signatures));
        occurs(&Signature::EMPTY, &mut signatures);
        while let Some(signature) = signatures.get(graphs.len()).copied() {
            graphs.push(graph::build(&signature, Reach::Segment, &mut |s| {
                occurs(s, &mut signatures)
            }));
        }
        Self { signatures, tables, graphs, top }
    }

    fn partition_by_table(&self) -> Partition {
        Partition::by(&self.signatures, |i| {
            let signature = &self.signatures[i];
            (signature.shape, &self.tables[signature])
        })
    }

    /// Splits blocks whose graphs differ.
    fn refine(&self, partition: &Partition) -> Partition {
        Partition::by(&self.signatures, |i| {
            (partition.block_of[&self.signatures[i]], search_nodes(&self.graphs[i], partition))
        })
    }

    fn structure(&self, partition: &Partition) -> Structure {
        let class = |&first: &usize| {
            let table = self.tables[&self.signatures[first]].clone();
            let nodes = search_nodes(&self.graphs[first], partition);
            let node_of = |p: &Pattern| nodes.iter().position(|n| n.useful.as_ref() == Some(p));
            let row_nodes: Vec<usize> = table.patterns.iter().filter_map(node_of).collect();
            // Every pattern of the base table must be a useful node of the graph, so that rows mean
            // the same on all levels.
            assert_eq!(row_nodes.len(), table.patterns.len(), "ends differ between levels");
            Class { patterns: table.patterns, base: table.costs, nodes, row_nodes }
        };
        Structure {
            classes: partition.first.iter().map(class).collect(),
            class_of: partition.block_of.clone(),
            top: search_nodes(&self.top, partition),
        }
    }
}

fn search_nodes(graph: &[Node], partition: &Partition) -> Vec<SearchNode> {
    let search_node = |node: &Node| SearchNode {
        class: (!node.edges.is_empty()).then(|| partition.block_of[&node.signature]),
        useful: node.useful,
        edges: node.edges.clone(),
    };
    graph.iter().map(search_node).collect()
}

/// An incoming edge of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) from: usize,
    /// The row of the table of `from`'s class.
    pub(crate) row: usize,
    pub(crate) flips: bool,
}

/// The edges into each node.
pub(crate) fn incoming(nodes: &[SearchNode]) -> Vec<Vec<Incoming>> {
    let mut into = vec![Vec::new(); nodes.len()];
    for (from, node) in nodes.iter().enumerate() {
        for (row, edge) in node.edges.iter().enumerate() {
            into[edge.to as usize].push(Incoming { from, row, flips: edge.flips });
        }
    }
    into
}

#[cfg(test)]
mod tests {
    use super::super::shape::Shape;
    use super::*;

    #[test]
    fn size_of_the_structure() {
        let structure = Structure::shared();
        assert_eq!(structure.class_of.len(), 858);
        assert_eq!(structure.classes.len(), 38);
        assert_eq!(structure.top.len(), 15);
        assert_eq!(structure.classes.iter().map(|class| class.nodes.len()).max(), Some(82));
    }

    #[test]
    fn graphs_are_equal_within_a_class() {
        let structure = Structure::shared();
        for (signature, &class) in &structure.class_of {
            let (graph, class) =
                (structure.graph(signature, Reach::Segment), &structure.classes[class]);
            assert_eq!(graph.len(), class.nodes.len());
            for (node, expected) in graph.iter().zip(&class.nodes) {
                assert_eq!(node.edges, expected.edges);
                assert_eq!(node.useful, expected.useful);
                if !node.edges.is_empty() {
                    assert_eq!(Some(structure.class_of[&node.signature]), expected.class);
                }
            }
        }
    }

    /// A segment of level N must not need a lower tile that was not among those that may move
    /// in the segment of level N + 1.
    #[test]
    fn three_lower_tiles_are_enough() {
        let structure = Structure::shared();
        for signature in structure.class_of.keys() {
            let [a, _, c] = signature.lower;
            for node in structure.graph(signature, Reach::Segment) {
                let [has_a, has_b, has_c] = node.signature.lower.map(|level| level > 0);
                let bare_side = !node.mirrored && signature.shape != Shape::Sides && a == 0;
                let needs_a = node.signature.shape != Shape::Sides;
                let expanded = !node.edges.is_empty();
                assert!(!expanded || !needs_a || has_a || bare_side, "{signature:?} {node:?}");
                assert!(!expanded || c == 0 || has_b && has_c, "{signature:?} {node:?}");
            }
        }
    }
}
