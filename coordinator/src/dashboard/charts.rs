//! Charts of a job, drawn by `strata-plot`.

use strata_plot::{Image, JobCurve, JobMark, LayerFigures, Quantity, Scale, Size, Theme, chart};
use strata_store::LayerRecord;

use crate::dashboard::model::{Job, MarkKind};

/// Most charts that are kept of one version of a job's data: all charts of both themes in two
/// widths.
pub(crate) const KEPT: usize = 32;

/// Widths of charts in pixels. A browser requests the one closest to the width that it needs.
const WIDTHS: [u32; 3] = [360, 640, 960];

/// Data of a job that charts show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn<'a> {
    pub(crate) job: &'a Job,
    /// Layers by ascending depth.
    pub(crate) layers: &'a [LayerRecord],
    pub(crate) marks: &'a [(MarkKind, u32)],
    /// Expected states of the layers that follow, by depth.
    pub(crate) expected: &'a [(u32, f64)],
}

/// A chart that a page requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChartRequest {
    quantity: Quantity,
    is_log: bool,
    is_dark: bool,
    width: u32,
}

impl ChartRequest {
    /// Parses the parts of a path; `None` if there is no such chart.
    pub(crate) fn parse(
        quantity: &str,
        scale: &str,
        theme: &str,
        width: &str,
    ) -> Option<ChartRequest> {
        let quantity = Quantity::find(quantity)?;
        let is_log = either(scale, "linear", "log")?;
        let is_dark = either(theme, "light", "dark")?;
        let width = width.parse().ok().filter(|width| WIDTHS.contains(width))?;
        Some(ChartRequest { quantity, is_log, is_dark, width })
    }

    fn image(self) -> Image {
        // The minimum height leaves room for axes and legend on a phone.
        let height = (self.width / 2).max(220);
        let size = Size::new(self.width, height).unwrap_or_default();
        let theme = if self.is_dark { Theme::Dark } else { Theme::Light };
        Image { size, theme, transparent: true }
    }
}

/// Whether a text is the second of two; `None` if it is neither.
fn either(text: &str, first: &str, second: &str) -> Option<bool> {
    (text == first || text == second).then_some(text == second)
}

/// Draws a chart as SVG.
pub(crate) fn draw(drawn: Drawn<'_>, request: ChartRequest) -> String {
    let scale = if request.is_log { Scale::Log } else { Scale::Linear };
    chart(request.quantity, &[curve(drawn)], scale).svg(&request.image())
}

fn curve(drawn: Drawn<'_>) -> JobCurve {
    let Drawn { job, layers, marks, expected } = drawn;
    let name = if job.name.is_empty() { &job.id } else { &job.name };
    let mut curve = JobCurve::new(name.clone(), figures(layers));
    curve.expected = expected.to_vec();
    let mark = |(kind, depth): &(MarkKind, u32)| JobMark {
        kind: match kind {
            MarkKind::Checkpoint => strata_plot::MarkKind::Checkpoint,
            MarkKind::Rollback => strata_plot::MarkKind::Rollback,
            MarkKind::Resume => strata_plot::MarkKind::Resume,
        },
        depth: *depth,
    };
    curve.marks = marks.iter().map(mark).collect();
    curve
}

/// The figures of layers for a chart. The time of a layer is the difference to the end of the layer
/// before.
fn figures(layers: &[LayerRecord]) -> Vec<LayerFigures> {
    let mut before = 0.0;
    let figures = layers.iter().map(|layer| {
        let seconds = (layer.seconds - before).max(0.0);
        before = layer.seconds;
        let is_counted = layer.positions > 0 || layer.states == 0;
        LayerFigures {
            depth: layer.depth,
            states: layer.states,
            positions: is_counted.then_some(layer.positions),
            bytes: layer.bytes,
            traffic: layer.read_bytes.saturating_add(layer.written_bytes),
            seconds,
        }
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_chosen_by_their_path() {
        for kind in Quantity::ALL.map(Quantity::name) {
            for (scale, theme, width) in [("linear", "light", "360"), ("log", "dark", "960")] {
                assert!(ChartRequest::parse(kind, scale, theme, width).is_some());
            }
        }
        for (kind, scale, theme, width) in [
            ("all", "log", "dark", "960"),
            ("rate", "", "dark", "960"),
            ("rate", "log", "blue", "960"),
            ("rate", "log", "dark", "100000"),
        ] {
            assert_eq!(ChartRequest::parse(kind, scale, theme, width), None);
        }
    }

    #[test]
    fn the_main_chart_has_marks_and_the_expected_remainder() {
        let layer = |depth: u32| LayerRecord {
            depth,
            states: 10 + u64::from(depth),
            positions: 20,
            bytes: 100,
            seconds: f64::from(depth) / 2.0,
            ..LayerRecord::default()
        };
        let job = Job { id: "panex-6<x>".to_owned(), ..Job::default() };
        let layers: Vec<LayerRecord> = (0..20).map(layer).collect();
        let marks = [(MarkKind::Checkpoint, 5), (MarkKind::Resume, 5), (MarkKind::Rollback, 7)];
        let expected: Vec<(u32, f64)> = (20..40).map(|depth| (depth, 20.0)).collect();
        let drawn = Drawn { job: &job, layers: &layers, marks: &marks, expected: &expected };
        let request = ChartRequest::parse("positions", "linear", "dark", "640").unwrap();
        let svg = draw(drawn, request);
        assert!(svg.starts_with("<svg ") && svg.contains("panex-6&lt;x&gt;"), "{svg}");
        for word in ["checkpoint", "resume", "rollback", "expected"] {
            assert!(svg.contains(word), "{word}: {svg}");
        }
        assert!(!svg.contains(" style="));
    }
}
