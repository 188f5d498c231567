//! Output of the moves of a shortest solution, after an independent replay.

use crate::args::path::PathForm;
use crate::output::events;
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::spaces::puzzle::{Moves, Puzzle, Shown};

/// Replays moves by code that shares nothing with the search, then prints or writes them.
///
/// # Errors
/// If the moves do not lead to the goal, are not `expected` in number, or cannot be written.
pub(crate) fn show(
    puzzle: &Puzzle,
    expected: Option<u64>,
    moves: &Moves,
    form: &PathForm,
    gold: bool,
    progress: &Progress,
) -> Result<(), Failure> {
    let shown = puzzle.replayed(moves, expected, form.path_format, gold).map_err(|why| {
        let message = format!("the path of {} moves is not right: {why}", moves.len());
        Failure::new(ExitCode::Unexpected, message)
    })?;
    emit(shown, form, progress)
}

/// Prints moves, or writes them to the file of the command line.
pub(crate) fn emit(
    (moves, between): Shown,
    form: &PathForm,
    progress: &Progress,
) -> Result<(), Failure> {
    let file = form.path_file.as_ref();
    let event = events::Path { moves, file: file.map(|file| file.display().to_string()), between };
    if let Some(file) = file {
        std::fs::write(file, event.text()).map_err(|error| {
            let message = format!("cannot write {}: {error}", file.display());
            Failure::new(ExitCode::Unexpected, message)
        })?;
    }
    progress.emit(&events::Event::Path(event));
    Ok(())
}
