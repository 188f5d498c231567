//! Towers of Hanoi as a dense space.

use strata_space::dense::{
    BlockStep, BlockSteps, DenseError, DenseFolding, DenseParts, DenseShape, DenseSize, DenseSpace,
    DenseState, DenseTables, LaneMap, MoveTable, NO_CLASS, NO_LANE, RowStep,
};
use strata_space::{KeySpace, SpaceError, Weight};

use super::state_space::{Hanoi, disc_weight};

/// Maximum number of rows of a block.
const MOST_ROWS: u32 = 1 << 10;

/// Limit in bytes of the steps of blocks.
const MOST_STEP_BYTES: u64 = 1 << 30;

/// Towers of Hanoi as a dense space. A lane is an arrangement of the smallest discs, a row one of the
/// next discs, a block one of the largest.
///
/// Each pair of pegs has three moves: of a disc of the lane, of the row and of the block. A disc of
/// the row moves in lanes without a disc on either peg; a disc of the block moves in rows and lanes
/// without one. The digits of the numbers are the pegs of the discs, the largest disc first.
#[derive(Clone, Debug)]
pub struct DenseHanoi {
    hanoi: Hanoi,
    parts: Parts,
    tables: DenseTables,
}

/// Numbers of discs whose pegs are in the lane, the row and the block.
#[derive(Copy, Clone, Debug)]
struct Parts {
    pegs: u32,
    lane_discs: u32,
    row_discs: u32,
    block_discs: u32,
}

/// The effect of a move between two pegs on an arrangement of some discs.
enum Effect {
    /// The smallest disc on the pegs moves.
    To(u32),
    /// No disc is on the pegs.
    None,
}

impl Parts {
    fn of(hanoi: &Hanoi) -> Parts {
        let fit = |discs: u32, most: u32| {
            (0..=discs)
                .take_while(|count| hanoi.pegs.checked_pow(*count).is_some_and(|n| n <= most))
                .last()
        };
        let lane_discs = fit(hanoi.discs, strata_space::dense::MAX_LANES).unwrap_or(0);
        let row_discs = fit(hanoi.discs - lane_discs, MOST_ROWS).unwrap_or(0);
        let block_discs = hanoi.discs - lane_discs - row_discs;
        Parts { pegs: hanoi.pegs, lane_discs, row_discs, block_discs }
    }

    fn shape(&self) -> Option<DenseShape> {
        let block_bytes = (3 * self.pairs().len() * size_of::<BlockStep>()) as u64;
        let blocks = u64::from(self.pegs).checked_pow(self.block_discs);
        let blocks = blocks.filter(|blocks| *blocks <= MOST_STEP_BYTES / block_bytes)?;
        Some(DenseShape {
            blocks: blocks as u32,
            rows: self.pegs.pow(self.row_discs),
            lanes: self.pegs.pow(self.lane_discs),
        })
    }

    fn pairs(&self) -> Vec<(u32, u32)> {
        (0..self.pegs).flat_map(|a| (a + 1..self.pegs).map(move |b| (a, b))).collect()
    }

    /// The effect on an arrangement of `discs` discs, whose pegs are the digits of its number.
    fn effect(&self, number: u32, discs: u32, (a, b): (u32, u32)) -> Effect {
        for disc in 0..discs {
            let place = self.pegs.pow(disc);
            let from = number / place % self.pegs;
            if from == a || from == b {
                return Effect::To(number - from * place + (a + b - from) * place);
            }
        }
        Effect::None
    }

    /// The lane maps: for each pair the move of a disc of the lane and that of a larger disc; then the map
    /// in which no lane moves.
    fn maps(&self, lanes: u32) -> Vec<LaneMap> {
        let mut maps = Vec::new();
        for pair in self.pairs() {
            let (mut moved, mut free) = (Vec::new(), Vec::new());
            for lane in 0..lanes {
                match self.effect(lane, self.lane_discs, pair) {
                    Effect::To(image) => {
                        moved.push(image as u8);
                        free.push(NO_LANE);
                    }
                    Effect::None => {
                        moved.push(NO_LANE);
                        free.push(lane as u8);
                    }
                }
            }
            maps.extend([LaneMap::new(moved), LaneMap::new(free)]);
        }
        maps.push(LaneMap::new(vec![NO_LANE; lanes as usize]));
        maps
    }

