//! Count of self-mirrored states: states that equal their flip.

use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::index::bits::bits;
use crate::symbolic::node::reference::Ref;

/// Number of self-mirrored states, and number of their legal moves.
#[derive(Copy, Clone, Default)]
pub(crate) struct SelfMirrored {
    pub(crate) states: u64,
    pub(crate) moves: u64,
}

/// Counts the self-mirrored current states of a layer.
pub(crate) fn count_self_mirrored<S: NestedSpace>(diagram: &Diagram<S>, top: Ref) -> SelfMirrored {
    count_below(diagram, diagram.index.top_level(), top, &mut FxHashMap::default())
}

fn count_below<S: NestedSpace>(
    diagram: &Diagram<S>,
    level: u8,
    set: Ref,
    known: &mut FxHashMap<usize, SelfMirrored>,
) -> SelfMirrored {
    let id = set.id();
    if let Some(sums) = known.get(&id) {
        return *sums;
    }
    // A set and its flip have the same self-mirrored states.
    let stored = Ref::new(id as u32, false, false);
    let mut sums = SelfMirrored::default();
    if level == diagram.index.leaf_level() {
        let class = diagram.node(stored).class();
        let states = bits(diagram.leaf(stored).current);
        for leaf in states.filter(|leaf| diagram.index.leaves().is_self_mirrored(*leaf)) {
            sums.states += 1;
            sums.moves += diagram.index.degree(class, leaf);
        }
    } else {
        for child in diagram.stored_children(id) {
            if diagram.index.config(level, child.config).flip == child.config {
                let below = count_below(diagram, level - 1, child.set, known);
                sums.states += below.states;
                sums.moves += below.moves;
            }
        }
    }
    known.insert(id, sums);
    sums
}
