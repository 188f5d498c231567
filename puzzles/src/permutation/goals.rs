//! The states that match a goal with open pieces or turns.

use strata_space::file_content;

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

/// The states that match, with the pieces of the start in the same orbits. Illegal states are left
/// out.
///
/// # Errors
/// If there are more than [`MAX_GOALS`], or finding them takes too long.
pub(super) fn matching(
    definition: &Definition,
    orbits: &[Orbit],
    start: &State,
    pattern: &Pattern,
) -> Result<Vec<State>, String> {
    let matches = |slot: usize| {
        pattern.kinds[slot].is_none_or(|kind| kind == start.kinds[slot])
            && pattern.turns[slot].is_none_or(|turn| turn == start.turns[slot])
    };
    let is_fixed = |slot: &usize| !orbits.iter().any(|orbit| orbit.slots.contains(slot));
    if !(0..start.kinds.len()).filter(is_fixed).all(matches) {
        return Ok(Vec::new());
    }
    let mut states = vec![start.clone()];
    let mut steps = MAX_STEPS;
    for orbit in orbits {
        // Given pieces first, so that they are not used up.
        let mut slots = orbit.slots.clone();
        slots.sort_by_key(|slot| pattern.kinds[*slot].is_none());
        let counts = Vec::new();
        let mut fill = Fill { orbit, slots, pattern, states: Vec::new(), counts, steps };
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
}

impl Fill<'_> {
    /// Fills a slot of the orbit and those after it. `turns` is the sum of turns before it.
    fn slot(&mut self, index: usize, turns: u32, state: &mut State) -> Result<(), String> {
        let Some(slot) = self.slots.get(index).copied() else {
            let sum = self.orbit.sum;
            if sum.is_none_or(|(of, sum)| turns % u32::from(of) == u32::from(sum)) {
                if self.states.len() == MAX_GOALS {
                    return Err(format!("more than {MAX_GOALS} states match it"));
                }
                self.states.push(state.clone());
            }
            return Ok(());
        };
        for (number, piece) in self.orbit.pieces.iter().enumerate() {
            let fits = self.pattern.kinds[slot].is_none_or(|kind| kind == piece.kind);
            if !fits || self.counts[number] == 0 {
                continue;
            }
            self.steps = self.steps.checked_sub(1).ok_or("its '?' leave too many cases")?;
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
