//! Dense spaces: states numbered by block, row and lane, with their moves as tables.
//!
//! Every state has a number, so an engine can keep a few bits for each instead of a list. A state is
//! a **block**, a **row** of the block and a **lane** of the row. The lanes of a row are the bits of
//! a 64-bit word. A move takes all states of a block to one block. Inside, it depends only on the
//! block's **class** for the move: it takes a row to a row, and permutes the lanes by one of a few
//! [`LaneMap`]s. So one table entry and one permutation of bits give up to 64 successors.

use std::fmt::Debug;
use std::num::NonZeroU32;

use crate::digest::{Weight, mix};

mod error;
mod fixed;
mod moves;
mod shape;

pub use self::error::DenseError;
pub use self::fixed::FixedPositions;
pub use self::moves::{
    BlockStep, BlockSteps, FactoredSteps, MoveTable, NO_CLASS, RowStep, StepsOfBlock,
};
pub use self::shape::{DenseShape, DenseState, MAX_LANES, MAX_ROWS};

/// The image of a lane that does not have the move.
pub const NO_LANE: u8 = u8::MAX;

/// Folding of a dense form: one stored block stands for all blocks that symmetries map to one another.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum DenseFolding {
    /// Folding was not requested.
    #[default]
    Off,
    /// Symmetric blocks are folded.
    On {
        /// Upper bound of the number of lane maps.
        maps: u32,
    },
    /// Folding was requested, but is impossible or saves too little memory: every state is stored.
    Unused,
}

/// Size of a dense form. It is known before the tables are built.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct DenseSize {
    /// Number of stored states.
    pub states: u64,
    /// Numbers of blocks, rows and lanes.
    pub shape: DenseShape,
    /// Bytes of the tables of moves; an estimate where the exact size is known only once they are built.
    pub table_bytes: u64,
    /// Whether symmetric blocks are folded.
    pub folding: DenseFolding,
    /// Whether the moves are closed under inversion, so that edges are undirected.
    pub is_undirected: bool,
    /// Whether a search ends at a goal. Otherwise it lists all states.
    pub has_goal: bool,
}

/// The effect of a move on the lanes of a row: an injective map from the lanes that have the move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneMap {
    images: Vec<u8>,
}

impl LaneMap {
    /// The map that takes lane `i` to `images[i]`, or nowhere if that is [`NO_LANE`].
    pub fn new(images: Vec<u8>) -> LaneMap {
        LaneMap { images }
    }

    /// The image of a lane; None if the lane does not have the move.
    pub fn image(&self, lane: u8) -> Option<u8> {
        self.images.get(usize::from(lane)).copied().filter(|image| *image != NO_LANE)
    }

    /// Lanes with their images, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        (0..).zip(self.images.iter().copied()).filter(|(_, image)| *image != NO_LANE)
    }

    /// The lanes that have the move, a bit each.
    pub fn domain(&self) -> u64 {
        self.pairs().fold(0, |mask, (lane, _)| mask | 1 << lane)
    }

    fn is_injection(&self, lanes: u32) -> bool {
        let mut images = 0u64;
        self.images.len() == lanes as usize
            && self.pairs().all(|(_, image)| {
                let is_new = u32::from(image) < lanes && images >> image & 1 == 0;
                images |= u64::from(is_new) << (image & 63);
                is_new
            })
    }
}

/// The parts of [`DenseTables`], for [`DenseTables::new`].
#[derive(Clone, Debug)]
pub struct DenseParts {
    /// Numbers of blocks, rows and lanes.
    pub shape: DenseShape,
    /// The moves.
    pub moves: MoveTable,
    /// The converses of all moves: they lead from a state to its predecessors. None if the moves are
    /// closed under inversion: a state's successors are then its predecessors.
    pub converses: Option<MoveTable>,
    /// The lane maps by number.
    pub maps: Vec<LaneMap>,
    /// The state at depth 0.
    pub start: DenseState,
    /// The goals; empty if a search is to list the whole space.
    pub goals: Vec<DenseState>,
    /// By block, the number of blocks whose states it stands for, itself included. Empty if symmetric
    /// blocks are not folded: each block then stands for itself. See [`DenseTables::is_folded`].
    pub multiplicities: Vec<u32>,
}

