//! Tests of the library: searches of all engines, resumed, divided among workers, with faults.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

/// Implements `Puzzle` without parameters for a space, which an expression opens.
macro_rules! without_parameters {
    ($space:ty, $name:literal, $open:expr) => {
        without_parameters!($space, $name, $open, strata::Keyed<$space>, strata::NoNested,);
    };
    ($space:ty, $name:literal, $open:expr, $states:ty, $nested:ty, $($more:item)*) => {
        impl strata::Puzzle for $space {
            type States = $states;
            type Nested = $nested;

            const NAME: &'static str = $name;
            const SUMMARY: &'static str = "a space of a test";
            const PARAMETERS: &'static [strata::Parameter] = &[];

            fn open(_: &strata::Parameters) -> Result<Self, strata::SpaceError> {
                $open
            }
            fn parameters(&self) -> strata::Parameters {
                strata::Parameters::new()
            }
            $($more)*
        }
    };
}

mod antipodes;
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
mod look_up;
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
