//! Regions that wait to be expanded together: with the inputs of several at hand, what is known of
//! them can be fetched from memory at the same time instead of one after the other.

use strata_space::{ExitEdge, Local};
use strata_store::{EntryKey, List};

use super::step::hash;
use crate::kernel::{Batches, Decoded, Inputs};

/// Most regions that wait: what is fetched for them has to fit into the processor's first cache.
const MOST: usize = 16;

/// Bytes of inputs for which no more regions are waited for.
const MOST_BYTES: usize = 16 << 10;

/// A region that waits, and where its inputs are.
#[derive(Copy, Clone, Debug)]
pub(super) struct Visit {
    pub(super) at: EntryKey,
    /// The side of all states of the region, if they have the same.
    pub(super) side: Option<u32>,
    /// Where the region's inputs begin, and where those of the next one do.
    from: usize,
    to: usize,
    current: Shape,
    previous: Shape,
}

/// How the bytes of a list are shared out among its columns.
#[derive(Copy, Clone, Debug)]
struct Shape {
    bit: Option<u32>,
    gaps: usize,
    lows: usize,
    highs: usize,
}

impl Shape {
    fn of(list: List<'_>) -> Shape {
        let List { bit, gaps, lows, highs } = list;
        Shape { bit, gaps: gaps.len(), lows: lows.len(), highs: highs.len() }
    }

    /// The list at the beginning of some bytes, and the rest of them.
    fn split(self, bytes: &[u8]) -> (List<'_>, &[u8]) {
        let (gaps, bytes) = bytes.split_at(self.gaps);
        let (lows, bytes) = bytes.split_at(self.lows);
        let (highs, bytes) = bytes.split_at(self.highs);
        (List { bit: self.bit, gaps, lows, highs }, bytes)
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Visits {
    queue: Vec<Visit>,
    /// The regions' inputs.
    bytes: Vec<u8>,
    /// A region's batches by head and hash, and where they begin.
    order: Vec<(u32, u64, usize)>,
}

/// Bytes of a question before the lists: class and side, and how many states are in which.
const HEAD: usize = 12;

/// Before each batch: how many exits it has, few enough if its region waits, and above them its gate.
const LEN_BITS: u32 = 16;

fn batch_head(back: Option<ExitEdge>, batch: &[Local]) -> u32 {
    u32::from(back.unwrap_or(ExitEdge::MAX)) << LEN_BITS | batch.len() as u32
}

impl Visits {
    /// Forgets all regions.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.bytes.clear();
    }

    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= MOST || self.bytes.len() >= MOST_BYTES
    }

    /// The regions that wait, in the order in which they came.
    pub(super) fn queue(&self) -> &[Visit] {
        &self.queue
    }

    /// Adds a region. Equal inputs become equal bytes: what a list's other columns hold follows from
    /// the first, and batches are put into an order that only they decide.
    #[inline]
    pub(super) fn push(&mut self, at: EntryKey, inputs: Inputs<'_>) {
        let Inputs { current, previous, inbox } = inputs;
        let (from, bytes) = (self.bytes.len(), &mut self.bytes);
        let head = [0, current.len() as u32, previous.len() as u32];
        bytes.extend_from_slice(bytemuck::cast_slice(&head));
        for list in [current, previous] {
            bytes.extend_from_slice(list.gaps);
            bytes.extend_from_slice(list.lows);
            if !list.highs.is_empty() {
                bytes.extend_from_slice(list.highs);
            }
        }
        let batches = inbox.iter();
        let mut put = |head: u32, batch: &[Local]| {
            bytes.extend_from_slice(&head.to_ne_bytes());
            bytes.extend_from_slice(bytemuck::cast_slice(batch));
        };
        if batches.len() < 2 {
            batches.for_each(|(back, batch)| put(batch_head(back, batch), batch));
        } else {
            self.order.clear();
            let mut from = 0;
            for (back, batch) in batches {
                let head = batch_head(back, batch);
                self.order.push((head, hash(bytemuck::cast_slice(batch)), from));
                from += batch.len();
            }
            self.order.sort_unstable();
            for (head, _, from) in &self.order {
                let len = (head & ((1 << LEN_BITS) - 1)) as usize;
                put(*head, &inbox.locals()[*from..from + len]);
            }
        }
        let to = bytes.len();
        let (side, current, previous) =
            (common_side(&inputs), Shape::of(current), Shape::of(previous));
        self.queue.push(Visit { at, side, from, to, current, previous });
    }

    /// All that the step of a region of that class and side depends on.
    #[inline]
    pub(super) fn question(&mut self, visit: &Visit, class: u32, side: u32) -> &[u8] {
        let bytes = &mut self.bytes[visit.from..visit.to];
        bytes[..4].copy_from_slice(&(class << 1 | side).to_ne_bytes());
        bytes
    }

