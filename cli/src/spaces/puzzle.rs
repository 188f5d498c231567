//! What a path needs to know of a puzzle: its ends, and the moves between stored states. Moves are
//! replayed by crates that share nothing with the search.

use strata::catalogue::Space;
use strata_panex::{CentreTop, Column, Move, NamedMove, Position, Replay, parse_moves};
use strata_puzzles::panex::Panex;
use strata_puzzles::tiles::Tiles;
use strata_space::{Chain, StateSpace};
use strata_store::JobSpec;
use strata_tiles::Board;

use crate::cli::PathFormat;
use crate::output::exit::Failure;

/// Moves as words: LC for Panex, U for sliding tiles.
pub(crate) type Moves = Vec<String>;

/// Moves as they are shown, and what stands between two of them.
pub(crate) type Shown = (Vec<String>, &'static str);

/// A space that tells its moves.
pub(crate) enum Puzzle {
    /// The Panex puzzle.
    Panex(Box<Panex>),
    /// Sliding tiles.
    Tiles(Box<Tiles>),
}

impl Puzzle {
    /// Whether a space tells its moves.
    pub(crate) fn is_one(space: &str) -> bool {
        ["panex", "tiles"].contains(&space)
    }

    /// The puzzle of a job whose moves are wanted.
    pub(crate) fn open(spec: &JobSpec) -> Result<Puzzle, Failure> {
        match reopen(spec)? {
            Space::Panex(panex) => Ok(Puzzle::Panex(panex)),
            Space::Tiles(tiles) => Ok(Puzzle::Tiles(tiles)),
            Space::Hanoi(_) => Err(Failure::usage("hanoi does not tell its moves")),
        }
    }

    /// Parameters with which a space is searched from both ends.
    pub(crate) fn both_ends(space: &str) -> Option<(&'static str, &'static str)> {
        (space == "panex").then_some(("symmetry", "on"))
    }

    /// The space as the search knows it.
    pub(crate) fn space(&self) -> &dyn StateSpace {
        match self {
            Puzzle::Panex(panex) => &**panex,
            Puzzle::Tiles(tiles) => &**tiles,
        }
    }

    /// Start and goal in text form.
    pub(crate) fn ends(&self) -> [String; 2] {
        match self {
            Puzzle::Panex(panex) => [panex.start().to_string(), panex.goal().to_string()],
            Puzzle::Tiles(tiles) => {
                let goal = tiles.goal().map_or_else(String::new, ToString::to_string);
                [tiles.start().to_string(), goal]
            }
        }
    }

    /// The moves of a chain of stored states, if it leads from start to goal.
    pub(crate) fn moves(&self, chain: &Chain) -> Option<Moves> {
        match self {
            Puzzle::Panex(panex) => {
                let word = |(from, to): (usize, usize)| {
                    Move::between(*Column::ALL.get(from)?, *Column::ALL.get(to)?)
                };
                let moves = panex.unfold(chain)?.into_iter();
                moves.map(|mv| Some(word(mv)?.to_string())).collect()
            }
            Puzzle::Tiles(tiles) => {
                let text = |board: &strata_puzzles::tiles::Board| board.to_string().parse().ok();
                let boards: Vec<Board> =
                    tiles.unfold(chain)?.iter().map(text).collect::<Option<_>>()?;
                let between = |pair: &[Board]| {
                    strata_tiles::Move::ALL.into_iter().find(|mv| {
                        let mut board = pair[0].clone();
                        board.step(*mv) && board == pair[1]
                    })
                };
                boards.windows(2).map(|pair| Some(between(pair)?.to_string())).collect()
            }
        }
    }

    /// The moves between positions of which each is one move from the one before.
    pub(crate) fn moves_between(&self, way: &[String]) -> Option<Moves> {
        let Puzzle::Panex(panex) = self else { return None };
        let level = panex.config().level;
        let read = |text: &String| Position::parse(text, level).ok();
        let positions: Vec<Position> = way.iter().map(read).collect::<Option<_>>()?;
        let between = |pair: &[Position]| {
            Column::ALL.into_iter().flat_map(|from| Column::ALL.map(|to| (from, to))).find_map(
                |(from, to)| {
                    let mv = Move::between(from, to)?;
                    let mut run = Replay::new(pair[0].clone(), CentreTop::Allowed).ok()?;
                    run.step(mv).ok()?;
                    (*run.position() == pair[1]).then(|| mv.to_string())
                },
            )
        };
        positions.windows(2).map(between).collect()
    }

    /// The moves as they are shown, if they lead from start to goal and are as many as expected.
    /// Those of Panex Gold are shown without tiles, which have no names.
    pub(crate) fn replayed(
        &self,
        moves: &Moves,
        expected: Option<u64>,
        format: PathFormat,
        gold: bool,
    ) -> Result<Shown, String> {
        let shown = match self {
            Puzzle::Panex(panex) => replay_panex(panex, moves, format, gold),
            Puzzle::Tiles(_) => replay_tiles(self.ends(), moves, format),
        }?;
        if expected != Some(moves.len() as u64) {
            return Err(format!("a shortest solution has {expected:?} moves"));
        }
        Ok(shown)
    }
}

fn replay_panex(
    panex: &Panex,
    moves: &Moves,
    format: PathFormat,
    gold: bool,
) -> Result<Shown, String> {
    let level = panex.config().level;
    let read = |end: String| Position::parse(&end, level).map_err(|error| error.to_string());
    let (start, goal) = (read(panex.start().to_string())?, read(panex.goal().to_string())?);
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

/// Moves of the blank as they are shown.
pub(crate) fn show_tiles(word: &strata_tiles::Word, format: PathFormat) -> Shown {
    match format {
        PathFormat::Moves => (word.iter().map(ToString::to_string).collect(), "\n"),
        PathFormat::Words => (vec![format!("{word:#}")], ""),
    }
}

/// The space of a specification.
pub(crate) fn reopen(spec: &JobSpec) -> Result<Space, Failure> {
    Space::open(&spec.space, &spec.params).map_err(Failure::usage)
}
