//! Charts as terminal text, drawn with braille characters.

use crate::braille::{Canvas, Pen};
use crate::chart::{Chart, MarkKind, Series, SeriesStyle};
use crate::projection::Projection;
use crate::reduce::reduce;
use crate::ticks::{Tick, ticks};

/// How a chart is drawn in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of the terminal, at least 40: smaller values count as 40.
    pub width: usize,
    /// Rows of the plot, at least 4. Title, axis and labels take more rows.
    pub height: usize,
    /// Whether escape sequences colour the curves.
    pub colour: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { width: 80, height: 16, colour: false }
    }
}

/// Dashes of measured curves by colour: period and length of a dash, in dots.
const DASHES: [(usize, usize); 4] = [(1, 1), (4, 2), (6, 1), (9, 6)];
/// Dashes of expected curves: period and length of a dash, in dots.
const EXPECTED: (usize, usize) = (3, 1);

impl Chart {
    /// The chart as lines of text. Each ends with a line break.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let (width, rows) = (terminal.width.max(40), terminal.height.max(4));
        let (x, y) = Projection::of(self);
        let y_ticks = ticks(&y, self.y.unit, rows.div_ceil(3), |ticks| are_apart(ticks, rows));
        let labels = y_ticks.iter().map(|tick| tick.label.chars().count());
        let left = labels.max().unwrap_or(0) + 2;
        let mut canvas = Canvas::new(width - left, rows);
        draw(self, &mut canvas, &x, &y);
        let mut lines = vec![cut(&self.title, width)];
        lines.extend(legend(self, width, terminal.colour));
        lines.push(self.y.label.clone());
        for row in 0..rows {
            let tick = y_ticks.iter().find(|tick| row_of(tick.place, rows) == row);
            let (label, edge) = tick.map_or(("", '│'), |tick| (tick.label.as_str(), '┤'));
            let wide = left - 2;
            lines.push(format!("{label:>wide$} {edge}{}", canvas.row(row, terminal.colour)));
        }
        lines.extend(horizontal_axis(self, &x, left, width - left));
        let trimmed = lines.iter().map(|line| line.trim_end().to_owned() + "\n");
        trimmed.collect()
    }
}

/// The row of a place on the vertical axis, from the top.
fn row_of(place: f64, rows: usize) -> usize {
    dot_row(place, rows * 4) / 4
}

/// The row of dots of a place on the vertical axis, from the top.
fn dot_row(place: f64, dots: usize) -> usize {
    ((1.0 - place.clamp(0.0, 1.0)) * (dots - 1) as f64).round() as usize
}

/// Whether there is an empty row between any two labels.
fn are_apart(ticks: &[Tick], rows: usize) -> bool {
    let row = |tick: &Tick| row_of(tick.place, rows);
    ticks.windows(2).all(|pair| row(&pair[0]) >= row(&pair[1]) + 2)
}

/// The pen of a curve with this colour number.
fn pen(style: SeriesStyle, colour: usize) -> Pen {
    let (period, dash) = match style {
        SeriesStyle::Solid => DASHES[colour % DASHES.len()],
        SeriesStyle::Expected => EXPECTED,
    };
    Pen { colour, period, dash }
}

/// Draws the curves. If only one of them is measured, the area below it is filled.
fn draw(chart: &Chart, canvas: &mut Canvas, x: &Projection, y: &Projection) {
    let measured = chart.series.iter().filter(|one| one.style == SeriesStyle::Solid).count();
    let last = (canvas.width() - 1) as f64;
    for (series, colour) in chart.colours() {
        let points = reduce(&series.points, x, chart.y.scale, canvas.width());
        let dots: Vec<(i64, i64)> = points
            .iter()
            .map(|point| {
                let column = (x.place(point.x) * last).round() as i64;
                (column, dot_row(y.place(point.y), canvas.height()) as i64)
            })
            .collect();
        canvas.line(&dots, pen(series.style, colour));
        if measured == 1 && series.style == SeriesStyle::Solid {
            fill(canvas, &dots, colour);
        }
    }
}

/// Fills the area below a line, down to the bottom of the canvas.
fn fill(canvas: &mut Canvas, dots: &[(i64, i64)], colour: usize) {
    let bottom = canvas.height() as i64;
    for pair in dots.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        for column in x0..=x1 {
            let wide = (x1 - x0).max(1);
            let from = if x0 == x1 { y0.max(y1) } else { y0 + (y1 - y0) * (column - x0) / wide };
            (from..bottom).for_each(|row| canvas.set(column, row, colour));
        }
    }
}

