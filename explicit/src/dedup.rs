//! Deduplication of one region by sorting.

use strata_space::{LayerStats, Local};

use crate::kernel::Decoded;

/// Reduces inside successors to the new states: adds the inbox, sorts, and removes repetitions and
/// states of the current and the previous layer. Records in `stats` whether two searches have met.
pub(crate) fn keep_new(inputs: Decoded<'_>, next: &mut Vec<Local>, stats: &mut LayerStats) {
    next.extend_from_slice(inputs.inbox.locals());
    next.sort_unstable();
    next.dedup();
    subtract(next, inputs.current);
    subtract(next, inputs.previous);
    find_meetings(next, inputs.current, stats);
}

/// Records in `stats` whether two searches have met in a region, of which `next` are the sorted new
/// states.
pub(crate) fn find_meetings(next: &[Local], current: &[Local], stats: &mut LayerStats) {
    stats.even |= next.windows(2).any(|pair| pair[0] ^ 1 == pair[1]);
    stats.odd |= next.iter().any(|local| current.binary_search(&(local ^ 1)).is_ok());
}

/// Removes the elements of one sorted list from another.
pub(crate) fn subtract(from: &mut Vec<Local>, what: &[Local]) {
    let mut rest = what.iter().peekable();
    from.retain(|local| {
        while rest.next_if(|other| *other < local).is_some() {}
        rest.peek() != Some(&local)
    });
}
