//! Panex: replay of moves, and positions of Panex Gold.

use strata_replay::{CentreTop, GoldPosition, NamedMove, Position, parse_moves};

use super::extras::{Refused, Replay};
use super::gold;
use crate::output::path_form::PathFormat;
use crate::spaces::moves::Shown;

/// Replays moves. In the form of Panex Gold they are shown without the tiles, which have no names
/// there.
pub(super) fn replay(replay: &Replay<'_>) -> Result<Shown, String> {
    let Replay { ends: [start, goal], moves, format, other_form: gold, .. } = replay;
    // There are two tiles for each level.
    let tiles = start.split_whitespace().filter(|word| !matches!(*word, "/" | "-")).count();
    let level = u8::try_from(tiles / 2).unwrap_or(u8::MAX);
    let read = |end: &str| Position::parse(end, level).map_err(|error| error.to_string());
    let (start, goal) = (read(start)?, read(goal)?);
    let word = parse_moves(&moves.join(" ")).map_err(|error| error.to_string())?;
    let mut run =
        strata_replay::Replay::new(start, CentreTop::Allowed).map_err(|error| error.to_string())?;
    let named = word.iter().map(|mv| run.step(*mv)).collect::<Result<Vec<_>, _>>();
    let named = named.map_err(|error| error.to_string())?;
    if *run.position() != goal {
        return Err(format!("it ends in {}", run.position()));
    }
    Ok(match format {
        PathFormat::Moves if *gold => ((*moves).clone(), "\n"),
        PathFormat::Moves => (named.iter().map(NamedMove::to_string).collect(), "\n"),
        PathFormat::Words => ((*moves).clone(), " "),
    })
}

/// Adds levels to the tiles of a Gold position: the space and the job's record require them.
pub(super) fn read_gold(values: &[String], end: &str) -> Result<Option<String>, Refused> {
    let level = values.first().and_then(|level| level.parse().ok());
    match (level, end.trim()) {
        // The space reports a malformed level.
        (None, _) | (_, "towers" | "exchanged") => Ok(None),
        (Some(level), _) => Ok(Some(gold::read(end, level)?.to_string())),
    }
}

/// A position without levels.
pub(super) fn show_gold(end: &str) -> Option<String> {
    let position = end.parse::<Position>().ok()?;
    Some(GoldPosition::from(&position).to_string())
}