    /// The row steps in three classes for each pair: the moves of a disc of the lane, the row and the block.
    fn row_steps(&self, rows: u32) -> Vec<RowStep> {
        let pairs = self.pairs();
        let nowhere = 2 * pairs.len() as u16;
        let mut steps = Vec::new();
        for (moved, pair) in (0..nowhere).step_by(2).zip(pairs) {
            let free = moved + 1;
            steps.extend((0..rows).map(|row| RowStep { row: row as u16, map: moved }));
            steps.extend((0..rows).map(|row| match self.effect(row, self.row_discs, pair) {
                Effect::To(image) => RowStep { row: image as u16, map: free },
                Effect::None => RowStep { row: row as u16, map: nowhere },
            }));
            steps.extend((0..rows).map(|row| match self.effect(row, self.row_discs, pair) {
                Effect::To(_) => RowStep { row: row as u16, map: nowhere },
                Effect::None => RowStep { row: row as u16, map: free },
            }));
        }
        steps
    }

    fn block_steps(&self, blocks: u32) -> Vec<BlockStep> {
        let mut steps = Vec::new();
        for block in 0..blocks {
            for (class, pair) in (0..).step_by(3).zip(self.pairs()) {
                steps.extend([class, class + 1].map(|class| BlockStep { block, class }));
                steps.push(match self.effect(block, self.block_discs, pair) {
                    Effect::To(image) => BlockStep { block: image, class: class + 2 },
                    Effect::None => BlockStep { block, class: NO_CLASS },
                });
            }
        }
        steps
    }
}

impl DenseHanoi {
    /// The dense form of a puzzle.
    ///
    /// # Errors
    /// If there are more arrangements than the tables can have.
    pub fn new(hanoi: Hanoi) -> Result<DenseHanoi, SpaceError> {
        let (parts, shape) = checked(&hanoi)?;
        let moves = MoveTable {
            moves: 3 * parts.pairs().len(),
            steps: BlockSteps::Full(parts.block_steps(shape.blocks)),
            rows: parts.row_steps(shape.rows),
        };
        let start = state_of(&parts, &hanoi, 0);
        let goals = hanoi.goal().map(|key| state_of(&parts, &hanoi, key)).into_iter().collect();
        let maps = parts.maps(shape.lanes);
        let tables = DenseTables::new(DenseParts {
            shape,
            moves,
            converses: None,
            maps,
            start,
            goals,
            multiplicities: Vec::new(),
        });
        let tables = tables.map_err(|error: DenseError| conflict(error.to_string()))?;
        Ok(DenseHanoi { hanoi, parts, tables })
    }

    /// The size of a puzzle's dense form.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn size(hanoi: &Hanoi) -> Result<DenseSize, SpaceError> {
        let (parts, shape) = checked(hanoi)?;
        let moves = 3 * parts.pairs().len() as u64;
        let (steps, rows) = (size_of::<BlockStep>() as u64, size_of::<RowStep>() as u64);
        Ok(DenseSize {
            states: shape.states(),
            shape,
            table_bytes: moves * (u64::from(shape.blocks) * steps + u64::from(shape.rows) * rows),
            folding: DenseFolding::Off,
            is_undirected: true,
            has_goal: !hanoi.exhaust(),
        })
    }

    /// The state of a key of the puzzle's space of keys.
    pub fn state(&self, key: u64) -> DenseState {
        state_of(&self.parts, &self.hanoi, key)
    }

    /// The key of a state.
    pub fn key(&self, state: DenseState) -> u64 {
        let Parts { pegs, lane_discs, row_discs, block_discs } = self.parts;
        let numbers = [
            (u32::from(state.lane), lane_discs),
            (u32::from(state.row), row_discs),
            (state.block, block_discs),
        ];
        let digits = numbers.into_iter().flat_map(|(number, discs)| {
            (0..discs).map(move |disc| u64::from(number / pegs.pow(disc) % pegs))
        });
        self.hanoi.key(digits)
    }

    /// The product of the weights of discs from `first` on, whose pegs are the digits of a number.
    fn discs_weight(&self, first: u32, discs: u32, number: u32) -> Weight {
        let pegs = self.parts.pegs;
        let weights = (0..discs)
            .map(|disc| disc_weight(first + disc, (number / pegs.pow(disc) % pegs).into()));
        weights.fold(Weight::ONE, |product, weight| product * weight)
    }
}

fn conflict(why: String) -> SpaceError {
    SpaceError::Conflict { name: "discs".into(), why }
}

