//! Drawings of boards: numbered squares in a frame.

use strata_space::DrawingTheme;

use super::board::Board;
use crate::drawing::{Drawing, Palette};

/// Distance of two squares.
const SQUARE: u32 = 56;
/// Space around the squares.
const MARGIN: u32 = 8;

/// The drawing of a board.
pub(super) fn draw(board: &Board, theme: DrawingTheme) -> String {
    let palette = Palette::of(theme);
    let rows = board.rows();
    let (high, wide) = (rows.len() as u32, rows.first().map_or(0, |row| row.len()) as u32);
    let size = (wide * SQUARE + 2 * MARGIN, high * SQUARE + 2 * MARGIN);
    let mut drawing = Drawing::new(size.0, size.1, &board.to_string());
    let (right, bottom) = (size.0 - 3, size.1 - 3);
    drawing.line(&format!("M3 3H{right}V{bottom}H3Z"), 3, palette.frame);
    for (y, row) in (0..).zip(rows) {
        for (x, tile) in (0..).zip(row).filter(|(_, tile)| **tile != 0) {
            let middle = |at: u32| MARGIN + at * SQUARE + SQUARE / 2;
            let (fill, text) = palette.first;
            let at = (middle(x), middle(y));
            drawing.piece(at, (SQUARE - 4, SQUARE - 4), fill);
            drawing.text(at, 24, text, &tile.to_string());
        }
    }
    drawing.finish()
}
