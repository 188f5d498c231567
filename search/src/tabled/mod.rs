//! The kernel for tabled spaces: expansion is table look-ups, deduplication is bits.

mod regions;
mod tables;

use std::sync::Arc;

use strata_space::{Door, Local, MAX_DOORS, RegionKey, SideWeights, Tabled, Weight};
use strata_store::EntryKey;

use crate::Result;
use crate::kernel::{ExitSink, Inputs, Kernel, Tally};
use regions::Regions;
pub(crate) use tables::Tables;
use tables::{ClassTable, Locals, Rows};

/// Locals of tables with 16-bit entries are below this.
const NARROW: usize = (1 << 16) - 1;

/// Words of a bit set with a bit for each 16-bit local.
const NARROW_WORDS: usize = (1 << 16) / 64;

/// Words of the bit set that are looked at together.
const STRIDE: usize = 8;

/// One bit of each index's two sides: with this mask, `w & (w >> 1)` finds both sides present.
const EVEN_BITS: u64 = 0x5555_5555_5555_5555;

/// See the module.
pub(crate) struct TabledKernel<S: Tabled> {
    tables: Arc<Tables<S>>,
    regions: Regions<S>,
    /// The region's new states as bits, all zero between regions.
    bits: Bits,
    /// New states with an exit.
    border: Vec<Local>,
    /// New states that leave, by door.
    leaving: [Vec<Local>; MAX_DOORS as usize],
    batch: Vec<Local>,
}

enum Bits {
    /// Indices of 16 bits need no bounds checks here.
    Narrow(Box<[u64; NARROW_WORDS]>),
    Wide(Box<[u64]>),
}

