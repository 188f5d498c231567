//! Live display on a terminal.

use std::io;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use strata_run::forecast::Forecast;
use strata_run::{Tracker, memory};

use super::sink::{Sink, Throttle};
use crate::output::events::Event;
use crate::output::layer::Layer;
use crate::output::units;

/// Least time between redraws.
const REDRAW: Duration = Duration::from_millis(100);

/// A bar of layers with two lines of figures below it.
pub(super) struct Bar {
    bar: ProgressBar,
    tracker: Tracker,
    /// Whether the search runs in a cluster: then the memory of this process is not shown.
    remote: bool,
    redraw: Throttle,
}

impl Bar {
    pub(super) fn new(screen: &MultiProgress, forecast: Forecast) -> Self {
        let expected_layers = forecast.layers();
        let bar = match expected_layers {
            Some(layers) => ProgressBar::new(u64::from(layers)),
            None => ProgressBar::no_length(),
        };
        let template = match expected_layers {
            Some(_) => "{spinner} {prefix} [{bar:30}] {msg}",
            None => "{spinner} {prefix} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Bar {
            bar: screen.add(bar),
            tracker: Tracker::new(forecast),
            remote: false,
            redraw: Throttle::new(REDRAW),
        }
    }

    fn layer(&mut self, layer: &Layer, now: Duration) {
        self.tracker.layer(&layer.event, now);
        self.draw(now);
    }

    fn draw(&mut self, now: Duration) {
        if !self.redraw.allows(now) {
            return;
        }
        if let Some((depth, _)) = self.tracker.last() {
            self.bar.set_position(u64::from(depth));
        }
        let memory = if self.remote { None } else { memory::current() };
        self.bar.set_message(self.message(now, memory));
        self.bar.tick();
    }

    /// The text beside and below the bar, in lines of at most 80 columns.
    fn message(&self, now: Duration, memory: Option<u64>) -> String {
        let Some((depth, width)) = self.tracker.last() else {
            return "starting".to_owned();
        };
        let mut text = format!("layer {}", units::count(u64::from(depth)));
        if let Some(end) = self.tracker.forecast().layers() {
            text += &format!(" of at most {}", units::count(u64::from(end)));
        }
        text += &format!(
            "\n  width {}   states {}   {} states/s   {:.2} bytes per state\n  ",
            units::short_count(width),
            units::short_count(self.tracker.states()),
            units::rate(self.tracker.rate()),
            self.tracker.bytes_per_state(),
        );
        if let Some(memory) = memory {
            text += &format!("memory {}   ", units::bytes(memory));
        }
        text += &format!("{} elapsed", units::seconds(now.as_secs_f64()));
        if let Some(share) = self.tracker.share_of_work() {
            text += &format!("   about {:.0}% of the work", 100.0 * share);
        }
        if let Some(left) = self.tracker.time_left(now) {
            text += &format!(", {left} left");
        }
        text
    }
}

impl Sink for Bar {
    fn event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Job(job) => {
                self.remote = job.is_remote();
                self.bar.set_prefix(job.job.clone());
                self.draw(now);
            }
            Event::Layer(layer) => self.layer(layer, now),
            Event::Checkpoint(_) | Event::Path(_) | Event::Antipodes(_) => {}
            Event::RolledBack(back) => self.tracker.roll_back(back.depth),
            Event::Result(_) | Event::Stopped(_) | Event::Failed(_) => self.bar.finish_and_clear(),
        }
    }

    fn tick(&mut self, now: Duration) {
        if !self.bar.is_finished() {
            self.draw(now);
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.bar.finish_and_clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressDrawTarget;
    use strata_space::SearchSize;
    use strata_store::EngineKind;

    use super::*;
    use crate::output::events::RolledBack;
    use crate::output::events::tests::{job, layer, summary};

    fn bar(layers: Option<u32>) -> Bar {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let states = layers.map(|_| 50_500_000);
        let size = SearchSize { layers, states, ..SearchSize::default() };
        Bar::new(&screen, Forecast::of(size, None, EngineKind::Explicit, None))
    }

    fn run(bar: &mut Bar, layers: u32) {
        bar.event(&job(), Duration::ZERO);
        let mut total = 0;
        for depth in 0..layers {
            let states = 1000 * u64::from(depth + 1);
            total += states;
            let now = Duration::from_millis(10 * u64::from(depth + 1));
            bar.event(&layer(depth, states, total), now);
        }
    }

    #[test]
    fn the_message_shows_every_figure() {
        let mut bar = bar(Some(1095));
        run(&mut bar, 100);
        let text = bar.message(Duration::from_secs(1), Some(61 << 20));
        assert_eq!(
            text,
            "layer 99 of at most 1,095\n  \
             width 100,000   states 5,050,000   322 k states/s   0.50 bytes per state\n  \
             memory 61 MiB   1.00 s elapsed   about 10% of the work, 1m47s-3m20s left"
        );
        assert!(text.lines().all(|line| line.len() < 80));
    }

    #[test]
    fn without_a_bound_there_is_no_estimate() {
        let mut bar = bar(None);
        assert_eq!(bar.message(Duration::ZERO, None), "starting");
        run(&mut bar, 100);
        let text = bar.message(Duration::from_secs(1), None);
        assert!(text.starts_with("layer 99\n  width 100,000"), "{text}");
        assert!(!text.contains("memory"));
    }

    #[test]
    fn redraws_are_limited() {
        let mut bar = bar(Some(10));
        run(&mut bar, 5);
        assert_eq!(bar.redraw.last, Some(Duration::ZERO));
        bar.tick(Duration::from_millis(150));
        assert_eq!(bar.redraw.last, Some(Duration::from_millis(150)));
        assert_eq!(bar.bar.position(), 4);
    }

    #[test]
    fn a_rollback_is_displayed() {
        let mut bar = bar(None);
        run(&mut bar, 100);
        bar.event(&Event::RolledBack(RolledBack { depth: Some(9) }), Duration::from_secs(1));
        let text = bar.message(Duration::from_secs(1), None);
        assert!(text.starts_with("layer 9\n  width 10,000   states 55,000 "), "{text}");
    }

    #[test]
    fn the_result_ends_the_display() {
        let mut bar = bar(Some(10));
        run(&mut bar, 5);
        bar.event(&Event::Result(summary()), Duration::from_secs(1));
        assert!(bar.bar.is_finished());
        bar.tick(Duration::from_secs(2));
        bar.finish().unwrap();
    }
}
