//! Folded numbering of a group's members: one block for each class of symmetric blocks.
//!
//! A symmetry maps products to products and moves to moves. If it maps the subgroups N and L of a
//! [`GroupNumbering`](super::GroupNumbering) to themselves, it maps blocks to blocks and rows to rows, and
//! permutes lanes in one of a few ways. Only the least block of each class is numbered. The set of states
//! at a depth is closed under symmetries, so a block's part of it is the image of that of the least block
//! of its class.
//!
//! - `lanes`: subgroups L that symmetries map to themselves
//! - `choice`: the symmetries, N and L with which a search takes the least memory
//! - `classes`: classes of blocks
//! - `tables`: tables of moves
//! - `numbering`: the numbers of members

mod choice;
mod classes;
mod lanes;
mod numbering;
mod tables;

pub use numbering::{FoldedNumbering, FoldedSize};
