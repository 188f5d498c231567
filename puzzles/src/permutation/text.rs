//! Text form of states, such as `CORNERS 1 2 3 / 0 0 1; EDGES 1 2`.
//!
//! Sets are separated by semicolons. A set is its name, the numbers of its pieces as in the file, and,
//! after a slash, their turns. A puzzle with one set needs no name. Turns that are left out are 0, and
//! sets that are left out are as in the solved state. In a goal, `?` stands for any piece or turn.

use super::definition::{Definition, Kind, Set, State};

/// A state in which pieces and turns may be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// By slot, the kind of the piece.
    pub(super) kinds: Vec<Option<u16>>,
    /// By slot, the turn.
    pub(super) turns: Vec<Option<u8>>,
}

impl Pattern {
    /// The pattern that matches one state only.
    pub(super) fn of(state: &State) -> Pattern {
        Pattern {
            kinds: state.kinds.iter().copied().map(Some).collect(),
            turns: state.turns.iter().copied().map(Some).collect(),
        }
    }

    /// The only state that matches, if all pieces and turns are given.
    pub(super) fn state(&self) -> Option<State> {
        let kinds = self.kinds.iter().copied().collect::<Option<Vec<u16>>>()?;
        let turns = self.turns.iter().copied().collect::<Option<Vec<u8>>>()?;
        Some(State { kinds, turns })
    }
}

/// Whether a text is a state, and not a sequence of moves: it begins with a number, `?`, or the name
/// of a set that a number or `?` follows.
pub(super) fn is_state(definition: &Definition, text: &str) -> bool {
    let begins = |word: Option<&str>| {
        word.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '?'))
    };
    let mut words = text.split_whitespace();
    let first = words.next();
    begins(first)
        || first.is_some_and(|first| definition.sets.iter().any(|set| set.name == first))
            && begins(words.next())
}

/// The text of a state.
pub(super) fn write(definition: &Definition, state: &State) -> String {
    let is_single = definition.sets.len() == 1;
    let set_text = |set: &Set| {
        let mut words = if is_single { Vec::new() } else { vec![set.name.clone()] };
        let kinds: Vec<Option<&Kind>> =
            set.slots().map(|slot| set.kinds.get(usize::from(state.kinds[slot]))).collect();
        words.extend(kinds.iter().map(|kind| kind.map_or(0, |kind| kind.label).to_string()));
        if set.orientations > 1 {
            words.push("/".to_owned());
            words.extend(set.slots().zip(kinds).map(|(slot, kind)| {
                let is_open = kind.is_some_and(|kind| kind.orientations == 1);
                if is_open { "?".to_owned() } else { state.turns[slot].to_string() }
            }));
        }
        words.join(" ")
    };
    definition.sets.iter().map(set_text).collect::<Vec<_>>().join("; ")
}

/// Reads a state or pattern.
///
/// # Errors
/// A description of the fault.
pub(super) fn read(definition: &Definition, text: &str) -> Result<Pattern, String> {
    let mut pattern = Pattern::of(&definition.solved);
    let mut seen = vec![false; definition.sets.len()];
    for part in text.split(';') {
        let mut words = part.split_whitespace().peekable();
        let first = words.peek().copied().unwrap_or_default();
        let named = definition.sets.iter().position(|set| set.name == first);
        if named.is_some() {
            words.next();
        }
        let number = match (named, definition.sets.len()) {
            (Some(number), _) => number,
            (None, 1) => 0,
            (None, _) => {
                let names: Vec<&str> =
                    definition.sets.iter().map(|set| set.name.as_str()).collect();
                return Err(format!("'{first}' is not a set ({})", names.join(", ")));
            }
        };
        let set = &definition.sets[number];
        if std::mem::replace(&mut seen[number], true) {
            return Err(format!("{} appears twice", set.name));
        }
        let words: Vec<&str> = words.collect();
        let (pieces, turns) = match words.iter().position(|word| *word == "/") {
            Some(slash) if slash + 1 == words.len() => {
                return Err(format!("{} has no turns after '/'", set.name));
            }
            Some(slash) => (&words[..slash], &words[slash + 1..]),
            None => (&words[..], &[][..]),
        };
        read_set(set, pieces, turns, &mut pattern)?;
    }
    Ok(pattern)
}

/// A word of digits only.
fn number(word: &str) -> Option<u16> {
    word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn read_set(
    set: &Set,
    pieces: &[&str],
    turns: &[&str],
    pattern: &mut Pattern,
) -> Result<(), String> {
    let name = &set.name;
    if pieces.len() != set.size || !turns.is_empty() && turns.len() != set.size {
        let (found, size) = (if pieces.len() == set.size { turns } else { pieces }.len(), set.size);
        return Err(format!("{name} has {size} slots, and {found} numbers are given"));
    }
    let mut counts = vec![0; set.kinds.len()];
    for (slot, word) in set.slots().zip(pieces) {
        let kind = match *word {
            "?" => None,
            word => {
                let label = number(word);
                let kind = label.and_then(|label| set.kind_of(label));
                Some(kind.ok_or_else(|| format!("{name} has no piece '{word}'"))?)
            }
        };
        if let Some(kind) = kind {
            counts[usize::from(kind)] += 1;
        }
        pattern.kinds[slot] = kind;
    }
    if let Some((kind, _)) =
        set.kinds.iter().zip(&counts).find(|(kind, count)| **count > kind.count)
    {
        return Err(format!("{name} has piece {} {} times", kind.label, kind.count));
    }
    for (index, slot) in set.slots().enumerate() {
        let kind = pattern.kinds[slot].and_then(|kind| set.kinds.get(usize::from(kind)));
        pattern.turns[slot] = match turns.get(index).copied().unwrap_or("0") {
            "?" => kind.filter(|kind| kind.orientations == 1).map(|_| 0),
            word => {
                let turn = number(word)
                    .and_then(|turn| u8::try_from(turn).ok())
                    .filter(|turn| *turn < set.orientations)
                    .ok_or_else(|| format!("{name} has no turn '{word}'"))?;
                Some(kind.map_or(turn, |kind| turn % kind.orientations))
            }
        };
    }
    Ok(())
}
