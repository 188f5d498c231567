//! X(N) by choke points: a dynamic program that needs no search over whole positions.
//!
//! The idea is Derek Kisman's (2010, reported by Baxter): now and then the small tiles must stand
//! in order before a large one can move, and between two such moments little else can happen.
//!
//! # Definitions
//! Fix N. Tiles of levels up to N are *small*, the others *lower*. No tile may rest on the top
//! layer of the centre column. Rows are counted from the top, the track being row 0; a tile's row
//! is its level, or one less than the row of the tile below it if that is less.
//!
//! - The small tiles of a **useful** position stand in one of five **shapes**, colours ignored:
//!   towers on L and R; on C and R; the same, but with the tile 1 of C on top of R; and the
//!   mirror images of the last two. All lower tiles lie below the small ones, and in every
//!   column the topmost lower tile, or the ground, is at row N + 1 at least.
//! - A **segment** leads from a useful position to another, with none in between. At most three
//!   lower tiles move in it: the top two of C, and the top one of the column without a tower if
//!   that is L or R.
//! - A **signature** is everything that determines a useful position's segments: the shape, those
//!   three tiles' levels and the rows of what lies below them, all relative to N.
//! - A **table** of a signature holds the least number of moves of a segment, by its end. An end is
//!   a *pattern* (the shape and the arrangement of the three tiles: one row of the table) and a
//!   *swap vector* (N bits: the levels at which the two colours have exchanged their left-to-right
//!   order).
//!
//! # Recursion
//! For N = 2 a breadth-first search over positions makes the tables. A segment of level N + 1 is a
//! chain of segments of level N, in which the two tiles of level N + 1 are lower tiles. The
//! positions between segments are the nodes: a shape and the columns of the (at most five) lower
//! tiles that move, times a swap vector. A signature has at most 82 nodes. A node's own signature
//! is computed from exact rows, so no illegal move is allowed. Table entries are the edges; swap
//! vectors add by XOR. The nodes do not depend on N, and signatures with equal base tables and
//! equal graphs have equal tables on every level: 858 signatures can occur, in 38 classes. So every
//! level needs the same number of tables, and their rows are twice as long as on the level below.
//!
//! X(N) is the distance between start and goal in a graph of 15 nodes times 2^N swap vectors. The
//! inverse of a solution with the colours exchanged is a solution, so only half of the distance is
//! searched.
//!
//! # Speed
//! A table is found by Dijkstra's algorithm, a bucket of distances at a time. Inside a bucket the
//! cheapest entries of the rows are followed one by one; what the bucket settled is then spread
//! along whole rows, `d[v ^ w] = min(d[v ^ w], d[v] + T[w])`, with vector instructions. Blocks of
//! 256 values and groups of 16 blocks are skipped if the least sum cannot improve the worst value,
//! which is the case nearly everywhere on high levels.
//!
//! # Moves
//! For a move list the distances of all nodes of all levels are kept. A segment is walked back from
//! its end: for each step, the search finds an entry of the lower level's tables that equals the
//! difference of two distances, and expands it in turn. Repeated entries are expanded once; there
//! are some thousands of different ones.

mod board;
pub(crate) mod classes;
mod error;
mod exchange;
pub(crate) mod graph;
mod kernel;
pub(crate) mod path;
mod run;
mod search;
pub(crate) mod shape;
pub(crate) mod signature;
pub(crate) mod stack;
mod tables;
#[cfg(test)]
mod tests;
mod top;

pub(crate) use error::UNREACHED;
pub use error::{ChokeError, MAX_LEVEL};
pub use exchange::Search;
pub use kernel::Vectors;
pub use run::{OnProgress, Progress};
