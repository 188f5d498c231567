//! Tabled kernel: expansion by table look-ups, with a memo table for expansions that recur.

use std::sync::Arc;
use std::time::Instant;

use strata_space::{LayerStats, Local, RegionKey, Tabled};
use strata_store::{EntryKey, ListBuf, LocalWidth, Word};

use super::batch::{self, ExpansionBatch, PendingRegion};
use super::exits::{CachedKey, ExitBuffers, deliver, report};
use super::expand::expand_side;
use super::marks::AnyMarks;
use super::memo::{EntryLimits, Memo, SharedMemo, Slot, hash};
use super::regions::{ClassNumbers, RegionCache};
use super::summary::{SuccessorSummary, for_each_kind};
use crate::explicit::dedup::keep_new;
use crate::explicit::error::{Error, Result};
use crate::explicit::kernel::{
    Batches, Decoded, ExitSink, Inputs, Kernel, KernelMemory, MemoUse, Output,
};

/// One of this many misses is timed. Timing all takes 3 % of the processor time on Panex 7 (median of 15).
const TIMED: u32 = 16;

/// One of this many hits of expansions from other processes is computed again and compared.
const CHECKED: u32 = 1 << 10;

/// Kernel of a tabled space.
pub(crate) struct TabledKernel<S: Tabled> {
    space: Arc<S>,
    regions: RegionCache<S>,
    memo: Memo,
    memo_use: MemoUse,
    /// Number of hits of expansions from other processes until one is computed again.
    until_check: u32,
    /// Number of misses until one is timed.
    untimed: u32,
    batch: ExpansionBatch,
    /// For each region of the batch, the hash of its memo key; None if the region is not looked up.
    hashes: Vec<Option<u64>>,
    marks: AnyMarks,
    /// Scratch memory: decoded inputs of a region.
    lists: [Vec<Local>; 2],
    inbox: Batches,
    /// New states of a region.
    next: Vec<Local>,
    list: ListBuf,
    summary: SuccessorSummary,
    exit_buffers: ExitBuffers,
    /// Whether the space has scattering edges.
    scatters: bool,
}

/// Caches that all kernels of an engine share.
pub(crate) struct SharedCaches<C> {
    classes: Arc<ClassNumbers<C>>,
    memo: Arc<SharedMemo>,
}

impl<C> Default for SharedCaches<C> {
    fn default() -> SharedCaches<C> {
        SharedCaches { classes: Arc::default(), memo: Arc::default() }
    }
}

impl<S: Tabled> TabledKernel<S> {
    /// A kernel with limits for its caches. The space must be within the limits that
    /// [`Engine::tabled`](crate::explicit::Engine::tabled) has checked.
    pub(crate) fn new(
        space: Arc<S>,
        shards: u32,
        memory: KernelMemory,
        shared: &SharedCaches<S::Class>,
    ) -> TabledKernel<S> {
        TabledKernel {
            regions: RegionCache::new(
                space.clone(),
                shards,
                memory.regions,
                shared.classes.clone(),
            ),
            memo: Memo::new(memory.memo, memory.learned, shared.memo.clone()),
            until_check: CHECKED,
            memo_use: MemoUse::default(),
            untimed: 0,
            batch: ExpansionBatch::default(),
            hashes: Vec::new(),
            marks: AnyMarks::new(space.indices()),
            lists: Default::default(),
            inbox: Batches::default(),
            next: Vec::new(),
            list: ListBuf::default(),
            summary: SuccessorSummary::new(&*space),
            scatters: space.first_scattering_edge() < space.exit_edges(),
            space,
            exit_buffers: ExitBuffers::default(),
        }
    }
}

impl<S: Tabled> Kernel for TabledKernel<S> {
    fn width(&self) -> LocalWidth {
        LocalWidth::One
    }

    #[inline]
    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()> {
        if batch::is_wide(&inputs) || !self.memo.is_enabled() {
            self.expand_batch(output)?;
            self.memo.release();
            return self.expand_now(at, inputs, output);
        }
        self.batch.push(at, inputs);
        if self.batch.is_full() { self.expand_batch(output) } else { Ok(()) }
    }

    fn finish(&mut self, output: &mut dyn Output) -> Result<()> {
        self.expand_batch(output)?;
        self.memo.release();
        Ok(())
    }

    fn discard(&mut self) {
        self.batch.clear();
        self.memo.release();
    }

    fn take_memo_use(&mut self) -> MemoUse {
        std::mem::take(&mut self.memo_use)
    }

    fn take_learned(&mut self) -> Vec<u64> {
        self.memo.take_learned()
    }

