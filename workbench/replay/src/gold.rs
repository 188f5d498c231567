//! Positions of Panex Gold, whose tiles look alike apart from their colour.
//!
//! Gold has the same moves as Panex Silver and the same least number of moves for the exchange.
//! Gold tiles have levels that are not visible, so a Gold solution is a sequence of legal moves
//! from the start that ends with the blue tiles on R and the orange ones on L. A complete tower
//! fills layers 1 to n, and a tile of level l rests no deeper than layer l. So its lowest tile has
//! level n, the next one n - 1, and so on: the end is the goal with levels, too. Conversely, any
//! solution with levels is a Gold solution when the levels are hidden.

use std::fmt;
use std::str::FromStr;

use crate::position::{Position, PositionError};
use crate::text::{TextError, split_columns, write_columns};
use crate::tile::{Colour, Column, MAX_LEVEL, Tile};

/// A position in the form of a Gold board: colours and layers, without levels.
///
/// Text form: the layers of each column from the topmost tile down to the lowest layer n, `.` for a
/// layer without a tile, `-` for an empty column. The start of level 3 is `b b b / - / o o o`; with
/// the blue tile of the top moved to C it is `b b / b . . / o o o`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GoldPosition {
    level: u8,
    /// Topmost tile first.
    columns: [Vec<GoldTile>; 3],
}

/// A tile that shows its colour and its layer (0 is the track).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
struct GoldTile {
    colour: Colour,
    layer: u8,
}

/// A tile on a Gold board, for messages.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct GoldPlace {
    /// The column.
    pub column: Column,
    /// The layer; 0 is the track.
    pub layer: u8,
    /// The tile's colour.
    pub colour: Colour,
}

impl fmt::Display for GoldPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} in {}, layer {}", self.colour.letter(), self.column, self.layer)
    }
}

/// Error of a text that is not a Gold position, or whose levels are not determined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoldError {
    /// Not three columns.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A token that is neither a tile nor an empty layer.
    #[error("{column}, token {place}: '{token}' is none of b, o and . (an empty layer)")]
    Token {
        /// The column.
        column: Column,
        /// Which token of the column, from 1.
        place: usize,
        /// The token.
        token: String,
    },
    /// The towers are not equally high.
    #[error("{blue} blue and {orange} orange tiles: there must be equally many, 1 to {MAX_LEVEL}")]
    Counts {
        /// Blue tiles.
        blue: usize,
        /// Orange tiles.
        orange: usize,
    },
    /// A column with more layers than the puzzle has.
    #[error("{column} has {found} layers, a column of level {level} has {} with the track", level + 1)]
    TooHigh {
        /// The column.
        column: Column,
        /// Layers in the text.
        found: usize,
        /// Tiles per tower.
        level: u8,
    },
    /// A tile in a layer in which no tile of its colour can rest.
    #[error(
        "no level fits {0}: others of its colour that need theirs are too many, or it would sink"
    )]
    NoLevel(GoldPlace),
    /// More than one order of levels is legal.
    #[error(
        "the levels are not determined: {} and {} can be {}{} and {}{} or the other way round",
        .places[0], .places[1],
        .places[0].colour.letter(), .levels[0], .places[1].colour.letter(), .levels[1]
    )]
    Ambiguous {
        /// Two tiles whose levels can be exchanged.
        places: [GoldPlace; 2],
        /// Their levels in one of the orders.
        levels: [u8; 2],
    },
    /// The tiles are not a position. This cannot happen if the levels fit their layers.
    #[error(transparent)]
    Position(#[from] PositionError),
}

impl GoldPosition {
    /// The position with levels, if exactly one assignment of levels is legal.
    ///
    /// A tile with an empty layer below it has sunk as deep as it can, so its level is its layer.
    /// The level of any other tile is at least its layer.
    ///
    /// # Errors
    /// If the levels of two tiles can be exchanged, or no level fits a tile. The error names them.
    pub fn to_position(&self) -> Result<Position, GoldError> {
        let mut columns = [const { Vec::new() }; 3];
        for colour in Colour::ALL {
            let levels = self.levels(colour)?;
            for (place, level) in levels {
                columns[place.column.index()].push((place.layer, Tile { level, colour }));
            }
        }
        let columns = columns.map(|mut tiles| {
            tiles.sort_by_key(|(layer, _)| *layer);
            tiles.into_iter().map(|(_, tile)| tile).collect()
        });
        Ok(Position::new(self.level, columns)?)
    }

