//! State spaces: what is searched, as pure functions without I/O or threads.
//!
//! The engine never sees a puzzle. It sees a [`StateSpace`]: every state is split into a
//! **region** (the part that changes rarely) and a **local** part (the part that changes with
//! most moves), so that most successors of a region's states are in the same region and can be
//! deduplicated there. That is all a space has to say; a space that also implements [`Tabled`]
//! is searched by table look-ups.
//!
//! The shortest way to add a puzzle is [`KeySpace`] (key in, successor keys out) and is
//! wrapped by [`Keyed`], which takes the high bits of the key as the region:
//!
//! ```
//! use strata_space::{KeySpace, Keyed, Seed};
//!
//! /// A walk on the integers 0..=limit.
//! struct Line {
//!     limit: u64,
//! }
//!
//! impl KeySpace for Line {
//!     fn seeds(&self) -> Vec<Seed> {
//!         vec![Seed::start(0)]
//!     }
//!     fn key_bits(&self) -> u32 {
//!         64 - self.limit.leading_zeros()
//!     }
//!     fn successors(&self, key: u64, out: &mut Vec<u64>) {
//!         out.extend(key.checked_sub(1));
//!         out.extend((key < self.limit).then_some(key + 1));
//!     }
//!     fn text(&self, key: u64) -> String {
//!         key.to_string()
//!     }
//! }
//!
//! let space = Keyed::new(Line { limit: 10 }).expect("11 keys fit");
//! # use strata_space::StateSpace;
//! # assert_eq!(space.text(space.seeds()[0]), "0");
//! ```
#![forbid(unsafe_code)]

mod digest;
mod error;
mod keyed;
pub mod nested;

pub use digest::{Digest, MODULI, Weight, mix};
pub use error::SpaceError;
pub use keyed::{KeySpace, Keyed, Seed};

/// The arrangement a region stands for, packed so that it can be ordered and written to files.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionKey(pub u128);

/// The local part of a state and its side: `2 * index + side`.
///
/// The index is a pure function of the state, never of the order of discovery: it is written to
/// files and sent between workers. The side tells
/// which of two searches (or of two mirror-image families of states) reached the state; the two
/// sides of one index are neighbours, so a merge sees both searches meet.
pub type Local = u32;

/// A kind of move of a [`Tabled`] space, from 0.
pub type Door = u8;

/// A way out of a region of a [`Tabled`] space, from 0.
pub type Gate = u16;

/// A state as the engine stores it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// Canonical region.
    pub region: RegionKey,
    /// Canonical local part and side.
    pub local: Local,
}

/// When the search is over, besides running out of states.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Finish {
    /// Both sides of one index are reached: in layers d+1 and d the answer is 2d+1, both in
    /// layer d+1 it is 2(d+1).
    Meeting,
    /// This state is reached; the answer is its depth.
    State(State),
    /// Never: the whole reachable space is listed and the answer is its radius.
    Exhausted,
}

/// A shortest way as a search has it: stored states, each a neighbour of the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// From the start to where the searches met, or to the goal.
    pub from_start: Vec<State>,
    /// From the goal to where the searches met; empty if the search went from the start to the goal.
    pub from_goal: Vec<State>,
}

/// An implicit graph, split into regions.
///
/// Edges must be undirected: a successor of layer d lies in layer d-1, d or d+1, which is why
/// the engine subtracts only the two last layers. All functions are pure.
///
/// States, their canonical form and the side bit are the space's business. Equal states must have
/// equal `(region, local)`, and [`Self::moves`] must return canonical ones.
pub trait StateSpace: Send + Sync + 'static {
    /// The states of depth 0.
    fn seeds(&self) -> Vec<State>;

    /// When to stop.
    fn finish(&self) -> Finish;

    /// Appends the state behind every legal move, one for each move even where two lead to the
    /// same state.
    fn moves(&self, state: State, out: &mut Vec<State>);

    /// Hash of the coarse part of a region; states with equal hashes live in one shard.
    fn shard_hash(&self, region: RegionKey) -> u64;

    /// The state's part of the layer's digest: the sum of the weights of the positions that it
    /// stands for. See [`Digest`].
    fn weight(&self, state: State) -> Weight;

    /// A position the state stands for, in the space's text form.
    fn text(&self, state: State) -> String;
}

/// Which of a state's moves are legal, a bit a door.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct OpenDoors {
    /// Moves that stay inside the region.
    pub inside: u8,
    /// Moves into another region.
    pub exits: u8,
}

/// Successors that stay inside a region.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Inside {
    /// Their indices, filled up with the index itself where there are fewer.
    pub first: [u32; 4],
    /// Whether there are more than four; then `first` does not count, and
    /// [`Tabled::neighbour`] tells where each of the open doors leads.
    pub more: bool,
}

