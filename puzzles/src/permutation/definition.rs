//! Definitions of permutation puzzles: sets of pieces, the solved state and the moves.

use crate::group::{Element, Shape};

/// A set of slots whose pieces can exchange places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Its name in the file.
    pub name: String,
    /// Its first slot among all slots.
    pub offset: usize,
    /// Its number of slots.
    pub size: usize,
    /// Number of orientations of a piece.
    pub orientations: u8,
    /// The different pieces, by label. Pieces of one label look alike.
    pub kinds: Vec<Kind>,
}

/// Pieces that look alike.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The number of the pieces in the file.
    pub label: u16,
    /// The number of these pieces.
    pub count: usize,
    /// Number of orientations that look different: a divisor of the set's number, 1 where the file has `?`.
    pub orientations: u8,
}

/// An arrangement of the pieces, by slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The piece's kind, an index into [`Set::kinds`].
    pub kinds: Vec<u16>,
    /// The piece's turn, below the orientations of its kind.
    pub turns: Vec<u8>,
}

/// A move or rotation with its name in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedElement {
    /// The name.
    pub name: String,
    /// Its effect.
    pub element: Element,
}

/// A kind of piece that must not be in a slot.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// The slot among all slots.
    pub slot: usize,
    /// The kind, an index into [`Set::kinds`].
    pub kind: u16,
}

/// The format of a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.tws` of twsearch.
    Tws,
    /// `.def` of ksolve+.
    Ksolve,
    /// KPuzzle JSON of cubing.js.
    KPuzzle,
    /// A list of permutations.
    Generators,
}

/// A permutation puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name in the file, or `unnamed`.
    pub name: String,
    /// The format of the file.
    pub format: Format,
    /// The sets, in the order of the file.
    pub sets: Vec<Set>,
    /// All slots, set by set.
    pub shape: Shape,
    /// The solved state.
    pub solved: State,
    /// Moves as the file names them. Powers are not listed.
    pub moves: Vec<NamedElement>,
    /// Rotations of the whole puzzle, which are not moves.
    pub rotations: Vec<NamedElement>,
    /// Kinds of pieces that must not be in a slot.
    pub illegal: Vec<Illegal>,
    /// Parts of the file that have no effect here.
    pub notes: Vec<String>,
}

/// The pieces of a set in the solved state, by slot of the set.
pub(super) struct SolvedSet {
    pub(super) labels: Vec<u16>,
    pub(super) turns: Vec<u8>,
    /// Orientations that look different.
    pub(super) periods: Vec<u8>,
}

impl Set {
    /// The slots of the set among all slots.
    pub fn slots(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.size
    }

    /// The kind of a label.
    pub(super) fn kind_of(&self, label: u16) -> Option<u16> {
        self.kinds.iter().position(|kind| kind.label == label).map(|kind| kind as u16)
    }

    /// Sets the kinds from the solved state, and appends its part to the state.
    ///
    /// # Errors
    /// If pieces of one label have different periods.
    pub(super) fn solve(&mut self, solved: &SolvedSet, state: &mut State) -> Result<(), String> {
        self.kinds.clear();
        for label in solved.sorted_labels() {
            let slots: Vec<usize> =
                (0..solved.labels.len()).filter(|slot| solved.labels[*slot] == label).collect();
            let orientations = solved.periods[slots[0]];
            if slots.iter().any(|slot| solved.periods[*slot] != orientations) {
                return Err(format!(
                    "pieces {label} of {} look alike, so all or none of them must have '?'",
                    self.name
                ));
            }
            self.kinds.push(Kind { label, count: slots.len(), orientations });
        }
        for ((label, turn), period) in solved.labels.iter().zip(&solved.turns).zip(&solved.periods)
        {
            state.kinds.push(self.kind_of(*label).unwrap_or_default());
            state.turns.push(turn % period);
        }
        Ok(())
    }
}

impl SolvedSet {
    /// The different labels, ascending: the kinds of the set.
    pub(super) fn sorted_labels(&self) -> Vec<u16> {
        let mut labels = self.labels.clone();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// Different pieces, numbered from `first`.
    pub(super) fn ordered(set: &Set, first: u16) -> SolvedSet {
        SolvedSet {
            labels: (first..).take(set.size).collect(),
            turns: vec![0; set.size],
            periods: vec![set.orientations; set.size],
        }
    }
}

impl Definition {
    /// The set that contains a slot, counted among all slots.
    pub fn set_of(&self, slot: usize) -> Option<&Set> {
        self.sets.iter().find(|set| set.slots().contains(&slot))
    }

    /// The state after a move.
    pub fn after(&self, state: &State, element: &Element) -> State {
        let slots = self.shape.slots();
        let mut next = State { kinds: Vec::with_capacity(slots), turns: Vec::with_capacity(slots) };
        for set in &self.sets {
            for slot in set.slots() {
                let from = usize::from(element.images()[slot]);
                let kind = state.kinds[from];
                let period = set.kinds.get(usize::from(kind)).map_or(1, |kind| kind.orientations);
                let turn = u16::from(state.turns[from]) + u16::from(element.turns()[slot]);
                next.kinds.push(kind);
                next.turns.push((turn % u16::from(period)) as u8);
            }
        }
        next
    }

    /// Whether no piece is in a slot forbidden to it.
    pub fn is_legal(&self, state: &State) -> bool {
        self.illegal.iter().all(|illegal| state.kinds.get(illegal.slot) != Some(&illegal.kind))
    }
}
