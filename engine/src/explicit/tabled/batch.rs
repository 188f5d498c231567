//! Expansion batch: regions that are collected and then expanded together.
//!
//! While the inputs of several regions are collected, the cached data of all of them can be prefetched at
//! the same time, instead of one region after the other.

use strata_space::{ExitEdge, Local};
use strata_store::{EntryKey, List, Word};

use super::memo::hash;
use crate::explicit::kernel::{Batches, Decoded, Inputs};

/// The most regions of a batch: the prefetched data must fit into the first-level cache.
const MAX_REGIONS: usize = 16;

/// Bytes of inputs at which a batch is full.
const MAX_BYTES: usize = 16 << 10;

/// A region of a batch, with the position of its inputs.
#[derive(Copy, Clone, Debug)]
pub(super) struct PendingRegion {
    pub(super) at: EntryKey,
    /// The common side of all states of the region, if there is one.
    pub(super) side: Option<u32>,
    /// Start and end of the region's inputs in the bytes of the batch.
    from: usize,
    to: usize,
    current: ListLayout,
    previous: ListLayout,
}

/// Lengths of the columns of a list.
#[derive(Copy, Clone, Debug)]
struct ListLayout {
    bit: Option<u32>,
    gaps: usize,
    lows: usize,
    highs: usize,
}

impl ListLayout {
    fn of(list: List<'_>) -> ListLayout {
        let List { bit, gaps, lows, highs, width: _ } = list;
        ListLayout { bit, gaps: gaps.len(), lows: lows.len(), highs: highs.len() }
    }

    /// The list at the start of `bytes`, and the rest of the bytes.
    fn split(self, bytes: &[u8]) -> (List<'_>, &[u8]) {
        let (gaps, bytes) = bytes.split_at(self.gaps);
        let (lows, bytes) = bytes.split_at(self.lows);
        let (highs, bytes) = bytes.split_at(self.highs);
        (List { bit: self.bit, gaps, lows, highs, ..List::EMPTY }, bytes)
    }
}

/// Regions that are expanded together, with a copy of their inputs.
#[derive(Default)]
pub(super) struct ExpansionBatch {
    regions: Vec<PendingRegion>,
    /// Memo keys of the regions, one after the other. A key contains all inputs of its region.
    bytes: Vec<u8>,
    /// Scratch memory: header, hash and offset of each inbox batch of a region.
    order: Vec<(u32, u64, usize)>,
}

/// Bytes of a key before the lists: class with side, and the numbers of states of both lists.
const HEADER_BYTES: usize = 12;

/// Number of low bits in the header of an inbox batch, which hold the number of exits. The high bits hold
/// the inverse edge. Regions with more exits are not added, see [`is_wide`].
const LEN_BITS: u32 = 16;

fn batch_header(inverse: Option<ExitEdge>, batch: &[Word]) -> u32 {
    u32::from(inverse.unwrap_or(ExitEdge::MAX)) << LEN_BITS | batch.len() as u32
}

impl ExpansionBatch {
    /// Removes all regions.
    pub(super) fn clear(&mut self) {
        self.regions.clear();
        self.bytes.clear();
    }

    /// Whether the batch has reached a limit, so that its regions should be expanded.
    pub(super) fn is_full(&self) -> bool {
        self.regions.len() >= MAX_REGIONS || self.bytes.len() >= MAX_BYTES
    }

    /// The regions, in the order in which they were added.
    pub(super) fn regions(&self) -> &[PendingRegion] {
        &self.regions
    }

