//! Reduction of long series to the columns of an image.

use crate::chart::{Point, Scale};
use crate::projection::Projection;

/// The points that can change the image of a curve: of each of the `columns`, the first, the lowest,
/// the highest and the last.
///
/// A curve through them covers the same pixels as one through all points. Points that cannot be
/// drawn are left out.
pub(crate) fn reduce(points: &[Point], x: &Projection, scale: Scale, columns: usize) -> Vec<Point> {
    let mut kept = Vec::new();
    let mut column: Option<Column> = None;
    for point in points.iter().copied().filter(|point| scale.can_draw(*point)) {
        let at = (x.place(point.x) * columns as f64).floor();
        match &mut column {
            Some(open) if open.at == at => open.add(point),
            _ => {
                if let Some(full) = column.replace(Column::new(at, point)) {
                    full.write(&mut kept);
                }
            }
        }
    }
    if let Some(last) = column {
        last.write(&mut kept);
    }
    kept
}

/// Points of one column that are kept. `lowest` and `highest` have their index in the column.
struct Column {
    at: f64,
    points: usize,
    first: Point,
    lowest: (usize, Point),
    highest: (usize, Point),
    last: Point,
}

impl Column {
    fn new(at: f64, point: Point) -> Self {
        let numbered = (0, point);
        Self { at, points: 1, first: point, lowest: numbered, highest: numbered, last: point }
    }

    fn add(&mut self, point: Point) {
        let number = self.points;
        self.points += 1;
        if point.y < self.lowest.1.y {
            self.lowest = (number, point);
        }
        if point.y > self.highest.1.y {
            self.highest = (number, point);
        }
        self.last = point;
    }

    /// Appends the kept points in their order, each once.
    fn write(self, kept: &mut Vec<Point>) {
        let mut all = [(0, self.first), self.lowest, self.highest, (self.points - 1, self.last)];
        all.sort_by_key(|(number, _)| *number);
        let mut before = None;
        for (number, point) in all {
            if before.replace(number) != Some(number) {
                kept.push(point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chart::tests::sample;

    #[test]
    fn a_million_points_keep_their_extremes() {
        let mut values: Vec<f64> = (0..1_000_000).map(|at| f64::from(at % 1_000)).collect();
        values[777_777] = 5e9;
        values[123_456] = -3.0;
        let chart = sample(Scale::Linear, &values);
        let (x, _) = Projection::of(&chart);
        let kept = reduce(&chart.series[0].points, &x, Scale::Linear, 800);
        assert!(kept.len() <= 4 * 801, "{}", kept.len());
        assert!(kept.contains(&Point { x: 777_777.0, y: 5e9 }));
        assert!(kept.contains(&Point { x: 123_456.0, y: -3.0 }));
        assert_eq!(kept.first(), chart.series[0].points.first());
        assert_eq!(kept.last(), chart.series[0].points.last());
    }

    proptest! {
        #[test]
        fn short_series_keep_all_points(values in proptest::collection::vec(0.0_f64..9.0, 1..50)) {
            let chart = sample(Scale::Linear, &values);
            let (x, _) = Projection::of(&chart);
            let kept = reduce(&chart.series[0].points, &x, Scale::Linear, 100);
            prop_assert_eq!(&kept, &chart.series[0].points);
        }

        #[test]
        fn columns_keep_their_extremes(values in proptest::collection::vec(0.0_f64..9.0, 1..500)) {
            let chart = sample(Scale::Linear, &values);
            let (x, _) = Projection::of(&chart);
            let kept = reduce(&chart.series[0].points, &x, Scale::Linear, 7);
            prop_assert!(kept.windows(2).all(|pair| pair[0].x < pair[1].x));
            let column = |point: &Point| (x.place(point.x) * 7.0).floor() as i64;
            for at in 0..=7 {
                let extremes = |points: &[Point]| {
                    let of_column = points.iter().filter(|point| column(point) == at);
                    let ys: Vec<f64> = of_column.map(|point| point.y).collect();
                    (ys.iter().copied().fold(9.0, f64::min), ys.iter().copied().fold(0.0, f64::max))
                };
                prop_assert_eq!(extremes(&kept), extremes(&chart.series[0].points));
            }
        }
    }
}
