//! Ends of layers: what the workers of an epoch tell each other about them, and when a layer is complete.
//!
//! Workers form a [`Grid`]. In every layer each tells the members of its row that it has made its part, and
//! gives each of them the exits that it is to carry. A worker that has heard all of its row tells each worker
//! that it carries to, with the sum of the row.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use bytes::Bytes;

use crate::grid::Grid;

/// Figures of one worker's part of a layer, or the sum of several, that decide whether all workers go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LayerEnd {
    pub(crate) states: u64,
    /// Whether a worker wants the window to end here.
    pub(crate) is_last: bool,
}

impl LayerEnd {
    fn sum<'a>(ends: impl Iterator<Item = &'a LayerEnd>) -> LayerEnd {
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

/// Exits of a layer from one worker to another, which others carry. Workers are places in the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Encoded exits; empty if there are only direct ones.
    pub(crate) run: Bytes,
    /// Number of the last batch that `from` has sent to `to` directly; 0 if it sent none of this layer.
    pub(crate) direct: u64,
}

/// The message by which a worker ends a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndMessage {
    /// The sum of the sender's row; else of the sender alone.
    pub(crate) is_of_row: bool,
    pub(crate) end: LayerEnd,
    pub(crate) carried: Vec<Carried>,
    /// Expansions that the sender, or its row, has learned.
    pub(crate) learned: Vec<Bytes>,
}

/// What a worker has heard of one layer.
#[derive(Debug, Default)]
struct Heard {
    /// Ends of the members of its row, its own included.
    members: BTreeMap<usize, LayerEnd>,
    /// Sums of other rows.
    rows: BTreeMap<usize, LayerEnd>,
    /// Exits of its row to the workers that it carries to.
    carried: BTreeMap<usize, Vec<Carried>>,
    /// Expansions that its row has learned.
    learned: Vec<Bytes>,
    /// By sender: the batch up to which direct ones must have come.
    direct: BTreeMap<usize, u64>,
}

/// A message that is not due: it was received before, belongs to another layer or is for someone else.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotDue;

/// The barriers of one worker in one epoch.
///
/// A worker that has heard everyone's end of layer d makes layer d+1, so others may hear of d+1 before they have
/// heard all of d. They hear nothing of d+2: whoever makes that has heard everyone's end of d+1.
#[derive(Debug)]
pub(crate) struct Barrier {
    grid: Grid,
    own: usize,
    /// Depth of the layer in progress.
    layer: u32,
    /// What it has heard of that layer and of the one after it, by parity of the depth.
    heard: [Heard; 2],
    /// Number of the last batch that was accepted from each worker.
    accepted: BTreeMap<usize, u64>,
}

impl Barrier {
    /// The barriers of the worker at place `own`.
    pub(crate) fn new(grid: Grid, own: usize) -> Barrier {
        let (heard, accepted) = Default::default();
        Barrier { grid, own, layer: 0, heard, accepted }
    }

    /// Makes a layer the one in progress. Exits of earlier layers are not due any more.
    pub(crate) fn begin(&mut self, depth: u32) {
        let before = std::mem::replace(&mut self.layer, depth);
        if depth == before {
            return;
        }
        *self.heard_of(before) = Heard::default();
        if depth != before + 1 {
            *self.heard_of(before + 1) = Heard::default();
        }
    }

    fn heard_of(&mut self, depth: u32) -> &mut Heard {
        &mut self.heard[depth as usize % 2]
    }

    /// Whether exits of a layer may still come from a worker, directly.
    pub(crate) fn expects(&mut self, from: usize, depth: u32) -> bool {
        let is_due = depth == self.layer || depth.checked_sub(1) == Some(self.layer);
        is_due && !self.heard_of(depth).members.contains_key(&from)
    }

    /// Notes that the batches of a worker have been accepted up to this one.
    pub(crate) fn accepted(&mut self, from: usize, sequence: u64) {
        self.accepted.insert(from, sequence);
    }

