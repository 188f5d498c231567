//! Projection of values to places on an axis, from 0 to 1.

use crate::chart::{Axis, Chart, Scale};

/// Range of an axis. Values map to places from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Projection {
    pub(crate) low: f64,
    pub(crate) high: f64,
    scale: Scale,
}

impl Projection {
    /// The range from `low` to `high`. An empty range is widened.
    fn new(low: f64, high: f64, scale: Scale) -> Self {
        let (low, high) = match scale {
            Scale::Linear if high > low => (low, high),
            Scale::Linear => (low, low + 1.0),
            Scale::Log if high > low * (1.0 + 1e-9) => (low, high),
            Scale::Log => (low, low * 10.0),
        };
        Self { low, high, scale }
    }

    /// The ranges of both axes that hold all points and marks of a chart.
    pub(crate) fn of(chart: &Chart) -> (Self, Self) {
        let (mut xs, mut ys) = (Span::default(), Span::default());
        for point in chart.points() {
            xs.add(point.x);
            ys.add(point.y);
        }
        let marks = chart.marks.iter().map(|mark| mark.x).filter(|x| x.is_finite());
        marks.for_each(|x| xs.add(x));
        let (left, right) = xs.ends(0.0, 1.0);
        // Depths and times begin with zero, even if the first point is later.
        let x = Projection::new(left.min(0.0), right, Scale::Linear);
        (x, vertical(&chart.y, &ys))
    }

    /// The place of a value: 0 at the low end, 1 at the high end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// Scale of the axis.
    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }
}

/// The vertical range, with some room above the highest point. A linear range includes zero.
fn vertical(axis: &Axis, ys: &Span) -> Projection {
    match axis.scale {
        Scale::Linear => {
            let (low, high) = ys.ends(0.0, 1.0);
            let (low, high) = (low.min(0.0), high.max(0.0));
            Projection::new(low, high + (high - low) * 0.04, Scale::Linear)
        }
        Scale::Log => {
            let (low, high) = ys.ends(1.0, 10.0);
            let high = high.max(low * 2.0);
            Projection::new(low, high * (high / low).powf(0.04), Scale::Log)
        }
    }
}

/// The least and the greatest of some values.
#[derive(Default)]
struct Span(Option<(f64, f64)>);

impl Span {
    fn add(&mut self, value: f64) {
        let (low, high) = self.0.unwrap_or((value, value));
        self.0 = Some((low.min(value), high.max(value)));
    }

    /// The least and the greatest value; `low` and `high` if there is no value.
    fn ends(&self, low: f64, high: f64) -> (f64, f64) {
        self.0.unwrap_or((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::sample;

    #[test]
    fn a_linear_range_has_zero_and_the_highest_point() {
        let (x, y) = Projection::of(&sample(Scale::Linear, &[5.0, 100.0]));
        assert_eq!((x.low, x.high), (0.0, 1.0));
        assert_eq!(y.low, 0.0);
        assert!(y.high > 100.0 && y.high < 110.0);
        assert_eq!(y.place(0.0), 0.0);
    }

    #[test]
    fn a_logarithmic_range_places_equal_ratios_equally() {
        let (_, y) = Projection::of(&sample(Scale::Log, &[0.0, 1.0, 10.0, 100.0]));
        assert_eq!(y.low, 1.0);
        let step = y.place(10.0);
        assert!((y.place(100.0) - 2.0 * step).abs() < 1e-9);
    }

    #[test]
    fn ranges_of_one_value_or_none_are_not_empty() {
        for values in [&[][..], &[0.0], &[7.0]] {
            for scale in [Scale::Linear, Scale::Log] {
                let (x, y) = Projection::of(&sample(scale, values));
                assert!(x.high > x.low && y.high > y.low, "{values:?} {scale:?}");
                let place = y.place(7.0);
                assert!(place.is_finite(), "{values:?} {scale:?}");
            }
        }
    }
}
