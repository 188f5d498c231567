//! Memory of a dense search.

use strata_engine::dense::Kernel;
use strata_space::dense::{DenseFolding, DenseSize};

const MIB: u64 = 1 << 20;

/// Memory of a dense search, in bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DenseMemory {
    /// Memory with all planes in memory.
    pub whole: u64,
    /// Memory with one part of the planes in memory at a time: the least that a search takes.
    pub least: u64,
}

impl DenseMemory {
    /// Tables of lanes and digests, and buffers of files.
    const FIXED: u64 = 4 * MIB;
    /// Maximum number of parts into which a search is divided.
    const MOST_PARTS: u64 = 400;

    /// The memory of a search of a space of this size.
    pub fn of(size: &DenseSize, threads: usize) -> DenseMemory {
        let shape = &size.shape;
        // Tables of moves, and words and weights of rows.
        let rows = u64::from(shape.rows) * 16;
        let maps = match size.folding {
            DenseFolding::On { maps } => u64::from(maps) * Kernel::map_bytes() as u64,
            DenseFolding::Off | DenseFolding::Unused => 0,
        };
        let fixed = size.table_bytes + maps + (threads as u64 + 1) * rows + Self::FIXED;
        // Four planes of a bit for each lane; counters and flags of blocks.
        let planes = |blocks: u64| blocks.saturating_mul(u64::from(shape.rows) * 32 + 13);
        let blocks = u64::from(shape.blocks);
        DenseMemory {
            whole: planes(blocks).saturating_add(fixed),
            least: planes(blocks.div_ceil(Self::MOST_PARTS)).saturating_add(fixed),
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::dense::{Options, PartSearch, Search};
    use strata_puzzles::Hanoi;
    use strata_puzzles::permutation::{Member, Pancake, Permutation};
    use strata_space::{Parameters, Puzzle, file_value};

    use super::*;

    #[test]
    fn a_search_in_memory_needs_no_more_than_its_estimate() {
        for (discs, pegs) in [(1, 3), (6, 3), (9, 4), (11, 4), (8, 8)] {
            let hanoi = Hanoi::new(discs, pegs, true).unwrap();
            let (size, space) = (hanoi.dense_size().unwrap(), hanoi.dense().unwrap());
            for threads in [1, 2, 16] {
                let options = Options { threads, ..Options::default() };
                let needed = Search::needed_bytes(&*space, &options).unwrap();
                let estimate = DenseMemory::of(&size, threads);
                assert!(needed <= estimate.whole, "{discs} {pegs}: {needed}, {estimate:?}");
                assert!(estimate.least <= estimate.whole);
                let options = Options { memory: estimate.least, ..options };
                assert!(PartSearch::new(&space, &options).is_ok(), "{discs} {pegs}: {estimate:?}");
            }
        }
    }

    #[test]
    fn a_search_of_folded_blocks_needs_no_more_than_its_estimate() {
        for file in [
            include_str!("../../puzzles/data/skewb-diamond.tws"),
            include_str!("../../puzzles/data/skewb.tws"),
        ] {
            let given = [("file", file_value(file)), ("symmetry", "on".to_owned())];
            let given = given.map(|(name, value)| (name.to_owned(), value));
            let puzzle = Permutation::open(&given.into()).unwrap();
            let (size, space) = (puzzle.dense_size().unwrap(), puzzle.dense().unwrap());
            assert!(matches!(size.folding, DenseFolding::On { .. }), "{size:?}");
            for threads in [1, 16] {
                let options = Options { threads, ..Options::default() };
                let needed = Search::needed_bytes(&*space, &options).unwrap();
                let estimate = DenseMemory::of(&size, threads);
                assert!(needed <= estimate.whole, "{needed}, {estimate:?}");
                let options = Options { memory: estimate.least, ..options };
                assert!(PartSearch::new(&space, &options).is_ok(), "{estimate:?}");
            }
        }
    }

    #[test]
    fn fifteen_pancakes_fit_a_memory_of_gigabytes() {
        let pancakes = Parameters::from([("n".to_owned(), "15".to_owned())]);
        let size = Member::<Pancake>::open(&pancakes).unwrap().dense_size().unwrap();
        let memory = DenseMemory::of(&size, 2);
        assert!(memory.least < 4 << 30, "{memory:?}");
        assert!(memory.whole > 400 << 30, "{memory:?}");
    }
}
