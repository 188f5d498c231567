//! Nested spaces: states that are read level by level, from the largest pieces to the smallest.
//!
//! A state is a list of **configurations**, one for each level from the highest down, and a **leaf
//! state** for the lowest levels together. A configuration says how a level's own pieces lie among
//! the larger ones. The pieces of a level move independently of other levels, except for two rules:
//!
//! - Larger pieces restrict smaller ones only through their **class**: the legal moves of the
//!   levels up to k depend only on the class of everything above k.
//! - A larger piece moves only if no smaller one is in its way. For the levels below, such a move
//!   is an **exit**: it changes them in a way that depends neither on the class nor on which piece
//!   moves.
//!
//! So an engine can treat the set of states below a configuration as a value: equal sets of one
//! class have equal successors.

use std::fmt::Debug;
use std::hash::Hash;

use crate::digest::Weight;
use crate::state::Finish;
use crate::tabled::MoveKind;

/// The largest number of move kinds of a nested space: engines store a mask of them with every set.
pub const MAX_MOVE_KINDS: MoveKind = 10;

/// The largest number of leaf states: a set of them is a 64-bit word.
pub const MAX_LEAF_STATES: u8 = 64;

/// A state of a nested space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NestedState<C> {
    /// Configurations, from the highest level down to the one above the leaf.
    pub configs: Vec<C>,
    /// Leaf state, less than [`NestedSpace::leaf_states`].
    pub leaf: u8,
}

/// Effect of a move on a level's configuration, if the moved piece belongs to the level or a higher one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Shift<C> {
    /// A piece of the level itself moves: the configuration after the move.
    Inside(C),
    /// A larger piece moves: the configuration among the larger pieces after the move.
    Outside(C),
}

/// Legal moves of a leaf state in a class.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct LeafMoves {
    /// Leaf states after the moves of the leaf's own pieces, a bit each. No two moves lead to the
    /// same state.
    pub inside: u64,
    /// Move kinds by which a larger piece can move, a bit each.
    pub exits: u16,
}

/// A nested space. All functions are pure.
///
/// Edges must be undirected: see [`StateSpace::is_undirected`](crate::StateSpace::is_undirected).
///
/// A space has an automorphism that is its own inverse, the **flip**, which may be the identity. It maps
/// configurations, leaf states, classes and move kinds, and commutes with all other functions. Of two
/// sets that are each other's flip, engines store one. A space that ends at a meeting has a second
/// automorphism, the **exchange**, which maps the start to the goal and commutes with the flip.
/// [`check_nested`](crate::check_nested) detects wrong flips and exchanges by samples.
pub trait NestedSpace: Send + Sync + 'static {
    /// How one level's pieces lie among the larger ones.
    type Config: Copy + Eq + Ord + Hash + Debug + Send + Sync;

    /// Class: the restrictions that the pieces above a level put on it and on the levels below.
    type Class: Clone + Eq + Hash + Debug + Send + Sync;

    /// Number of levels, at least 1.
    fn levels(&self) -> u8;

    /// Number of lowest levels that form the leaf, between 1 and [`Self::levels`].
    fn leaf_levels(&self) -> u8;

    /// Number of leaf states, at most [`MAX_LEAF_STATES`].
    fn leaf_states(&self) -> u8;

    /// Number of move kinds, at most [`MAX_MOVE_KINDS`].
    fn move_kinds(&self) -> MoveKind;

    /// The class of all levels, with nothing above them.
    fn root_class(&self) -> Self::Class;

    /// The class of the levels below `level`, given the class of `level` and its configuration.
    ///
    /// For a configuration that is not legal in the class, any result is correct, but the function must
    /// not panic: a forged snapshot can contain such configurations.
    fn inner_class(&self, class: &Self::Class, level: u8, config: Self::Config) -> Self::Class;

    /// The effect of a move of a piece of `level` or above on the level's configuration.
    fn shift(&self, level: u8, config: Self::Config, kind: MoveKind) -> Shift<Self::Config>;

    /// The legal moves of a leaf state in a class of the leaf.
    ///
    /// For a leaf state that is not legal in the class, any result is correct.
    fn leaf_moves(&self, class: &Self::Class, leaf: u8) -> LeafMoves;

    /// The leaf state after a larger piece's move.
    fn leaf_after_exit(&self, leaf: u8, kind: MoveKind) -> u8;

    /// The flip of a configuration.
    fn flip_config(&self, config: Self::Config) -> Self::Config;

    /// The flip of a leaf state.
    fn flip_leaf(&self, leaf: u8) -> u8;

    /// The flip of a class.
    fn flip_class(&self, class: &Self::Class) -> Self::Class;

    /// The flip of a move kind.
    fn flip_move(&self, kind: MoveKind) -> MoveKind;

    /// The image of a configuration under the exchange.
    fn exchange_config(&self, config: Self::Config) -> Self::Config;

    /// The image of a leaf state under the exchange.
    fn exchange_leaf(&self, leaf: u8) -> u8;

    /// The factor of a configuration in a state's weight.
    ///
    /// The weight is the product over levels; see [`Digest`](crate::Digest).
    fn config_weight(&self, level: u8, config: Self::Config) -> Weight;

    /// The factor of a leaf state in a state's weight.
    fn leaf_weight(&self, leaf: u8) -> Weight;

    /// A configuration as a word. Files contain it, so it must be the same in all processes.
    fn encode_config(&self, config: Self::Config) -> u128;

    /// The configuration with this word, the inverse of [`Self::encode_config`]; None if there is none.
    fn decode_config(&self, word: u128) -> Option<Self::Config>;

    /// The state at depth 0.
    fn start(&self) -> NestedState<Self::Config>;

    /// How a search ends.
    ///
    /// A meeting is a layer that contains the exchanged image of one of its own states, or of a state of
    /// the layer before.
    fn finish(&self) -> Finish<NestedState<Self::Config>>;

    /// Whether a state and its flip count as one. If so, the start must be its own flip.
    fn counts_orbits(&self) -> bool;

    /// The state in the space's text form.
    fn text(&self, state: &NestedState<Self::Config>) -> String;

    /// Whether listings show this state rather than its flip, if the two count as one.
    fn is_orbit_representative(&self, _state: &NestedState<Self::Config>) -> bool {
        true
    }
}

/// The states one move away from a state, one for each legal move.
pub fn successors<S: NestedSpace>(
    space: &S,
    state: &NestedState<S::Config>,
) -> Vec<NestedState<S::Config>> {
    let first = space.leaf_levels() + 1;
    let levels = (first..=space.levels()).rev().zip(&state.configs);
    let class = levels.fold(space.root_class(), |class, (level, config)| {
        space.inner_class(&class, level, *config)
    });
    let moves = space.leaf_moves(&class, state.leaf);
    let inside = (0..space.leaf_states()).filter(|leaf| moves.inside >> leaf & 1 == 1);
    let inside = inside.map(|leaf| NestedState { configs: state.configs.clone(), leaf });
    let exits = (0..space.move_kinds()).filter(|kind| moves.exits >> kind & 1 == 1).map(|kind| {
        let leaf = space.leaf_after_exit(state.leaf, kind);
        let mut next = NestedState { configs: state.configs.clone(), leaf };
        for (level, config) in (first..).zip(next.configs.iter_mut().rev()) {
            match space.shift(level, *config, kind) {
                Shift::Inside(inside) => {
                    *config = inside;
                    break;
                }
                Shift::Outside(outside) => *config = outside,
            }
        }
        next
    });
    inside.chain(exits).collect()
}
