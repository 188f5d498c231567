//! The kernel for tabled spaces: expansion is table look-ups, deduplication is marks in an array
//! that stays in cache.

mod library;
mod marks;
mod memo;
mod regions;
mod shelf;
mod step;
mod survey;
mod visits;

use std::sync::Arc;

use strata_space::{ExitEdge, LayerStats, Local, MAX_MOVE_KINDS, RegionKey, State, Tabled, Weight};
use strata_store::{EntryKey, ListBuf};

use crate::Result;
use crate::direct::keep_new;
use crate::engine::KernelMemory;
use crate::kernel::{Batches, Decoded, ExitSink, Inputs, Kernel, Output};
use library::Library;
use marks::Marks;
use memo::Memo;
use regions::{Classes, Regions};
use step::{Leave, Step, hash};
use survey::{Survey, for_open};
use visits::Visits;

/// Indices for which the smaller marks suffice.
const NARROW: usize = 1 << 15;

/// The most indices.
const WIDE: usize = 1 << 17;

type NarrowMarks = Marks<{ NARROW / 64 }>;
type WideMarks = Marks<{ WIDE / 64 }>;

/// See the module.
pub(crate) struct TabledKernel<S: Tabled> {
    space: Arc<S>,
    regions: Regions<S>,
    memo: Memo,
    visits: Visits,
    /// Hashes of the waiting regions' questions, of those that ask.
    asked: Vec<Option<u64>>,
    marks: AnyMarks,
    /// A region's inputs, decoded.
    lists: [Vec<Local>; 2],
    inbox: Batches,
    /// Its new states.
    next: Vec<Local>,
    list: ListBuf,
    survey: Survey,
    leaving: Leaving,
    /// Whether the space has gates that scatter.
    scatters: bool,
}

/// What the kernels of an engine have in common.
pub(crate) struct Shared<C> {
    classes: Arc<Classes<C>>,
    library: Arc<Library>,
}

impl<C> Default for Shared<C> {
    fn default() -> Shared<C> {
        Shared { classes: Arc::default(), library: Arc::default() }
    }
}

enum AnyMarks {
    Narrow(NarrowMarks),
    Wide(WideMarks),
}

impl<S: Tabled> TabledKernel<S> {
    /// A kernel that keeps as much, the steps it learns in a library that it may share.
    pub(crate) fn new(
        space: Arc<S>,
        shards: u32,
        memory: KernelMemory,
        shared: &Shared<S::Class>,
    ) -> TabledKernel<S> {
        let indices = space.indices() as usize;
        assert!(
            indices < WIDE && S::MOVE_KINDS <= MAX_MOVE_KINDS,
            "within the limits of tabled spaces"
        );
        let marks = if indices < NARROW {
            AnyMarks::Narrow(NarrowMarks::new())
        } else {
            AnyMarks::Wide(WideMarks::new())
        };
        TabledKernel {
            regions: Regions::new(space.clone(), shards, memory.regions, shared.classes.clone()),
            memo: Memo::new(memory.memo, shared.library.clone()),
            visits: Visits::default(),
            asked: Vec::new(),
            marks,
            lists: Default::default(),
            inbox: Batches::default(),
            next: Vec::new(),
            list: ListBuf::default(),
            survey: Survey::new(&*space),
            scatters: space.first_scattering_edge() < space.exit_edges(),
            space,
            leaving: Leaving::default(),
        }
    }
}

impl<S: Tabled> Kernel for TabledKernel<S> {
    #[inline]
    fn expand(&mut self, at: EntryKey, inputs: Inputs<'_>, output: &mut dyn Output) -> Result<()> {
        if visits::is_wide(&inputs) || !self.memo.is_worth_it() {
            self.expand_waiting(output)?;
            self.memo.close();
            return self.expand_now(at, inputs, output);
        }
        self.visits.push(at, inputs);
        if self.visits.is_full() { self.expand_waiting(output) } else { Ok(()) }
    }