/// Tables that an engine needs to search a dense space. Every number in them is in range.
#[derive(Clone, Debug)]
pub struct DenseTables {
    parts: DenseParts,
    fixed: Option<FixedPositions>,
}

impl DenseTables {
    /// Checks that the tables are complete, that all numbers are in range, and that the start's block stands
    /// for itself alone. Converses are not compared with the moves; see [`Self::check_converses`].
    ///
    /// # Errors
    /// [`DenseError`] names the shape, the table or the entry that is wrong.
    pub fn new(parts: DenseParts) -> Result<DenseTables, DenseError> {
        let shape = parts.shape;
        if shape.blocks == 0
            || !(1..=MAX_ROWS).contains(&shape.rows)
            || !(1..=MAX_LANES).contains(&shape.lanes)
        {
            return Err(DenseError::Shape(shape));
        }
        if let Some(index) = parts.maps.iter().position(|map| !map.is_injection(shape.lanes)) {
            return Err(DenseError::Entry { what: "lane maps", index });
        }
        for table in [Some(&parts.moves), parts.converses.as_ref()].into_iter().flatten() {
            table.check(shape, parts.maps.len())?;
        }
        let states = std::iter::once(&parts.start).chain(&parts.goals);
        if let Some(index) = states.into_iter().position(|state| !shape.has(*state)) {
            return Err(DenseError::Entry { what: "start and goals", index });
        }
        let folded = &parts.multiplicities;
        if !folded.is_empty() {
            if folded.len() != shape.blocks as usize {
                return Err(DenseError::Length { what: "multiplicities", given: folded.len() });
            }
            if let Some(index) = folded.iter().position(|blocks| *blocks == 0) {
                return Err(DenseError::Entry { what: "multiplicities", index });
            }
            // Another image of the start would be at depth 0, too.
            let index = parts.start.block as usize;
            if folded[index] != 1 {
                return Err(DenseError::Entry { what: "multiplicities", index });
            }
        }
        Ok(DenseTables { parts, fixed: None })
    }

    /// These tables with the positions that symmetries fix, so that engines count the orbits of layers.
    /// Each symmetry must map every layer to itself.
    ///
    /// # Errors
    /// [`DenseError::Entry`] if `fixed` lists a state that does not exist.
    pub fn with_fixed(self, fixed: FixedPositions) -> Result<DenseTables, DenseError> {
        if fixed.last().is_some_and(|last| last >= self.shape().states()) {
            let index = fixed.len() - 1;
            return Err(DenseError::Entry { what: "positions that symmetries fix", index });
        }
        Ok(DenseTables { fixed: Some(fixed), ..self })
    }

    /// Numbers of blocks, rows and lanes.
    pub fn shape(&self) -> DenseShape {
        self.parts.shape
    }

    /// The moves.
    pub fn moves(&self) -> &MoveTable {
        &self.parts.moves
    }

    /// Moves that lead to a state's predecessors.
    pub fn converses(&self) -> &MoveTable {
        self.parts.converses.as_ref().unwrap_or(&self.parts.moves)
    }

    /// Whether the moves are closed under inversion, so that edges are undirected.
    pub fn is_undirected(&self) -> bool {
        self.parts.converses.is_none()
    }

    /// Whether symmetric blocks are folded: a block stands for all blocks that symmetries map to it. A
    /// move then leads to an image of the successor under a symmetry.
    ///
    /// A symmetry that maps a block to itself may exchange states of the block, and both are stored, in
    /// the same layer. A move leads to one of them only. So each state has a converse move to a state of
    /// the layer before, but that layer may have no move to the state: engines must pull, from each state
    /// to its predecessors, and never push from a layer to its successors.
    pub fn is_folded(&self) -> bool {
        !self.parts.multiplicities.is_empty()
    }

