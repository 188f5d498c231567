//! Antipodes: states of the last layer, with shortest paths to the start.

use std::ops::ControlFlow;

use strata_store::JobDir;

use super::find::positions_to;
use super::outcome::Moves;
use crate::catalogue::Space;
use crate::error::Result;
use crate::job::history::read_history;
use crate::job::layers::{ListedState, open_layer};
use crate::job::request::Request;

/// A state of the last layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Antipode {
    /// The state in the space's text form.
    pub state: String,
    /// The moves of a shortest path from the state to the start. None unless every move has an inverse, and
    /// the puzzle names its moves and finds a path to this very position.
    pub moves: Option<Moves>,
}

/// Some states of a finished job's last layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Antipodes {
    /// The depth of the layer: the last one with a position.
    pub depth: u32,
    /// Number of states of the layer; in a space where some states stand for no position, the number of
    /// its positions.
    pub states: u64,
    /// The first states of the layer, in the order of storage.
    pub first: Vec<Antipode>,
}

/// Up to `number` states of the last layer of a finished job, with shortest paths to the start.
///
/// # Errors
/// Those of [`Job::antipodes`](crate::Job::antipodes).
pub(crate) fn antipodes(
    request: &Request,
    folder: &JobDir,
    open: &dyn Fn() -> Result<Space>,
    number: u64,
) -> Result<Antipodes> {
    let manifest = folder.read_manifest()?;
    let history = read_history(folder, &manifest)?;
    let totals = history.totals();
    let is_mixed = (1..totals.states).contains(&totals.positions);
    let (depth, space) = (totals.radius, open()?);
    let names_moves = space.names_moves();
    let layer = open_layer(folder, manifest, space, depth, request.options().memory)?;
    let is_position = |state: &ListedState| !is_mixed || layer.has_positions(state);
    let mut listed: Vec<ListedState> = Vec::new();
    if number > 0 {
        layer.visit(&mut |state| {
            if is_position(&state) {
                listed.push(state);
            }
            if listed.len() as u64 == number {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
    }
    let states = if is_mixed { totals.positions_at_radius } else { layer.states() };
    // Frees the tables of the space before it is opened again.
    drop(layer);
    let texts = listed.iter().map(|state| state.text.clone());
    let first = if names_moves && !request.is_directed && !listed.is_empty() {
        let space = open()?;
        let paths = positions_to(request, &space, folder, &listed)?;
        let antipode = |(state, mut path): (String, Vec<String>)| {
            path.reverse();
            // The path may lead to another position of the same state.
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
