//! Meeting test: whether the image of a layer under the exchange meets the layer, or the layer before.

use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::index::space::SpaceIndex;
use crate::symbolic::node::reference::Ref;

/// Whether the image of a set under the exchange meets another set.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Meeting {
    /// The image contains a current state of the other set: the searches from both ends meet after an even
    /// number of moves.
    pub(crate) even: bool,
    /// The image contains a previous state of the other set: they meet after an odd number of moves.
    pub(crate) odd: bool,
}

impl Meeting {
    fn is_complete(self) -> bool {
        self.even && self.odd
    }
}

/// Whether the image of a layer meets the layer, or the layer before.
pub(crate) fn meets_itself<S: NestedSpace>(diagram: &Diagram<S>, top: Ref) -> Meeting {
    meets(diagram, diagram.index.top_level(), top, top)
}

/// Whether the image of `a` meets `b`. Both are sets of one level.
pub(crate) fn meets<S: NestedSpace>(diagram: &Diagram<S>, level: u8, a: Ref, b: Ref) -> Meeting {
    meet(diagram, level, a, b, &mut FxHashMap::default())
}

/// As [`meets`], with the pairs of sets compared so far.
fn meet<S: NestedSpace>(
    diagram: &Diagram<S>,
    level: u8,
    a: Ref,
    b: Ref,
    known: &mut FxHashMap<(Ref, Ref), Meeting>,
) -> Meeting {
    if diagram.node(a).has_no_states() || b == Ref::EMPTY {
        return Meeting::default();
    }
    // The exchange commutes with the flip.
    let (a, b) = if a.is_flipped() { (a.flip(), b.flip()) } else { (a, b) };
    if let Some(meeting) = known.get(&(a, b)) {
        return *meeting;
    }
    let index: &SpaceIndex<S> = &diagram.index;
    let mut meeting = Meeting::default();
    if level == index.leaf_level() {
        let image = index.leaves().exchange(diagram.leaf(a).current);
        let other = diagram.leaf(b);
        meeting = Meeting { even: image & other.current != 0, odd: image & other.previous != 0 };
    } else {
        for child in diagram.stored_children(a.id()) {
            let image = index.config(level, child.config).exchange;
            if let Some(other) = diagram.child_of(level, b, image) {
                let found = meet(diagram, level - 1, child.set, other, known);
                meeting.even |= found.even;
                meeting.odd |= found.odd;
                if meeting.is_complete() {
                    break;
                }
            }
        }
    }
    known.insert((a, b), meeting);
    meeting
}