    /// Checks an end of a layer from another worker. [`Self::receive`] takes it, once the exits in it that are
    /// for this worker have been accepted.
    ///
    /// # Errors
    /// [`NotDue`].
    pub(crate) fn check(
        &mut self,
        from: usize,
        depth: u32,
        message: &EndMessage,
    ) -> Result<(), NotDue> {
        let (grid, own) = (self.grid, self.own);
        let (row, of) = (grid.row_of(own), grid.row_of(from));
        let is_for_this = match message.is_of_row {
            false => {
                of == row
                    && message.carried.iter().all(|part| {
                        part.from == from
                            && grid.row_of(part.to) != row
                            && grid.carrier(row, part.to) == own
                    })
            }
            true => {
                of != row
                    && grid.carrier(of, own) == from
                    && message
                        .carried
                        .iter()
                        .all(|part| part.to == own && grid.row_of(part.from) == of)
            }
        };
        let is_due = self.expects(from, depth)
            && (!message.is_of_row || !self.heard_of(depth).rows.contains_key(&of));
        if is_for_this && is_due { Ok(()) } else { Err(NotDue) }
    }

    /// Takes the end of a layer that [`Self::check`] permits. Returns the messages to send then.
    pub(crate) fn receive(
        &mut self,
        from: usize,
        depth: u32,
        message: EndMessage,
    ) -> Vec<(usize, EndMessage)> {
        let row = self.grid.row_of(from);
        let heard = self.heard_of(depth);
        if message.is_of_row {
            heard.rows.insert(row, message.end);
            let direct = message.carried.iter().filter(|part| part.direct > 0);
            heard.direct.extend(direct.map(|part| (part.from, part.direct)));
            return Vec::new();
        }
        heard.members.insert(from, message.end);
        heard.learned.extend(message.learned);
        for part in message.carried {
            heard.carried.entry(part.to).or_default().push(part);
        }
        self.forward(depth)
    }

    /// Takes the end of this worker's own part of the layer in progress, its exits to workers of other
    /// rows, and what it has learned. Returns the messages to send: to each member of the row, and to others if the row is complete.
    pub(crate) fn made(
        &mut self,
        end: LayerEnd,
        carried: Vec<Carried>,
        learned: &[Bytes],
    ) -> Vec<(usize, EndMessage)> {
        let (grid, own, layer) = (self.grid, self.own, self.layer);
        let row = grid.row_of(own);
        let mut parts: BTreeMap<usize, Vec<Carried>> = BTreeMap::new();
        for part in carried {
            parts.entry(grid.carrier(row, part.to)).or_default().push(part);
        }
        let mut messages = Vec::new();
        for member in grid.members(row) {
            let carried = parts.remove(&member).unwrap_or_default();
            let message = EndMessage { is_of_row: false, end, carried, learned: learned.to_vec() };
            if member == own {
                messages.extend(self.receive(own, layer, message));
            } else {
                messages.push((member, message));
            }
        }
        messages
    }

    /// The messages to other rows, if all members of this worker's row have ended the layer.
    fn forward(&mut self, depth: u32) -> Vec<(usize, EndMessage)> {
        let (grid, own) = (self.grid, self.own);
        let members = grid.members(grid.row_of(own)).len();
        let heard = self.heard_of(depth);
        if heard.members.len() < members {
            return Vec::new();
        }
        let end = LayerEnd::sum(heard.members.values());
        let mut parts = std::mem::take(&mut heard.carried);
        let learned = std::mem::take(&mut heard.learned);
        let message = |to| {
            let carried = parts.remove(&to).unwrap_or_default();
            (to, EndMessage { is_of_row: true, end, carried, learned: learned.clone() })
        };
        grid.carried(own).map(message).collect()
    }

