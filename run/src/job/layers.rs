//! Layers of a job: access for paths, counting and listing.

use std::ops::ControlFlow;
use std::sync::Arc;

use strata_engine::explicit::{Engine, Layers};
use strata_engine::symbolic::AnySearch;
use strata_space::dense::DenseSpace;
use strata_space::{RegionKey, State};
use strata_store::{
    CheckpointFile, EngineKind, FileKind, JobDir, JobSpec, KeptFile, KeyRange, Layer, LayerCursor,
    LayerRecord, Manifest, StoreError,
};

use super::dense;
use super::files::{open_kept, open_record};
use super::history::read_history;
use super::verify::{open_checkpoint, with_current};
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::local::dense::numbering;
use crate::local::symbolic::load_diagram;

/// The layer files of a job: those of its last checkpoint, and the kept ones.
pub(crate) struct JobLayers<'a> {
    folder: &'a JobDir,
    engine: EngineKind,
    /// Depth of the last layer.
    depth: u32,
    records: Vec<CheckpointFile>,
    lines: Vec<LayerRecord>,
}

impl<'a> JobLayers<'a> {
    /// Reads manifest and history.
    ///
    /// # Errors
    /// If one of them is missing or damaged.
    pub(crate) fn read(folder: &'a JobDir) -> Result<JobLayers<'a>> {
        let manifest = folder.read_manifest()?;
        let lines = read_history(folder, &manifest)?.lines;
        let engine = manifest.spec.engine;
        let (depth, records) =
            manifest.checkpoint.map_or((0, Vec::new()), |last| (last.depth, last.layers));
        // A file of older layers holds several layers, so it is left out.
        let records = records.into_iter().filter(|record| !record.is_older()).collect();
        Ok(JobLayers { folder, engine, depth, records, lines })
    }

    /// Depth of the last layer.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Depth of the last layer with states.
    pub(crate) fn last_depth(&self) -> u32 {
        (self.lines.len() as u32).saturating_sub(1).min(self.depth)
    }

    /// Whether the job holds every layer.
    pub(crate) fn is_complete(&self) -> bool {
        (0..self.depth.saturating_sub(1)).all(|depth| !self.kept(depth).is_empty())
    }

    /// Opens the files of a layer.
    ///
    /// # Errors
    /// If one of them is missing or damaged.
    pub(crate) fn files(&self, depth: u32) -> std::result::Result<Vec<Layer>, StoreError> {
        let (folder, engine) = (self.folder, self.engine);
        if depth + 1 >= self.depth {
            let records = self.records.iter().filter(|record| record.depth == depth);
            return records.map(|record| open_record(folder, engine, record)).collect();
        }
        self.kept(depth).iter().map(|kept| open_kept(folder, engine, depth, kept)).collect()
    }

    fn kept(&self, depth: u32) -> &[KeptFile] {
        self.lines.get(depth as usize).map_or(&[], |line| &line.kept)
    }

    /// Bytes of all these files.
    pub(crate) fn bytes(&self) -> u64 {
        let kept = self.lines.iter().flat_map(|line| &line.kept);
        let records = self.records.iter().map(|record| record.bytes).sum::<u64>();
        kept.map(|file| file.bytes).sum::<u64>() + records
    }
}

impl Layers for JobLayers<'_> {
    type Error = strata_engine::explicit::Error;

    fn open(&mut self, depth: u32) -> strata_engine::explicit::Result<Vec<Layer>> {
        Ok(self.files(depth)?)
    }
}

/// One layer of a job, ready to be counted and listed.
pub struct LayerView {
    depth: u32,
    states: u64,
    content: Content,
}

enum Content {
    Files { layers: Vec<Layer>, engine: Engine },
    Diagram(Box<dyn AnySearch>),
    Dense { layers: Vec<Layer>, space: Arc<dyn DenseSpace> },
}

/// A state of a listed layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedState {
    /// A position that the state stands for, in the space's text form.
    pub text: String,
    /// The state as the explicit engine stores it; None in a layer of another engine.
    pub state: Option<State>,
}

/// Opens a layer of a job, also while the job runs.
///
/// A symbolic layer that the job's checkpoint does not hold is computed again, in `memory` bytes.
///
/// # Errors
/// [`Error::LayerNotHeld`] or [`Error::NoLayer`] if there is no such layer, [`Error::Step`] or
/// [`Error::Worker`] if a symbolic layer does not fit the memory, [`Error::Store`] if a file is
/// missing or damaged.
pub fn open_layer(
    folder: &JobDir,
    manifest: Manifest,
    space: Space,
    depth: u32,
    memory: u64,
) -> Result<LayerView> {
    if manifest.spec.engine.is_symbolic() {
        open_diagram(folder, &manifest, &space, depth, memory)
    } else {
        open_files(folder, manifest, space, depth)
    }
}

