//! Legend of a chart: rows of line samples with their names.

use crate::chart::{Chart, MarkKind, SeriesStyle};
use crate::font::Weight;
use crate::measure::{LABEL, cut, measured};
use crate::scene::{Anchor, Item, Line, Text};
use crate::theme::{Colour, Palette};

/// Length of a sample, in pixels.
const SAMPLE: f64 = 22.0;
/// Space between sample and name, in pixels.
const GAP: f64 = 7.0;
/// Space between entries, in pixels.
const BETWEEN: f64 = 20.0;
/// Height of a row, in pixels.
const ROW: f64 = 20.0;

/// An entry with its place.
struct Entry {
    sample: Line,
    name: String,
    row: usize,
    left: f64,
}

/// Legend of a chart. A chart with one curve and no marks has an empty one.
pub(crate) struct Legend {
    entries: Vec<Entry>,
    rows: usize,
    text: Colour,
}

/// Colour, width and dashes of a curve's line; without places.
pub(crate) fn curve_line(style: SeriesStyle, colour: Colour) -> Line {
    let dash = (style == SeriesStyle::Expected).then_some((5.0, 5.0));
    Line { places: Vec::new(), colour, width: 1.8, dash }
}

/// Colour, width and dashes of a mark's line; without places.
pub(crate) fn mark_line(kind: MarkKind, palette: &Palette) -> Line {
    let dash = match kind {
        MarkKind::Checkpoint => None,
        MarkKind::Rollback => Some((2.0, 3.0)),
        MarkKind::Resume => Some((6.0, 3.0)),
    };
    Line { places: Vec::new(), colour: palette.mark(kind), width: 1.2, dash }
}

impl Legend {
    /// The legend of a chart, for an area in pixels. Rows that do not fit are left out.
    pub(crate) fn of(chart: &Chart, palette: &Palette, (width, height): (f64, f64)) -> Self {
        let mut named: Vec<(Line, String, bool)> = Vec::new();
        if chart.series.len() > 1 {
            named.extend(chart.colours().map(|(series, colour)| {
                let line = curve_line(series.style, palette.curve(colour));
                (line, series.name.clone(), false)
            }));
        }
        let occurs = |kind: &MarkKind| chart.marks.iter().any(|mark| mark.kind == *kind);
        named.extend(
            MarkKind::ALL
                .into_iter()
                .filter(occurs)
                .map(|kind| (mark_line(kind, palette), kind.name().to_owned(), true)),
        );
        let (mut row, mut left) = (0, 0.0);
        let mut entries = Vec::new();
        for (line, name, is_mark) in named {
            let name = cut(&name, LABEL, Weight::Regular, width - SAMPLE - GAP);
            let wide = SAMPLE + GAP + measured(&name, LABEL, Weight::Regular);
            if left > 0.0 && left + wide > width {
                (row, left) = (row + 1, 0.0);
            }
            let places = match is_mark {
                true => vec![(SAMPLE / 2.0, -6.0), (SAMPLE / 2.0, 6.0)],
                false => vec![(0.0, 0.0), (SAMPLE, 0.0)],
            };
            entries.push(Entry { sample: Line { places, ..line }, name, row, left });
            left += wide + BETWEEN;
        }
        let rows = if entries.is_empty() { 0 } else { row + 1 };
        let rows = rows.min((height / ROW).floor() as usize);
        entries.retain(|entry| entry.row < rows);
        Self { entries, rows, text: palette.text }
    }

    /// The height of all rows, in pixels.
    pub(crate) fn height(&self) -> f64 {
        self.rows as f64 * ROW
    }

    /// The items of the legend, with its upper left corner at these pixels.
    pub(crate) fn items(self, left: f64, top: f64) -> Vec<Item> {
        let mut items = Vec::new();
        for Entry { sample, name, row, left: at } in self.entries {
            let (x, middle) = (left + at, top + ROW * (row as f64 + 0.5));
            let places = sample.places.iter().map(|(dx, dy)| (x + dx, middle + dy)).collect();
            items.push(Item::Line(Line { places, ..sample }));
            items.push(Item::Text(Text {
                text: name,
                place: (x + SAMPLE + GAP, middle + LABEL * 0.36),
                anchor: Anchor::Start,
                size: LABEL,
                weight: Weight::Regular,
                colour: self.text,
            }));
        }
        items
    }
}
