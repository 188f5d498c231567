//! Reporter of a run: passes each event to the displays.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use strata_run::forecast::Forecast;

use super::bar::Bar;
use super::json::JsonLines;
use super::lines::Lines;
use super::sink::Sink;
use super::text::{ResultText, StopNotice};
use crate::output::console::{Console, Display};
use crate::output::events::Event;
use crate::output::exit::Failure;
use crate::output::stdout::{self, Output};

/// Time between ticks of the sinks.
const TICK: Duration = Duration::from_millis(200);

struct Shared {
    start: Instant,
    sinks: Mutex<Vec<Box<dyn Sink>>>,
}

impl Shared {
    fn sinks(&self) -> MutexGuard<'_, Vec<Box<dyn Sink>>> {
        // Sinks stay usable after a panic in another thread.
        self.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Destination of the events of a run; may be shared between threads.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    /// Dropping the sender ends the thread.
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the displays of a run with this forecast.
    pub(crate) fn start(console: &Console, forecast: &Forecast) -> Self {
        let mut sinks = screen(console, forecast);
        if console.json {
            sinks.push(Box::new(JsonLines::new(Output::stdout())));
        } else {
            sinks.push(Box::new(ResultText::new(Output::stdout())));
        }
        sinks.push(Box::new(StopNotice::new(io::stderr())));
        Progress::with_sinks(sinks)
    }

    /// Starts the displays on standard error only; the caller prints the result.
    pub(crate) fn on_screen(console: &Console, forecast: &Forecast) -> Self {
        Progress::with_sinks(screen(console, forecast))
    }

    fn with_sinks(sinks: Vec<Box<dyn Sink>>) -> Self {
        let shared = Arc::new(Shared { start: Instant::now(), sinks: Mutex::new(sinks) });
        let ticked = Arc::clone(&shared);
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new().name("progress".to_owned());
        let thread = thread.spawn(move || {
            while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let now = ticked.start.elapsed();
                ticked.sinks().iter_mut().for_each(|sink| sink.tick(now));
            }
        });
        Progress {
            shared,
            // Without the thread, output is late but complete.
            ticker: thread.ok().map(|thread| (sender, thread)),
        }
    }

    /// Adds a display.
    pub(crate) fn add(&self, display: Box<dyn Sink>) {
        self.shared.sinks().push(display);
    }

    /// Passes an event to every display.
    pub(crate) fn emit(&self, event: &Event) {
        let now = self.shared.start.elapsed();
        let mut sinks = self.shared.sinks();
        sinks.iter_mut().for_each(|sink| sink.event(event, now));
    }

    /// Writes all pending output and ends the displays.
    ///
    /// # Errors
    /// If standard output failed; a closed pipe is not a failure.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.close().map_err(stdout::failure)
    }

    fn close(&mut self) -> io::Result<()> {
        let Some((sender, thread)) = self.ticker.take() else {
            return self.finish_sinks();
        };
        drop(sender);
        // The panic hook has printed its message; only the display is affected.
        let _ = thread.join();
        self.finish_sinks()
    }

    fn finish_sinks(&mut self) -> io::Result<()> {
        let mut sinks = std::mem::take(&mut *self.shared.sinks());
        let mut ended = Ok(());
        for sink in &mut sinks {
            ended = ended.and(sink.finish());
        }
        ended
    }
}

/// The sinks of standard error. They come before those of standard output, so that the bar is
/// removed before the result is printed.
fn screen(console: &Console, forecast: &Forecast) -> Vec<Box<dyn Sink>> {
    match console.display {
        Display::Bar => vec![Box::new(Bar::new(&console.screen, forecast.clone()))],
        Display::Lines => vec![Box::new(Lines::new(forecast.clone(), console.log_interval))],
        Display::None => Vec::new(),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // After `finish` there are no sinks. Without it, the command has failed and reports that
        // error.
        let _ = self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::events::tests::layer;

    #[derive(Default)]
    struct Calls {
        events: u32,
        ticks: u32,
        finished: u32,
    }

    struct Counter(Arc<Mutex<Calls>>);

    impl Sink for Counter {
        fn event(&mut self, _: &Event, _: Duration) {
            self.0.lock().unwrap().events += 1;
        }

        fn tick(&mut self, _: Duration) {
            self.0.lock().unwrap().ticks += 1;
        }

        fn finish(&mut self) -> io::Result<()> {
            self.0.lock().unwrap().finished += 1;
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn sinks_get_events_and_ticks_and_finish_once() {
        let calls: Arc<Mutex<Calls>> = Arc::default();
        let progress = Progress::with_sinks(vec![Box::new(Counter(Arc::clone(&calls)))]);
        progress.emit(&layer(0, 1, 1));
        let deadline = Instant::now() + Duration::from_secs(10);
        while calls.lock().unwrap().ticks == 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(progress.finish().is_err());
        let calls = calls.lock().unwrap();
        assert_eq!((calls.events, calls.finished), (1, 1));
        assert!(calls.ticks >= 1);
    }

    #[test]
    fn dropping_the_reporter_finishes_the_sinks() {
        let calls: Arc<Mutex<Calls>> = Arc::default();
        drop(Progress::with_sinks(vec![Box::new(Counter(Arc::clone(&calls)))]));
        assert_eq!(calls.lock().unwrap().finished, 1);
    }
}
