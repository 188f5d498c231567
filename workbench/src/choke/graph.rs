//! Graph of a segment of level N + 1: its nodes, and its edges, which are segments of level N.
//!
//! The two tiles X, x of level N + 1 are lower tiles to the segments of level N. A node is the
//! small tiles' shape and the places of X, x and the slot tiles A, B, C; an edge is one possible
//! end of a segment of level N. This does not depend on N.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::shape::Shape;
use super::signature::{LEVEL_CAP, Pattern, ROW_CAP, Signature};
use super::stack::{Stack, Stacks};

/// The left one of the tiles X, x.
const LEFT: u8 = 3;
/// The right one.
const RIGHT: u8 = 4;

/// A position between two segments of level N: the shape of the small tiles, and the lower tiles.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    /// The signature of level N whose tables give the edges of this node.
    pub(crate) signature: Signature,
    /// The signature is that of the mirror image.
    pub(crate) mirrored: bool,
    /// The pattern of the position at level N + 1, if it is a useful position there.
    pub(crate) useful: Option<Pattern>,
    /// Edges, by pattern of the signature. Empty if the search does not expand the node.
    pub(crate) edges: Vec<Edge>,
}

/// Shape and lower tiles (A, B, C, X, x), by column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    pub(crate) shape: Shape,
    pub(crate) stacks: Stacks,
}

/// A step to another node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    /// X and x exchange their order.
    pub(crate) flips: bool,
}

/// Where a search ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// Up to the next useful positions: one segment.
    Segment,
    /// All reachable positions.
    Everything,
}

/// The lower tiles' levels and the supports' rows, relative to N.
struct Frame {
    /// A, B, C, X, x; entries of absent tiles are not read.
    levels: [u8; 5],
    support: [u8; 3],
}

/// A node in terms of level N: the signature, and the tiles in its slots.
struct View {
    signature: Signature,
    mirrored: bool,
    /// The tiles in the slots.
    slots: [Option<u8>; 3],
    /// The stacks without the tiles in the slots.
    rest: Stacks,
}

/// The nodes of all segments of level N + 1 from a signature, the start first.
///
/// `patterns` returns the ends of a signature's segments. Their order decides the numbering of the
/// nodes, so that signatures that behave alike get equal graphs.
pub(crate) fn build(
    signature: &Signature,
    reach: Reach,
    patterns: &mut impl FnMut(&Signature) -> Arc<[Pattern]>,
) -> Vec<Node> {
    let frame = Frame::new(signature);
    let mut stacks = signature.slots();
    let [left, right] = signature.shape.towers();
    stacks[left].push(LEFT);
    stacks[right].push(RIGHT);
    let start = Place { shape: signature.shape, stacks };
    let mut nodes = vec![frame.node(start)];
    let mut ids = FxHashMap::default();
    ids.insert(start, 0);
    let mut next = 0;
    while next < nodes.len() {
        let node = &nodes[next];
        if next == 0 || reach == Reach::Everything || node.useful.is_none() {
            let view = frame.view(node.place);
            let patterns = patterns(&view.signature);
            let edges = patterns.iter().map(|pattern| {
                let (place, flips) = view.after(pattern);
                let to = *ids.entry(place).or_insert_with(|| {
                    nodes.push(frame.node(place));
                    nodes.len() as u32 - 1
                });
                Edge { to, flips }
            });
            nodes[next].edges = edges.collect::<Vec<_>>();
        }
        next += 1;
    }
    nodes
}

impl Frame {
    fn new(signature: &Signature) -> Self {
        let [a, b, c] = signature.lower.map(|level| level + 1);
        Self { levels: [a, b, c, 1, 1], support: signature.support.map(|row| row + 1) }
    }

    /// The row of the topmost lower tile of a column.
    fn row(&self, column: usize, stack: Stack) -> u8 {
        stack.bottom_up().fold(self.support[column], |row, tile| {
            self.levels[usize::from(tile)].min(row.saturating_sub(1))
        })
    }

    fn node(&self, place: Place) -> Node {
        debug_assert!((0..3).all(|c| self.row(c, place.stacks[c]) >= 1), "not useful: {place:?}");
        let View { signature, mirrored, .. } = self.view(place);
        Node { place, signature, mirrored, useful: self.useful(place), edges: Vec::new() }
    }

    fn view(&self, place: Place) -> View {
        let (shape, mirrored) = place.shape.canonical();
        let side = if mirrored { 2 } else { 0 };
        let mut rest = place.stacks;
        let a = if shape == Shape::Sides { None } else { rest[side].pop() };
        let slots = [a, rest[1].pop(), rest[1].pop()];
        let level = |slot: Option<u8>| slot.map_or(0, |t| self.levels[usize::from(t)]);
        let support = [side, 1, 2 - side].map(|c| self.row(c, rest[c]).min(ROW_CAP));
        let lower = slots.map(|slot| level(slot).min(LEVEL_CAP));
        View { signature: Signature { shape, lower, support }, mirrored, slots, rest }
    }

    /// The pattern of the position at level N + 1, if it is useful there: X and x are the topmost
    /// lower tiles in the columns of the towers, and the third column has room.
    fn useful(&self, place: Place) -> Option<Pattern> {
        let Place { shape, mut stacks } = place;
        let [left, right] = shape.towers();
        let free = shape.free_column();
        let standing = stacks[left].pop() == Some(LEFT)
            && stacks[right].pop() == Some(RIGHT)
            && self.row(free, stacks[free]) >= 2;
        standing.then_some(Pattern { end: shape, slots: stacks })
    }
}

impl View {
    /// The place to which a segment with this end leads, and whether X and x exchange their order.
    fn after(&self, pattern: &Pattern) -> (Place, bool) {
        let mut stacks = self.rest;
        for (column, slots) in pattern.slots.iter().enumerate() {
            let column = if self.mirrored { 2 - column } else { column };
            for tile in slots.bottom_up().filter_map(|slot| self.slots[usize::from(slot)]) {
                stacks[column].push(tile);
            }
        }
        let shape = if self.mirrored { pattern.end.mirror() } else { pattern.end };
        let column_of = |tile| stacks.iter().position(|stack| stack.contains(tile));
        let flips = column_of(LEFT) > column_of(RIGHT);
        if flips {
            let exchange = |tile| match tile {
                LEFT => RIGHT,
                RIGHT => LEFT,
                _ => tile,
            };
            stacks = stacks.map(|stack| stack.bottom_up().map(exchange).collect());
        }
        (Place { shape, stacks }, flips)
    }
}
