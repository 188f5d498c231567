//! Follower of a job: displays its events as `solve` does until the job ends, and reconnects.

use std::io::{self, Write};
use std::time::Duration;

use strata_proto::net::convert;
use strata_proto::v1;
use strata_proto::v1::job_event::Event as Message;
use strata_run::progress::{CheckpointLine, LayerLine};
use tonic::Streaming;

use super::job_events::JobEvents;
use super::record;
use super::remote::{Attempt, Next, Remote};
use super::report;
use crate::args::cluster::ClientArgs;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::signals::Signals;

/// First pause before a reconnection; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Number of consecutive invalid replies that end the command.
const MAX_INVALID: u32 = 4;

/// Time limit for the end of the call after the end of the job.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The call that follows a job, and its displays.
pub(crate) struct Follower<'a> {
    remote: Remote<'a>,
    cluster: &'a ClientArgs,
    console: &'a Console,
    signals: Signals,
    /// Id or name of the job.
    job: String,
    /// Events and displays, from the first message about the job on.
    display: Option<(JobEvents<'a>, Progress)>,
    /// Last state that was logged.
    state: String,
    backoff: Backoff,
}

/// Why a call ended.
enum CallEnd {
    /// The job has ended.
    Ended,
    /// Layers were rolled back and will be repeated: the call is repeated at once.
    Again,
    Lost {
        reason: String,
        answered: bool,
    },
    Interrupted,
}

/// Pauses between reconnections, and a limit on invalid replies.
struct Backoff {
    pause: Duration,
    invalid: u32,
    /// Whether the loss of the connection was logged.
    logged: bool,
}

impl Backoff {
    fn new() -> Self {
        Backoff { pause: FIRST_PAUSE, invalid: 0, logged: false }
    }

    /// Counts consecutive invalid replies, and returns whether they are too many. A lost connection
    /// (`answered` is false) resets the count.
    fn is_exhausted(&mut self, answered: bool) -> bool {
        self.invalid = if answered { self.invalid + 1 } else { 0 };
        self.invalid >= MAX_INVALID
    }

    fn pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (2 * pause).min(LONGEST_PAUSE);
        pause
    }
}

impl<'a> Follower<'a> {
    /// Follows the job of that id or name.
    pub(crate) fn new(
        remote: Remote<'a>,
        console: &'a Console,
        job: &str,
    ) -> Result<Self, Failure> {
        Ok(Follower {
            signals: remote.signals()?,
            cluster: remote.args,
            remote,
            console,
            job: job.to_owned(),
            display: None,
            state: String::new(),
            backoff: Backoff::new(),
        })
    }

    /// Follows a job that was just submitted or resumed.
    pub(crate) fn of(
        remote: Remote<'a>,
        console: &'a Console,
        job: v1::Job,
    ) -> Result<Self, Failure> {
        let mut follower = Follower::new(remote, console, &job.id)?;
        follower.log_state(&job);
        follower.begin(job);
        Ok(follower)
    }

    /// Follows the job until its end, or until a signal.
    ///
    /// # Errors
    /// If the job fails or the coordinator refuses the call.
    pub(crate) fn run(mut self) -> Result<ExitCode, Failure> {
        loop {
            match self.call()? {
                CallEnd::Ended => return self.end(),
                CallEnd::Interrupted => return self.detach(),
                CallEnd::Again => {}
                CallEnd::Lost { reason, answered } => {
                    if self.backoff.is_exhausted(answered) {
                        return Err(Failure::new(ExitCode::Unexpected, reason));
                    }
                    // A single early end of a call is not worth a warning.
                    if !self.backoff.logged && (!answered || self.backoff.invalid > 1) {
                        tracing::warn!("{reason}; reconnecting until the coordinator is back");
                        self.backoff.logged = true;
                    }
                    let pause = self.backoff.pause();
                    if self.remote.pause(pause, &mut self.signals) {
                        return self.detach();
                    }
                }
            }
        }
    }

    /// Makes one call and displays its messages until it ends.
    fn call(&mut self) -> Result<CallEnd, Failure> {
        let after = self.display.as_ref().and_then(|(job_events, _)| job_events.depth());
        let mut events = match self.remote.watch(&self.job, after, &mut self.signals) {
            Attempt::Done(events) => events,
            Attempt::Lost { reason, answered } => return Ok(CallEnd::Lost { reason, answered }),
            Attempt::Refused(failure) => return Err(failure),
            Attempt::Interrupted => return Ok(CallEnd::Interrupted),
        };
        let mut beginning = true;
        loop {
            let event = match self.next(&mut events)? {
                Ok(event) => event,
                Err(end) => return Ok(end),
            };
            if std::mem::take(&mut self.backoff.logged) {
                tracing::info!("reconnected to the coordinator");
            }
            let first = std::mem::take(&mut beginning);
            if let Some(end) = self.take(event, first) {
                return Ok(end);
            }
            if !first {
                self.backoff = Backoff::new();
            }
        }
    }

