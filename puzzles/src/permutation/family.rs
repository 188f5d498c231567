//! Families of permutation puzzles: definitions generated from numeric parameters.

use std::marker::PhantomData;

use crate::group::{Element, Shape};
use strata_space::{
    KeySpace, Keyed, NoNested, Parameter, ParameterReader, Parameters, Puzzle, SpaceError, Work,
};

use super::definition::{Definition, Format, NamedElement, Set, SolvedSet, State};
use super::delegate::{key_space_of_graph, puzzle_methods_of_graph};
use super::graph::Graph;
use super::moves::{Inverses, Metric, Selection};
use super::puzzle::{EXHAUST, Ends, GOAL, START, SYMMETRY, symmetry};

/// A family of permutation puzzles: its name, its parameters and its moves.
pub trait Family: Send + Sync + 'static {
    /// The name in commands and job records.
    const NAME: &'static str;

    /// A description of one line.
    const SUMMARY: &'static str;

    /// The positional parameters, which are numbers, followed by the parameters of every family.
    const PARAMETERS: &'static [Parameter];

    /// Orientations of a piece.
    const ORIENTATIONS: u8 = 1;

    /// The number of slots for the values of the positional parameters.
    ///
    /// # Errors
    /// If a value is out of range.
    fn slots(values: &[u32]) -> Result<u16, SpaceError>;

    /// The moves: the name, and for each slot the slot from which its piece comes and the piece's turn.
    fn moves(values: &[u32]) -> Vec<(String, Vec<(u16, u8)>)>;
}

/// A member of a family, for the explicit engine.
#[derive(Clone, Debug)]
pub struct Member<F> {
    values: Vec<u32>,
    graph: Graph<u128>,
    ends: Ends,
    family: PhantomData<fn() -> F>,
}

fn positional(parameters: &'static [Parameter]) -> impl Iterator<Item = &'static str> {
    parameters.iter().filter(|parameter| parameter.positional).map(|parameter| parameter.name)
}

fn definition<F: Family>(values: &[u32]) -> Result<Definition, SpaceError> {
    let slots = F::slots(values)?;
    let refused = |error: &dyn std::fmt::Display| SpaceError::Conflict {
        name: F::NAME.into(),
        why: error.to_string(),
    };
    let shape = Shape::new(vec![F::ORIENTATIONS; slots.into()]).map_err(|error| refused(&error))?;
    let element = |parts: &[(u16, u8)]| -> Result<Element, SpaceError> {
        let (images, turns): (Vec<u16>, Vec<u8>) = parts.iter().copied().unzip();
        shape.element(&images, &turns).map_err(|error| refused(&error))
    };
    let moves = F::moves(values)
        .into_iter()
        .map(|(name, parts)| Ok(NamedElement { name, element: element(&parts)? }));
    let moves = moves.collect::<Result<_, SpaceError>>()?;
    let (size, orientations) = (slots.into(), F::ORIENTATIONS);
    let mut set = Set { name: "PIECES".into(), offset: 0, size, orientations, kinds: Vec::new() };
    let mut solved = State { kinds: Vec::new(), turns: Vec::new() };
    set.solve(&SolvedSet::ordered(&set, 1), &mut solved).map_err(|why| refused(&why))?;
    Ok(Definition {
        name: F::NAME.into(),
        format: Format::Generators,
        sets: vec![set],
        shape,
        solved,
        moves,
        rotations: Vec::new(),
        illegal: Vec::new(),
        notes: Vec::new(),
    })
}

impl<F: Family> Member<F> {
    fn values(read: ParameterReader<'_>) -> Result<Vec<u32>, SpaceError> {
        positional(F::PARAMETERS).map(|name| Ok(read.number(name)?.unwrap_or_default())).collect()
    }
}

impl<F: Family> Puzzle for Member<F> {
    type States = Keyed<Member<F>>;
    type Nested = NoNested;

    const NAME: &'static str = F::NAME;

    const SUMMARY: &'static str = F::SUMMARY;

    const PARAMETERS: &'static [Parameter] = F::PARAMETERS;

    fn open(parameters: &Parameters) -> Result<Member<F>, SpaceError> {
        Self::open_within(parameters, &Work::default())
    }

    fn open_within(parameters: &Parameters, work: &Work) -> Result<Member<F>, SpaceError> {
        let read = Self::reader(parameters);
        let values = Self::values(read)?;
        let ends = Ends::read(read)?;
        let inverses = Inverses::Excluded;
        let selection = Selection { names: None, metric: Metric::Half, inverses };
        let symmetry = symmetry(read)?;
        let definition = definition::<F>(&values)?;
        let graph = Graph::new(definition, selection, ends.start(), ends.goal(), symmetry, work)?;
        let ends = ends.of(&graph);
        Ok(Member { values, graph, ends, family: PhantomData })
    }

    fn parameters(&self) -> Parameters {
        let values = self.values.iter().map(ToString::to_string);
        let values = positional(F::PARAMETERS).map(str::to_owned).zip(values);
        let symmetry = if self.graph.symmetry() { "on" } else { "off" };
        let symmetry = ("symmetry".to_owned(), symmetry.to_owned());
        values.chain([symmetry]).chain(self.ends.parameters()).collect()
    }

    fn distance_name(&self) -> String {
        self.ends.distance_name(&self.label())
    }

    puzzle_methods_of_graph!();
}

#[deny(clippy::missing_trait_methods)]
impl<F: Family> KeySpace for Member<F> {
    key_space_of_graph!(u128);
}

/// The part of a stack or ring that a move turns over: slots `first..first + count`, cyclically.
fn reversal(slots: u16, first: u16, count: u16, turn: u8) -> Vec<(u16, u8)> {
    let from = |slot: u16| {
        let inside = (slot + slots - first) % slots;
        if inside < count { ((first + count - 1 - inside) % slots, turn) } else { (slot, 0) }
    };
    (0..slots).map(from).collect()
}

/// Pancakes: a move turns over the top pancakes of the stack.
#[derive(Clone, Debug)]
pub enum Pancake {}

impl Family for Pancake {
    const NAME: &'static str = "pancake";

    const SUMMARY: &'static str =
        "pancake sorting: a move turns over the top pancakes of a stack of N";

    const PARAMETERS: &'static [Parameter] =
        &[Parameter::positional("n", "pancakes, 2 to 20"), START, GOAL, SYMMETRY, EXHAUST];

    fn slots(values: &[u32]) -> Result<u16, SpaceError> {
        number(values, 0, "n", 2, 20)
    }

    fn moves(values: &[u32]) -> Vec<(String, Vec<(u16, u8)>)> {
        let slots = value(values, 0);
        (2..=slots).map(|count| (format!("r{count}"), reversal(slots, 0, count, 0))).collect()
    }
}

/// Burnt pancakes: a move also turns the burnt sides of the pancakes that it turns over.
#[derive(Clone, Debug)]
pub enum BurntPancake {}

impl Family for BurntPancake {
    const NAME: &'static str = "burnt-pancake";

    const SUMMARY: &'static str =
        "burnt pancake sorting: N pancakes with a burnt side, which each move turns, too";

    const PARAMETERS: &'static [Parameter] =
        &[Parameter::positional("n", "pancakes, 1 to 16"), START, GOAL, SYMMETRY, EXHAUST];

    const ORIENTATIONS: u8 = 2;

    fn slots(values: &[u32]) -> Result<u16, SpaceError> {
        number(values, 0, "n", 1, 16)
    }

    fn moves(values: &[u32]) -> Vec<(String, Vec<(u16, u8)>)> {
        let slots = value(values, 0);
        (1..=slots).map(|count| (format!("r{count}"), reversal(slots, 0, count, 1))).collect()
    }
}

/// TopSpin: tokens on a ring; a move reverses some neighbouring tokens.
#[derive(Clone, Debug)]
pub enum TopSpin {}

impl Family for TopSpin {
    const NAME: &'static str = "topspin";

    const SUMMARY: &'static str =
        "TopSpin: a move turns over K neighbouring tokens of a ring of N, at any place";

    const PARAMETERS: &'static [Parameter] = &[
        Parameter::positional("n", "tokens, 3 to 20"),
        Parameter::positional("k", "tokens that a move turns over, 2 to n - 1"),
        START,
        GOAL,
        SYMMETRY,
        EXHAUST,
    ];

    fn slots(values: &[u32]) -> Result<u16, SpaceError> {
        let slots = number(values, 0, "n", 3, 20)?;
        number(values, 1, "k", 2, u32::from(slots) - 1)?;
        Ok(slots)
    }

    fn moves(values: &[u32]) -> Vec<(String, Vec<(u16, u8)>)> {
        let (slots, count) = (value(values, 0), value(values, 1));
        let name = |first: u16| format!("s{}", first + 1);
        (0..slots).map(|first| (name(first), reversal(slots, first, count, 0))).collect()
    }
}

