//! Charts of jobs: positions, time, bytes and rates.

use crate::chart::{Axis, Chart, Mark, MarkKind, Point, Scale, Series, SeriesStyle};
use crate::unit::Unit;

/// Greatest number of time spans for which the rates of a search are averaged.
const SPANS: u32 = 160;

/// What a chart of a job shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Positions of each layer, by depth; states if positions are not counted.
    Positions,
    /// Time of each layer, by depth.
    Time,
    /// Bytes of each layer's files, by depth.
    Bytes,
    /// States per second, by time.
    Rate,
    /// Bytes per state of each layer that has a file, by depth.
    BytesPerState,
    /// Bytes of files read and written to make each layer, by depth.
    Traffic,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Quantity; 6] = [
        Quantity::Positions,
        Quantity::Time,
        Quantity::Bytes,
        Quantity::Rate,
        Quantity::BytesPerState,
        Quantity::Traffic,
    ];

    /// Name in commands and URLs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Positions => "positions",
            Quantity::Time => "time",
            Quantity::Bytes => "bytes",
            Quantity::Rate => "rate",
            Quantity::BytesPerState => "bytes-per-state",
            Quantity::Traffic => "traffic",
        }
    }

    /// Description in one phrase.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Quantity::Positions => {
                "Positions of each layer, by depth (states, if a job does not count positions)"
            }
            Quantity::Time => "Time of each layer, by depth",
            Quantity::Bytes => "Bytes of each layer's files, by depth",
            Quantity::Rate => "States per second, over the time of the search",
            Quantity::BytesPerState => "Bytes per state of each layer that has files, by depth",
            Quantity::Traffic => "Bytes of files read and written to make each layer, by depth",
        }
    }

    /// The quantity with this name, if there is one.
    #[must_use]
    pub fn find(name: &str) -> Option<Quantity> {
        Quantity::ALL.into_iter().find(|quantity| quantity.name() == name)
    }
}

/// The figures of one layer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LayerFigures {
    /// Distance from the start.
    pub depth: u32,
    /// States.
    pub states: u64,
    /// Positions that the states stand for, if they are counted.
    pub positions: Option<u64>,
    /// Bytes of the layer's files; 0 if it was only in memory.
    pub bytes: u64,
    /// Bytes of files read and written to make the layer.
    pub traffic: u64,
    /// Time to make the layer, in seconds.
    pub seconds: f64,
}

/// A job as charts show it: its layers, expected layers and events.
#[derive(Clone, Debug, PartialEq)]
pub struct JobCurve {
    /// Name of the job, in title and legend.
    pub name: String,
    /// The layers, by depth.
    pub layers: Vec<LayerFigures>,
    /// Depth and expected states of the layers to come. Only the chart of [`Quantity::Positions`]
    /// shows them.
    pub expected: Vec<(u32, f64)>,
    /// Events of the job.
    pub marks: Vec<JobMark>,
}

/// An event of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobMark {
    /// What happened.
    pub kind: MarkKind,
    /// Depth of the checkpoint that was made, or from which the search continues.
    pub depth: u32,
}

impl JobCurve {
    /// A job without expected layers and marks.
    #[must_use]
    pub fn new(name: impl Into<String>, layers: Vec<LayerFigures>) -> Self {
        Self { name: name.into(), layers, expected: Vec::new(), marks: Vec::new() }
    }

    /// Whether the positions of all layers are counted.
    fn has_positions(&self) -> bool {
        self.layers.iter().all(|layer| layer.positions.is_some())
    }

    /// Average number of positions per state over all layers; 1 without states.
    fn positions_per_state(&self) -> f64 {
        let sum = |count: fn(&LayerFigures) -> u64| -> f64 {
            self.layers.iter().map(|layer| count(layer) as f64).sum()
        };
        let (states, positions) =
            (sum(|layer| layer.states), sum(|layer| layer.positions.unwrap_or(0)));
        if states > 0.0 { positions / states } else { 1.0 }
    }

    /// Depth of each layer, and the time at its end in seconds since the first layer began.
    fn ends(&self) -> impl Iterator<Item = (u32, f64)> {
        self.layers.iter().scan(0.0, |end, layer| {
            *end += layer.seconds.max(0.0);
            Some((layer.depth, *end))
        })
    }
}

