//! Numbers of a group's members in which blocks that symmetries map to one another are one block.
//!
//! A symmetry maps products to products and moves to moves. If it maps N and L to themselves, it maps
//! blocks to blocks, the rows of a block to rows, and their lanes by one of a few permutations. Only the
//! least block of each class is numbered. What a search finds at a depth is closed under symmetries,
//! so the states of a block are the images of those of the least block of its class.
//!
//! - `lanes`: subgroups L that symmetries map to themselves
//! - `choice`: the symmetries, N and L with which the fewest words are stored
//! - `classes`: classes of blocks
//! - `tables`: tables of moves
//! - `numbering`: the numbers of members

mod choice;
mod classes;
mod lanes;
mod numbering;
mod tables;

pub use numbering::{FoldedNumbering, FoldedSize};
