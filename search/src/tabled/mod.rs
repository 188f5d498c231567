//! The kernel for tabled spaces: expansion is table look-ups, deduplication is marks in an array
//! that stays in cache.

mod marks;
mod regions;

use std::sync::Arc;

use strata_space::{Door, Local, MAX_DOORS, RegionKey, State, Tabled, Weight};
use strata_store::EntryKey;

use crate::Result;
use crate::direct::settle;
use crate::kernel::{ExitSink, Inputs, Kernel, Tally};
use marks::Marks;
use regions::Regions;

/// Indices for which the smaller marks suffice.
const NARROW: usize = 1 << 15;

/// The most indices.
const WIDE: usize = 1 << 17;

type NarrowMarks = Marks<NARROW, { NARROW / 64 }>;
type WideMarks = Marks<WIDE, { WIDE / 64 }>;

/// See the module.
pub(crate) struct TabledKernel<S: Tabled> {
    space: Arc<S>,
    regions: Regions<S>,
    marks: AnyMarks,
    /// New states with an exit.
    border: Vec<Local>,
    /// New states that leave, by gate.
    leaving: Vec<Vec<Local>>,
    batch: Vec<Local>,
    /// States behind gates that scatter.
    scattered: Vec<State>,
}

enum AnyMarks {
    Narrow(NarrowMarks),
    Wide(WideMarks),
}

impl<S: Tabled> TabledKernel<S> {
    /// A kernel with a region cache of at most `cache_bytes`.
    pub(crate) fn new(space: Arc<S>, shards: u32, cache_bytes: usize) -> TabledKernel<S> {
        let indices = space.indices() as usize;
        assert!(indices < WIDE && S::DOORS <= MAX_DOORS, "within the limits of tabled spaces");
        let marks = if indices < NARROW {
            AnyMarks::Narrow(NarrowMarks::new())
        } else {
            AnyMarks::Wide(WideMarks::new())
        };
        TabledKernel {
            regions: Regions::new(space.clone(), shards, cache_bytes),
            marks,
            border: Vec::new(),
            leaving: vec![Vec::new(); space.gates().into()],
            space,
            batch: Vec::new(),
            scattered: Vec::new(),
        }
    }
}

impl<S: Tabled> Kernel for TabledKernel<S> {
    fn expand(
        &mut self,
        at: EntryKey,
        inputs: Inputs<'_>,
        next: &mut Vec<Local>,
        tally: &mut Tally,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        let slot = self.regions.find(RegionKey(at.region));
        self.regions.touch(slot);
        let (class, space) = (&self.regions.at(slot).class, &*self.space);
        match common_side(inputs) {
            // The usual case: only one of the two sides is in the region, so they cannot meet.
            Some(side) if !space.folds(class) => match &mut self.marks {
                AnyMarks::Narrow(marks) => expand(space, class, inputs, side, marks, next),
                AnyMarks::Wide(marks) => expand(space, class, inputs, side, marks, next),
            },
            _ => {
                for local in inputs.current {
                    let (index, side) = (local >> 1, local & 1);
                    for_open(space.open(class, index).inside, |door| {
                        let index = space.neighbour(index, door);
                        next.push(space.fold(class, index << 1 | side));
                    });
                }
                settle(inputs, next, tally);
            }
        }
        self.emit_from(slot, at, next, tally, exits)
    }

    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Local],
        tally: &mut Tally,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        let slot = self.regions.find(RegionKey(at.region));
        self.emit_from(slot, at, states, tally, exits)
    }
}

impl<S: Tabled> TabledKernel<S> {
    /// [`Kernel::emit`] for the region in a slot.
    fn emit_from(
        &mut self,
        slot: usize,
        at: EntryKey,
        states: &[Local],
        tally: &mut Tally,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        if states.is_empty() {
            return Ok(());
        }
        let space = &*self.space;
        let region = self.regions.at(slot);
        let class = &region.class;
        self.border.clear();
        // Mostly there is but one run, of one side.
        for run in states.chunk_by(|a, b| (a ^ b) & 1 == 0) {
            let side = (run[0] & 1) as usize;
            let mut sums = DigestSums::default();
            let weights = space.local_weights(side);
            tally.generated += survey(space, class, run, weights, &mut sums, &mut self.border);
            tally.digest += sums.total(&region.weights[side]);
        }
        tally.regions += 1;
        tally.states += states.len() as u64;
        if space.folds(class) {
            tally.digest += twice_counted(space, class, states, &region.weights);
        }
        tally.digest += space.scattered_weight(RegionKey(at.region), states);
        for local in &self.border {
            let index = local >> 1;
            for_open(space.open(class, index).exits, |door| {
                self.leaving[usize::from(space.gate(index, door))].push(*local);
            });
        }
        self.leave(slot, exits)?;
        self.scatter(RegionKey(at.region), exits)
    }

    /// Sends what leaves by gates that lead to one region each.
    fn leave(&mut self, slot: usize, exits: &mut dyn ExitSink) -> Result<()> {
        let space = &*self.space;
        for gate in 0..space.scattering() {
            let leaving = &mut self.leaving[usize::from(gate)];
            if leaving.is_empty() {
                continue;
            }
            let way = self.regions.way(slot, gate);
            self.batch.clear();
            let entered = |local: &Local| space.carry(local >> 1, gate, way.symmetry) ^ local & 1;
            self.batch.extend(leaving.iter().map(entered));
            if way.folds {
                let class = space.class(RegionKey(way.target.region));
                self.batch.iter_mut().for_each(|local| *local = space.fold(&class, *local));
            }
            leaving.clear();
            exits.send(way.target, &self.batch)?;
        }
        Ok(())
    }