/// The chart of a quantity, for one job or several to compare. `scale` is that of the vertical
/// axis.
#[must_use]
pub fn chart(quantity: Quantity, jobs: &[JobCurve], scale: Scale) -> Chart {
    let has_positions = jobs.iter().all(JobCurve::has_positions);
    let counted = if has_positions { "positions" } else { "states" };
    let (what, label, unit) = match quantity {
        Quantity::Positions => (counted, counted, Unit::Count),
        Quantity::Time => ("time", "time per layer", Unit::Seconds),
        Quantity::Bytes => ("bytes", "bytes per layer", Unit::Bytes),
        Quantity::Rate => ("throughput", "states per second", Unit::PerSecond),
        Quantity::BytesPerState => ("bytes per state", "bytes per state", Unit::Ratio),
        Quantity::Traffic => ("bytes read and written", "bytes read and written", Unit::Bytes),
    };
    let is_timed = quantity == Quantity::Rate;
    let x = match is_timed {
        true => Axis { label: "time".to_owned(), unit: Unit::Seconds, scale: Scale::Linear },
        false => Axis { label: "depth".to_owned(), unit: Unit::Number, scale: Scale::Linear },
    };
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let names = names.join(", ");
    let by = if is_timed { "over time" } else { "by depth" };
    let title = match jobs {
        [_] => format!("{names}: {what} {by}"),
        _ => format!("{what} {by}: {names}"),
    };
    let mut series = Vec::new();
    for job in jobs {
        let points = match quantity {
            Quantity::Rate => rates(job),
            _ => job
                .layers
                .iter()
                .filter_map(|layer| point(quantity, layer, has_positions))
                .collect(),
        };
        series.push(Series { name: job.name.clone(), points, style: SeriesStyle::Solid });
        if quantity == Quantity::Positions && !job.expected.is_empty() {
            series.push(expected(job, has_positions));
        }
    }
    Chart {
        title,
        x,
        y: Axis { label: label.to_owned(), unit, scale },
        series,
        marks: jobs.iter().flat_map(|job| marks(job, is_timed)).collect(),
    }
}

/// The point of a layer; none if the quantity is not defined for the layer.
fn point(quantity: Quantity, layer: &LayerFigures, has_positions: bool) -> Option<Point> {
    let counted = layer.positions.filter(|_| has_positions).unwrap_or(layer.states);
    let y = match quantity {
        Quantity::Positions => counted as f64,
        Quantity::Time => layer.seconds,
        // A layer in memory has no file: a point at zero would be wrong.
        Quantity::Bytes | Quantity::BytesPerState if layer.bytes == 0 => return None,
        Quantity::Bytes => layer.bytes as f64,
        Quantity::BytesPerState if layer.states == 0 => return None,
        Quantity::BytesPerState => layer.bytes as f64 / layer.states as f64,
        Quantity::Traffic => layer.traffic as f64,
        Quantity::Rate => return None,
    };
    Some(Point { x: f64::from(layer.depth), y })
}

/// The expected curve. It begins at the last layer. If positions are counted, the expected states
/// are multiplied by the average number of positions per state so far.
fn expected(job: &JobCurve, has_positions: bool) -> Series {
    let last = job.layers.last();
    let last = last.and_then(|layer| point(Quantity::Positions, layer, has_positions));
    let next = last.map_or(f64::NEG_INFINITY, |last| last.x);
    let factor = if has_positions { job.positions_per_state() } else { 1.0 };
    let point = |(depth, states): &(u32, f64)| Point { x: f64::from(*depth), y: factor * states };
    let expected = job.expected.iter().map(point);
    let later = expected.filter(|point| point.x > next);
    Series {
        name: format!("{} (expected)", job.name),
        points: last.into_iter().chain(later).collect(),
        style: SeriesStyle::Expected,
    }
}

/// States per second, averaged over equal spans of the search's time. The states of a layer count
/// as spread evenly over its time.
fn rates(job: &JobCurve) -> Vec<Point> {
    let total: f64 = job.layers.iter().map(|layer| layer.seconds.max(0.0)).sum();
    if !(total.is_finite() && total > 0.0) {
        return Vec::new();
    }
    // More spans than layers would repeat each layer's rate.
    let spans = (job.layers.len() as u32).clamp(1, SPANS);
    let length = total / f64::from(spans);
    let mut sums = vec![0.0; spans as usize];
    let mut start = 0.0;
    for layer in &job.layers {
        let seconds = layer.seconds.max(0.0);
        spread(&mut sums, length, (start, start + seconds), layer.states as f64);
        start += seconds;
    }
    let middles = (0..spans).map(|at| (f64::from(at) + 0.5) * length);
    middles.zip(sums).map(|(x, sum)| Point { x, y: sum / length }).collect()
}

/// Distributes `amount` over the spans that the interval from `start` to `end` overlaps, in
/// proportion to the overlap. `length` is the length of a span.
fn spread(sums: &mut [f64], length: f64, (start, end): (f64, f64), amount: f64) {
    let last = sums.len() - 1;
    let span = |time: f64| ((time / length) as usize).min(last);
    let (first, until) = (span(start), span(end));
    if first == until {
        sums[first] += amount;
        return;
    }
    for (at, sum) in sums.iter_mut().enumerate().take(until + 1).skip(first) {
        let from = start.max(at as f64 * length);
        let to = if at == last { end } else { end.min((at + 1) as f64 * length) };
        *sum += amount * (to - from).max(0.0) / (end - start);
    }
}

