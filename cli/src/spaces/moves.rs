//! The moves of a shortest solution: replayed by themselves, then shown or written.

use crate::cli::PathForm;
use crate::output::events;
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::spaces::puzzle::{Moves, Puzzle, Shown};

impl PathForm {
    /// Refuses a file that cannot be made.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let folder = self.path_file.as_ref().and_then(|file| file.parent());
        match folder.filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            Some(folder) => {
                let folder = folder.display();
                Err(Failure::usage(format!("--path-file: there is no folder {folder}")))
            }
            None => Ok(()),
        }
    }
}

/// Replays moves by themselves, and shows or writes them; `expected` is how many they must be.
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

/// Shows moves, or writes them to the file that was asked for.
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
