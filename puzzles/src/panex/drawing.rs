//! Drawings of Panex positions: three columns below a track, each tile in the layer it rests in.

use strata_space::DrawingTheme;

use super::position::Position;
use super::tile::{COLUMNS, Tile};
use crate::drawing::{Drawing, Palette};

/// Height of a layer.
const LAYER: u32 = 24;
/// Distance between the widest tiles of two columns.
const SPACING: u32 = 16;
/// Space for the numbers of layers, on the left.
const MARGIN: u32 = 26;
/// Height of letters.
const LETTERS: u32 = 13;

/// Width of a tile of a level; the tiles of a tower form a triangle.
fn width(level: u8) -> u32 {
    32 + 6 * u32::from(level)
}

/// The drawing of a position of a level.
pub(super) fn draw(level: u8, position: &Position, theme: DrawingTheme) -> String {
    let palette = Palette::of(theme);
    let step = width(level) + SPACING;
    let layers = u32::from(level);
    let middle = |column: usize| MARGIN + step / 2 + step * column as u32;
    let place = |layer: u32| LAYER + LAYER * layer;
    let size = (MARGIN + 3 * step, place(layers) + 2 * LAYER);
    let mut drawing = Drawing::new(size.0, size.1, &position.to_string());
    let mut tracks = format!("M{} {LAYER}H{}", middle(0), middle(2));
    for column in COLUMNS {
        tracks += &format!("M{} {LAYER}V{}", middle(column), place(layers));
    }
    drawing.line(&tracks, 4, palette.frame);
    for layer in 0..=layers {
        drawing.text((MARGIN / 2, place(layer)), LETTERS, palette.muted, &layer.to_string());
    }
    for (column, name) in COLUMNS.into_iter().zip(["L", "C", "R"]) {
        for (tile, layer) in resting(position.columns[column].items()) {
            let (fill, text) = if tile.colour() == 0 { palette.first } else { palette.second };
            let at = (middle(column), place(layer));
            drawing.piece(at, (width(tile.level()), LAYER - 2), fill);
            drawing.text(at, LETTERS, text, &tile.to_string());
        }
        drawing.text((middle(column), place(layers) + LAYER), LETTERS, palette.muted, name);
    }
    drawing.finish()
}

/// The tiles of a column with the layers they rest in: each sinks as deep as its level and the tiles
/// below it permit. `column` is legal, top first.
fn resting(column: &[Tile]) -> Vec<(Tile, u32)> {
    let mut above = u32::MAX;
    let upwards = column.iter().rev().map(|tile| {
        above = u32::from(tile.level()).min(above.saturating_sub(1));
        (*tile, above)
    });
    upwards.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_drawn_where_they_rest() {
        // o1 has sunk to its own layer and holds up b3; b1 holds up o2, on the track.
        let position = Position::parse(3, "b2 / b3 o1 / o2 b1 o3").unwrap();
        let layers = |column: usize| -> Vec<(String, u32)> {
            let resting = resting(position.columns[column].items());
            resting.into_iter().map(|(tile, layer)| (tile.to_string(), layer)).collect()
        };
        assert_eq!(layers(0), [("b2".to_owned(), 2)]);
        assert_eq!(layers(1), [("o1".to_owned(), 1), ("b3".to_owned(), 0)]);
        let right = [("o3".to_owned(), 3), ("b1".to_owned(), 1), ("o2".to_owned(), 0)];
        assert_eq!(layers(2), right);
    }
}
