//! Expansion of one region by table look-ups, with deduplication in bit sets.

use strata_space::{Local, Tabled};

use super::marks::{AnyMarks, Candidates, Marks};
use super::summary::for_each_kind;
use crate::explicit::kernel::Decoded;

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
    for local in inputs.inbox.narrow() {
        candidates.add(local >> 1);
    }
    if links.is_some() {
        for local in inputs.current {
            let inside = space.inside_successors(class, local >> 1);
            if inside.more {
                // The state has more inside successors than `first` has places.
                add_inside(space, class, *local, &mut candidates);
                continue;
            }
            // The first two places are the linked indices.
            let [_, _, third, fourth] = inside.first;
            candidates.add(third);
            candidates.add(fourth);
        }
    } else {
        inputs.current.iter().for_each(|local| add_inside(space, class, *local, &mut candidates));
    }
    marks.drain(side, next);
}

/// Whether a pass over all words of `links` takes less time than two linked successors for each state: a
/// word takes a third of the time of a state.
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

#[cfg(test)]
mod tests {
    use strata_space::{
        EdgeTarget, ExitEdge, Finish, InsideSuccessors, LegalMoves, LocalWeights, MoveKind,
        RegionKey, State, StateSpace, Weight,
    };

    use super::*;
    use crate::explicit::kernel::Batches;

    const INDICES: u32 = 300;

    /// A ring whose neighbours are linked, with four more moves, so that each state has more inside
    /// successors than `InsideSuccessors::first` has places.
    struct Ring {
        links: Vec<u64>,
    }

    impl StateSpace for Ring {
        fn seeds(&self) -> Vec<State> {
            Vec::new()
        }
        fn finish(&self) -> Finish {
            Finish::Exhausted
        }
        fn moves(&self, _: State, _: &mut Vec<State>) {}
        fn shard_hash(&self, _: RegionKey) -> u64 {
            0
        }
        fn weight(&self, _: State) -> Weight {
            Weight::ZERO
        }
        fn text(&self, _: State) -> String {
            String::new()
        }
    }

    impl Tabled for Ring {
        const MOVE_KINDS: MoveKind = 6;
        type Class = ();

        fn indices(&self) -> u32 {
            INDICES
        }
        fn class(&self, _: RegionKey) {}
        fn legal_moves(&self, (): &(), _: u32) -> LegalMoves {
            LegalMoves { inside: 0b11_1111, exits: 0 }
        }
        fn inside_successors(&self, (): &(), _: u32) -> InsideSuccessors {
            InsideSuccessors { first: [0; 4], more: true }
        }
        fn links(&self, (): &()) -> Option<&[u64]> {
            Some(&self.links)
        }
        fn neighbour(&self, index: u32, kind: MoveKind) -> u32 {
            (index + [1, INDICES - 1, 10, 20, INDICES - 10, INDICES - 20][kind as usize]) % INDICES
        }
        fn exit_edges(&self) -> ExitEdge {
            0
        }
        fn transfer(&self, index: u32, _: ExitEdge, _: u8) -> Local {
            index << 1
        }
        fn needs_canonicalising(&self, (): &()) -> bool {
            false
        }
        fn canonicalise(&self, (): &(), local: Local) -> Local {
            local
        }
        fn is_fixed(&self, (): &(), _: u32) -> bool {
            false
        }
        fn edge_target(&self, region: RegionKey, _: ExitEdge) -> EdgeTarget {
            EdgeTarget { region, symmetry: 0 }
        }
        fn region_weights(&self, _: RegionKey) -> [[Weight; 2]; 2] {
            [[Weight::ZERO; 2]; 2]
        }
        fn local_weights(&self, _: usize) -> LocalWeights<'_> {
            LocalWeights::One(&[])
        }
        fn table_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn states_with_links_and_more_than_four_successors_keep_all_of_them() {
        let mut links = vec![0_u64; INDICES.div_ceil(64) as usize];
        (1..INDICES).for_each(|index| links[index as usize / 64] |= 1 << (index % 64));
        let ring = Ring { links };
        let current = [3, 64, 150, 299].map(|index| index << 1);
        assert!(pays(&ring.links, &current));
        let (mut marks, mut next) = (AnyMarks::new(INDICES), Vec::new());
        let inbox = Batches::default();
        let inputs = Decoded { current: &current, previous: &[0], inbox: &inbox };
        expand_side(&ring, &(), inputs, 0, &mut marks, &mut next);
        let ring = &ring;
        let behind = |local: &Local| {
            let index = *local >> 1;
            (0..6).map(move |kind| ring.neighbour(index, kind))
        };
        let all = current.iter().flat_map(behind);
        let mut expected: Vec<Local> = all.filter(|index| *index != 0).map(|i| i << 1).collect();
        expected.retain(|local| !current.contains(local));
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(next, expected);
    }
}
