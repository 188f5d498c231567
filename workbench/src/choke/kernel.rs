//! Inner loop of the search: min-plus combination of distances with a row of a table, where swap
//! vectors add by XOR.
//!
//! It is written so that the compiler turns it into vector instructions, and compiled a second
//! time for processors that have more of them. The only unsafe code is the call of that variant.
#![allow(unsafe_code)]

use super::error::UNREACHED;

/// Values in a block of a row, the unit that is processed or skipped. Shorter rows are one block.
const BLOCK: usize = 256;
/// Blocks in a group, which is skipped as a whole.
const GROUP: usize = 16;
/// Values in a vector. Within it, the permutation by XOR is known at compile time.
const LANES: usize = 16;

/// Which vector instructions the inner loop uses. Results do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectors {
    /// Those every processor of the architecture has.
    Portable,
    /// AVX2. (AVX-512 was measured to be no faster.)
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Vectors {
    /// The vector instructions of this processor, the fastest first.
    pub fn available() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            found.push(Self::Avx2);
        }
        found.push(Self::Portable);
        found
    }

    fn is_available(self) -> bool {
        Self::available().contains(&self)
    }
}

/// Vector instructions that were found to be available.
#[derive(Clone, Copy, Debug)]
pub(super) struct AvailableVectors(Vectors);

impl AvailableVectors {
    /// The requested instructions, or the fastest available ones.
    pub(super) fn new(requested: Option<Vectors>) -> Self {
        let usable = requested.filter(|vectors| vectors.is_available());
        Self(usable.unwrap_or_else(|| Vectors::available()[0]))
    }
}

/// One row of a table with the least values of its blocks and groups.
pub(super) struct Row<'a> {
    costs: &'a [u32],
    /// The binary logarithm of a block's length.
    block_bits: u32,
    block_least: Vec<u32>,
    group_least: Vec<u32>,
}

impl<'a> Row<'a> {
    /// A row whose number of values is a power of two.
    pub(super) fn new(costs: &'a [u32]) -> Self {
        let least = |costs: &[u32]| costs.iter().copied().min().unwrap_or(UNREACHED);
        let block = block_len(costs.len());
        let block_least: Vec<u32> = costs.chunks(block).map(least).collect();
        let group_least = block_least.chunks(GROUP).map(least).collect();
        Self { costs, block_bits: block.ilog2(), block_least, group_least }
    }
}

/// The length of a block in rows with this many values.
pub(super) fn block_len(row: usize) -> usize {
    row.min(BLOCK)
}

/// A settled swap vector and its distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    pub(super) swaps: u32,
    pub(super) cost: u32,
}

/// Bounds of a block of distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BlockBounds {
    /// No unsettled value is below this bound.
    pub(super) least_open: u32,
    /// No value is above this bound; 0 if all values are settled.
    pub(super) worst: u32,
}

impl BlockBounds {
    /// The bounds of these values, of which those below `ceiling` are settled.
    #[inline(always)]
    pub(super) fn of(costs: &[u32], ceiling: u32) -> Self {
        let open = |&cost: &u32| if cost >= ceiling { cost } else { UNREACHED };
        let least_open = costs.iter().map(open).fold(UNREACHED, u32::min);
        let worst = costs.iter().copied().fold(0, u32::max);
        Self { least_open, worst: if worst < ceiling { 0 } else { worst } }
    }
}

/// Distances by swap vector, as many as the row has values.
pub(super) struct Target<'a> {
    pub(super) costs: &'a mut [u32],
    pub(super) blocks: &'a mut [BlockBounds],
}

/// Settled distances to be spread along a row.
pub(super) struct Batch<'a> {
    pub(super) row: &'a Row<'a>,
    pub(super) settled: &'a [Settled],
}

