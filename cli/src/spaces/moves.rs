//! Moves of a shortest solution: text form and output.

use crate::output::events;
use crate::output::exit::Failure;
use crate::output::path_form::{PathForm, PathFormat};
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

/// Prints the moves of a path, or writes them to the file of the command line.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn emit(
    path: events::Path,
    form: &PathForm,
    progress: &Progress,
) -> Result<(), Failure> {
    let file = form.file();
    let path = events::Path { file: file.map(|file| file.display().to_string()), ..path };
    if let Some(file) = file {
        std::fs::write(file, path.text()).map_err(|error| {
            let message = format!("cannot write {}: {error}", file.display());
            Failure::usage(message)
        })?;
    }
    progress.emit(&events::Event::Path(path));
    Ok(())
}
