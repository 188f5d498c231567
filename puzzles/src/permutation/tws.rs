//! Reader of `.tws` files, the format of twsearch.

use super::blocks::{self, Style};
use super::builder::Builder;
use super::definition::{Definition, Format};
use super::error::ReadError;
use super::lines::{Line, Lines};

/// Reads a definition.
///
/// # Errors
/// With the place of the first fault.
pub(super) fn read(text: &str) -> Result<Definition, ReadError> {
    let mut builder = Builder::new(Format::Tws);
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next() {
        if blocks::common(&line, &mut lines, &mut builder)? {
            continue;
        }
        match line.first.text {
            "StartState" => blocks::solved(&line, &mut lines, &mut builder, Style::Transformation)?,
            "MoveTransformation" => {
                blocks::a_move(&line, &mut lines, &mut builder, Style::Transformation)?;
            }
            "MoveAlias" => {
                let [name, other] = line.arguments("a new name and the name of a move")?;
                builder.add_sequence(name.text, name.place, other.text, other.place)?;
            }
            "MoveSequence" => sequence(&line, &mut builder)?,
            "Illegal" => illegal(&line, &mut builder)?,
            _ => {
                let expected = "Name, Set, Solved, StartState, Move, MoveTransformation, MoveAlias, \
                                MoveSequence or Illegal";
                return Err(line.first.place.expected(expected, line.first.text));
            }
        }
    }
    builder.finish(lines.end())
}

fn sequence(line: &Line<'_>, builder: &mut Builder) -> Result<(), ReadError> {
    let [name, first, ..] = &*line.rest else {
        return Err(line.first.place.error("expected a name and a sequence of moves"));
    };
    // Each word keeps its column, so that errors name it.
    let mut text = String::new();
    for word in &line.rest[1..] {
        let column = word.place.column - first.place.column;
        text.extend(std::iter::repeat_n(' ', column.saturating_sub(text.chars().count())));
        text.push_str(word.text);
    }
    builder.add_sequence(name.text, name.place, &text, first.place)
}

fn illegal(line: &Line<'_>, builder: &mut Builder) -> Result<(), ReadError> {
    let [set, slot, labels @ ..] = &*line.rest else {
        return Err(line.first.place.error("expected a set, a slot and numbers of pieces"));
    };
    let Some(number) = builder.set(set.text) else {
        return Err(set.place.expected("a set", set.text));
    };
    let slot = slot.number(1, builder.sets()[number].size as u16)?;
    for label in labels {
        builder.forbid(number, usize::from(slot) - 1, label.number(0, u16::MAX)?, label.place)?;
    }
    Ok(())
}
