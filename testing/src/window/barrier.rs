//! A worker's side of the barriers of layers.

use std::collections::{BTreeMap, BTreeSet};

use super::grid::{Grid, Worker};

/// Number of a range of shards, which has one owner.
pub(super) type Range = u8;

/// Exits of a layer: the range that they come from, and the one that they lead to.
pub(super) type Exits = BTreeSet<(Range, Range)>;

/// Figures of a layer, summed over workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sums {
    /// The workers that have made their parts.
    pub(super) parts: u8,
    /// The ranges of the layer before that they have read.
    pub(super) read: u8,
    /// The ranges of the layer that they have made.
    pub(super) made: u8,
    /// Whether one of them has received a stop.
    pub(super) stop: bool,
}

impl Sums {
    fn of<'a>(parts: impl IntoIterator<Item = &'a Sums>) -> Sums {
        let mut sums = Sums::default();
        for part in parts {
            sums.parts += part.parts;
            sums.read += part.read;
            sums.made += part.made;
            sums.stop |= part.stop;
        }
        sums
    }
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// From a member of the row: its own sums, and the exits that the receiver needs or carries.
    Row,
    /// From the carrier of another row: the sums of that row, and its exits.
    Column,
    /// From the former owner of a range: its parts of the layer and of the one before.
    Transfer(Range),
}

/// A message between two workers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Message {
    pub(super) epoch: u8,
    pub(super) layer: u8,
    pub(super) from: Worker,
    pub(super) kind: Kind,
    pub(super) sums: Sums,
    pub(super) exits: BTreeMap<Worker, Exits>,
}

/// A worker's part of a layer, with what others need of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) sums: Sums,
    /// By the worker that owns the range to which they lead, this worker included.
    pub(super) exits: BTreeMap<Worker, Exits>,
    /// Ranges that the worker gives away with this layer, and their new owners.
    pub(super) given: Vec<(Range, Worker)>,
}

/// A complete layer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complete {
    pub(super) sums: Sums,
    /// Exits to the ranges of this worker, as often as they have come.
    pub(super) inbox: Vec<(Range, Range)>,
    /// Ranges whose parts have come from their former owners.
    pub(super) taken: BTreeSet<Range>,
}

/// What has been received of one layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Received {
    /// Sums of the members of the row.
    members: BTreeMap<Worker, Sums>,
    /// Sums of the other rows.
    rows: BTreeMap<u8, Sums>,
    taken: BTreeSet<Range>,
    /// Exits of the row to workers of other rows.
    carried: BTreeMap<Worker, Exits>,
    inbox: Vec<(Range, Range)>,
    is_forwarded: bool,
}

/// A message that violates the protocol: one before it is missing, or it is for another worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unexpected;

/// The barriers of one worker in one epoch.
///
/// A worker that has all of layer d makes layer d+1, so others receive messages of layer d+1 before they
/// have all of d. They do not receive any of d+2: whoever makes it has messages of d+1 from everyone. So
/// received and sent messages of two layers are kept. When a layer is complete, everyone has made it, for
/// which everyone had all messages of the layer before: those need not be sent again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Barrier {
    grid: Grid,
    own: Worker,
    epoch: u8,
    /// The layer that is not complete.
    layer: u8,
    /// By parity of the layer.
    received: [Received; 2],
    /// Messages of this layer and the one before, by receiver.
    sent: BTreeMap<Worker, Vec<Message>>,
}

impl Barrier {
    /// The barriers of an epoch, from `layer` on.
    pub(super) fn new(grid: Grid, own: Worker, epoch: u8, layer: u8) -> Barrier {
        let (received, sent) = Default::default();
        Barrier { grid, own, epoch, layer, received, sent }
    }

    pub(super) fn epoch(&self) -> u8 {
        self.epoch
    }

    /// The layer that is not complete.
    pub(super) fn layer(&self) -> u8 {
        self.layer
    }

    /// Messages that a new connection to a worker begins with: all that it may not have.
    pub(super) fn unacknowledged(&self, to: Worker) -> &[Message] {
        self.sent.get(&to).map_or(&[], Vec::as_slice)
    }

