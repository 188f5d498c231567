//! Puzzles whose moves have names: opening, independent replay, and text form.

use strata::catalogue::Space;
use strata_panex::{CentreTop, NamedMove, Position, Replay, parse_moves};
use strata_space::{Chain, SpaceError, StateSpace};
use strata_store::JobSpec;
use strata_tiles::Board;

use crate::args::path::PathFormat;
use crate::output::exit::Failure;
use crate::spaces::program;

/// Moves as words: LC for Panex, U for sliding tiles.
pub(crate) type Moves = Vec<String>;

/// Moves in text form, and their separator.
pub(crate) type Shown = (Vec<String>, &'static str);

/// A space whose moves have names.
pub(crate) struct Puzzle(Space);

impl Puzzle {
    /// Opens the puzzle of a job.
    ///
    /// # Errors
    /// If the space is refused, or its moves have no names.
    pub(crate) fn open(spec: &JobSpec) -> Result<Puzzle, Failure> {
        let space = reopen(spec).map_err(Failure::usage)?;
        if !space.names_moves() {
            return Err(Failure::usage(format!("{} does not name its moves", space.name())));
        }
        Ok(Puzzle(space))
    }

    /// The space as functions of states.
    pub(crate) fn space(&self) -> &dyn StateSpace {
        self.0.state_space()
    }

    /// The moves of a chain of stored states, if it leads from start to goal.
    pub(crate) fn moves(&self, chain: &Chain) -> Option<Moves> {
        self.0.moves(chain)
    }

    /// The moves in text form, if they lead from start to goal and have the expected number.
    ///
    /// Moves of the puzzles that have a workbench are replayed by it, which shares nothing with the
    /// search. Those of Panex Gold are shown without tiles, which have no names.
    pub(crate) fn replayed(
        &self,
        moves: &Moves,
        expected: Option<u64>,
        format: PathFormat,
        gold: bool,
    ) -> Result<Shown, String> {
        let shown = match (self.0.name(), self.0.ends()) {
            ("panex", Some(ends)) => replay_panex(ends, moves, format, gold),
            ("tiles", Some(ends)) => replay_tiles(ends, moves, format),
            _ => Ok(show_words(moves, format)),
        }?;
        if expected != Some(moves.len() as u64) {
            return Err(format!("a shortest solution has {expected:?} moves"));
        }
        Ok(shown)
    }
}

/// Text form of the moves of any puzzle.
fn show_words(moves: &Moves, format: PathFormat) -> Shown {
    let apart = match format {
        PathFormat::Moves => "\n",
        PathFormat::Words if moves.iter().any(|name| name.contains(' ')) => ", ",
        PathFormat::Words => " ",
    };
    (moves.clone(), apart)
}

fn replay_panex(
    [start, goal]: [String; 2],
    moves: &Moves,
    format: PathFormat,
    gold: bool,
) -> Result<Shown, String> {
    // Each level has two tiles.
    let tiles = start.split_whitespace().filter(|word| !matches!(*word, "/" | "-")).count();
    let level = u8::try_from(tiles / 2).unwrap_or(u8::MAX);
    let read = |end: String| Position::parse(&end, level).map_err(|error| error.to_string());
    let (start, goal) = (read(start)?, read(goal)?);
    let word = parse_moves(&moves.join(" ")).map_err(|error| error.to_string())?;
    let mut run = Replay::new(start, CentreTop::Allowed).map_err(|error| error.to_string())?;
    let named = word.iter().map(|mv| run.step(*mv)).collect::<Result<Vec<_>, _>>();
    let named = named.map_err(|error| error.to_string())?;
    if *run.position() != goal {
        return Err(format!("it ends in {}", run.position()));
    }
    Ok(match format {
        PathFormat::Moves if gold => (moves.clone(), "\n"),
        PathFormat::Moves => (named.iter().map(NamedMove::to_string).collect(), "\n"),
        PathFormat::Words => (moves.clone(), " "),
    })
}

fn replay_tiles(
    [start, goal]: [String; 2],
    moves: &Moves,
    format: PathFormat,
) -> Result<Shown, String> {
    let mut board: Board = start.parse().map_err(|error| format!("{start}: {error}"))?;
    let word: strata_tiles::Word = moves.concat().parse().map_err(|error| format!("{error}"))?;
    for (index, mv) in word.iter().enumerate() {
        if !board.step(*mv) {
            return Err(format!("move {}, {mv}: the blank is at the edge", index + 1));
        }
    }
    if board.to_string() != goal {
        return Err(format!("it ends in {board}"));
    }
    Ok(show_tiles(&word, format))
}

/// Text form of the moves of the blank.
pub(crate) fn show_tiles(word: &strata_tiles::Word, format: PathFormat) -> Shown {
    match format {
        PathFormat::Moves => (word.iter().map(ToString::to_string).collect(), "\n"),
        PathFormat::Words => (vec![format!("{word:#}")], ""),
    }
}

/// The space of a specification.
pub(crate) fn reopen(spec: &JobSpec) -> Result<Space, SpaceError> {
    program::puzzles().open(&spec.space, &spec.params)
}
