//! Checks of workers' reports: of layers against the layer before, and of files against layers.
//!
//! Reports come from other processes, so all figures that can be checked are checked.

use std::num::NonZeroU32;

use strata_space::LayerStats;
use strata_store::{CheckpointFile, EngineKind, LayerRecord, LayerTotals};

use super::refusal::Refusal;
use super::report::LayerReport;
use super::sums::{Totals, stats_of, totals_of};

/// Properties of a search on which the checks of layers depend.
#[derive(Copy, Clone, Debug)]
pub(super) struct LayerRules {
    /// The engine.
    pub(super) engine: EngineKind,
    /// Whether a move need not have an inverse.
    pub(super) is_directed: bool,
    /// Whether a dense state may stand for several positions.
    pub(super) is_folded: bool,
}

/// Checks a new layer against the one before and the sums so far.
///
/// # Errors
/// [`Refusal::Implausible`] if no search can have found it.
pub(super) fn check_layer(
    layer: &LayerRecord,
    before: Option<&LayerRecord>,
    totals: &Totals,
    rules: LayerRules,
) -> Result<(), Refusal> {
    let LayerRecord { states, positions, regions, generated, .. } = *layer;
    let implausible = |what: String| Err(Refusal::Implausible { depth: layer.depth, what });
    if regions > states || (regions == 0 && states > 0) {
        return implausible(format!("{states} states in {regions} regions"));
    }
    // A space counts the positions of all states or of none. A state stands for at least one position,
    // except that a directed search can have states between positions.
    let counted_before = before.map(|_| totals.positions > 0);
    let is_counted = counted_before != Some(false) && (positions >= states || rules.is_directed);
    let is_uncounted = positions == 0 && counted_before != Some(true);
    // In a dense search without folded blocks, every position is a state.
    let is_unfolded = rules.engine.is_dense() && !rules.is_folded;
    if (is_unfolded && positions > states) || !(is_counted || is_uncounted) {
        return implausible(format!("{states} states stand for {positions} positions"));
    }
    if let Some(before) = before.filter(|_| rules.engine.counts_moves()) {
        // Each new state is reached by a move from the layer before, and in an undirected search it has the
        // inverse move. With folded blocks, the moves of all positions are counted.
        let made = before.generated;
        let (new, what) =
            if rules.is_folded { (positions, "positions") } else { (states, "states") };
        if new > made {
            return implausible(format!("{new} {what}, by {made} moves of the layer before"));
        }
        if generated < states && !rules.is_directed {
            return implausible(format!("{states} states with {generated} moves"));
        }
    }
    if !totals.has_room_for(layer) {
        let bytes = layer.bytes;
        return implausible(format!(
            "{states} states, {generated} moves and {bytes} bytes overflow the sums of all layers \
             ({positions} positions)"
        ));
    }
    Ok(())
}

/// The number of orbits of symmetries in a layer, by Burnside's lemma. None if orbits are not counted.
///
/// # Errors
/// [`Refusal::Implausible`] if no group has this number of orbits.
pub(super) fn orbits(report: &LayerReport) -> Result<Option<u64>, Refusal> {
    let LayerRecord { depth, states, positions, .. } = report.layer;
    let (count, fixed) = (report.symmetries.map_or(0, NonZeroU32::get), report.fixed);
    if count == 0 && fixed == 0 {
        return Ok(None);
    }
    let sum = positions.checked_add(fixed);
    let count = u64::from(count);
    let orbits = sum.filter(|sum| sum.checked_rem(count) == Some(0)).map(|sum| sum / count);
    // Each state is in one orbit.
    match orbits.filter(|orbits| *orbits <= states) {
        Some(orbits) => Ok(Some(orbits)),
        None => {
            let what = format!(
                "{count} symmetries fix {fixed} of the {positions} positions of {states} states"
            );
            Err(Refusal::Implausible { depth, what })
        }
    }
}

/// Checks that the files of a layer hold all of it: states, positions, regions, moves and digest.
///
/// # Errors
/// [`Refusal::Incomplete`] if they do not.
pub(super) fn check_files(
    depth: u32,
    layer: &LayerTotals,
    files: &[CheckpointFile],
) -> Result<(), Refusal> {
    let mut sum = LayerStats::default();
    for file in files.iter().filter(|file| file.depth == depth) {
        sum.add(&stats_of(&file.totals()));
    }
    let (expected, found) = (text(layer), text(&totals_of(&sum)));
    if expected == found { Ok(()) } else { Err(Refusal::Incomplete { depth, expected, found }) }
}

/// Checks that the files of older layers of a checkpoint at a depth hold all of their states.
///
/// # Errors
/// [`Refusal::Incomplete`] if they do not.
pub(super) fn check_older(depth: u32, states: u64, found: u64) -> Result<(), Refusal> {
    if states == found {
        return Ok(());
    }
    let text = |states: u64| format!("{states} states of layers before the last two");
    Err(Refusal::Incomplete { depth, expected: text(states), found: text(found) })
}

/// Checks that a restored layer has the recorded figures. Its bytes are not compared, since they depend on
/// which workers wrote it.
///
/// # Errors
/// [`Refusal::Differs`] if a figure differs.
pub(super) fn check_restored(
    recorded: &LayerRecord,
    restored: &LayerRecord,
) -> Result<(), Refusal> {
    let text = |layer: &LayerRecord| {
        let orbits = layer.orbits.map_or_else(String::new, |orbits| format!(", {orbits} orbits"));
        text(&layer.totals()) + &orbits
    };
    let (expected, found) = (text(recorded), text(restored));
    if expected == found {
        return Ok(());
    }
    Err(Refusal::Differs { depth: recorded.depth, expected, found })
}

fn text(totals: &LayerTotals) -> String {
    let LayerTotals { states, positions, regions, generated, digest } = totals;
    format!(
        "{states} states, {positions} positions, {regions} regions, {generated} moves, digest {digest}"
    )
}
