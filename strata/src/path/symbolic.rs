//! Positions of a shortest solution of a symbolic job: searched again with all layers in memory.

use strata_symbolic::Options;

use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::job::cancel::CancelToken;

/// The positions from start to goal in text form; none if the search was cancelled.
///
/// # Errors
/// [`Error::Step`] if the layers do not fit the memory.
pub(super) fn positions(
    space: &Space,
    options: Options,
    cancel: &CancelToken,
) -> Result<Option<Vec<String>>> {
    let mut search = space.nested()?.open(options)?;
    let mut layer = search.layer();
    while !layer.is_last() {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        layer = search.advance()?;
    }
    let lost = || Error::NoPath("no path leads back from the goal".to_owned());
    search.shortest_path().map(Some).ok_or_else(lost)
}
