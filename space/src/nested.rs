//! Nested spaces: states in which each level's things move among the larger ones, whatever the
//! smaller ones do.
//!
//! A state of a nested space is a list of **configurations**, one for each level from the highest
//! down, and a **leaf state** for the lowest levels together. What is below a level neither sees
//! nor moves what is above it, but for one thing: a larger tile may only move where no smaller one
//! is in its way. So what the levels up to k may do depends on the larger ones by their **class**
//! only, and a larger one's move is an **exit** of the levels below: they change in a way that
//! does not depend on which one moved, nor on the class.
//!
//! That is what an engine needs to treat the sets of states below a configuration as values: equal
//! sets of one class become equal sets in the next layer.

use std::fmt::Debug;
use std::hash::Hash;

use crate::digest::Weight;

/// The most moves a nested space may have: masks of them are kept with every set.
pub const MAX_MOVES: u8 = 10;

/// The most leaf states: sets of them are words.
pub const MAX_LEAF_STATES: u8 = 64;

/// A state of a nested space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nested<C> {
    /// From the highest level down to the one above the leaf.
    pub configs: Vec<C>,
    /// The leaf state, below [`NestedSpace::leaf_states`].
    pub leaf: u8,
}

/// What a move of a thing that is not below a level makes of the level's configuration.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Shift<C> {
    /// One of the level itself has moved.
    Inside(C),
    /// A larger one has moved; the level's are among the larger ones in this way now.
    Outside(C),
}

/// What a leaf state can do in a class.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Row {
    /// The leaf states behind the legal moves that stay in the leaf, a bit each; no two moves lead
    /// to the same one.
    pub inside: u64,
    /// The legal moves of larger ones, a bit each: each is one of the whole state's legal moves.
    pub exits: u16,
}

/// When a search is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NestedFinish<C> {
    /// When a layer meets its own image under the exchange, or the image of the layer before.
    Meeting,
    /// When this state is reached.
    State(Nested<C>),
    /// Never.
    Exhausted,
}

/// A nested space. All functions are pure.
///
/// Edges must be undirected, as for [`crate::StateSpace`].
///
/// A space has an automorphism of order two, the **flip** (the identity will do): it maps
/// configurations, leaf states, classes and moves so that everything else commutes with it. Sets
/// that are each other's flip are stored once. Where the search meets itself there is a second one,
/// the **exchange**, which maps the start to the goal.
pub trait NestedSpace: Send + Sync + 'static {
    /// What one level's things do among the larger ones.
    type Config: Copy + Eq + Ord + Hash + Debug + Send + Sync;

    /// What the things above a level allow those up to it.
    type Class: Clone + Eq + Hash + Debug + Send + Sync;

    /// Number of levels, at least 1.
    fn levels(&self) -> u8;

    /// The lowest levels, which together are the leaf: 1 up to [`Self::levels`].
    fn leaf_levels(&self) -> u8;

    /// Number of leaf states, at most [`MAX_LEAF_STATES`].
    fn leaf_states(&self) -> u8;

    /// Number of moves, at most [`MAX_MOVES`].
    fn moves(&self) -> u8;

    /// The class of all levels: nothing is above them.
    fn root(&self) -> Self::Class;

    /// The class of the levels below `level`, whose own class is `class`, under a configuration.
    fn inner(&self, class: &Self::Class, level: u8, config: Self::Config) -> Self::Class;

    /// What becomes of a level's configuration when something of that level or above moves.
    fn shift(&self, level: u8, config: Self::Config, mv: u8) -> Shift<Self::Config>;

    /// What a leaf state can do in a class of the leaf. Only what is said of states that are legal
    /// in the class counts.
    fn row(&self, class: &Self::Class, leaf: u8) -> Row;

    /// The leaf state after a larger one's move.
    fn leave(&self, leaf: u8, mv: u8) -> u8;

    /// The flip of a configuration.
    fn flip_config(&self, config: Self::Config) -> Self::Config;

    /// The flip of a leaf state.
    fn flip_leaf(&self, leaf: u8) -> u8;

    /// The flip of a class.
    fn flip_class(&self, class: &Self::Class) -> Self::Class;

    /// The flip of a move.
    fn flip_move(&self, mv: u8) -> u8;

    /// The image of a configuration under the exchange.
    fn exchange_config(&self, config: Self::Config) -> Self::Config;

    /// The image of a leaf state under the exchange.
    fn exchange_leaf(&self, leaf: u8) -> u8;

    /// A configuration's part of a state's weight, see [`crate::Digest`]: the product over levels.
    fn weight(&self, level: u8, config: Self::Config) -> Weight;

    /// A leaf state's part.
    fn leaf_weight(&self, leaf: u8) -> Weight;

    /// A configuration in one word, the same in all processes: it is written to files.
    fn encode(&self, config: Self::Config) -> u128;

    /// The configuration of a word, if it is one.
    fn decode(&self, word: u128) -> Option<Self::Config>;

    /// The state of depth 0.
    fn start(&self) -> Nested<Self::Config>;

    /// When to stop.
    fn finish(&self) -> NestedFinish<Self::Config>;

    /// Whether a state and its flip count as one. If so the start is its own flip.
    fn counts_orbits(&self) -> bool;

    /// The state in the space's text form.
    fn text(&self, state: &Nested<Self::Config>) -> String;

    /// Whether the state is the one of itself and its flip that is shown where they count as one.
    fn stands_for_its_orbit(&self, _state: &Nested<Self::Config>) -> bool {
        true
    }
}

/// The states one move away from a state, one for each legal move.
pub fn successors<S: NestedSpace>(space: &S, state: &Nested<S::Config>) -> Vec<Nested<S::Config>> {
    let first = space.leaf_levels() + 1;
    let levels = (first..=space.levels()).rev().zip(&state.configs);
    let class =
        levels.fold(space.root(), |class, (level, config)| space.inner(&class, level, *config));
    let row = space.row(&class, state.leaf);
    let inside = (0..space.leaf_states()).filter(|leaf| row.inside >> leaf & 1 == 1);
    let inside = inside.map(|leaf| Nested { configs: state.configs.clone(), leaf });
    let exits = (0..space.moves()).filter(|mv| row.exits >> mv & 1 == 1).map(|mv| {
        let leaf = space.leave(state.leaf, mv);
        let mut next = Nested { configs: state.configs.clone(), leaf };
        for (level, config) in (first..).zip(next.configs.iter_mut().rev()) {
            match space.shift(level, *config, mv) {
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
