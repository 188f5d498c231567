//! The moves of a search: those of a definition, selected, with their powers or inverses.

use std::collections::HashSet;

use strata_group::Element;
use strata_space::SpaceError;

use super::definition::{Definition, Format, NamedElement};
use super::effort::MAX_MOVE_SLOTS;
use super::sequence::{order_within, power_name, read_within};

/// The largest order of a move whose powers are all moves.
const MAX_ORDER: u64 = 1000;

/// What counts as one move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    /// Every power of a move.
    Half,
    /// A move and its inverse.
    Quarter,
}

/// Whether the inverses of generators are moves, too.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Inverses {
    /// They are.
    Added,
    /// They are not, and the parameter `inverses` adds them.
    Optional,
    /// They are not, and the puzzle has no parameter that adds them.
    Excluded,
}

/// Which moves are searched.
#[derive(Copy, Clone, Debug)]
pub(super) struct Selection<'a> {
    /// Names or powers, separated by commas; all moves if none are given.
    pub(super) names: Option<&'a str>,
    pub(super) metric: Metric,
    pub(super) inverses: Inverses,
}

/// The moves of a selection that a search can use.
///
/// # Errors
/// If [`expand`] refuses them, or no move changes anything.
pub(super) fn select(
    definition: &Definition,
    selection: Selection<'_>,
) -> Result<Vec<NamedElement>, SpaceError> {
    let name = if selection.names.is_some() { "moves" } else { "file" };
    let moves = expand(definition, selection)?;
    if moves.is_empty() {
        return Err(conflict(name, "no move changes anything"));
    }
    Ok(moves)
}

/// The moves of a selection, without those that change nothing or equal an earlier one.
///
/// # Errors
/// If a name is unknown, or an option does not apply.
pub(super) fn expand(
    definition: &Definition,
    selection: Selection<'_>,
) -> Result<Vec<NamedElement>, SpaceError> {
    let most = MAX_MOVE_SLOTS / definition.shape.slots();
    let base = match selection.names {
        None => definition.moves.clone(),
        Some(names) => {
            let count = names.split(',').count();
            if count > most {
                return Err(too_many(definition, selection));
            }
            names.split(',').map(|name| named(definition, name.trim())).collect::<Result<_, _>>()?
        }
    };
    let all = if definition.format == Format::Generators {
        generators(definition, base, selection)?
    } else if selection.inverses == Inverses::Added {
        return Err(conflict("inverses", "the moves of this format have their inverses"));
    } else {
        powers(definition, base, selection)?
    };
    let mut known = HashSet::new();
    let is_new = |mv: &NamedElement| !mv.element.is_identity() && known.insert(mv.element.clone());
    Ok(all.into_iter().filter(is_new).collect())
}

/// The moves whose inverses are not moves.
pub(super) fn directed<'a>(
    definition: &'a Definition,
    moves: &'a [NamedElement],
) -> impl Iterator<Item = &'a NamedElement> {
    let known: HashSet<&Element> = moves.iter().map(|mv| &mv.element).collect();
    moves.iter().filter(move |mv| {
        mv.element.inverse(&definition.shape).is_none_or(|inverse| !known.contains(&inverse))
    })
}

fn conflict(name: &str, why: &str) -> SpaceError {
    SpaceError::Conflict { name: name.into(), why: why.into() }
}

/// A move, or a power of one.
fn named(definition: &Definition, name: &str) -> Result<NamedElement, SpaceError> {
    let element = read_within(name, definition, || definition.moves.iter());
    let is_word =
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "()[]".contains(c));
    match element {
        Ok(element) if is_word => Ok(NamedElement { name: name.to_owned(), element }),
        _ => Err(SpaceError::Malformed {
            name: "moves".into(),
            value: name.into(),
            expected: format!("names among {}", listed(definition)),
        }),
    }
}

fn listed(definition: &Definition) -> String {
    let names: Vec<&str> = definition.moves.iter().map(|mv| mv.name.as_str()).collect();
    match names.get(..12) {
        Some(first) if names.len() > 12 => format!("{} and more", first.join(", ")),
        _ => names.join(", "),
    }
}

fn generators(
    definition: &Definition,
    base: Vec<NamedElement>,
    selection: Selection<'_>,
) -> Result<Vec<NamedElement>, SpaceError> {
    if selection.metric == Metric::Quarter {
        return Err(conflict("metric", "generators are moves as they stand"));
    }
    let mut all = base.clone();
    for mv in base.into_iter().filter(|_| selection.inverses == Inverses::Added) {
        if let Some(element) = mv.element.inverse(&definition.shape) {
            // An inverse is written like the highest power, whatever the order.
            all.push(NamedElement { name: power_name(&mv.name, 2, 3), element });
        }
    }
    Ok(all)
}

fn powers(
    definition: &Definition,
    base: Vec<NamedElement>,
    selection: Selection<'_>,
) -> Result<Vec<NamedElement>, SpaceError> {
    let shape = &definition.shape;
    let most = MAX_MOVE_SLOTS / shape.slots();
    let mut all = Vec::new();
    for NamedElement { name, element } in base {
        let Some(order) = order_within(&element, shape, MAX_ORDER) else {
            let why = format!("'{name}' has more than {MAX_ORDER} powers");
            return Err(conflict("moves", &why));
        };
        let mut add = |exponent, element| {
            all.push(NamedElement { name: power_name(&name, exponent, order), element });
            if all.len() > most { Err(too_many(definition, selection)) } else { Ok(()) }
        };
        match selection.metric {
            Metric::Half => {
                let next = |power: &Element| power.times(&element, shape);
                let powers = std::iter::successors(Some(element.clone()), next);
                (1..order).zip(powers).try_for_each(|(exponent, power)| add(exponent, power))?;
            }
            Metric::Quarter => {
                for exponent in [1, order - 1] {
                    if let Some(power) = element.power(exponent, shape) {
                        add(exponent, power)?;
                    }
                }
            }
        }
    }
    Ok(all)
}

/// The refusal of moves that are too many for their slots.
fn too_many(definition: &Definition, selection: Selection<'_>) -> SpaceError {
    let name = if selection.names.is_some() { "moves" } else { "file" };
    let slots = definition.shape.slots();
    let most = MAX_MOVE_SLOTS / slots;
    let why = format!(
        "its moves and their powers are more than {most}, which is {MAX_MOVE_SLOTS} divided by the \
         {slots} slots"
    );
    conflict(name, &why)
}
