//! Shows a run's events: a bar or log lines on stderr, JSON or the result on stdout.
//!
//! A run reports to one [`Progress`], which passes each event to its sinks. Sinks are told the
//! time, never ask for it, and decide themselves what to leave out: a thousand layers a second
//! must not be slowed by printing. A thread wakes them a few times a second, so that output that
//! was held back gets out and a long layer is not mistaken for a hang.

mod bar;
mod json;
mod lines;
mod text;

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::output::console::{Console, Display};
use crate::output::events::Event;
use crate::output::exit::Failure;
use crate::output::stdout::{self, Output};

/// How often sinks are woken.
const TICK: Duration = Duration::from_millis(200);

/// Somewhere events are shown. `now` is the time since the run began.
trait Sink: Send {
    /// Takes an event.
    fn event(&mut self, event: &Event, now: Duration);

    /// Called a few times a second.
    fn tick(&mut self, now: Duration);

    /// Called once, at the end; errors are those of standard output.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Shared {
    start: Instant,
    sinks: Mutex<Vec<Box<dyn Sink>>>,
}

impl Shared {
    fn sinks(&self) -> MutexGuard<'_, Vec<Box<dyn Sink>>> {
        // What a panicking thread left in a sink is still good enough to show.
        self.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one place a run reports to; may be shared between threads.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    /// Dropping the sender ends the thread.
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to show a run of which `expected_layers` layers are known to suffice, if that is
    /// known.
    pub(crate) fn start(console: &Console, expected_layers: Option<u32>) -> Self {
        let mut sinks = screen(console, expected_layers);
        if console.json {
            sinks.push(Box::new(json::JsonLines::new(Output::stdout())));
        } else {
            sinks.push(Box::new(text::ResultText::new(Output::stdout())));
        }
        sinks.push(Box::new(text::StopNotice::new(io::stderr())));
        Progress::with_sinks(sinks)
    }

    /// Begins to show a run on standard error only: its caller shows the result.
    pub(crate) fn on_screen(console: &Console, expected_layers: Option<u32>) -> Self {
        Progress::with_sinks(screen(console, expected_layers))
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
            // Without the thread output comes late, but it comes.
            ticker: thread.ok().map(|thread| (sender, thread)),
        }
    }

    /// Shows an event.
    pub(crate) fn emit(&self, event: &Event) {
        let now = self.shared.start.elapsed();
        let mut sinks = self.shared.sinks();
        sinks.iter_mut().for_each(|sink| sink.event(event, now));
    }

    /// Lets everything out. Fails if standard output did (a closed pipe apart).
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.close().map_err(stdout::failure)
    }

    fn close(&mut self) -> io::Result<()> {
        let Some((sender, thread)) = self.ticker.take() else {
            return self.finish_sinks();
        };
        drop(sender);
        // A panic there has printed itself and harmed nothing but the display.
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

/// The sinks of standard error. The bar must be gone when the result is printed: they come first.
fn screen(console: &Console, expected_layers: Option<u32>) -> Vec<Box<dyn Sink>> {
    match console.display {
        Display::Bar => vec![Box::new(bar::Bar::new(&console.screen, expected_layers))],
        Display::Lines => vec![Box::new(lines::Lines::new(expected_layers))],
        Display::None => Vec::new(),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // After `finish` no sink is left; without it an error is on its way that says more.
        let _ = self.close();
    }
}

/// Lets something happen no more often than once in an interval.
struct Throttle {
    interval: Duration,
    last: Option<Duration>,
}

impl Throttle {
    fn new(interval: Duration) -> Self {
        Throttle { interval, last: None }
    }

    /// Whether it may happen now; if so, it counts as having happened.
    fn allows(&mut self, now: Duration) -> bool {
        let due = self.last.is_none_or(|last| now >= last + self.interval);
        if due {
            self.last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::events::tests::layer;

    #[test]
    fn throttle_lets_the_first_through_and_then_one_an_interval() {
        let mut throttle = Throttle::new(Duration::from_millis(250));
        let allowed: Vec<u64> =
            (0..=1000).filter(|&now| throttle.allows(Duration::from_millis(now))).collect();
        assert_eq!(allowed, [0, 250, 500, 750, 1000]);
    }

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
    fn sinks_hear_of_events_and_time_and_finish_once() {
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
    fn dropping_finishes_too() {
        let calls: Arc<Mutex<Calls>> = Arc::default();
        drop(Progress::with_sinks(vec![Box::new(Counter(Arc::clone(&calls)))]));
        assert_eq!(calls.lock().unwrap().finished, 1);
    }
}
