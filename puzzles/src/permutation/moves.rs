//! The moves of a search: those of a definition, selected, with their powers or inverses.

use std::collections::HashSet;

use crate::group::Element;
use strata_space::SpaceError;

use super::definition::{Definition, Format, NamedElement};
use super::effort::MAX_MOVE_SLOTS;
use super::error::shortened;
use super::names::{Dictionary, Power};
use super::sequence::{MAX_POWER, order_within};

/// The largest order of a move whose powers are all moves.
const MAX_ORDER: u64 = 1000;

/// Metric: what counts as one move.
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
    /// Inverses are moves.
    Added,
    /// Inverses are not moves unless they are generators; the parameter `inverses` adds them.
    Optional,
    /// Inverses are not moves unless they are generators; no parameter of the puzzle adds them.
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

/// The moves of a search, with notes on unusual names.
#[derive(Clone, Debug)]
pub(super) struct Expanded {
    pub(super) moves: Vec<NamedElement>,
    /// For each move whose name is not written in the usual form, the reason.
    pub(super) clashes: Vec<String>,
}

/// A selected move, or a power of one, before powers and inverses are added.
struct Base {
    power: Power,
    element: Element,
}

/// The moves of a selection, at least one.
///
/// # Errors
/// As [`expand`], and if no move changes anything.
pub(super) fn select(
    definition: &Definition,
    selection: Selection<'_>,
) -> Result<Vec<NamedElement>, SpaceError> {
    let name = if selection.names.is_some() { "moves" } else { "file" };
    let moves = expand(definition, selection)?.moves;
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
) -> Result<Expanded, SpaceError> {
    let most = MAX_MOVE_SLOTS / definition.shape.slots();
    let base = match selection.names {
        None => {
            let base = |mv: &NamedElement| Base {
                power: Power { name: mv.name.clone(), exponent: 1 },
                element: mv.element.clone(),
            };
            definition.moves.iter().map(base).collect()
        }
        Some(names) => {
            if names.split(',').count() > most {
                return Err(too_many(definition, selection));
            }
            let dictionary = Dictionary::new(&definition.moves, &definition.shape);
            let base = |name: &str| named(definition, &dictionary, name.trim());
            names.split(',').map(base).collect::<Result<_, _>>()?
        }
    };
    let all = if definition.format == Format::Generators {
        generators(definition, base, selection)?
    } else if selection.inverses == Inverses::Added {
        return Err(conflict("inverses", "the moves of this format have their inverses"));
    } else {
        powers(definition, base, selection)?
    };
    let dictionary =
        Dictionary::new(definition.moves.iter().chain(&definition.rotations), &definition.shape);
    let mut known = HashSet::new();
    let mut expanded = Expanded { moves: Vec::new(), clashes: Vec::new() };
    for Base { power, element } in all {
        if element.is_identity() || !known.insert(element.clone()) {
            continue;
        }
        let written = dictionary.written(&power);
        expanded.clashes.extend(written.avoided.map(|usual| {
            let why = match dictionary.word(&usual) {
                Ok(_) => "is another move",
                Err(_) => "would not be read as this move",
            };
            format!("{} is not written {usual}, which {why}", written.text)
        }));
        expanded.moves.push(NamedElement { name: written.text, element });
    }
    Ok(expanded)
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

/// Reads the name of a move or of a power of one.
fn named(
    definition: &Definition,
    dictionary: &Dictionary<'_>,
    text: &str,
) -> Result<Base, SpaceError> {
    let refused = |expected: String| SpaceError::Malformed {
        name: "moves".into(),
        value: text.into(),
        expected,
    };
    let power = dictionary.word(text).map_err(|meanings| match &*meanings {
        [] => refused(format!("names among {}", listed(definition, dictionary))),
        meanings => {
            refused(format!("names of moves, of which one could be {}", meanings.join(" or ")))
        }
    })?;
    if power.exponent.unsigned_abs() > MAX_POWER {
        return Err(refused(format!("powers of at most {MAX_POWER}")));
    }
    let element = dictionary.power(&power);
    let element = element.ok_or_else(|| refused("moves of the file".into()))?;
    Ok(Base { power, element })
}

fn listed(definition: &Definition, dictionary: &Dictionary<'_>) -> String {
    let name =
        |mv: &NamedElement| dictionary.written(&Power { name: mv.name.clone(), exponent: 1 }).text;
    let names: Vec<String> = definition.moves.iter().map(name).collect();
    match names.get(..12) {
        Some(first) if names.len() > 12 => format!("{} and more", first.join(", ")),
        _ => names.join(", "),
    }
}

fn generators(
    definition: &Definition,
    base: Vec<Base>,
    selection: Selection<'_>,
) -> Result<Vec<Base>, SpaceError> {
    if selection.metric == Metric::Quarter {
        return Err(conflict("metric", "generators are moves as they stand"));
    }
    let inverse = |mv: &Base| {
        let Power { name, exponent } = mv.power.clone();
        let element = mv.element.inverse(&definition.shape)?;
        Some(Base { power: Power { name, exponent: -exponent }, element })
    };
    let is_added = selection.inverses == Inverses::Added;
    let inverses: Vec<Base> = base.iter().filter(|_| is_added).filter_map(inverse).collect();
    Ok(base.into_iter().chain(inverses).collect())
}

fn powers(
    definition: &Definition,
    base: Vec<Base>,
    selection: Selection<'_>,
) -> Result<Vec<Base>, SpaceError> {
    let shape = &definition.shape;
    let most = MAX_MOVE_SLOTS / shape.slots();
    let mut all = Vec::new();
    for Base { power: Power { name, exponent }, element } in base {
        let short = shortened(&name);
        let Some(order) = order_within(&element, shape, MAX_ORDER) else {
            let why = format!("'{short}' has more than {MAX_ORDER} powers");
            return Err(conflict("moves", &why));
        };
        let root = definition.moves.iter().find(|mv| mv.name == name);
        let root_order = root.and_then(|root| order_within(&root.element, shape, MAX_POWER));
        let mut add = |power: u64, element: Element| {
            let exponent = match root_order {
                Some(order) => nearest(exponent.saturating_mul(power as i64), order as i64),
                None => exponent.saturating_mul(nearest(power as i64, order as i64)),
            };
            if exponent.unsigned_abs() > MAX_POWER {
                let why = format!("'{short}' would have powers above {MAX_POWER}");
                return Err(conflict("moves", &why));
            }
            all.push(Base { power: Power { name: name.clone(), exponent }, element });
            if all.len() > most { Err(too_many(definition, selection)) } else { Ok(()) }
        };
        match selection.metric {
            Metric::Half => {
                let next = |power: &Element| power.times(&element, shape);
                let powers = std::iter::successors(Some(element.clone()), next);
                (1..order).zip(powers).try_for_each(|(power, element)| add(power, element))?;
            }
            Metric::Quarter => {
                for power in [1, order - 1] {
                    if let Some(element) = element.power(power, shape) {
                        add(power, element)?;
                    }
                }
            }
        }
    }
    Ok(all)
}

/// The exponent of least absolute value that is congruent to `exponent` modulo `order`. If there are two,
/// the positive one.
fn nearest(exponent: i64, order: i64) -> i64 {
    let rest = exponent.rem_euclid(order);
    if rest * 2 > order { rest - order } else { rest }
}

/// The error for moves with too many slots in total.
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