    fn finish(&mut self, output: &mut dyn Output) -> Result<()> {
        self.expand_waiting(output)?;
        self.memo.close();
        Ok(())
    }

    fn discard(&mut self) {
        self.visits.clear();
        self.memo.close();
    }

    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Local],
        stats: &mut LayerStats,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        let slot = self.regions.find(RegionKey(at.region));
        let class = &self.regions.at(slot).class;
        self.survey.take(&*self.space, class, states, &Batches::default());
        if self.space.needs_canonicalising(class) {
            stats.digest += self.twice_counted(slot, states);
        }
        stats.digest += self.space.unfactored_weight(RegionKey(at.region), states);
        let step = self.survey.step(self.list.encode(states));
        let known = (&*self.space, &mut self.regions);
        report(known, (at, slot), &step, &mut self.leaving, stats, exits)
    }
}

impl<S: Tabled> TabledKernel<S> {
    fn expand_waiting(&mut self, output: &mut dyn Output) -> Result<()> {
        if self.visits.queue().is_empty() {
            return Ok(());
        }
        self.memo.open();
        self.fetch();
        let mut visits = std::mem::take(&mut self.visits);
        let mut asked = std::mem::take(&mut self.asked);
        let queue = 0..visits.queue().len();
        let done = queue.into_iter().try_for_each(|i| self.visit(&mut visits, i, asked[i], output));
        visits.clear();
        asked.clear();
        (self.visits, self.asked) = (visits, asked);
        done
    }

    /// Gets what is known of the regions that wait into the processor's cache. Each loop asks for
    /// the memory of all of them, so that it arrives at the same time.
    fn fetch(&mut self) {
        for visit in self.visits.queue() {
            self.regions.touch_keys(RegionKey(visit.at.region));
        }
        for visit in self.visits.queue() {
            let slot = self.regions.find(RegionKey(visit.at.region));
            self.regions.touch(slot);
        }
        for i in 0..self.visits.queue().len() {
            let visit = self.visits.queue()[i];
            // Again: another one may have taken its slot.
            let slot = self.regions.find(RegionKey(visit.at.region));
            let region = self.regions.at(slot);
            let asks = visit.side.zip(region.number);
            self.asked
                .push(asks.map(|(side, class)| hash(self.visits.question(&visit, class, side))));
        }
        for hash in self.asked.iter().flatten() {
            self.memo.touch(*hash);
        }
        for hash in self.asked.iter().flatten() {
            self.memo.touch_step(*hash);
        }
    }

    /// Expands a region that has waited; `asked` is its question's hash, if it has one.
    fn visit(
        &mut self,
        visits: &mut Visits,
        number: usize,
        asked: Option<u64>,
        output: &mut dyn Output,
    ) -> Result<()> {
        let visit = visits.queue()[number];
        let slot = self.regions.find(RegionKey(visit.at.region));
        if let Some(hash) = asked
            && let Some(place) = self.memo.find(hash, visits.asked(&visit))
        {
            let step = self.memo.step(place);
            if self.scatters {
                let states = step.next.decode(&mut self.next);
                states.ok_or_else(|| output.damaged(visit.at))?;
                output.stats().digest +=
                    self.space.unfactored_weight(RegionKey(visit.at.region), &self.next);
            }
            let known = (&*self.space, &mut self.regions);
            return deliver(known, (visit.at, slot), &step, &mut self.leaving, output);
        }
        let mut lists = std::mem::take(&mut self.lists);
        let mut inbox = std::mem::take(&mut self.inbox);
        let done = match visits.decode(&visit, &mut lists, &mut inbox) {
            Some(inputs) => {
                let question = asked.map(|hash| (hash, visits.asked(&visit)));
                self.compute(visit.at, visit.side, inputs, question, output)
            }
            None => Err(output.damaged(visit.at)),
        };
        (self.lists, self.inbox) = (lists, inbox);
        done
    }