/// The legend: a line for each curve if there are several, and one for each kind of mark.
fn legend(chart: &Chart, width: usize, coloured: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if chart.series.len() > 1 {
        let line = |(series, colour): (&Series, usize)| {
            let mut sample = Canvas::new(3, 1);
            sample.line(&[(0, 1), (5, 1)], pen(series.style, colour));
            format!("{}  {}", sample.row(0, coloured), cut(&series.name, width - 5))
        };
        lines.extend(chart.colours().map(line));
    }
    let occurs = |kind: &MarkKind| chart.marks.iter().any(|mark| mark.kind == *kind);
    let kinds = MarkKind::ALL.into_iter().filter(occurs);
    lines.extend(kinds.map(|kind| format!("{}    {}", symbol(kind), kind.name())));
    lines
}

/// The symbol of a mark, below the axis.
fn symbol(kind: MarkKind) -> char {
    match kind {
        MarkKind::Checkpoint => '^',
        MarkKind::Rollback => '<',
        MarkKind::Resume => '>',
    }
}

/// The base line, marks below it if there are any, the labels of ticks and the axis' own label.
fn horizontal_axis(chart: &Chart, x: &Projection, left: usize, columns: usize) -> Vec<String> {
    let column =
        |place: f64| ((place * (columns * 2 - 1) as f64).round() as usize / 2).min(columns - 1);
    let span = |tick: &Tick| {
        let wide = tick.label.chars().count();
        // A label may begin below those of the vertical axis, and may end at the right edge.
        let centred = (left + column(tick.place)).saturating_sub(wide / 2);
        let from = centred.min((left + columns).saturating_sub(wide));
        (from, from + wide)
    };
    let fits = |ticks: &[Tick]| {
        let is_apart = |pair: &[Tick]| span(&pair[0]).1 + 2 <= span(&pair[1]).0;
        ticks.windows(2).all(is_apart)
    };
    let ticks = ticks(x, chart.x.unit, (columns / 9).max(2), fits);
    let mut base = vec!['─'; columns];
    let mut labels = vec![' '; left + columns];
    for tick in &ticks {
        base[column(tick.place)] = '┬';
        let (from, _) = span(tick);
        tick.label.chars().zip(from..).for_each(|(symbol, at)| labels[at] = symbol);
    }
    let indent = " ".repeat(left - 1);
    let mut lines = vec![format!("{indent}└{}", base.into_iter().collect::<String>())];
    if !chart.marks.is_empty() {
        let mut marks = vec![' '; columns];
        for mark in chart.marks.iter().filter(|mark| mark.x.is_finite()) {
            let at = column(x.place(mark.x));
            // A rollback or resume replaces a checkpoint in the same column: these are rarer.
            if marks[at] == ' ' || mark.kind != MarkKind::Checkpoint {
                marks[at] = symbol(mark.kind);
            }
        }
        lines.push(format!("{indent} {}", marks.into_iter().collect::<String>()));
    }
    lines.push(labels.into_iter().collect());
    let label = &chart.x.label;
    let centre = left + (columns.saturating_sub(label.chars().count())) / 2;
    lines.push(format!("{}{label}", " ".repeat(centre)));
    lines
}

/// The text, cut to a number of characters. Control characters are replaced, so that a name cannot
/// send escape sequences to the terminal.
fn cut(text: &str, width: usize) -> String {
    let plain = text.chars().map(|symbol| if symbol.is_control() { '\u{fffd}' } else { symbol });
    if text.chars().count() <= width {
        return plain.collect();
    }
    plain.take(width - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chart::Scale;
    use crate::chart::tests::sample;

    #[test]
    fn names_cannot_change_the_terminal() {
        assert_eq!(cut("a\u{1b}[2J\nb", 20), "a\u{fffd}[2J\u{fffd}b");
        assert_eq!(cut("a long name", 6), "a lon…");
    }

    proptest! {
        #[test]
        fn lines_fit_the_width(
            values in proptest::collection::vec(0.0_f64..1e18, 0..200),
            width in 0_usize..200,
            height in 0_usize..40,
            log: bool,
        ) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let chart = sample(scale, &values);
            let text = chart.text(&Terminal { width, height, colour: false });
            for line in text.lines() {
                prop_assert!(line.chars().count() <= width.max(40), "{text}");
            }
            prop_assert_eq!(text.lines().count(), height.max(4) + 5);
        }
    }
}