    /// Adds a region. Equal inputs become equal bytes, because inbox batches are sorted by header and
    /// hash. Different inputs become different bytes, because the first column of a list determines the
    /// lengths of the other columns.
    #[inline]
    pub(super) fn push(&mut self, at: EntryKey, inputs: Inputs<'_>) {
        let Inputs { current, previous, inbox, .. } = inputs;
        let (from, bytes) = (self.bytes.len(), &mut self.bytes);
        let header = [0, current.len() as u32, previous.len() as u32];
        bytes.extend_from_slice(bytemuck::cast_slice(&header));
        for list in [current, previous] {
            bytes.extend_from_slice(list.gaps);
            bytes.extend_from_slice(list.lows);
            if !list.highs.is_empty() {
                bytes.extend_from_slice(list.highs);
            }
        }
        let batches = inbox.iter();
        let mut put = |header: u32, batch: &[Word]| {
            bytes.extend_from_slice(&header.to_ne_bytes());
            bytes.extend_from_slice(bytemuck::cast_slice(Word::locals(batch)));
        };
        if batches.len() < 2 {
            batches.for_each(|(inverse, batch)| put(batch_header(inverse, batch), batch));
        } else {
            self.order.clear();
            let mut from = 0;
            for (inverse, batch) in batches {
                let header = batch_header(inverse, batch);
                self.order.push((header, hash(bytemuck::cast_slice(Word::locals(batch))), from));
                from += batch.len();
            }
            self.order.sort_unstable();
            for (header, _, from) in &self.order {
                let len = (header & ((1 << LEN_BITS) - 1)) as usize;
                put(*header, &inbox.words()[*from..from + len]);
            }
        }
        let to = bytes.len();
        let (side, current, previous) =
            (common_side(&inputs), ListLayout::of(current), ListLayout::of(previous));
        self.regions.push(PendingRegion { at, side, from, to, current, previous });
    }

    /// The memo key of a region: class, side and inputs, on which its expansion depends.
    #[inline]
    pub(super) fn key(&mut self, region: &PendingRegion, class: u32, side: u32) -> &[u8] {
        let bytes = &mut self.bytes[region.from..region.to];
        bytes[..4].copy_from_slice(&(class << 1 | side).to_ne_bytes());
        bytes
    }

    /// The memo key that the last call of [`Self::key`] for this region returned.
    #[inline]
    pub(super) fn last_key(&self, region: &PendingRegion) -> &[u8] {
        &self.bytes[region.from..region.to]
    }

    /// Decodes a region's inputs into `lists` and `inbox`. None if a list is damaged.
    pub(super) fn decode<'a>(
        &self,
        region: &PendingRegion,
        lists: &'a mut [Vec<Local>; 2],
        inbox: &'a mut Batches,
    ) -> Option<Decoded<'a>> {
        let bytes = &self.bytes[region.from + HEADER_BYTES..region.to];
        let ((current, bytes), [a, b]) = (region.current.split(bytes), lists);
        let (previous, bytes) = region.previous.split(bytes);
        current.decode_locals(a)?;
        previous.decode_locals(b)?;
        inbox.clear();
        let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word));
        while let Some(header) = words.next() {
            let inverse = (header >> LEN_BITS) as ExitEdge;
            let len = (header & ((1 << LEN_BITS) - 1)) as usize;
            inbox.push_all(
                (inverse != ExitEdge::MAX).then_some(inverse),
                words.by_ref().take(len).map(Word),
            );
        }
        Some(Decoded { current: a, previous: b, inbox })
    }
}

/// Whether a region has too many states for a batch. Expansions of such regions hardly ever recur,
/// and copying the inputs would cost more than prefetching gains.
#[inline]
pub(super) fn is_wide(inputs: &Inputs<'_>) -> bool {
    let Inputs { current, previous, inbox, .. } = inputs;
    current.len() + previous.len() + size_of_val(inbox.words()) > MAX_BYTES / 2
}

