//! Expansion of one region by table look-ups, with deduplication in bit sets.

use strata_space::{Local, Tabled};

use super::marks::{AnyMarks, Candidates, Marks};
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
    marks.exclude(inputs.current);
    let links = space.links(class).filter(|links| pays(links, inputs.current));
    if let Some(links) = links {
        marks.add_linked(links);
    }
    marks.exclude(inputs.previous);
    let mut candidates = marks.candidates();
    for local in inputs.inbox.locals() {
        candidates.add(local >> 1);
    }
    if links.is_some() {
        for local in inputs.current {
            let [_, _, third, fourth] = space.inside_successors(class, local >> 1).first;
            candidates.add(third);
            candidates.add(fourth);
        }
    } else {
        inputs.current.iter().for_each(|local| add_inside(space, class, *local, &mut candidates));
    }
    marks.drain(side, next);
}

/// Whether a region has so many states that a pass over all links takes less time than a step for
/// each state: a word takes a third of the time of a state's two steps.
#[inline(always)]
fn pays(links: &[u64], states: &[Local]) -> bool {
    links.len() / 3 < states.len()
}

/// Adds all inside successors of a state.
#[inline(always)]
fn add_inside<S: Tabled, const W: usize>(
    space: &S,
    class: &S::Class,
    local: Local,
    candidates: &mut Candidates<'_, W>,
) {
    let index = local >> 1;
    let inside = space.inside_successors(class, index);
    if inside.more {
        for_each_kind(space.legal_moves(class, index).inside, |kind| {
            candidates.add(space.neighbour(index, kind));
        });
    } else {
        // Unused places hold the state itself, which is excluded.
        inside.first.into_iter().for_each(|next| candidates.add(next));
    }
}
