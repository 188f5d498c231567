//! A cluster whose workers synchronise among themselves, as a model for a checker.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use stateright::{Model, Property};

use super::barrier::{Barrier, Exits, Message, Part, Range, Sums};
use super::grid::{Grid, Worker};

/// A cluster, its search and the faults that may happen.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) grid: Grid,
    /// The last layer of the search.
    pub(super) last: u8,
    /// Layers that the coordinator grants beyond the last committed one.
    pub(super) window: u8,
    /// Ranges that change their owner.
    pub(super) moves: Vec<Move>,
    pub(super) crashes: u8,
    pub(super) resets: u8,
    pub(super) stops: u8,
    /// Whether reports, grants and stops take time between the coordinator and workers.
    pub(super) is_control_slow: bool,
    /// What the workers do wrong.
    pub(super) defect: Option<Defect>,
    pub(super) seen: Arc<Mutex<BTreeSet<Seen>>>,
}

/// A range whose owner changes: exits of `layer` go to the new one, which makes the layer after it.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) layer: u8,
    pub(super) range: Range,
    pub(super) to: Worker,
}

/// A defect, which the checker has to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// Messages of earlier epochs are taken.
    AnyEpoch,
    /// A new connection repeats nothing.
    NothingRepeated,
    /// A worker that has received a stop ends without the others.
    StopsAlone,
    /// A former owner keeps a range and reads it, too.
    KeepsRange,
    /// A new owner does not wait for the parts of its range.
    TakesWithoutParts,
    /// A layer is committed without the report of one worker.
    CommitsEarly,
    /// A new process enters the epoch of the one that has crashed.
    RejoinsEpoch,
}

/// Everything in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    coordinator: Coordinator,
    workers: Vec<Node>,
    /// Messages on their way, by sender and receiver.
    links: BTreeMap<(Worker, Worker), VecDeque<Message>>,
    crashes: u8,
    resets: u8,
    stops: u8,
    /// What must never happen, and has.
    wrong: Option<&'static str>,
}

/// What a checker should have seen, so that it has tried what matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Seen {
    /// A message of the layer after the one that its receiver has not complete.
    Ahead,
    /// A message that was received before.
    Repeated,
    /// A message of an earlier epoch, which is refused.
    Stale,
    /// A crash after layers that are not in the checkpoint.
    LayersLost,
    /// A stop before the last layer.
    Stopped,
    /// A range with a new owner.
    Moved,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Coordinator {
    epoch: u8,
    granted: u8,
    stop: bool,
    /// Reports of the epoch, by layer and worker.
    reports: BTreeMap<u8, BTreeMap<Worker, Sums>>,
    committed: u8,
    checkpoint: u8,
    /// Workers that have ended the window, and after which layer.
    ended: BTreeMap<Worker, u8>,
    is_done: bool,
}

/// The process of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    is_down: bool,
    barrier: Barrier,
    /// Parts of layers in memory: layer and range.
    parts: BTreeSet<(u8, Range)>,
    /// Exits of the last complete layer.
    inbox: Vec<(Range, Range)>,
    /// The last layer of which it has made its part.
    made: u8,
    granted: u8,
    stop: bool,
    ended: Option<u8>,
    /// Reports that the coordinator has not received: layer and sums.
    reports: Vec<(u8, Sums)>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Action {
    /// A worker makes its part of the next layer.
    Make(Worker),
    /// The oldest message between two workers arrives.
    Deliver(Worker, Worker),
    /// The coordinator's grant and stop arrive at a worker.
    Receive(Worker),
    /// A worker enters the coordinator's epoch, at the checkpoint.
    Join(Worker),
    /// The coordinator receives a worker's reports.
    Collect(Worker),
    /// All workers have ended the window: a checkpoint, and the next window.
    Checkpoint,
    /// The coordinator wants the window to end.
    Stop,
    /// The connection of two workers is lost, with what is on its way, and made again.
    Reset(Worker, Worker),
    /// A process ends, with what it has in memory.
    Crash(Worker),
    /// A session from the checkpoint, after a crash.
    Restart,
    /// The same without a crash: a worker was silent for too long.
    Suspect,
}