/// Number of states of a layer by the job's history, which also records layers whose files are not kept.
///
/// # Errors
/// [`Error::NoLayer`] if there is no such layer, [`Error::Store`] if the history is damaged.
pub fn layer_states(folder: &JobDir, manifest: Manifest, depth: u32) -> Result<u64> {
    let read = |manifest: &Manifest| read_history(folder, manifest);
    let (_, history) = with_current(folder, manifest, read)?;
    let last = history.lines.len().saturating_sub(1) as u32;
    let line = history.lines.get(depth as usize);
    line.map(|line| line.states).ok_or(Error::NoLayer { depth, last })
}

fn open_files(folder: &JobDir, manifest: Manifest, space: Space, depth: u32) -> Result<LayerView> {
    let (manifest, layers) = with_current(folder, manifest, |manifest| -> Result<_> {
        let history = read_history(folder, manifest)?;
        let last = history.lines.len().saturating_sub(1) as u32;
        // The last checkpoint of a whole space has one more layer, which is empty and not in the history.
        if depth > last && !history.lines.is_empty() {
            return Err(Error::NoLayer { depth, last });
        }
        let mut held = open_checkpoint(folder, manifest)?;
        held.retain(|layer| {
            let header = layer.header();
            header.depth == depth && header.kind != FileKind::Older
        });
        if !held.is_empty() {
            return Ok(Ok(held));
        }
        let line = history.lines.get(depth as usize).filter(|line| !line.kept.is_empty());
        let open = |line: &LayerRecord| {
            line.kept
                .iter()
                .map(|kept| open_kept(folder, manifest.spec.engine, depth, kept))
                .collect::<std::result::Result<Vec<_>, _>>()
        };
        Ok(line.map(open).transpose()?.ok_or(last))
    })?;
    let layers = match layers {
        Ok(layers) => layers,
        Err(last) => {
            let end = manifest.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.depth);
            let first = end.saturating_sub(1).min(last);
            return Err(Error::LayerNotHeld { job: manifest.job, depth, first, last });
        }
    };
    let states = layers.iter().map(|layer| layer.totals().states).sum::<u64>();
    let content = if manifest.spec.engine.is_dense() {
        Content::Dense { layers, space: space.dense()? }
    } else {
        Content::Files { layers, engine: space.engine(manifest.spec.shards) }
    };
    Ok(LayerView { depth, states, content })
}

fn open_diagram(
    folder: &JobDir,
    manifest: &Manifest,
    space: &Space,
    depth: u32,
    memory: u64,
) -> Result<LayerView> {
    let mut search = open_search(space, manifest.spec.engine, memory)?;
    let records = manifest.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers);
    if let Some(record) = records.into_iter().find(|record| record.depth <= depth) {
        load_diagram(folder, record, &mut *search)?;
    }
    advance_to(search, depth)
}

/// A layer of a symbolic search, computed from the start in `memory` bytes.
///
/// # Errors
/// [`Error::NoLayer`] if there is no such layer, [`Error::Step`] if it does not fit the memory,
/// [`Error::Space`] if the engine cannot search the space.
pub fn search_layer(
    space: &Space,
    engine: EngineKind,
    depth: u32,
    memory: u64,
) -> Result<LayerView> {
    advance_to(open_search(space, engine, memory)?, depth)
}

fn open_search(space: &Space, engine: EngineKind, memory: u64) -> Result<Box<dyn AnySearch>> {
    let memory = usize::try_from(memory).unwrap_or(usize::MAX);
    let digests = engine.has_digests();
    let options = strata_engine::symbolic::Options {
        memory,
        keep_layers: false,
        digests,
        verify: 0,
        threads: 1,
    };
    Ok(space.nested()?.open(options)?)
}

/// Continues a search to a depth.
fn advance_to(mut search: Box<dyn AnySearch>, depth: u32) -> Result<LayerView> {
    let mut states = search.layer().stats.states;
    while search.depth() < depth && states > 0 {
        states = search.advance()?.stats.states;
    }
    if states == 0 {
        return Err(Error::NoLayer { depth, last: search.depth().saturating_sub(1) });
    }
    Ok(LayerView { depth, states, content: Content::Diagram(search) })
}