    /// Sends what leaves by gates that scatter.
    fn scatter(&mut self, region: RegionKey, exits: &mut dyn ExitSink) -> Result<()> {
        let space = &*self.space;
        self.scattered.clear();
        for gate in space.scattering()..space.gates() {
            let leaving = &mut self.leaving[usize::from(gate)];
            if !leaving.is_empty() {
                space.scatter(region, gate, leaving, &mut self.scattered);
                leaving.clear();
            }
        }
        self.scattered.sort_unstable();
        for group in self.scattered.chunk_by(|a, b| a.region == b.region) {
            self.batch.clear();
            self.batch.extend(group.iter().map(|state| state.local));
            exits.send(self.regions.place(group[0].region), &self.batch)?;
        }
        Ok(())
    }
}

/// Calls `visit` for every door of a set.
#[inline(always)]
fn for_open(mut doors: u8, mut visit: impl FnMut(Door)) {
    while doors != 0 {
        visit(doors.trailing_zeros() as Door);
        doors &= doors - 1;
    }
}

/// Number of bits of every mask of doors: the baseline instruction set has no instruction for it.
const COUNT: [u8; 1 << MAX_DOORS] = {
    let mut count = [0; 1 << MAX_DOORS];
    let mut mask = 0;
    while mask < count.len() {
        count[mask] = (mask as u32).count_ones() as u8;
        mask += 1;
    }
    count
};

/// Goes through new states of one side: adds up their weights, lists those with an exit, and
/// returns the number of their moves.
#[inline(always)]
fn survey<S: Tabled>(
    space: &S,
    class: &S::Class,
    states: &[Local],
    weights: &[[Weight; 2]],
    sums: &mut DigestSums,
    border: &mut Vec<Local>,
) -> u64 {
    let count = |mask: u8| u64::from(COUNT[usize::from(mask & (COUNT.len() - 1) as u8)]);
    let mut degrees = 0;
    // Most states have no exit: writing every state and keeping some makes a loop without
    // branches that cannot be predicted.
    let mut kept = border.len();
    border.resize(kept + states.len(), 0);
    for local in states {
        let index = local >> 1;
        let open = space.open(class, index);
        degrees += count(open.inside) + count(open.exits);
        sums.add(&weights[index as usize]);
        border[kept] = *local;
        kept += usize::from(open.exits != 0);
    }
    border.truncate(kept);
    degrees
}

/// The side of all states of a region, if they have the same.
#[inline(always)]
fn common_side(inputs: Inputs<'_>) -> Option<u32> {
    let first = inputs.current.first().or(inputs.inbox.first())? & 1;
    let differ = |locals: &[Local]| locals.iter().fold(0, |any, local| any | (local ^ first)) & 1;
    let differ = differ(inputs.current) | differ(inputs.inbox) | differ(inputs.previous);
    (differ == 0).then_some(first)
}

/// Lists `(inside successors of current ∪ inbox) − current − previous` for states of one side.
#[inline(always)]
fn expand<S: Tabled, const N: usize, const W: usize>(
    space: &S,
    class: &S::Class,
    inputs: Inputs<'_>,
    side: u32,
    marks: &mut Marks<N, W>,
    next: &mut Vec<Local>,
) {
    marks.begin();
    marks.exclude(inputs.previous);
    marks.exclude(inputs.current);
    let mut count = 0;
    for local in inputs.inbox {
        count = marks.offer(count, local >> 1);
    }
    for local in inputs.current {
        let index = local >> 1;
        let inside = space.inside(class, index);
        if inside.more {
            for_open(space.open(class, index).inside, |door| {
                count = marks.offer(count, space.neighbour(index, door));
            });
        } else {
            // The state itself, offered where there are fewer, is not new.
            for next in inside.first {
                count = marks.offer(count, next);
            }
        }
    }
    marks.drain(count, side, next);
}

/// Plain sums of weights in halves of 32 bits, which cannot overflow.
#[derive(Default)]
struct DigestSums {
    low: [u64; 4],
    high: [u64; 4],
}

impl DigestSums {
    #[inline(always)]
    fn add(&mut self, images: &[Weight; 2]) {
        let [Weight([a, b]), Weight([c, d])] = *images;
        for (i, weight) in [a, b, c, d].into_iter().enumerate() {
            self.low[i] += weight & 0xffff_ffff;
            self.high[i] += weight >> 32;
        }
    }

    /// The sum over images of region weight times local sum.
    fn total(&self, region: &[Weight; 2]) -> Weight {
        let sum = |i: usize| u128::from(self.low[i]) + (u128::from(self.high[i]) << 32);
        let image = |i: usize| region[i] * Weight::reduce([sum(2 * i), sum(2 * i + 1)]);
        image(0) + image(1)
    }
}

/// What has to be added to a digest so that states whose two images are one position count once.
fn twice_counted<S: Tabled>(
    space: &S,
    class: &S::Class,
    states: &[Local],
    region: &[[Weight; 2]; 2],
) -> Weight {
    let fixed = states.iter().filter(|local| space.is_fixed(class, *local >> 1));
    let second = fixed.map(|local| {
        let (index, side) = ((local >> 1) as usize, (local & 1) as usize);
        -(region[side][1] * space.local_weights(side)[index][1])
    });
    second.sum()
}
