//! Whether a layer meets its own image under the exchange.

use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::diagram::arena::Diagram;
use crate::index::space::Levels;
use crate::node::reference::Ref;

/// Which images of current states are in the other set.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Meeting {
    /// Among the current states: an even number of moves.
    pub(crate) even: bool,
    /// Among those before: an odd number.
    pub(crate) odd: bool,
}

impl Meeting {
    fn is_complete(self) -> bool {
        self.even && self.odd
    }
}

/// Whether the layer of a top node meets its own image.
pub(crate) fn meets_itself<S: NestedSpace>(diagram: &Diagram<S>, top: Ref) -> Meeting {
    meets(diagram, diagram.levels.top(), top, top)
}

/// Where the image of one set of a level meets another.
pub(crate) fn meets<S: NestedSpace>(diagram: &Diagram<S>, level: u8, a: Ref, b: Ref) -> Meeting {
    meet(diagram, level, a, b, &mut FxHashMap::default())
}

/// Where the image of `a` meets `b`.
fn meet<S: NestedSpace>(
    diagram: &Diagram<S>,
    level: u8,
    a: Ref,
    b: Ref,
    known: &mut FxHashMap<(Ref, Ref), Meeting>,
) -> Meeting {
    if diagram.node(a).is_hollow() || b == Ref::EMPTY {
        return Meeting::default();
    }
    // The exchange commutes with the flip.
    let (a, b) = if a.is_flipped() { (a.flip(), b.flip()) } else { (a, b) };
    if let Some(meeting) = known.get(&(a, b)) {
        return *meeting;
    }
    let levels: &Levels<S> = &diagram.levels;
    let mut meeting = Meeting::default();
    if level == levels.leaf() {
        let image = levels.leaves().exchange(diagram.leaf(a).current);
        let other = diagram.leaf(b);
        meeting = Meeting { even: image & other.current != 0, odd: image & other.previous != 0 };
    } else {
        for entry in diagram.stored(a.id()) {
            let image = levels.config(level, entry.config).exchange;
            if let Some(other) = diagram.below(level, b, image) {
                let found = meet(diagram, level - 1, entry.below, other, known);
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
