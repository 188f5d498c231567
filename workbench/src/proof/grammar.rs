//! The upper bound: a grammar whose words are exchanges of the towers.
//!
//! A symbol is a segment: where it starts, where it ends, and its swap vector, of which the bits of
//! the two highest levels may be chosen and all lower bits are equal. A rule makes a segment of
//! level N + 1 of segments of level N. Each segment has one rule for odd and one for even levels, and so
//! has the whole puzzle.

use rustc_hash::FxHashMap;

use super::error::ProofError;
use super::form::Form;
use super::ladder::{Costs, HIGHEST, Ladder, UNREACHED};
use crate::choke::classes::{ClassId, SearchNode, Structure, incoming};
use crate::choke::graph::{Node, Reach};
use crate::choke::path::{End, Step, steps_to};
use crate::choke::signature::Signature;

/// The first level whose tables have two chosen bits and one for all lower levels.
const THREE_BITS: u32 = 3;

/// The swap vector in which all tiles are exchanged, at a node of the whole puzzle.
const ALL: usize = 0b1111;

/// A symbol of the grammar, on any level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Segment {
    /// Signature of the start, or of the start's mirror image.
    pub(super) signature: Signature,
    /// The signature is that of the mirror image.
    pub(super) mirrored: bool,
    /// The end: a row of the signature's class.
    pub(super) row: usize,
    /// The bit of level N, that of level N - 1, and one for all lower levels.
    pub(super) swaps: usize,
}

/// A rule: the numbers of segments, in their order.
pub(super) type Rule = Vec<usize>;

/// Segments, their lengths and rules.
pub(super) struct Grammar {
    /// The symbols, in order of discovery from the rules of the whole puzzle.
    pub(super) segments: Vec<Segment>,
    /// The lengths of the segments from level `start` on.
    pub(super) lengths: Vec<Form>,
    /// Rules, by segment and by the parity of the level that the rule makes.
    pub(super) rules: Vec<[Rule; 2]>,
    /// Rules of the whole puzzle, by the parity of its level.
    pub(super) top: [Rule; 2],
    /// The level from which all lengths have closed forms. Rules make the levels above.
    pub(super) start: u32,
}

impl Grammar {
    /// Finds the rules as the steps of shortest paths on the two highest levels of a ladder.
    ///
    /// # Errors
    /// If lengths have no closed form.
    pub(super) fn find(chains: &Chains<'_>) -> Result<Self, ProofError> {
        let mut numbers = Numbers::default();
        let mut top = [Rule::new(), Rule::new()];
        for level in HIGHEST - 1..=HIGHEST {
            top[parity(level)] = numbers.of(&chains.top(level)?);
        }
        let mut rules = Vec::new();
        while let Some(segment) = numbers.segments.get(rules.len()).copied() {
            let mut pair = [Rule::new(), Rule::new()];
            for level in HIGHEST - 1..=HIGHEST {
                pair[parity(level)] = numbers.of(&chains.segment(level, &segment)?);
            }
            rules.push(pair);
        }
        let segments = numbers.segments;
        let (start, lengths) = chains.lengths(&segments)?;
        Ok(Self { segments, lengths, rules, top, start })
    }
}

/// 0 for even levels, 1 for odd ones.
pub(super) fn parity(level: u32) -> usize {
    (level % 2) as usize
}

/// Segments and their numbers, given in order of discovery.
#[derive(Default)]
struct Numbers {
    segments: Vec<Segment>,
    of: FxHashMap<Segment, usize>,
}

impl Numbers {
    fn of(&mut self, segments: &[Segment]) -> Rule {
        let number = |segment: &Segment| {
            *self.of.entry(*segment).or_insert_with(|| {
                self.segments.push(*segment);
                self.segments.len() - 1
            })
        };
        segments.iter().map(number).collect()
    }
}

/// Shortest chains of segments of the level below, from the distances on every level.
pub(super) struct Chains<'a> {
    structure: &'a Structure,
    ladder: Ladder,
}

impl<'a> Chains<'a> {
    /// Computes tables and distances up to level [`HIGHEST`].
    ///
    /// # Errors
    /// If there is a negative cycle, which the graphs of the puzzle do not have: no price is subtracted.
    pub(super) fn find(structure: &'a Structure) -> Result<Self, ProofError> {
        Ok(Self { structure, ladder: Ladder::climb(structure, keep_equal_low_bits)? })
    }

    /// The segments of the level below that exchange the towers of the whole puzzle.
    ///
    /// # Errors
    /// If the distances do not fit their edges.
    pub(super) fn top(&self, level: u32) -> Result<Vec<Segment>, ProofError> {
        let nodes = &self.structure.top;
        let costs = self.ladder.top(level);
        let end = End { node: 0, swaps: ALL & (costs[0].len() - 1) };
        let steps = self.steps(level, nodes, costs, end)?;
        let graph = self.structure.graph(&Signature::EMPTY, Reach::Everything);
        Ok(segments(&graph, false, &steps))
    }

