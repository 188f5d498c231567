//! Look-up of states in the layers of a finished job: their depths, numbers of shortest ways, and ways.
//!
//! All states are looked up together, layer by layer, so that each file is read once.

mod layered;

use std::collections::BTreeMap;
use std::path::PathBuf;

use num_bigint::BigUint;
use strata_store::{JobDir, Manifest, StoreError};

use self::layered::{DenseLayers, Edge, ExplicitLayers, Layered};
use crate::catalogue::Space;
use crate::error::{Error, Result};
use crate::job::layers::JobLayers;
use crate::path::outcome::Moves;

/// What is looked up besides the depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookUpOptions {
    /// The moves of a shortest way.
    pub moves: bool,
    /// The number of shortest ways.
    pub ways: bool,
}

/// What the layers of a job tell about a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookUpAnswer {
    /// The distance from the start; None if no layer has the state.
    pub depth: Option<u32>,
    /// The number of sequences of that many moves that lead from the start to it, if wanted.
    pub ways: Option<BigUint>,
    /// The moves of one of them, if wanted. None if the puzzle names no moves, or if the job identifies
    /// symmetric states and has another one instead.
    pub moves: Option<Moves>,
}

/// States that are looked up in the layers of a finished job.
pub struct LookUp<'a>(Box<dyn Questions + 'a>);

impl<'a> LookUp<'a> {
    /// A look-up without states. `space` is the space of the job.
    ///
    /// # Errors
    /// [`Error::LayersNotKept`] if layers are missing, [`Error::LookUpEngine`] for a symbolic job, which has
    /// no files of layers; [`Error::Space`] if the puzzle does not read texts; if a file of the job is missing
    /// or damaged.
    pub fn new(
        folder: &'a JobDir,
        manifest: &Manifest,
        space: Space,
        wanted: LookUpOptions,
    ) -> Result<LookUp<'a>> {
        let spec = &manifest.spec;
        let job = || folder.job().to_owned();
        if spec.engine.is_symbolic() {
            return Err(Error::LookUpEngine { job: job() });
        }
        let layers = JobLayers::read(folder)?;
        if !layers.is_complete() {
            return Err(Error::LayersNotKept { job: job() });
        }
        let path = folder.path().to_owned();
        Ok(LookUp(if spec.engine.is_dense() {
            Box::new(Asked::new(path, DenseLayers::new(layers, space)?, wanted))
        } else {
            Box::new(Asked::new(path, ExplicitLayers::new(layers, space, spec.shards)?, wanted))
        }))
    }

    /// Adds a state in the space's text form, or in any notation that the puzzle takes. The answers have the
    /// order in which states were added.
    ///
    /// # Errors
    /// If the puzzle does not read it.
    pub fn add(&mut self, text: &str) -> Result<()> {
        self.0.add(text)
    }

    /// Looks all states up, within `memory` bytes for ways and moves.
    ///
    /// # Errors
    /// If a file is missing or damaged, [`Error::LookUpMemory`].
    pub fn answer(self, memory: u64) -> Result<Vec<LookUpAnswer>> {
        self.0.answer(memory)
    }
}

impl std::fmt::Debug for LookUp<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LookUp").finish_non_exhaustive()
    }
}

trait Questions {
    fn add(&mut self, text: &str) -> Result<()>;
    fn answer(self: Box<Self>, memory: u64) -> Result<Vec<LookUpAnswer>>;
}

/// States to look up in the layers `L`.
struct Asked<L: Layered> {
    folder: PathBuf,
    layers: L,
    wanted: LookUpOptions,
    /// In the order of the questions; None for a position that the space has no state for.
    states: Vec<Option<L::State>>,
    /// Their texts, if moves are wanted.
    texts: Vec<String>,
}

/// The states of a layer on shortest ways to states that are looked up.
struct Step<S> {
    states: Vec<S>,
    /// Indices of states of the layer before, one for each move that leads from there to a state.
    before: Vec<u32>,
    /// By state, where its part of `before` begins; then the end.
    starts: Vec<u32>,
}

impl<S: Copy + Ord> Step<S> {
    /// The step to `states`, over edges that ascend by their ends, from the states of the layer before.
    fn new(states: Vec<S>, edges: &[Edge<S>], from: &[S]) -> Step<S> {
        let place = |state: S| from.partition_point(|other| *other < state) as u32;
        let ends = (0..=states.len()).map(|to| edges.partition_point(|edge| edge.to < to) as u32);
        let starts = ends.collect();
        Step { states, before: edges.iter().map(|edge| place(edge.from)).collect(), starts }
    }

    /// The states of the layer before from which moves lead to a state.
    fn before(&self, state: usize) -> &[u32] {
        &self.before[self.starts[state] as usize..self.starts[state + 1] as usize]
    }
}

/// The states of a layer, and the edges that lead to them from the layer before.
type Above<S> = (Vec<S>, Vec<Edge<S>>);

/// A state with its depth.
type AtDepth<S> = (S, Option<u32>);

impl<L: Layered> Asked<L> {
    fn new(folder: PathBuf, layers: L, wanted: LookUpOptions) -> Asked<L> {
        Asked { folder, layers, wanted, states: Vec::new(), texts: Vec::new() }
    }

    /// The distinct states, ascending, and by question the index of its state.
    fn distinct(&self) -> (Vec<L::State>, Vec<Option<usize>>) {
        let numbered = self.states.iter().enumerate();
        let mut order: Vec<(L::State, usize)> =
            numbered.filter_map(|(number, state)| Some(((*state)?, number))).collect();
        order.sort_unstable();
        let (mut distinct, mut index) = (Vec::new(), vec![None; self.states.len()]);
        for (state, number) in order {
            if distinct.last() != Some(&state) {
                distinct.push(state);
            }
            index[number] = Some(distinct.len() - 1);
        }
        (distinct, index)
    }

