//! The library: searches of all engines, resumed, split, with faults.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod constructors;
mod dense;
mod directed;
mod drive;
mod ends;
mod examples;
mod forecast;
mod goals;
mod golden;
mod kinds;
mod large_region;
mod layers;
mod long_lists;
mod moving;
mod plan;
mod positions;
mod read_errors;
mod reference;
mod search;
mod setups;
mod simulation;
mod spill;
mod symmetries;
mod tiles;
mod user_spaces;
mod wide;
