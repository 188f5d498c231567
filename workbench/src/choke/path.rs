//! Move lists, reconstructed from the distances kept for all levels.
//!
//! A segment of level N + 1 is walked back from its end to its start, step by step: the step into a
//! node is one whose distance and table entry add up to the node's distance. Each step is a segment
//! of level N and is expanded in turn, down to moves of tiles.

use std::ops::Add;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use strata_replay::Move;

use super::board::{Board, moves_to};
use super::classes::{BASE, ClassId, Incoming, SearchNode, Structure, incoming, pattern_of};
use super::graph::{Node, Reach};
use super::signature::Signature;
use super::tables::Tables;
use super::top::Meeting;

/// One entry of a table. The signatures of a class have equal tables but not equal moves: a move
/// may be legal for one and illegal for another. So an entry is identified by its signature, not by
/// its class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Entry {
    level: u8,
    signature: Signature,
    row: usize,
    swaps: usize,
}

/// A step between nodes: a row of the table of `node`'s class and an entry in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) node: usize,
    pub(crate) row: usize,
    pub(crate) swaps: usize,
}

/// A place of a search: a node and its swaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) node: usize,
    pub(crate) swaps: usize,
}

/// The steps of a shortest path from node 0 without swaps to an end, from the distances of all
/// nodes by swaps.
///
/// `table` gives the lower level's row of a class. None if a distance is not the sum of the entry
/// and the distance before it, for any incoming edge.
pub(crate) fn steps_to<'t, C>(
    nodes: &[SearchNode],
    incoming: &[Vec<Incoming>],
    table: impl Fn(ClassId, usize) -> &'t [C],
    costs: &[Vec<C>],
    end: End,
) -> Option<Vec<Step>>
where
    C: Copy + Default + PartialOrd + Add<Output = C> + 't,
{
    let End { mut node, mut swaps } = end;
    let half = costs[node].len() / 2;
    let mut steps = Vec::new();
    while costs[node][swaps] > C::default() {
        let cost = costs[node][swaps];
        let (step, before) = incoming[node].iter().find_map(|edge| {
            let before = swaps ^ if edge.flips { half } else { 0 };
            let (high, low) = (before & half, before & (half - 1));
            let row = table(nodes[edge.from].class?, edge.row);
            let from = &costs[edge.from][high..high + half];
            let w = (0..half).find(|&w| row[w] > C::default() && from[low ^ w] + row[w] == cost)?;
            Some((Step { node: edge.from, row: edge.row, swaps: w }, before ^ w))
        })?;
        steps.push(step);
        (node, swaps) = (step.node, before);
    }
    steps.reverse();
    Some(steps)
}

/// The moves of a shortest segment of the base level that ends in a row of the signature's class
/// with these swaps.
pub(crate) fn base_segment(
    structure: &Structure,
    signature: &Signature,
    row: usize,
    swaps: usize,
) -> Option<Vec<Move>> {
    let class = &structure.classes[*structure.class_of.get(signature)?];
    let wanted = class.patterns[row];
    let board = Board::of_signature(BASE, signature);
    let visits = board.segments(board.position(signature.shape, &signature.slots()));
    let found = visits.iter().position(|visit| {
        pattern_of(&board, visit) == Some(wanted) && board.swaps(&visit.stacks) == swaps
    })?;
    Some(moves_to(&visits, found))
}

/// Expansion of entries into moves. Equal entries are expanded once.
struct Tracer<'a> {
    structure: &'a Structure,
    /// Tables of the levels from `BASE` upwards.
    tables: &'a [Tables],
    known: FxHashMap<Entry, Rc<[Move]>>,
    graphs: FxHashMap<Signature, Rc<[Node]>>,
    incoming: FxHashMap<ClassId, Rc<[Vec<Incoming>]>>,
}

/// The moves from the start to the goal through a meeting.
pub(super) fn trace(structure: &Structure, tables: &[Tables], meeting: &Meeting) -> Vec<Move> {
    let mut tracer = Tracer {
        structure,
        tables,
        known: FxHashMap::default(),
        graphs: FxHashMap::default(),
        incoming: FxHashMap::default(),
    };
    let mut moves = tracer.moves_to_half(meeting, meeting.swaps);
    let all = meeting.costs[0].len() - 1;
    let back = tracer.moves_to_half(meeting, meeting.swaps ^ all);
    moves.extend(back.iter().rev().map(|m| m.inverse()));
    moves
}

impl Tracer<'_> {
    fn moves_to_half(&mut self, meeting: &Meeting, swaps: usize) -> Vec<Move> {
        let level = BASE + self.tables.len() as u8 - 1;
        let nodes = self.structure.top.as_slice();
        let end = End { node: meeting.node, swaps };
        let steps = self.steps_to(level, nodes, &incoming(nodes), &meeting.costs, end);
        let graph = self.structure.graph(&Signature::EMPTY, Reach::Everything);
        self.expand_steps(level, &graph, &steps)
    }

    /// The steps from node 0 to an end, which are segments of this level.
    fn steps_to(
        &self,
        level: u8,
        nodes: &[SearchNode],
        incoming: &[Vec<Incoming>],
        costs: &[Vec<u32>],
        end: End,
    ) -> Vec<Step> {
        let tables = &self.tables[usize::from(level - BASE)];
        let table = |class, row| tables.row(self.structure, class, row);
        let steps = steps_to(nodes, incoming, table, costs, end);
        // Each node but the start has an incoming step whose sum equals its distance.
        steps.expect("a distance has a step that leads to it")
    }

    fn expand_steps(&mut self, level: u8, graph: &[Node], steps: &[Step]) -> Vec<Move> {
        let mut moves = Vec::new();
        for step in steps {
            let Node { signature, mirrored, .. } = graph[step.node];
            let segment = self.expand(Entry { level, signature, row: step.row, swaps: step.swaps });
            moves.extend(segment.iter().map(|m| if mirrored { m.mirror() } else { *m }));
        }
        moves
    }

    fn expand(&mut self, entry: Entry) -> Rc<[Move]> {
        if let Some(moves) = self.known.get(&entry) {
            return Rc::clone(moves);
        }
        let moves: Rc<[Move]> = if entry.level == BASE {
            self.expand_on_tiles(&entry).into()
        } else {
            self.expand_in_graph(&entry).into()
        };
        self.known.insert(entry, Rc::clone(&moves));
        moves
    }

    fn expand_in_graph(&mut self, entry: &Entry) -> Vec<Move> {
        let Entry { level, signature, row, swaps } = *entry;
        let structure = self.structure;
        let id = structure.class_of[&signature];
        let class = &structure.classes[id];
        let into = self.incoming.entry(id).or_insert_with(|| incoming(&class.nodes).into());
        let into = Rc::clone(into);
        let costs = self.tables[usize::from(level - BASE)].distances(id);
        let end = End { node: class.row_nodes[row], swaps };
        let steps = self.steps_to(level - 1, &class.nodes, &into, costs, end);
        let graph = self.graphs.entry(signature);
        let graph = graph.or_insert_with(|| structure.graph(&signature, Reach::Segment).into());
        let graph = Rc::clone(graph);
        self.expand_steps(level - 1, &graph, &steps)
    }

    fn expand_on_tiles(&self, entry: &Entry) -> Vec<Move> {
        let Entry { signature, row, swaps, .. } = entry;
        let moves = base_segment(self.structure, signature, *row, *swaps);
        moves.expect("an entry of the base tables has a segment")
    }
}