/// The common side of all states of a region, if there is one.
#[inline(always)]
pub(super) fn common_side(inputs: &Inputs<'_>) -> Option<u32> {
    let Inputs { current, previous, inbox, .. } = inputs;
    let first = current.bit.or(inbox.narrow().first().map(|local| local & 1))?;
    let has = |list: &List<'_>| list.is_empty() || list.bit == Some(first);
    let differ = inbox.narrow().iter().fold(0, |any, local| any | (local ^ first)) & 1;
    (differ == 0 && has(current) && has(previous)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::kernel::Batches;
    use strata_store::ListBuf;

    fn batches(batches: &[(Option<ExitEdge>, &[Local])]) -> Batches {
        let mut all = Batches::default();
        batches.iter().for_each(|(inverse, batch)| all.push(*inverse, Word::of(batch)));
        all
    }

    /// Keys of regions with these inputs.
    fn keys_of(inputs: &[(&[Local], &[Local], Batches)]) -> Vec<Vec<u8>> {
        let mut batch = ExpansionBatch::default();
        let (mut a, mut b) = (ListBuf::default(), ListBuf::default());
        for (current, previous, inbox) in inputs {
            let (current, previous) = (a.encode(current), b.encode(previous));
            batch.push(EntryKey::default(), Inputs { current, previous, older: &[], inbox });
        }
        let regions = batch.regions().to_vec();
        let key = |region: &PendingRegion| batch.key(region, 3, region.side.unwrap_or(0)).to_vec();
        regions.iter().map(key).collect()
    }

    #[test]
    fn decoded_inputs_are_those_that_were_added() {
        let (mut batch, mut lists) = (ExpansionBatch::default(), Default::default());
        let mut decoded = Batches::default();
        let (mut a, mut b) = (ListBuf::default(), ListBuf::default());
        let inputs: [(&[Local], &[Local], Batches); 4] = [
            (&[2, 70_000, 20_000_000], &[4], batches(&[(Some(3), &[8, 6]), (None, &[2])])),
            (&[], &[], batches(&[(Some(0), &[7, 5, 7])])),
            (&[1, 2], &[3], batches(&[])),
            (&[2], &[3], batches(&[])),
        ];
        let sides = [Some(0), Some(1), None, None];
        for (current, previous, inbox) in &inputs {
            let (current, previous) = (a.encode(current), b.encode(previous));
            batch.push(EntryKey::default(), Inputs { current, previous, older: &[], inbox });
        }
        for (i, (current, previous, inbox)) in inputs.iter().enumerate() {
            let region = batch.regions()[i];
            assert_eq!(region.side, sides[i]);
            let found = batch.decode(&region, &mut lists, &mut decoded).unwrap();
            assert_eq!((found.current, found.previous), (*current, *previous));
            let sorted = |inbox: &Batches| {
                let mut all: Vec<_> =
                    inbox.iter().map(|(inverse, b)| (inverse, Word::locals(b).to_vec())).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(sorted(found.inbox), sorted(inbox));
        }
    }

    #[test]
    fn keys_differ_if_and_only_if_inputs_do() {
        let all = keys_of(&[
            (&[2, 4], &[6], batches(&[(Some(1), &[8, 10]), (Some(2), &[12])])),
            (&[2, 4], &[6], batches(&[(Some(2), &[12]), (Some(1), &[8, 10])])),
            (&[2, 4], &[6], batches(&[(Some(1), &[12]), (Some(2), &[8, 10])])),
            (&[2, 4], &[6], batches(&[(Some(1), &[8, 10]), (None, &[12])])),
            (&[2, 4, 6], &[], batches(&[(Some(1), &[8, 10]), (Some(2), &[12])])),
            (&[2], &[4, 6], batches(&[(Some(1), &[8, 10]), (Some(2), &[12])])),
            (&[2, 4], &[6], batches(&[(Some(1), &[8, 10])])),
            (&[3, 5], &[7], batches(&[(Some(1), &[9, 11]), (Some(2), &[13])])),
        ]);
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate().filter(|(j, _)| *j != i) {
                assert_eq!(a == b, i + j == 1, "{i} and {j}");
            }
        }
    }

    #[test]
    fn a_batch_is_full_at_either_limit() {
        let mut batch = ExpansionBatch::default();
        let wide: Vec<Local> = (0..MAX_BYTES as u32).collect();
        let mut list = ListBuf::default();
        let push = |batch: &mut ExpansionBatch, states: List<'_>| {
            let inbox = &Batches::default();
            batch.push(
                EntryKey::default(),
                Inputs { current: states, previous: List::EMPTY, older: &[], inbox },
            );
        };
        for _ in 0..MAX_REGIONS {
            assert!(!batch.is_full());
            push(&mut batch, List::EMPTY);
        }
        assert!(batch.is_full());
        batch.clear();
        push(&mut batch, list.encode(&wide));
        assert!(batch.is_full());
    }
}
