//! Division of a dense space's blocks into shards, and the blocks of a worker.

use std::ops::Range;

/// The blocks of a shard. The shards divide `blocks` blocks evenly, in order.
fn of_shard(shard: usize, shards: usize, blocks: u32) -> Range<u32> {
    let start = |shard: usize| (shard as u64 * u64::from(blocks) / shards.max(1) as u64) as u32;
    start(shard)..start(shard + 1)
}

/// The blocks of a worker as ranges, ascending, with gaps between them. `owners` is the owner by
/// shard.
pub(super) fn of_worker(owners: &[u16], worker: usize, blocks: u32) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for (shard, owner) in owners.iter().enumerate() {
        let range = of_shard(shard, owners.len(), blocks);
        if usize::from(*owner) != worker || range.is_empty() {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_block_has_one_owner(
            owners in proptest::collection::vec(0..4_u16, 1..40),
            blocks in 1..100_u32,
        ) {
            let mut owned = vec![0; blocks as usize];
            for worker in 0..4 {
                let ranges = of_worker(&owners, worker, blocks);
                prop_assert!(ranges.iter().all(|range| !range.is_empty()));
                prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
                ranges.into_iter().flatten().for_each(|block| owned[block as usize] += 1);
            }
            prop_assert!(owned.iter().all(|count| *count == 1));
        }
    }

    #[test]
    fn neighbouring_shards_are_one_range() {
        assert_eq!(of_worker(&[0, 0, 1, 0], 0, 10), [0..5, 7..10]);
        // More shards than blocks: some are empty.
        assert_eq!(of_worker(&[0, 0, 1, 1, 0, 0], 0, 3), [0..1, 2..3]);
    }
}
