//! Positions, their rules, symmetries and moves. This code checks results of the search engine and
//! shares nothing with it.

use crate::moves::Move;
use crate::tile::{Colour, Column, MAX_LEVEL, Tile};

/// Whether a tile may be on the centre column's top layer, where it blocks the whole track.
///
/// Such a tile must leave in the very next move, so no shortest path between two other positions
/// needs one.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum CentreTop {
    /// The rules of the puzzle alone.
    #[default]
    Allowed,
    /// Every tile of C has fewer tiles above it than its level.
    Forbidden,
}

/// A rule that is broken.
#[derive(Debug, Copy, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A tile would rest below its layer, or the column reaches over the track.
    #[error("{tile} has {} above it in {column}, but may have at most {}", tiles(*.above), tile.level)]
    TooManyAbove {
        /// The topmost tile of the column that breaks the rule.
        tile: Tile,
        /// How many are above it.
        above: usize,
        /// The column.
        column: Column,
    },
    /// The centre is full up to the track.
    #[error(
        "{tile} has {} above it in C: the topmost one is on the centre's top layer, \
         where it blocks the track",
        tiles(tile.level.into())
    )]
    CentreTop {
        /// The topmost tile of C that has no room left.
        tile: Tile,
    },
}

fn tiles(count: usize) -> String {
    format!("{count} tile{}", if count == 1 { "" } else { "s" })
}

/// Error of tiles that do not make a position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// A level that no position has.
    #[error("level {level}: a position has 1 to {MAX_LEVEL} tiles per tower")]
    Level {
        /// The level.
        level: u8,
    },
    /// A tile that does not belong to a position of this level.
    #[error("{tile} in {column} is out of range: the tiles are b1 to b{level} and o1 to o{level}")]
    OutOfRange {
        /// The tile.
        tile: Tile,
        /// Where it is.
        column: Column,
        /// Tiles per tower.
        level: u8,
    },
    /// A tile that occurs twice.
    #[error("{tile} is there twice, in {} and in {}", .columns[0], .columns[1])]
    Duplicate {
        /// The tile.
        tile: Tile,
        /// Where it is, from left to right.
        columns: [Column; 2],
    },
    /// Tiles that do not occur.
    #[error("missing: {}", .tiles.iter().map(Tile::to_string).collect::<Vec<_>>().join(", "))]
    Missing {
        /// The tiles.
        tiles: Vec<Tile>,
    },
    /// All tiles are there, but a rule is broken.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

/// A move that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// No tile to move.
    #[error("{column} is empty")]
    Empty {
        /// The column it should leave.
        column: Column,
    },
    /// A tile on the centre's top layer is in the way.
    #[error("{tile} is on the centre's top layer, between L and R")]
    Blocked {
        /// The tile that has to leave first.
        tile: Tile,
    },
    /// The position after it would break a rule.
    #[error("after it, {0}")]
    Breaks(RuleError),
}

/// A legal position: three stacks with every tile of two towers in them.
///
/// A tile of level l rests in the layers 0 (the track) to l. A tile always sinks as low as it can,
/// so the order of the tiles in the columns determines the position. A position is legal if every
/// tile has at most as many tiles above it as its level.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    level: u8,
    /// Lowest tile first.
    columns: [Vec<Tile>; 3],
}

impl Position {
    /// A position from the tiles of L, C and R, top to bottom.
    ///
    /// # Errors
    /// If the level is not from 1 to [`MAX_LEVEL`]; if a tile is out of range, repeated or missing, or
    /// has more tiles above it than its level.
    pub fn new(level: u8, columns: [Vec<Tile>; 3]) -> Result<Position, PositionError> {
        if level == 0 || level > MAX_LEVEL {
            return Err(PositionError::Level { level });
        }
        check_tiles(level, &columns)?;
        let columns = columns.map(|tiles| tiles.into_iter().rev().collect());
        let position = Position { level, columns };
        for column in Column::ALL {
            position.check_column(column, None)?;
        }
        Ok(position)
    }

    /// The blue tower on L, the orange one on R.
    ///
    /// # Errors
    /// If the level is not from 1 to [`MAX_LEVEL`].
    pub fn start(level: u8) -> Result<Position, PositionError> {
        let tower = |tile: fn(u8) -> Tile| (1..=level).map(tile).collect();
        Position::new(level, [tower(Tile::blue), Vec::new(), tower(Tile::orange)])
    }

    /// The start with the colours exchanged: where the exchange of the towers ends.
    ///
    /// # Errors
    /// If the level is not from 1 to [`MAX_LEVEL`].
    pub fn goal(level: u8) -> Result<Position, PositionError> {
        Ok(Position::start(level)?.star())
    }

    /// Tiles per tower.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// The tiles of a column, top to bottom.
    pub fn column(&self, column: Column) -> impl DoubleEndedIterator<Item = Tile> {
        self.columns[column.index()].iter().rev().copied()
    }