/// The parts and the shape of a puzzle.
fn checked(hanoi: &Hanoi) -> Result<(Parts, DenseShape), SpaceError> {
    let parts = Parts::of(hanoi);
    match parts.shape() {
        Some(shape) => Ok((parts, shape)),
        None => {
            let (discs, pegs) = (hanoi.discs, hanoi.pegs);
            Err(conflict(format!("the dense form is too large for {discs} on {pegs} pegs")))
        }
    }
}

fn state_of(parts: &Parts, hanoi: &Hanoi, key: u64) -> DenseState {
    let number = |first: u32, discs: u32| {
        let pegs = (first..first + discs).rev().map(|disc| hanoi.peg(key, disc) as u32);
        pegs.fold(0, |number, peg| number * parts.pegs + peg)
    };
    DenseState {
        block: number(parts.lane_discs + parts.row_discs, parts.block_discs),
        row: number(parts.lane_discs, parts.row_discs) as u16,
        lane: number(0, parts.lane_discs) as u8,
    }
}

impl DenseSpace for DenseHanoi {
    fn tables(&self) -> &DenseTables {
        &self.tables
    }

    fn text(&self, state: DenseState) -> String {
        self.hanoi.text(self.key(state))
    }

    fn parse(&self, text: &str) -> Option<DenseState> {
        self.hanoi.parse(text).map(|key| self.state(key))
    }

    /// The weight is a product over discs, as in the other forms of the puzzle.
    fn block_weight(&self, block: u32) -> Weight {
        let Parts { lane_discs, row_discs, block_discs, .. } = self.parts;
        self.discs_weight(lane_discs + row_discs, block_discs, block)
    }

    fn row_weight(&self, row: u16) -> Weight {
        self.discs_weight(self.parts.lane_discs, self.parts.row_discs, row.into())
    }

    fn lane_weight(&self, lane: u8) -> Weight {
        self.discs_weight(0, self.parts.lane_discs, lane.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(discs: u32, pegs: u32) -> DenseHanoi {
        DenseHanoi::new(Hanoi::new(discs, pegs, false).unwrap()).unwrap()
    }

    #[test]
    fn moves_and_weights_are_those_of_the_space_of_keys() {
        // Lanes alone; lanes and rows; and blocks, with 3, 4 and 8 pegs.
        for (discs, pegs) in [(1, 3), (3, 4), (5, 4), (9, 4), (11, 3), (5, 8), (6, 8)] {
            let space = space(discs, pegs);
            let shape = space.tables().shape();
            assert_eq!(shape.states(), u64::from(pegs).pow(discs));
            let size = DenseSize {
                states: shape.states(),
                shape,
                table_bytes: space.tables().bytes() as u64,
                folding: DenseFolding::Off,
                is_undirected: true,
                has_goal: !space.tables().goals().is_empty(),
            };
            assert_eq!(DenseHanoi::size(&space.hanoi), Ok(size));
            let step = (shape.states() / 5_000).max(1) as usize;
            for number in (0..shape.states()).step_by(step) {
                let state = shape.state(number).unwrap();
                let key = space.key(state);
                assert_eq!(space.state(key), state);
                assert_eq!(space.parse(&space.text(state)), Some(state));
                assert_eq!(space.weight(state), space.hanoi.digest(&[key]));
                let mut expected = Vec::new();
                space.hanoi.successors(key, &mut expected);
                expected.sort_unstable();
                let successors = space.tables().successors(state);
                let mut found: Vec<u64> = successors.map(|(_, next)| space.key(next)).collect();
                found.sort_unstable();
                assert_eq!(found, expected);
            }
        }
        space(6, 3).tables().check_converses().unwrap();
    }

    #[test]
    fn the_goal_is_the_tower_on_the_last_peg() {
        let space = space(7, 4);
        assert_eq!(space.text(space.tables().goals()[0]), "- / - / - / 1 2 3 4 5 6 7");
        assert_eq!(space.text(space.tables().start()), "1 2 3 4 5 6 7 / - / - / -");
        for text in ["1 2 3", "1 2 3 4 5 6 7 / - / -", "1 1 2 3 4 5 6 / 7 / - / -", "0 / - / - / -"]
        {
            assert_eq!(space.parse(text), None);
        }
    }

    #[test]
    fn forms_beyond_the_limit_are_refused() {
        for discs in [13, 21] {
            let hanoi = Hanoi::new(discs, 8, true).unwrap();
            assert!(DenseHanoi::size(&hanoi).is_err());
            assert!(DenseHanoi::new(hanoi).is_err());
        }
    }
}
