//! Helper thread that computes derived data.
//!
//! The main thread sends new nodes in batches and receives their exit sets. The threads share no nodes: the
//! helper thread keeps its own table of the exits of all nodes, by number.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

use crate::symbolic::derived::data::{DerivedData, NewNode};
use crate::symbolic::derived::node_exits::NodeExits;
use crate::symbolic::derived::stats::NodeStats;
use crate::symbolic::derived::wait::SpinWait;
use crate::symbolic::error::StepError;
use crate::symbolic::exits::sets::{ExitSets, ExitSetsDelta, ExitSetsEnd};
use crate::symbolic::exits::source::InnerNode;
use crate::symbolic::index::bits::ConfigSet;
use crate::symbolic::index::shared::SharedIndex;
use crate::symbolic::memory::budget::BudgetShare;
use crate::symbolic::node::record::count_moves;
use crate::symbolic::node::reference::Ref;

/// Number of words in a batch: about 30 nodes. Smaller batches need more messages; larger ones cause more
/// waiting at the end of a layer.
const BATCH_WORDS: usize = 512;

/// Fields of a node's first word: exit moves in the low bits, the level from `LEVEL_SHIFT` on, and a flag
/// for leaves.
const LEVEL_SHIFT: u32 = 16;
const LEAF_FLAG: u32 = 1 << 31;

/// New nodes for the helper thread.
struct Batch<C> {
    index: Arc<SharedIndex<C>>,
    /// The nodes, as words. A leaf has its first word and two words per exit move. An inner node has its
    /// first word, two words of configurations, and one word per child.
    words: Vec<u32>,
    /// Statistics of the batch's leaves, in order.
    leaves: Vec<NodeStats>,
    /// Node whose statistics are requested.
    stats_of: Option<Ref>,
}

/// Derived data of a batch.
pub(crate) struct BatchResult {
    /// Exit sets, by node and move.
    pub(crate) exits: Vec<u32>,
    pub(crate) nodes: usize,
    pub(crate) new_sets: ExitSetsDelta,
    /// The requested statistics.
    pub(crate) stats: Option<NodeStats>,
    /// Memory of the helper thread in bytes.
    pub(crate) bytes: usize,
    pub(crate) set_count: usize,
    pub(crate) status: Result<(), StepError>,
}

/// Main thread's handle of the helper thread.
pub(crate) struct HelperThread<C> {
    words: Vec<u32>,
    leaves: Vec<NodeStats>,
    /// Number of batches that were sent and whose results have not been received.
    pending: usize,
    batches: Option<Sender<Batch<C>>>,
    results: Receiver<BatchResult>,
    wait: SpinWait,
    thread: Option<JoinHandle<()>>,
    /// The first error in applying a result, after which no result is used.
    error: Option<StepError>,
    /// Memory of the helper thread in bytes, as of the last result.
    pub(crate) bytes: usize,
    pub(crate) set_count: usize,
}

impl<C: Copy + Send + Sync + 'static> HelperThread<C> {
    /// Starts the thread; None if the system refuses.
    pub(crate) fn start(
        share: &BudgetShare,
        with_stats: bool,
        prealloc_bytes: usize,
    ) -> Option<HelperThread<C>> {
        let data = DerivedData::new(share, with_stats, prealloc_bytes);
        let exit_sets = ExitSets::new(prealloc_bytes / 2);
        let state = HelperState {
            sent: exit_sets.end(),
            exit_sets,
            data,
            node_exits: NodeExits::new(share.split(), prealloc_bytes),
        };
        let (batches, batch_receiver) = channel();
        let (result_sender, results) = channel();
        let thread = Builder::new().name("exits".to_owned());
        let thread = thread.spawn(move || state.run(&batch_receiver, &result_sender)).ok()?;
        Some(HelperThread {
            words: Vec::with_capacity(BATCH_WORDS),
            leaves: Vec::new(),
            pending: 0,
            batches: Some(batches),
            results,
            wait: SpinWait::default(),
            thread: Some(thread),
            error: None,
            bytes: 0,
            set_count: 0,
        })
    }

    /// Appends a node to the batch. Returns whether the batch is full.
    #[inline(always)]
    pub(crate) fn push(&mut self, node: NewNode<'_>) -> bool {
        match node {
            NewNode::Inner(InnerNode { level, moves, configs, children }) => {
                let first = u32::from(moves) | u32::from(level) << LEVEL_SHIFT;
                self.words.extend([first, configs.0 as u32, (configs.0 >> u32::BITS) as u32]);
                self.words.extend_from_slice(children);
            }
            NewNode::Leaf { moves, exits, stats } => {
                self.words.push(u32::from(moves) | LEAF_FLAG);
                self.words
                    .extend(exits.iter().flat_map(|set| [*set as u32, (*set >> u32::BITS) as u32]));
                self.leaves.push(stats);
            }
        }
        self.words.len() >= BATCH_WORDS
    }

    /// Sends the batch, with a request for the statistics of `stats_of`.
    pub(crate) fn flush(&mut self, index: &Arc<SharedIndex<C>>, stats_of: Option<Ref>) {
        let words =
            std::mem::replace(&mut self.words, Vec::with_capacity(BATCH_WORDS + BATCH_WORDS / 4));
        let leaves = std::mem::take(&mut self.leaves);
        let batch = Batch { index: Arc::clone(index), words, leaves, stats_of };
        self.pending += 1;
        // A send fails only if the thread has panicked; `receive` reports that.
        let _ = self.batches.as_ref().map(|batches| batches.send(batch));
    }

    /// Receives the next result; None if no result has arrived. With `wait` it blocks until a result
    /// arrives, and returns None only if no batch is pending.
    pub(crate) fn receive(&mut self, wait: bool) -> Option<BatchResult> {
        if self.pending == 0 {
            return None;
        }
        let result = match self.results.try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) if !wait => return None,
            _ => match self.wait.receive(&self.results) {
                Ok(result) => result,
                Err(RecvError) => self.propagate_panic(),
            },
        };
        self.pending -= 1;
        (self.bytes, self.set_count) = (result.bytes, result.set_count);
        Some(result)
    }

    /// Returns the first error of the results so far.
    #[inline(always)]
    pub(crate) fn check(&self) -> Result<(), StepError> {
        self.error.map_or(Ok(()), Err)
    }

    /// Stores an error in applying a result.
    pub(crate) fn set_error(&mut self, error: StepError) {
        self.error = Some(error);
    }

    /// Resumes the panic of the thread. While the handle exists, the thread ends only by a panic.
    fn propagate_panic(&mut self) -> ! {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => unreachable!("the helper thread ended without a panic"),
        }
    }
}

