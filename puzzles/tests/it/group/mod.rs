//! Permutation groups: orders, symmetries, and spaces folded by them.

mod axioms;
mod cube;
mod folded;
mod orders;
mod space;
mod symmetries;