    fn learn(&mut self, expansions: &[u64]) -> Result<()> {
        let limits =
            EntryLimits { locals: 2 * self.space.indices(), exit_edges: self.space.exit_edges() };
        let regions = &mut self.regions;
        let class_number = |region| {
            let slot = regions.find(region);
            regions.at(slot).class_number
        };
        let learned = self.memo.learn(expansions, limits, class_number);
        learned.ok_or(Error::Learned { what: "malformed" })
    }

    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Word],
        stats: &mut LayerStats,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        let states = Word::locals(states);
        let slot = self.regions.find(RegionKey(at.region));
        let class = &self.regions.at(slot).class;
        self.summary.summarise(&*self.space, class, states, &Batches::default());
        let is_symmetric = self.space.needs_canonicalising(class);
        self.add_unfactored(at, states, stats);
        let expansion = self.summary.expansion(self.list.encode(states));
        let cached = (&*self.space, &mut self.regions);
        report(cached, CachedKey { at, slot }, &expansion, &mut self.exit_buffers, stats, exits)?;
        if is_symmetric {
            self.correct_double_counts(slot, states, stats);
        }
        Ok(())
    }
}

impl<S: Tabled> TabledKernel<S> {
    /// Expands the regions of the batch.
    fn expand_batch(&mut self, output: &mut dyn Output) -> Result<()> {
        if self.batch.regions().is_empty() {
            return Ok(());
        }
        self.memo.refresh();
        self.prefetch_batch();
        let mut batch = std::mem::take(&mut self.batch);
        let mut hashes = std::mem::take(&mut self.hashes);
        let mut numbers = 0..batch.regions().len();
        let done = numbers.try_for_each(|i| self.expand_pending(&batch, i, hashes[i], output));
        batch.clear();
        hashes.clear();
        (self.batch, self.hashes) = (batch, hashes);
        done
    }

    /// Prefetches the cached data of all regions of the batch, and computes the hashes of their memo
    /// keys. Each loop starts one memory access for every region, so that the accesses overlap.
    fn prefetch_batch(&mut self) {
        for pending in self.batch.regions() {
            self.regions.prefetch_key(RegionKey(pending.at.region));
        }
        for pending in self.batch.regions() {
            let slot = self.regions.find(RegionKey(pending.at.region));
            self.regions.prefetch(slot);
        }
        for i in 0..self.batch.regions().len() {
            let pending = self.batch.regions()[i];
            // The slot is looked up again, as another region of the batch may have taken it.
            let slot = self.regions.find(RegionKey(pending.at.region));
            let cached = self.regions.at(slot);
            let side_and_class = pending.side.zip(cached.class_number);
            self.hashes.push(
                side_and_class.map(|(side, class)| hash(self.batch.key(&pending, class, side))),
            );
        }
        for hash in self.hashes.iter().flatten() {
            self.memo.prefetch_slots(*hash);
        }
        for hash in self.hashes.iter().flatten() {
            self.memo.prefetch_entry(*hash);
        }
    }

    /// Expands a region of a batch. If `hash` is the hash of its memo key, looks the key up in the memo
    /// table first.
    fn expand_pending(
        &mut self,
        batch: &ExpansionBatch,
        number: usize,
        hash: Option<u64>,
        output: &mut dyn Output,
    ) -> Result<()> {
        let region = batch.regions()[number];
        let slot = self.regions.find(RegionKey(region.at.region));
        if let Some(hash) = hash
            && let Some(entry) = self.memo.get(hash, batch.last_key(&region))
        {
            self.memo_use.hits += 1;
            if self.memo.is_foreign(entry) {
                self.until_check -= 1;
                if self.until_check == 0 {
                    self.until_check = CHECKED;
                    self.check(batch, &region, slot, entry, output)?;
                }
            }
            let expansion = self.memo.expansion(entry);
            if self.scatters {
                let states = expansion.next.decode_locals(&mut self.next);
                states.ok_or_else(|| output.damaged(region.at))?;
                self.add_unfactored(region.at, &self.next, output.stats());
            }
            let cached = (&*self.space, &mut self.regions);
            let key = CachedKey { at: region.at, slot };
            return deliver(cached, key, &expansion, &mut self.exit_buffers, output);
        }
        let timed = hash.is_some() && self.untimed == 0;
        let begun = timed.then(Instant::now);
        let mut lists = std::mem::take(&mut self.lists);
        let mut inbox = std::mem::take(&mut self.inbox);
        let done = match batch.decode(&region, &mut lists, &mut inbox) {
            Some(inputs) => {
                let key = hash.map(|hash| (hash, batch.last_key(&region)));
                self.compute(region.at, region.side, inputs, key, output)
            }
            None => Err(output.damaged(region.at)),
        };
        (self.lists, self.inbox) = (lists, inbox);
        if hash.is_some() {
            self.memo_use.misses += 1;
            self.untimed = if timed { TIMED - 1 } else { self.untimed - 1 };
        }
        if let Some(begun) = begun {
            self.memo_use.miss_time += TIMED * begun.elapsed();
        }
        done
    }

