//! Checks of what workers report: of layers against the layer before, and of files against layers.
//!
//! Reports come from other processes. What they can be checked against, they are.

use std::num::NonZeroU32;

use strata_space::{LayerStats, Weight};
use strata_store::{CheckpointFile, EngineKind};

use super::refusal::Refusal;
use super::sums::{LayerSummary, Totals};

/// What the figures of layers depend on.
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
    layer: &LayerSummary,
    before: Option<&LayerSummary>,
    totals: &Totals,
    rules: LayerRules,
) -> Result<(), Refusal> {
    let LayerStats { states, positions, regions, generated, .. } = layer.stats;
    let implausible = |what: String| Err(Refusal::Implausible { depth: layer.depth, what });
    if regions > states || (regions == 0 && states > 0) {
        return implausible(format!("{states} states in {regions} regions"));
    }
    // A space counts the positions of all states or of none. A state stands for at least one position,
    // but for none if it is a step of a directed search between positions.
    let counted_before = before.map(|_| totals.positions > 0);
    let is_counted = counted_before != Some(false) && (positions >= states || rules.is_directed);
    let is_uncounted = positions == 0 && counted_before != Some(true);
    // Unless its blocks are folded, the dense engine has every position as a state.
    let is_unfolded = rules.engine.is_dense() && !rules.is_folded;
    if (is_unfolded && positions > states) || !(is_counted || is_uncounted) {
        return implausible(format!("{states} states stand for {positions} positions"));
    }
    if let Some(before) = before.filter(|_| rules.engine.counts_moves()) {
        // Each new state is reached by a move of the layer before, and has the inverse of it if there
        // is one. Of folded blocks, moves of all positions are counted.
        let made = before.stats.generated;
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

/// The orbits of symmetries in a layer, by Burnside's lemma, from what each worker has reported as the
/// number of symmetries. None if the workers count none.
///
/// # Errors
/// [`Refusal::Implausible`] if workers differ, or no group has such orbits.
pub(super) fn orbits(
    layer: &LayerSummary,
    symmetries: &[Option<NonZeroU32>],
) -> Result<Option<u64>, Refusal> {
    let LayerStats { states, positions, fixed, .. } = layer.stats;
    let implausible = |what: String| Err(Refusal::Implausible { depth: layer.depth, what });
    let first = symmetries.first().copied().flatten();
    let number = |count: Option<NonZeroU32>| u64::from(count.map_or(0, NonZeroU32::get));
    let count = number(first);
    if let Some(other) = symmetries.iter().find(|other| **other != first) {
        let other = number(*other);
        return implausible(format!("workers count orbits of {count} and of {other} symmetries"));
    }
    if count == 0 && fixed == 0 {
        return Ok(None);
    }
    let sum = positions.checked_add(fixed);
    let orbits = sum.filter(|sum| sum.checked_rem(count) == Some(0)).map(|sum| sum / count);
    // A state is in one orbit.
    match orbits.filter(|orbits| *orbits <= states) {
        Some(orbits) => Ok(Some(orbits)),
        None => implausible(format!(
            "{count} symmetries fix {fixed} of the {positions} positions of {states} states"
        )),
    }
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
        let CheckpointFile { states, positions, regions, generated, digest, .. } = *file;
        let digest = Weight(digest.0);
        let stats = LayerStats { states, positions, regions, generated, ..LayerStats::default() };
        sum.add(&LayerStats { digest, ..stats });
    }
    let (expected, found) = (text(layer), text(&sum));
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

/// Checks that a restored layer has the recorded figures. Its bytes depend on the writers.
///
/// # Errors
/// [`Refusal::Differs`] if it has not.
pub(super) fn check_restored(
    recorded: &LayerSummary,
    restored: &LayerSummary,
) -> Result<(), Refusal> {
    let (mut expected, mut found) = (text(&recorded.stats), text(&restored.stats));
    // Earlier versions counted no orbits.
    if let Some((recorded, restored)) = recorded.orbits.zip(restored.orbits) {
        expected += &format!(", {recorded} orbits");
        found += &format!(", {restored} orbits");
    }
    if expected == found {
        return Ok(());
    }
    Err(Refusal::Differs { depth: recorded.depth, expected, found })
}

fn text(stats: &LayerStats) -> String {
    let LayerStats { states, positions, regions, generated, digest, .. } = stats;
    format!(
        "{states} states, {positions} positions, {regions} regions, {generated} moves, digest {digest}"
    )
}
