//! The moves of a shortest solution: out of a chain of states, replayed by themselves, shown or written.

use strata_panex::{CentreTop, Column, Move, NamedMove, Position, Replay};
use strata_space::Chain;
use strata_space::catalogue::Space;
use strata_space::panex::{self, Panex};
use strata_store::JobSpec;

use crate::args::{PathForm, PathFormat};
use crate::events;
use crate::exit::{ExitCode, Failure};
use crate::progress::Progress;

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

/// The space of a job whose moves are wanted.
pub(crate) fn panex(spec: &JobSpec) -> Result<Panex, Failure> {
    match Space::open(&spec.space, &spec.params).map_err(Failure::usage)? {
        Space::Panex(panex) => Ok(*panex),
        Space::Hanoi(_) => Err(Failure::usage("only panex tells its moves")),
    }
}

/// The moves of a chain of states, if it is one.
pub(crate) fn of_chain(panex: &Panex, chain: &Chain) -> Option<Vec<Move>> {
    let doors = panex.unfold(chain)?;
    let word =
        |(from, to): (usize, usize)| Move::between(*Column::ALL.get(from)?, *Column::ALL.get(to)?);
    doors.into_iter().map(word).collect()
}

/// Replays moves by themselves, and shows or writes them; `expected` is how many they must be. Those of
/// Panex Gold are shown without tiles, which have no names.
pub(crate) fn show(
    panex: &Panex,
    expected: Option<u64>,
    moves: &[Move],
    form: &PathForm,
    gold: bool,
    progress: &Progress,
) -> Result<(), Failure> {
    let named = replayed(panex, moves, expected).map_err(|why| {
        let message = format!("the path of {} moves is not right: {why}", moves.len());
        Failure::new(ExitCode::Unexpected, message)
    })?;
    let (moves, between) = match form.path_format {
        PathFormat::Moves if gold => (moves.iter().map(Move::to_string).collect(), "\n"),
        PathFormat::Moves => (named.iter().map(NamedMove::to_string).collect(), "\n"),
        PathFormat::Words => (moves.iter().map(Move::to_string).collect(), " "),
    };
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

/// The moves with their tiles, if code that shares nothing with the search finds that they lead
/// from start to goal.
fn replayed(
    panex: &Panex,
    moves: &[Move],
    expected: Option<u64>,
) -> Result<Vec<NamedMove>, String> {
    let level = panex.config().level;
    let read = |end: &panex::Position| Position::parse(&end.to_string(), level);
    let start = read(panex.start()).map_err(|error| error.to_string())?;
    let goal = read(panex.goal()).map_err(|error| error.to_string())?;
    let mut run = Replay::new(start, CentreTop::Allowed).map_err(|e| e.to_string())?;
    let named = moves.iter().map(|mv| run.step(mv)).collect::<Result<Vec<_>, _>>();
    let named = named.map_err(|error| error.to_string())?;
    if *run.position() != goal {
        return Err(format!("it ends in {}", run.position()));
    }
    match expected {
        Some(expected) if expected == run.moves() => Ok(named),
        expected => Err(format!("a shortest solution has {expected:?} moves")),
    }
}
