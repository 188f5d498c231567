//! `strata solve --path`: which searches have a path, and why one was not found.

use strata_engine::symbolic::StepError;
use strata_run::catalogue::Space;
use strata_run::{Error, Request};

use super::args::SolveArgs;
use crate::output::exit::{ExitCode, Failure};

/// Checks that the search can have a path, before anything is searched.
///
/// # Errors
/// If the space does not name its moves, there is no goal, the file for the moves cannot be
/// created, or the layers are not kept.
pub(super) fn check(args: &SolveArgs, request: &Request, space: &Space) -> Result<(), Failure> {
    if !space.names_moves() {
        let name = space.name();
        return Err(Failure::usage(format!("--path: {name} does not name its moves")));
    }
    args.path.form.check_for_goal(request.is_exhaustive())?;
    let keeps_all = args.search.keep_layers == strata_run::KeepLayers::All;
    let by_midpoints = request.spec().engine.is_explicit() && space.ends().is_some();
    let needs_layers = request.paths_need_layers() && !by_midpoints;
    if needs_layers && args.search.line.given("keep-layers") && !keeps_all {
        let name = space.name();
        let message = format!("--path: a path of {name} needs --keep-layers all");
        return Err(Failure::usage(message));
    }
    Ok(())
}

/// The failure of a search for a path.
pub(super) fn failure(error: Error) -> Failure {
    match error {
        Error::Step(error @ StepError::Mismatch { .. }) => {
            Failure::new(ExitCode::Unexpected, error.to_string())
        }
        Error::Step(error) => {
            let why = "--path holds all layers in memory; --engine explicit keeps them on disk";
            Failure::new(ExitCode::Limit, format!("{error}: {why}"))
        }
        error => error.into(),
    }
}