    /// Computes the expansion of a region, which is in the memo table, again.
    #[cold]
    fn check(
        &mut self,
        batch: &ExpansionBatch,
        region: &PendingRegion,
        slot: usize,
        entry: Slot,
        output: &mut dyn Output,
    ) -> Result<()> {
        let mut inbox = std::mem::take(&mut self.inbox);
        let inputs = batch.decode(region, &mut self.lists, &mut inbox);
        let inputs = inputs.ok_or_else(|| output.damaged(region.at))?;
        let (class, space) = (&self.regions.at(slot).class, &*self.space);
        self.next.clear();
        // Only regions with a side, and which no symmetry fixes, have an entry.
        let side = region.side.unwrap_or_default();
        expand_side(space, class, inputs, side, &mut self.marks, &mut self.next);
        self.list.encode(&self.next);
        self.summary.summarise(space, class, &self.next, inputs.inbox);
        let is_right = self.summary.expansion(self.list.list()) == self.memo.expansion(entry);
        self.inbox = inbox;
        if is_right { Ok(()) } else { Err(Error::Learned { what: "wrong" }) }
    }

    /// Expands a region immediately, without the batch and the memo table.
    fn expand_now(
        &mut self,
        at: EntryKey,
        inputs: Inputs<'_>,
        output: &mut dyn Output,
    ) -> Result<()> {
        let mut lists = std::mem::take(&mut self.lists);
        let [current, previous] = &mut lists;
        let decoded = inputs.current.decode_locals(current);
        let decoded = decoded.and(inputs.previous.decode_locals(previous));
        let side = batch::common_side(&inputs);
        let inputs = Decoded { current, previous, inbox: inputs.inbox };
        let done = match decoded {
            Some(()) => self.compute(at, side, inputs, None, output),
            None => Err(output.damaged(at)),
        };
        self.lists = lists;
        done
    }

    /// Computes the expansion of a region and delivers it. `side` is the common side of its states, if
    /// there is one. If `key` is (hash, memo key), the expansion is added to the memo table.
    fn compute(
        &mut self,
        at: EntryKey,
        side: Option<u32>,
        inputs: Decoded<'_>,
        key: Option<(u64, &[u8])>,
        output: &mut dyn Output,
    ) -> Result<()> {
        let slot = self.regions.find(RegionKey(at.region));
        let canonicalise = self.space.needs_canonicalising(&self.regions.at(slot).class);
        self.next.clear();
        match side {
            Some(side) if !canonicalise => {
                let (class, space) = (&self.regions.at(slot).class, &*self.space);
                expand_side(space, class, inputs, side, &mut self.marks, &mut self.next);
            }
            _ => self.expand_mixed(slot, inputs, output.stats()),
        }
        self.list.encode(&self.next);
        let class = &self.regions.at(slot).class;
        self.summary.summarise(&*self.space, class, &self.next, inputs.inbox);
        let expansion = self.summary.expansion(self.list.list());
        if let Some((hash, key)) = key {
            self.memo.insert(RegionKey(at.region), (hash, key), &expansion);
        }
        self.add_unfactored(at, &self.next, output.stats());
        let cached = (&*self.space, &mut self.regions);
        deliver(cached, CachedKey { at, slot }, &expansion, &mut self.exit_buffers, output)?;
        if canonicalise {
            self.correct_double_counts(slot, &self.next, output.stats());
        }
        Ok(())
    }

    /// Computes the new states of a region that has states of both sides, or that a symmetry fixes.
    fn expand_mixed(&mut self, slot: usize, inputs: Decoded<'_>, stats: &mut LayerStats) {
        let (class, space) = (&self.regions.at(slot).class, &*self.space);
        for local in inputs.current {
            let (index, side) = (local >> 1, local & 1);
            for_each_kind(space.legal_moves(class, index).inside, |kind| {
                let index = space.neighbour(index, kind);
                self.next.push(space.canonicalise(class, index << 1 | side));
            });
        }
        keep_new(inputs, &mut self.next, stats);
    }

    /// Adds the positions whose weights are not products of a region's and a local part's weight.
    fn add_unfactored(&self, at: EntryKey, states: &[Local], stats: &mut LayerStats) {
        let region = RegionKey(at.region);
        stats.digest += self.space.unfactored_weight(region, states);
        stats.positions += self.space.unfactored_positions(region, states);
    }

    /// Subtracts the second image of states whose two images are the same position: [`report`] has counted
    /// both.
    fn correct_double_counts(&self, slot: usize, states: &[Local], stats: &mut LayerStats) {
        let (region, space) = (self.regions.at(slot), &*self.space);
        let fixed = states.iter().filter(|local| space.is_fixed(&region.class, *local >> 1));
        for local in fixed {
            let (index, side) = (local >> 1, (local & 1) as usize);
            let [_, second] = space.local_weights(side).images(index);
            stats.digest += -(region.weights[side][1] * second);
            stats.positions -= 1;
        }
    }
}