impl LayerView {
    /// The part of a layer that one file of a job has, of the explicit or the dense engine.
    ///
    /// # Errors
    /// [`Error::Store`] if the file is missing or damaged; [`Error::Space`] if the engine cannot search
    /// the space.
    pub fn of_file(
        folder: &JobDir,
        spec: &JobSpec,
        space: Space,
        depth: u32,
        kept: &KeptFile,
    ) -> Result<LayerView> {
        let layers = vec![open_kept(folder, spec.engine, depth, kept)?];
        let states = layers.iter().map(|layer| layer.totals().states).sum();
        let content = if spec.engine.is_dense() {
            Content::Dense { layers, space: space.dense()? }
        } else {
            Content::Files { layers, engine: space.engine(spec.shards) }
        };
        Ok(LayerView { depth, states, content })
    }

    /// Calls `visit` for the state with the index `skip`, in the order of storage, and every `step`-th
    /// state after it, until it breaks. A symbolic layer has no such order: all its states are visited.
    ///
    /// # Errors
    /// If a layer file is damaged.
    pub fn visit_from(
        &self,
        skip: u64,
        step: u64,
        visit: &mut dyn FnMut(ListedState) -> ControlFlow<()>,
    ) -> Result<()> {
        match &self.content {
            Content::Files { layers, engine } => {
                visit_files(layers, engine, (skip, step.max(1)), visit)
            }
            Content::Dense { layers, space } => {
                visit_dense(layers, &**space, (skip, step.max(1)), visit)
            }
            Content::Diagram(search) => {
                search.visit_texts(&mut |text| visit(ListedState { text, state: None }));
                Ok(())
            }
        }
    }

    /// Distance from the start.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Number of states.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Whether a listed state of this layer stands for a position. True if its positions are not counted.
    pub(crate) fn has_positions(&self, listed: &ListedState) -> bool {
        let positions = match (&self.content, listed.state) {
            (Content::Files { engine, .. }, Some(state)) => engine.positions(state),
            _ => None,
        };
        positions != Some(0)
    }

    /// Calls `visit` for every state, until it breaks.
    ///
    /// # Errors
    /// If a layer file is damaged.
    pub fn visit(&self, visit: &mut dyn FnMut(ListedState) -> ControlFlow<()>) -> Result<()> {
        self.visit_from(0, 1, visit)
    }

    /// Calls `visit` for about `number` states, at most `number`, evenly spaced in the order in which the
    /// layer is held, until it breaks.
    ///
    /// # Errors
    /// If a layer file is damaged.
    pub fn sample(
        &self,
        number: u64,
        visit: &mut dyn FnMut(ListedState) -> ControlFlow<()>,
    ) -> Result<()> {
        let step = self.states.div_ceil(number.max(1)).max(1);
        match &self.content {
            Content::Files { layers, engine } => visit_files(layers, engine, (0, step), visit),
            Content::Dense { layers, space } => visit_dense(layers, &**space, (0, step), visit),
            Content::Diagram(search) => {
                let positions = search.positions();
                let number = number.min(positions);
                for place in 0..number {
                    let at = u128::from(place) * u128::from(positions) / u128::from(number);
                    let Some(text) = search.nth_text(at as u64) else { continue };
                    if visit(ListedState { text, state: None }).is_break() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}

/// [`LayerView::visit_from`] for dense layer files.
fn visit_dense(
    layers: &[Layer],
    space: &dyn DenseSpace,
    (skip, step): (u64, u64),
    visit: &mut dyn FnMut(ListedState) -> ControlFlow<()>,
) -> Result<()> {
    let listed = &mut |state| visit(ListedState { text: space.text(state), state: None });
    Ok(dense::visit_states(layers, numbering(space), (skip, step), listed)?)
}

/// [`LayerView::visit_from`] for files of the explicit engine.
fn visit_files(
    layers: &[Layer],
    engine: &Engine,
    (skip, step): (u64, u64),
    visit: &mut dyn FnMut(ListedState) -> ControlFlow<()>,
) -> Result<()> {
    let mut cursor = LayerCursor::new()?;
    let mut at = 0_u64;
    for layer in layers {
        cursor.start(layer, KeyRange::ALL)?;
        while let Some(key) = cursor.key() {
            let width = cursor.width();
            for local in width.locals(cursor.locals()?) {
                at += 1;
                if (at - 1).checked_sub(skip).is_none_or(|after| !after.is_multiple_of(step)) {
                    continue;
                }
                let state = State { region: RegionKey(key.region), local };
                let text = engine.text(state);
                if visit(ListedState { text, state: Some(state) }).is_break() {
                    return Ok(());
                }
            }
            cursor.advance()?;
        }
    }
    Ok(())
}
