//! Dijkstra's algorithm over nodes and swap vectors, one bucket of distances at a time.
//!
//! Inside a bucket the few cheap entries of each row are followed one by one; then all that the
//! bucket settled is spread along whole rows by the kernel.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::classes::{ClassId, Incoming, SearchNode, incoming};
use super::error::UNREACHED;
use super::graph::Reach;
use super::kernel::{AvailableVectors, Batch, BlockBounds, Row, Settled, Target, block_len};
use super::run::for_each;

/// Least number of sums for which a bucket is divided among threads.
const MIN_SHARED_SUMS: usize = 1 << 22;

/// The tables of level N as the search of level N + 1 reads them.
pub(super) struct Lower<'a> {
    /// N, the number of bits of a swap vector.
    bits: u32,
    /// By class and row; empty for classes that are not needed.
    rows: Vec<Vec<LowerRow<'a>>>,
    /// Width of a bucket.
    width: u32,
    vectors: AvailableVectors,
}

struct LowerRow<'a> {
    row: Row<'a>,
    /// The entries that cost less than the width of a bucket: cost and swap vector, ascending.
    light: Vec<(u32, u32)>,
}

impl<'a> Lower<'a> {
    /// `costs` has the values of each row, by class and row.
    pub(super) fn new(
        bits: u32,
        costs: &[Vec<&'a [u32]>],
        largest: u32,
        vectors: AvailableVectors,
    ) -> Self {
        let width = bucket_width(bits, largest);
        let lower_row = |&costs: &&'a [u32]| {
            let entries = costs.iter().copied().zip(0..);
            let mut light: Vec<(u32, u32)> = entries.filter(|&(cost, _)| cost < width).collect();
            light.sort_unstable();
            LowerRow { row: Row::new(costs), light }
        };
        let rows = costs.iter().map(|rows| rows.iter().map(lower_row).collect()).collect();
        Self { bits, rows, width, vectors }
    }

    fn row(&self, class: ClassId, row: usize) -> &LowerRow<'a> {
        &self.rows[class][row]
    }

    /// Values in a row.
    fn half(&self) -> usize {
        1 << self.bits
    }
}

/// Width of a bucket: a fraction of the largest cost that becomes smaller as the tables grow.
fn bucket_width(bits: u32, largest: u32) -> u32 {
    let parts = 300.0 * 1.5_f64.powi(bits.saturating_sub(12) as i32);
    ((f64::from(largest) / parts) as u32).max(4)
}

/// The distances of one node by swap vector, which has one bit more than in the lower level.
struct Field {
    costs: Vec<u32>,
    blocks: Vec<BlockBounds>,
}

