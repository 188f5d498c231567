//! The running program: its name, the puzzles it knows, and their flags.

use std::sync::{Arc, OnceLock};

use strata::catalogue::Registry;

use crate::args::flags::{self, FlagError, SharedFlag};

struct Program {
    puzzles: Arc<Registry>,
    flags: Vec<SharedFlag>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Sets what the program knows, once and before anything else.
///
/// # Errors
/// If the puzzles' parameters make no command line.
pub(crate) fn set(puzzles: Registry) -> Result<(), FlagError> {
    let flags = flags::shared(&puzzles)?;
    PROGRAM.get_or_init(|| Program { puzzles: Arc::new(puzzles), flags });
    Ok(())
}

fn program() -> &'static Program {
    PROGRAM.get_or_init(|| {
        let puzzles = Registry::shipped();
        // A test checks that those that ship with Strata go together.
        let flags = flags::shared(&puzzles).unwrap_or_default();
        Program { puzzles: Arc::new(puzzles), flags }
    })
}

/// The puzzles that the program knows.
pub(crate) fn puzzles() -> &'static Arc<Registry> {
    &program().puzzles
}

/// The flags of their parameters.
pub(crate) fn flags() -> &'static [SharedFlag] {
    &program().flags
}

/// The program's name.
pub(crate) fn name() -> &'static str {
    puzzles().program()
}