    /// The number of blocks whose states a block stands for, itself included.
    pub fn multiplicity(&self, block: u32) -> u64 {
        let of_block = self.parts.multiplicities.get(block as usize);
        of_block.map_or(1, |blocks| u64::from(*blocks))
    }

    /// The number of symmetries whose orbits are counted, the identity included; None if orbits are not
    /// counted.
    pub fn symmetries(&self) -> Option<NonZeroU32> {
        self.fixed.as_ref().map(FixedPositions::symmetries)
    }

    /// The number of pairs (s, p) where p is a position of the given states and s is a symmetry, other
    /// than the identity, that fixes p. `words` has the states of `block`, a word for each row. 0 if
    /// orbits are not counted.
    #[inline]
    pub fn count_fixed(&self, block: u32, words: &[u64]) -> u64 {
        let fixed = self.fixed.as_ref().filter(|fixed| !fixed.is_empty());
        fixed.map_or(0, |fixed| fixed.count(self.shape(), block, words))
    }

    /// The lane maps.
    pub fn maps(&self) -> &[LaneMap] {
        &self.parts.maps
    }

    /// The state at depth 0.
    pub fn start(&self) -> DenseState {
        self.parts.start
    }

    /// The goals.
    pub fn goals(&self) -> &[DenseState] {
        &self.parts.goals
    }

    /// Bytes of the tables of moves, converses, multiplicities and fixed positions, without the lane maps.
    pub fn bytes(&self) -> usize {
        let converses = self.parts.converses.as_ref().map_or(0, MoveTable::bytes);
        let fixed = self.fixed.as_ref().map_or(0, FixedPositions::bytes);
        self.parts.moves.bytes() + converses + size_of_val(&*self.parts.multiplicities) + fixed
    }

    /// A checksum of shape, start, moves, converses, lane maps and multiplicities, but not of the positions
    /// that symmetries fix. Files of states contain it, so that files with another numbering are refused.
    ///
    /// It covers all entries of a table with fewer than 2^20 entries, and evenly spaced entries of a
    /// larger one. Steps as products of factors have the same checksum as a full table of the products.
    pub fn fingerprint(&self) -> u64 {
        const MOST: usize = 1 << 20;
        let DenseShape { blocks, rows, lanes } = self.parts.shape;
        let start = self.parts.shape.number(self.parts.start);
        let stride = |entries: usize| entries / MOST + 1;
        let mut hash = 0_u64;
        let mut add = |word: u64| hash = mix(hash.rotate_left(5) ^ mix(word));
        [blocks, rows, lanes].into_iter().for_each(|number| add(number.into()));
        add(start);
        for table in [Some(&self.parts.moves), self.parts.converses.as_ref()].into_iter().flatten()
        {
            add(table.moves as u64);
            let steps = table.len(self.parts.shape);
            let steps = (0..steps).step_by(stride(steps)).filter_map(|index| table.step(index));
            steps.for_each(|step| add(u64::from(step.block) << 32 | u64::from(step.class)));
            let rows = table.rows.iter().step_by(stride(table.rows.len()));
            rows.for_each(|row| add(u64::from(row.row) << 16 | u64::from(row.map)));
        }
        for map in &self.parts.maps {
            add(map.images.len() as u64);
            map.images.iter().for_each(|image| add((*image).into()));
        }
        let folded = &self.parts.multiplicities;
        folded.iter().step_by(stride(folded.len())).for_each(|blocks| add((*blocks).into()));
        hash
    }

    /// Whether every state has every move.
    pub fn is_total(&self) -> bool {
        let all = self.shape().lane_mask();
        self.parts.maps.iter().all(|map| map.domain() == all) && self.parts.moves.is_total()
    }

