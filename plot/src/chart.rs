//! Charts as data: axes, series of points, marks.

use crate::unit::Unit;

/// A chart: what to draw, without sizes and colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Title, above the plot.
    pub title: String,
    /// The horizontal axis. It is always linear.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves. The colours repeat after four measured curves.
    pub series: Vec<Series>,
    /// Events on the horizontal axis.
    pub marks: Vec<Mark>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What the axis shows, such as `depth`.
    pub label: String,
    /// Unit of its values. It determines the steps between ticks and the form of their labels.
    pub unit: Unit,
    /// Linear or logarithmic.
    pub scale: Scale,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear, with zero in the range.
    Linear,
    /// Logarithmic. Values that are not positive are not drawn.
    Log,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// The points, by ascending `x`. Points that are not finite are not drawn.
    pub points: Vec<Point>,
    /// How the curve is drawn.
    pub style: SeriesStyle,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesStyle {
    /// A measured curve.
    Solid,
    /// An expected curve: the dashed continuation of the measured one before it, in its colour.
    Expected,
}

/// A point of a curve, in the units of the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
}

/// An event at a value of the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Horizontal value.
    pub x: f64,
    /// What happened there.
    pub kind: MarkKind,
}

/// What happened at a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A checkpoint was made.
    Checkpoint,
    /// The search rolled back to this checkpoint after a fault.
    Rollback,
    /// The search was resumed here after a stop.
    Resume,
}

impl MarkKind {
    /// Every kind, in the order of the legend.
    pub const ALL: [MarkKind; 3] = [MarkKind::Checkpoint, MarkKind::Rollback, MarkKind::Resume];

    /// Name in the legend.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MarkKind::Checkpoint => "checkpoint",
            MarkKind::Rollback => "rollback",
            MarkKind::Resume => "resume",
        }
    }
}

impl Chart {
    /// Whether no point can be drawn: every point is not finite or, on a logarithmic axis, not
    /// positive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points().next().is_none()
    }

    /// The points that can be drawn, of all series.
    pub(crate) fn points(&self) -> impl Iterator<Item = Point> {
        let points = self.series.iter().flat_map(|series| &series.points).copied();
        points.filter(|point| self.y.scale.can_draw(*point))
    }

    /// The series with their colour numbers. An expected curve has the colour of the measured one
    /// before it.
    pub(crate) fn colours(&self) -> impl Iterator<Item = (&Series, usize)> {
        let mut measured = 0_usize;
        self.series.iter().map(move |series| {
            measured += usize::from(series.style == SeriesStyle::Solid);
            (series, measured.saturating_sub(1))
        })
    }

    /// One sentence for screen readers: the title, and the highest point.
    #[must_use]
    pub fn description(&self) -> String {
        let Chart { title, x, y, .. } = self;
        let highest = self.points().max_by(|a, b| a.y.total_cmp(&b.y));
        let Some(highest) = highest else { return format!("{title}. There is no point.") };
        let (place, value) = (x.unit.value(highest.x), y.unit.value(highest.y));
        format!("{title}. Highest: {value} at {} {place}.", x.label)
    }
}

impl Scale {
    /// Whether a point can be drawn: it is finite and, on a logarithmic axis, positive.
    pub(crate) fn can_draw(self, point: Point) -> bool {
        let has_place = self == Scale::Linear || point.y > 0.0;
        point.x.is_finite() && point.y.is_finite() && has_place
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A chart of counts by depth.
    pub(crate) fn sample(scale: Scale, values: &[f64]) -> Chart {
        let points = (0..).zip(values).map(|(x, y)| Point { x: f64::from(x), y: *y });
        Chart {
            title: "sample: states by depth".to_owned(),
            x: Axis { label: "depth".to_owned(), unit: Unit::Number, scale: Scale::Linear },
            y: Axis { label: "states".to_owned(), unit: Unit::Count, scale },
            series: vec![Series {
                name: "sample".to_owned(),
                points: points.collect(),
                style: SeriesStyle::Solid,
            }],
            marks: Vec::new(),
        }
    }

    #[test]
    fn a_chart_without_drawable_points_is_empty() {
        assert!(sample(Scale::Linear, &[]).is_empty());
        assert!(sample(Scale::Log, &[0.0, f64::NAN]).is_empty());
        assert!(!sample(Scale::Linear, &[0.0]).is_empty());
    }

    #[test]
    fn the_description_names_the_highest_point() {
        let text = sample(Scale::Linear, &[1.0, 12_345.0, 7.0]).description();
        assert_eq!(text, "sample: states by depth. Highest: 12,345 at depth 1.");
        let text = sample(Scale::Log, &[0.0]).description();
        assert_eq!(text, "sample: states by depth. There is no point.");
    }

    #[test]
    fn an_expected_curve_has_the_colour_of_its_measured_one() {
        let mut chart = sample(Scale::Linear, &[1.0]);
        let mut expected = chart.series[0].clone();
        expected.style = SeriesStyle::Expected;
        chart.series.push(expected);
        chart.series.push(chart.series[0].clone());
        let colours: Vec<usize> = chart.colours().map(|(_, colour)| colour).collect();
        assert_eq!(colours, [0, 0, 1]);
    }
}