/// The marks of a job at their depths or times.
fn marks(job: &JobCurve, is_timed: bool) -> Vec<Mark> {
    if !is_timed {
        let mark = |mark: &JobMark| Mark { x: f64::from(mark.depth), kind: mark.kind };
        return job.marks.iter().map(mark).collect();
    }
    let ends: Vec<(u32, f64)> = job.ends().collect();
    let end = |depth: u32| {
        let at = ends.partition_point(|(layer, _)| *layer < depth);
        ends.get(at).or(ends.last()).map(|(_, seconds)| *seconds)
    };
    job.marks
        .iter()
        .filter_map(|mark| Some(Mark { x: end(mark.depth)?, kind: mark.kind }))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn layer(depth: u32, states: u64, seconds: f64) -> LayerFigures {
        LayerFigures { depth, states, positions: Some(2 * states), bytes: 0, traffic: 0, seconds }
    }

    fn job() -> JobCurve {
        JobCurve::new("job", vec![layer(0, 1, 0.5), layer(1, 10, 1.0), layer(2, 40, 2.5)])
    }

    #[test]
    fn layers_in_memory_have_no_bytes_and_a_traffic_of_zero() {
        let job = JobCurve::new("a", vec![layer(0, 1, 0.1), layer(1, 3, 0.1)]);
        let points = |quantity| {
            let chart = chart(quantity, std::slice::from_ref(&job), Scale::Linear);
            chart.series[0].points.iter().map(|point| point.y).collect::<Vec<f64>>()
        };
        assert_eq!(points(Quantity::Bytes), [0.0; 0]);
        assert_eq!(points(Quantity::Traffic), [0.0, 0.0]);
    }

    #[test]
    fn positions_are_shown_where_all_layers_have_them() {
        let positions = chart(Quantity::Positions, &[job()], Scale::Linear);
        assert_eq!(positions.title, "job: positions by depth");
        assert_eq!(positions.series[0].points[2], Point { x: 2.0, y: 80.0 });
        let mut other = job();
        other.layers[1].positions = None;
        let states = chart(Quantity::Positions, &[job(), other], Scale::Linear);
        assert_eq!(states.title, "states by depth: job, job");
        assert_eq!(states.series[0].points[2], Point { x: 2.0, y: 40.0 });
    }

    #[test]
    fn layers_in_memory_have_no_bytes() {
        let mut job = job();
        assert!(chart(Quantity::Bytes, std::slice::from_ref(&job), Scale::Linear).is_empty());
        job.layers[2].bytes = 100;
        let bytes = chart(Quantity::BytesPerState, &[job], Scale::Linear);
        assert_eq!(bytes.series[0].points, [Point { x: 2.0, y: 2.5 }]);
    }

    #[test]
    fn rates_divide_states_by_the_time_of_their_layers() {
        let rate = chart(Quantity::Rate, &[job()], Scale::Linear);
        let points = &rate.series[0].points;
        // Three spans of 4/3 s: 1 + 8.33 states, then 1.67 and 18.67, then 21.33.
        assert_eq!(points.len(), 3);
        let sum: f64 = points.iter().map(|point| point.y * 4.0 / 3.0).sum();
        assert!((sum - 51.0).abs() < 1e-9, "{points:?}");
        assert!((points[2].y - 16.0).abs() < 1e-9, "{points:?}");
    }

    #[test]
    fn the_expected_curve_continues_the_measured_one() {
        let mut job = job();
        job.expected = vec![(1, 5.0), (3, 90.0)];
        let chart = chart(Quantity::Positions, &[job], Scale::Log);
        assert_eq!(chart.series[1].style, SeriesStyle::Expected);
        let points = [Point { x: 2.0, y: 80.0 }, Point { x: 3.0, y: 180.0 }];
        assert_eq!(chart.series[1].points, points);
    }

    #[test]
    fn expected_positions_use_the_measured_positions_per_state() {
        let mut job = job();
        job.expected = vec![(3, 90.0)];
        let last = |job: JobCurve| {
            let chart = chart(Quantity::Positions, &[job], Scale::Linear);
            chart.series[1].points.last().map(|point| point.y)
        };
        assert_eq!(last(job.clone()), Some(180.0));
        job.layers[0].positions = None;
        assert_eq!(last(job), Some(90.0));
    }

    #[test]
    fn marks_are_at_the_end_of_their_layer() {
        let mut job = job();
        job.marks = vec![JobMark { kind: MarkKind::Checkpoint, depth: 1 }];
        let jobs = [job];
        assert_eq!(chart(Quantity::Positions, &jobs, Scale::Log).marks[0].x, 1.0);
        assert_eq!(chart(Quantity::Rate, &jobs, Scale::Log).marks[0].x, 1.5);
    }

    proptest! {
        #[test]
        fn no_state_is_lost_in_rates(
            layers in proptest::collection::vec((0_u64..1_000_000, 0.0_f64..10.0), 1..400),
        ) {
            let layers = layers.iter().zip(0..);
            let layers = layers.map(|((states, seconds), depth)| layer(depth, *states, *seconds));
            let job = JobCurve::new("job", layers.collect());
            let total: f64 = job.layers.iter().map(|layer| layer.seconds).sum();
            prop_assume!(total > 1e-3);
            let states: u64 = job.layers.iter().map(|layer| layer.states).sum();
            let points = rates(&job);
            let length = total / points.len() as f64;
            let sum: f64 = points.iter().map(|point| point.y * length).sum();
            prop_assert!((sum - states as f64).abs() <= 1e-6 * states as f64 + 1e-6);
        }
    }
}
