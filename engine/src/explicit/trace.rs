//! Path reconstruction: from the end of a search back to its start through kept layers.

use strata_space::{Chain, Finish, RegionKey, State, StateSpace};
use strata_store::{EntryKey, KeyRange, Layer, LayerCursor};

use crate::explicit::error::{Error, Result};

/// A state that a layer may contain: the key of its region, and its local.
pub type Candidate = (EntryKey, u128);

/// The layers of a finished search, by depth.
pub trait Layers {
    /// An error of the engine, or of the storage of the layers.
    type Error: From<Error>;

    /// Opens the files of a layer, of all workers.
    ///
    /// # Errors
    /// If a file is missing or damaged, or cannot be transferred.
    fn open(&mut self, depth: u32) -> Result<Vec<Layer>, Self::Error>;

    /// Index of the first candidate that a layer contains; None if it contains none. Candidates of one
    /// region must be adjacent.
    ///
    /// # Errors
    /// If a file is missing or damaged, or cannot be transferred.
    fn any_of(
        &mut self,
        depth: u32,
        candidates: &[Candidate],
        finder: &mut Finder,
    ) -> Result<Option<usize>, Self::Error> {
        let files = self.open(depth)?;
        Ok(finder.any_of(&files, candidates).map_err(Error::from)?)
    }
}

/// Looks up states in layer files.
pub struct Finder(LayerCursor);

impl Finder {
    /// A finder with its own decompression context.
    ///
    /// # Errors
    /// If there is no memory for the context.
    pub fn new() -> strata_store::Result<Finder> {
        Ok(Finder(LayerCursor::new()?))
    }

    /// Index of the first candidate that one of the files contains; None if none does. Candidates of one
    /// region must be adjacent, so that one look-up finds them all.
    ///
    /// # Errors
    /// If a file is damaged.
    pub fn any_of(
        &mut self,
        files: &[Layer],
        candidates: &[Candidate],
    ) -> strata_store::Result<Option<usize>> {
        let mut before = 0;
        for group in candidates.chunk_by(|a, b| a.0 == b.0) {
            let key = group[0].0;
            for file in files {
                self.0.start(file, KeyRange::from(key))?;
                let locals = if self.0.key() == Some(key) { self.0.locals()? } else { &[] };
                let has = |local| file.header().width.contains(locals, local);
                let found = group.iter().position(|(_, local)| has(*local));
                self.0.stop();
                if let Some(found) = found {
                    return Ok(Some(before + found));
                }
            }
            before += group.len();
        }
        Ok(None)
    }

    /// Calls `found` with the index of each candidate that the file contains. Candidates must ascend. The file
    /// is read once, without the blocks in which no candidate can be.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn all_of(
        &mut self,
        file: &Layer,
        candidates: &[Candidate],
        mut found: impl FnMut(usize),
    ) -> strata_store::Result<()> {
        let (cursor, blocks, width) = (&mut self.0, file.blocks(), file.header().width);
        let block_of = |key: EntryKey| blocks.partition_point(|block| block.last < key);
        let mut at = 0;
        while let Some((first, _)) = candidates.get(at) {
            // Blocks that follow each other are read in one go.
            let (mut end, mut last) = (at, block_of(*first));
            while let Some((key, _)) = candidates.get(end) {
                if blocks.get(last).is_none_or(|block| *key > block.last) {
                    let next = block_of(*key);
                    if next > last + 1 {
                        break;
                    }
                    last = next;
                }
                end += 1;
            }
            cursor.start(file, KeyRange::from(*first))?;
            while let (Some(key), true) = (cursor.key(), at < end) {
                at += candidates[at..end].partition_point(|(wanted, _)| *wanted < key);
                let here = candidates[at..end].partition_point(|(wanted, _)| *wanted == key);
                if here > 0 {
                    let locals = cursor.locals()?;
                    let here =
                        (at..at + here).filter(|at| width.contains(locals, candidates[*at].1));
                    here.for_each(&mut found);
                }
                cursor.advance()?;
            }
            cursor.stop();
            at = end;
        }
        Ok(())
    }
}

/// Finds a shortest path in the layers of a finished search.
///
/// A state of layer d has a predecessor in layer d-1. If edges are undirected, a state's predecessors are
/// its successors, and any of them in layer d-1 continues a shortest path. Otherwise the states of layer
/// d-1 are searched for one that leads to the state.
pub struct Trace<'a> {
    space: &'a dyn StateSpace,
    shards: u32,
    cursors: [LayerCursor; 2],
    finder: Finder,
}

