//! The states that match a goal with open pieces or turns.

use strata_space::{Work, WorkError, file_content};

use super::definition::{Definition, State};
use super::ranking::Orbit;
use super::text::Pattern;

/// Most states that a goal may stand for.
const MAX_GOALS: usize = 100_000;

/// Most pieces that are tried in slots.
const MAX_STEPS: usize = 20_000_000;

/// The goals in a parameter: a single one, or one for each line of a file. Lines that begin with `#`
/// are comments.
pub(super) fn goal_lines(goal: &str) -> Vec<String> {
    let content = file_content(goal).unwrap_or_else(|| goal.to_owned());
    let lines = content.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Why the states that match a goal are not found.
#[derive(Debug)]
pub(super) enum GoalError {
    /// There are too many of them, or too many cases.
    Many(String),
    /// The goals together take too many steps, or nobody waits for them.
    Work(WorkError),
}

impl From<WorkError> for GoalError {
    fn from(error: WorkError) -> GoalError {
        GoalError::Work(error)
    }
}

/// The states that match, with the pieces of the start in the same orbits. Illegal states are left
/// out. `is_fixed` says by slot whether no orbit has it.
///
/// # Errors
/// If there are more than [`MAX_GOALS`], or finding them takes too many steps.
pub(super) fn matching(
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
        // Given pieces first, so that they are not used up.
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
            let sum = self.orbit.sum;
            if sum.is_none_or(|(of, sum)| turns % u32::from(of) == u32::from(sum)) {
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
