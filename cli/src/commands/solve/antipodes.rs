//! `strata solve --antipodes`: states of the last layer of a whole space, with their solutions.

use strata::catalogue::Space;
use strata::{KeepLayers, RunOptions, antipodes};
use strata_store::JobDir;

use super::args::SolveArgs;
use super::prepared::Prepared;
use crate::output::events::{Antipode, Antipodes, Event};
use crate::output::exit::Failure;
use crate::output::progress::Progress;

/// The number of antipodes to print.
///
/// # Errors
/// If the command line asks for antipodes that the search cannot have.
pub(super) fn number(args: &SolveArgs, prepared: &Prepared, space: &Space) -> Result<u64, Failure> {
    let request = &prepared.request;
    let Some(number) = args.antipodes.filter(|number| *number > 0) else { return Ok(0) };
    let why = if !request.is_exhaustive() {
        "only a search of the whole space has antipodes (--exhaust)"
    } else if !space.names_moves() || request.spec().engine.is_explicit() && keeps_all(args) {
        return Ok(number.into());
    } else if request.spec().engine.is_explicit() {
        "their moves need --keep-layers all"
    } else {
        "the symbolic engine has no layers to find their moves in; --engine explicit keeps them"
    };
    // A variable may be meant for other searches.
    if args.search.line.typed("antipodes") {
        return Err(Failure::usage(format!("--antipodes: {why}")));
    }
    Ok(0)
}

/// Whether the command line permits to keep all layers.
fn keeps_all(args: &SolveArgs) -> bool {
    !args.search.line.given("keep-layers") || args.search.keep_layers == KeepLayers::All
}

/// The options of a search with antipodes: their moves are traced back through all layers.
pub(super) fn options(prepared: &Prepared, space: &Space) -> RunOptions {
    let options = prepared.request.options().clone();
    match prepared.request.spec().engine.is_explicit() && space.names_moves() {
        true => RunOptions { keep_layers: KeepLayers::All, ..options },
        false => options,
    }
}

/// Finds and shows the antipodes of a finished job.
///
/// # Errors
/// If a layer is damaged, or does not fit the memory.
pub(super) fn show(
    prepared: &Prepared,
    folder: &JobDir,
    number: u64,
    progress: &Progress,
) -> Result<(), Failure> {
    let open = || Ok(crate::spaces::puzzle::reopen(prepared.request.spec())?);
    let found = antipodes(&prepared.request, folder, &open, number)?;
    let antipode = |found: strata::Antipode| Antipode { state: found.state, moves: found.moves };
    progress.emit(&Event::Antipodes(Antipodes {
        depth: found.depth,
        states: found.states,
        antipodes: found.first.into_iter().map(antipode).collect(),
    }));
    Ok(())
}