/// LRX: cyclic shifts by one to the left and right, and a swap of the first two.
#[derive(Clone, Debug)]
pub enum Lrx {}

impl Family for Lrx {
    const NAME: &'static str = "lrx";

    const SUMMARY: &'static str =
        "LRX: N tokens in a row; L and R shift them cyclically, X swaps the first two";

    const PARAMETERS: &'static [Parameter] =
        &[Parameter::positional("n", "tokens, 3 to 20"), START, GOAL, SYMMETRY, EXHAUST];

    fn slots(values: &[u32]) -> Result<u16, SpaceError> {
        number(values, 0, "n", 3, 20)
    }

    fn moves(values: &[u32]) -> Vec<(String, Vec<(u16, u8)>)> {
        let slots = value(values, 0);
        let shift = |by: u16| (0..slots).map(|slot| ((slot + by) % slots, 0)).collect();
        let moves = [("L", shift(1)), ("R", shift(slots - 1)), ("X", reversal(slots, 0, 2, 0))];
        moves.into_iter().map(|(name, parts)| (name.to_owned(), parts)).collect()
    }
}

/// LX: a cyclic shift by one to the left, and a swap of the first two. The shift has no inverse among
/// the moves.
#[derive(Clone, Debug)]
pub enum Lx {}

impl Family for Lx {
    const NAME: &'static str = "lx";

    const SUMMARY: &'static str = "LX: N tokens in a row; L shifts them cyclically, X swaps the first two, and nothing shifts back";

    const PARAMETERS: &'static [Parameter] = Lrx::PARAMETERS;

    fn slots(values: &[u32]) -> Result<u16, SpaceError> {
        Lrx::slots(values)
    }

    fn moves(values: &[u32]) -> Vec<(String, Vec<(u16, u8)>)> {
        let mut moves = Lrx::moves(values);
        moves.retain(|(name, _)| name != "R");
        moves
    }
}

fn value(values: &[u32], index: usize) -> u16 {
    values.get(index).map_or(0, |value| *value as u16)
}

fn number(
    values: &[u32],
    index: usize,
    name: &str,
    low: u32,
    high: u32,
) -> Result<u16, SpaceError> {
    let number = values.get(index).copied().unwrap_or_default();
    SpaceError::check(name, number, low, high)?;
    Ok(number as u16)
}
