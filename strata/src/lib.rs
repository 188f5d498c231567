//! Disk-based breadth-first search of implicit graphs.
//!
//! A state space is a type that lists the successors of a state. [`Search`] visits every state that the
//! seeds reach, layer by layer. Layers are compressed files, decision diagrams or bit maps, so a search
//! can have far more states than memory could hold as a list. It writes checkpoints, from which it resumes
//! after a crash.
//!
//! ```
//! use strata::{
//!     KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Search, Seed, SpaceError,
//! };
//!
//! /// A counter from 0 to `size` - 1. A move adds one, or doubles.
//! struct Counter {
//!     size: u64,
//! }
//!
//! impl KeySpace for Counter {
//!     type Key = u64;
//!     fn seeds(&self) -> Vec<Seed> {
//!         vec![Seed::start(0)]
//!     }
//!     fn key_bits(&self) -> u32 {
//!         self.size.ilog2() + 1
//!     }
//!     fn is_undirected(&self) -> bool {
//!         false
//!     }
//!     fn successors(&self, key: u64, out: &mut Vec<u64>) {
//!         out.extend([(key + 1) % self.size, key * 2 % self.size]);
//!     }
//!     fn text(&self, key: u64) -> String {
//!         key.to_string()
//!     }
//! }
//!
//! /// How the space is named in commands and files.
//! impl Puzzle for Counter {
//!     type States = Keyed<Counter>;
//!     type Nested = NoNested;
//!     const NAME: &'static str = "counter";
//!     const SUMMARY: &'static str = "numbers below SIZE";
//!     const PARAMETERS: &'static [Parameter] = &[Parameter::positional("size", "how many numbers")];
//!
//!     fn open(parameters: &Parameters) -> Result<Counter, SpaceError> {
//!         let size = Counter::reader(parameters).number("size")?.unwrap_or(1000);
//!         Ok(Counter { size: size.into() })
//!     }
//!     fn parameters(&self) -> Parameters {
//!         [("size".to_owned(), self.size.to_string())].into()
//!     }
//! }
//!
//! # fn main() -> Result<(), strata::Error> {
//! let report = Search::new(Counter { size: 1000 }).threads(1).run()?;
//! assert_eq!(report.states(), 1000);
//! assert_eq!(report.radius(), 18);
//! # Ok(())
//! # }
//! ```
//!
//! [`Search::named`] searches a puzzle that ships with Strata, such as Panex, Rubik's cube or towers of
//! Hanoi. A [`Report`] has the layers, their states, and shortest paths. The traits of spaces are in
//! [`space`].
#![forbid(unsafe_code)]

mod report;
mod search;

pub use report::Report;
pub use search::{Engine, Search};
/// The puzzles that ship with Strata.
#[cfg(feature = "puzzles")]
pub use strata_puzzles as puzzles;
pub use strata_run::{
    CancelToken, Error, Event, KeepLayers, LayerEvent, LayerView, ListedState, LookUpAnswer,
    LookUpOptions, Moves, Result, StopReason, Totals, catalogue,
};
/// The traits of state spaces, with everything that an implementation of [`Tabled`] or
/// [`space::nested::NestedSpace`] needs.
pub use strata_space as space;
pub use strata_space::{
    DrawingTheme, KeySpace, Keyed, NoNested, Parameter, ParameterReader, Parameters, Puzzle, Seed,
    SpaceError, State, Tabled, WithTables,
};
pub use strata_store::LayerRecord;