    /// The sum of all ends of the layer in progress, once everyone has been heard and all exits of it that
    /// lead to this worker have been accepted.
    pub(crate) fn complete(&mut self) -> Option<LayerEnd> {
        let (grid, own, layer) = (self.grid, self.own, self.layer);
        let members = grid.members(grid.row_of(own)).len();
        let heard = &self.heard[layer as usize % 2];
        let has = |(from, least): (&usize, &u64)| {
            self.accepted.get(from).is_some_and(|sequence| sequence >= least)
        };
        let is_complete = heard.members.len() == members
            && heard.rows.len() + 1 == grid.rows()
            && heard.direct.iter().all(has);
        is_complete.then(|| LayerEnd::sum(heard.members.values().chain(heard.rows.values())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(states: u64) -> LayerEnd {
        LayerEnd { states, is_last: false }
    }

    fn alone(states: u64) -> EndMessage {
        EndMessage { is_of_row: false, end: end(states), carried: Vec::new(), learned: Vec::new() }
    }

    /// The second of `workers` workers in one row.
    fn second(workers: usize) -> Barrier {
        let mut barrier = Barrier::new(Grid::new(workers, 0), 1);
        barrier.begin(5);
        barrier
    }

    /// Takes a message that must be due.
    fn take(barrier: &mut Barrier, from: usize, depth: u32, message: EndMessage) {
        barrier.check(from, depth, &message).unwrap();
        assert_eq!(barrier.receive(from, depth, message), []);
    }

    #[test]
    fn a_layer_is_complete_when_all_workers_have_ended_it() {
        let mut barrier = second(3);
        take(&mut barrier, 0, 5, alone(10));
        assert_eq!(barrier.complete(), None);
        let last = LayerEnd { states: 20, is_last: true };
        take(&mut barrier, 2, 5, EndMessage { end: last, ..alone(0) });
        assert_eq!(barrier.complete(), None);
        assert_eq!(barrier.made(end(3), Vec::new(), &[]), [(0, alone(3)), (2, alone(3))]);
        assert_eq!(barrier.complete(), Some(LayerEnd { states: 33, is_last: true }));
    }

    #[test]
    fn an_end_of_the_next_layer_counts_for_that_layer() {
        let mut barrier = second(3);
        take(&mut barrier, 0, 5, alone(1));
        // Worker 0 may have all ends of layer 5, of which this worker has not.
        take(&mut barrier, 0, 6, alone(2));
        barrier.made(end(0), Vec::new(), &[]);
        assert_eq!(barrier.complete(), None);
        take(&mut barrier, 2, 5, alone(1));
        assert_eq!(barrier.complete(), Some(end(2)));
        barrier.begin(6);
        barrier.made(end(0), Vec::new(), &[]);
        assert_eq!(barrier.complete(), None);
        take(&mut barrier, 2, 6, alone(2));
        assert_eq!(barrier.complete(), Some(end(4)));
        barrier.begin(7);
        assert_eq!(barrier.complete(), None);
    }

    #[test]
    fn what_comes_after_the_end_of_a_layer_or_belongs_to_another_layer_is_not_expected() {
        let mut barrier = second(3);
        let due = |barrier: &mut Barrier, from| [4, 5, 6, 7].map(|d| barrier.expects(from, d));
        assert_eq!(due(&mut barrier, 0), [false, true, true, false]);
        take(&mut barrier, 0, 5, alone(1));
        assert_eq!(due(&mut barrier, 0), [false, false, true, false]);
        assert_eq!(barrier.check(0, 5, &alone(1)), Err(NotDue));
        assert_eq!(barrier.check(0, 7, &alone(1)), Err(NotDue));
        assert_eq!(due(&mut barrier, 2), [false, true, true, false]);
    }

    #[test]
    fn a_restored_layer_has_no_ends_of_earlier_ones() {
        let mut barrier = Barrier::new(Grid::new(2, 0), 1);
        take(&mut barrier, 0, 0, alone(1));
        take(&mut barrier, 0, 1, alone(1));
        barrier.begin(40);
        barrier.made(end(1), Vec::new(), &[]);
        assert_eq!(barrier.complete(), None);
        assert!(barrier.expects(0, 40) && barrier.expects(0, 41));
        // A worker alone waits for nobody.
        let mut alone = Barrier::new(Grid::new(1, 0), 0);
        alone.begin(40);
        assert_eq!(alone.made(end(1), Vec::new(), &[]), []);
        assert_eq!(alone.complete(), Some(end(1)));
    }

    #[test]
    fn a_window_ends_after_a_layer_that_is_empty_too_narrow_or_too_wide() {
        let ends = [0, 9, 10, 20, 21].map(|states| end(states).ends_window(&(10..=20)));
        assert_eq!(ends, [true, true, false, false, true]);
        assert!(end(0).ends_window(&(0..=20)));
        assert!(LayerEnd { states: 15, is_last: true }.ends_window(&(10..=20)));
    }

    #[test]
    fn direct_batches_are_awaited() {
        // Two rows of one worker.
        let mut barrier = Barrier::new(Grid::new(2, 1), 0);
        barrier.begin(5);
        let part = Carried { from: 1, to: 0, run: Bytes::new(), direct: 7 };
        barrier.accepted(1, 6);
        take(&mut barrier, 1, 5, EndMessage { is_of_row: true, carried: vec![part], ..alone(2) });
        barrier.made(end(1), Vec::new(), &[]);
        assert_eq!(barrier.complete(), None);
        barrier.accepted(1, 7);
        assert_eq!(barrier.complete(), Some(end(3)));
    }

    /// Lets all workers of a grid end layers. Each has a run for each other one. Messages arrive in an order
    /// that `seed` decides, those of one link in theirs.
    fn exchange(workers: usize, columns: usize, mut seed: u64) {
        let grid = Grid::new(workers, columns);
        let mut barriers: Vec<_> = (0..workers).map(|own| Barrier::new(grid, own)).collect();
        let mut links: BTreeMap<(usize, usize), Vec<(u32, EndMessage)>> = BTreeMap::new();
        let (mut inboxes, mut learned) = (vec![Vec::new(); workers], vec![Vec::new(); workers]);
        let mut sent = vec![0; workers];
        let mut done = 0;
        while done < 4 * workers {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let place = (seed >> 33) as usize % (links.len() + workers);
            let (own, depth, messages) = if let Some(own) = place.checked_sub(links.len()) {
                let depth = barriers[own].layer;
                if sent[own] > depth || depth == 4 {
                    continue;
                }
                sent[own] = depth + 1;
                let others = (0..workers).filter(|to| grid.row_of(*to) != grid.row_of(own));
                let run = |to| Bytes::from(format!("{depth}: {own} to {to}"));
                let parts = others.map(|to| Carried { from: own, to, run: run(to), direct: 0 });
                let learned = [Bytes::from(format!("{depth}: {own}"))];
                (own, depth, barriers[own].made(end(1), parts.collect(), &learned))
            } else {
                let link = *links.keys().nth(place).unwrap();
                let queue = links.get_mut(&link).unwrap();
                if queue.is_empty() {
                    continue;
                }
                let (depth, message) = queue.remove(0);
                let (from, own) = link;
                barriers[own].check(from, depth, &message).unwrap();
                let own_parts = message.carried.iter().filter(|part| part.to == own);
                inboxes[own].extend(own_parts.map(|part| part.run.clone()));
                learned[own].extend(message.learned.clone());
                (own, depth, barriers[own].receive(from, depth, message))
            };
            for (to, message) in messages {
                links.entry((own, to)).or_default().push((depth, message));
            }
            if let Some(sum) = barriers[own].complete() {
                assert_eq!(sum, end(workers as u64));
                let next = barriers[own].layer + 1;
                barriers[own].begin(next);
                done += 1;
            }
        }
        for (own, mut inbox) in inboxes.into_iter().enumerate() {
            let others = (0..workers).filter(|from| grid.row_of(*from) != grid.row_of(own));
            let runs = |depth| others.clone().map(move |from| format!("{depth}: {from} to {own}"));
            let mut expected: Vec<_> = (0..4).flat_map(runs).collect();
            expected.sort_unstable();
            inbox.sort_unstable();
            assert_eq!(inbox, expected);
            let others = (0..workers).filter(|from| *from != own);
            let mut expected: Vec<_> =
                others.flat_map(|from| (0..4).map(move |d| format!("{d}: {from}"))).collect();
            expected.sort_unstable();
            learned[own].sort_unstable();
            assert_eq!(learned[own], expected);
        }
    }

    #[test]
    fn every_run_arrives_once_in_any_grid_and_order() {
        for workers in 1..11 {
            for columns in 1..=workers {
                (0..20).for_each(|seed| exchange(workers, columns, seed));
            }
        }
    }
}