impl<'a> Trace<'a> {
    /// A trace in a space that was searched with `shards` shards.
    ///
    /// # Errors
    /// If there is no memory for decompression contexts.
    pub fn new(space: &'a dyn StateSpace, shards: u32) -> Result<Trace<'a>> {
        let cursors = [LayerCursor::new()?, LayerCursor::new()?];
        Ok(Trace { space, shards, cursors, finder: Finder::new()? })
    }

    /// The state in which the searches from both ends met, with its depths from the start and from
    /// the goal. None if they have not met.
    ///
    /// `last` is the layer of depth `depth`, and `before` the layer before it. The side of the state is 0.
    /// If a symmetry exchanges the ends, the state stands for a position of each of the two searches.
    ///
    /// # Errors
    /// If a layer is damaged.
    pub fn meeting(
        &mut self,
        depth: u32,
        last: &[Layer],
        before: &[Layer],
    ) -> Result<Option<(State, [u32; 2])>> {
        // A meeting after an odd number of moves gives the shorter path.
        let odd = last.iter().flat_map(|a| before.iter().map(move |b| (a, b, 1)));
        for (a, b, less) in odd.chain(last.iter().map(|a| (a, a, 0))) {
            if let Some(state) = self.both_sides(a, b)? {
                let mut depths = [depth, depth - less];
                depths.rotate_left(state.side() as usize);
                return Ok(Some((State { local: state.local & !1, ..state }, depths)));
            }
        }
        Ok(None)
    }

    /// The chain of a search that ended at `depth`. None for a search without a goal, or if the two
    /// searches have not met.
    ///
    /// # Errors
    /// If a layer cannot be opened or is damaged, or a state has no neighbour in the layer before it.
    pub fn chain<L: Layers>(
        &mut self,
        depth: u32,
        layers: &mut L,
    ) -> Result<Option<Chain>, L::Error> {
        match self.space.finish() {
            Finish::Exhausted => Ok(None),
            Finish::State(goal) => {
                let from_start = self.back(goal, depth, layers)?;
                Ok(Some(Chain { from_start, from_goal: Vec::new() }))
            }
            Finish::Meeting => {
                let last = layers.open(depth)?;
                let before = if depth > 0 { layers.open(depth - 1)? } else { Vec::new() };
                let Some((met, [near, far])) = self.meeting(depth, &last, &before)? else {
                    return Ok(None);
                };
                let from_start = self.back(met, near, layers)?;
                let twin = State { local: met.local ^ 1, ..met };
                let from_goal = self.back(twin, far, layers)?;
                Ok(Some(Chain { from_start, from_goal }))
            }
        }
    }

    /// The states from depth 0 to a state of a layer at `depth`, each a neighbour of the one
    /// before.
    ///
    /// # Errors
    /// If a layer cannot be opened or is damaged, or a state has no neighbour in the layer before.
    pub fn back<L: Layers>(
        &mut self,
        state: State,
        depth: u32,
        layers: &mut L,
    ) -> Result<Vec<State>, L::Error> {
        let mut chain = vec![state];
        let mut at = state;
        if !self.space.is_undirected() {
            for depth in (0..depth).rev() {
                let found = self.predecessor(at, &layers.open(depth)?)?;
                at = found
                    .ok_or_else(|| Error::BrokenChain { depth, state: self.space.text(at) })?;
                chain.push(at);
            }
            chain.reverse();
            return Ok(chain);
        }
        let (mut moves, mut candidates) = (Vec::new(), Vec::new());
        for depth in (0..depth).rev() {
            moves.clear();
            self.space.moves(at, &mut moves);
            // Sorted, because most are in one region, and one look-up finds all of a region.
            moves.sort_unstable();
            candidates.clear();
            let key_of = |region| entry_key(self.space, self.shards, region);
            candidates.extend(moves.iter().map(|s: &State| (key_of(s.region), s.local)));
            let found = layers.any_of(depth, &candidates, &mut self.finder)?;
            let next = found.and_then(|found| moves.get(found).copied());
            at = next.ok_or_else(|| Error::BrokenChain { depth, state: self.space.text(at) })?;
            chain.push(at);
        }
        chain.reverse();
        Ok(chain)
    }

    /// A state of these files with a move to the state `to`; None if there is none.
    fn predecessor(&mut self, to: State, files: &[Layer]) -> Result<Option<State>> {
        let ([cursor, _], mut moves) = (&mut self.cursors, Vec::new());
        let mut found = None;
        for file in files {
            cursor.start(file, KeyRange::ALL)?;
            while let (Some(at), None) = (cursor.key(), found) {
                let state = |local| State { region: RegionKey(at.region), local };
                let width = cursor.width();
                found = width.locals(cursor.locals()?).map(state).find(|from| {
                    moves.clear();
                    self.space.moves(*from, &mut moves);
                    moves.contains(&to)
                });
                cursor.advance()?;
            }
            cursor.stop();
        }
        Ok(found)
    }

    /// A state of the file `one` whose counterpart, the same state with the other side, is in the file
    /// `other`. Both may be the same file.
    fn both_sides(&mut self, one: &Layer, other: &Layer) -> Result<Option<State>> {
        let [a, b] = &mut self.cursors;
        a.start(one, KeyRange::ALL)?;
        b.start(other, KeyRange::ALL)?;
        let mut found = None;
        while let (Some(at), Some(key), None) = (a.key(), b.key(), found) {
            if at < key {
                a.advance()?;
            } else if key < at {
                b.advance()?;
            } else {
                let (width, others) = (a.width(), b.locals()?);
                let twin = |local: &u128| width.contains(others, local ^ 1);
                let region = RegionKey(at.region);
                let met = width.locals(a.locals()?).find(twin);
                found = met.map(|local| State { region, local });
                a.advance()?;
                b.advance()?;
            }
        }
        a.stop();
        b.stop();
        Ok(found)
    }
}

/// The key of a region in layer files, with its shard.
pub fn entry_key(space: &dyn StateSpace, shards: u32, region: RegionKey) -> EntryKey {
    EntryKey::in_shards(region.0, space.shard_hash(region), shards)
}
