//! Figures of states counted from their words, to verify files that another search wrote.

use strata_space::LayerStats;
use strata_space::dense::{DenseSpace, DenseTables};

use crate::dense::digest::DigestTables;

/// Counts the states, positions, fixed positions and moves of given words, and computes their digest.
pub struct Counter<'a> {
    space: &'a dyn DenseSpace,
    digest: Option<DigestTables>,
    /// For each lane map, the lanes that have its move.
    domains: Vec<u64>,
}

impl<'a> Counter<'a> {
    /// A counter of states of a space. Without `has_digests`, digests are zero.
    pub fn new(space: &'a dyn DenseSpace, has_digests: bool) -> Counter<'a> {
        Counter {
            digest: has_digests.then(|| DigestTables::new(space)),
            domains: space.tables().maps().iter().map(|map| map.domain()).collect(),
            space,
        }
    }

    /// The figures of the states of consecutive blocks from `first_block` on. `words` has a word for each
    /// row. Regions are blocks with states. Whether a goal is among the states is not determined.
    pub fn count(&self, first_block: u32, words: &[u64]) -> LayerStats {
        let tables = self.space.tables();
        let mut sum = LayerStats::default();
        let blocks = words.chunks_exact(tables.shape().rows as usize);
        for (block, words) in (first_block..).zip(blocks) {
            let states: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            if states == 0 {
                continue;
            }
            let mut stats = LayerStats { regions: 1, states, ..LayerStats::default() };
            let multiplicity = tables.multiplicity(block);
            stats.positions = states * multiplicity;
            stats.fixed = tables.count_fixed(block, words);
            stats.generated = self.moves(tables, block, words) * multiplicity;
            if let Some(digest) = &self.digest {
                stats.digest = digest.of_rows(words) * self.space.block_weight(block);
            }
            sum.add(&stats);
        }
        sum
    }

    /// The number of legal moves of a block's states.
    fn moves(&self, tables: &DenseTables, block: u32, words: &[u64]) -> u64 {
        let steps = tables.moves().of_block(block);
        let classes = steps.filter_map(|step| tables.moves().of_class(step.class, words.len()));
        let legal = |(step, word): (&strata_space::dense::RowStep, &u64)| {
            let domain = self.domains.get(usize::from(step.map)).copied().unwrap_or(0);
            u64::from((word & domain).count_ones())
        };
        classes.map(|steps| steps.iter().zip(words).map(legal).sum::<u64>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use strata_puzzles::{DenseHanoi, Hanoi};

    use super::*;
    use crate::dense::{Options, Search};

    #[test]
    fn counted_figures_equal_those_of_the_search() {
        let hanoi = DenseHanoi::new(Hanoi::new(7, 4, true).unwrap()).unwrap();
        let space: Arc<dyn DenseSpace> = Arc::new(hanoi);
        let mut search = Search::new(Arc::clone(&space), &Options::default()).unwrap();
        let shape = space.tables().shape();
        let (counter, lean) = (Counter::new(&*space, true), Counter::new(&*space, false));
        loop {
            let mut words = vec![0; shape.words() as usize];
            for state in search.layer() {
                words[state.block as usize * shape.rows as usize + usize::from(state.row)] |=
                    1 << state.lane;
            }
            let expected = LayerStats { found: false, ..search.stats() };
            assert_eq!(counter.count(0, &words), expected);
            let digest = Default::default();
            assert_eq!(lean.count(0, &words), LayerStats { digest, ..expected });
            if search.advance().is_none() {
                break;
            }
        }
    }
}
