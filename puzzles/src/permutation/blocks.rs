//! Commands that `.tws` and `.def` files share: `Name`, `Set`, `Solved` and `Move`.
//!
//! The orientations of a move belong to the slots that its pieces leave, as in twsearch and ksolve+.
//! In the twsearch commands that count from 0 they belong to the slots that pieces come to.

use crate::group::Element;

use super::builder::Builder;
use super::definition::{Set, SolvedSet};
use super::error::{Place, ReadError};
use super::lines::{Line, Lines, Word};

/// How numbers and orientations are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// From 1; orientations belong to the slots that pieces leave.
    Classic,
    /// From 0; orientations belong to the slots that pieces come to.
    Transformation,
}

/// The largest number of pieces of a set, and the largest label.
const MAX_NUMBER: u16 = 255;

/// The largest number of orientations, as in twsearch.
const MAX_ORIENTATIONS: u16 = 127;

/// The rows of one set in a block.
struct Rows<'a> {
    pieces: Vec<Word<'a>>,
    turns: Option<Vec<Word<'a>>>,
}

impl Style {
    fn first(self) -> u16 {
        match self {
            Style::Classic => 1,
            Style::Transformation => 0,
        }
    }
}

/// Reads the command of a line. Returns whether it is one of the commands that both formats share.
///
/// # Errors
/// If the command is malformed.
pub(super) fn common<'a>(
    line: &Line<'a>,
    lines: &mut Lines<'a>,
    builder: &mut Builder,
) -> Result<bool, ReadError> {
    match line.first.text {
        "Name" => {
            let words: Vec<&str> = line.rest.iter().map(|word| word.text).collect();
            builder.name(&words.join(" "), line.first.place)?;
        }
        "Set" => {
            let [name, size, orientations] =
                line.arguments("a name, a number of pieces and a number of orientations")?;
            let size = size.number(1, MAX_NUMBER)?;
            let orientations = orientations.number(1, MAX_ORIENTATIONS)? as u8;
            if builder.is_solved() {
                return Err(line.first.place.error("expected all sets before the solved state"));
            }
            builder.add_set(name.text, size.into(), orientations, name.place)?;
        }
        "Solved" => solved(line, lines, builder, Style::Classic)?,
        "Move" => a_move(line, lines, builder, Style::Classic)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Reads the solved state.
///
/// # Errors
/// If a row is malformed, or there is a solved state already.
pub(super) fn solved<'a>(
    line: &Line<'a>,
    lines: &mut Lines<'a>,
    builder: &mut Builder,
    style: Style,
) -> Result<(), ReadError> {
    let [] = line.arguments("no more words")?;
    let rows = block(lines, builder)?;
    let parts = builder.sets().iter().zip(rows).map(|(set, rows)| match rows {
        Some(rows) => solved_set(set, &rows, style),
        None => Ok(SolvedSet::ordered(set, style.first())),
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    builder.solve(parts, line.first.place)
}

fn solved_set(set: &Set, rows: &Rows<'_>, style: Style) -> Result<SolvedSet, ReadError> {
    let label = |word: &Word<'_>| word.number(style.first(), MAX_NUMBER);
    let mut solved = SolvedSet::ordered(set, style.first());
    solved.labels = rows.pieces.iter().map(label).collect::<Result<_, _>>()?;
    let Some(turns) = &rows.turns else { return Ok(solved) };
    for (slot, word) in turns.iter().enumerate() {
        if word.text == "?" {
            solved.periods[slot] = 1;
        } else {
            solved.turns[slot] = word.number(0, u16::from(set.orientations) - 1)? as u8;
        }
    }
    Ok(solved)
}

/// Reads a move.
///
/// # Errors
/// If the rows are not a permutation with orientations.
pub(super) fn a_move<'a>(
    line: &Line<'a>,
    lines: &mut Lines<'a>,
    builder: &mut Builder,
    style: Style,
) -> Result<(), ReadError> {
    let [name] = line.arguments("the name of a move")?;
    let element = element(lines, builder, line.first.place, style)?;
    builder.add_move(name.text, element, name.place)
}

fn element(
    lines: &mut Lines<'_>,
    builder: &Builder,
    place: Place,
    style: Style,
) -> Result<Element, ReadError> {
    let shape = builder.shape(place)?;
    let rows = block(lines, builder)?;
    let (mut images, mut turns) = (Vec::new(), Vec::new());
    for (set, rows) in builder.sets().iter().zip(rows) {
        let offset = set.offset as u16;
        let Some(rows) = rows else {
            images.extend(set.slots().map(|slot| slot as u16));
            turns.resize(images.len(), 0);
            continue;
        };
        let from = permutation(set, &rows.pieces, style)?;
        let turned = match &rows.turns {
            Some(words) => {
                let turn = |word: &Word<'_>| word.number(0, u16::from(set.orientations) - 1);
                words.iter().map(turn).collect::<Result<_, _>>()?
            }
            None => vec![0; set.size],
        };
        for (slot, from) in from.iter().enumerate() {
            let by = if style == Style::Classic { usize::from(*from) } else { slot };
            images.push(offset + from);
            turns.push(turned[by] as u8);
        }
    }
    shape.element(&images, &turns).map_err(|error| place.error(error.to_string()))
}

/// The slots of a set, from 0, that pieces come from.
fn permutation(set: &Set, words: &[Word<'_>], style: Style) -> Result<Vec<u16>, ReadError> {
    let mut seen = vec![false; set.size];
    let mut from = Vec::with_capacity(set.size);
    for word in words {
        let first = style.first();
        let slot = word.number(first, set.size as u16 - 1 + first)? - first;
        if std::mem::replace(&mut seen[usize::from(slot)], true) {
            return Err(word.place.error(format!("'{}' appears twice", word.text)));
        }
        from.push(slot);
    }
    Ok(from)
}

/// The rows of each set up to `End`.
fn block<'a>(lines: &mut Lines<'a>, builder: &Builder) -> Result<Vec<Option<Rows<'a>>>, ReadError> {
    let mut blocks: Vec<Option<Rows<'a>>> = builder.sets().iter().map(|_| None).collect();
    loop {
        let Some(line) = lines.next() else { return Err(lines.end().error("expected 'End'")) };
        let [] = line.arguments("no more words")?;
        if line.first.text == "End" {
            return Ok(blocks);
        }
        let Some(number) = builder.set(line.first.text) else {
            return Err(line.first.place.expected("a set or 'End'", line.first.text));
        };
        let size = builder.sets()[number].size;
        let Some(pieces) = row(lines, size)? else {
            return Err(line.first.place.error(format!("expected {size} numbers below this name")));
        };
        let rows = Rows { pieces, turns: row(lines, size)? };
        if blocks[number].replace(rows).is_some() {
            return Err(line.first.place.error(format!("'{}' appears twice", line.first.text)));
        }
    }
}

/// The words of the next line, if it is a row of numbers.
fn row<'a>(lines: &mut Lines<'a>, size: usize) -> Result<Option<Vec<Word<'a>>>, ReadError> {
    let Some(line) = lines.next_row() else { return Ok(None) };
    let words: Vec<Word<'a>> = line.words().copied().collect();
    if words.len() == size {
        return Ok(Some(words));
    }
    let place = words.get(size).unwrap_or(&line.first).place;
    Err(place.error(format!("expected {size} numbers in this line, found {}", words.len())))
}
