//! Events as JSON lines on standard output.

use std::io::{self, Write};
use std::time::Duration;

use super::sink::Sink;
use crate::output::events::Event;
use crate::output::stdout::Output;

/// Writes every event. Layers are flushed by the next tick, other events at once.
pub(super) struct JsonLines<W: Write> {
    out: Output<W>,
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(out: Output<W>) -> Self {
        JsonLines { out }
    }
}

impl<W: Write + Send> Sink for JsonLines<W> {
    fn event(&mut self, event: &Event, _now: Duration) {
        self.out.write_with(|out| event.write_json(out));
        if !matches!(event, Event::Layer(_)) {
            self.out.flush();
        }
    }

    fn tick(&mut self, _now: Duration) {
        self.out.flush();
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::sync::Arc;

    use super::*;
    use crate::output::events::tests::{job, layer, stopped, summary};
    use crate::output::stdout::tests::{Broken, Shared};

    #[test]
    fn layers_are_flushed_by_the_tick_and_other_events_at_once() {
        let shared = Shared::default();
        let mut sink = JsonLines::new(Output::new(shared.clone()));
        let lines = || shared.text().lines().count();
        sink.event(&job(), Duration::ZERO);
        assert_eq!(lines(), 1);
        sink.event(&layer(0, 1, 1), Duration::ZERO);
        assert_eq!(lines(), 1);
        sink.tick(Duration::ZERO);
        assert_eq!(lines(), 2);
        sink.event(&layer(1, 1, 2), Duration::ZERO);
        sink.event(&Event::Result(summary()), Duration::ZERO);
        assert_eq!(lines(), 4);
        sink.finish().unwrap();
        for line in shared.text().lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["v"], 1);
        }
    }

    #[test]
    fn a_closed_pipe_is_ignored() {
        let calls = Arc::default();
        let broken = Broken(ErrorKind::BrokenPipe, Arc::clone(&calls));
        let mut sink = JsonLines::new(Output::new(broken));
        for _ in 0..3 {
            sink.event(&stopped(), Duration::ZERO);
        }
        sink.finish().unwrap();
        assert_eq!(*calls.lock().unwrap(), 1);
    }

    #[test]
    fn other_errors_are_returned_at_the_end() {
        let broken = Broken(ErrorKind::StorageFull, Arc::default());
        let mut sink = JsonLines::new(Output::new(broken));
        sink.event(&stopped(), Duration::ZERO);
        assert!(sink.finish().is_err());
    }
}
