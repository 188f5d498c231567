//! A second thread, which works out what belongs to the nodes that the first one makes.
//!
//! It is told of nodes in batches and answers each. It is never far behind, but the two share
//! nothing: it keeps its own record of which exits nodes have, by number.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

use crate::derived::data::{Finder, Made};
use crate::derived::node_exits::Kept;
use crate::derived::stats::Detail;
use crate::derived::wait::Wait;
use crate::error::StepError;
use crate::exits::sets::{ExitLists, NewExits};
use crate::exits::source::Inner;
use crate::index::bits::Configs;
use crate::index::shared::Known;
use crate::memory::budget::Share;
use crate::node::record::moves_in;
use crate::node::reference::Ref;

/// Words of a batch: some 30 nodes. Smaller ones cost more to hand over, larger ones more waiting at
/// the end of a layer.
const BATCH: usize = 512;

/// In the first word of a node: its moves, its level, and whether it is a leaf.
const LEVEL: u32 = 16;
const LEAF: u32 = 1 << 31;

/// Nodes that have just been made.
struct Batch<C> {
    known: Arc<Known<C>>,
    /// A leaf's are its first word and two for each of its moves; another's also its configurations
    /// (two words) and what is below each.
    words: Vec<u32>,
    /// The leaves' details.
    leaves: Vec<Detail>,
    /// A node whose detail is asked for.
    asked: Option<Ref>,
}

/// What belongs to the nodes of a batch.
pub(crate) struct Answer {
    /// Sets of exits, by node and by move.
    pub(crate) found: Vec<u32>,
    pub(crate) nodes: usize,
    pub(crate) news: NewExits,
    /// The detail asked for.
    pub(crate) detail: Option<Detail>,
    /// Bytes of memory, and sets of exits.
    pub(crate) bytes: usize,
    pub(crate) sets: usize,
    pub(crate) result: Result<(), StepError>,
}

/// The second thread, as seen by the first.
pub(crate) struct Follower<C> {
    words: Vec<u32>,
    leaves: Vec<Detail>,
    /// Batches that have not been answered.
    waiting: usize,
    to: Option<Sender<Batch<C>>>,
    from: Receiver<Answer>,
    wait: Wait,
    thread: Option<JoinHandle<()>>,
    /// Why an answer could not be used: none is from then on.
    failed: Option<StepError>,
    /// As of the last answer.
    pub(crate) bytes: usize,
    pub(crate) sets: usize,
}

impl<C: Copy + Send + Sync + 'static> Follower<C> {
    /// Starts a thread; None if the system will not.
    pub(crate) fn start(share: &Share, with_details: bool, promised: usize) -> Option<Follower<C>> {
        let finder = Finder::new(share, with_details, promised);
        let lists = ExitLists::new(promised / 2);
        let second = Second {
            place: lists.place(),
            lists,
            finder,
            kept: Kept::new(share.another(), promised),
        };
        let (to, batches) = channel();
        let (answers, from) = channel();
        let thread = Builder::new().name("exits".to_owned());
        let thread = thread.spawn(move || second.follow(&batches, &answers)).ok()?;
        Some(Follower {
            words: Vec::with_capacity(BATCH),
            leaves: Vec::new(),
            waiting: 0,
            to: Some(to),
            from,
            wait: Wait::default(),
            thread: Some(thread),
            failed: None,
            bytes: 0,
            sets: 0,
        })
    }

    /// Tells of a node. Returns whether a batch is complete.
    #[inline(always)]
    pub(crate) fn tell(&mut self, made: Made<'_>) -> bool {
        match made {
            Made::Inner(Inner { level, moves, configs, below }) => {
                let first = u32::from(moves) | u32::from(level) << LEVEL;
                self.words.extend([first, configs.0 as u32, (configs.0 >> u32::BITS) as u32]);
                self.words.extend_from_slice(below);
            }
            Made::Leaf(moves, left, detail) => {
                self.words.push(u32::from(moves) | LEAF);
                self.words
                    .extend(left.iter().flat_map(|set| [*set as u32, (*set >> u32::BITS) as u32]));
                self.leaves.push(detail);
            }
        }
        self.words.len() >= BATCH
    }

    /// Hands over what has been told, and asks for a node's detail.
    pub(crate) fn hand_over(&mut self, known: &Arc<Known<C>>, asked: Option<Ref>) {
        let words = std::mem::replace(&mut self.words, Vec::with_capacity(BATCH + BATCH / 4));
        let leaves = std::mem::take(&mut self.leaves);
        let batch = Batch { known: Arc::clone(known), words, leaves, asked };
        self.waiting += 1;
        // If it is gone, that is seen where its answer is missing.
        let _ = self.to.as_ref().map(|to| to.send(batch));
    }

    /// The next answer, if it is there; or wait for it.
    pub(crate) fn answer(&mut self, wait: bool) -> Option<Answer> {
        if self.waiting == 0 {
            return None;
        }
        let answer = match self.from.try_recv() {
            Ok(answer) => answer,
            Err(TryRecvError::Empty) if !wait => return None,
            _ => match self.wait.next(&self.from) {
                Ok(answer) => answer,
                Err(RecvError) => self.gone(),
            },
        };
        self.waiting -= 1;
        (self.bytes, self.sets) = (answer.bytes, answer.sets);
        Some(answer)
    }

    /// Whether all answers could be used so far.
    #[inline(always)]
    pub(crate) fn state(&self) -> Result<(), StepError> {
        self.failed.map_or(Ok(()), Err)
    }

    /// Notes that an answer could not be used.
    pub(crate) fn fail(&mut self, error: StepError) {
        self.failed = Some(error);
    }

    /// It never ends by itself, but if it panics.
    fn gone(&mut self) -> ! {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => unreachable!("the second thread has ended"),
        }
    }
}

