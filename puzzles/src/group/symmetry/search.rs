//! Search for symmetries by backtracking over the images of moves.

use std::collections::HashMap;

use strata_space::Work;

use super::conjugation::Symmetry;
use super::orbits::{Action, Exhausted, OrbitTree, Relabelling};
use super::pieces::Pieces;
use crate::group::element::{Element, gcd};
use crate::group::error::GroupError;
use crate::group::shape::Shape;

/// Maximum number of powers of a move that are recognised; recognised powers need no image of their own.
const MOST_POWERS: usize = 1000;

/// Limits of a search for symmetries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SymmetryLimits {
    /// Maximum number of symmetries.
    pub symmetries: usize,
    /// Maximum number of steps of work: about one per slot, of some nanoseconds each.
    pub steps: u64,
}

impl Default for SymmetryLimits {
    /// At most 1,024 symmetries, and steps for about a second.
    fn default() -> SymmetryLimits {
        SymmetryLimits { symmetries: 1024, steps: 200_000_000 }
    }
}

/// The length of a cycle, the orientations of its slots, and the greatest common divisor of the
/// orientations and the sum of its turns.
type CycleType = (usize, u8, u64);

/// Backtracking over the images of moves that are not powers of earlier ones.
///
/// Each partial choice must extend to a relabelling of the orbits of the moves that are chosen.
pub(super) struct Search<'a> {
    shape: &'a Shape,
    limits: SymmetryLimits,
    actions: Vec<Action<'a>>,
    numbers: HashMap<&'a Element, usize>,
    /// The moves whose images are chosen, in order.
    chosen: Vec<usize>,
    /// Classes of moves with the same cycle types, which relabelling does not change.
    alike: Vec<Vec<usize>>,
    /// By chosen move, the class of its possible images.
    candidates: Vec<usize>,
    /// By number of chosen moves from 1, the orbits of these moves.
    orbits: Vec<Vec<OrbitTree>>,
    relabelling: Relabelling<'a>,
    /// Images of the chosen moves so far.
    images: Vec<usize>,
    /// By move, whether it is one of `images`.
    is_image: Vec<bool>,
    found: Vec<Symmetry>,
}

/// Why a search ends early.
enum Stop {
    Work(Exhausted),
    Many,
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Stop {
        Stop::Work(exhausted)
    }
}

impl Stop {
    fn into_error(self, limits: SymmetryLimits) -> GroupError {
        match self {
            Stop::Work(Exhausted(Some(error))) => GroupError::Stopped(error),
            Stop::Work(Exhausted(None)) => GroupError::SymmetryWork { limit: limits.steps },
            Stop::Many => GroupError::Symmetries { limit: limits.symmetries },
        }
    }
}

fn action<'a>(element: &'a Element, slots: usize) -> Action<'a> {
    let mut targets = vec![0; slots];
    for (slot, from) in (0..).zip(element.images()) {
        targets[usize::from(*from)] = slot;
    }
    Action { element, targets }
}

/// The cycle types of a move, sorted. Relabelling does not change them.
fn cycle_types(element: &Element, shape: &Shape) -> Vec<CycleType> {
    let mut types: Vec<CycleType> = element
        .cycles()
        .into_iter()
        .map(|(cycle, turns)| {
            let orientations = shape.orientations()[cycle[0]];
            (cycle.len(), orientations, gcd(orientations.into(), turns % u64::from(orientations)))
        })
        .collect();
    types.sort_unstable();
    types
}

