//! Slow reference search over unpacked states. It has its own reader of `.tws` files, and applies the moves
//! of a sequence one by one.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::search::layers_of;

/// By slot: the label, the turn, and the turns that look different.
pub(crate) type State = Vec<(u32, u32, u32)>;

/// By slot: the slot that its piece comes from, and the turn of the piece.
pub(crate) type Step = Vec<(usize, u32)>;

/// A puzzle in unpacked form.
#[derive(Default)]
pub(crate) struct Reference {
    pub(crate) start: State,
    /// Orientations by slot.
    pub(crate) orientations: Vec<u32>,
    /// Moves as steps, one after the other.
    pub(crate) moves: Vec<(String, Vec<Step>)>,
    pub(crate) illegal: Vec<(usize, u32)>,
}

impl Reference {
    /// Reads a valid `.tws` file.
    pub(crate) fn read(text: &str) -> Reference {
        let mut puzzle = Reference::default();
        let mut sets: HashMap<&str, (usize, usize, u32)> = HashMap::new();
        let mut block: Option<(Option<&str>, usize)> = None;
        let (mut set, mut row) = ((0, 0, 1), 0);
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match (&words[..], block) {
                ([], _) | (["Name", ..], _) => {}
                (["Set", name, size, orientations], _) => {
                    let offset = puzzle.start.len();
                    let (size, orientations) =
                        (size.parse().unwrap(), orientations.parse().unwrap());
                    sets.insert(name, (offset, size, orientations));
                    puzzle.start.extend((1..=size as u32).map(|label| (label, 0, orientations)));
                    puzzle.orientations.extend(vec![orientations; size]);
                }
                (["Solved"], _) => block = Some((None, 1)),
                (["StartState"], _) => {
                    for (offset, size, _) in sets.values() {
                        let slots = &mut puzzle.start[*offset..offset + size];
                        slots.iter_mut().for_each(|slot| slot.0 -= 1);
                    }
                    block = Some((None, 0));
                }
                (["Move", name], _) => block = Some((Some(name), 1)),
                (["MoveTransformation", name], _) => block = Some((Some(name), 0)),
                (["MoveAlias" | "MoveSequence", name, words @ ..], _) => {
                    let steps = words.iter().flat_map(|word| puzzle.steps(word)).collect();
                    puzzle.moves.push((name.to_string(), steps));
                }
                (["Illegal", name, slot, labels @ ..], _) => {
                    let slot = sets[name].0 + slot.parse::<usize>().unwrap() - 1;
                    puzzle
                        .illegal
                        .extend(labels.iter().map(|label| (slot, label.parse().unwrap())));
                }
                (["End"], _) => block = None,
                ([name], _) if sets.contains_key(name) => (set, row) = (sets[name], 0),
                (numbers, Some((name, first))) => {
                    row += 1;
                    let slots = set.0..set.0 + set.1;
                    match name {
                        None => puzzle.solved_row(slots, row, numbers),
                        Some(name) => puzzle.move_row((name, first), slots, row, numbers),
                    }
                }
                (words, None) => panic!("{words:?}"),
            }
        }
        puzzle
    }

    fn solved_row(&mut self, slots: Range<usize>, row: u32, numbers: &[&str]) {
        for (slot, word) in slots.zip(numbers) {
            match (row, *word) {
                (1, word) => self.start[slot].0 = word.parse().unwrap(),
                (_, "?") => self.start[slot].2 = 1,
                (_, word) => self.start[slot].1 = word.parse().unwrap(),
            }
        }
    }

    /// A row of a move that counts slots from `first`.
    fn move_row(
        &mut self,
        (name, first): (&str, usize),
        slots: Range<usize>,
        row: u32,
        numbers: &[&str],
    ) {
        if self.moves.last().is_none_or(|(last, _)| last != name) {
            let still = (0..self.start.len()).map(|slot| (slot, 0)).collect();
            self.moves.push((name.to_owned(), vec![still]));
        }
        let step = &mut self.moves.last_mut().unwrap().1[0];
        let numbers: Vec<usize> = numbers.iter().map(|word| word.parse().unwrap()).collect();
        let offset = slots.start;
        for slot in slots {
            // In a classic move, turns belong to the slots that pieces leave.
            let at = if first == 1 { step[slot].0 } else { slot };
            match row {
                1 => step[slot].0 = offset + numbers[slot - offset] - first,
                _ => step[slot].1 = numbers[at - offset] as u32,
            }
        }
    }

    /// The steps of a move with a power.
    fn steps(&self, word: &str) -> Vec<Step> {
        let is_inverse = word.ends_with('\'');
        let word = word.trim_end_matches('\'');
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let count: usize = word[name.len()..].parse().unwrap_or(1);
        let steps = &self.moves.iter().find(|(known, _)| known == name).unwrap().1;
        let times = if is_inverse { self.order(steps) - count } else { count };
        steps.iter().cycle().take(times * steps.len()).cloned().collect()
    }

    pub(crate) fn apply(&self, state: &State, steps: &[Step]) -> State {
        steps.iter().fold(state.clone(), |state, step| {
            let slots = step.iter().map(|(from, turn)| {
                let (label, turned, period) = state[*from];
                (label, (turned + turn) % period, period)
            });
            slots.collect()
        })
    }

    /// The state in which all pieces and all their turns look different.
    fn different(&self) -> State {
        (0..).zip(&self.orientations).map(|(slot, o)| (slot, 0, *o)).collect()
    }

    /// The number of repetitions after which every piece is back in place, unturned.
    pub(crate) fn order(&self, steps: &[Step]) -> usize {
        let all = self.different();
        let mut state = self.apply(&all, steps);
        let mut order = 1;
        while state != all {
            state = self.apply(&state, steps);
            order += 1;
        }
        order
    }

    /// The moves of these names in a metric, as steps, without repetition.
    pub(crate) fn powers(&self, names: &[&str], quarter: bool) -> Vec<Vec<Step>> {
        let is_rotation = |name: &str| {
            name.starts_with(['x', 'y', 'z']) && name.len() == 1 || name.ends_with('v')
        };
        let all: Vec<&str> = self.moves.iter().map(|(name, _)| name.as_str()).collect();
        let names = if names.is_empty() { &all[..] } else { names };
        let mut powers: Vec<Vec<Step>> = Vec::new();
        for name in names.iter().filter(|name| !is_rotation(name)) {
            let steps = self.steps(name);
            let order = self.order(&steps);
            for power in (1..order).filter(|power| !quarter || [1, order - 1].contains(power)) {
                powers.push(steps.iter().cycle().take(power * steps.len()).cloned().collect());
            }
        }
        let (all, mut known) = (self.different(), HashSet::<State>::new());
        powers.retain(|steps| known.insert(self.apply(&all, steps)));
        powers
    }

    /// The puzzle of a `.tws` file, with the moves of the options.
    pub(crate) fn of_options(text: &str, options: &[(&str, &str)]) -> (Reference, Vec<Vec<Step>>) {
        let option =
            |name: &str| options.iter().find(|(known, _)| *known == name).map(|found| found.1);
        let names = option("moves").map_or(Vec::new(), |names| names.split(',').collect());
        let reference = Reference::read(text);
        let moves = reference.powers(&names, option("metric") == Some("quarter"));
        (reference, moves)
    }

    /// States of each layer around the start.
    pub(crate) fn layers(&self, names: &[&str], quarter: bool) -> Vec<usize> {
        self.search(&self.powers(names, quarter))
    }

    /// States of each layer, with moves as steps.
    pub(crate) fn search(&self, moves: &[Vec<Step>]) -> Vec<usize> {
        self.first_layers(moves, usize::MAX)
    }

    /// States of each layer up to a depth, with moves as steps.
    pub(crate) fn first_layers(&self, moves: &[Vec<Step>], depth: usize) -> Vec<usize> {
        let layers = layers_of(&[self.normal_start()], depth, |state| {
            let next = moves.iter().map(|steps| self.apply(state, steps));
            next.filter(|state| !self.is_illegal(state)).collect()
        });
        layers.iter().map(Vec::len).collect()
    }

    /// The start, with the least numbers for turns that look alike.
    pub(crate) fn normal_start(&self) -> State {
        self.start.iter().map(|(label, turn, period)| (*label, turn % period, *period)).collect()
    }

    pub(crate) fn is_illegal(&self, state: &State) -> bool {
        self.illegal.iter().any(|(slot, label)| state[*slot].0 == *label)
    }

    /// A puzzle of different pieces with `orientations` orientations each.
    pub(crate) fn solved(slots: usize, orientations: u32) -> Reference {
        Reference {
            start: (0..slots as u32).map(|label| (label, 0, orientations)).collect(),
            orientations: vec![orientations; slots],
            ..Reference::default()
        }
    }

    /// Layers of a puzzle of different pieces without orientations, with moves by images from 0.
    pub(crate) fn plain(slots: usize, moves: &[Vec<usize>]) -> Vec<usize> {
        Reference::solved(slots, 1).search(&steps_of(moves))
    }
}

