//! Layout of a chart: places of axes, labels, curves and legend in an image.

use crate::chart::{Chart, MarkKind, SeriesStyle};
use crate::font::Weight;
use crate::image::Image;
use crate::legend::{self, Legend};
use crate::measure::{LABEL, cut, measured};
use crate::projection::Projection;
use crate::reduce::reduce;
use crate::scene::{Anchor, Item, Line, Place, Scene, Text};
use crate::theme::{Colour, Palette};
use crate::ticks::{Tick, ticks};

/// Font size of the title, in pixels.
const TITLE: f64 = 16.0;
/// Margin around the drawing, in pixels.
const MARGIN: f64 = 14.0;
/// Space between the tick labels of the vertical axis and the plot, in pixels.
const GAP: f64 = 8.0;
/// Least space between labels of the horizontal axis, in pixels.
const BETWEEN: f64 = 18.0;
/// Distance of ticks on the vertical axis from which their number is chosen, in pixels.
const STEP: f64 = 36.0;
/// Least part of the image's height that the legend leaves to the curves.
const CURVES: f64 = 0.35;

/// The part of the image that has the curves.
#[derive(Clone, Copy, Debug)]
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Plot {
    fn x(&self, place: f64) -> f64 {
        self.left + (self.right - self.left) * place
    }

    fn y(&self, place: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * place
    }
}

/// Draws a chart.
pub(crate) fn scene(chart: &Chart, image: &Image) -> Scene {
    let palette = Palette::of(image.theme);
    let (width, height) = (image.size.width(), image.size.height());
    let (wide, high) = (f64::from(width), f64::from(height));
    let mut items = Vec::new();
    let title = cut(&chart.title, TITLE, Weight::SemiBold, wide - 2.0 * MARGIN);
    items.push(text(title, (MARGIN, MARGIN + TITLE), Anchor::Start, palette.text, TITLE));
    let below_title = MARGIN + TITLE + 8.0;
    let bottom = high - MARGIN - 2.0 * LABEL - 14.0;
    // The label of the vertical axis is above its ticks.
    let head = LABEL + 12.0;
    let room = (bottom - below_title - head - high * CURVES).max(0.0);
    let legend = Legend::of(chart, palette, (wide - 2.0 * MARGIN, room));
    let below_legend = below_title + legend.height();
    items.extend(legend.items(MARGIN, below_title));
    let top = below_legend + head;
    let (x, y) = Projection::of(chart);
    let most = ((bottom - top) / STEP).floor().max(1.0) as usize;
    let y_ticks = ticks(&y, chart.y.unit, most, |ticks| is_spaced(ticks, bottom - top));
    let widest = y_ticks.iter().map(|tick| measured(&tick.label, LABEL, Weight::Regular));
    let left = MARGIN + widest.fold(0.0, f64::max) + GAP;
    let plot = Plot { left, right: wide - MARGIN - 10.0, top, bottom };
    let label_at = (MARGIN, below_legend + LABEL);
    items.push(text(chart.y.label.clone(), label_at, Anchor::Start, palette.muted, LABEL));
    items.extend(vertical_axis(&plot, &y_ticks, palette));
    items.extend(horizontal_axis(chart, &plot, &x, wide, palette));
    items.extend(marks(chart, &plot, &x, palette));
    items.extend(curves(chart, &plot, (&x, &y), palette));
    if chart.is_empty() {
        let middle = (plot.x(0.5), plot.y(0.5));
        items.push(text("no data".to_owned(), middle, Anchor::Middle, palette.muted, LABEL));
    }
    Scene {
        width,
        height,
        title: chart.title.clone(),
        description: chart.description(),
        background: (!image.transparent).then_some(palette.background),
        items,
    }
}

fn text(text: String, place: Place, anchor: Anchor, colour: Colour, size: f64) -> Item {
    let weight = if size == TITLE { Weight::SemiBold } else { Weight::Regular };
    Item::Text(Text { text, place, anchor, size, weight, colour })
}

fn line(places: Vec<Place>, colour: Colour, width: f64) -> Item {
    Item::Line(Line { places, colour, width, dash: None })
}

/// Whether labels of the vertical axis have space between them.
fn is_spaced(ticks: &[Tick], height: f64) -> bool {
    ticks.windows(2).all(|pair| (pair[1].place - pair[0].place) * height >= LABEL + 6.0)
}

/// Grid lines with their labels.
fn vertical_axis(plot: &Plot, ticks: &[Tick], palette: &Palette) -> Vec<Item> {
    let mut items = Vec::new();
    for tick in ticks {
        let y = plot.y(tick.place);
        items.push(line(vec![(plot.left, y), (plot.right, y)], palette.grid, 1.0));
        let place = (plot.left - GAP, y + LABEL * 0.36);
        items.push(text(tick.label.clone(), place, Anchor::End, palette.muted, LABEL));
    }
    items
}

