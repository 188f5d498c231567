//! Numbers of blocks, rows and lanes.

/// Limit of the rows of a block.
pub const MAX_ROWS: u32 = 1 << 16;

/// Limit of the lanes of a row: the bits of a word.
pub const MAX_LANES: u32 = 64;

/// A state, given by the numbers of its block, row and lane.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DenseState {
    /// The block.
    pub block: u32,
    /// The row in the block.
    pub row: u16,
    /// The lane in the row.
    pub lane: u8,
}

/// Numbers of blocks, rows and lanes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct DenseShape {
    /// Blocks, at least 1.
    pub blocks: u32,
    /// Rows of each block, 1 to [`MAX_ROWS`].
    pub rows: u32,
    /// Lanes of each row, 1 to [`MAX_LANES`].
    pub lanes: u32,
}

impl DenseShape {
    /// The number of states.
    pub fn states(&self) -> u64 {
        self.words() * u64::from(self.lanes)
    }

    /// The number of words of a bit set of all states: one word for each row of each block.
    pub fn words(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.rows)
    }

    /// The word with a bit set for each lane.
    pub fn lane_mask(&self) -> u64 {
        u64::MAX >> (MAX_LANES - self.lanes.clamp(1, MAX_LANES))
    }

    /// Whether block, row and lane of a state are in range.
    pub fn has(&self, state: DenseState) -> bool {
        state.block < self.blocks
            && u32::from(state.row) < self.rows
            && u32::from(state.lane) < self.lanes
    }

    /// The number of a state, below [`Self::states`]: ascending by block, row, lane.
    pub fn number(&self, state: DenseState) -> u64 {
        let row = u64::from(state.block) * u64::from(self.rows) + u64::from(state.row);
        row * u64::from(self.lanes) + u64::from(state.lane)
    }

    /// The state with a number; None if the number is at least [`Self::states`].
    pub fn state(&self, number: u64) -> Option<DenseState> {
        let (word, lane) = (number / u64::from(self.lanes), number % u64::from(self.lanes));
        let (block, row) = (word / u64::from(self.rows), word % u64::from(self.rows));
        let block = u32::try_from(block).ok().filter(|block| *block < self.blocks)?;
        Some(DenseState { block, row: row as u16, lane: lane as u8 })
    }
}
