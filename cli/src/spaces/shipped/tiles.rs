//! Sliding tiles: replay of moves, and their text form.

use strata_tiles::{Board, Word};

use crate::args::path::PathFormat;
use crate::spaces::moves::{Moves, Shown};

/// Replays moves. Boards have one form only.
pub(super) fn replay(
    [start, goal]: [String; 2],
    moves: &Moves,
    format: PathFormat,
    _: bool,
) -> Result<Shown, String> {
    let mut board: Board = start.parse().map_err(|error| format!("{start}: {error}"))?;
    let word: Word = moves.concat().parse().map_err(|error| format!("{error}"))?;
    for (index, mv) in word.iter().enumerate() {
        if !board.step(*mv) {
            return Err(format!("move {}, {mv}: the blank is at the edge", index + 1));
        }
    }
    if board.to_string() != goal {
        return Err(format!("it ends in {board}"));
    }
    Ok(show(&word, format))
}

/// Text form of the moves of the blank.
pub(super) fn show(word: &Word, format: PathFormat) -> Shown {
    match format {
        PathFormat::Moves => (word.iter().map(ToString::to_string).collect(), "\n"),
        PathFormat::Words => (vec![format!("{word:#}")], ""),
    }
}