impl<C> Drop for Follower<C> {
    fn drop(&mut self) {
        self.to = None;
        // A panic of it does not matter any more.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What the second thread has.
struct Second {
    finder: Finder,
    lists: ExitLists,
    /// Where those begin of which the first thread does not know.
    place: (usize, usize),
    kept: Kept,
}

impl Second {
    fn follow<C>(mut self, batches: &Receiver<Batch<C>>, answers: &Sender<Answer>) {
        let mut wait = Wait::default();
        while let Ok(batch) = wait.next(batches) {
            let answer = self.answer(&batch);
            drop(batch);
            if answers.send(answer).is_err() {
                return;
            }
        }
    }

    fn answer<C>(&mut self, batch: &Batch<C>) -> Answer {
        // Most words are nodes; those that are not do no harm.
        let words = batch.words.iter().map(|word| Ref::of_word(*word));
        self.kept.prefetch(words.clone());
        words.for_each(|node| self.finder.prefetch(node));
        let mut found = Vec::with_capacity(BATCH / 4);
        let mut nodes = 0;
        let mut leaves = batch.leaves.iter();
        let mut rest = &*batch.words;
        let mut result = self.finder.state();
        let mut left = Vec::new();
        while let [first, after @ ..] = rest {
            let moves = *first as u16;
            let made = if first & LEAF != 0 {
                let (words, after) = after.split_at(2 * moves_in(moves));
                let sets = words.chunks_exact(2).map(|pair| join(pair[0], pair[1]));
                left.clear();
                left.extend(sets);
                rest = after;
                Made::Leaf(moves, &left, leaves.next().copied().unwrap_or_default())
            } else {
                let configs = Configs(join(after[0], after[1]));
                let (below, after) = after[2..].split_at(configs.0.count_ones() as usize);
                rest = after;
                Made::Inner(Inner { level: (first >> LEVEL) as u8, moves, configs, below })
            };
            nodes += 1;
            result = result.and_then(|()| self.find(&batch.known, made, moves, &mut found));
        }
        Answer {
            found,
            nodes,
            news: self.lists.news(&mut self.place),
            detail: result.ok().and_then(|()| self.finder.detail(batch.asked?)),
            bytes: self.finder.bytes() + self.lists.bytes() + self.kept.bytes(),
            sets: self.finder.sets(),
            result,
        }
    }

    fn find<C>(
        &mut self,
        known: &Known<C>,
        made: Made<'_>,
        moves: u16,
        found: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        let before = found.len();
        self.finder.find(known, &mut self.lists, &self.kept, made, found)?;
        self.kept.add(moves, &found[before..])
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << u32::BITS
}