impl<C> Drop for HelperThread<C> {
    fn drop(&mut self) {
        self.batches = None;
        // The handle is dropped, so a panic of the thread has no effect.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Data of the helper thread.
struct HelperState {
    data: DerivedData,
    exit_sets: ExitSets,
    /// End of the exit sets that have been sent.
    sent: ExitSetsEnd,
    node_exits: NodeExits,
}

impl HelperState {
    fn run<C>(mut self, batches: &Receiver<Batch<C>>, results: &Sender<BatchResult>) {
        let mut wait = SpinWait::default();
        while let Ok(batch) = wait.receive(batches) {
            let result = self.process(&batch);
            drop(batch);
            if results.send(result).is_err() {
                return;
            }
        }
    }

    fn process<C>(&mut self, batch: &Batch<C>) -> BatchResult {
        // Most words are references. For the other words, prefetching is harmless.
        let words = batch.words.iter().map(|word| Ref::from_word(*word));
        self.node_exits.prefetch(words.clone());
        words.for_each(|node| self.data.prefetch(node));
        let mut found_exits = Vec::with_capacity(BATCH_WORDS / 4);
        let mut nodes = 0;
        let mut leaves = batch.leaves.iter();
        let mut rest = &*batch.words;
        let mut status = self.data.check();
        let mut exits = Vec::new();
        while let [first, after @ ..] = rest {
            let moves = *first as u16;
            let node = if first & LEAF_FLAG != 0 {
                let (words, after) = after.split_at(2 * count_moves(moves));
                let sets = words.chunks_exact(2).map(|pair| join(pair[0], pair[1]));
                exits.clear();
                exits.extend(sets);
                rest = after;
                NewNode::Leaf {
                    moves,
                    exits: &exits,
                    stats: leaves.next().copied().unwrap_or_default(),
                }
            } else {
                let configs = ConfigSet(join(after[0], after[1]));
                let (children, after) = after[2..].split_at(configs.0.count_ones() as usize);
                rest = after;
                NewNode::Inner(InnerNode {
                    level: (first >> LEVEL_SHIFT) as u8,
                    moves,
                    configs,
                    children,
                })
            };
            nodes += 1;
            status = status.and_then(|()| self.derive(&batch.index, node, moves, &mut found_exits));
        }
        BatchResult {
            exits: found_exits,
            nodes,
            new_sets: self.exit_sets.take_new(&mut self.sent),
            stats: status.ok().and_then(|()| self.data.stats(batch.stats_of?)),
            bytes: self.data.bytes() + self.exit_sets.bytes() + self.node_exits.bytes(),
            set_count: self.data.set_count(),
            status,
        }
    }

    fn derive<C>(
        &mut self,
        index: &SharedIndex<C>,
        node: NewNode<'_>,
        moves: u16,
        exits: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        let before = exits.len();
        self.data.derive(index, &mut self.exit_sets, &self.node_exits, node, exits)?;
        self.node_exits.push(moves, &exits[before..])
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << u32::BITS
}
