//! Stays with a job until it ends: shows what happens in it as `solve` does, and comes back when
//! the coordinator was away.

use std::io::{self, Write};
use std::time::Duration;

use strata_proto::v1;
use strata_proto::v1::job_event::Event as Told;
use tonic::Streaming;

use super::account::Account;
use super::record;
use super::remote::{Attempt, Next, Remote, Signals};
use super::report;
use crate::args::cluster::ClientArgs;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;

/// The first pause before a lost connection is tried again; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often an answer that makes no sense is met with another try.
const MOST_STRIKES: u32 = 4;

/// How long to wait for the end of the call once the job has ended.
const LINGER: Duration = Duration::from_secs(2);

/// One who follows a job.
pub(crate) struct Follower<'a> {
    remote: Remote<'a>,
    cluster: &'a ClientArgs,
    console: &'a Console,
    signals: Signals,
    /// The job as it was asked for.
    asked: String,
    /// What is shown, from the first word on the job on.
    shown: Option<(Account<'a>, Progress)>,
    /// What was last said of the job's state.
    state: String,
    patience: Patience,
}

/// Why a call is over.
enum Over {
    /// The job has ended.
    Ended,
    /// The call is to be made again at once: layers come again.
    Again,
    Lost {
        reason: String,
        answered: bool,
    },
    Interrupted,
}

/// How long to wait for a coordinator that is away, and how often to be fooled.
struct Patience {
    pause: Duration,
    strikes: u32,
    /// Whether it was said that the coordinator is away.
    told: bool,
}

impl Patience {
    fn new() -> Self {
        Patience { pause: FIRST_PAUSE, strikes: 0, told: false }
    }

    /// Counts answers that make no sense; silence explains them.
    fn is_over(&mut self, answered: bool) -> bool {
        self.strikes = if answered { self.strikes + 1 } else { 0 };
        self.strikes >= MOST_STRIKES
    }

    fn pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (2 * pause).min(LONGEST_PAUSE);
        pause
    }
}