impl Target<'_> {
    /// Lowers `costs[v ^ w]` to `v.cost + row[w]` for every settled v of the batches and every w.
    ///
    /// All values below the ceiling are settled; the blocks' bounds are updated.
    pub(super) fn receive(
        &mut self,
        vectors: AvailableVectors,
        batches: &[Batch<'_>],
        ceiling: u32,
    ) {
        match vectors.0 {
            Vectors::Portable => self.receive_all(batches, ceiling),
            // SAFETY: `AvailableVectors` holds only instructions that the processor has.
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => unsafe { self.receive_avx2(batches, ceiling) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn receive_avx2(&mut self, batches: &[Batch<'_>], ceiling: u32) {
        self.receive_all(batches, ceiling);
    }

    #[inline(always)]
    fn receive_all(&mut self, batches: &[Batch<'_>], ceiling: u32) {
        let block = self.costs.len() / self.blocks.len();
        let mut near = Vec::new();
        let groups = self.blocks.chunks_mut(GROUP).zip(self.costs.chunks_mut(block * GROUP));
        for (index, (blocks, costs)) in groups.enumerate() {
            for (summary, costs) in blocks.iter_mut().zip(costs.chunks(block)) {
                if summary.least_open < ceiling {
                    *summary = BlockBounds::of(costs, ceiling);
                }
            }
            for batch in batches {
                spread_group(index, blocks, costs, batch, ceiling, &mut near);
            }
        }
    }
}

/// Spreads a batch to one group of blocks. `near` is scratch space.
#[inline(always)]
fn spread_group(
    index: usize,
    blocks: &mut [BlockBounds],
    costs: &mut [u32],
    batch: &Batch<'_>,
    ceiling: u32,
    near: &mut Vec<Settled>,
) {
    let worst = blocks.iter().map(|block| block.worst).fold(0, u32::max);
    if worst == 0 {
        return;
    }
    let Batch { row, settled } = batch;
    near.clear();
    near.extend(settled.iter().copied().filter(|s| {
        let group = index ^ ((s.swaps as usize >> row.block_bits) / GROUP);
        s.cost + row.group_least[group] < worst
    }));
    if near.is_empty() {
        return;
    }
    for (i, (block, out)) in
        blocks.iter_mut().zip(costs.chunks_mut(1 << row.block_bits)).enumerate()
    {
        spread_block(index * GROUP + i, block, out, row, near, ceiling);
    }
}

#[inline(always)]
fn spread_block(
    index: usize,
    block: &mut BlockBounds,
    out: &mut [u32],
    row: &Row<'_>,
    near: &[Settled],
    ceiling: u32,
) {
    let worst = block.worst;
    if worst == 0 {
        return;
    }
    let length = 1 << row.block_bits;
    let mut changed = false;
    for s in near {
        let swaps = s.swaps as usize;
        let from = index ^ (swaps >> row.block_bits);
        if s.cost + row.block_least[from] < worst {
            changed = true;
            lower_tile(out, &row.costs[from * length..][..length], swaps & (length - 1), s.cost);
        }
    }
    if changed {
        *block = BlockBounds::of(out, ceiling);
    }
}

/// Lowers `out[v ^ w]` to `cost + row[w]` for every w, inside a block.
#[inline(always)]
fn lower_tile(out: &mut [u32], row: &[u32], v: usize, cost: u32) {
    if out.len() < LANES {
        for (w, sum) in row.iter().map(|r| r + cost).enumerate() {
            out[v ^ w] = out[v ^ w].min(sum);
        }
        return;
    }
    let vector = v / LANES;
    match v % LANES {
        0 => lower_lanes::<0>(out, row, vector, cost),
        1 => lower_lanes::<1>(out, row, vector, cost),
        2 => lower_lanes::<2>(out, row, vector, cost),
        3 => lower_lanes::<3>(out, row, vector, cost),
        4 => lower_lanes::<4>(out, row, vector, cost),
        5 => lower_lanes::<5>(out, row, vector, cost),
        6 => lower_lanes::<6>(out, row, vector, cost),
        7 => lower_lanes::<7>(out, row, vector, cost),
        8 => lower_lanes::<8>(out, row, vector, cost),
        9 => lower_lanes::<9>(out, row, vector, cost),
        10 => lower_lanes::<10>(out, row, vector, cost),
        11 => lower_lanes::<11>(out, row, vector, cost),
        12 => lower_lanes::<12>(out, row, vector, cost),
        13 => lower_lanes::<13>(out, row, vector, cost),
        14 => lower_lanes::<14>(out, row, vector, cost),
        _ => lower_lanes::<15>(out, row, vector, cost),
    }
}

/// Lowers vectors whose values are permuted by the constant LANE, which compiles to a shuffle.
#[inline(always)]
fn lower_lanes<const LANE: usize>(out: &mut [u32], row: &[u32], vector: usize, cost: u32) {
    let (out, _) = out.as_chunks_mut::<LANES>();
    let (row, _) = row.as_chunks::<LANES>();
    for (i, out) in out.iter_mut().enumerate() {
        // Whole vectors are copied, or the compiler could not tell that they do not overlap.
        let (row, mut least) = (row[i ^ vector], *out);
        for lane in 0..LANES {
            least[lane] = least[lane].min(row[lane ^ LANE] + cost);
        }
        *out = least;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CEILING: u32 = 500;

    fn spread_plainly(out: &mut [u32], row: &[u32], settled: &[Settled]) {
        for s in settled {
            for (w, cost) in row.iter().enumerate() {
                let sum = (cost + s.cost).min(UNREACHED);
                let value = &mut out[s.swaps as usize ^ w];
                *value = (*value).min(sum);
            }
        }
    }

    fn cost() -> impl Strategy<Value = u32> {
        prop_oneof![4 => 0..2000_u32, 1 => Just(UNREACHED)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_variant_agrees_with_plain_code(
            bits in 0..14_u32,
            seed in prop::collection::vec((cost(), cost()), 97),
            starts in prop::collection::vec((any::<u32>(), 0..CEILING), 0..40),
        ) {
            let size = 1_usize << bits;
            let value = |i: usize| seed[i % seed.len()];
            let row: Vec<u32> = (0..size).map(|i| value(i).0).collect();
            let before: Vec<u32> = (0..size).map(|i| value(i * 31 + 7).1).collect();
            let settled: Vec<Settled> = starts
                .iter()
                .map(|&(v, cost)| Settled { swaps: v & (size as u32 - 1), cost })
                .collect();
            let mut expected = before.clone();
            spread_plainly(&mut expected, &row, &settled);
            for vectors in Vectors::available() {
                let mut costs = before.clone();
                let block = block_len(size);
                let mut blocks: Vec<BlockBounds> =
                    costs.chunks(block).map(|c| BlockBounds::of(c, CEILING)).collect();
                let all_settled: Vec<bool> = blocks.iter().map(|t| t.worst == 0).collect();
                let mut target = Target { costs: &mut costs, blocks: &mut blocks };
                let batch = Batch { row: &Row::new(&row), settled: &settled };
                target.receive(AvailableVectors::new(Some(vectors)), &[batch], CEILING);
                for (t, chunk) in costs.chunks(block).enumerate() {
                    if !all_settled[t] {
                        prop_assert_eq!(chunk, &expected[t * block..][..block]);
                        prop_assert_eq!(blocks[t], BlockBounds::of(chunk, CEILING));
                    }
                }
            }
        }
    }

    #[test]
    fn instructions_that_are_missing_are_not_used() {
        for vectors in Vectors::available() {
            assert_eq!(AvailableVectors::new(Some(vectors)).0, vectors);
        }
        assert_eq!(AvailableVectors::new(None).0, Vectors::available()[0]);
    }
}
