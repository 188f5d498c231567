//! Layers of a job in which states are looked up, of the explicit and the dense engine.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_engine::explicit::{Candidate, Finder, entry_key};
use strata_space::dense::{DenseSpace, DenseState};
use strata_space::{Chain, RegionKey, SpaceError, State};
use strata_store::{DenseReader, KeyRange, LayerCursor};

use crate::catalogue::Space;
use crate::error::Result;
use crate::job::layers::JobLayers;
use crate::local::dense::numbering;
use crate::path::outcome::Moves;

/// An edge of the graph, from a state of a layer to a state of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge<S> {
    pub(super) from: S,
    /// Index of the end in a list of states.
    pub(super) to: usize,
}

/// The layers of a job that has kept all of them.
pub(super) trait Layered {
    /// A state, in the order of the files.
    type State: Copy + Ord;

    /// The space of the job.
    fn space(&self) -> &Space;

    /// The state with a text, or the one that stands for it.
    fn parse(&self, text: &str) -> Option<Self::State>;

    /// Depth of the last layer with states.
    fn last(&self) -> u32;

    /// Calls `found` with the index of each of some states that a layer has. States ascend.
    ///
    /// # Errors
    /// If a file is missing or damaged.
    fn find(
        &mut self,
        depth: u32,
        states: &[Self::State],
        found: &mut dyn FnMut(usize),
    ) -> Result<()>;

    /// The edges from the layer at `depth` to some states of the next one, which ascend. A move of each
    /// state is an edge, so there may be several between two states.
    ///
    /// # Errors
    /// If a file is missing or damaged.
    fn edges(&mut self, depth: u32, to: &[Self::State]) -> Result<Vec<Edge<Self::State>>>;

    /// The moves along states from the start to the position with the text `end`. None if the puzzle names
    /// none, or finds only moves to another position that the last state stands for.
    fn moves(&self, chain: &[Self::State], end: &str) -> Option<Moves>;
}

/// Those of the edges that begin in a layer.
fn in_layer<L: Layered + ?Sized>(
    layers: &mut L,
    depth: u32,
    edges: Vec<Edge<L::State>>,
) -> Result<Vec<Edge<L::State>>> {
    let from: BTreeSet<L::State> = edges.iter().map(|edge| edge.from).collect();
    let from: Vec<L::State> = from.into_iter().collect();
    let mut is_there = vec![false; from.len()];
    layers.find(depth, &from, &mut |index| is_there[index] = true)?;
    let begins =
        |edge: &Edge<L::State>| from.binary_search(&edge.from).is_ok_and(|index| is_there[index]);
    Ok(edges.into_iter().filter(begins).collect())
}

/// Layers of the explicit engine.
pub(super) struct ExplicitLayers<'a> {
    layers: JobLayers<'a>,
    space: Space,
    shards: u32,
    finder: Finder,
}

impl<'a> ExplicitLayers<'a> {
    /// # Errors
    /// If the puzzle does not read texts of its states: all of them would seem not to be reached.
    pub(super) fn new(layers: JobLayers<'a>, space: Space, shards: u32) -> Result<Self> {
        let states = space.state_space();
        let reads = |state: State| states.parse(&states.text(state)) == Some(state);
        if !states.seeds().first().is_some_and(|start| reads(*start)) {
            let why = format!("{} does not read texts of its states", space.name());
            return Err(SpaceError::NoForm { why }.into());
        }
        let finder = Finder::new()?;
        Ok(ExplicitLayers { layers, space, shards, finder })
    }