impl<'a> Follower<'a> {
    /// One who follows the job of that id or name.
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
            asked: job.to_owned(),
            shown: None,
            state: String::new(),
            patience: Patience::new(),
        })
    }

    /// One who follows a job that was just submitted or resumed.
    pub(crate) fn of(
        remote: Remote<'a>,
        console: &'a Console,
        job: v1::Job,
    ) -> Result<Self, Failure> {
        let mut follower = Follower::new(remote, console, &job.id)?;
        follower.tell_state(&job);
        follower.begin(job);
        Ok(follower)
    }

    /// Follows until the end.
    pub(crate) fn run(mut self) -> Result<ExitCode, Failure> {
        loop {
            match self.call()? {
                Over::Ended => return self.end(),
                Over::Interrupted => return self.detach(),
                Over::Again => {}
                Over::Lost { reason, answered } => {
                    if self.patience.is_over(answered) {
                        return Err(Failure::new(ExitCode::Unexpected, reason));
                    }
                    // A call that ends a moment too early is no news.
                    if !self.patience.told && (!answered || self.patience.strikes > 1) {
                        tracing::warn!("{reason}; trying again until the coordinator is back");
                        self.patience.told = true;
                    }
                    let pause = self.patience.pause();
                    if self.remote.pause(pause, &mut self.signals) {
                        return self.detach();
                    }
                }
            }
        }
    }

    /// One call, from the job as it is until the end of whatever comes.
    fn call(&mut self) -> Result<Over, Failure> {
        let after = self.shown.as_ref().and_then(|(account, _)| account.depth());
        let mut events = match self.remote.watch(&self.asked, after, &mut self.signals) {
            Attempt::Done(events) => events,
            Attempt::Lost { reason, answered } => return Ok(Over::Lost { reason, answered }),
            Attempt::Refused(failure) => return Err(failure),
            Attempt::Interrupted => return Ok(Over::Interrupted),
        };
        let mut beginning = true;
        loop {
            let event = match self.next(&mut events)? {
                Ok(event) => event,
                Err(over) => return Ok(over),
            };
            if std::mem::take(&mut self.patience.told) {
                tracing::info!("connected to the coordinator again");
            }
            let first = std::mem::take(&mut beginning);
            if let Some(over) = self.take(event, first) {
                return Ok(over);
            }
            if !first {
                self.patience = Patience::new();
            }
        }
    }

    /// The next event of a call, or why there is none.
    fn next(
        &mut self,
        events: &mut Streaming<v1::JobEvent>,
    ) -> Result<Result<Told, Over>, Failure> {
        let complete = self.shown.as_ref().is_some_and(|(account, _)| account.is_complete());
        let ended =
            self.shown.as_ref().is_some_and(|(account, _)| record::has_ended(account.job()));
        let limit = complete.then_some(LINGER);
        loop {
            return Ok(match self.remote.event(events, limit, &mut self.signals) {
                Attempt::Done(Next::Item(v1::JobEvent { event: Some(event) })) => Ok(event),
                // Something that only newer programs know.
                Attempt::Done(Next::Item(_)) => continue,
                Attempt::Done(Next::End) if ended => Err(Over::Ended),
                Attempt::Done(Next::End) => {
                    let reason = format!("{} ended the call", self.cluster.coordinator);
                    Err(Over::Lost { reason, answered: true })
                }
                Attempt::Done(Next::Silence) => Err(Over::Ended),
                Attempt::Lost { .. } if complete => Err(Over::Ended),
                Attempt::Lost { reason, .. } => Err(Over::Lost { reason, answered: false }),
                Attempt::Refused(failure) => return Err(failure),
                Attempt::Interrupted => Err(Over::Interrupted),
            });
        }
    }

    /// Takes an event, the first of a call or another.
    fn take(&mut self, event: Told, first: bool) -> Option<Over> {
        let event = match event {
            Told::Job(job) => return self.take_job(job, first),
            Told::Note(note) => {
                tell(&note);
                return None;
            }
            other => other,
        };
        // A call begins with the job: without it, nothing else can be placed.
        let (account, progress) = self.shown.as_mut()?;
        match event {
            Told::Layer(line) => match account.layer(&line) {
                Ok(event) => event.iter().for_each(|event| progress.emit(event)),
                Err(_) => {
                    let reason = format!("layers before layer {} were lost", line.depth);
                    return Some(Over::Lost { reason, answered: true });
                }
            },
            Told::RolledBack(back) => {
                account.roll_back(back.depth).iter().for_each(|event| progress.emit(event));
            }
            Told::Checkpoint(done) => {
                let v1::CheckpointDone { depth, bytes, seconds } = done;
                let checkpoint = crate::output::events::Checkpoint { depth, bytes, seconds };
                progress.emit(&crate::output::events::Event::Checkpoint(checkpoint));
            }
            Told::Job(_) | Told::Note(_) => {}
        }
        None
    }

    fn take_job(&mut self, job: v1::Job, first: bool) -> Option<Over> {
        self.tell_state(&job);
        let Some((account, progress)) = &mut self.shown else {
            self.begin(job);
            return None;
        };
        let depth = job.depth;
        account.update(job);
        // A coordinator that was away may have gone back to a checkpoint in the meantime.
        if first && depth < account.depth() {
            account.roll_back(depth).iter().for_each(|event| progress.emit(event));
            return Some(Over::Again);
        }
        None
    }

    fn begin(&mut self, job: v1::Job) {
        let progress = Progress::start(self.console, job.expected_layers);
        // The id stays; a name may be given to another job some day.
        self.asked.clone_from(&job.id);
        let account = Account::new(job, self.cluster);
        progress.emit(&account.beginning());
        self.shown = Some((account, progress));
    }

    /// Logs what a job waits for, when that changes. Its end is told by [`Follower::end`].
    fn tell_state(&mut self, job: &v1::Job) {
        let state = format!("job {} is {}{}", job.id, record::state(job), report::why(job));
        if !record::has_ended(job) && state != self.state {
            tracing::info!("{state}");
        }
        self.state = state;
    }

    fn end(mut self) -> Result<ExitCode, Failure> {
        let shown = self.shown.take();
        let Some((ending, progress)) =
            shown.and_then(|(account, progress)| Some((account.ending()?, progress)))
        else {
            return Err(Failure::new(ExitCode::Unexpected, "the job ended without an end"));
        };
        progress.emit(&ending.event);
        progress.finish()?;
        match ending.failure {
            None => Ok(ending.code),
            Some(failure) => Err(Failure::new(ending.code, failure)),
        }
    }

    fn detach(mut self) -> Result<ExitCode, Failure> {
        if let Some((_, progress)) = self.shown.take() {
            progress.finish()?;
        }
        let job = &self.asked;
        let (watch, cancel) =
            (self.cluster.command("watch", job), self.cluster.command("cancel", job));
        // With stderr closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "job {job} goes on; {watch} follows it, {cancel} stops it");
        Ok(ExitCode::Interrupted)
    }
}

/// Logs what the coordinator has to say. What is only information is shown as events, too, and is in
/// the job's log.
fn tell(note: &v1::LogLine) {
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
        let mut patience = Patience::new();
        let pauses: Vec<u128> = (0..6).map(|_| patience.pause().as_millis()).collect();
        assert_eq!(pauses, [500, 1000, 2000, 4000, 5000, 5000]);
    }

    #[test]
    fn silence_is_borne_and_nonsense_is_not() {
        let mut patience = Patience::new();
        assert!((0..100).all(|_| !patience.is_over(false)));
        assert_eq!((0..4).filter(|_| patience.is_over(true)).count(), 1);
    }
}
