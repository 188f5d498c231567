//! Positions: three stacks of tiles, with the rules and the symmetries.

use std::fmt;

use super::tile::{CENTRE, COLUMNS, MOVES, Stack, Symmetry, Tile};
use super::tokens::{CentreTop, Tokens};

/// Three stacks of tiles: L, C, R.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Position {
    /// L, C and R, top first.
    pub columns: [Stack<Tile>; 3],
}

impl Position {
    /// The blue tower 1..=level on L, the orange one on R.
    pub fn start(level: u8) -> Position {
        let mut position = Position::default();
        for l in 1..=level {
            position.columns[0].push_below(Tile::new(l, 0));
            position.columns[2].push_below(Tile::new(l, 1));
        }
        position
    }

    /// The start with the colours exchanged.
    pub fn goal(level: u8) -> Position {
        Position::start(level).image(Symmetry::STAR)
    }

    /// The image under a symmetry.
    #[must_use]
    pub fn image(&self, symmetry: Symmetry) -> Position {
        let mut image = Position::default();
        for column in COLUMNS {
            let stack = self.columns[symmetry.column(column)];
            image.columns[column] =
                if symmetry.swaps_colours() { stack.map(Tile::swapped) } else { stack };
        }
        image
    }

    /// Whether no tile has more tiles above it than its level and column allow.
    pub fn is_legal(&self, centre_top: CentreTop) -> bool {
        COLUMNS.into_iter().all(|column| {
            let mut tiles = (0..).zip(self.columns[column].items());
            tiles.all(|(above, tile)| above <= centre_top.limit(tile.level(), column))
        })
    }

    /// The positions after all legal moves.
    pub fn moves(&self, centre_top: CentreTop) -> Vec<Position> {
        MOVES.into_iter().filter_map(|mv| self.moved(mv, centre_top)).collect()
    }

    /// The position after one move; None if the move is illegal.
    pub fn moved(&self, (from, to): (usize, usize), centre_top: CentreTop) -> Option<Position> {
        // A tile with as many tiles above it as its level stands in a column that is full up to
        // the track; in the centre that cuts L off from R.
        let mut centre = (0..).zip(self.columns[CENTRE].items());
        let blocked = centre.any(|(above, tile): (u8, _)| above == tile.level());
        if blocked && from != CENTRE && to != CENTRE {
            return None;
        }
        let mut next = *self;
        let tile = next.columns[from].pop()?;
        next.columns[to].push(tile);
        next.is_legal(centre_top).then_some(next)
    }

    /// The position in two parts: tiles of a level above `k`, and where the others are among
    /// them (a marker for each larger tile that has a smaller one below it).
    pub fn split(&self, k: u8) -> (Position, Tokens) {
        let mut large = Position::default();
        let mut small = Tokens::default();
        for column in COLUMNS {
            let items = self.columns[column].items();
            let lowest = items.iter().rposition(|tile| tile.level() <= k);
            for (at, tile) in items.iter().enumerate() {
                let is_small = tile.level() <= k;
                if !is_small {
                    large.columns[column].push_below(*tile);
                }
                if lowest.is_some_and(|lowest| at <= lowest) {
                    let token = is_small.then_some(*tile);
                    small.columns[column] = small.columns[column].with_below(token);
                }
            }
        }
        (large, small)
    }

    /// Undoes [`Self::split`].
    pub fn join(large: &Position, small: &Tokens) -> Position {
        let mut whole = Position::default();
        for column in COLUMNS {
            let mut rest = large.columns[column].items().iter();
            for tile in small.columns[column].items() {
                if let Some(tile) = tile.or_else(|| rest.next().copied()) {
                    whole.columns[column].push_below(tile);
                }
            }
            for tile in rest {
                whole.columns[column].push_below(*tile);
            }
        }
        whole
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (column, stack) in self.columns.iter().enumerate() {
            if column > 0 {
                f.write_str(" / ")?;
            }
            if stack.items().is_empty() {
                f.write_str("-")?;
            }
            for (at, tile) in stack.items().iter().enumerate() {
                write!(f, "{}{tile}", if at > 0 { " " } else { "" })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_has_the_documented_text() {
        assert_eq!(Position::start(3).to_string(), "b1 b2 b3 / - / o1 o2 o3");
        assert_eq!(Position::goal(2).to_string(), "o1 o2 / - / b1 b2");
    }

    #[test]
    fn symmetries_form_the_klein_group() {
        let start = Position::start(4);
        assert_eq!(start.image(Symmetry::BOTH), start);
        assert_eq!(start.image(Symmetry::MIRROR), Position::goal(4));
        for a in Symmetry::ALL {
            assert_eq!(a.then(a), Symmetry::IDENTITY);
            for b in Symmetry::ALL {
                assert_eq!(start.image(a).image(b), start.image(a.then(b)));
            }
        }
    }

    #[test]
    fn a_split_position_is_joined_to_the_same_position() {
        let mut position = Position::start(5);
        // b1..b3 to the right, b4 over them, b2 back: small tiles under large ones.
        for (from, to) in [(0, 2), (0, 1), (2, 0), (2, 0), (0, 1)] {
            let tile = position.columns[from].pop().unwrap();
            position.columns[to].push(tile);
        }
        for k in 0..=5 {
            let (large, small) = position.split(k);
            assert_eq!(Position::join(&large, &small), position, "k = {k}");
        }
    }
}
