//! The running program: its name, its puzzles, and their flags.

use std::sync::{Arc, OnceLock};

use strata_run::catalogue::Registry;

pub(crate) mod flags;

use flags::{FlagError, SharedFlag};

struct Program {
    puzzles: Arc<Registry>,
    flags: Vec<SharedFlag>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Sets the puzzles of the program, once and before anything else.
///
/// # Errors
/// If the parameters of the puzzles have conflicting flags.
pub(crate) fn set(puzzles: Registry) -> Result<(), FlagError> {
    let flags = flags::shared(&puzzles)?;
    PROGRAM.get_or_init(|| Program { puzzles: Arc::new(puzzles), flags });
    Ok(())
}

fn program() -> &'static Program {
    PROGRAM.get_or_init(|| {
        let puzzles = Registry::shipped();
        // A test checks that the flags of the shipped puzzles are compatible.
        let flags = flags::shared(&puzzles).unwrap_or_default();
        Program { puzzles: Arc::new(puzzles), flags }
    })
}

/// The puzzles of the program.
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