    /// The levels of one colour's tiles.
    fn levels(&self, colour: Colour) -> Result<Vec<(GoldPlace, u8)>, GoldError> {
        let mut left: Vec<u8> = (1..=self.level).collect();
        let mut given = Vec::new();
        let mut resting = Vec::new();
        for column in Column::ALL {
            let mut below = self.level + 1;
            for tile in self.columns[column.index()].iter().rev() {
                let place = GoldPlace { column, layer: tile.layer, colour };
                let sunk = tile.layer + 1 < below;
                below = tile.layer;
                if tile.colour != colour {
                    continue;
                }
                if sunk {
                    let at = left.iter().position(|level| *level == place.layer);
                    given.push((place, left.remove(at.ok_or(GoldError::NoLevel(place))?)));
                } else {
                    resting.push(place);
                }
            }
        }
        // Tiles sorted by layer get the free levels in ascending order. If this assignment is
        // illegal, no assignment is legal. If no two adjacent tiles can exchange their levels, it
        // is the only one.
        resting.sort_by_key(|place| place.layer);
        let matched: Vec<(GoldPlace, u8)> = resting.into_iter().zip(left).collect();
        if let Some((place, _)) = matched.iter().find(|(place, level)| *level < place.layer) {
            return Err(GoldError::NoLevel(*place));
        }
        if let Some(pair) = matched.windows(2).find(|pair| pair[0].1 >= pair[1].0.layer) {
            let (places, levels) = ([pair[0].0, pair[1].0], [pair[0].1, pair[1].1]);
            return Err(GoldError::Ambiguous { places, levels });
        }
        given.extend(matched);
        Ok(given)
    }
}

impl From<&Position> for GoldPosition {
    /// Hides the levels.
    fn from(position: &Position) -> GoldPosition {
        let columns = Column::ALL.map(|column| {
            let tiles = position.layers(column).into_iter();
            tiles.map(|(tile, layer)| GoldTile { colour: tile.colour, layer }).collect()
        });
        GoldPosition { level: position.level(), columns }
    }
}

impl FromStr for GoldPosition {
    type Err = GoldError;

    fn from_str(text: &str) -> Result<GoldPosition, GoldError> {
        let mut tokens = [const { Vec::new() }; 3];
        for (column, words) in Column::ALL.into_iter().zip(split_columns(text)?) {
            for (place, token) in (1..).zip(words) {
                let colour = Colour::from_letter(token);
                if colour.is_none() && token != "." {
                    return Err(GoldError::Token { column, place, token: token.to_owned() });
                }
                tokens[column.index()].push(colour);
            }
        }
        let count =
            |colour| tokens.iter().flatten().filter(|token| **token == Some(colour)).count();
        let (blue, orange) = (count(Colour::Blue), count(Colour::Orange));
        let level = u8::try_from(blue).unwrap_or(u8::MAX);
        if blue != orange || level == 0 || level > MAX_LEVEL {
            return Err(GoldError::Counts { blue, orange });
        }
        for (column, tokens) in Column::ALL.into_iter().zip(&tokens) {
            if tokens.len() > usize::from(level) + 1 {
                return Err(GoldError::TooHigh { column, found: tokens.len(), level });
            }
        }
        let columns = tokens.map(|tokens| {
            let layers = (0..=level).rev();
            let mut tiles: Vec<GoldTile> = tokens
                .into_iter()
                .rev()
                .zip(layers)
                .filter_map(|(colour, layer)| Some(GoldTile { colour: colour?, layer }))
                .collect();
            tiles.reverse();
            tiles
        });
        Ok(GoldPosition { level, columns })
    }
}

impl fmt::Display for GoldPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_columns(f, |column| {
            let tiles = &self.columns[column.index()];
            let topmost = tiles.first().map_or(self.level + 1, |tile| tile.layer);
            (topmost..=self.level).map(|layer| {
                let tile = tiles.iter().find(|tile| tile.layer == layer);
                tile.map_or('.', |tile| tile.colour.letter()).to_string()
            })
        })
    }
}
