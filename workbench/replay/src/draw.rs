//! Drawings of positions, as text or as SVG. Each tile is drawn in the layer it rests in.
//!
//! `strata-puzzles` also draws positions: those that can be searched, of up to 14 levels. Positions
//! here have up to 99 levels, and this crate shares no code with the search.

use std::fmt::Write as _;

use crate::position::Position;
use crate::tile::{Colour, Column, Tile};

/// The position as text: the layers from the track down, one line each, without a final newline.
///
/// ```
/// use strata_replay::{draw, Position};
///
/// let position: Position = "b2 / - / b1 o1 o2".parse()?;
/// let drawn = draw::text(&position);
/// assert_eq!(drawn, "\
/// 0   .--.-b1
/// 1   |  | o1
/// 2  b2  | o2
///     L  C  R");
/// # Ok::<(), strata_replay::TextError>(())
/// ```
pub fn text(position: &Position) -> String {
    lines(position, Tile::to_string).join("\n")
}

/// The position as text in the form of Panex Gold, without levels.
///
/// ```
/// use strata_replay::{draw, Position};
///
/// let position: Position = "b2 / - / b1 o1 o2".parse()?;
/// let drawn = draw::gold_text(&position);
/// assert_eq!(drawn, "\
/// 0   .--.--b
/// 1   |  |  o
/// 2   b  |  o
///     L  C  R");
/// # Ok::<(), strata_replay::TextError>(())
/// ```
pub fn gold_text(position: &Position) -> String {
    lines(position, |tile| tile.colour.letter().to_string()).join("\n")
}

/// Positions as text, side by side with their tracks in line.
pub fn row(positions: &[Position]) -> String {
    let drawings: Vec<Vec<String>> =
        positions.iter().map(|position| lines(position, Tile::to_string)).collect();
    let height = drawings.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let part = |lines: &Vec<String>| {
            let blank = || " ".repeat(lines[0].len());
            lines.get(at).cloned().unwrap_or_else(blank)
        };
        drawings.iter().map(part).collect::<Vec<_>>().join("    ").trim_end().to_owned()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

/// The lines of a drawing, all of the same length. `name` gives the text of a tile.
fn lines(position: &Position, name: impl Fn(&Tile) -> String) -> Vec<String> {
    let digits = position.level().to_string().len();
    let width = digits + 1;
    let columns = Column::ALL.map(|column| position.layers(column));
    let mut lines = Vec::new();
    for layer in 0..=position.level() {
        let (empty, gap) = if layer == 0 { (".", "-") } else { ("|", " ") };
        let mut line = format!("{layer:>digits$}  ");
        for (place, tiles) in columns.iter().enumerate() {
            let shown = tile_in(tiles, layer).map_or(empty.to_owned(), |tile| name(&tile));
            let left_of_it = if place == 0 { " " } else { gap };
            line.push_str(&left_of_it.repeat(width + usize::from(place > 0) - shown.len()));
            line.push_str(&shown);
        }
        lines.push(line);
    }
    let feet = Column::ALL.map(|column| format!("{:>width$}", column.letter()));
    lines.push(format!("{:>digits$}  {}", "", feet.join(" ")));
    lines
}

fn tile_in(tiles: &[(Tile, u8)], layer: u8) -> Option<Tile> {
    tiles.iter().find(|(_, at)| *at == layer).map(|(tile, _)| *tile)
}

/// Height of a layer in an SVG drawing.
const LAYER: u32 = 20;
/// Space between the widest tiles of two columns.
const SPACING: u32 = 16;
/// Space for the numbers of the layers, on the left.
const MARGIN: u32 = 22;
/// Colour of the letters and numbers outside tiles, readable on white and on black.
const GREY: &str = "#777";

/// Width of a tile. The tiles of a tower form a triangle.
fn width(level: u8) -> u32 {
    28 + 6 * u32::from(level)
}

/// The position as an SVG document.
pub fn svg(position: &Position) -> String {
    let level = position.level();
    let step = width(level) + SPACING;
    let (wide, high) = (MARGIN + 3 * step, LAYER * (u32::from(level) + 3));
    let middle = |column: Column| MARGIN + step / 2 + step * column.index() as u32;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" \
         width=\"{wide}\" height=\"{high}\" font-family=\"sans-serif\" font-size=\"12\" \
         text-anchor=\"middle\">\n<title>{position}</title>\n"
    );
    let (left, right) = (middle(Column::Left), middle(Column::Right));
    let (track, foot) = (LAYER, LAYER * (u32::from(level) + 1));
    let mut path = format!("M{left} {track}H{right}");
    for column in Column::ALL {
        let _ = write!(path, "M{} {track}V{foot}", middle(column));
    }
    let _ = writeln!(
        out,
        "<path d=\"{path}\" stroke=\"#bbb\" stroke-width=\"4\" stroke-linecap=\"round\" fill=\"none\"/>"
    );
    for layer in 0..=u32::from(level) {
        let (x, y) = (MARGIN - 8, track + LAYER * layer + 4);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{GREY}\">{layer}</text>");
    }
    for column in Column::ALL {
        let x = middle(column);
        for (tile, layer) in position.layers(column) {
            out.push_str(&svg_tile(tile, x, track + LAYER * u32::from(layer)));
        }
        let y = foot + LAYER + 4;
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{GREY}\">{column}</text>");
    }
    out.push_str("</svg>\n");
    out
}