    /// Expands a region that does not wait.
    fn expand_now(
        &mut self,
        at: EntryKey,
        inputs: Inputs<'_>,
        output: &mut dyn Output,
    ) -> Result<()> {
        let mut lists = std::mem::take(&mut self.lists);
        let [current, previous] = &mut lists;
        let decoded = inputs.current.decode(current).and(inputs.previous.decode(previous));
        let side = visits::common_side(&inputs);
        let inputs = Decoded { current, previous, inbox: inputs.inbox };
        let done = match decoded {
            Some(()) => self.compute(at, side, inputs, None, output),
            None => Err(output.damaged(at)),
        };
        self.lists = lists;
        done
    }

    /// Makes a region's step, of which all states have a side if there is one, and takes down the
    /// answer if it was asked for.
    fn compute(
        &mut self,
        at: EntryKey,
        side: Option<u32>,
        inputs: Decoded<'_>,
        question: Option<(u64, &[u8])>,
        output: &mut dyn Output,
    ) -> Result<()> {
        let slot = self.regions.find(RegionKey(at.region));
        let folds = self.space.needs_canonicalising(&self.regions.at(slot).class);
        self.next.clear();
        match side {
            Some(side) if !folds => self.expand_side(slot, inputs, side),
            _ => self.expand_mixed(slot, inputs, output.stats()),
        }
        self.list.encode(&self.next);
        let class = &self.regions.at(slot).class;
        self.survey.take(&*self.space, class, &self.next, inputs.inbox);
        let step = self.survey.step(self.list.list());
        if let Some((hash, question)) = question {
            self.memo.learn(hash, question, &step);
        }
        if folds {
            output.stats().digest += self.twice_counted(slot, &self.next);
        }
        let region = RegionKey(at.region);
        output.stats().digest += self.space.unfactored_weight(region, &self.next);
        let known = (&*self.space, &mut self.regions);
        deliver(known, (at, slot), &step, &mut self.leaving, output)
    }

    /// The new states of a region of which all states have one side, and which no symmetry fixes.
    fn expand_side(&mut self, slot: usize, inputs: Decoded<'_>, side: u32) {
        let (class, space) = (&self.regions.at(slot).class, &*self.space);
        match &mut self.marks {
            AnyMarks::Narrow(marks) => expand(space, class, inputs, side, marks, &mut self.next),
            AnyMarks::Wide(marks) => expand(space, class, inputs, side, marks, &mut self.next),
        }
    }

    /// The new states of any region.
    fn expand_mixed(&mut self, slot: usize, inputs: Decoded<'_>, stats: &mut LayerStats) {
        let (class, space) = (&self.regions.at(slot).class, &*self.space);
        for local in inputs.current {
            let (index, side) = (local >> 1, local & 1);
            for_open(space.legal_moves(class, index).inside, |door| {
                let index = space.neighbour(index, door);
                self.next.push(space.canonicalise(class, index << 1 | side));
            });
        }
        keep_new(inputs, &mut self.next, stats);
    }

    /// What has to be added to a digest so that states whose two images are one position count
    /// once.
    fn twice_counted(&self, slot: usize, states: &[Local]) -> Weight {
        let (region, space) = (self.regions.at(slot), &*self.space);
        let fixed = states.iter().filter(|local| space.is_fixed(&region.class, *local >> 1));
        let second = fixed.map(|local| {
            let (index, side) = ((local >> 1) as usize, (local & 1) as usize);
            -(region.weights[side][1] * space.local_weights(side)[index][1])
        });
        second.sum()
    }
}

/// [`report`], and hands over the new states.
#[inline]
fn deliver<S: Tabled>(
    known: (&S, &mut Regions<S>),
    (at, slot): (EntryKey, usize),
    step: &Step<'_>,
    leaving: &mut Leaving,
    output: &mut dyn Output,
) -> Result<()> {
    if step.next.is_empty() {
        return Ok(());
    }
    output.put(at, step.next)?;
    let mut stats = LayerStats::default();
    report(known, (at, slot), step, leaving, &mut stats, output)?;
    output.stats().add(&stats);
    Ok(())
}

