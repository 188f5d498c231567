//! Layers of a job, from its folder or from the cluster.

use std::path::Path;

use strata_run::{LayerEvent, LayerEvents, verify};
use strata_store::EngineKind;
use strata_store::LayerRecord;

use crate::client::record;
use crate::folder::open;
use crate::output::exit::Failure;
use crate::output::layer::{LayerRow, counted};
use crate::target::{ClusterJob, Target};

/// The engine and the layers of a job, which may be running.
///
/// # Errors
/// If its history cannot be read, or the cluster does not answer.
pub(crate) fn rows(target: &Target<'_>) -> Result<(EngineKind, Vec<LayerRow>), Failure> {
    match target {
        Target::Folder(folder) => rows_of_folder(folder),
        Target::Cluster(found) => rows_of_cluster(found),
    }
}

/// The layer table of a job in a folder, which may be running.
fn rows_of_folder(dir: &Path) -> Result<(EngineKind, Vec<LayerRow>), Failure> {
    let (folder, manifest) = open(dir)?;
    let spec = manifest.spec.clone();
    let (_, view) = verify::with_current(&folder, manifest, |manifest| {
        let record = manifest.checkpoint.as_ref().map(|checkpoint| &checkpoint.history);
        folder.read_history(record)
    })?;
    Ok((spec.engine, of_layers(view.lines)))
}

/// The layer table of a cluster's job.
fn rows_of_cluster(found: &ClusterJob<'_>) -> Result<(EngineKind, Vec<LayerRow>), Failure> {
    let engine = record::spec(&found.job).engine;
    Ok((engine, of_layers(found.remote.layers(&found.job.id)?)))
}

fn of_layers(layers: Vec<LayerRecord>) -> Vec<LayerRow> {
    let mut events = LayerEvents::default();
    let layers = layers.into_iter().map(|layer| events.next(layer, true));
    let rows = layers.map(|LayerEvent { layer, took, .. }| {
        LayerRow::new(&layer, counted(layer.positions, layer.states), took)
    });
    rows.collect()
}
