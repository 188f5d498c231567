//! States of dense layer files: listing, look-up and recount.

use std::ops::ControlFlow;

use strata_engine::dense::Counter;
use strata_space::LayerStats;
use strata_space::dense::DenseState;
use strata_store::{DenseNumbering, DenseReader, Layer, StoreError};

/// Why a visit of words ended early.
enum Stop {
    Enough,
    Failed(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        Stop::Failed(error)
    }
}

/// Calls `visit` for the state with the index `skip` and for every `step`-th state after it, file by file
/// and ascending in each, until it breaks.
///
/// # Errors
/// If a file is damaged.
pub(crate) fn visit_states(
    layers: &[Layer],
    numbering: DenseNumbering,
    (skip, step): (u64, u64),
    visit: &mut dyn FnMut(DenseState) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    // Number of states to skip before the next visit.
    let mut left_out = skip;
    let mut visit_words = |first: u32, words: &[u64]| {
        let blocks = (first..).zip(words.chunks_exact(numbering.rows as usize));
        for (block, words) in blocks {
            for (row, word) in (0..=u16::MAX).zip(words) {
                let mut left = *word;
                while left != 0 {
                    let lane = left.trailing_zeros() as u8;
                    left &= left - 1;
                    let is_wanted = left_out == 0;
                    left_out = if is_wanted { step - 1 } else { left_out - 1 };
                    if is_wanted && visit(DenseState { block, row, lane }).is_break() {
                        return Err(Stop::Enough);
                    }
                }
            }
        }
        Ok(())
    };
    for layer in layers {
        match DenseReader::new(layer, numbering)?.visit(&mut visit_words) {
            Err(Stop::Enough) => return Ok(()),
            Err(Stop::Failed(error)) => return Err(error),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// The index in `states` of a state that the files of a dense layer hold; None if they hold none of them.
///
/// # Errors
/// If a file is damaged, or a state has a block that does not exist.
pub fn find_state(
    layers: &[Layer],
    numbering: DenseNumbering,
    states: &[DenseState],
) -> Result<Option<usize>, StoreError> {
    let mut words = vec![0; numbering.rows as usize];
    for layer in layers {
        let reader = DenseReader::new(layer, numbering)?;
        for (index, state) in states.iter().enumerate() {
            reader.read(state.block, &mut words)?;
            let word = words.get(usize::from(state.row)).copied().unwrap_or(0);
            if word >> state.lane & 1 == 1 {
                return Ok(Some(index));
            }
        }
    }
    Ok(None)
}

/// Counts the states of a layer file.
///
/// # Errors
/// If the file is damaged.
pub(crate) fn recount(
    layer: &Layer,
    numbering: DenseNumbering,
    counter: &Counter<'_>,
) -> Result<LayerStats, StoreError> {
    let mut sum = LayerStats::default();
    DenseReader::new(layer, numbering)?.visit(|first, words| {
        sum.add(&counter.count(first, words));
        Ok::<(), StoreError>(())
    })?;
    Ok(sum)
}