    /// The question that [`Self::question`] returned last for a region.
    #[inline]
    pub(super) fn asked(&self, visit: &Visit) -> &[u8] {
        &self.bytes[visit.from..visit.to]
    }

    /// Puts a region's inputs into `lists` and `inbox`; None if they are no lists.
    pub(super) fn decode<'a>(
        &self,
        visit: &Visit,
        lists: &'a mut [Vec<Local>; 2],
        inbox: &'a mut Batches,
    ) -> Option<Decoded<'a>> {
        let bytes = &self.bytes[visit.from + HEAD..visit.to];
        let ((current, bytes), [a, b]) = (visit.current.split(bytes), lists);
        let (previous, bytes) = visit.previous.split(bytes);
        current.decode(a)?;
        previous.decode(b)?;
        inbox.clear();
        let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word));
        while let Some(head) = words.next() {
            let back = (head >> LEN_BITS) as ExitEdge;
            let len = (head & ((1 << LEN_BITS) - 1)) as usize;
            inbox.push_all((back != ExitEdge::MAX).then_some(back), words.by_ref().take(len));
        }
        Some(Decoded { current: a, previous: b, inbox })
    }
}

/// Whether a region has so many states that it should not wait: its step is as good as never met
/// again, and copying its inputs would cost more than waiting gains.
#[inline]
pub(super) fn is_wide(inputs: &Inputs<'_>) -> bool {
    let Inputs { current, previous, inbox } = inputs;
    current.len() + previous.len() + size_of_val(inbox.locals()) > MOST_BYTES / 2
}

/// The side of all states of a region, if they have the same.
#[inline(always)]
pub(super) fn common_side(inputs: &Inputs<'_>) -> Option<u32> {
    let Inputs { current, previous, inbox } = inputs;
    let first = current.bit.or(inbox.locals().first().map(|local| local & 1))?;
    let has = |list: &List<'_>| list.is_empty() || list.bit == Some(first);
    let differ = inbox.locals().iter().fold(0, |any, local| any | (local ^ first)) & 1;
    (differ == 0 && has(current) && has(previous)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Batches;
    use strata_store::ListBuf;

    fn batches(batches: &[(Option<ExitEdge>, &[Local])]) -> Batches {
        let mut all = Batches::default();
        batches.iter().for_each(|(back, batch)| all.push(*back, batch));
        all
    }

    /// What is asked for regions with these inputs.
    fn questions(inputs: &[(&[Local], &[Local], Batches)]) -> Vec<Vec<u8>> {
        let mut visits = Visits::default();
        let (mut a, mut b) = (ListBuf::default(), ListBuf::default());
        for (current, previous, inbox) in inputs {
            let (current, previous) = (a.encode(current), b.encode(previous));
            visits.push(EntryKey::default(), Inputs { current, previous, inbox });
        }
        let queue = visits.queue().to_vec();
        let ask = |visit: &Visit| visits.question(visit, 3, visit.side.unwrap_or(0)).to_vec();
        queue.iter().map(ask).collect()
    }

    #[test]
    fn inputs_come_back() {
        let (mut visits, mut lists) = (Visits::default(), Default::default());
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
            visits.push(EntryKey::default(), Inputs { current, previous, inbox });
        }
        for (i, (current, previous, inbox)) in inputs.iter().enumerate() {
            let visit = visits.queue()[i];
            assert_eq!(visit.side, sides[i]);
            let found = visits.decode(&visit, &mut lists, &mut decoded).unwrap();
            assert_eq!((found.current, found.previous), (*current, *previous));
            let sorted = |inbox: &Batches| {
                let mut all: Vec<_> = inbox.iter().map(|(back, b)| (back, b.to_vec())).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(sorted(found.inbox), sorted(inbox));
        }
    }

    #[test]
    fn questions_differ_if_and_only_if_inputs_do() {
        let all = questions(&[
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
    fn few_regions_wait() {
        let mut visits = Visits::default();
        let wide: Vec<Local> = (0..MOST_BYTES as u32).collect();
        let mut list = ListBuf::default();
        let push = |visits: &mut Visits, states: List<'_>| {
            let inbox = &Batches::default();
            visits.push(
                EntryKey::default(),
                Inputs { current: states, previous: List::EMPTY, inbox },
            );
        };
        for _ in 0..MOST {
            assert!(!visits.is_full());
            push(&mut visits, List::EMPTY);
        }
        assert!(visits.is_full());
        visits.clear();
        push(&mut visits, list.encode(&wide));
        assert!(visits.is_full());
    }
}
