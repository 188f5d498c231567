//! Blocks of other workers from which moves lead to those of a worker.

use std::collections::BTreeMap;
use std::ops::Range;

use strata_engine::dense::sources;
use strata_space::dense::DenseSpace;
use strata_store::DenseNumbering;

use super::blocks;

/// The most ranges into which the blocks of a space are divided to tell which of them lead to a worker.
const UNITS: u32 = 1 << 12;

/// By worker, the blocks with moves to those of this worker; ascending ranges.
#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<u32, Vec<Range<u32>>>);

impl Sources {
    /// The blocks of others that lead to `own`, the blocks of `worker`. Files have whole chunks of blocks, so
    /// ranges are not finer than these.
    pub(super) fn new(
        space: &dyn DenseSpace,
        numbering: &DenseNumbering,
        owners: &[u16],
        own: &[Range<u32>],
        worker: usize,
    ) -> Sources {
        let unit = numbering.chunk_blocks().max(numbering.blocks.div_ceil(UNITS));
        let leading = sources(space, own, unit);
        let mut others: Vec<u16> = owners.to_vec();
        others.sort_unstable();
        others.dedup();
        let of_other = |other: u16| {
            let theirs = blocks::of_worker(owners, usize::from(other), numbering.blocks);
            (u32::from(other), common(&theirs, &leading))
        };
        let others = others.into_iter().filter(|other| usize::from(*other) != worker);
        Sources(others.map(of_other).filter(|(_, ranges)| !ranges.is_empty()).collect())
    }

    /// These workers, whose files are read in full.
    pub(super) fn whole(workers: impl IntoIterator<Item = u32>) -> Sources {
        Sources(workers.into_iter().map(|worker| (worker, Vec::new())).collect())
    }

    /// All ranges, ascending. Each has blocks of one worker.
    pub(super) fn ranges(&self) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = self.0.values().flatten().cloned().collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges
    }

    /// The workers, ascending.
    pub(super) fn workers(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.keys().copied()
    }

    /// The blocks of a worker; None if none of them lead to this worker's.
    pub(super) fn of(&self, worker: u32) -> Option<&[Range<u32>]> {
        self.0.get(&worker).map(Vec::as_slice)
    }

    /// The worker that has a source block.
    pub(super) fn worker_of(&self, block: u32) -> Option<u32> {
        let has = |ranges: &[Range<u32>]| {
            let after = ranges.partition_point(|range| range.end <= block);
            ranges.get(after).is_some_and(|range| range.contains(&block))
        };
        self.0.iter().find(|(_, ranges)| has(ranges)).map(|(worker, _)| *worker)
    }
}

/// The blocks that two lists of ascending ranges have in common.
fn common(a: &[Range<u32>], b: &[Range<u32>]) -> Vec<Range<u32>> {
    let (mut i, mut j, mut ranges) = (0, 0, Vec::new());
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let range = x.start.max(y.start)..x.end.min(y.end);
        if !range.is_empty() {
            ranges.push(range);
        }
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_blocks_are_those_of_both_lists() {
        assert_eq!(common(&[0..4, 6..9], &[2..7, 8..20]), [2..4, 6..7, 8..9]);
        assert_eq!(common(&[0..2, 2..4], &[4..7, 8..9]), []);
        assert_eq!(common(&[], &[4..7, 8..9]), []);
    }
}
