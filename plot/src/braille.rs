//! A canvas of braille characters: two by four dots in each cell.

use std::fmt::Write as _;

/// ANSI codes of the foreground colours: blue, yellow, green, magenta.
const COLOURS: [u8; 4] = [34, 33, 32, 35];

/// How a line is drawn: its colour and which of its dots are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pen {
    /// Number of the colour.
    pub(crate) colour: usize,
    /// Length of a dash and the gap after it, in dots.
    pub(crate) period: usize,
    /// Length of a dash, in dots.
    pub(crate) dash: usize,
}

/// A canvas. Dots are counted from the upper left.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    columns: usize,
    rows: usize,
    /// Dots of each cell, and the colour of the last line in it.
    cells: Vec<(u8, usize)>,
}

impl Canvas {
    /// An empty canvas of `columns` by `rows` character cells.
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, cells: vec![(0, 0); columns * rows] }
    }

    /// Width in dots.
    pub(crate) fn width(&self) -> usize {
        self.columns * 2
    }

    /// Height in dots.
    pub(crate) fn height(&self) -> usize {
        self.rows * 4
    }

    /// Sets a dot. Dots outside the canvas are ignored.
    pub(crate) fn set(&mut self, x: i64, y: i64, colour: usize) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= self.width() || y >= self.height() {
            return;
        }
        // Bits of a braille code point: three rows of the left column, three of the right, the
        // fourth row.
        let bit = match (x % 2, y % 4) {
            (column, 3) => 6 + column,
            (column, row) => 3 * column + row,
        };
        let cell = &mut self.cells[y / 4 * self.columns + x / 2];
        *cell = (cell.0 | 1 << bit, colour);
    }

    /// Draws line segments through the dots, in their order.
    pub(crate) fn line(&mut self, dots: &[(i64, i64)], pen: Pen) {
        let mut drawn = 0;
        for pair in dots.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let steps = (x1 - x0).abs().max((y1 - y0).abs());
            for step in 0..steps {
                if drawn % pen.period < pen.dash {
                    let between = |from: i64, to: i64| {
                        from + ((to - from) * 2 * step + steps * (to - from).signum()) / (2 * steps)
                    };
                    self.set(between(x0, x1), between(y0, y1), pen.colour);
                }
                drawn += 1;
            }
        }
        if let Some((x, y)) = dots.last() {
            self.set(*x, *y, pen.colour);
        }
    }

    /// A row of cells as text; `coloured` adds escape sequences.
    pub(crate) fn row(&self, row: usize, coloured: bool) -> String {
        let mut out = String::new();
        let mut current = None;
        for (dots, colour) in &self.cells[row * self.columns..(row + 1) * self.columns] {
            let wanted = (coloured && *dots != 0).then_some(*colour);
            if wanted != current {
                let code = wanted.map_or(0, |colour| COLOURS[colour % COLOURS.len()]);
                let _ = write!(out, "\u{1b}[{code}m");
                current = wanted;
            }
            let braille = char::from_u32(0x2800 + u32::from(*dots));
            out.push(if *dots == 0 { ' ' } else { braille.unwrap_or(' ') });
        }
        if current.is_some() {
            out.push_str("\u{1b}[0m");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLID: Pen = Pen { colour: 0, period: 1, dash: 1 };

    #[test]
    fn each_dot_has_its_bit() {
        let mut canvas = Canvas::new(1, 1);
        let expected = ["⠁", "⠃", "⠇", "⡇", "⡏", "⡟", "⡿", "⣿"];
        let dots = (0..8).map(|at| (at / 4, at % 4));
        for ((x, y), text) in dots.zip(expected) {
            canvas.set(x, y, 0);
            assert_eq!(canvas.row(0, false), text);
        }
        canvas.set(-1, 0, 0);
        canvas.set(2, 4, 0);
        assert_eq!(canvas.row(0, false), "⣿");
    }

    #[test]
    fn lines_join_their_ends() {
        let mut canvas = Canvas::new(2, 1);
        canvas.line(&[(0, 3), (3, 0)], SOLID);
        assert_eq!(canvas.row(0, false), "⡠⠊");
        let mut canvas = Canvas::new(2, 1);
        canvas.line(&[(0, 0), (3, 0)], Pen { period: 2, ..SOLID });
        assert_eq!(canvas.row(0, false), "⠁⠉");
    }

    #[test]
    fn colours_change_only_where_they_differ() {
        let mut canvas = Canvas::new(3, 1);
        canvas.set(0, 0, 0);
        canvas.set(2, 0, 1);
        assert_eq!(canvas.row(0, true), "\u{1b}[34m⠁\u{1b}[33m⠁\u{1b}[0m ");
    }
}
