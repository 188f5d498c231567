//! Dense searches against independent ones and published tables.

mod folded;
mod hanoi;
mod layers;
mod parts;
mod published;
mod puzzles;
