//! Layers of a job, from its folder or from the cluster.

use std::path::Path;

use strata::{orbits, verify};
use strata_store::EngineKind;

use super::table::Row;
use crate::client::record;
use crate::folder::open;
use crate::output::events::counted;
use crate::output::exit::Failure;
use crate::target::{ClusterJob, Target};

/// The engine and the layers of a job, which may be running.
///
/// # Errors
/// If its history cannot be read, or the cluster does not answer.
pub(crate) fn rows(target: &Target<'_>) -> Result<(EngineKind, Vec<Row>), Failure> {
    match target {
        Target::Folder(folder) => rows_of_folder(folder),
        Target::Cluster(found) => rows_of_cluster(found),
    }
}

/// The layer table of a job in a folder, which may be running.
fn rows_of_folder(dir: &Path) -> Result<(EngineKind, Vec<Row>), Failure> {
    let (folder, manifest) = open(dir)?;
    let spec = manifest.spec.clone();
    let (_, view) = verify::with_current(&folder, manifest, |manifest| {
        let record = manifest.checkpoint.as_ref().map(|checkpoint| &checkpoint.history);
        folder.read_history(record)
    })?;
    let mut end = 0.0;
    let rows = view.lines.into_iter().map(|line| Row {
        depth: line.depth,
        states: line.states,
        positions: counted(line.positions, line.states),
        orbits: orbits((spec.engine, &spec.params), line.states, line.orbits),
        generated: line.generated,
        regions: line.regions,
        bytes: line.bytes,
        digest: line.digest.to_string(),
        seconds: line.seconds - std::mem::replace(&mut end, line.seconds),
    });
    let rows = rows.collect();
    Ok((spec.engine, rows))
}

/// The layer table of a cluster's job.
fn rows_of_cluster(found: &ClusterJob<'_>) -> Result<(EngineKind, Vec<Row>), Failure> {
    let (spec, mut end) = (record::spec(&found.job), 0.0);
    let rows = found.remote.layers(&found.job.id)?.into_iter().map(|line| Row {
        depth: line.depth,
        states: line.states,
        positions: counted(line.positions, line.states),
        orbits: orbits((spec.engine, &spec.parameters), line.states, line.orbits),
        generated: line.generated,
        regions: line.regions,
        bytes: line.bytes,
        digest: record::digest(line.digest),
        seconds: record::duration(line.seconds, std::mem::replace(&mut end, line.seconds)),
    });
    let rows = rows.collect();
    Ok((spec.engine, rows))
}
