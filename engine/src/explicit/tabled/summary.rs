//! Successor summary: moves, weights and exits of a region's new states.

use strata_space::{Local, LocalWeights, MAX_MOVE_KINDS, MoveKind, Tabled, Weight};
use strata_store::{List, Word};

use super::expansion::{ExitCount, Expansion};
use crate::explicit::kernel::Batches;

/// Moves, weights and exits of a region's new states, with the memory to compute them.
#[derive(Default)]
pub(super) struct SuccessorSummary {
    generated: u32,
    /// Sums of local weights, by side and image.
    weight_sums: [[Weight; 2]; 2],
    /// States that have an exit.
    with_exits: Vec<Local>,
    /// States that have an exit, by exit edge.
    by_edge: Vec<Vec<Local>>,
    exits: Vec<ExitCount>,
    exit_locals: Vec<Local>,
    /// For each local, a mask of the move kinds that lead back to the states from which it was reached.
    /// All zero between regions.
    arrived: Vec<u8>,
}

impl SuccessorSummary {
    /// An empty summary for a space.
    pub(super) fn new<S: Tabled>(space: &S) -> SuccessorSummary {
        SuccessorSummary {
            by_edge: vec![Vec::new(); space.exit_edges().into()],
            arrived: vec![0; 2 * space.indices() as usize],
            ..SuccessorSummary::default()
        }
    }

    /// Summarises the new states of a region. For the states of an `inbox` batch, exits by the inverse
    /// edge of the batch are left out.
    pub(super) fn summarise<S: Tabled>(
        &mut self,
        space: &S,
        class: &S::Class,
        states: &[Local],
        inbox: &Batches,
    ) {
        self.with_exits.clear();
        self.generated = 0;
        self.weight_sums = Default::default();
        // In most regions all states have one side.
        for run in states.chunk_by(|a, b| (a ^ b) & 1 == 0) {
            let side = (run[0] & 1) as usize;
            let (sums, exits) = (&mut self.weight_sums[side], &mut self.with_exits);
            self.generated += match space.local_weights(side) {
                LocalWeights::One(weights) => scan(space, class, run, weights, sums, exits),
                LocalWeights::Two(weights) => scan(space, class, run, weights, sums, exits),
            };
        }
        self.exits.clear();
        self.exit_locals.clear();
        if self.with_exits.is_empty() {
            return;
        }
        // The inverse edge of an arrival leads to states of the layer before.
        for (inverse, batch) in inbox.iter() {
            if let Some(inverse) = inverse {
                let mask = 1 << space.exit_kind(inverse);
                Word::locals(batch).iter().for_each(|local| self.arrived[*local as usize] |= mask);
            }
        }
        for local in &self.with_exits {
            let index = local >> 1;
            let exits = space.legal_moves(class, index).exits & !self.arrived[*local as usize];
            for_each_kind(exits, |kind| {
                self.by_edge[usize::from(space.exit_edge(index, kind))].push(*local);
            });
        }
        inbox.narrow().iter().for_each(|local| self.arrived[*local as usize] = 0);
        for (edge, leaving) in (0..).zip(&mut self.by_edge) {
            if !leaving.is_empty() {
                self.exits.push(ExitCount { edge, count: leaving.len() as u32 });
                self.exit_locals.append(leaving);
            }
        }
    }

    /// The expansion with these new states.
    pub(super) fn expansion<'a>(&'a self, next: List<'a>) -> Expansion<'a> {
        let SuccessorSummary { generated, weight_sums, ref exits, ref exit_locals, .. } = *self;
        Expansion { next, generated, weight_sums, exits, exit_locals }
    }
}

/// Calls `visit` for every move kind of a mask.
#[inline(always)]
pub(super) fn for_each_kind(mut mask: u8, mut visit: impl FnMut(MoveKind)) {
    while mask != 0 {
        visit(mask.trailing_zeros() as MoveKind);
        mask &= mask - 1;
    }
}

/// Population count by mask: the baseline instruction set has no instruction for it.
const BIT_COUNT: [u8; 1 << MAX_MOVE_KINDS] = {
    let mut count = [0; 1 << MAX_MOVE_KINDS];
    let mut mask = 0;
    while mask < count.len() {
        count[mask] = (mask as u32).count_ones() as u8;
        mask += 1;
    }
    count
};

/// Adds up the weights of new states of one side, and appends the states that have an exit to
/// `with_exits`. Returns the number of legal moves.
#[inline(always)]
fn scan<S: Tabled, const IMAGES: usize>(
    space: &S,
    class: &S::Class,
    states: &[Local],
    weights: &[[Weight; IMAGES]],
    weight_sums: &mut [Weight; 2],
    with_exits: &mut Vec<Local>,
) -> u32 {
    let mut sums = DigestSums::<IMAGES>::new();
    let count = |mask: u8| u32::from(BIT_COUNT[usize::from(mask & (BIT_COUNT.len() - 1) as u8)]);
    let mut moves = 0;
    // Few states have an exit, and a branch would be hard to predict. So every state is written, and the
    // position advances only past those to keep.
    let mut kept = with_exits.len();
    with_exits.resize(kept + states.len(), 0);
    for local in states {
        let index = local >> 1;
        let legal = space.legal_moves(class, index);
        moves += count(legal.inside) + count(legal.exits);
        sums.add(&weights[index as usize]);
        with_exits[kept] = *local;
        kept += usize::from(legal.exits != 0);
    }
    with_exits.truncate(kept);
    weight_sums.iter_mut().zip(sums.total()).for_each(|(sum, more)| *sum += more);
    moves
}

/// Sums of weights by image. Halves of 32 bits are summed separately, which cannot overflow.
struct DigestSums<const IMAGES: usize> {
    low: [[u64; 2]; IMAGES],
    high: [[u64; 2]; IMAGES],
}

impl<const IMAGES: usize> DigestSums<IMAGES> {
    fn new() -> DigestSums<IMAGES> {
        DigestSums { low: [[0; 2]; IMAGES], high: [[0; 2]; IMAGES] }
    }

    #[inline(always)]
    fn add(&mut self, images: &[Weight; IMAGES]) {
        for (i, Weight(words)) in images.iter().enumerate() {
            for (j, word) in words.iter().enumerate() {
                self.low[i][j] += word & 0xffff_ffff;
                self.high[i][j] += word >> 32;
            }
        }
    }

    /// The sums, by image.
    fn total(&self) -> [Weight; IMAGES] {
        let sum = |low: u64, high: u64| u128::from(low) + (u128::from(high) << 32);
        std::array::from_fn(|i| {
            let ([a, b], [c, d]) = (self.low[i], self.high[i]);
            Weight::reduce([sum(a, c), sum(b, d)])
        })
    }
}