    /// What is looked up for a state.
    fn candidate(&self) -> impl Fn(State) -> Candidate + use<'_> {
        let (space, shards) = (self.space.state_space(), self.shards);
        move |state| (entry_key(space, shards, state.region), state.local)
    }

    /// Edges of a directed graph: those of all states of the layer are compared.
    fn directed_edges(&self, depth: u32, to: &[Candidate]) -> Result<Vec<Edge<Candidate>>> {
        let (mut edges, mut next, mut cursor) = (Vec::new(), Vec::new(), LayerCursor::new()?);
        let candidate = self.candidate();
        for file in self.layers.files(depth)? {
            cursor.start(&file, KeyRange::ALL)?;
            while let Some(key) = cursor.key() {
                let width = cursor.width();
                for local in width.locals(cursor.locals()?) {
                    next.clear();
                    let state = State { region: RegionKey(key.region), local };
                    self.space.state_space().moves(state, &mut next);
                    let next = next.iter().map(|state| candidate(*state));
                    let ends = next.filter_map(|end| to.binary_search(&end).ok());
                    edges.extend(ends.map(|to| Edge { from: (key, local), to }));
                }
                cursor.advance()?;
            }
            cursor.stop();
        }
        Ok(edges)
    }
}

fn state_of((key, local): Candidate) -> State {
    State { region: RegionKey(key.region), local }
}

impl Layered for ExplicitLayers<'_> {
    type State = Candidate;

    fn space(&self) -> &Space {
        &self.space
    }

    fn parse(&self, text: &str) -> Option<Candidate> {
        self.space.state_space().parse(text).map(self.candidate())
    }

    fn last(&self) -> u32 {
        self.layers.last_depth()
    }

    fn find(
        &mut self,
        depth: u32,
        states: &[Candidate],
        found: &mut dyn FnMut(usize),
    ) -> Result<()> {
        for file in self.layers.files(depth)? {
            self.finder.all_of(&file, states, &mut *found)?;
        }
        Ok(())
    }

    fn edges(&mut self, depth: u32, to: &[Candidate]) -> Result<Vec<Edge<Candidate>>> {
        if !self.space.state_space().is_undirected() {
            return self.directed_edges(depth, to);
        }
        let (mut edges, mut next, candidate) = (Vec::new(), Vec::new(), self.candidate());
        for (to, state) in to.iter().enumerate() {
            next.clear();
            self.space.state_space().moves(state_of(*state), &mut next);
            edges.extend(next.iter().map(|from| Edge { from: candidate(*from), to }));
        }
        drop(candidate);
        in_layer(self, depth, edges)
    }

    fn moves(&self, chain: &[Candidate], end: &str) -> Option<Moves> {
        let from_start = chain.iter().map(|state| state_of(*state)).collect();
        let positions = self.space.positions(&Chain { from_start, from_goal: Vec::new() })?;
        positions.last().filter(|last| *last == end)?;
        self.space.moves_between(&positions)
    }
}

/// Layers of the dense engine.
pub(super) struct DenseLayers<'a> {
    layers: JobLayers<'a>,
    space: Space,
    dense: Arc<dyn DenseSpace>,
}

impl<'a> DenseLayers<'a> {
    pub(super) fn new(layers: JobLayers<'a>, space: Space) -> Result<Self> {
        let dense = space.dense()?;
        Ok(DenseLayers { layers, space, dense })
    }
}

impl Layered for DenseLayers<'_> {
    type State = DenseState;

    fn space(&self) -> &Space {
        &self.space
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        self.dense.parse(text)
    }

    fn last(&self) -> u32 {
        self.layers.last_depth()
    }

    fn find(
        &mut self,
        depth: u32,
        states: &[DenseState],
        found: &mut dyn FnMut(usize),
    ) -> Result<()> {
        for file in self.layers.files(depth)? {
            DenseReader::new(&file, numbering(&*self.dense))?.find(states, &mut *found)?;
        }
        Ok(())
    }

    fn edges(&mut self, depth: u32, to: &[DenseState]) -> Result<Vec<Edge<DenseState>>> {
        let of = |(to, state): (usize, &DenseState)| {
            let before: Vec<DenseState> =
                self.dense.tables().predecessors(*state).map(|(_, from)| from).collect();
            before.into_iter().map(move |from| Edge { from, to })
        };
        let edges = to.iter().enumerate().flat_map(of).collect();
        in_layer(self, depth, edges)
    }

    fn moves(&self, chain: &[DenseState], end: &str) -> Option<Moves> {
        self.space.moves_between(&self.dense.path_texts(chain, Some(end))?)
    }
}
