//! The fuzz targets.

mod definitions;
mod dense;
mod job;
mod job_files;
mod journal;
mod layer;
mod layer_format;
mod manifest;
mod messages;
mod names;
mod positions;
mod puzzles;
mod run;
mod snapshot;
mod support;

use strata_store::LocalWidth;

use crate::fuzz::Target;

/// The name of a target, and its constructor.
pub type Entry = (&'static str, fn() -> Box<dyn Target>);

/// All targets. Making one may write files.
#[must_use]
pub fn all() -> Vec<Entry> {
    vec![
        ("layer", || Box::new(layer::LayerFiles::new())),
        ("dense", || Box::new(dense::DenseFiles::new())),
        ("run", || Box::new(run::EncodedRuns::new(LocalWidth::One))),
        ("run-64", || Box::new(run::EncodedRuns::new(LocalWidth::Two))),
        ("run-128", || Box::new(run::EncodedRuns::new(LocalWidth::Four))),
        ("snapshot", || Box::new(snapshot::Snapshots::new())),
        ("manifest", || Box::new(manifest::Manifests::new())),
        ("job", || Box::new(job::Jobs::new())),
        ("journal", || Box::new(journal::Journals::new())),
        ("messages", || Box::new(messages::Messages)),
        ("positions", || Box::new(positions::Positions)),
        ("definitions", || Box::new(definitions::Definitions)),
        ("specs", || Box::new(puzzles::Specs::new())),
        ("names", || Box::new(names::Names::new())),
    ]
}
