//! Moves of a shortest solution: text form and output.

use crate::args::path::{PathForm, PathFormat};
use crate::output::events;
use crate::output::exit::Failure;
use crate::output::progress::Progress;

/// Moves as words: LC for Panex, U for sliding tiles.
pub(crate) type Moves = Vec<String>;

/// Moves in text form, and their separator.
pub(crate) type Shown = (Vec<String>, &'static str);

/// Text form of the moves of any puzzle.
pub(crate) fn as_words(moves: &Moves, format: PathFormat) -> Shown {
    let apart = match format {
        PathFormat::Moves => "\n",
        PathFormat::Words if moves.iter().any(|name| name.contains(' ')) => ", ",
        PathFormat::Words => " ",
    };
    (moves.clone(), apart)
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
            Failure::usage(message)
        })?;
    }
    progress.emit(&events::Event::Path(event));
    Ok(())
}