impl<S: Tabled> TabledKernel<S> {
    /// A kernel with a region cache of at most `cache_bytes`.
    pub(crate) fn new(tables: Arc<Tables<S>>, cache_bytes: usize) -> TabledKernel<S> {
        let bits = match tables.locals.rows {
            Rows::Narrow(_) => Bits::Narrow(Box::new([0; NARROW_WORDS])),
            Rows::Wide(_) => {
                let locals = 2 * tables.space.indices() as usize;
                Bits::Wide(vec![0; locals.div_ceil(64)].into_boxed_slice())
            }
        };
        TabledKernel {
            regions: Regions::new(tables.clone(), cache_bytes),
            tables,
            bits,
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
        let space = &*self.tables.space;
        let (odd, even) = match (&mut self.bits, &self.tables.locals.rows) {
            (Bits::Narrow(bits), Rows::Narrow(rows)) => {
                expand::<S, u16, _>(class, space, rows, inputs, &mut **bits, next)
            }
            (Bits::Wide(bits), Rows::Wide(rows)) => {
                expand::<S, u32, _>(class, space, rows, inputs, &mut **bits, next)
            }
            _ => unreachable!("bits and rows have the same width"),
        };
        tally.odd |= odd;
        tally.even |= even;
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
        let mut sums = DigestSums::default();
        // Most states have no exit: listing the others first keeps the loop free of branches
        // that cannot be predicted.
        self.border.clear();
        self.border.resize(states.len(), 0);
        let mut bordering = 0;
        for local in states {
            let index = (local >> 1) as usize;
            let open = class.open(index, space);
            tally.generated += open.degree();
            sums.add((local & 1) as usize, &locals.weights[index]);
            self.border[bordering] = *local;
            bordering += usize::from(open.exits() != 0);
        }
        tally.regions += 1;
        tally.states += states.len() as u64;
        tally.digest += sums.total(&region.weights);
        if class.folds() {
            tally.digest += twice_counted(class, space, locals, states, &region.weights);
        }
        let mut any = 0;
        for local in &self.border[..bordering] {
            let mut doors = class.open((local >> 1) as usize, space).exits();
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

/// A set of locals as bits.
trait BitSet {
    fn word(&mut self, local: Local) -> &mut u64;
    fn words(&mut self) -> &mut [u64];
}

impl BitSet for [u64; NARROW_WORDS] {
    #[inline(always)]
    fn word(&mut self, local: Local) -> &mut u64 {
        &mut self[usize::from(local as u16 >> 6)]
    }

    fn words(&mut self) -> &mut [u64] {
        self
    }
}

impl BitSet for [u64] {
    #[inline(always)]
    fn word(&mut self, local: Local) -> &mut u64 {
        &mut self[(local >> 6) as usize]
    }

    fn words(&mut self) -> &mut [u64] {
        self
    }
}

/// Lists `(inside successors of current ∪ inbox) − current − previous`; tells whether a current
/// state's other side is new, and whether both sides of an index are.
#[inline(always)]
fn expand<S: Tabled, T: Copy + Into<u32>, B: BitSet + ?Sized>(
    class: &ClassTable<S>,
    space: &S,
    rows: &[[T; 8]],
    inputs: Inputs<'_>,
    bits: &mut B,
    next: &mut Vec<Local>,
) -> (bool, bool) {
    for local in inputs.inbox {
        *bits.word(*local) |= 1 << (local & 63);
    }
    for local in inputs.current {
        let (index, side) = ((local >> 1) as usize, local & 1);
        let open = class.open(index, space).inside();
        let row = &rows[index];
        if class.folds() {
            for door in (0..S::DOORS).filter(|door| open >> door & 1 == 1) {
                let local = class.fold(row[usize::from(door)].into() ^ side, space);
                *bits.word(local) |= 1 << (local & 63);
            }
        } else {
            for door in 0..S::DOORS {
                // A closed door sets no bit: cheaper than asking whether it is open.
                let local = row[usize::from(door)].into() ^ side;
                *bits.word(local) |= u64::from(open >> door & 1) << (local & 63);
            }
        }
    }
    let mut met = 0;
    for local in inputs.current {
        let word = bits.word(*local);
        met |= *word >> ((local ^ 1) & 63) & 1;
        *word &= !(1 << (local & 63));
    }
    for local in inputs.previous {
        *bits.word(*local) &= !(1 << (local & 63));
    }
    (met != 0, sweep(bits.words(), next))
}

/// Lists the set bits in order and clears them; true if an index has both sides.
#[inline(always)]
fn sweep(bits: &mut [u64], next: &mut Vec<Local>) -> bool {
    let mut both = 0;
    for (at, chunk) in bits.chunks_mut(STRIDE).enumerate() {
        if chunk.iter().fold(0, |any, word| any | *word) == 0 {
            continue;
        }
        for (i, word) in chunk.iter_mut().enumerate() {
            let mut left = std::mem::take(word);
            both |= left & (left >> 1) & EVEN_BITS;
            let base = ((at * STRIDE + i) * 64) as Local;
            while left != 0 {
                next.push(base + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }
    both != 0
}

/// Plain sums of weights in halves of 32 bits, which cannot overflow.
#[derive(Default)]
struct DigestSums {
    low: [[u64; 4]; 2],
    high: [[u64; 4]; 2],
}

impl DigestSums {
    #[inline(always)]
    fn add(&mut self, side: usize, weights: &[[u64; 4]; 2]) {
        for i in 0..4 {
            self.low[side][i] += weights[side][i] & 0xffff_ffff;
            self.high[side][i] += weights[side][i] >> 32;
        }
    }

    /// The sum over sides and images of region weight times local sum.
    fn total(&self, region: &SideWeights) -> Weight {
        let mut total = Weight::ZERO;
        for side in 0..2 {
            for image in 0..2 {
                let sum = |prime: usize| {
                    let i = 2 * image + prime;
                    u128::from(self.low[side][i]) + (u128::from(self.high[side][i]) << 32)
                };
                total += region[side][image] * Weight::reduce([sum(0), sum(1)]);
            }
        }
        total
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
        let [_, _, a, b] = locals.weights[(local >> 1) as usize][side];
        -(region[side][1] * Weight([a, b]))
    });
    images.sum()
}
