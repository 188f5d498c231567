//! Choice of the engine by space, options and resources.

use strata_space::dense::DenseSize;
use strata_store::EngineKind;

use crate::catalogue::Space;

const MIB: u64 = 1 << 20;

/// What a search asks of its engine.
#[derive(Clone, Debug)]
pub struct EngineNeeds<'a> {
    /// A given option that only the explicit engine supports.
    pub explicit: Option<&'a str>,
    /// A given option that needs the files of layers, which a symbolic search does not write.
    pub files: Option<&'a str>,
    /// The memory budget in bytes.
    pub memory: u64,
    /// Threads.
    pub threads: usize,
    /// The most bytes on disk.
    pub disk_limit: Option<u64>,
    /// Whether the whole space is listed.
    pub is_exhaustive: bool,
}

/// An engine, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineChoice {
    /// The engine.
    pub engine: EngineKind,
    /// The reason in a few words.
    pub reason: String,
}

/// Chooses the engine of a search: symbolic if the space is nested and no option needs files; dense
/// if a bit for each state fits the memory or, for a search of the whole space, the disk; else
/// explicit.
pub fn choose_engine(space: &Space, needs: &EngineNeeds<'_>) -> EngineChoice {
    let choice = |engine, reason: String| EngineChoice { engine, reason };
    if let Some(option) = needs.explicit {
        return choice(EngineKind::Explicit, format!("{option} needs it"));
    }
    if needs.files.is_none() && space.nested().is_ok() {
        return choice(EngineKind::Symbolic, "the space is nested".to_owned());
    }
    let size = match space.dense_size() {
        Ok(size) => size,
        Err(error) => return choice(EngineKind::Explicit, error.to_string()),
    };
    match (dense_reason(&size, needs), space.check_explicit()) {
        (Ok(reason), _) => choice(EngineKind::Dense, reason),
        (Err(reason), Ok(())) => choice(EngineKind::Explicit, reason),
        (Err(_), Err(error)) => choice(EngineKind::Dense, format!("the explicit engine: {error}")),
    }
}

/// Why the dense engine takes a space, or does not.
fn dense_reason(size: &DenseSize, needs: &EngineNeeds<'_>) -> Result<String, String> {
    let DenseMemory { whole, least } = DenseMemory::of(size, needs.threads);
    let (states, most) = (size.states, needs.memory / MIB);
    if whole <= needs.memory {
        return Ok(format!("{states} states take {} MiB of memory", whole.div_ceil(MIB)));
    }
    // Two layers, a bit for each state in each.
    let disk = size.states / 4;
    let (whole, least) = (whole.div_ceil(MIB), least.div_ceil(MIB));
    if !needs.is_exhaustive {
        Err(format!("a dense search would take {whole} MiB of memory, more than {most} MiB"))
    } else if least > most {
        Err(format!(
            "a dense search would take at least {least} MiB of memory, more than {most} MiB"
        ))
    } else if needs.disk_limit.is_some_and(|limit| disk > limit) {
        Err(format!("a dense search could take {} MiB on disk", disk.div_ceil(MIB)))
    } else {
        Ok(format!(
            "{states} states take {whole} MiB, on disk by parts within {most} MiB of memory"
        ))
    }
}

/// Memory of a dense search, in bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DenseMemory {
    /// With all planes in memory.
    pub whole: u64,
    /// With one part of them in memory at a time.
    pub least: u64,
}

impl DenseMemory {
    /// Tables of lanes and digests, and buffers of files.
    const FIXED: u64 = 4 * MIB;
    /// The most parts that a search is cut into.
    const MOST_PARTS: u64 = 400;

    /// The memory of a search of a space of this size.
    pub fn of(size: &DenseSize, threads: usize) -> DenseMemory {
        let shape = &size.shape;
        // Tables of moves, and words and weights of rows.
        let rows = u64::from(shape.rows) * 16;
        let fixed = size.table_bytes + (threads as u64 + 1) * rows + Self::FIXED;
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
    use strata_dense::{Options, PartSearch, Search};
    use strata_puzzles::Hanoi;
    use strata_puzzles::permutation::{Member, Pancake};
    use strata_space::{Parameters, Puzzle};

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
    fn fifteen_pancakes_fit_a_memory_of_gigabytes() {
        let pancakes = Parameters::from([("n".to_owned(), "15".to_owned())]);
        let size = Member::<Pancake>::open(&pancakes).unwrap().dense_size().unwrap();
        let memory = DenseMemory::of(&size, 2);
        assert!(memory.least < 4 << 30, "{memory:?}");
        assert!(memory.whole > 400 << 30, "{memory:?}");
    }
}