/// Moves by images from 0, without turns, as steps.
pub(crate) fn steps_of(moves: &[Vec<usize>]) -> Vec<Vec<Step>> {
    moves.iter().map(|from| vec![from.iter().map(|slot| (*slot, 0)).collect()]).collect()
}

/// The images of a move that reverses `count` pieces on a ring, from a place on.
pub(crate) fn reversed(slots: usize, first: usize, count: usize) -> Vec<usize> {
    let mut images: Vec<usize> = (0..slots).collect();
    for place in 0..count {
        images[(first + place) % slots] = (first + count - 1 - place) % slots;
    }
    images
}

pub(crate) fn shifted(slots: usize, by: usize) -> Vec<usize> {
    (0..slots).map(|slot| (slot + by) % slots).collect()
}

/// The images of a permutation that moves the piece at each point, from 1, to the next of its cycle.
pub(crate) fn from_cycles(slots: usize, cycles: &[&[usize]]) -> Vec<usize> {
    let mut from = shifted(slots, 0);
    for cycle in cycles {
        for (index, point) in cycle.iter().enumerate() {
            from[cycle[(index + 1) % cycle.len()] - 1] = point - 1;
        }
    }
    from
}

pub(crate) fn pancakes(n: usize) -> Vec<Vec<usize>> {
    (2..=n).map(|count| reversed(n, 0, count)).collect()
}

pub(crate) fn burnt_pancakes(n: usize) -> Vec<Vec<Step>> {
    let turned = |count: usize| {
        let from = reversed(n, 0, count).into_iter().enumerate();
        vec![from.map(|(slot, from)| (from, u32::from(slot < count))).collect()]
    };
    (1..=n).map(turned).collect()
}

pub(crate) fn topspin(n: usize, k: usize) -> Vec<Vec<usize>> {
    (0..n).map(|first| reversed(n, first, k)).collect()
}

pub(crate) fn lrx(n: usize) -> Vec<Vec<usize>> {
    vec![shifted(n, 1), shifted(n, n - 1), reversed(n, 0, 2)]
}
