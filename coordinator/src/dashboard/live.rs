//! Live updates of the page, computed once a second for all viewers together while there are any.
//!
//! Each page is a *topic*: the overview, or a job. The first viewer of a topic starts a task that
//! computes its frames; the task ends after the last viewer has left.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

/// Time between two frames.
const INTERVAL: Duration = Duration::from_secs(1);

/// A stream without a change for this time sends a comment, so that the ends and proxies between
/// them do not close the connection as dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Most streams at a time.
const VIEWERS: usize = 64;

/// Time after which a browser reconnects, in milliseconds.
const RETRY_MS: u64 = 2_000;

/// State of a page at one moment: the names of events and their data. An event is sent when its
/// data differs from that sent before.
pub(crate) type Frame = Arc<[(&'static str, Arc<str>)]>;

/// Computes the frames of a topic. It is called again one interval after it has finished.
pub(crate) type Compute =
    Box<dyn FnMut() -> Pin<Box<dyn Future<Output = Frame> + Send>> + Send + 'static>;

/// Topic of a page: the overview (`None`), or a job's id.
pub(crate) type Topic = Option<String>;

/// The topics with viewers.
#[derive(Debug)]
pub(crate) struct Live {
    topics: Mutex<HashMap<Topic, watch::Sender<Frame>>>,
    places: Arc<Semaphore>,
}

impl Default for Live {
    fn default() -> Self {
        Self { topics: Mutex::default(), places: Arc::new(Semaphore::new(VIEWERS)) }
    }
}

/// A viewer of a topic.
pub(crate) struct Viewer {
    frames: watch::Receiver<Frame>,
    _place: OwnedSemaphorePermit,
}

impl Live {
    fn topics(&self) -> MutexGuard<'_, HashMap<Topic, watch::Sender<Frame>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a viewer of a topic. Returns `None` if there are too many viewers.
    pub(crate) fn view(
        self: &Arc<Self>,
        topic: Topic,
        compute: impl FnOnce() -> Compute,
    ) -> Option<Viewer> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let mut topics = self.topics();
        let frames = match topics.get(&topic) {
            Some(frames) => frames.subscribe(),
            None => {
                let (sender, receiver) = watch::channel(Frame::from([]));
                topics.insert(topic.clone(), sender);
                tokio::spawn(Arc::clone(self).run(topic, compute()));
                receiver
            }
        };
        Some(Viewer { frames, _place: place })
    }

    /// Computes frames until the last viewer has left.
    async fn run(self: Arc<Self>, topic: Topic, mut compute: Compute) {
        loop {
            let frame = compute().await;
            {
                let mut topics = self.topics();
                let Some(sender) = topics.get(&topic) else { return };
                if sender.receiver_count() == 0 {
                    topics.remove(&topic);
                    return;
                }
                sender.send_if_modified(|last| {
                    let is_new = *last != frame;
                    *last = frame;
                    is_new
                });
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}

impl Viewer {
    /// The events of the topic as a body of server-sent events. `may_go_on` is called before each
    /// further event; the stream ends when it returns false.
    pub(crate) fn events(
        mut self,
        may_go_on: impl Fn() -> bool + Send + 'static,
    ) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
        // At most one frame waits, so that a slow viewer gets the newest frame next.
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let mut sent: HashMap<&'static str, Arc<str>> = HashMap::new();
            let mut text = format!("retry: {RETRY_MS}\n\n");
            loop {
                let frame = Arc::clone(&self.frames.borrow_and_update());
                for (event, data) in frame.iter() {
                    if sent.get(event) != Some(data) {
                        text += &format!("event: {event}\ndata: {data}\n\n");
                        sent.insert(event, Arc::clone(data));
                    }
                }
                let bytes = Bytes::from(std::mem::take(&mut text));
                if !bytes.is_empty() && sender.send(Ok(bytes)).await.is_err() {
                    return;
                }
                tokio::select! {
                    biased;
                    () = sender.closed() => return,
                    changed = self.frames.changed() => if changed.is_err() { return },
                    () = tokio::time::sleep(HEARTBEAT) => text += ": still here\n\n",
                }
                if !may_go_on() {
                    return;
                }
            }
        });
        ReceiverStream::new(receiver)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use tokio_stream::StreamExt;

    use super::*;

    /// Counts computations; the frame has the number of every second one.
    fn counting(calls: &Arc<AtomicU32>) -> impl FnOnce() -> Compute + use<> {
        let calls = Arc::clone(calls);
        move || {
            Box::new(move || {
                let call = calls.fetch_add(1, Ordering::Relaxed) / 2;
                Box::pin(async move {
                    Frame::from([("count", call.to_string().into()), ("fixed", "\"x\"".into())])
                })
            })
        }
    }

    fn text(item: Option<Result<Bytes, Infallible>>) -> String {
        String::from_utf8(item.unwrap().unwrap().to_vec()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn frames_are_computed_once_for_all_viewers_and_only_changes_are_sent() {
        let (live, calls) = (Arc::new(Live::default()), Arc::new(AtomicU32::new(0)));
        let mut streams = Vec::new();
        for _ in 0..5 {
            let viewer = live.view(None, counting(&calls)).unwrap();
            streams.push(Box::pin(viewer.events(|| true)));
        }
        for stream in &mut streams {
            let mut first = String::new();
            while !first.contains("fixed") {
                first += &text(stream.next().await);
            }
            assert_eq!(
                first,
                "retry: 2000\n\nevent: count\ndata: 0\n\nevent: fixed\ndata: \"x\"\n\n"
            );
        }
        for stream in &mut streams {
            assert_eq!(text(stream.next().await), "event: count\ndata: 1\n\n");
        }
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        drop(streams);
        tokio::time::sleep(3 * INTERVAL).await;
        assert!(live.topics().is_empty());
        let ended = calls.load(Ordering::Relaxed);
        tokio::time::sleep(10 * INTERVAL).await;
        assert_eq!(calls.load(Ordering::Relaxed), ended);
        assert!(live.view(None, counting(&calls)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_without_changes_sends_heartbeats_until_its_session_ends() {
        let live = Arc::new(Live::default());
        let fixed: Compute = Box::new(|| Box::pin(async { Frame::from([]) }));
        let (valid, asked) = (Arc::new(AtomicBool::new(true)), Instant::now());
        let viewer = live.view(None, || fixed).unwrap();
        let is_valid = Arc::clone(&valid);
        let mut stream = Box::pin(viewer.events(move || is_valid.load(Ordering::Relaxed)));
        assert_eq!(text(stream.next().await), "retry: 2000\n\n");
        assert_eq!(text(stream.next().await), ": still here\n\n");
        assert_eq!(asked.elapsed(), HEARTBEAT);
        valid.store(false, Ordering::Relaxed);
        assert!(stream.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_viewers_is_bounded() {
        let (live, calls) = (Arc::new(Live::default()), Arc::new(AtomicU32::new(0)));
        let topic = |number: usize| Some(number.to_string());
        let mut viewers: Vec<_> = (0..VIEWERS)
            .map(|number| live.view(topic(number), counting(&calls)).unwrap())
            .collect();
        assert!(live.view(None, counting(&calls)).is_none());
        viewers.pop();
        assert!(live.view(None, counting(&calls)).is_some());
    }

    use strata_proto::platform::Instant;
}
