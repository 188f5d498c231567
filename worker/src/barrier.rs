//! Ends of layers: what the workers of an epoch tell each other about them, and when a layer is complete.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use strata_proto::v1;

/// Figures of one worker's part of a layer, or the sum of several, that decide whether all workers go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LayerEnd {
    pub(crate) states: u64,
    /// Whether a worker wants the window to end here.
    pub(crate) is_last: bool,
}

impl LayerEnd {
    pub(crate) fn to_message(self) -> v1::LayerEnd {
        v1::LayerEnd { states: self.states, ends_window: self.is_last }
    }

    pub(crate) fn from_message(end: v1::LayerEnd) -> LayerEnd {
        LayerEnd { states: end.states, is_last: end.ends_window }
    }

    fn sum(ends: impl Iterator<Item = LayerEnd>) -> LayerEnd {
        ends.fold(LayerEnd::default(), |sum, end| LayerEnd {
            states: sum.states.saturating_add(end.states),
            is_last: sum.is_last || end.is_last,
        })
    }

    /// Whether the window ends after a layer with this sum of ends. `widths` are the states of layers after
    /// which it may go on.
    pub(crate) fn ends_window(self, widths: &RangeInclusive<u64>) -> bool {
        self.is_last || self.states == 0 || !widths.contains(&self.states)
    }
}

/// The barriers of one worker in one epoch.
///
/// The end of layer d comes from each other worker after all its exits of d. A worker that has all ends
/// of layer d makes layer d+1, so others may receive exits and the end of d+1 before they have all ends
/// of d. They receive none of d+2: whoever makes that has everyone's end of d+1.
#[derive(Debug)]
pub(crate) struct Barrier {
    /// Number of other workers.
    others: usize,
    /// Depth of the layer in progress.
    layer: u32,
    /// Ends of that layer and of the one after it, by parity of the depth, then by sender.
    ends: [BTreeMap<u16, LayerEnd>; 2],
}

impl Barrier {
    /// The barriers of a worker with this number of other workers.
    pub(crate) fn new(others: usize) -> Barrier {
        Barrier { others, layer: 0, ends: Default::default() }
    }

    /// Makes a layer the one in progress. Exits of earlier layers are not due any more.
    pub(crate) fn begin(&mut self, depth: u32) {
        let before = std::mem::replace(&mut self.layer, depth);
        if depth == before {
            return;
        }
        ends_of(&mut self.ends, before).clear();
        if depth != before + 1 {
            ends_of(&mut self.ends, before + 1).clear();
        }
    }

    /// Whether exits of a layer, or its end, may still come from a worker.
    pub(crate) fn expects(&mut self, from: u16, depth: u32) -> bool {
        let is_due = depth == self.layer || depth.checked_sub(1) == Some(self.layer);
        is_due && !ends_of(&mut self.ends, depth).contains_key(&from)
    }

    /// Takes the end of a layer that is expected. Returns whether those of the layer in progress are all
    /// there now.
    pub(crate) fn receive(&mut self, from: u16, depth: u32, end: LayerEnd) -> bool {
        let ends = ends_of(&mut self.ends, depth);
        ends.insert(from, end);
        ends.len() == self.others && depth == self.layer
    }

    /// The sum of the ends of the layer in progress, given the own one; `None` until all are there.
    pub(crate) fn complete(&mut self, own: LayerEnd) -> Option<LayerEnd> {
        let (others, layer) = (self.others, self.layer);
        let ends = ends_of(&mut self.ends, layer);
        (ends.len() == others).then(|| LayerEnd::sum(ends.values().copied().chain([own])))
    }
}

fn ends_of(ends: &mut [BTreeMap<u16, LayerEnd>; 2], depth: u32) -> &mut BTreeMap<u16, LayerEnd> {
    &mut ends[depth as usize % 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(states: u64) -> LayerEnd {
        LayerEnd { states, is_last: false }
    }

    #[test]
    fn a_layer_is_complete_when_all_other_workers_have_ended_it() {
        let mut barrier = Barrier::new(2);
        barrier.begin(5);
        assert!(!barrier.receive(1, 5, end(10)));
        assert_eq!(barrier.complete(end(3)), None);
        assert!(barrier.receive(2, 5, LayerEnd { states: 20, is_last: true }));
        assert_eq!(barrier.complete(end(3)), Some(LayerEnd { states: 33, is_last: true }));
    }

    #[test]
    fn an_end_of_the_next_layer_counts_for_that_layer() {
        let mut barrier = Barrier::new(2);
        barrier.begin(5);
        barrier.receive(1, 5, end(1));
        // Worker 1 may have all ends of layer 5, of which this worker has not.
        assert!(barrier.expects(1, 6));
        assert!(!barrier.receive(1, 6, end(2)));
        assert_eq!(barrier.complete(end(0)), None);
        barrier.receive(2, 5, end(1));
        assert_eq!(barrier.complete(end(0)), Some(end(2)));
        barrier.begin(6);
        assert_eq!(barrier.complete(end(0)), None);
        assert!(barrier.receive(2, 6, end(2)));
        assert_eq!(barrier.complete(end(0)), Some(end(4)));
        barrier.begin(7);
        assert_eq!(barrier.complete(end(0)), None);
    }

    #[test]
    fn what_comes_after_the_end_of_a_layer_or_belongs_to_another_layer_is_not_expected() {
        let mut barrier = Barrier::new(2);
        barrier.begin(5);
        let due = |barrier: &mut Barrier, from| [4, 5, 6, 7].map(|d| barrier.expects(from, d));
        assert_eq!(due(&mut barrier, 1), [false, true, true, false]);
        barrier.receive(1, 5, end(1));
        assert_eq!(due(&mut barrier, 1), [false, false, true, false]);
        assert_eq!(due(&mut barrier, 2), [false, true, true, false]);
    }

    #[test]
    fn a_window_ends_after_a_layer_that_is_empty_too_narrow_or_too_wide() {
        let ends = [0, 9, 10, 20, 21].map(|states| end(states).ends_window(&(10..=20)));
        assert_eq!(ends, [true, true, false, false, true]);
        assert!(end(0).ends_window(&(0..=20)));
        assert!(LayerEnd { states: 15, is_last: true }.ends_window(&(10..=20)));
    }

    #[test]
    fn a_restored_layer_has_no_ends_of_earlier_ones() {
        let mut barrier = Barrier::new(1);
        barrier.receive(1, 0, end(1));
        barrier.receive(1, 1, end(1));
        barrier.begin(40);
        assert_eq!(barrier.complete(end(1)), None);
        assert!(barrier.expects(1, 40) && barrier.expects(1, 41));
        // A worker alone waits for nobody.
        let mut alone = Barrier::new(0);
        alone.begin(40);
        assert_eq!(alone.complete(end(1)), Some(end(1)));
    }
}
