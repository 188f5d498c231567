//! Dense numbering of states whose pieces may look alike, by the arrangements of each orbit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::group::Element;
use strata_space::SpaceError;
use strata_space::dense::{
    BlockStep, BlockSteps, DenseParts, DenseShape, DenseState, DenseTables, LaneMap, MAX_LANES,
    MAX_ROWS, MoveTable, RowStep,
};

use super::super::definition::{Definition, State};
use super::super::orbit::{Orbit, orbits};
use super::numbers::{MOST_BLOCKS, MOST_TABLE_BYTES, Numbers, refused};
use super::staged_orbit::{Effect, STAGES, StagedOrbit, Steps};

/// Maximum number of states of a block: its rows times its lanes.
const MOST_INNER: u64 = 20_000;

/// States as arrangements of the pieces of each orbit. Block, row and lane are mixed-radix numbers
/// with a digit for each orbit: its arrangements of the first, the next and the last kinds of pieces.
///
/// Combinations that are unreachable from the start have numbers, too.
#[derive(Debug)]
pub(super) struct Arrangements {
    orbits: Vec<StagedOrbit>,
    start: State,
    /// Slots that no move changes.
    fixed: Vec<usize>,
    /// By stage, the product of all orbits' states.
    sizes: [u64; STAGES],
}

/// Tuples of numbers, indexed in the order in which they are found.
struct Tuples {
    radices: Vec<u64>,
    found: Vec<u64>,
    indices: HashMap<u64, u32>,
}

impl Tuples {
    /// An empty list of tuples whose numbers are below `radices`; None if the product of the radices
    /// exceeds 64 bits.
    fn new(radices: Vec<usize>) -> Option<Tuples> {
        let radices: Vec<u64> = radices.into_iter().map(|radix| radix as u64).collect();
        radices.iter().try_fold(1_u64, |product, radix| product.checked_mul(*radix))?;
        Some(Tuples { radices, found: Vec::new(), indices: HashMap::new() })
    }

    /// The index of a tuple, given by its mixed-radix number.
    fn index(&mut self, number: u64) -> u32 {
        *self.indices.entry(number).or_insert_with(|| {
            self.found.push(number);
            self.found.len() as u32 - 1
        })
    }

    fn digits(&self, index: usize, out: &mut Vec<usize>) {
        digits(&self.radices, self.found[index], out);
    }
}

/// The digits of a mixed-radix number, the most significant first.
fn digits(radices: &[u64], mut number: u64, out: &mut Vec<usize>) {
    out.clear();
    for radix in radices.iter().rev() {
        out.push((number % radix) as usize);
        number /= radix;
    }
    out.reverse();
}

/// For each orbit, the first kind of a stage, chosen such that the stage has as many states as possible,
/// up to `most`. The stage has the kinds before `ends`; those from `ends` on belong to later stages.
fn cuts(orbits: &[Orbit], ends: &[usize], most: u64) -> Vec<usize> {
    let mut best = BTreeMap::from([(1_u64, Vec::new())]);
    for (orbit, end) in orbits.iter().zip(ends) {
        let mut next: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        // The candidates for the first kind: those with at most `most` states.
        let firsts = (0..=*end).rev();
        let firsts = firsts.map_while(|first| {
            let states = orbit.states(first, *end).filter(|states| *states <= most)?;
            Some((first, states))
        });
        let firsts: Vec<(usize, u64)> = firsts.collect();
        for (product, chosen) in &best {
            for (first, states) in firsts.iter().copied() {
                let states = states.checked_mul(*product);
                let Some(states) = states.filter(|states| *states <= most) else { break };
                let mut chosen = chosen.clone();
                chosen.push(first);
                next.insert(states, chosen);
            }
        }
        best = next;
    }
    best.pop_last().map(|(_, chosen)| chosen).unwrap_or_default()
}

