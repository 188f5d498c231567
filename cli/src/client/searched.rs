//! Path of a cluster's symbolic job: a worker searches for it a second time.

use std::time::{Duration, Instant};

use strata_proto::v1;
use strata_proto::v1::path_part::Part;

use super::remote::Remote;
use crate::output::exit::Failure;
use crate::output::units;

/// Time between two lines about the progress.
const INTERVAL: Duration = Duration::from_secs(10);

/// The positions of a shortest solution, from start to goal. The search starts when a worker has no
/// job.
///
/// # Errors
/// Those of the call, for example if the layers do not fit the memory of a worker.
pub(crate) fn positions(
    remote: &Remote<'_>,
    job: &v1::Job,
    layers: u32,
) -> Result<Vec<String>, Failure> {
    let mut parts = remote.find_path(&job.id)?;
    let mut positions = Vec::new();
    let mut shown = (String::new(), None::<Instant>);
    let moves = job.result.as_ref().and_then(|result| result.moves).unwrap_or_default();
    while let Some(v1::PathPart { part }) = remote.next(&mut parts)? {
        match part {
            Some(Part::Progress(progress)) => {
                // The search may have begun again.
                positions.clear();
                let (phase, text) = describe(&progress, layers, moves);
                let is_due = shown.1.is_none_or(|last| last.elapsed() >= INTERVAL);
                if phase != shown.0 || is_due && !progress.worker.is_empty() {
                    tracing::info!("{text}");
                    shown = (phase, Some(Instant::now()));
                }
            }
            Some(Part::Positions(more)) => positions.extend(more.positions),
            // A part of a later version.
            None => {}
        }
    }
    Ok(positions)
}

/// The phase with its worker, and a line about the progress in it.
fn describe(progress: &v1::PathProgress, layers: u32, moves: u64) -> (String, String) {
    let v1::PathProgress { worker, depth, moves: traced } = progress;
    if worker.is_empty() {
        let text = "waiting until a worker runs no job".to_owned();
        return (String::from("waiting"), text);
    }
    match traced {
        None => {
            let what = format!("worker {worker} searches again, with all layers in memory");
            let (depth, layers) = (units::count((*depth).into()), units::count(layers.into()));
            let text = format!("{what}: layer {depth} of {layers}");
            (what, text)
        }
        Some(traced) => {
            let what = format!("worker {worker} traces the moves back");
            let (traced, moves) = (units::count((*traced).into()), units::count(moves));
            let text = format!("{what}: {traced} of {moves}");
            (what, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_search_is_described() {
        let of = |worker: &str, moves| {
            let progress = v1::PathProgress { worker: worker.to_owned(), depth: 7000, moves };
            describe(&progress, 15_769, 31_537).1
        };
        assert_eq!(of("", None), "waiting until a worker runs no job");
        assert_eq!(
            of("b", None),
            "worker b searches again, with all layers in memory: layer 7,000 of 15,769"
        );
        assert_eq!(of("b", Some(1200)), "worker b traces the moves back: 1,200 of 31,537");
    }
}