impl Cluster {
    /// As many ranges as workers. At first each owns one.
    fn ranges(&self) -> std::ops::Range<Range> {
        self.grid.all()
    }

    /// The worker that makes a range of a layer's successors, and holds its part of the layer.
    fn owner(&self, layer: u8, range: Range) -> Worker {
        let moves = self.moves.iter().filter(|mv| mv.range == range && mv.layer <= layer);
        moves.max_by_key(|mv| mv.layer).map_or(range, |mv| mv.to)
    }

    fn owned(&self, layer: u8, worker: Worker) -> impl Iterator<Item = Range> {
        self.ranges().filter(move |range| self.owner(layer, *range) == worker)
    }

    /// Ranges that come to a worker with a layer.
    fn taken(&self, layer: u8, worker: Worker) -> BTreeSet<Range> {
        let was_there = |range: &Range| layer > 0 && self.owner(layer - 1, *range) == worker;
        self.owned(layer, worker).filter(|range| layer > 0 && !was_there(range)).collect()
    }

    /// A worker's exits of a layer, from the ranges of which it has made the part.
    fn exits(&self, layer: u8, from: &BTreeSet<Range>) -> BTreeMap<Worker, Exits> {
        let mut exits: BTreeMap<Worker, Exits> = BTreeMap::new();
        for to in self.ranges() {
            let worker = self.owner(layer, to);
            exits.entry(worker).or_default().extend(from.iter().map(|from| (*from, to)));
        }
        exits
    }

    /// A worker that has the parts of a checkpoint, or of layer 0, and emits the exits of its layer.
    fn restored(&self, worker: Worker, epoch: u8, layer: u8) -> (Node, Vec<(Worker, Message)>) {
        let owned: BTreeSet<Range> = self.owned(layer, worker).collect();
        let depths = layer.saturating_sub(1)..=layer;
        let parts = depths.flat_map(|depth| owned.iter().map(move |range| (depth, *range)));
        let mut node = Node {
            is_down: false,
            barrier: Barrier::new(self.grid, worker, epoch, layer),
            parts: parts.collect(),
            inbox: Vec::new(),
            made: layer,
            granted: layer,
            stop: false,
            ended: None,
            reports: Vec::new(),
        };
        let count = owned.len() as u8;
        let sums = Sums { parts: 1, read: 0, made: count, stop: false };
        node.reports.push((layer, sums));
        let part = Part { sums, exits: self.exits(layer, &owned), given: Vec::new() };
        let messages = node.barrier.made(part);
        (node, messages)
    }
}

impl State {
    fn send(&mut self, from: Worker, messages: Vec<(Worker, Message)>) {
        for (to, message) in messages {
            self.links.entry((from, to)).or_default().push_back(message);
        }
    }

    pub(super) fn wrong(&self) -> Option<&'static str> {
        self.wrong
    }

    fn fail(&mut self, what: &'static str) {
        self.wrong.get_or_insert(what);
    }

    fn lose(&mut self, a: Worker, b: Worker) {
        self.links.remove(&(a, b));
        self.links.remove(&(b, a));
    }
}

