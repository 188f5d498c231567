//! Samples of a file's keys, for splitting a pass over it evenly between threads.
//!
//! Samples are taken while the file is written. They allow splits within a block.

use crate::key::EntryKey;

/// Initial number of states from one sample to the next.
const FIRST_STEP: u64 = 1024;
/// At this many samples, every second sample is merged into the one before, and the step doubles. This is
/// fine enough for any number of threads, and limits the memory for a wide layer.
const MAX_SAMPLES: usize = 512;

/// A key and the number of states from there to the next sample.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Sample {
    /// Key of a region.
    pub key: EntryKey,
    /// Number of states of this region and of the regions up to the next sample.
    pub states: u64,
}

/// Takes samples of regions, which must come in key order.
#[derive(Debug)]
pub(crate) struct Sampler {
    step: u64,
    samples: Vec<Sample>,
}

impl Sampler {
    pub(crate) fn new() -> Self {
        Self { step: FIRST_STEP, samples: Vec::new() }
    }

    #[inline]
    pub(crate) fn count(&mut self, key: EntryKey, states: u64) {
        match self.samples.last_mut() {
            Some(last) if last.states < self.step => last.states += states,
            _ => self.add(Sample { key, states }),
        }
    }

    fn add(&mut self, sample: Sample) {
        if self.samples.len() >= MAX_SAMPLES {
            thin(&mut self.samples);
            self.step *= 2;
        }
        self.samples.push(sample);
    }

    /// Returns the samples and starts over.
    pub(crate) fn take(&mut self) -> Vec<Sample> {
        self.step = FIRST_STEP;
        std::mem::take(&mut self.samples)
    }
}

/// Merges the samples of several parts, which may come in any order.
pub(crate) fn merge(mut all: Vec<Sample>) -> Vec<Sample> {
    all.sort_by_key(|sample| sample.key);
    while all.len() > 2 * MAX_SAMPLES {
        thin(&mut all);
    }
    all.shrink_to_fit();
    all
}

/// Merges every second sample into the one before.
fn thin(samples: &mut Vec<Sample>) {
    let len = samples.len().div_ceil(2);
    for i in 0..len {
        let dropped = samples.get(2 * i + 1).map_or(0, |next| next.states);
        samples[i] = Sample { states: samples[2 * i].states + dropped, ..samples[2 * i] };
    }
    samples.truncate(len);
}

/// Up to `parts - 1` increasing keys that split `total` states evenly; never the first sample.
pub(crate) fn split_keys(
    samples: impl Iterator<Item = Sample>,
    total: u64,
    parts: usize,
) -> Vec<EntryKey> {
    let (total, parts) = (u128::from(total), parts as u128);
    let (mut keys, mut done, mut next) = (Vec::new(), 0_u128, 1);
    let mut before: Option<EntryKey> = None;
    for sample in samples {
        // Split before this sample if at least half of its states lie after the mark. Keys may repeat in
        // a run; equal keys stay together.
        let middle = done + u128::from(sample.states) / 2;
        let mut marks = 0;
        while next + marks < parts && middle * parts >= total * (next + marks) {
            marks += 1;
        }
        if marks > 0 && before.is_some_and(|before| before < sample.key) {
            keys.push(sample.key);
            next += marks;
        }
        done += u128::from(sample.states);
        before = Some(sample.key);
    }
    keys
}

/// A split moves to a block boundary that is at most 1/24 of a part away.
const ALIGN_FRACTION: u64 = 24;

/// Moves split keys to block boundaries nearby.
///
/// If a split is within a block, the tasks of both parts must read the block. Stable boundaries also
/// raise the hit rate of the memo table.
pub(crate) fn align_to_blocks(
    mut keys: Vec<EntryKey>,
    blocks: impl Iterator<Item = Sample>,
    total: u64,
    parts: usize,
) -> Vec<EntryKey> {
    if keys.len() + 1 != parts {
        return keys;
    }
    let part = total / parts as u64;
    let mut done = 0;
    for block in blocks {
        let mark = (done + part / 2).checked_div(part).unwrap_or(0);
        if done.abs_diff(mark * part) <= part / ALIGN_FRACTION
            && let Some(split) = (mark as usize).checked_sub(1).and_then(|i| keys.get_mut(i))
        {
            *split = block.key;
        }
        done += block.states;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(region: u128) -> EntryKey {
        EntryKey { shard: 0, region }
    }

    proptest! {
        #[test]
        fn samples_count_every_state(
            counts in proptest::collection::vec(1_u64..4000, 0..3000), parts in 1_usize..40,
        ) {
            let mut sampler = Sampler::new();
            for (region, states) in counts.iter().enumerate() {
                sampler.count(key(region as u128), *states);
            }
            let total: u64 = counts.iter().sum();
            let samples = sampler.take();
            prop_assert!(samples.len() <= MAX_SAMPLES);
            prop_assert_eq!(samples.iter().map(|sample| sample.states).sum::<u64>(), total);
            let keys = split_keys(samples.into_iter(), total, parts);
            prop_assert!(keys.len() < parts);
            prop_assert!(keys.is_sorted_by(|a, b| a < b));
            prop_assert!(keys.first().is_none_or(|first| *first > key(0)));
            if counts.len() == 3000 {
                prop_assert_eq!(keys.len(), parts - 1);
            }
        }
    }

    #[test]
    fn merged_samples_are_few_and_keep_all_states() {
        let samples: Vec<Sample> =
            (0..5001).rev().map(|i| Sample { key: key(i), states: 3 }).collect();
        let merged = merge(samples);
        assert!(merged.len() <= 2 * MAX_SAMPLES);
        assert!(merged.is_sorted_by(|a, b| a.key < b.key));
        assert_eq!(merged[0].key, key(0));
        assert_eq!(merged.iter().map(|sample| sample.states).sum::<u64>(), 3 * 5001);
    }

    #[test]
    fn equal_keys_are_not_split() {
        let samples = [5, 5, 5, 6, 6, 6].map(|region| Sample { key: key(region), states: 1000 });
        assert_eq!(split_keys(samples.into_iter(), 6000, 6), [key(6)]);
    }

    #[test]
    fn split_keys_move_to_block_boundaries_nearby() {
        let blocks = |states: &[u64]| -> Vec<Sample> {
            (0..)
                .zip(states)
                .map(|(i, states)| Sample { key: key(100 * i), states: *states })
                .collect()
        };
        let snapped = |at: &[u128], states: &[u64], parts| {
            let total = states.iter().sum();
            let keys = at.iter().map(|at| key(*at)).collect();
            let keys = align_to_blocks(keys, blocks(states).into_iter(), total, parts);
            keys.iter().map(|split| split.region).collect::<Vec<_>>()
        };
        assert_eq!(snapped(&[98], &[1020, 980], 2), [100]);
        assert_eq!(snapped(&[105], &[980, 1020], 2), [100]);
        // Too far away.
        assert_eq!(snapped(&[80], &[1200, 800], 2), [80]);
        assert_eq!(snapped(&[95, 205], &[1010, 990, 500, 500], 3), [100, 200]);
        // Fewer keys than parts, nothing at all, and the whole.
        assert_eq!(snapped(&[95], &[1000, 1000, 1000], 3), [95]);
        assert_eq!(snapped(&[], &[], 1), [0; 0]);
        assert_eq!(snapped(&[], &[10, 10], 1), [0; 0]);
    }
}
