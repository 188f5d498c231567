//! What is to be known of a region's new states: their moves, their weights and who leaves.

use strata_space::{ExitEdge, Local, MAX_MOVE_KINDS, MoveKind, Tabled, Weight};
use strata_store::List;

use super::step::{Leave, Step};
use crate::kernel::Batches;

/// What is to be known of a region's new states.
#[derive(Default)]
pub(super) struct Survey {
    generated: u32,
    /// By side and image.
    sums: [[Weight; 2]; 2],
    /// States with an exit.
    border: Vec<Local>,
    /// Those that leave, by gate.
    by_gate: Vec<Vec<Local>>,
    leaves: Vec<Leave>,
    leaving: Vec<Local>,
    /// By local: the last batch with it, by number.
    arrived: Vec<u8>,
    batch: u8,
}

impl Survey {
    /// For a space.
    pub(super) fn new<S: Tabled>(space: &S) -> Survey {
        Survey {
            by_gate: vec![Vec::new(); space.exit_edges().into()],
            arrived: vec![0; 2 * space.indices() as usize],
            ..Survey::default()
        }
    }

    /// Goes through a region's new states, some of which may have come in by the inbox.
    pub(super) fn take<S: Tabled>(
        &mut self,
        space: &S,
        class: &S::Class,
        states: &[Local],
        inbox: &Batches,
    ) {
        self.border.clear();
        self.generated = 0;
        self.sums = Default::default();
        // Mostly there is but one run, of one side.
        for run in states.chunk_by(|a, b| (a ^ b) & 1 == 0) {
            let side = (run[0] & 1) as usize;
            let mut sums = DigestSums::default();
            let weights = space.local_weights(side);
            self.generated += survey(space, class, run, weights, &mut sums, &mut self.border);
            for (sum, more) in self.sums[side].iter_mut().zip(sums.total()) {
                *sum += more;
            }
        }
        for local in &self.border {
            let index = local >> 1;
            for_open(space.legal_moves(class, index).exits, |door| {
                self.by_gate[usize::from(space.exit_edge(index, door))].push(*local);
            });
        }
        self.leaves.clear();
        self.leaving.clear();
        if self.border.is_empty() {
            return;
        }
        inbox.iter().for_each(|(back, batch)| self.stay(back, batch));
        for (gate, leaving) in (0..).zip(&mut self.by_gate) {
            if !leaving.is_empty() {
                self.leaves.push(Leave { gate, count: leaving.len() as u32 });
                self.leaving.append(leaving);
            }
        }
    }

    /// Those that came in a batch need not leave by the gate that leads back: behind it are states of
    /// the layer before, and they are known there.
    fn stay(&mut self, back: Option<ExitEdge>, batch: &[Local]) {
        let leaving = back.and_then(|back| self.by_gate.get_mut(usize::from(back)));
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

    /// The step that made them.
    pub(super) fn step<'a>(&'a self, next: List<'a>) -> Step<'a> {
        let Survey { generated, sums, ref leaves, ref leaving, .. } = *self;
        Step { next, generated, sums, leaves, leaving }
    }
}

/// Calls `visit` for every door of a set.
#[inline(always)]
pub(super) fn for_open(mut doors: u8, mut visit: impl FnMut(MoveKind)) {
    while doors != 0 {
        visit(doors.trailing_zeros() as MoveKind);
        doors &= doors - 1;
    }
}

/// Number of bits of every mask of doors: the baseline instruction set has no instruction for it.
const COUNT: [u8; 1 << MAX_MOVE_KINDS] = {
    let mut count = [0; 1 << MAX_MOVE_KINDS];
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
) -> u32 {
    let count = |mask: u8| u32::from(COUNT[usize::from(mask & (COUNT.len() - 1) as u8)]);
    let mut degrees = 0;
    // Most states have no exit: writing every state and keeping some makes a loop without
    // branches that cannot be predicted.
    let mut kept = border.len();
    border.resize(kept + states.len(), 0);
    for local in states {
        let index = local >> 1;
        let open = space.legal_moves(class, index);
        degrees += count(open.inside) + count(open.exits);
        sums.add(&weights[index as usize]);
        border[kept] = *local;
        kept += usize::from(open.exits != 0);
    }
    border.truncate(kept);
    degrees
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

    /// The sums, by image.
    fn total(&self) -> [Weight; 2] {
        let sum = |i: usize| u128::from(self.low[i]) + (u128::from(self.high[i]) << 32);
        [0, 1].map(|i| Weight::reduce([sum(2 * i), sum(2 * i + 1)]))
    }
}
