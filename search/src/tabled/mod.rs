//! The kernel for tabled spaces: expansion is table look-ups, deduplication is marks in an array
//! that stays in cache.

mod marks;
mod regions;
mod tables;

use std::sync::Arc;

use strata_space::{Door, Local, MAX_DOORS, RegionKey, SideWeights, Tabled, Weight};
use strata_store::EntryKey;

use crate::Result;
use crate::direct::settle;
use crate::kernel::{ExitSink, Inputs, Kernel, Tally};
use marks::Marks;
use regions::Regions;
pub(crate) use tables::Tables;
use tables::{ClassTable, Locals};

/// Below this many indices tables have entries of 16 bits.
const NARROW: usize = (1 << 15) - 1;

/// The most indices.
const WIDE: usize = 1 << 20;

type NarrowMarks = Marks<{ NARROW + 1 }, { 1 << 9 }, { 1 << 3 }>;
type WideMarks = Marks<WIDE, { 1 << 14 }, { 1 << 8 }>;

/// See the module.
pub(crate) struct TabledKernel<S: Tabled> {
    tables: Arc<Tables<S>>,
    regions: Regions<S>,
    marks: AnyMarks,
    /// New states with an exit.
    border: Vec<Local>,
    /// New states that leave, by door.
    leaving: [Vec<Local>; MAX_DOORS as usize],
    batch: Vec<Local>,
}

enum AnyMarks {
    Narrow(NarrowMarks),
    Wide(WideMarks),
}

impl<S: Tabled> TabledKernel<S> {
    /// A kernel with a region cache of at most `cache_bytes`.
    pub(crate) fn new(tables: Arc<Tables<S>>, cache_bytes: usize) -> TabledKernel<S> {
        let marks = match tables.space.indices() as usize {
            ..=NARROW => AnyMarks::Narrow(NarrowMarks::new()),
            _ => AnyMarks::Wide(WideMarks::new()),
        };
        TabledKernel {
            regions: Regions::new(tables.clone(), cache_bytes),
            tables,
            marks,
            border: Vec::new(),
            leaving: Default::default(),
            batch: Vec::new(),
        }
    }
}

impl<S: Tabled> Kernel for TabledKernel<S> {
    fn begin(&mut self) {
        self.regions.begin();
    }

    fn expand(
        &mut self,
        at: EntryKey,
        inputs: Inputs<'_>,
        next: &mut Vec<Local>,
        tally: &mut Tally,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        let class = &*self.regions.get(RegionKey(at.region)).table;
        match common_side(inputs) {
            // The usual case: only one of the two sides is in the region, so they cannot meet.
            Some(side) if !class.folds() => match &mut self.marks {
                AnyMarks::Narrow(marks) => expand(class, &self.tables, inputs, side, marks, next),
                AnyMarks::Wide(marks) => expand(class, &self.tables, inputs, side, marks, next),
            },
            _ => {
                for local in inputs.current {
                    let (index, side) = ((local >> 1) as usize, local & 1);
                    let inside = class.inside(index, &self.tables);
                    next.extend(inside.map(|i| class.fold(i << 1 | side, &self.tables.space)));
                }
                settle(inputs, next, tally);
            }
        }
        self.emit(at, next, tally, exits)
    }

    fn emit(
        &mut self,
        at: EntryKey,
        states: &[Local],
        tally: &mut Tally,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        if states.is_empty() {
            return Ok(());
        }
        let Tables { space, locals, .. } = &*self.tables;
        let region = self.regions.get(RegionKey(at.region));
        let class = &*region.table;
        self.border.clear();
        let mut digest = Weight::ZERO;
        for (side, weights) in locals.weights.iter().enumerate() {
            let mut sums = DigestSums::default();
            // Mostly there is but one run, of one side.
            let runs = states.chunk_by(|a, b| (a ^ b) & 1 == 0);
            for run in runs.filter(|run| (run[0] & 1) as usize == side) {
                tally.generated +=
                    survey(class, &self.tables, run, weights, &mut sums, &mut self.border);
            }
            digest += sums.total(&region.weights[side]);
        }
        tally.regions += 1;
        tally.states += states.len() as u64;
        tally.digest += digest;
        if class.folds() {
            tally.digest += twice_counted(class, space, locals, states, &region.weights);
        }
        let mut any = 0;
        for local in &self.border {
            let mut doors = class.open((local >> 1) as usize, &self.tables).exits();
            any |= doors;
            while doors != 0 {
                self.leaving[doors.trailing_zeros() as usize].push(*local);
                doors &= doors - 1;
            }
        }
        while any != 0 {
            let door = any.trailing_zeros() as Door;
            any &= any - 1;
            let leaving = &mut self.leaving[usize::from(door)];
            let way = self.regions.way(RegionKey(at.region), door);
            self.batch.clear();
            self.tables.carry(door, way.symmetry, leaving, &mut self.batch);
            if let Some(class) = &way.folding {
                self.batch.iter_mut().for_each(|local| *local = class.fold(*local, space));
            }
            leaving.clear();
            exits.send(way.target, &self.batch)?;
        }
        Ok(())
    }
}

/// Goes through new states of one side: adds up their weights, lists those with an exit, and
/// returns the number of their moves.
#[inline(always)]
fn survey<S: Tabled>(
    class: &ClassTable<S>,
    tables: &Tables<S>,
    states: &[Local],
    weights: &[[u64; 4]],
    sums: &mut DigestSums,
    border: &mut Vec<Local>,
) -> u64 {
    let mut degrees = 0;
    // Most states have no exit: writing every state and keeping some makes a loop without
    // branches that cannot be predicted.
    let mut kept = border.len();
    border.resize(kept + states.len(), 0);
    for local in states {
        let index = (local >> 1) as usize;
        let open = class.open(index, tables);
        degrees += open.degree();
        sums.add(&weights[index]);
        border[kept] = *local;
        kept += usize::from(open.exits() != 0);
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
fn expand<S: Tabled, const N: usize, const W: usize, const T: usize>(
    class: &ClassTable<S>,
    tables: &Tables<S>,
    inputs: Inputs<'_>,
    side: u32,
    marks: &mut Marks<N, W, T>,
    next: &mut Vec<Local>,
) {
    marks.begin(usize::from(S::DOORS) * inputs.current.len() + inputs.inbox.len());
    marks.exclude(inputs.previous);
    marks.exclude(inputs.current);
    let mut count = 0;
    for local in inputs.inbox {
        count = marks.offer(count, local >> 1);
    }
    for local in inputs.current {
        class.for_inside((local >> 1) as usize, tables, |i| count = marks.offer(count, i));
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
    fn add(&mut self, weights: &[u64; 4]) {
        for (i, weight) in weights.iter().enumerate() {
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
    class: &ClassTable<S>,
    space: &S,
    locals: &Locals,
    states: &[Local],
    region: &SideWeights,
) -> Weight {
    let fixed = states.iter().filter(|local| class.is_fixed((**local >> 1) as usize, space));
    let images = fixed.map(|local| {
        let side = (local & 1) as usize;
        let [_, _, a, b] = locals.weights[side][(local >> 1) as usize];
        -(region[side][1] * Weight([a, b]))
    });
    images.sum()
}
