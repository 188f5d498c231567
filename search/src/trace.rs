//! Back through kept layers: from where a search ended to where it began.

use strata_space::{Chain, Finish, RegionKey, State, StateSpace};
use strata_store::{EntryKey, Layer, LayerCursor, StoreError};

use crate::Result;

/// The layers of a finished search, by depth.
pub trait Layers {
    /// The files of a layer, of all workers.
    ///
    /// # Errors
    /// If one is missing or damaged.
    fn open(&mut self, depth: u32) -> Result<Vec<Layer>>;
}

/// Finds a shortest way in the layers of a finished search.
///
/// A state of layer d has a neighbour in layer d-1, and any that is there will do: edges are
/// undirected, so the neighbours are the state's own moves.
pub struct Trace<'a> {
    space: &'a dyn StateSpace,
    shards: u32,
    cursors: [LayerCursor; 2],
    moves: Vec<State>,
}

impl<'a> Trace<'a> {
    /// For a space and the number of shards it was searched with.
    ///
    /// # Errors
    /// If there is no memory for decompression.
    pub fn new(space: &'a dyn StateSpace, shards: u32) -> Result<Trace<'a>> {
        let cursors = [LayerCursor::new()?, LayerCursor::new()?];
        Ok(Trace { space, shards, cursors, moves: Vec::new() })
    }

    /// The state in which the searches from both ends met, with the depths at which it was reached
    /// from the start and from the goal. `last` and `before` are the search's two last layers, the
    /// last of depth `depth`; none if they have not met there.
    ///
    /// The state has side 0. Where symmetry makes one search of both it stands for either end.
    ///
    /// # Errors
    /// If a layer is damaged.
    pub fn meeting(
        &mut self,
        depth: u32,
        last: &[Layer],
        before: &[Layer],
    ) -> Result<Option<(State, [u32; 2])>> {
        // The odd way is the shorter one.
        let odd = last.iter().flat_map(|a| before.iter().map(move |b| (a, b, 1)));
        for (a, b, less) in odd.chain(last.iter().map(|a| (a, a, 0))) {
            if let Some(state) = self.both_sides(a, b)? {
                let side = state.local & 1;
                let mut depths = [depth, depth - less];
                depths.rotate_left(side as usize);
                return Ok(Some((State { local: state.local ^ side, ..state }, depths)));
            }
        }
        Ok(None)
    }

    /// The chain of a search that ended at `depth`.
    ///
    /// # Errors
    /// If a layer is missing or damaged, or a state has no neighbour in the layer before.
    pub fn chain(&mut self, depth: u32, layers: &mut dyn Layers) -> Result<Option<Chain>> {
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

    /// The states from depth 0 to a state of some depth.
    fn back(&mut self, state: State, depth: u32, layers: &mut dyn Layers) -> Result<Vec<State>> {
        let mut chain = vec![state];
        let mut at = state;
        for depth in (0..depth).rev() {
            let files = layers.open(depth)?;
            self.moves.clear();
            self.space.moves(at, &mut self.moves);
            // Most are in one region: one look-up finds them all.
            self.moves.sort_unstable();
            at = self.any_of(&files)?.ok_or_else(|| {
                let file = files.first().map(Layer::name).unwrap_or_default();
                let what = format!("no neighbour of {} in depth {depth}", self.space.text(at));
                StoreError::Inconsistent { file, what }
            })?;
            chain.push(at);
        }
        chain.reverse();
        Ok(chain)
    }

    /// One of the sorted `moves` that a layer has.
    fn any_of(&mut self, files: &[Layer]) -> Result<Option<State>> {
        let cursor = &mut self.cursors[0];
        for group in self.moves.chunk_by(|a, b| a.region == b.region) {
            let key = key(self.space, self.shards, group[0].region);
            for file in files {
                cursor.start(file, Some(key), None)?;
                let locals = if cursor.key() == Some(key) { cursor.locals() } else { &[] };
                let found = group.iter().find(|s| locals.binary_search(&s.local).is_ok());
                let found = found.copied();
                cursor.stop();
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// A state of one file of which the other side is in another (or the same) file.
    fn both_sides(&mut self, one: &Layer, other: &Layer) -> Result<Option<State>> {
        let [a, b] = &mut self.cursors;
        a.start(one, None, None)?;
        b.start(other, None, None)?;
        let mut found = None;
        while let (Some(at), Some(key), None) = (a.key(), b.key(), found) {
            if at < key {
                a.advance()?;
            } else if key < at {
                b.advance()?;
            } else {
                let twin = |local: &&u32| b.locals().binary_search(&(**local ^ 1)).is_ok();
                let region = RegionKey(at.region);
                found = a.locals().iter().find(twin).map(|local| State { region, local: *local });
                a.advance()?;
                b.advance()?;
            }
        }
        a.stop();
        b.stop();
        Ok(found)
    }
}

fn key(space: &dyn StateSpace, shards: u32, region: RegionKey) -> EntryKey {
    let shard = (space.shard_hash(region) % u64::from(shards)) as u32;
    EntryKey { shard, region: region.0 }
}
