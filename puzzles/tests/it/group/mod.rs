//! Tests of permutation groups: orders, symmetries, and folded spaces.

mod axioms;
mod cube;
mod folded;
mod orders;
mod space;
mod symmetries;