/// The base line with ticks, labels and the axis' own label.
fn horizontal_axis(
    chart: &Chart,
    plot: &Plot,
    x: &Projection,
    wide: f64,
    palette: &Palette,
) -> Vec<Item> {
    // Centre and half the width of a label: below its tick, or moved so that it stays within the
    // image.
    let middle = |tick: &Tick| {
        let half = measured(&tick.label, LABEL, Weight::Regular) / 2.0;
        (plot.x(tick.place).min(wide - 2.0 - half).max(2.0 + half), half)
    };
    let is_apart = |pair: &[Tick]| {
        let ((one, half), (other, next)) = (middle(&pair[0]), middle(&pair[1]));
        one + half + BETWEEN <= other - next
    };
    let fits = |ticks: &[Tick]| ticks.windows(2).all(is_apart);
    let most = ((plot.right - plot.left) / 80.0).floor().max(2.0) as usize;
    let ticks = ticks(x, chart.x.unit, most.min(12), fits);
    let mut items =
        vec![line(vec![(plot.left, plot.bottom), (plot.right, plot.bottom)], palette.axis, 1.0)];
    for tick in ticks {
        let at = plot.x(tick.place);
        items.push(line(vec![(at, plot.bottom), (at, plot.bottom + 4.0)], palette.axis, 1.0));
        let place = (middle(&tick).0, plot.bottom + LABEL + 7.0);
        items.push(text(tick.label, place, Anchor::Middle, palette.muted, LABEL));
    }
    let place = (plot.x(0.5), plot.bottom + 2.0 * LABEL + 14.0);
    items.push(text(chart.x.label.clone(), place, Anchor::Middle, palette.muted, LABEL));
    items
}

/// Marks: checkpoints as short ticks on the base line, rollbacks and resumes over the whole height.
fn marks(chart: &Chart, plot: &Plot, x: &Projection, palette: &Palette) -> Vec<Item> {
    let mut places: Vec<(MarkKind, i64)> = chart
        .marks
        .iter()
        .filter(|mark| mark.x.is_finite())
        .map(|mark| (mark.kind, plot.x(x.place(mark.x)).round() as i64))
        .collect();
    // Marks of one kind on the same pixel are drawn once.
    places.sort_unstable();
    places.dedup();
    let item = |(kind, at): (MarkKind, i64)| {
        let top = if kind == MarkKind::Checkpoint { plot.bottom - 7.0 } else { plot.top };
        let places = vec![(at as f64, top), (at as f64, plot.bottom)];
        Item::Line(Line { places, ..legend::mark_line(kind, palette) })
    };
    places.into_iter().map(item).collect()
}

/// The curves. If only one of them is measured, the area below it is filled lightly.
fn curves(
    chart: &Chart,
    plot: &Plot,
    (x, y): (&Projection, &Projection),
    palette: &Palette,
) -> Vec<Item> {
    let columns = (plot.right - plot.left).max(1.0) as usize;
    let measured = chart.series.iter().filter(|one| one.style == SeriesStyle::Solid).count();
    let mut items = Vec::new();
    for (series, colour) in chart.colours() {
        let colour = palette.curve(colour);
        let points = reduce(&series.points, x, chart.y.scale, columns);
        let mut places: Vec<Place> =
            points.iter().map(|p| (plot.x(x.place(p.x)), plot.y(y.place(p.y)))).collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
        let (first, last) = (first.0, last.0);
        if measured == 1 && series.style == SeriesStyle::Solid && places.len() > 1 {
            let feet = [(last, plot.bottom), (first, plot.bottom)];
            let corners = places.iter().copied().chain(feet).collect();
            items.push(Item::Area { places: corners, colour, opacity: 0.14 });
        }
        // A single point is drawn as a short line.
        if places.len() == 1 {
            places = vec![(first - 1.5, places[0].1), (first + 1.5, places[0].1)];
        }
        items.push(Item::Line(Line { places, ..legend::curve_line(series.style, colour) }));
    }
    items
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chart::tests::sample;
    use crate::chart::{Axis, Mark, Scale};
    use crate::image::{Size, Theme};
    use crate::unit::Unit;

    /// Left, right, top and bottom of a text.
    fn bounds(text: &Text) -> (f64, f64, f64, f64) {
        let left = text.left();
        (left, left + text.width(), text.place.1 - text.size * 0.75, text.place.1 + text.size * 0.2)
    }

    fn texts(scene: &Scene) -> Vec<&Text> {
        let items = scene.items.iter();
        let texts = items.filter_map(|item| match item {
            Item::Text(text) => Some(text),
            _ => None,
        });
        texts.collect()
    }

    #[track_caller]
    fn assert_texts_are_apart(scene: &Scene) {
        let texts = texts(scene);
        for (at, one) in texts.iter().enumerate() {
            let (left, right, top, bottom) = bounds(one);
            let (width, height) = (f64::from(scene.width), f64::from(scene.height));
            assert!(left >= 0.0 && right <= width, "outside: {one:?}");
            assert!(top >= 0.0 && bottom <= height, "outside: {one:?}");
            for other in &texts[at + 1..] {
                let (l, r, t, b) = bounds(other);
                let apart = right <= l || r <= left || bottom <= t || b <= top;
                assert!(apart, "{one:?} overlaps {other:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn labels_never_overlap(
            values in proptest::collection::vec(0.0_f64..1e3, 1..60),
            factor in 1e-6_f64..1e16,
            units in (0_usize..6, 0_usize..6),
            log: bool,
            size in (320_u32..1_300, 200_u32..700),
            names in 1_usize..5,
        ) {
            let all = [
                Unit::Number, Unit::Count, Unit::PerSecond, Unit::Seconds, Unit::Bytes, Unit::Ratio,
            ];
            let values: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let scale = if log { Scale::Log } else { Scale::Linear };
            let mut chart = sample(scale, &values);
            chart.x = Axis { unit: all[units.0], ..chart.x };
            chart.y = Axis { unit: all[units.1], ..chart.y };
            let series = chart.series[0].clone();
            chart.series = vec![series; names];
            let kinds = MarkKind::ALL.iter().cycle();
            chart.marks = kinds.take(names).map(|kind| Mark { x: 0.5, kind: *kind }).collect();
            let image = Image {
                size: Size::new(size.0, size.1).unwrap(),
                theme: Theme::Dark,
                transparent: false,
            };
            assert_texts_are_apart(&scene(&chart, &image));
        }
    }
}