impl Cluster {
    fn record(&self, what: Seen) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(what);
    }

    /// Whether a worker can make its part of the next layer.
    fn can_make(&self, node: &Node) -> bool {
        let next = node.made + 1;
        let is_complete = node.barrier.layer() == next;
        !node.is_down && node.ended.is_none() && is_complete && next <= node.granted.min(self.last)
    }

    fn make(&self, state: &mut State, worker: Worker) {
        let node = &mut state.workers[usize::from(worker)];
        let (layer, next) = (node.made, node.made + 1);
        let mut ranges: BTreeSet<Range> = self.owned(layer, worker).collect();
        if self.defect == Some(Defect::KeepsRange) {
            ranges.extend(self.ranges().filter(|range| node.parts.contains(&(layer, *range))));
        }
        let depths = layer.saturating_sub(1)..=layer;
        let has_parts = |range: &Range| depths.clone().all(|d| node.parts.contains(&(d, *range)));
        let expected: Vec<(Range, Range)> = {
            let of = |from| ranges.iter().map(move |to| (from, *to)).collect::<Vec<_>>();
            self.ranges().flat_map(of).collect()
        };
        let mut wrong = None;
        if !ranges.iter().all(has_parts) {
            wrong = Some("a range is read without its parts");
        } else if node.inbox != expected {
            wrong = Some("exits are missing, or come twice");
        }
        node.inbox.clear();
        node.made = next;
        node.parts.extend(ranges.iter().map(|range| (next, *range)));
        let moved = |range: &Range| self.owner(next, *range);
        let given: Vec<(Range, Worker)> = ranges
            .iter()
            .map(|range| (*range, moved(range)))
            .filter(|(_, owner)| *owner != worker)
            .collect();
        if self.defect != Some(Defect::KeepsRange) {
            node.parts.retain(|(_, range)| given.iter().all(|(given, _)| given != range));
        }
        node.parts.retain(|(depth, _)| depth + 1 >= next);
        let count = ranges.len() as u8;
        let sums = Sums { parts: 1, read: count, made: count, stop: node.stop };
        node.reports.push((next, sums));
        let messages = node.barrier.made(Part { sums, exits: self.exits(next, &ranges), given });
        state.send(worker, messages);
        if let Some(wrong) = wrong {
            state.fail(wrong);
        }
        self.complete(state, worker);
    }

    /// Exchanges everything between the coordinator and the workers that takes no time.
    fn control(&self, state: &mut State) {
        if self.is_control_slow {
            return;
        }
        for worker in self.grid.all() {
            if self.reports(state, worker) {
                self.collect(state, worker);
            }
        }
        for worker in self.grid.all() {
            if self.has_new_grant(state, worker) {
                self.receive(state, worker);
            }
        }
    }

    fn is_current(&self, state: &State, worker: Worker) -> bool {
        let node = &state.workers[usize::from(worker)];
        !node.is_down && node.barrier.epoch() == state.coordinator.epoch
    }

    /// Whether a worker has something to report.
    fn reports(&self, state: &State, worker: Worker) -> bool {
        let node = &state.workers[usize::from(worker)];
        let has_ended = node.ended.is_some() && !state.coordinator.ended.contains_key(&worker);
        self.is_current(state, worker) && (!node.reports.is_empty() || has_ended)
    }

    /// Whether a worker has not received the coordinator's last grant or stop.
    fn has_new_grant(&self, state: &State, worker: Worker) -> bool {
        let node = &state.workers[usize::from(worker)];
        let Coordinator { granted, stop, .. } = state.coordinator;
        let is_new = (node.granted, node.stop) != (granted, stop);
        self.is_current(state, worker) && node.ended.is_none() && is_new
    }

    fn receive(&self, state: &mut State, worker: Worker) {
        let node = &mut state.workers[usize::from(worker)];
        node.granted = state.coordinator.granted;
        node.stop = state.coordinator.stop;
    }

    /// Ends a layer of which a worker has received everything.
    fn complete(&self, state: &mut State, worker: Worker) {
        let node = &mut state.workers[usize::from(worker)];
        let layer = node.barrier.layer();
        if node.made < layer {
            return;
        }
        let taken = self.taken(layer, worker);
        let is_restored = node.parts.iter().any(|(_, range)| taken.contains(range));
        let expected = match self.defect {
            Some(Defect::TakesWithoutParts) => BTreeSet::new(),
            _ if is_restored => BTreeSet::new(),
            _ => taken,
        };
        let Some(complete) = node.barrier.complete(&expected) else { return };
        node.inbox = complete.inbox;
        for range in &complete.taken {
            let depths = layer.saturating_sub(1)..=layer;
            node.parts.extend(depths.map(|depth| (depth, *range)));
            self.record(Seen::Moved);
        }
        let stops = match self.defect {
            Some(Defect::StopsAlone) => node.stop,
            _ => complete.sums.stop,
        };
        if stops || layer == self.last {
            node.ended = Some(layer);
        }
        if complete.sums.parts != self.grid.workers {
            state.fail("a layer is complete without a part");
        }
    }

    fn deliver(&self, state: &mut State, from: Worker, to: Worker) {
        let Some(message) = state.links.get_mut(&(from, to)).and_then(VecDeque::pop_front) else {
            return;
        };
        if state.links[&(from, to)].is_empty() {
            state.links.remove(&(from, to));
        }
        let node = &mut state.workers[usize::from(to)];
        if message.epoch < node.barrier.epoch() && self.defect != Some(Defect::AnyEpoch) {
            self.record(Seen::Stale);
            return;
        }
        let layer = node.barrier.layer();
        let before = node.barrier.clone();
        if message.layer > layer {
            self.record(Seen::Ahead);
        }
        match node.barrier.receive(message) {
            Ok(messages) => {
                if node.barrier == before {
                    self.record(Seen::Repeated);
                }
                state.send(to, messages);
                self.complete(state, to);
            }
            Err(_) => state.fail("a message violates the protocol"),
        }
    }

    fn collect(&self, state: &mut State, worker: Worker) {
        let node = &mut state.workers[usize::from(worker)];
        let reports = std::mem::take(&mut node.reports);
        let (epoch, ended) = (node.barrier.epoch(), node.ended);
        let coordinator = &mut state.coordinator;
        if epoch != coordinator.epoch {
            return;
        }
        for (layer, sums) in reports {
            coordinator.reports.entry(layer).or_default().insert(worker, sums);
        }
        if let Some(layer) = ended {
            coordinator.ended.insert(worker, layer);
        }
        let mut wrong = None;
        loop {
            let next = coordinator.committed + 1;
            let Some(reports) = coordinator.reports.get(&next) else { break };
            let needed = match self.defect {
                Some(Defect::CommitsEarly) => usize::from(self.grid.workers) - 1,
                _ => usize::from(self.grid.workers),
            };
            if reports.len() < needed {
                break;
            }
            let (made, read) =
                reports.values().fold((0, 0), |(made, read), s| (made + s.made, read + s.read));
            if made != self.grid.workers || read != self.grid.workers {
                wrong = Some("a layer is committed without a range, or with one twice");
            }
            coordinator.committed = next;
            coordinator.granted = (next + self.window).min(self.last);
        }
        if let Some(wrong) = wrong {
            state.fail(wrong);
        }
    }

    /// Whether all workers have ended the window, and all its layers are committed.
    fn is_at_end(&self, coordinator: &Coordinator) -> bool {
        coordinator.ended.len() == usize::from(self.grid.workers)
            && coordinator.ended.values().all(|layer| *layer == coordinator.committed)
    }

    fn checkpoint(&self, state: &mut State) {
        let coordinator = &mut state.coordinator;
        coordinator.checkpoint = coordinator.committed;
        coordinator.is_done = coordinator.committed == self.last;
        if !coordinator.is_done {
            self.record(Seen::Stopped);
            coordinator.ended.clear();
            coordinator.stop = false;
            for node in &mut state.workers {
                node.ended = None;
                node.stop = false;
            }
        }
    }

    fn restart(&self, state: &mut State) {
        let coordinator = &mut state.coordinator;
        coordinator.epoch += 1;
        if coordinator.committed > coordinator.checkpoint {
            self.record(Seen::LayersLost);
        }
        coordinator.committed = coordinator.checkpoint;
        coordinator.granted = (coordinator.committed + self.window).min(self.last);
        coordinator.reports.clear();
        coordinator.ended.clear();
        coordinator.stop = false;
    }

    fn join(&self, state: &mut State, worker: Worker) {
        let Coordinator { epoch, checkpoint, .. } = state.coordinator;
        let (node, messages) = self.restored(worker, epoch, checkpoint);
        state.workers[usize::from(worker)] = node;
        state.send(worker, messages);
        self.complete(state, worker);
    }

    fn reset(&self, state: &mut State, a: Worker, b: Worker) {
        state.lose(a, b);
        if self.defect == Some(Defect::NothingRepeated) {
            return;
        }
        for (from, to) in [(a, b), (b, a)] {
            let node = &state.workers[usize::from(from)];
            if !node.is_down {
                let again = node.barrier.unacknowledged(to).to_vec();
                state.send(from, again.into_iter().map(|message| (to, message)).collect());
            }
        }
    }

    fn crash(&self, state: &mut State, worker: Worker) {
        state.workers[usize::from(worker)].is_down = true;
        state.workers[usize::from(worker)].reports.clear();
        for other in self.grid.all() {
            state.lose(worker, other);
        }
    }
}