    /// The depths of states, which ascend.
    fn depths(&mut self, states: Vec<L::State>) -> Result<Vec<AtDepth<L::State>>> {
        let mut known: Vec<AtDepth<L::State>> = states.iter().map(|state| (*state, None)).collect();
        let (mut open, mut places) = (states, (0..known.len()).collect::<Vec<usize>>());
        for depth in 0..=self.layers.last() {
            if open.is_empty() {
                break;
            }
            let mut is_here = vec![false; open.len()];
            self.layers.find(depth, &open, &mut |index| is_here[index] = true)?;
            for (place, _) in places.iter().zip(&is_here).filter(|(_, is_here)| **is_here) {
                known[*place].1 = Some(depth);
            }
            let mut here = is_here.iter();
            open.retain(|_| !here.next().is_some_and(|is_here| *is_here));
            let mut here = is_here.iter();
            places.retain(|_| !here.next().is_some_and(|is_here| *is_here));
        }
        Ok(known)
    }

    /// The states on shortest ways, by depth from 0: on one way to each state, or on all if their number is
    /// wanted.
    fn steps(&mut self, known: &[AtDepth<L::State>], memory: u64) -> Result<Vec<Step<L::State>>> {
        let mut by_depth: BTreeMap<u32, Vec<L::State>> = BTreeMap::new();
        for (state, depth) in known {
            if let Some(depth) = depth {
                by_depth.entry(*depth).or_default().push(*state);
            }
        }
        let last = by_depth.keys().next_back().copied().unwrap_or(0);
        let (mut steps, mut bytes) = (Vec::new(), 0);
        let mut above: Option<Above<L::State>> = None;
        for depth in (0..=last).rev() {
            let mut states = by_depth.remove(&depth).unwrap_or_default();
            states.extend(above.iter().flat_map(|(_, edges)| edges).map(|edge| edge.from));
            states.sort_unstable();
            states.dedup();
            if let Some((upper, edges)) = above.take() {
                steps.push(Step::new(upper, &edges, &states));
            }
            let mut edges = match depth.checked_sub(1) {
                Some(before) => self.layers.edges(before, &states)?,
                None => Vec::new(),
            };
            let working = 2 * size_of_val(&*edges);
            edges.sort_unstable_by_key(|edge| (edge.to, edge.from));
            if !self.wanted.ways {
                edges.dedup_by_key(|edge| edge.to);
            }
            bytes += size_of_val(&*states) + (states.len() + edges.len()) * size_of::<u32>();
            if (bytes + working) as u64 > memory {
                return Err(Error::LookUpMemory { memory, depth });
            }
            let reached = edges.chunk_by(|a, b| a.to == b.to).count();
            if depth > 0 && reached < states.len() {
                let what = format!("no move leads from layer {} to a state of the next", depth - 1);
                return Err(StoreError::Inconsistent { file: self.folder.clone(), what }.into());
            }
            above = Some((states, edges));
        }
        steps.extend(above.map(|(states, edges)| Step::new(states, &edges, &[])));
        steps.reverse();
        Ok(steps)
    }
}

impl<L: Layered> Questions for Asked<L> {
    fn add(&mut self, text: &str) -> Result<()> {
        let text = text.trim();
        if !self.wanted.moves
            // A text form is read at once; other notations take longer.
            && let Some(state) = self.layers.parse(text)
        {
            self.states.push(Some(state));
            return Ok(());
        }
        let text = self.layers.space().position_text(text)?;
        self.states.push(self.layers.parse(&text));
        if self.wanted.moves {
            self.texts.push(text);
        }
        Ok(())
    }

    fn answer(mut self: Box<Self>, memory: u64) -> Result<Vec<LookUpAnswer>> {
        let (distinct, index) = self.distinct();
        let known = self.depths(distinct)?;
        let of_question = |index: &Option<usize>| index.map(|index| known[index]);
        let depth = |index| of_question(index).and_then(|(_, depth)| depth);
        let mut answers: Vec<LookUpAnswer> = index
            .iter()
            .map(|index| LookUpAnswer { depth: depth(index), ..LookUpAnswer::default() })
            .collect();
        if self.wanted == LookUpOptions::default() {
            return Ok(answers);
        }
        let steps = self.steps(&known, memory)?;
        let ways = if self.wanted.ways { count_ways(&steps) } else { Vec::new() };
        for (number, (answer, index)) in answers.iter_mut().zip(&index).enumerate() {
            let Some((state, Some(depth))) = of_question(index) else { continue };
            let depth = depth as usize;
            let Ok(mut at) = steps[depth].states.binary_search(&state) else { continue };
            answer.ways = ways.get(depth).map(|ways| ways[at].clone());
            if let Some(text) = self.texts.get(number) {
                let mut chain = vec![state];
                for depth in (1..=depth).rev() {
                    at = steps[depth].before(at)[0] as usize;
                    chain.push(steps[depth - 1].states[at]);
                }
                chain.reverse();
                answer.moves = self.layers.moves(&chain, text);
            }
        }
        Ok(answers)
    }
}

/// By depth and state, the number of shortest ways from the start. The states of depth 0 have one.
fn count_ways<S: Copy + Ord>(steps: &[Step<S>]) -> Vec<Vec<BigUint>> {
    let mut all: Vec<Vec<BigUint>> = Vec::new();
    for step in steps {
        let ways = match all.last() {
            None => vec![BigUint::from(1_u8); step.states.len()],
            Some(before) => {
                let of =
                    |state| step.before(state).iter().map(|from| &before[*from as usize]).sum();
                (0..step.states.len()).map(of).collect()
            }
        };
        all.push(ways);
    }
    all
}