/// Where a gate of a region leads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// The canonical region behind the gate.
    pub target: RegionKey,
    /// The symmetry that made it canonical, in the space's own numbering.
    pub symmetry: u8,
}

/// The most doors a [`Tabled`] space may have.
pub const MAX_DOORS: Door = 7;

/// A space in which a local part's possibilities are the same in all regions, up to what the
/// region's **class** forbids: the space keeps tables by local index, which the engine goes
/// through in its inner loops. [`Self::open`] and [`Self::inside`] are called for every
/// state of every layer, [`Self::gate`] and [`Self::carry`] for every exit, so they must be mere
/// look-ups, in tables that fit into the processor's cache.
///
/// Sides are symmetric: what is said of a local with side 0 holds for side 1 with all side bits
/// flipped.
pub trait Tabled: StateSpace {
    /// Number of doors, at most [`MAX_DOORS`].
    const DOORS: Door;

    /// What a region allows.
    type Class: Copy + Eq + std::hash::Hash + Send + Sync;

    /// Number of local indices: locals are below twice as much.
    fn indices(&self) -> u32;

    /// The class of a region.
    fn class(&self, region: RegionKey) -> Self::Class;

    /// The legal moves of an index that is legal in the class.
    fn open(&self, class: &Self::Class, index: u32) -> OpenDoors;

    /// The inside successors of an index that is legal in the class.
    fn inside(&self, class: &Self::Class, index: u32) -> Inside;

    /// The index behind a door that is open inside.
    fn neighbour(&self, index: u32, door: Door) -> u32;

    /// Number of gates. A gate takes all states that leave through it from one region to one other.
    /// By default every door is a gate of its own.
    fn gates(&self) -> Gate {
        Self::DOORS.into()
    }

    /// The gate that an index leaves by through a door that is an exit. All states that leave by one
    /// gate do so through the same door.
    #[inline(always)]
    fn gate(&self, _index: u32, door: Door) -> Gate {
        door.into()
    }

    /// The first of the gates that *scatter*: each state that leaves by one comes to a region of its own,
    /// which [`Self::scatter`] tells instead of [`Self::crossing`] and [`Self::carry`]. It costs much
    /// more time. There are none by default.
    fn scattering(&self) -> Gate {
        self.gates()
    }

    /// Appends the states, in the order of `locals`, that states of a region come to by a gate that
    /// scatters.
    fn scatter(&self, _region: RegionKey, _gate: Gate, _locals: &[Local], _out: &mut Vec<State>) {}

    /// The weight of those positions that states of a region stand for and that are no product of a
    /// region's and a local part's weight. There are none by default.
    fn scattered_weight(&self, _region: RegionKey, _locals: &[Local]) -> Weight {
        Weight::ZERO
    }

    /// The local in the target region of a state with side 0 that leaves by a gate, after
    /// the symmetry that makes the target region canonical.
    fn carry(&self, index: u32, gate: Gate, symmetry: u8) -> Local;

    /// The gate of the target region by which all states that came by a gate lead back to where they
    /// came from, if it is known. It saves the engine half of its exits: such a move makes nothing
    /// new. Unknown by default.
    fn way_back(&self, _gate: Gate, _symmetry: u8) -> Option<Gate> {
        None
    }

    /// Whether symmetries fix the class's regions, so that locals have to be [`Self::fold`]ed.
    fn folds(&self, class: &Self::Class) -> bool;

    /// The canonical one among a local's images under the symmetries that fix the region.
    fn fold(&self, class: &Self::Class, local: Local) -> Local;

    /// Whether both images of a side are one position.
    fn is_fixed(&self, class: &Self::Class, index: u32) -> bool;

    /// The region behind a gate by which at least one state of `region` leaves. It is remembered for
    /// as long as the region is if there are at most [`MAX_DOORS`] gates; else it is worked out for
    /// every batch of exits and should take little time.
    fn crossing(&self, region: RegionKey, gate: Gate) -> Crossing;

    /// Weights of a region's images, by side. A state of side `s` stands for up to two
    /// positions, its images `[s][0]` and `[s][1]`; a position's weight is the product of its
    /// region's and its local part's. [`Weight::ZERO`] stands for no image.
    fn region_weights(&self, region: RegionKey) -> [[Weight; 2]; 2];

    /// Weights of the images of all local parts of a side, by index.
    fn local_weights(&self, side: usize) -> &[[Weight; 2]];

    /// Memory of the tables, in bytes.
    fn bytes(&self) -> usize;
}
