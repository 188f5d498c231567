//! Starts and goals: parsing of states and patterns, and the states that match a pattern.

use std::collections::HashSet;

use strata_space::{SpaceError, Work, WorkError, file_content};

use super::definition::{Definition, State};
use super::effort::MAX_GOAL_SLOTS;
use super::error::Place;
use super::names::Dictionary;
use super::orbit::Orbit;
use super::sequence::read_within;
use super::text::{self, Pattern};

/// The word for the solved state.
pub(super) const SOLVED: &str = "solved";

/// Maximum number of states that match a goal.
const MAX_GOALS: usize = 100_000;

/// Maximum number of placements of a piece in a slot that are tried.
const MAX_STEPS: usize = 20_000_000;

/// The states that match any of the goals in a parameter, without repetition.
pub(super) fn all_goals(
    definition: &Definition,
    orbits: &[Orbit],
    start: &State,
    goal: &str,
    work: &Work,
) -> Result<Vec<State>, SpaceError> {
    goals_within(definition, orbits, start, (goal, MAX_GOAL_SLOTS), work)
}

/// As [`all_goals`], with a limit on the slots of all states together.
fn goals_within(
    definition: &Definition,
    orbits: &[Orbit],
    start: &State,
    (goal, most_slots): (&str, usize),
    work: &Work,
) -> Result<Vec<State>, SpaceError> {
    let unfinished = SpaceError::unfinished("finding the states of the goal");
    let slots = start.kinds.len();
    let mut is_fixed = vec![true; slots];
    orbits.iter().flat_map(|orbit| &orbit.slots).for_each(|slot| is_fixed[*slot] = false);
    let lines = goal_lines(goal);
    let mut dictionary = dictionary(definition);
    if lines.is_empty() {
        return Err(state_error("goal", "it has no goals"));
    }
    let (mut known, mut all) = (HashSet::new(), Vec::new());
    for line in &lines {
        let pattern = pattern(definition, &mut dictionary, "goal", line)?;
        let states = matching(definition, (orbits, &is_fixed), start, &pattern, work);
        let states = states.map_err(|error| match error {
            GoalError::Many(why) => state_error("goal", &why),
            GoalError::Work(error) => unfinished(error),
        })?;
        all.extend(states.into_iter().filter(|state| known.insert(state.clone())));
        if all.len().saturating_mul(slots) > most_slots {
            let most = most_slots / slots;
            let why = format!("its lines stand for more than {most} states of {slots} slots");
            return Err(state_error("goal", &why));
        }
    }
    Ok(all)
}

/// All moves and rotations of a definition.
pub(super) fn dictionary(definition: &Definition) -> Dictionary<'_> {
    Dictionary::new(definition.moves.iter().chain(&definition.rotations), &definition.shape)
}

/// A state or pattern, as text or as a sequence of moves from the solved state.
pub(super) fn pattern(
    definition: &Definition,
    dictionary: &mut Dictionary<'_>,
    name: &str,
    given: &str,
) -> Result<Pattern, SpaceError> {
    let given = given.trim();
    if given == SOLVED {
        return Ok(Pattern::of(&definition.solved));
    }
    if given.is_empty() {
        return Err(state_error(name, "it is empty"));
    }
    // A set and a move can have the same name, and a move's name can begin with a digit.
    let state = text::is_state(definition, given).then(|| text::read(definition, given));
    if let Some(Ok(state)) = state {
        return Ok(state);
    }
    let error = match (read_within(given, dictionary), state) {
        (Ok(element), _) => {
            return Ok(Pattern::of(&definition.after(&definition.solved, &element)));
        }
        (Err(_), Some(Err(why))) => return Err(state_error(name, &why)),
        (Err(error), _) => error,
    };
    let place = Place { line: error.line, column: error.column };
    let column =
        if place == Place::START { String::new() } else { format!(" (column {})", place.column) };
    Err(state_error(name, &format!("{}{column}", error.why)))
}

pub(super) fn state_error(name: &str, why: &str) -> SpaceError {
    let expected = "a state or a sequence of moves from the solved state";
    SpaceError::State { name: name.into(), expected: expected.into(), why: why.into() }
}