    /// Takes this worker's part of the layer. Returns the messages to send.
    pub(super) fn made(&mut self, part: Part) -> Vec<(Worker, Message)> {
        let Part { sums, exits, given } = part;
        let (grid, own) = (self.grid, self.own);
        let row = grid.row_of(own);
        let mut messages = Vec::new();
        for member in grid.members(row) {
            let is_through = |to: Worker| grid.carrier(row, to) == member;
            let exits = exits.iter().filter(|(to, _)| is_through(**to));
            let exits = exits.map(|(to, exits)| (*to, exits.clone())).collect();
            messages.push((member, self.message(Kind::Row, sums, exits)));
        }
        for (range, to) in given {
            let message = self.message(Kind::Transfer(range), Sums::default(), BTreeMap::new());
            messages.push((to, message));
        }
        let (to_itself, mut messages): (Vec<_>, Vec<_>) =
            messages.into_iter().partition(|(to, _)| *to == own);
        for (_, message) in to_itself {
            self.take(message);
        }
        messages.extend(self.forward());
        self.keep(&messages);
        messages
    }

    /// Takes a message of this epoch. Returns the messages to send; none for one that was received before.
    ///
    /// # Errors
    /// If it violates the protocol.
    pub(super) fn receive(
        &mut self,
        message: Message,
    ) -> Result<Vec<(Worker, Message)>, Unexpected> {
        if message.layer < self.layer {
            return Ok(Vec::new());
        }
        if message.layer > self.layer + 1 || !self.is_for_this(&message) {
            return Err(Unexpected);
        }
        if self.take(message) {
            let messages = self.forward();
            self.keep(&messages);
            return Ok(messages);
        }
        Ok(Vec::new())
    }

    /// The layer, once everything of it has been received; `expected` are the ranges that come from
    /// former owners. The next layer is the one that is not complete then.
    pub(super) fn complete(&mut self, expected: &BTreeSet<Range>) -> Option<Complete> {
        let received = &mut self.received[usize::from(self.layer % 2)];
        let members = self.grid.members(self.grid.row_of(self.own)).len();
        let is_complete = received.members.len() == members
            && received.rows.len() + 1 == self.grid.rows().len()
            && received.taken == *expected;
        if !is_complete {
            return None;
        }
        let Received { members, rows, taken, inbox, .. } = std::mem::take(received);
        let sums = Sums::of(members.values().chain(rows.values()));
        for messages in self.sent.values_mut() {
            messages.retain(|message| message.layer >= self.layer);
        }
        self.layer += 1;
        Some(Complete { sums, inbox, taken })
    }

    fn message(&self, kind: Kind, sums: Sums, exits: BTreeMap<Worker, Exits>) -> Message {
        Message { epoch: self.epoch, layer: self.layer, from: self.own, kind, sums, exits }
    }

    fn is_for_this(&self, message: &Message) -> bool {
        let (grid, own) = (self.grid, self.own);
        let (row, from) = (grid.row_of(own), grid.row_of(message.from));
        match message.kind {
            Kind::Row => {
                from == row && message.exits.keys().all(|to| grid.carrier(row, *to) == own)
            }
            Kind::Column => {
                from != row
                    && grid.carrier(from, own) == message.from
                    && message.exits.keys().all(|to| *to == own)
            }
            Kind::Transfer(_) => message.from != own,
        }
    }

    /// Takes a message; false if it was received before.
    fn take(&mut self, message: Message) -> bool {
        let received = &mut self.received[usize::from(message.layer % 2)];
        let is_new = match message.kind {
            Kind::Row => received.members.insert(message.from, message.sums).is_none(),
            Kind::Column => {
                let row = self.grid.row_of(message.from);
                received.rows.insert(row, message.sums).is_none()
            }
            Kind::Transfer(range) => received.taken.insert(range),
        };
        if is_new {
            for (to, exits) in message.exits {
                if to == self.own {
                    received.inbox.extend(exits);
                    received.inbox.sort_unstable();
                } else {
                    received.carried.entry(to).or_default().extend(exits);
                }
            }
        }
        is_new
    }

    /// The messages to other rows, once those of all members of the row have arrived.
    fn forward(&mut self) -> Vec<(Worker, Message)> {
        let (grid, own, layer) = (self.grid, self.own, self.layer);
        let members = grid.members(grid.row_of(own)).len();
        let received = &mut self.received[usize::from(layer % 2)];
        if received.is_forwarded || received.members.len() < members {
            return Vec::new();
        }
        received.is_forwarded = true;
        let sums = Sums::of(received.members.values());
        let mut carried = std::mem::take(&mut received.carried);
        let message = |to: Worker| {
            let exits = carried.remove(&to).map(|exits| (to, exits)).into_iter().collect();
            (to, self.message(Kind::Column, sums, exits))
        };
        grid.carried(own).map(message).collect()
    }

    fn keep(&mut self, messages: &[(Worker, Message)]) {
        for (to, message) in messages {
            self.sent.entry(*to).or_default().push(message.clone());
        }
    }
}
