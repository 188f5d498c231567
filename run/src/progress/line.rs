//! Log lines about layers and checkpoints, and their fields.

use std::time::Duration;

use strata_store::LayerRecord;
use tracing::{Level, debug, info};

use crate::job::event::LayerEvent;
use crate::tracker::Tracker;

/// A field of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The field's name, the same in all lines.
    pub name: &'static str,
    /// The value as text, with its unit.
    pub text: String,
    /// The value if it is a number; times are in seconds, rates per second.
    pub number: Option<f64>,
}

impl Field {
    /// A field of text.
    pub fn text(name: &'static str, text: impl ToString) -> Field {
        Field { name, text: text.to_string(), number: None }
    }

    /// A count.
    pub fn count(name: &'static str, count: u64) -> Field {
        Field { name, text: count.to_string(), number: Some(count as f64) }
    }

    /// A figure, with its text.
    pub fn figure(name: &'static str, text: String, number: f64) -> Field {
        Field { name, text, number: Some(number) }
    }
}

/// A layer and the progress of its search.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerLine {
    /// Depth of the last complete layer.
    pub layer: u32,
    /// States of the layer.
    pub states: u64,
    /// Legal moves from these states.
    pub generated: u64,
    /// Share of the generated states that were known before, over all layers.
    pub dup_ratio: f64,
    /// Bytes of the layer's files.
    pub bytes: u64,
    /// States of all layers.
    pub total: u64,
    /// Seconds since the search began.
    pub elapsed: f64,
    /// States per second.
    pub rate: f64,
    /// Estimated time left, as text.
    pub eta: Option<String>,
}

impl LayerLine {
    /// Text of a line about a layer that is complete.
    pub const COMMITTED: &'static str = "layer committed";

    /// Text of a line about a search whose next layer is not complete yet.
    pub const SEARCHING: &'static str = "still searching";

    /// The line of a layer that has been added to `tracker`, `elapsed` after the search began.
    #[must_use]
    pub fn new(event: &LayerEvent, tracker: &Tracker, elapsed: Duration) -> LayerLine {
        let LayerRecord { depth, states, generated, bytes, .. } = event.layer;
        LayerLine {
            layer: depth,
            states,
            generated,
            dup_ratio: tracker.duplicate_ratio(),
            bytes,
            total: event.total_states,
            elapsed: elapsed.as_secs_f64(),
            rate: tracker.rate(),
            eta: tracker.time_left(elapsed).map(|left| left.to_string()),
        }
    }

    /// The fields, in the order of the line.
    pub fn fields(&self) -> Vec<Field> {
        let fields = [
            Field::count("layer", self.layer.into()),
            Field::count("states", self.states),
            Field::count("generated", self.generated),
            Field::figure("dup_ratio", format!("{:.3}", self.dup_ratio), self.dup_ratio),
            Field::count("bytes", self.bytes),
            Field::count("total", self.total),
            Field::figure("elapsed", format!("{:.1}s", self.elapsed), self.elapsed),
            Field::figure("rate", format!("{:.0}/s", self.rate), self.rate),
        ];
        let eta = self.eta.as_ref().map(|eta| Field::text("eta", eta));
        fields.into_iter().chain(eta).collect()
    }

    /// Logs the line at level `DEBUG` if `level` is that, otherwise at level `INFO`.
    pub fn log(&self, job: &str, level: Level, message: &str) {
        let LayerLine { layer, states, generated, bytes, total, .. } = self;
        let job = (!job.is_empty()).then(|| tracing::field::display(job));
        let dup_ratio = format_args!("{:.3}", self.dup_ratio);
        let elapsed = format_args!("{:.1}s", self.elapsed);
        let rate = format_args!("{:.0}/s", self.rate);
        let eta = self.eta.as_ref().map(tracing::field::display);
        // One macro call for each level, since tracing needs constant levels.
        if level == Level::DEBUG {
            debug!(
                job, layer, states, generated, %dup_ratio, bytes, total, %elapsed, %rate, eta,
                "{message}"
            );
        } else {
            info!(
                job, layer, states, generated, %dup_ratio, bytes, total, %elapsed, %rate, eta,
                "{message}"
            );
        }
    }
}

/// A checkpoint that is durable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointLine {
    /// Depth of the checkpoint's last layer.
    pub layer: u32,
    /// Bytes of the checkpoint's files.
    pub bytes: u64,
    /// Seconds that the checkpoint took.
    pub took: f64,
}

impl CheckpointLine {
    /// Text of a line about a checkpoint of the whole search.
    pub const COMMITTED: &'static str = "checkpoint committed";

    /// Text of a worker's line about its files of a checkpoint.
    pub const SAVED: &'static str = "checkpoint saved";

    /// The fields, in the order of the line.
    pub fn fields(&self) -> Vec<Field> {
        vec![
            Field::count("layer", self.layer.into()),
            Field::count("bytes", self.bytes),
            Field::figure("took", format!("{:.3}s", self.took), self.took),
        ]
    }

    /// Logs the line at level `INFO`.
    pub fn log(&self, job: &str, message: &str) {
        let CheckpointLine { layer, bytes, took } = self;
        let took = format_args!("{took:.3}s");
        info!(%job, layer, bytes, %took, "{message}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_one_order_and_numbers_in_base_units() {
        let line = LayerLine {
            layer: 41,
            states: 10,
            generated: 30,
            dup_ratio: 2.0 / 3.0,
            bytes: 5,
            total: 100,
            elapsed: 1.25,
            rate: 80.0,
            eta: Some("84s".to_owned()),
        };
        let fields = line.fields();
        let text: Vec<String> = fields.iter().map(|f| format!("{}={}", f.name, f.text)).collect();
        assert_eq!(
            text.join(" "),
            "layer=41 states=10 generated=30 dup_ratio=0.667 bytes=5 total=100 elapsed=1.2s \
             rate=80/s eta=84s"
        );
        let number = |name| fields.iter().find(|field| field.name == name).unwrap().number;
        assert_eq!(
            (number("elapsed"), number("layer"), number("eta")),
            (Some(1.25), Some(41.0), None)
        );
        let checkpoint = CheckpointLine { layer: 7, bytes: 1000, took: 0.0125 };
        let text = checkpoint.fields().into_iter().map(|f| f.text).collect::<Vec<_>>();
        assert_eq!(text, ["7", "1000", "0.013s"]);
    }
}
