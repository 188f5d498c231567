//! Checks of what workers report: of layers against the layer before, and of files against layers.
//!
//! Reports come from other processes. What they can be checked against, they are.

use strata_space::{LayerStats, Weight};
use strata_store::CheckpointFile;

use super::refusal::Refusal;
use super::sums::{LayerSummary, Totals};

/// What the figures of a layer say about its moves.
#[derive(Copy, Clone, Debug)]
pub(super) struct MoveRules {
    /// Moves are counted.
    pub(super) are_counted: bool,
    /// A move need not have an inverse.
    pub(super) are_directed: bool,
}

/// Checks a new layer against the one before and the sums so far.
///
/// # Errors
/// [`Refusal::Implausible`] if no search can have found it.
pub(super) fn check_layer(
    layer: &LayerSummary,
    before: Option<&LayerSummary>,
    totals: &Totals,
    moves: MoveRules,
) -> Result<(), Refusal> {
    let LayerStats { states, regions, generated, .. } = layer.stats;
    let implausible = |what: String| Err(Refusal::Implausible { depth: layer.depth, what });
    if regions > states || (regions == 0 && states > 0) {
        return implausible(format!("{states} states in {regions} regions"));
    }
    if let Some(before) = before.filter(|_| moves.are_counted) {
        // Each new state is reached by a move of the layer before, and has the inverse of it if there
        // is one.
        let made = before.stats.generated;
        if states > made {
            return implausible(format!("{states} states, by {made} moves of the layer before"));
        }
        if generated < states && !moves.are_directed {
            return implausible(format!("{states} states with {generated} moves"));
        }
    }
    if !totals.has_room_for(layer) {
        let bytes = layer.bytes;
        return implausible(format!(
            "{states} states, {generated} moves and {bytes} bytes overflow the sums of all layers"
        ));
    }
    Ok(())
}

/// Checks that the files of a layer hold it: states, regions, moves and digest.
///
/// # Errors
/// [`Refusal::Incomplete`] if they do not.
pub(super) fn check_files(
    depth: u32,
    layer: &LayerStats,
    files: &[CheckpointFile],
) -> Result<(), Refusal> {
    let mut sum = LayerStats::default();
    for file in files.iter().filter(|file| file.depth == depth) {
        let CheckpointFile { states, regions, generated, digest, .. } = *file;
        let digest = Weight(digest.0);
        sum.add(&LayerStats { states, regions, generated, digest, ..LayerStats::default() });
    }
    let (expected, found) = (text(layer), text(&sum));
    if expected == found { Ok(()) } else { Err(Refusal::Incomplete { depth, expected, found }) }
}

/// Checks that a restored layer has the recorded figures. Its bytes depend on the writers.
///
/// # Errors
/// [`Refusal::Differs`] if it has not.
pub(super) fn check_restored(
    recorded: &LayerSummary,
    restored: &LayerSummary,
) -> Result<(), Refusal> {
    let (expected, found) = (text(&recorded.stats), text(&restored.stats));
    if expected == found {
        return Ok(());
    }
    Err(Refusal::Differs { depth: recorded.depth, expected, found })
}

fn text(stats: &LayerStats) -> String {
    let LayerStats { states, regions, generated, digest, .. } = stats;
    format!("{states} states, {regions} regions, {generated} moves, digest {digest}")
}