    /// The next message of a call, or the reason why the call ended.
    fn next(
        &mut self,
        events: &mut Streaming<v1::JobEvent>,
    ) -> Result<Result<Message, CallEnd>, Failure> {
        let complete =
            self.display.as_ref().is_some_and(|(job_events, _)| job_events.is_complete());
        let ended = self
            .display
            .as_ref()
            .is_some_and(|(job_events, _)| record::has_ended(job_events.job()));
        let limit = complete.then_some(END_TIMEOUT);
        loop {
            return Ok(match self.remote.event(events, limit, &mut self.signals) {
                Attempt::Done(Next::Item(v1::JobEvent { event: Some(event) })) => Ok(event),
                // A message of a newer version.
                Attempt::Done(Next::Item(_)) => continue,
                Attempt::Done(Next::End) if ended => Err(CallEnd::Ended),
                Attempt::Done(Next::End) => {
                    let reason = format!("{} ended the call", self.cluster.coordinator);
                    Err(CallEnd::Lost { reason, answered: true })
                }
                Attempt::Done(Next::TimedOut) => Err(CallEnd::Ended),
                Attempt::Lost { .. } if complete => Err(CallEnd::Ended),
                Attempt::Lost { reason, .. } => Err(CallEnd::Lost { reason, answered: false }),
                Attempt::Refused(failure) => return Err(failure),
                Attempt::Interrupted => Err(CallEnd::Interrupted),
            });
        }
    }

    /// Handles a message; `first` tells whether it is the first one of the call. Returns why the
    /// call ends, if it does.
    fn take(&mut self, event: Message, first: bool) -> Option<CallEnd> {
        let event = match event {
            Message::Job(job) => return self.take_job(job, first),
            Message::Note(note) => {
                log_note(&note);
                return None;
            }
            other => other,
        };
        // A call starts with the state of the job.
        let (job_events, progress) = self.display.as_mut()?;
        match event {
            Message::Layer(layer) => {
                let depth = layer.depth;
                let event = match convert::layer_from(layer) {
                    Ok(layer) => job_events.layer(layer),
                    Err(error) => {
                        let reason = format!("layer {depth} is malformed: {error}");
                        return Some(CallEnd::Lost { reason, answered: true });
                    }
                };
                match event {
                    Ok(event) => event.iter().for_each(|event| progress.emit(event)),
                    Err(_) => {
                        let reason = format!("layers before layer {depth} are missing");
                        return Some(CallEnd::Lost { reason, answered: true });
                    }
                }
            }
            Message::RolledBack(back) => {
                job_events.roll_back(back.depth).iter().for_each(|event| progress.emit(event));
            }
            Message::Checkpoint(done) => {
                let v1::CheckpointDone { depth, bytes, seconds } = done;
                let checkpoint = crate::output::events::Checkpoint { depth, bytes, seconds };
                progress.emit(&crate::output::events::Event::Checkpoint(checkpoint));
            }
            Message::Job(_) | Message::Note(_) => {}
        }
        None
    }

    fn take_job(&mut self, job: v1::Job, first: bool) -> Option<CallEnd> {
        self.log_state(&job);
        let Some((job_events, progress)) = &mut self.display else {
            self.begin(job);
            return None;
        };
        let depth = job.depth;
        job_events.update(job);
        // The job may have rolled back while the connection was lost.
        if first && depth < job_events.depth() {
            job_events.roll_back(depth).iter().for_each(|event| progress.emit(event));
            return Some(CallEnd::Again);
        }
        None
    }

    fn begin(&mut self, job: v1::Job) {
        let progress = Progress::start(self.console, &record::forecast(&job));
        // The id is permanent; a name may be given to another job later.
        self.job.clone_from(&job.id);
        let job_events = JobEvents::new(job, self.cluster);
        progress.emit(&job_events.beginning());
        self.display = Some((job_events, progress));
    }

    /// Logs a change of the job's state. [`Follower::end`] shows its end.
    fn log_state(&mut self, job: &v1::Job) {
        let state =
            format!("job {} is {}{}", job.id, report::state_or_paused(job), report::why(job));
        if !record::has_ended(job) && state != self.state {
            tracing::info!("{state}");
        }
        self.state = state;
    }

    fn end(mut self) -> Result<ExitCode, Failure> {
        let display = self.display.take();
        let Some((ending, progress)) =
            display.and_then(|(job_events, progress)| Some((job_events.ending()?, progress)))
        else {
            return Err(Failure::new(ExitCode::Unexpected, "the job ended in an unknown state"));
        };
        progress.emit(&ending.event);
        progress.finish()?;
        match ending.failure {
            None => Ok(ending.code),
            Some(failure) => Err(Failure::new(ending.code, failure)),
        }
    }

    fn detach(mut self) -> Result<ExitCode, Failure> {
        if let Some((_, progress)) = self.display.take() {
            progress.finish()?;
        }
        let job = &self.job;
        let (watch, cancel) =
            (self.cluster.command("watch", job), self.cluster.command("cancel", job));
        // If standard error is closed, the message is lost.
        let _ = writeln!(
            io::stderr(),
            "job {job} keeps running; {watch} follows it, {cancel} stops it"
        );
        Ok(ExitCode::Interrupted)
    }
}

/// Logs a line of the coordinator's log; information becomes debug output. Lines about layers and
/// checkpoints are left out, since events show them.
fn log_note(note: &v1::LogLine) {
    let shown = [LayerLine::COMMITTED, LayerLine::SEARCHING, CheckpointLine::COMMITTED];
    if shown.contains(&&*note.message) {
        return;
    }
    let text = &note.text;
    match &*note.level {
        "ERROR" => tracing::error!("{text}"),
        "WARN" => tracing::warn!("{text}"),
        _ => tracing::debug!("{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit() {
        let mut backoff = Backoff::new();
        let pauses: Vec<u128> = (0..6).map(|_| backoff.pause().as_millis()).collect();
        assert_eq!(pauses, [500, 1000, 2000, 4000, 5000, 5000]);
    }

    #[test]
    fn lost_connections_are_unlimited_and_invalid_replies_are_not() {
        let mut backoff = Backoff::new();
        assert!((0..100).all(|_| !backoff.is_exhausted(false)));
        assert_eq!((0..4).filter(|_| backoff.is_exhausted(true)).count(), 1);
    }
}
