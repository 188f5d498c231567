//! States as engines store them, and how a search over them ends.

/// The arrangement that a region stands for, packed into an integer that orders regions in files.
/// `u128::MAX` is reserved: no region has this key. The engine refuses a state that has it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionKey(pub u128);

/// The local part of a state and its side, `2 * index + side`, in a space where 32 bits suffice. They
/// suffice in all spaces with tables.
///
/// The index is a pure function of the state, never of the order of discovery: it is written to
/// files and sent between workers. The side says from which end the state was reached: 0 for the
/// start, 1 for the goal, possibly as the image of a state reached from the start. Both sides of an
/// index are adjacent in a sorted list, so a merge detects a meeting.
pub type Local = u32;

/// A state as engines store it.
///
/// ```
/// use strata_space::{RegionKey, State};
///
/// let (index, side) = (5, 1);
/// let state = State { region: RegionKey(3), local: 2 * index + side };
/// assert_eq!((state.local / 2, state.local % 2), (index, side));
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// Canonical region.
    pub region: RegionKey,
    /// Canonical local part and side: `2 * index + side`, as in [`Local`]. At most
    /// [`StateSpace::local_bits`](crate::StateSpace::local_bits) bits.
    pub local: u128,
}

impl State {
    /// A state with a local of 32 bits.
    #[inline]
    pub fn new(region: RegionKey, local: Local) -> State {
        State { region, local: local.into() }
    }

    /// The local of a state whose local has 32 bits.
    #[inline]
    pub fn narrow(self) -> Local {
        debug_assert!(self.local <= u128::from(Local::MAX), "{self:?}");
        self.local as Local
    }

    /// The end from which the state was reached: 0 for the start, 1 for the goal.
    #[inline]
    pub fn side(self) -> u32 {
        self.local as u32 & 1
    }
}

/// How a search ends.
///
/// `S` is the type of a state. `Finish<()>` is the rule alone, for code that does not depend on
/// which state is sought; see [`Finish::rule`].
///
/// ```
/// use strata_space::Finish;
///
/// let finish = Finish::State("solved");
/// assert_eq!(finish.goal(), Some(&"solved"));
/// assert_eq!(finish.rule(), Finish::State(()));
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Finish<S = State> {
    /// Two searches meet. If layer d+1 has one side of an index and layer d has the other, the distance
    /// is 2d+1. If layer d+1 has both sides of an index, the distance is 2(d+1).
    Meeting,
    /// A layer contains this state. Its depth is the distance.
    State(S),
    /// A layer is empty: all reachable states are listed. The last depth is the radius.
    Exhausted,
}

impl<S> Finish<S> {
    /// The rule without its state.
    pub fn rule(&self) -> Finish<()> {
        match self {
            Finish::Meeting => Finish::Meeting,
            Finish::State(_) => Finish::State(()),
            Finish::Exhausted => Finish::Exhausted,
        }
    }

    /// The state at which the search ends, if the rule is [`Finish::State`].
    pub fn goal(&self) -> Option<&S> {
        match self {
            Finish::State(goal) => Some(goal),
            Finish::Meeting | Finish::Exhausted => None,
        }
    }
}

/// A shortest path as a search finds it: stored states, each a neighbour of the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// From the start to the state where two searches met, or to the goal.
    pub from_start: Vec<State>,
    /// From the goal to the state where two searches met. Empty for a search from the start only.
    pub from_goal: Vec<State>,
}
