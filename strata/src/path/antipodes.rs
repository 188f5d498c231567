//! Antipodes: states of the last layer, with shortest ways to the start.

use std::ops::ControlFlow;

use strata_store::JobDir;

use super::find::positions_to;
use super::outcome::Moves;
use crate::catalogue::Space;
use crate::error::Result;
use crate::job::layers::{ListedState, open_layer};
use crate::job::request::Request;

/// A state of the last layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Antipode {
    /// The state in the space's text form.
    pub state: String,
    /// The fewest moves from the state to the start; None unless the puzzle names the moves between
    /// states in text form and finds a path to this very position, and every move has an inverse.
    pub moves: Option<Moves>,
}

/// Some states of a finished job's last layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Antipodes {
    /// The depth of the layer.
    pub depth: u32,
    /// All its states.
    pub states: u64,
    /// The first of them, in the order of storage.
    pub first: Vec<Antipode>,
}

/// Up to `number` states of the last layer of a finished job, with shortest ways to the start if
/// the space names its moves.
///
/// # Errors
/// [`Error::LayersNotKept`](crate::Error::LayersNotKept) if the space names its moves and the job has
/// not kept the layers that lead to the start; whatever fails on the way.
pub fn antipodes(
    request: &Request,
    folder: &JobDir,
    open: &dyn Fn() -> Result<Space>,
    number: u64,
) -> Result<Antipodes> {
    let manifest = folder.read_manifest()?;
    let depth = manifest.result.as_ref().map_or(0, |result| result.layers);
    let layer = open_layer(folder, manifest, open()?, depth, request.options().memory)?;
    let mut listed: Vec<ListedState> = Vec::new();
    if number > 0 {
        layer.visit(&mut |state| {
            listed.push(state);
            if listed.len() as u64 == number {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
    }
    let states = layer.states();
    drop(layer);
    let space = open()?;
    let texts = listed.iter().map(|state| state.text.clone());
    let first = if space.names_moves() && !request.is_directed && !listed.is_empty() {
        let paths = positions_to(request, &space, folder, &listed)?;
        let antipode = |(state, mut path): (String, Vec<String>)| {
            path.reverse();
            // The path may lead to another position for which the state stands.
            let is_its_own = path.first() == Some(&state);
            let moves = if is_its_own { space.moves_between(&path) } else { None };
            Antipode { state, moves }
        };
        texts.zip(paths).map(antipode).collect()
    } else {
        texts.map(|state| Antipode { state, moves: None }).collect()
    };
    Ok(Antipodes { depth, states, first })
}
