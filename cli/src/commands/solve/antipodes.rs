//! `strata solve --antipodes`: states of the last layer of a whole space, with their solutions.

use strata_run::catalogue::Space;
use strata_run::{Error, Job, KeepLayers, Request};

use super::args::SolveArgs;
use crate::output::events::{Antipode, Antipodes, Event};
use crate::output::exit::Failure;
use crate::output::progress::Progress;

/// Number of antipodes that are printed without the flag, if they are quick to find.
const DEFAULT: u64 = 20;

/// Greatest number of states of a dense space that is searched a second time without the flag. Such a
/// search takes some seconds.
const SMALL: u64 = 1 << 30;

/// The number of antipodes to print.
///
/// # Errors
/// If the command line asks for antipodes that the search cannot have.
pub(super) fn number(args: &SolveArgs, request: &Request, space: &Space) -> Result<u64, Failure> {
    let why = match (obstacle(args, request, space), args.antipodes) {
        (_, Some(0)) => return Ok(0),
        (None, Some(number)) => return Ok(number.into()),
        (None, None) => return Ok(default(request, space)),
        (Some(why), _) => why,
    };
    // The number may come from a variable, which may be meant for other searches.
    match args.search.line.typed("antipodes") {
        true => Err(Failure::usage(format!("--antipodes: {why}"))),
        false => Ok(0),
    }
}

/// Why the search cannot have antipodes.
fn obstacle(args: &SolveArgs, request: &Request, space: &Space) -> Option<&'static str> {
    let keeps_all =
        !args.search.line.given("keep-layers") || args.search.keep_layers == KeepLayers::All;
    if !request.is_exhaustive() {
        Some("only a search of the whole space has antipodes (--exhaust)")
    } else if !space.names_moves() {
        None
    } else if request.spec().engine.is_symbolic() {
        Some(
            "the symbolic engine has no layers to find their moves in; --engine explicit keeps them",
        )
    } else if request.paths_need_layers() && !keeps_all {
        Some("their moves need --keep-layers all")
    } else {
        None
    }
}

fn default(request: &Request, space: &Space) -> u64 {
    let is_dense = request.spec().engine.is_dense();
    let is_small = || space.dense_size().is_ok_and(|size| size.states <= SMALL);
    if is_dense && !request.paths_need_layers() && is_small() { DEFAULT } else { 0 }
}

/// Finds and shows up to `number` antipodes of a finished job. `is_default`: the flag was not
/// given.
///
/// # Errors
/// If a layer is damaged, or does not fit the memory.
pub(super) fn show(
    job: &Job,
    number: u64,
    is_default: bool,
    progress: &Progress,
) -> Result<(), Failure> {
    let found = match job.antipodes(number) {
        // The layers are not kept, and a second search does not fit the memory.
        Err(error @ Error::LayersNotKept { .. }) if is_default => {
            tracing::warn!("no antipodes: {error}");
            return Ok(());
        }
        found => found?,
    };
    let antipode =
        |found: strata_run::Antipode| Antipode { state: found.state, moves: found.moves };
    progress.emit(&Event::Antipodes(Antipodes {
        depth: found.depth,
        states: found.states,
        antipodes: found.first.into_iter().map(antipode).collect(),
    }));
    Ok(())
}