impl Model for Cluster {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let coordinator = Coordinator {
            epoch: 1,
            granted: self.window.min(self.last),
            stop: false,
            reports: BTreeMap::new(),
            committed: 0,
            checkpoint: 0,
            ended: BTreeMap::new(),
            is_done: false,
        };
        let mut state = State {
            coordinator,
            workers: Vec::new(),
            links: BTreeMap::new(),
            crashes: self.crashes,
            resets: self.resets,
            stops: self.stops,
            wrong: None,
        };
        for worker in self.grid.all() {
            let (node, messages) = self.restored(worker, 1, 0);
            state.workers.push(node);
            state.send(worker, messages);
        }
        self.control(&mut state);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let State { coordinator, workers, links, .. } = state;
        if coordinator.is_done {
            return;
        }
        let is_down = |worker: Worker| workers[usize::from(worker)].is_down;
        for (worker, node) in (0..).zip(workers) {
            let is_new = node.is_down && self.defect == Some(Defect::RejoinsEpoch);
            if is_new || node.barrier.epoch() < coordinator.epoch {
                actions.push(Action::Join(worker));
            }
            if self.can_make(node) {
                actions.push(Action::Make(worker));
            }
            if self.has_new_grant(state, worker) {
                actions.push(Action::Receive(worker));
            }
            if self.reports(state, worker) {
                actions.push(Action::Collect(worker));
            }
            if state.crashes > 0 && !node.is_down {
                actions.push(Action::Crash(worker));
            }
        }
        for ((from, to), messages) in links {
            let node = &workers[usize::from(*to)];
            // A worker refuses messages of an epoch that it has not entered; they come again.
            let is_early = messages.front().is_some_and(|m| m.epoch > node.barrier.epoch());
            if !node.is_down && !is_early {
                actions.push(Action::Deliver(*from, *to));
            }
            if state.resets > 0 && !is_down(*from) && !is_down(*to) {
                actions.push(Action::Reset(*from, *to));
            }
        }
        if self.is_at_end(coordinator) {
            actions.push(Action::Checkpoint);
        }
        if state.stops > 0 && !coordinator.stop {
            actions.push(Action::Stop);
        }
        if workers.iter().any(|node| node.is_down && node.barrier.epoch() == coordinator.epoch) {
            actions.push(Action::Restart);
        } else if state.crashes > 0 {
            actions.push(Action::Suspect);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        let state = &mut next;
        match action {
            Action::Make(worker) => self.make(state, worker),
            Action::Deliver(from, to) => self.deliver(state, from, to),
            Action::Receive(worker) => self.receive(state, worker),
            Action::Join(worker) => self.join(state, worker),
            Action::Collect(worker) => self.collect(state, worker),
            Action::Checkpoint => self.checkpoint(state),
            Action::Stop => {
                state.stops -= 1;
                state.coordinator.stop = true;
            }
            Action::Reset(a, b) => {
                state.resets -= 1;
                self.reset(state, a, b);
            }
            Action::Crash(worker) => {
                state.crashes -= 1;
                self.crash(state, worker);
            }
            Action::Restart => self.restart(state),
            Action::Suspect => {
                state.crashes -= 1;
                self.restart(state);
            }
        }
        self.control(state);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing is wrong", |_, state: &State| state.wrong.is_none()),
            Property::always("a window ends at one layer", |_, state: &State| {
                let epoch = state.coordinator.epoch;
                let is_current = |node: &&Node| !node.is_down && node.barrier.epoch() == epoch;
                let current = || state.workers.iter().filter(is_current);
                let ended: BTreeSet<u8> = current().filter_map(|node| node.ended).collect();
                let is_beyond = |layer: &u8| current().any(|node| node.made > *layer);
                ended.len() < 2 && !ended.first().is_some_and(is_beyond)
            }),
            Property::always("the search goes on until its end", |model: &Cluster, state| {
                let mut actions = Vec::new();
                model.actions(state, &mut actions);
                !actions.is_empty() || state.coordinator.is_done
            }),
        ]
    }
}