/// Counts what a step has made in the region of a slot and sends its exits.
#[inline]
fn report<S: Tabled>(
    (space, regions): (&S, &mut Regions<S>),
    (at, slot): (EntryKey, usize),
    step: &Step<'_>,
    leaving: &mut Leaving,
    stats: &mut LayerStats,
    exits: &mut dyn ExitSink,
) -> Result<()> {
    if step.next.is_empty() {
        return Ok(());
    }
    stats.regions += 1;
    stats.states += step.next.len() as u64;
    stats.generated += u64::from(step.generated);
    for (weights, sums) in regions.at(slot).weights.iter().zip(&step.sums) {
        if *sums != [Weight::ZERO; 2] {
            stats.digest += weights[0] * sums[0] + weights[1] * sums[1];
        }
    }
    let scattering = u32::from(space.first_scattering_edge());
    let mut rest = step.leaving;
    for (i, Leave { gate, count }) in step.leaves.iter().enumerate() {
        if *gate >= scattering {
            // Gates come in order: so do all that are left.
            leaving.gather(space, RegionKey(at.region), &step.leaves[i..], rest);
            leaving.send(regions, exits)?;
            break;
        }
        let (locals, others) = rest.split_at(*count as usize);
        rest = others;
        let gate = *gate as ExitEdge;
        let way = regions.way(slot, gate);
        let (target, batch) = (way.target(), &mut leaving.batch);
        batch.clear();
        let entered = |local: &Local| space.transfer(local >> 1, gate, way.symmetry) ^ local & 1;
        batch.extend(locals.iter().map(entered));
        if way.folds() {
            let class = space.class(RegionKey(target.region));
            batch.iter_mut().for_each(|local| *local = space.canonicalise(&class, *local));
        }
        exits.send(target, way.back(), batch)?;
    }
    Ok(())
}

/// Memory for what leaves a region.
#[derive(Default)]
struct Leaving {
    batch: Vec<Local>,
    /// States behind gates that scatter.
    scattered: Vec<State>,
}

impl Leaving {
    /// Works out where what leaves by gates that scatter comes to.
    fn gather<S: Tabled>(
        &mut self,
        space: &S,
        region: RegionKey,
        leaves: &[Leave],
        mut rest: &[Local],
    ) {
        self.scattered.clear();
        for Leave { gate, count } in leaves {
            let (locals, others) = rest.split_at(*count as usize);
            rest = others;
            space.scatter(region, *gate as ExitEdge, locals, &mut self.scattered);
        }
        self.scattered.sort_unstable();
    }

    /// Sends it.
    fn send<S: Tabled>(&mut self, regions: &Regions<S>, exits: &mut dyn ExitSink) -> Result<()> {
        for group in self.scattered.chunk_by(|a, b| a.region == b.region) {
            self.batch.clear();
            self.batch.extend(group.iter().map(|state| state.local));
            exits.send(regions.place(group[0].region), None, &self.batch)?;
        }
        Ok(())
    }
}

/// Lists `(inside successors of current ∪ inbox) − current − previous` for states of one side.
#[inline(always)]
fn expand<S: Tabled, const W: usize>(
    space: &S,
    class: &S::Class,
    inputs: Decoded<'_>,
    side: u32,
    marks: &mut Marks<W>,
    next: &mut Vec<Local>,
) {
    marks.begin();
    marks.exclude(inputs.previous);
    marks.exclude(inputs.current);
    for local in inputs.inbox.locals() {
        marks.offer(local >> 1);
    }
    for local in inputs.current {
        let index = local >> 1;
        let inside = space.inside_successors(class, index);
        if inside.more {
            for_open(space.legal_moves(class, index).inside, |door| {
                marks.offer(space.neighbour(index, door));
            });
        } else {
            // The state itself, offered where there are fewer, is not new.
            for next in inside.first {
                marks.offer(next);
            }
        }
    }
    marks.drain(side, next);
}