    /// The successors of a state, by move.
    pub fn successors(&self, state: DenseState) -> impl Iterator<Item = (usize, DenseState)> + '_ {
        self.neighbours(&self.parts.moves, state)
    }

    /// The predecessors of a state, by converse.
    pub fn predecessors(
        &self,
        state: DenseState,
    ) -> impl Iterator<Item = (usize, DenseState)> + '_ {
        self.neighbours(self.converses(), state)
    }

    fn neighbours<'a>(
        &'a self,
        table: &'a MoveTable,
        state: DenseState,
    ) -> impl Iterator<Item = (usize, DenseState)> + 'a {
        let rows = self.shape().rows as usize;
        table.of_block(state.block).enumerate().filter_map(move |(index, step)| {
            let entry = table.of_class(step.class, rows)?.get(usize::from(state.row))?;
            let lane = self.parts.maps.get(usize::from(entry.map))?.image(state.lane)?;
            Some((index, DenseState { block: step.block, row: entry.row, lane }))
        })
    }

    /// Checks that each move of each state is undone by a converse, and each converse by a move. It
    /// visits every edge, so it is for small spaces.
    ///
    /// # Errors
    /// [`DenseError::Converse`] for the first edge with no way back.
    pub fn check_converses(&self) -> Result<(), DenseError> {
        let shape = self.shape();
        let (moves, converses) = (self.moves(), self.converses());
        for number in 0..shape.states() {
            let Some(state) = shape.state(number) else { continue };
            for (table, other) in [(moves, converses), (converses, moves)] {
                for (index, end) in self.neighbours(table, state) {
                    if !self.neighbours(other, end).any(|(_, back)| back == state) {
                        return Err(DenseError::Converse { index, number });
                    }
                }
            }
        }
        Ok(())
    }
}

/// A space whose states are numbered by block, row and lane. All functions are pure.
///
/// The numbering depends only on the space's parameters: digests and files contain it.
pub trait DenseSpace: Send + Sync + Debug + 'static {
    /// The tables. They are the same at every call.
    fn tables(&self) -> &DenseTables;

    /// The state in the space's text form.
    fn text(&self, state: DenseState) -> String;

    /// The state with this text, or the state that stands for it; None if the text is not of a state of
    /// the space.
    fn parse(&self, text: &str) -> Option<DenseState>;

    /// The texts of the positions of a path, each one move after the one before. `path` has the states
    /// that stand for the positions, from the start on. The last position has the text `end`, or is a
    /// goal if that is None. Returns None if there is no such path.
    fn path_texts(&self, path: &[DenseState], end: Option<&str>) -> Option<Vec<String>> {
        // By default a state stands for one position, so the last state determines the end.
        let _ = end;
        Some(path.iter().map(|state| self.text(*state)).collect())
    }

    /// The factor of a block in a state's weight, which is the product of three factors.
    fn block_weight(&self, block: u32) -> Weight {
        block_weight(block.into())
    }

    /// The factor of a row in a state's weight.
    fn row_weight(&self, row: u16) -> Weight {
        row_weight(row)
    }

    /// The factor of a lane in a state's weight.
    fn lane_weight(&self, lane: u8) -> Weight {
        lane_weight(lane)
    }

    /// The weight of a state.
    fn weight(&self, state: DenseState) -> Weight {
        self.block_weight(state.block) * self.row_weight(state.row) * self.lane_weight(state.lane)
    }
}

/// The default factor of a block in a state's weight. `block` is below 2^56.
pub fn block_weight(block: u64) -> Weight {
    Weight::hash(BLOCK_DOMAIN | block)
}

/// The default factor of a row in a state's weight.
pub fn row_weight(row: u16) -> Weight {
    Weight::hash(ROW_DOMAIN | u64::from(row))
}

/// The default factor of a lane in a state's weight.
pub fn lane_weight(lane: u8) -> Weight {
    Weight::hash(LANE_DOMAIN | u64::from(lane))
}

/// Hash domains of the three factors of a weight.
const BLOCK_DOMAIN: u64 = 1 << 56;
const ROW_DOMAIN: u64 = 2 << 56;
const LANE_DOMAIN: u64 = 3 << 56;

#[cfg(test)]
mod tests;