/// The goals in a parameter: a single one, or one for each line of a file. Lines that begin with `#`
/// are comments.
pub(super) fn goal_lines(goal: &str) -> Vec<String> {
    let content = file_content(goal).unwrap_or_else(|| goal.to_owned());
    let lines = content.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Why the search for the states that match a goal failed.
#[derive(Debug)]
enum GoalError {
    /// Too many states match, or too many placements would be tried.
    Many(String),
    /// The goals together exceed the work's steps, or the work is cancelled.
    Work(WorkError),
}

impl From<WorkError> for GoalError {
    fn from(error: WorkError) -> GoalError {
        GoalError::Work(error)
    }
}

/// The states that match a pattern and have the pieces of the start in the same orbits. Illegal states
/// are left out. `is_fixed` is by slot: whether no orbit contains it.
///
/// # Errors
/// If there are more than [`MAX_GOALS`], or finding them takes too many steps.
fn matching(
    definition: &Definition,
    (orbits, is_fixed): (&[Orbit], &[bool]),
    start: &State,
    pattern: &Pattern,
    work: &Work,
) -> Result<Vec<State>, GoalError> {
    work.spend(start.kinds.len() as u64)?;
    let matches = |slot: usize| {
        pattern.kinds[slot].is_none_or(|kind| kind == start.kinds[slot])
            && pattern.turns[slot].is_none_or(|turn| turn == start.turns[slot])
    };
    if !(0..start.kinds.len()).filter(|slot| is_fixed[*slot]).all(matches) {
        return Ok(Vec::new());
    }
    let mut states = vec![start.clone()];
    let mut steps = MAX_STEPS;
    for orbit in orbits {
        // Slots with a given piece come first, so that open slots do not use up these pieces.
        let mut slots = orbit.slots.clone();
        slots.sort_by_key(|slot| pattern.kinds[*slot].is_none());
        let counts = Vec::new();
        let mut fill = Fill { orbit, slots, pattern, states: Vec::new(), counts, steps, work };
        for state in &mut states {
            fill.counts = orbit.pieces.iter().map(|piece| piece.count).collect();
            fill.slot(0, 0, state)?;
        }
        (states, steps) = (fill.states, fill.steps);
    }
    states.retain(|state| definition.is_legal(state));
    Ok(states)
}

/// The completions of an orbit.
struct Fill<'a> {
    orbit: &'a Orbit,
    slots: Vec<usize>,
    pattern: &'a Pattern,
    states: Vec<State>,
    /// Pieces that are left.
    counts: Vec<u64>,
    steps: usize,
    work: &'a Work,
}

impl Fill<'_> {
    /// Fills a slot of the orbit and those after it. `turns` is the sum of turns before it.
    fn slot(&mut self, index: usize, turns: u32, state: &mut State) -> Result<(), GoalError> {
        let Some(slot) = self.slots.get(index).copied() else {
            let Orbit { sum, orientations, .. } = self.orbit;
            if sum.is_none_or(|sum| turns % u32::from(*orientations) == u32::from(sum)) {
                if self.states.len() == MAX_GOALS {
                    let why = format!("more than {MAX_GOALS} states match it");
                    return Err(GoalError::Many(why));
                }
                self.work.spend(state.kinds.len() as u64)?;
                self.states.push(state.clone());
            }
            return Ok(());
        };
        self.work.spend(self.orbit.pieces.len() as u64)?;
        for (number, piece) in self.orbit.pieces.iter().enumerate() {
            let fits = self.pattern.kinds[slot].is_none_or(|kind| kind == piece.kind);
            if !fits || self.counts[number] == 0 {
                continue;
            }
            let left = self.steps.checked_sub(1);
            let many = || GoalError::Many("its '?' leave too many cases".to_owned());
            self.steps = left.ok_or_else(many)?;
            self.counts[number] -= 1;
            state.kinds[slot] = piece.kind;
            for turn in 0..piece.period {
                if self.pattern.turns[slot].is_none_or(|wanted| wanted % piece.period == turn) {
                    state.turns[slot] = turn;
                    self.slot(index + 1, turns + u32::from(turn), state)?;
                }
            }
            self.counts[number] += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::group::Element;
    use strata_space::file_value;

    use super::*;
    use crate::permutation::orbit;

    #[test]
    fn the_slots_of_all_goals_are_limited() {
        let definition = Definition::read("a = (1,2,3,4)\n").unwrap();
        let moves: Vec<Element> = definition.moves.iter().map(|a| a.element.clone()).collect();
        let start = definition.solved.clone();
        let orbits = orbit::orbits(&definition, &start, &moves);
        let goals = |lines: &str, most| {
            let goal = file_value(lines);
            goals_within(&definition, &orbits, &start, (&goal, most), &Work::default())
        };
        assert_eq!(goals("a\na a\na\n", 8).unwrap().len(), 2);
        let error = goals("a\na a\na a a\n", 8).unwrap_err().to_string();
        assert!(error.contains("more than 2 states of 4 slots"), "{error}");
        assert_eq!(goals("a\na a\na a a\n", 12).unwrap().len(), 3);
        let all = all_goals(&definition, &orbits, &start, "a a", &Work::default());
        assert_eq!(all.unwrap().len(), 1);
    }
}