impl Arrangements {
    /// Numbers the states that have the pieces of a start in the same orbits.
    ///
    /// # Errors
    /// If there are too many states.
    pub(super) fn new(
        definition: &Definition,
        start: &State,
        moves: &[Element],
    ) -> Result<Arrangements, String> {
        let too_many = || "its arrangements have more than 2^56 blocks".to_owned();
        // Single pieces come last: rows and lanes have more freedom then.
        let sorted = |orbit: Orbit| orbit.sorted_by(|piece| (Reverse(piece.count), piece.kind));
        let orbits: Vec<Orbit> = orbits(definition, start, moves).into_iter().map(sorted).collect();
        let ends: Vec<usize> = orbits.iter().map(Orbit::kinds).collect();
        let lanes = cuts(&orbits, &ends, MAX_LANES.into());
        let inner = |lanes: &[usize]| -> Option<u64> {
            let each = orbits.iter().zip(lanes).zip(&ends);
            each.map(|((orbit, first), end)| orbit.states(*first, *end)).product()
        };
        let most = MOST_INNER / inner(&lanes).ok_or_else(too_many)?.max(1);
        let rows = cuts(&orbits, &lanes, most.min(MAX_ROWS.into()));
        let staged = orbits.into_iter().zip(rows.into_iter().zip(lanes));
        let staged: Option<Vec<StagedOrbit>> =
            staged.map(|(orbit, (rows, lanes))| orbit.staged([rows, lanes])).collect();
        let orbits = staged.ok_or_else(too_many)?;
        let mut sizes = [1_u64; STAGES];
        for (stage, size) in sizes.iter_mut().enumerate() {
            for orbit in &orbits {
                let product = orbit.states(stage).and_then(|states| size.checked_mul(states));
                *size = product.filter(|size| *size <= MOST_BLOCKS).ok_or_else(too_many)?;
            }
        }
        let is_fixed = |slot: &usize| !orbits.iter().any(|o| o.orbit().slots.contains(slot));
        let fixed = (0..definition.shape.slots()).filter(is_fixed).collect();
        Ok(Arrangements { orbits, start: start.clone(), fixed, sizes })
    }

    pub(super) fn shape(&self) -> Option<DenseShape> {
        let [blocks, rows, lanes] = self.sizes.map(|size| u32::try_from(size).ok());
        Some(DenseShape { blocks: blocks?, rows: rows?, lanes: lanes? })
    }

    /// The numbers of a state; None if it has other pieces in an orbit, or another sum of turns.
    pub(super) fn numbers(&self, state: &State) -> Option<Numbers> {
        let is_same = |slot: &usize| {
            state.kinds.get(*slot) == self.start.kinds.get(*slot)
                && state.turns.get(*slot) == self.start.turns.get(*slot)
        };
        if !self.fixed.iter().all(is_same) {
            return None;
        }
        let mut numbers = [0_u64; STAGES];
        for orbit in &self.orbits {
            let of_orbit = orbit.numbers(state)?;
            for (stage, number) in numbers.iter_mut().enumerate() {
                *number = *number * orbit.states(stage)? + of_orbit[stage];
            }
        }
        let [block, row, lane] = numbers;
        Some(Numbers { block, row: row as u16, lane: lane as u8 })
    }

    /// The state with these numbers.
    pub(super) fn state(&self, Numbers { block, row, lane }: Numbers) -> Option<State> {
        let mut numbers = [block, row.into(), lane.into()];
        if numbers.iter().zip(&self.sizes).any(|(number, size)| number >= size) {
            return None;
        }
        let mut state = self.start.clone();
        for orbit in self.orbits.iter().rev() {
            let mut of_orbit = [0; STAGES];
            for (stage, number) in numbers.iter_mut().enumerate() {
                let states = orbit.states(stage)?;
                of_orbit[stage] = *number % states;
                *number /= states;
            }
            orbit.write(of_orbit, &mut state);
        }
        Some(state)
    }

    /// The tables of the moves, and of their inverses where the inverses are not all moves.
    ///
    /// # Errors
    /// If the tables would be too large.
    pub(super) fn tables(
        &self,
        moves: &[Element],
        inverses: &[Element],
        goals: &[State],
    ) -> Result<DenseTables, SpaceError> {
        let find = |state: &State| self.numbers(state).and_then(Numbers::dense);
        let start = find(&self.start).ok_or_else(|| refused("its start has no number"))?;
        let goals: Vec<DenseState> = goals.iter().filter_map(find).collect();
        let too_large =
            || refused(&format!("the tables of its moves have more than {MOST_TABLE_BYTES} bytes"));
        let shape = self.shape().ok_or_else(too_large)?;
        let all: Vec<&Element> = moves.iter().chain(inverses).collect();
        let mut factors = self.factors(&all).ok_or_else(too_large)?;
        let (moves, inverses) = (0..moves.len(), moves.len()..all.len());
        let mut block_steps =
            |moves| BlockSteps::Full(factors.block_steps(moves, &self.radices(0)));
        let steps = block_steps(moves.clone());
        let back = (!inverses.is_empty()).then(|| block_steps(inverses.clone()));
        let rows = factors.row_steps(&self.radices(1)).ok_or_else(too_large)?;
        let maps = factors.lane_maps(&self.radices(2));
        let converses =
            back.map(|steps| MoveTable { moves: inverses.len(), steps, rows: rows.clone() });
        let moves = MoveTable { moves: moves.len(), steps, rows };
        let parts =
            DenseParts { shape, moves, converses, maps, start, goals, multiplicities: Vec::new() };
        DenseTables::new(parts).map_err(|error| refused(&error.to_string()))
    }

