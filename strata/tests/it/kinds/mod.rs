//! Tests on a table of small spaces of all kinds: layers of the explicit engine are those of an
//! independent search, for any workers, threads and memory, and after a stop and a resume.

#[allow(dead_code, reason = "the table uses a part of it")]
#[path = "../../../../puzzles/tests/it/permutation/orbits.rs"]
mod orbits;
#[allow(dead_code, reason = "the table uses a part of it")]
#[path = "../../../../puzzles/tests/it/permutation/reference.rs"]
mod reference;
#[allow(dead_code, reason = "the table uses a part of it")]
#[path = "../../../../puzzles/tests/it/permutation/texts.rs"]
mod texts;

pub(crate) mod check;
mod hooks;
pub(crate) mod permutations;
pub(crate) mod published;
mod shipped;
pub(crate) mod user;

use crate::reference::search;
