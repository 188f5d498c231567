//! The Panex puzzle.
//!
//! A state is three stacks of tiles, two of each level 1..=n. A tile of level l may have at most l
//! tiles above it; in the centre fewer, while its top layer is forbidden. The region is the
//! arrangement of the tiles of levels above k, the local part that of the others.
//!
//! Symmetry: the mirror `'` and the colour swap `*` preserve moves, and `*'` fixes the towers. A
//! search from the start therefore reaches whole classes {x, x*'}. A class is stored as its orbit
//! {x, x*, x', x*'} and a side bit, which selects one of the orbit's two classes. The goal is the
//! start's mirror image, so both searches have met when both sides of an orbit are reached (Manasse,
//! Sleator, Wei, Baxter: "The Panex Puzzle", section on the program).
//!
//! Between two other positions, only the symmetries that fix or exchange them are used; mostly
//! there are none. The search then grows from both positions, and the side bit selects one.

mod bounds;
mod config;
mod curves;
mod drawing;
mod free;
mod nested;
mod numbering;
mod position;
mod puzzle;
mod route;
mod size;
mod state_space;
mod symmetries;
mod tables;
mod text;
mod tile;
mod tokens;

pub use bounds::upper_bound;
pub use config::{MAX_K, MAX_LARGE_LEVELS, PanexConfig, SymmetryUse};
pub use nested::NestedPanex;
pub use position::Position;
pub use state_space::Panex;
pub use symmetries::End;
pub use tables::Class;
pub use text::PositionError;
pub use tile::{COLUMNS, MAX_LEVEL, MOVES, Stack, Symmetry, Tile};
pub use tokens::{CentreTop, Column, Config, Tokens};
