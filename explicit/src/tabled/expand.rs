//! Expansion of one region by table look-ups, with deduplication in bit sets.

use strata_space::{Local, Tabled};

use super::marks::{AnyMarks, Marks};
use super::summary::for_each_kind;
use crate::kernel::Decoded;

/// Appends `(inside successors of current ∪ inbox) − current − previous` to `next`.
///
/// All states must have one `side`, and no symmetry may fix the region.
#[inline]
pub(super) fn expand_side<S: Tabled>(
    space: &S,
    class: &S::Class,
    inputs: Decoded<'_>,
    side: u32,
    marks: &mut AnyMarks,
    next: &mut Vec<Local>,
) {
    match marks {
        AnyMarks::Narrow(marks) => expand(space, class, inputs, side, marks, next),
        AnyMarks::Wide(marks) => expand(space, class, inputs, side, marks, next),
    }
}

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
        marks.add_candidate(local >> 1);
    }
    for local in inputs.current {
        let index = local >> 1;
        let inside = space.inside_successors(class, index);
        if inside.more {
            for_each_kind(space.legal_moves(class, index).inside, |kind| {
                marks.add_candidate(space.neighbour(index, kind));
            });
        } else {
            // Unused places hold the state itself, which is excluded.
            for next in inside.first {
                marks.add_candidate(next);
            }
        }
    }
    marks.drain(side, next);
}
