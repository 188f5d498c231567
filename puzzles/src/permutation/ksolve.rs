//! Reader of `.def` files, the format of ksolve+.

use super::blocks;
use super::builder::Builder;
use super::definition::{Definition, Format};
use super::error::{Place, ReadError};
use super::lines::Lines;

/// Commands, each up to `End`, that control how ksolve+ solves scrambles. A search does not use them:
/// pieces that `Ignore` names count as different.
const WITHOUT_EFFECT: [&str; 3] = ["Ignore", "Multiplicators", "ParallelMoves"];

/// Commands that forbid sequences or combinations of moves.
const REFUSED: [&str; 3] = ["Block", "ForbiddenPairs", "ForbiddenGroups"];

/// Whether only this format has a command.
pub(super) fn has_command(word: &str) -> bool {
    WITHOUT_EFFECT.contains(&word) || REFUSED.contains(&word)
}

/// Reads a definition.
///
/// # Errors
/// With the place of the first fault.
pub(super) fn read(text: &str) -> Result<Definition, ReadError> {
    let mut builder = Builder::new(Format::Ksolve);
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next() {
        let (word, place) = (line.first.text, line.first.place);
        if blocks::common(&line, &mut lines, &mut builder)? {
            continue;
        }
        if REFUSED.contains(&word) {
            let why = format!(
                "{word} is not supported: which moves are possible would depend on more than places of pieces"
            );
            return Err(place.error(why));
        }
        if !WITHOUT_EFFECT.contains(&word) {
            let expected = "Name, Set, Solved, Move, Ignore, Multiplicators or ParallelMoves";
            return Err(place.expected(expected, word));
        }
        skip(&mut lines, place)?;
        builder.note(word, place);
    }
    builder.finish(lines.end())
}

/// Skips a block up to its `End`.
fn skip(lines: &mut Lines<'_>, begin: Place) -> Result<(), ReadError> {
    match lines.find(|line| line.first.text == "End") {
        Some(_) => Ok(()),
        None => Err(begin.error("expected 'End' after this command")),
    }
}
