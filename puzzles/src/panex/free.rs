//! Numbering order of the arrangements of free tiles: small tiles with no large tile above them.
//!
//! A local part is an arrangement of *buried* tiles (those under large ones) and one of the free
//! tiles. The moves among free tiles depend only on which tiles these are and how many fit on each
//! column. The arrangements are numbered in an order derived from these moves.

use rustc_hash::FxHashMap;

use super::tile::{CENTRE, COLUMNS, MOVES, Tile};
use super::tokens::{CentreTop, Column, pack, unpack};

/// A set of tiles, as bits by tile.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct TileSet(u16);

impl TileSet {
    /// Both tiles of each level up to k.
    pub(super) fn all(k: u8) -> TileSet {
        TileSet(((1u32 << (2 * k + 2)) - 4) as u16)
    }

    pub(super) fn without(self, tile: Tile) -> TileSet {
        TileSet(self.0 & !(1 << tile.0))
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn tiles(self) -> impl Iterator<Item = Tile> {
        (0..16).filter(move |bit| self.0 >> bit & 1 == 1).map(Tile)
    }
}

/// Free tiles and the room they have on each column's buried part.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Free {
    pub(super) tiles: TileSet,
    /// How many tiles fit on each column.
    pub(super) room: [u8; 3],
    pub(super) centre_top: CentreTop,
}

impl Free {
    /// All legal arrangements, ordered by connected component, then by distance from the
    /// arrangements of the component with the most moves of large tiles. Exits arrive at these, so
    /// states of one layer tend to get neighbouring numbers.
    pub(super) fn ordered(&self) -> Vec<[Column; 3]> {
        let mut drafts = Vec::new();
        self.place(0, 0, self.tiles, [Column::default(); 3], &mut drafts);
        drafts.sort_unstable();
        let number: FxHashMap<u64, u32> = drafts.iter().copied().zip(0..).collect();
        let graph: Vec<Node> =
            drafts.iter().map(|draft| self.node(unpack(*draft), &number)).collect();
        order(&graph).into_iter().map(|draft| unpack(drafts[draft as usize])).collect()
    }

    /// Extends a column downwards or ends it: an item at depth d has d tiles above it.
    fn place(
        &self,
        column: usize,
        depth: u8,
        left: TileSet,
        columns: [Column; 3],
        out: &mut Vec<u64>,
    ) {
        if column < 2 {
            self.place(column + 1, 0, left, columns, out);
        } else if left.is_empty() {
            out.push(pack(columns));
        }
        if depth >= self.room[column] {
            return;
        }
        let fits = |tile: &Tile| self.centre_top.limit(tile.level(), column) >= depth;
        for tile in left.tiles().filter(fits) {
            let mut longer = columns;
            longer[column] = longer[column].with_below(Some(tile));
            self.place(column, depth + 1, left.without(tile), longer, out);
        }
    }

    /// Tiles that may still be put on top of a column.
    fn room(&self, columns: &[Column; 3], column: usize) -> u8 {
        let mut room = self.room[column];
        for (depth, tile) in (0..).zip(columns[column].items().flatten()) {
            room = room.min(self.room[column] - depth - 1);
            room = room.min(self.centre_top.limit(tile.level(), column) - depth);
        }
        room
    }

    fn node(&self, columns: [Column; 3], number: &FxHashMap<u64, u32>) -> Node {
        let room = COLUMNS.map(|column| self.room(&columns, column));
        // Only where the centre's top layer is allowed can the centre be full up to the track.
        let blocked = self.centre_top == CentreTop::Allow && room[CENTRE] == 0;
        let mut node = Node::default();
        for (from, to) in MOVES {
            if room[to] == 0 || (blocked && from != CENTRE && to != CENTRE) {
                continue;
            }
            let Some(tile) = columns[from].top() else {
                node.exits += 1;
                continue;
            };
            let mut moved = columns;
            moved[from] = moved[from].without_top();
            moved[to] = moved[to].with(tile);
            debug_assert!(number.contains_key(&pack(moved)), "a legal move is an arrangement");
            node.inside.extend(number.get(&pack(moved)));
        }
        node
    }
}

/// An arrangement's neighbours, and how many moves large tiles could make.
#[derive(Clone, Debug, Default)]
struct Node {
    inside: Vec<u32>,
    exits: u32,
}

/// Indices of the arrangements in the order described at [`Free::ordered`].
fn order(graph: &[Node]) -> Vec<u32> {
    let mut order = Vec::with_capacity(graph.len());
    let mut known = vec![false; graph.len()];
    let mut placed = vec![false; graph.len()];
    for first in 0..graph.len() as u32 {
        if known[first as usize] {
            continue;
        }
        let mut component = reach(graph, vec![first], &mut known);
        component.sort_unstable();
        let exits = |member: &u32| graph[*member as usize].exits;
        let most = component.iter().map(exits).max();
        component.retain(|member| Some(exits(member)) == most);
        order.extend(reach(graph, component, &mut placed));
    }
    order
}

/// The arrangements reachable from those in `queue`, these included, by distance.
fn reach(graph: &[Node], mut queue: Vec<u32>, seen: &mut [bool]) -> Vec<u32> {
    queue.iter().for_each(|member| seen[*member as usize] = true);
    let mut at = 0;
    while let Some(member) = queue.get(at).copied() {
        at += 1;
        for next in &graph[member as usize].inside {
            if !std::mem::replace(&mut seen[*next as usize], true) {
                queue.push(*next);
            }
        }
    }
    queue
}
