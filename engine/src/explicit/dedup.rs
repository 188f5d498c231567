//! Deduplication of one region by sorting.

use strata_space::{LayerStats, Local};
use strata_store::LocalWord;

use crate::explicit::kernel::Decoded;

/// Reduces inside successors, given in `next`, to the new states: adds the inbox, sorts, and removes
/// repetitions and states of the current and the previous layer. Records in `stats` whether the searches
/// from both ends have met.
pub(crate) fn keep_new(inputs: Decoded<'_>, next: &mut Vec<Local>, stats: &mut LayerStats) {
    next.extend_from_slice(inputs.inbox.narrow());
    next.sort_unstable();
    next.dedup();
    subtract(next, inputs.current);
    subtract(next, inputs.previous);
    find_meetings(next, inputs.current, stats);
}

/// Records in `stats` whether the searches from both ends have met in a region. `next` has its new states
/// and `current` its states of the current layer, both sorted.
pub(crate) fn find_meetings<L: LocalWord>(next: &[L], current: &[L], stats: &mut LayerStats) {
    let side = |local: &L| (*local).into() as u32 & 1;
    let first = next.first().map_or(0, side);
    let are_of_first = |locals: &[L]| locals.iter().all(|local| side(local) == first);
    if are_of_first(next) && are_of_first(current) {
        return;
    }
    let other_side = |local: &L| L::truncate((*local).into() ^ 1);
    stats.even |= next.windows(2).any(|pair| other_side(&pair[0]) == pair[1]);
    stats.odd |= next.iter().any(|local| current.binary_search(&other_side(local)).is_ok());
}

/// Removes the elements of the sorted list `what` from the sorted list `from`.
pub(crate) fn subtract<L: LocalWord>(from: &mut Vec<L>, what: &[L]) {
    let mut rest = what.iter().peekable();
    from.retain(|local| {
        while rest.next_if(|other| *other < local).is_some() {}
        rest.peek() != Some(&local)
    });
}

/// Removes repetitions, and the elements of the sorted lists `one` and `other`, from the sorted list
/// `from`.
pub(crate) fn subtract_both<L: LocalWord>(from: &mut Vec<L>, one: &[L], other: &[L]) {
    let (mut i, mut j, mut kept) = (0, 0, 0);
    let mut last = None;
    for at in 0..from.len() {
        let local = from[at];
        while one.get(i).is_some_and(|known| *known < local) {
            i += 1;
        }
        while other.get(j).is_some_and(|known| *known < local) {
            j += 1;
        }
        // Whether a local is kept is hard to predict. So every local is written, and the position advances
        // only past those to keep, which needs no branch.
        let is_known = (one.get(i) == Some(&local)) | (other.get(j) == Some(&local));
        from[kept] = local;
        kept += usize::from(!is_known & (last != Some(local)));
        last = Some(local);
    }
    from.truncate(kept);
}