impl<'a> Search<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        moves: &'a [Element],
        pieces: &'a Pieces,
        limits: SymmetryLimits,
        work: &'a Work,
    ) -> Result<Search<'a>, GroupError> {
        let slots = shape.slots();
        let actions: Vec<Action<'a>> = moves.iter().map(|element| action(element, slots)).collect();
        let numbers: HashMap<&Element, usize> =
            moves.iter().enumerate().map(|(number, element)| (element, number)).collect();
        if numbers.len() < moves.len() {
            return Err(GroupError::SameMove);
        }
        let mut search = Search {
            shape,
            limits,
            actions,
            numbers,
            chosen: Vec::new(),
            alike: Vec::new(),
            candidates: Vec::new(),
            orbits: Vec::new(),
            relabelling: Relabelling::new(shape, pieces, limits.steps, work),
            images: Vec::new(),
            is_image: vec![false; moves.len()],
            found: Vec::new(),
        };
        match search.choose(moves) {
            Ok(()) => Ok(search),
            Err(stop) => Err(stop.into_error(limits)),
        }
    }

    /// Chooses moves whose images determine those of all others, and their possible images.
    fn choose(&mut self, moves: &[Element]) -> Result<(), Stop> {
        let slots = self.shape.slots();
        let mut is_power = vec![false; moves.len()];
        self.relabelling.work(moves.len().saturating_mul(slots))?;
        let mut known: HashMap<Vec<CycleType>, usize> = HashMap::new();
        let mut types = Vec::with_capacity(moves.len());
        for (number, element) in moves.iter().enumerate() {
            let class = *known.entry(cycle_types(element, self.shape)).or_insert(self.alike.len());
            if class == self.alike.len() {
                self.alike.push(Vec::new());
            }
            self.alike[class].push(number);
            types.push(class);
        }
        for (number, element) in moves.iter().enumerate() {
            if std::mem::replace(&mut is_power[number], true) {
                continue;
            }
            let mut power = element.clone();
            for _ in 0..MOST_POWERS {
                self.relabelling.work(slots)?;
                match power.times(element, self.shape) {
                    Some(next) if next != *element => power = next,
                    _ => break,
                }
                if let Some(power) = self.numbers.get(&power) {
                    is_power[*power] = true;
                }
            }
            self.chosen.push(number);
            self.relabelling.work(moves.len())?;
            self.candidates.push(types[number]);
            self.relabelling.work(slots.saturating_mul(self.chosen.len()))?;
            let so_far: Vec<&Action<'_>> =
                self.chosen.iter().map(|number| &self.actions[*number]).collect();
            self.orbits.push(OrbitTree::all(self.shape, &so_far));
        }
        Ok(())
    }

    /// All symmetries, sorted by the images of the moves.
    ///
    /// # Errors
    /// If a limit is exceeded.
    pub(super) fn run(mut self) -> Result<Vec<Symmetry>, GroupError> {
        if self.chosen.is_empty() {
            self.relabelling.images = (0..self.shape.slots() as u16).collect();
        }
        self.extend().map_err(|stop| stop.into_error(self.limits))?;
        self.found.sort_unstable_by(|a, b| a.moves.cmp(&b.moves));
        Ok(self.found)
    }

    fn extend(&mut self) -> Result<(), Stop> {
        let depth = self.images.len();
        if depth == self.chosen.len() {
            return self.accept();
        }
        let class = self.candidates[depth];
        for at in 0..self.alike[class].len() {
            let image = self.alike[class][at];
            self.relabelling.work(1)?;
            if self.is_image[image] {
                continue;
            }
            self.relabelling.work(depth)?;
            self.images.push(image);
            self.is_image[image] = true;
            let pairs: Vec<(&Action<'_>, &Action<'_>)> = self
                .chosen
                .iter()
                .zip(&self.images)
                .map(|(number, image)| (&self.actions[*number], &self.actions[*image]))
                .collect();
            let is_last = depth + 1 == self.chosen.len();
            if self.relabelling.find(&self.orbits[depth], &pairs, is_last)? {
                self.extend()?;
            }
            self.images.pop();
            self.is_image[image] = false;
        }
        Ok(())
    }

    /// Records the relabelling if it maps all moves to moves.
    fn accept(&mut self) -> Result<(), Stop> {
        self.relabelling.work(self.actions.len().saturating_mul(self.shape.slots()))?;
        let mut symmetry = Symmetry {
            images: self.relabelling.images.clone(),
            factors: self.relabelling.factors.clone(),
            shifts: self.relabelling.shifts.clone(),
            moves: Vec::with_capacity(self.actions.len()),
        };
        for action in &self.actions {
            let image = symmetry.conjugate(action.element, self.shape);
            match image.and_then(|image| self.numbers.get(&image).copied()) {
                Some(image) => symmetry.moves.push(image),
                None => return Ok(()),
            }
        }
        if self.found.len() == self.limits.symmetries {
            return Err(Stop::Many);
        }
        self.found.push(symmetry);
        Ok(())
    }
}