    /// The segments of the level below that make up a segment of a level from 3 on.
    ///
    /// # Errors
    /// If the distances do not fit their edges.
    pub(super) fn segment(
        &self,
        level: u32,
        segment: &Segment,
    ) -> Result<Vec<Segment>, ProofError> {
        let Segment { signature, mirrored, row, swaps } = *segment;
        let id: ClassId = self.structure.class_of[&signature];
        let class = &self.structure.classes[id];
        let costs = self.ladder.nodes(level, id);
        let end = End { node: class.row_nodes[row], swaps: unfold(level, swaps) };
        let steps = self.steps(level, &class.nodes, costs, end)?;
        let graph = self.structure.graph(&signature, Reach::Segment);
        Ok(segments(&graph, mirrored, &steps))
    }

    fn steps(
        &self,
        level: u32,
        nodes: &[SearchNode],
        costs: &[Costs],
        end: End,
    ) -> Result<Vec<Step>, ProofError> {
        let table = |class, row: usize| self.ladder.rows(level - 1, class)[row].as_slice();
        let reached = costs[end.node][end.swaps] < UNREACHED;
        let steps = reached.then(|| steps_to(nodes, &incoming(nodes), table, costs, end));
        steps.flatten().ok_or(ProofError::NoChain { level })
    }

    /// The least level from which the lengths of all segments have closed forms, and the forms.
    fn lengths(&self, segments: &[Segment]) -> Result<(u32, Vec<Form>), ProofError> {
        let form = |first: u32, segment: &Segment| {
            let class = self.structure.class_of[&segment.signature];
            let length = |level| self.ladder.rows(level, class)[segment.row][segment.swaps];
            let values: Vec<i64> = (first..=HIGHEST).map(length).collect();
            Form::fit(first, &values).ok_or_else(|| {
                let values = values[..5].to_vec();
                ProofError::NoForm { what: "lengths of segments", level: first, values }
            })
        };
        let forms = |first| segments.iter().map(|s| form(first, s)).collect::<Result<Vec<_>, _>>();
        let latest = HIGHEST / 2;
        let found = (THREE_BITS..latest).find_map(|first| Some((first, forms(first).ok()?)));
        found.map_or_else(|| forms(latest).map(|forms| (latest, forms)), Ok)
    }
}

/// The segments of some steps; in the mirror image of the graph if `mirrored`.
fn segments(graph: &[Node], mirrored: bool, steps: &[Step]) -> Vec<Segment> {
    let segment = |step: &Step| {
        let node = &graph[step.node];
        let mirrored = mirrored != node.mirrored;
        Segment { signature: node.signature, mirrored, row: step.row, swaps: step.swaps }
    };
    steps.iter().map(segment).collect()
}

/// The costs in which the bit of level N - 2 equals that of the lower levels, without that bit. `costs`
/// are by the bits of levels N, N - 1, N - 2 and one for the lower levels.
fn keep_equal_low_bits(level: u32, costs: &[i64]) -> Result<Costs, ProofError> {
    if level <= THREE_BITS {
        return Ok(costs.to_vec());
    }
    Ok((0..costs.len() / 2).map(|swaps| costs[unfold(level, swaps)]).collect())
}

/// The swap vector of a row of this level, with the bits of the node to which the row belongs.
fn unfold(level: u32, swaps: usize) -> usize {
    if level <= THREE_BITS {
        return swaps;
    }
    let (high, low) = (swaps >> 1, swaps & 1);
    high << 2 | low << 1 | low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::Quantity;

    #[test]
    fn the_ladder_has_u_moves_for_the_exchange_from_level_6() {
        let structure = Structure::shared();
        let chains = Chains::find(structure).unwrap();
        let exchange = |n| chains.ladder.top(n)[0].last().copied().unwrap();
        // Between exact tables and rules, the equal low bits cost some moves.
        assert_eq!([exchange(3), exchange(4), exchange(5)], [42, 128, 345]);
        for n in 6..=HIGHEST {
            assert_eq!(Ok(exchange(n) as u128), Quantity::U.formula(n), "U({n})");
        }
    }

    #[test]
    fn the_length_of_a_segment_is_that_of_its_rule() {
        let structure = Structure::shared();
        let grammar = Grammar::find(&Chains::find(structure).unwrap()).unwrap();
        assert_eq!(grammar.start, 6);
        let sum = |rule: &Rule, level| {
            let parts = rule.iter().map(|&part| grammar.lengths[part].eighths(level).unwrap());
            parts.sum::<i64>()
        };
        for level in grammar.start..HIGHEST {
            for (length, rules) in grammar.lengths.iter().zip(&grammar.rules) {
                let rule = &rules[parity(level + 1)];
                assert_eq!(length.eighths(level + 1), Some(sum(rule, level)));
            }
            let moves = Quantity::U.formula(level + 1).unwrap() as i64;
            assert_eq!(sum(&grammar.top[parity(level + 1)], level), 8 * moves);
        }
    }

    #[test]
    fn a_distance_that_no_edge_gives_has_no_chain() {
        let structure = Structure::shared();
        let chains = Chains::find(structure).unwrap();
        let end = End { node: 0, swaps: ALL };
        let mut costs = chains.ladder.top(9).to_vec();
        assert!(chains.steps(9, &structure.top, &costs, end).is_ok());
        costs[end.node][end.swaps] -= 1;
        let found = chains.steps(9, &structure.top, &costs, end);
        assert_eq!(found.err(), Some(ProofError::NoChain { level: 9 }));
        costs[end.node][end.swaps] = UNREACHED;
        let found = chains.steps(9, &structure.top, &costs, end);
        assert_eq!(found.err(), Some(ProofError::NoChain { level: 9 }));
    }
}
