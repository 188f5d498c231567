//! Successor summary: moves, weights and exits of a region's new states.

use strata_space::{ExitEdge, Local, MAX_MOVE_KINDS, MoveKind, Tabled, Weight};
use strata_store::List;

use super::expansion::{ExitCount, Expansion};
use crate::kernel::Batches;

/// Moves, weights and exits of a region's new states, with the memory to compute them.
#[derive(Default)]
pub(super) struct SuccessorSummary {
    generated: u32,
    /// By side and image.
    weight_sums: [[Weight; 2]; 2],
    /// States with an exit.
    with_exits: Vec<Local>,
    /// States with an exit, by exit edge.
    by_edge: Vec<Vec<Local>>,
    exits: Vec<ExitCount>,
    exit_locals: Vec<Local>,
    /// By local: the number of the last inbox batch that contained it.
    arrived: Vec<u8>,
    /// Number of the last inbox batch.
    batch: u8,
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

    /// Summarises the new states of a region. Exits along the inverse edge of an `inbox` batch are
    /// left out for the states of that batch.
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
            let mut weight_sums = DigestSums::default();
            let weights = space.local_weights(side);
            self.generated +=
                scan(space, class, run, weights, &mut weight_sums, &mut self.with_exits);
            for (sum, more) in self.weight_sums[side].iter_mut().zip(weight_sums.total()) {
                *sum += more;
            }
        }
        for local in &self.with_exits {
            let index = local >> 1;
            for_each_kind(space.legal_moves(class, index).exits, |kind| {
                self.by_edge[usize::from(space.exit_edge(index, kind))].push(*local);
            });
        }
        self.exits.clear();
        self.exit_locals.clear();
        if self.with_exits.is_empty() {
            return;
        }
        inbox.iter().for_each(|(inverse, batch)| self.skip_inverse(inverse, batch));
        for (edge, leaving) in (0..).zip(&mut self.by_edge) {
            if !leaving.is_empty() {
                self.exits.push(ExitCount { edge, count: leaving.len() as u32 });
                self.exit_locals.append(leaving);
            }
        }
    }

    /// Removes the states of an inbox batch from its inverse edge: behind it are states of the
    /// layer before.
    fn skip_inverse(&mut self, inverse: Option<ExitEdge>, batch: &[Local]) {
        let leaving = inverse.and_then(|inverse| self.by_edge.get_mut(usize::from(inverse)));
        let Some(leaving) = leaving.filter(|leaving| !leaving.is_empty()) else { return };
        if self.batch == u8::MAX {
            self.arrived.fill(0);
            self.batch = 0;
        }
        self.batch += 1;
        for local in batch {
            self.arrived[*local as usize] = self.batch;
        }
        leaving.retain(|local| self.arrived[*local as usize] != self.batch);
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

/// Adds up the weights of new states of one side, appends those with an exit to `with_exits`, and
/// returns the number of legal moves.
#[inline(always)]
fn scan<S: Tabled>(
    space: &S,
    class: &S::Class,
    states: &[Local],
    weights: &[[Weight; 2]],
    weight_sums: &mut DigestSums,
    with_exits: &mut Vec<Local>,
) -> u32 {
    let count = |mask: u8| u32::from(BIT_COUNT[usize::from(mask & (BIT_COUNT.len() - 1) as u8)]);
    let mut moves = 0;
    // Few states have an exit, and the branch is hard to predict. Writing every state and advancing
    // only past those to keep needs no branch.
    let mut kept = with_exits.len();
    with_exits.resize(kept + states.len(), 0);
    for local in states {
        let index = local >> 1;
        let legal = space.legal_moves(class, index);
        moves += count(legal.inside) + count(legal.exits);
        weight_sums.add(&weights[index as usize]);
        with_exits[kept] = *local;
        kept += usize::from(legal.exits != 0);
    }
    with_exits.truncate(kept);
    moves
}

/// Sums of weights in halves of 32 bits, which cannot overflow.
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

    /// The sums, by image.
    fn total(&self) -> [Weight; 2] {
        let sum = |i: usize| u128::from(self.low[i]) + (u128::from(self.high[i]) << 32);
        [0, 1].map(|i| Weight::reduce([sum(2 * i), sum(2 * i + 1)]))
    }
}
