//! Sliding tiles: replay of moves, and their text form.

use strata_replay::tiles::{Board, Choices, Word, follow};

use super::extras::Replay;
use crate::output::path_form::PathFormat;
use crate::spaces::moves::Shown;

/// Replays moves of the blank, by the rules of clockwise walks if the search has them. Ignores
/// `other_form`, since boards have one text form.
pub(super) fn replay(replay: &Replay<'_>) -> Result<Shown, String> {
    let [start, goal] = &replay.ends;
    let start: Board = start.parse().map_err(|error| format!("{start}: {error}"))?;
    let word: Word = replay.moves.concat().parse().map_err(|error| format!("{error}"))?;
    let end = match choices(replay)? {
        Some(choices) => follow(&start, &word, choices).map_err(|error| error.to_string())?,
        None => moved(start, &word)?,
    };
    if end.to_string() != *goal {
        return Err(format!("it ends in {end}"));
    }
    Ok(match replay.format {
        PathFormat::Moves => (word.iter().map(ToString::to_string).collect(), "\n"),
        PathFormat::Words => (vec![format!("{word:#}")], ""),
    })
}

/// The choices of a search for clockwise walks; none for other moves.
fn choices(replay: &Replay<'_>) -> Result<Option<Choices>, String> {
    let value = |name: &str| replay.parameters.get(name).map(String::as_str);
    if value("moves") != Some("clockwise") {
        return Ok(None);
    }
    match value("choices") {
        None | Some("free") => Ok(Some(Choices::Free)),
        Some("limited") => Ok(Some(Choices::Side)),
        Some("bottom") => Ok(Some(Choices::Bottom)),
        Some(other) => Err(format!("there are no rules for choices '{other}'")),
    }
}

fn moved(mut board: Board, word: &Word) -> Result<Board, String> {
    for (index, mv) in word.iter().enumerate() {
        if !board.step(*mv) {
            return Err(format!("move {}, {mv}: the blank is at the edge", index + 1));
        }
    }
    Ok(board)
}