    /// The tiles of a column, top to bottom, each with the layer it rests in. Layer 0 is the track.
    pub fn layers(&self, column: Column) -> Vec<(Tile, u8)> {
        let mut below = u8::MAX;
        let sink = |tile: Tile| {
            below = tile.level.min(below - 1);
            (tile, below)
        };
        let mut layers: Vec<_> = self.column(column).rev().map(sink).collect();
        layers.reverse();
        layers
    }

    /// The topmost tile of a column.
    pub fn top(&self, column: Column) -> Option<Tile> {
        self.columns[column.index()].last().copied()
    }

    /// Checks the rule about the centre's top layer. [`Position`] guarantees all other rules.
    ///
    /// # Errors
    /// If centre-top is forbidden and a tile of C has as many tiles above it as its level.
    pub fn check(&self, centre_top: CentreTop) -> Result<(), RuleError> {
        match centre_top {
            CentreTop::Allowed => Ok(()),
            CentreTop::Forbidden => self.check_centre(None),
        }
    }

    /// The image under the mirror `'`: the columns L and R swapped.
    #[must_use]
    pub fn mirror(mut self) -> Position {
        self.columns.reverse();
        self
    }

    /// The image under the star `*`: the colours swapped.
    #[must_use]
    pub fn star(mut self) -> Position {
        for tile in self.columns.iter_mut().flatten() {
            *tile = tile.swapped();
        }
        self
    }

    /// The moves that are legal here.
    pub fn legal_moves(&self, centre_top: CentreTop) -> impl Iterator<Item = Move> {
        Move::ALL.into_iter().filter(move |mv| self.check_move(*mv, centre_top).is_ok())
    }

    /// The tile that the move would take.
    ///
    /// # Errors
    /// If the move is not legal here.
    pub fn check_move(&self, mv: Move, centre_top: CentreTop) -> Result<Tile, MoveError> {
        let tile = self.top(mv.from()).ok_or(MoveError::Empty { column: mv.from() })?;
        let passes_centre = mv.from() != Column::Centre && mv.to() != Column::Centre;
        if passes_centre
            && let (Err(_), Some(tile)) = (self.check_centre(None), self.top(Column::Centre))
        {
            return Err(MoveError::Blocked { tile });
        }
        self.check_column(mv.to(), Some(tile)).map_err(MoveError::Breaks)?;
        if centre_top == CentreTop::Forbidden && mv.to() == Column::Centre {
            self.check_centre(Some(tile)).map_err(MoveError::Breaks)?;
        }
        Ok(tile)
    }

    /// Makes a move and returns the tile that moved. After an error nothing has changed.
    ///
    /// # Errors
    /// If the move is not legal here.
    pub fn apply(&mut self, mv: Move, centre_top: CentreTop) -> Result<Tile, MoveError> {
        let tile = self.check_move(mv, centre_top)?;
        self.columns[mv.from().index()].pop();
        self.columns[mv.to().index()].push(tile);
        Ok(tile)
    }

    /// The tiles of a column with the number of tiles above each, as if `more` lay on top.
    fn burdens(&self, column: Column, more: Option<Tile>) -> impl Iterator<Item = (Tile, usize)> {
        more.into_iter().chain(self.column(column)).zip(0..)
    }

    fn check_column(&self, column: Column, more: Option<Tile>) -> Result<(), RuleError> {
        match self.burdens(column, more).find(|(tile, above)| *above > usize::from(tile.level)) {
            Some((tile, above)) => Err(RuleError::TooManyAbove { tile, above, column }),
            None => Ok(()),
        }
    }

    fn check_centre(&self, more: Option<Tile>) -> Result<(), RuleError> {
        let mut burdens = self.burdens(Column::Centre, more);
        match burdens.find(|(tile, above)| *above == usize::from(tile.level)) {
            Some((tile, _)) => Err(RuleError::CentreTop { tile }),
            None => Ok(()),
        }
    }
}

/// Checks that every tile of the level occurs once, and that there are no other tiles.
fn check_tiles(level: u8, columns: &[Vec<Tile>; 3]) -> Result<(), PositionError> {
    let mut places = vec![[None::<Column>; 2]; usize::from(level)];
    for (column, tiles) in Column::ALL.into_iter().zip(columns) {
        for &tile in tiles {
            if tile.level == 0 || tile.level > level {
                return Err(PositionError::OutOfRange { tile, column, level });
            }
            let place = &mut places[usize::from(tile.level) - 1][tile.colour as usize];
            if let Some(first) = place.replace(column) {
                return Err(PositionError::Duplicate { tile, columns: [first, column] });
            }
        }
    }
    let all = Colour::ALL.into_iter().flat_map(|colour| {
        (1..=level).zip(&places).map(move |(level, at)| (Tile { level, colour }, at))
    });
    let tiles: Vec<Tile> =
        all.filter(|(tile, at)| at[tile.colour as usize].is_none()).map(|(tile, _)| tile).collect();
    if tiles.is_empty() { Ok(()) } else { Err(PositionError::Missing { tiles }) }
}

#[cfg(test)]
pub(crate) mod tests;