/// A search from node 0 with no pair exchanged.
pub(super) struct Search<'a> {
    nodes: &'a [SearchNode],
    /// Whether positions of the node are expanded. The start position always is.
    expands: Vec<bool>,
    lower: &'a Lower<'a>,
    /// Distances of each node.
    fields: Vec<Field>,
    incoming: Vec<Vec<Incoming>>,
    /// Entries settled by the present bucket, by node and by the order of X and x.
    settled: Vec<[Vec<Settled>; 2]>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl<'a> Search<'a> {
    /// Starts a search. With [`Reach::Segment`], a segment ends when it returns to node 0 with
    /// pairs exchanged.
    pub(super) fn new(nodes: &'a [SearchNode], lower: &'a Lower<'a>, reach: Reach) -> Self {
        let size = 2 * lower.half();
        let blocks = size / block_len(lower.half());
        let unknown = BlockBounds { least_open: UNREACHED, worst: UNREACHED };
        let field = |_| Field { costs: vec![UNREACHED; size], blocks: vec![unknown; blocks] };
        let mut fields: Vec<Field> = (0..nodes.len()).map(field).collect();
        fields[0].costs[0] = 0;
        let heap = BinaryHeap::from([Reverse(pack(0, 0, 0))]);
        let mut expands: Vec<bool> = nodes.iter().map(|node| node.class.is_some()).collect();
        expands[0] = reach == Reach::Everything;
        let settled = nodes.iter().map(|_| [Vec::new(), Vec::new()]).collect();
        Self { nodes, expands, lower, fields, incoming: incoming(nodes), settled, heap }
    }

    /// The distances by node and swap vector; those that are not settled are upper bounds.
    pub(super) fn into_costs(self) -> Vec<Vec<u32>> {
        self.fields.into_iter().map(|field| field.costs).collect()
    }

    /// The distance of a node and swap vector, or an upper bound of it.
    pub(super) fn cost(&self, node: usize, swaps: usize) -> u32 {
        self.fields[node].costs[swaps]
    }

    /// The least unsettled distance.
    pub(super) fn next(&self) -> Option<u32> {
        if !self.heap.is_empty() {
            return Some(0);
        }
        let open =
            self.expanding().flat_map(|(_, field)| field.blocks.iter().map(|t| t.least_open));
        open.min().filter(|&least| least < UNREACHED)
    }

    /// The nodes that are expanded.
    fn expanding(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.fields.iter().enumerate().filter(|&(node, _)| self.expands[node])
    }

    /// Settles all distances below `least` plus the width of a bucket. `least` is the least
    /// unsettled one.
    pub(super) fn settle(&mut self, least: u32) {
        let ceiling = least + self.lower.width;
        self.collect_open(ceiling);
        let low_bits = self.lower.half() as u32 - 1;
        while let Some(Reverse(key)) = self.heap.pop() {
            let (cost, node, swaps) = unpack(key);
            if cost > self.fields[node].costs[swaps as usize] {
                continue;
            }
            let half = (swaps >> self.lower.bits) as usize;
            self.settled[node][half].push(Settled { swaps: swaps & low_bits, cost });
            self.follow_light(node, swaps, cost, ceiling);
        }
        for settled in self.settled.iter_mut().flatten() {
            // Sorted by the low bits, on which the kernel branches.
            settled.sort_unstable_by_key(|s| s.swaps & 15);
        }
    }

    /// Entries settled by the present bucket: node, swap vector and distance.
    pub(super) fn settled(&self) -> impl Iterator<Item = (usize, usize, u32)> {
        let half = self.lower.half();
        self.settled.iter().enumerate().flat_map(move |(node, halves)| {
            halves.iter().enumerate().flat_map(move |(h, list)| {
                list.iter().map(move |s| (node, h * half + s.swaps as usize, s.cost))
            })
        })
    }

    /// Spreads the settled distances to all neighbours.
    pub(super) fn spread(&mut self, least: u32, threads: usize) {
        let ceiling = least + self.lower.width;
        let edges = |(node, halves): (&SearchNode, &[Vec<Settled>; 2])| {
            node.edges.len() * (halves[0].len() + halves[1].len())
        };
        let sums: usize = self.nodes.iter().zip(&self.settled).map(edges).sum();
        let shared = sums * self.lower.half() >= MIN_SHARED_SUMS;
        let Self { nodes, lower, fields, incoming, settled, .. } = self;
        let targets = fields.iter_mut().zip(incoming.iter());
        for_each(if shared { threads } else { 1 }, targets, |(field, incoming)| {
            field.receive(nodes, lower, incoming, settled, ceiling);
        });
        self.settled.iter_mut().flatten().for_each(Vec::clear);
    }

    fn collect_open(&mut self, ceiling: u32) {
        let block = block_len(self.lower.half());
        let mut open = std::mem::take(&mut self.heap);
        for (node, field) in self.expanding() {
            for (t, summary) in field.blocks.iter().enumerate() {
                // Values of earlier buckets are settled: `least_open` shows what is new.
                if summary.least_open < ceiling {
                    let values =
                        field.costs[t * block..][..block].iter().zip(t as u32 * block as u32..);
                    let new = values.filter(|&(&c, _)| c < ceiling && c >= summary.least_open);
                    open.extend(new.map(|(&c, swaps)| Reverse(pack(c, node, swaps))));
                }
            }
        }
        self.heap = open;
    }

    /// Follows the edges from a settled entry that lead to distances in the same bucket.
    fn follow_light(&mut self, node: usize, swaps: u32, cost: u32, ceiling: u32) {
        let Some(class) = self.nodes[node].class else { return };
        let (lower, block) = (self.lower, block_len(self.lower.half()) as u32);
        for (row, edge) in self.nodes[node].edges.iter().enumerate() {
            let to = edge.to as usize;
            let from = swaps ^ u32::from(edge.flips) << lower.bits;
            let inside = |&&(light, _): &&(u32, u32)| cost + light < ceiling;
            for &(light, w) in lower.row(class, row).light.iter().take_while(inside) {
                let (sum, target) = (cost + light, from ^ w);
                let field = &mut self.fields[to];
                let known = &mut field.costs[target as usize];
                if sum < *known {
                    *known = sum;
                    let summary = &mut field.blocks[(target / block) as usize];
                    summary.least_open = summary.least_open.min(sum);
                    if self.expands[to] {
                        self.heap.push(Reverse(pack(sum, to, target)));
                    }
                }
            }
        }
    }
}

impl Field {
    /// Lowers the distances by everything settled below the ceiling, this node's own values
    /// included.
    fn receive(
        &mut self,
        nodes: &[SearchNode],
        lower: &Lower<'_>,
        incoming: &[Incoming],
        settled: &[[Vec<Settled>; 2]],
        ceiling: u32,
    ) {
        let halves = self.costs.chunks_mut(lower.half()).enumerate();
        let blocks = self.blocks.chunks_mut(lower.half() / block_len(lower.half()));
        for ((half, costs), blocks) in halves.zip(blocks) {
            let batch = |edge: &Incoming| {
                let class = nodes[edge.from].class?;
                let settled = settled[edge.from][half ^ usize::from(edge.flips)].as_slice();
                let row = &lower.row(class, edge.row).row;
                (!settled.is_empty()).then_some(Batch { row, settled })
            };
            let batches: Vec<Batch<'_>> = incoming.iter().filter_map(batch).collect();
            Target { costs, blocks }.receive(lower.vectors, &batches, ceiling);
        }
    }
}

/// A key ordered by distance: distance, node (below 2^8) and swap vector (below 2^24).
fn pack(cost: u32, node: usize, swaps: u32) -> u64 {
    u64::from(cost) << 32 | (node as u64) << 24 | u64::from(swaps)
}

fn unpack(key: u64) -> (u32, usize, u32) {
    ((key >> 32) as u32, (key >> 24) as usize & 0xff, key as u32 & 0xff_ffff)
}