    fn radices(&self, stage: usize) -> Vec<u64> {
        self.orbits.iter().map(|orbit| orbit.states(stage).unwrap_or(1)).collect()
    }

    /// The steps of each orbit by moves.
    fn factors(&self, moves: &[&Element]) -> Option<Factors> {
        let (mut blocks, mut rows, mut lanes) = (Vec::new(), Vec::new(), Vec::new());
        for orbit in &self.orbits {
            let effects: Vec<Effect> =
                moves.iter().map(|mv| orbit.orbit().effect(mv)).collect::<Option<_>>()?;
            let of_blocks = orbit.steps(0, &effects)?;
            let of_rows = orbit.steps(1, &of_blocks.effects)?;
            lanes.push(orbit.steps(2, &of_rows.effects)?);
            rows.push(of_rows);
            blocks.push(of_blocks);
        }
        let classes = Tuples::new(blocks.iter().map(|steps| steps.effects.len()).collect())?;
        let maps = Tuples::new(rows.iter().map(|steps| steps.effects.len()).collect())?;
        Some(Factors { blocks, rows, lanes, classes, maps })
    }
}

/// The steps of each orbit by stage, and the effects that occur in products of orbits.
struct Factors {
    blocks: Vec<Steps>,
    rows: Vec<Steps>,
    lanes: Vec<Steps>,
    /// Tuples of the orbits' effects on rows.
    classes: Tuples,
    /// Tuples of the orbits' effects on lanes.
    maps: Tuples,
}

impl Factors {
    /// The steps of all blocks by some of the moves.
    fn block_steps(&mut self, moves: std::ops::Range<usize>, radices: &[u64]) -> Vec<BlockStep> {
        let blocks: u64 = radices.iter().product();
        let mut steps = Vec::with_capacity(blocks as usize * moves.len());
        let mut from = Vec::new();
        for block in 0..blocks {
            digits(radices, block, &mut from);
            for mv in moves.clone() {
                let each = self.blocks.iter().zip(&from);
                let next = each.map(|(steps, from)| steps.of(mv, *from));
                let (block, class) = product(next, radices, &self.classes.radices);
                steps.push(BlockStep { block: block as u32, class: self.classes.index(class) });
            }
        }
        steps
    }

    /// The steps of all rows in the classes found; None if there are too many.
    fn row_steps(&mut self, radices: &[u64]) -> Option<Vec<RowStep>> {
        let (classes, rows) = (self.classes.found.len(), radices.iter().product::<u64>());
        if classes as u64 * rows * size_of::<RowStep>() as u64 > MOST_TABLE_BYTES as u64 {
            return None;
        }
        let mut steps = Vec::with_capacity(classes * rows as usize);
        let (mut class, mut from) = (Vec::new(), Vec::new());
        for index in 0..classes {
            self.classes.digits(index, &mut class);
            for row in 0..rows {
                digits(radices, row, &mut from);
                let each = self.rows.iter().zip(class.iter().zip(&from));
                let next = each.map(|(steps, (class, from))| steps.of(*class, *from));
                let (row, map) = product(next, radices, &self.maps.radices);
                let map = u16::try_from(self.maps.index(map)).ok()?;
                steps.push(RowStep { row: row as u16, map });
            }
        }
        Some(steps)
    }

    /// The lane maps found.
    fn lane_maps(&self, radices: &[u64]) -> Vec<LaneMap> {
        let lanes: u64 = radices.iter().product();
        let (mut map, mut from) = (Vec::new(), Vec::new());
        let mut maps = Vec::new();
        for index in 0..self.maps.found.len() {
            self.maps.digits(index, &mut map);
            let images = (0..lanes).map(|lane| {
                digits(radices, lane, &mut from);
                let each = self.lanes.iter().zip(map.iter().zip(&from));
                let next = each.map(|(steps, (map, from))| steps.of(*map, *from));
                product(next, radices, &[]).0 as u8
            });
            maps.push(LaneMap::new(images.collect()));
        }
        maps
    }
}

/// The mixed-radix numbers of pairs.
fn product(pairs: impl Iterator<Item = (u32, u32)>, first: &[u64], second: &[u64]) -> (u64, u64) {
    let second = second.iter().copied().chain(std::iter::repeat(1));
    pairs.zip(first.iter().zip(second)).fold((0, 0), |(a, b), ((x, y), (first, second))| {
        (a * first + u64::from(x), b * second + u64::from(y))
    })
}
