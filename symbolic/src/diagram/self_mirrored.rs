//! Self-mirrored.

use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::diagram::arena::Diagram;
use crate::index::bits::bits;
use crate::node::reference::Ref;

/// Current states of a top node that are their own flips, and their moves.
pub(crate) fn fixed<S: NestedSpace>(diagram: &Diagram<S>, top: Ref) -> (u64, u64) {
    fixed_below(diagram, diagram.levels.top(), top, &mut FxHashMap::default())
}

fn fixed_below<S: NestedSpace>(
    diagram: &Diagram<S>,
    level: u8,
    set: Ref,
    known: &mut FxHashMap<usize, (u64, u64)>,
) -> (u64, u64) {
    let id = set.id();
    if let Some(sums) = known.get(&id) {
        return *sums;
    }
    // A set and its flip have the same fixed states.
    let stored = Ref::new(id as u32, false, false);
    let mut sums = (0, 0);
    if level == diagram.levels.leaf() {
        let class = diagram.node(stored).class();
        let states = bits(diagram.leaf(stored).current);
        for leaf in states.filter(|leaf| diagram.levels.leaves().is_fixed(*leaf)) {
            sums = (sums.0 + 1, sums.1 + diagram.levels.degree(class, leaf));
        }
    } else {
        for entry in diagram.stored(id) {
            if diagram.levels.config(level, entry.config).flip == entry.config {
                let (states, moves) = fixed_below(diagram, level - 1, entry.below, known);
                sums = (sums.0 + states, sums.1 + moves);
            }
        }
    }
    known.insert(id, sums);
    sums
}