/// A tile with its centre at a point.
fn svg_tile(tile: Tile, x: u32, y: u32) -> String {
    let fill = match tile.colour {
        Colour::Blue => "#2b6cb0",
        Colour::Orange => "#dd7b1f",
    };
    let wide = width(tile.level);
    format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"{}\" rx=\"3\" fill=\"{fill}\"/>\
         <text x=\"{x}\" y=\"{}\" fill=\"white\">{tile}</text>\n",
        x - wide / 2,
        y - LAYER / 2 + 1,
        LAYER - 2,
        y + 4,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str) -> Position {
        text.parse().unwrap()
    }

    #[test]
    fn tiles_are_drawn_where_they_rest() {
        // o1 has sunk to its own layer and holds up b3; b1 holds up o2.
        let position = position("b2 / b3 o1 / o2 b1 o3");
        let lines = ["0   .-b3-o2", "1   | o1 b1", "2  b2  |  |", "3   |  | o3", "    L  C  R"];
        assert_eq!(text(&position), lines.join("\n"));
    }

    #[test]
    fn numbers_of_two_digits_keep_the_columns_in_line() {
        let drawn = text(&Position::start(10).unwrap());
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines.len(), 12);
        assert_eq!(lines[0], " 0    .---.---.");
        assert_eq!(lines[1], " 1   b1   |  o1");
        assert_eq!(lines[10], "10  b10   | o10");
        assert_eq!(lines[11], "      L   C   R");
    }

    #[test]
    fn positions_stand_side_by_side() {
        let drawn = row(&[position("b1 / - / o1"), position("- / b1 / o1")]);
        let lines = [
            "0   .--.--.    0   .--.--.",
            "1  b1  | o1    1   | b1 o1",
            "    L  C  R        L  C  R",
        ];
        assert_eq!(drawn, lines.join("\n"));
        let drawn = row(&[position("b1 / - / o1"), position("- / b1 b2 / o1 o2")]);
        let lines = [
            "0   .--.--.    0   .--.--.",
            "1  b1  | o1    1   | b1 o1",
            "    L  C  R    2   | b2 o2",
            "                   L  C  R",
        ];
        assert_eq!(drawn, lines.join("\n"));
        assert_eq!(row(&[]), "");
    }

    #[test]
    fn an_svg_has_every_tile_once_at_its_layer() {
        let position = position("o1 b2 / b3 / b1 o2 o3");
        let drawn = svg(&position);
        assert_eq!(drawn.matches("<rect").count(), 6);
        for tile in ["b1", "b2", "b3", "o1", "o2", "o3"] {
            assert_eq!(drawn.matches(&format!(">{tile}</text>")).count(), 1);
        }
        // b3 stands alone in C: layer 3 of a track at 20.
        assert!(drawn.contains("y=\"71\" width=\"46\""), "{drawn}");
        assert!(drawn.contains("y=\"84\" fill=\"#777\">3</text>"), "{drawn}");
        assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    }
}
