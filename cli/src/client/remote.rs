//! Blocking calls to a coordinator, over a runtime of one thread.

use std::error::Error;
use std::future::Future;
use std::time::{Duration, Instant};

use strata_proto::net::{Connection, NetError, Security, convert, limits, status_reason};
use strata_proto::v1;
use strata_proto::v1::job_service_client::JobServiceClient;
use strata_run::CancelToken;
use strata_store::LayerRecord;
use tokio::runtime::{Builder, Runtime};
use tonic::{Code, Response, Status, Streaming};

use crate::args::cluster::ClientArgs;
use crate::output::exit::{ExitCode, Failure};
use crate::signals::Signals;

/// Time limit of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit of a health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits of a connection's calls: a deadline and a token.
#[derive(Clone, Debug)]
pub(crate) struct Until {
    /// Calls fail after this time.
    pub(crate) deadline: Instant,
    /// Calls fail once it is cancelled.
    pub(crate) stop: CancelToken,
}

impl Until {
    /// Time between two looks at the token.
    const POLL: Duration = Duration::from_millis(100);

    /// Completes when the calls must fail.
    async fn end(&self) {
        while !self.stop.is_cancelled() && Instant::now() < self.deadline {
            tokio::time::sleep(Until::POLL).await;
        }
    }
}

/// Connection to a coordinator.
pub(crate) struct Remote<'a> {
    pub(crate) args: &'a ClientArgs,
    until: Option<Until>,
    security: Security,
    runtime: Runtime,
    /// None after the connection was lost.
    client: Option<JobServiceClient<Connection>>,
}

/// Result of a call that a signal or a lost connection may interrupt.
pub(crate) enum Attempt<T> {
    Done(T),
    /// The connection was lost or could not be made. `answered`: there was a reply, but an invalid
    /// one.
    Lost {
        reason: String,
        answered: bool,
    },
    Refused(Failure),
    Interrupted,
}

/// Next element of a stream.
pub(crate) enum Next<T> {
    Item(T),
    /// End of the stream.
    End,
    /// Nothing arrived within the time limit.
    TimedOut,
}

impl<'a> Remote<'a> {
    /// Connects to the coordinator.
    ///
    /// # Errors
    /// If its address, token or certificates are refused, or it cannot be reached.
    pub(crate) fn connect(args: &'a ClientArgs) -> Result<Remote<'a>, Failure> {
        let security = args.security.open()?;
        let runtime = runtime()?;
        let connection = runtime.block_on(security.connect(&args.coordinator));
        let client = Some(job_service(connection?));
        Ok(Remote { args, until: None, security, runtime, client })
    }

    /// The same connection with limits for its calls and streams.
    pub(crate) fn until(self, until: Until) -> Remote<'a> {
        Remote { until: Some(until), ..self }
    }

    /// Waits for the result of a call or for an item of a stream, within the limits.
    fn wait<T>(&self, answer: impl Future<Output = Result<T, Status>>) -> Result<T, Failure> {
        let answer = self.runtime.block_on(async {
            let Some(until) = &self.until else { return answer.await };
            tokio::select! {
                answer = answer => answer,
                () = until.end() => Err(Status::cancelled("the time for it is over")),
            }
        });
        answer.map_err(|status| self.failure(&status))
    }

    /// Makes a call with a single reply.
    fn call<T, F>(&self, call: impl FnOnce(JobServiceClient<Connection>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let Some(client) = self.client.clone() else {
            return Err(Failure::new(ExitCode::Unreachable, "the connection was lost"));
        };
        let answer = self.wait(async {
            let late = |_| Status::deadline_exceeded(format!("no reply within {CALL_TIMEOUT:?}"));
            tokio::time::timeout(CALL_TIMEOUT, call(client)).await.map_err(late)?
        });
        answer.map(Response::into_inner)
    }

    /// Submits a job.
    ///
    /// # Errors
    /// Like every call: if it is refused, or the connection is lost.
    pub(crate) fn submit(&self, request: v1::SubmitRequest) -> Result<v1::Job, Failure> {
        self.call(|mut client| async move { client.submit(request).await })
    }

    /// The jobs, oldest first: all, or only those that have not ended.
    ///
    /// # Errors
    /// Like every call.
    pub(crate) fn list(&self, unfinished: bool) -> Result<Vec<v1::Job>, Failure> {
        let request = v1::ListRequest { unfinished };
        let parts = self.call(|mut client| async move { client.list(request).await })?;
        self.collect(parts, |part| part.jobs)
    }

    pub(crate) fn status(&self, job: &str) -> Result<v1::Job, Failure> {
        let job = reference(job);
        self.call(|mut client| async move { client.status(job).await })
    }

    pub(crate) fn cancel(&self, job: &str) -> Result<v1::Job, Failure> {
        let job = reference(job);
        self.call(|mut client| async move { client.cancel(job).await })
    }

    pub(crate) fn resume(&self, job: &str) -> Result<v1::Job, Failure> {
        let job = reference(job);
        self.call(|mut client| async move { client.resume(job).await })
    }

    /// Removes a job that has ended.
    ///
    /// # Errors
    /// Like every call.
    pub(crate) fn remove(&self, job: &str) -> Result<v1::RemovedJob, Failure> {
        let job = reference(job);
        self.call(|mut client| async move { client.remove(job).await })
    }

    /// Removes, or lists, the jobs that ended some time ago.
    ///
    /// # Errors
    /// Like every call.
    pub(crate) fn remove_ended(
        &self,
        request: v1::CollectRequest,
    ) -> Result<Streaming<v1::CollectPart>, Failure> {
        self.call(|mut client| async move { client.collect(request).await })
    }

    /// The layers of a job so far, from depth 0 on.
    ///
    /// # Errors
    /// Like every call, and if figures of a layer are impossible.
    pub(crate) fn layers(&self, job: &str) -> Result<Vec<LayerRecord>, Failure> {
        let job = reference(job);
        let parts = self.call(|mut client| async move { client.layers(job).await })?;
        let layers = self.collect(parts, |part| part.layers)?.into_iter().map(convert::layer_from);
        let layers = layers.collect::<Result<_, _>>();
        layers.map_err(|error| Failure::new(ExitCode::Unexpected, error))
    }

    pub(crate) fn workers(&self) -> Result<Vec<v1::WorkerInfo>, Failure> {
        let request = v1::WorkersRequest {};
        let reply = self.call(|mut client| async move { client.workers(request).await })?;
        Ok(reply.workers)
    }

    pub(crate) fn logs(&self, job: &str, follow: bool) -> Result<Streaming<v1::LogLine>, Failure> {
        let request = v1::LogsRequest { job: job.to_owned(), follow };
        self.call(|mut client| async move { client.logs(request).await })
    }

    pub(crate) fn look_up(&self, request: v1::LookUpRequest) -> Result<v1::Found, Failure> {
        self.call(|mut client| async move { client.look_up(request).await })
    }

    pub(crate) fn fetch_layer(
        &self,
        layer: v1::LayerRef,
    ) -> Result<Streaming<v1::LayerPart>, Failure> {
        self.call(|mut client| async move { client.fetch_layer(layer).await })
    }

    /// Starts a second search for the path of a symbolic job.
    ///
    /// # Errors
    /// Like every call.
    pub(crate) fn find_path(&self, job: &str) -> Result<Streaming<v1::PathPart>, Failure> {
        let job = reference(job);
        self.call(|mut client| async move { client.find_path(job).await })
    }

    /// Makes the workers check their files of a job.
    ///
    /// # Errors
    /// Like every call.
    pub(crate) fn verify(&self, job: &str) -> Result<Streaming<v1::VerifyPart>, Failure> {
        let job = reference(job);
        self.call(|mut client| async move { client.verify(job).await })
    }

    /// Lists states of a layer: all, or about `sample` of them.
    ///
    /// # Errors
    /// Like every call.
    pub(crate) fn list_states(
        &self,
        layer: v1::LayerRef,
        sample: Option<u64>,
    ) -> Result<Streaming<v1::StatesPart>, Failure> {
        let request = v1::ListStatesRequest { layer: Some(layer), sample };
        self.call(|mut client| async move { client.list_states(request).await })
    }

    /// The next item of a stream. A signal does not interrupt the wait.
    pub(crate) fn next<T>(&self, items: &mut Streaming<T>) -> Result<Option<T>, Failure> {
        self.wait(items.message())
    }

    /// All items of a stream whose messages hold several each.
    fn collect<P, T>(
        &self,
        mut parts: Streaming<P>,
        items: impl Fn(P) -> Vec<T>,
    ) -> Result<Vec<T>, Failure> {
        let mut all = Vec::new();
        while let Some(part) = self.next(&mut parts)? {
            all.extend(items(part));
        }
        Ok(all)
    }

    /// Installs the signal handlers. Before this call, a signal ends the process.
    pub(crate) fn signals(&self) -> Result<Signals, Failure> {
        let _context = self.runtime.enter();
        Signals::listen()
    }

    /// Starts to watch a job, over a new connection if the old one was lost.
    pub(crate) fn watch(
        &mut self,
        job: &str,
        after: Option<u32>,
        signals: &mut Signals,
    ) -> Attempt<Streaming<v1::JobEvent>> {
        let Remote { args, security, runtime, client, .. } = self;
        let request = v1::WatchRequest { job: job.to_owned(), after };
        let begin = async {
            let mut connected = match client.take() {
                Some(client) => client,
                None => match security.connect(&args.coordinator).await {
                    Ok(connection) => job_service(connection),
                    Err(error @ NetError::Unreachable { .. }) => {
                        let reason = error.to_string();
                        return Attempt::Lost { reason, answered: false };
                    }
                    Err(error) => return Attempt::Refused(error.into()),
                },
            };
            match connected.watch(request).await {
                Ok(events) => {
                    *client = Some(connected);
                    Attempt::Done(events.into_inner())
                }
                Err(status) => interrupted(args, &status),
            }
        };
        runtime.block_on(async {
            tokio::select! {
                attempt = begin => attempt,
                () = signals.next() => Attempt::Interrupted,
            }
        })
    }

    /// Waits for the next message, up to a time limit.
    pub(crate) fn event(
        &mut self,
        events: &mut Streaming<v1::JobEvent>,
        limit: Option<Duration>,
        signals: &mut Signals,
    ) -> Attempt<Next<v1::JobEvent>> {
        let limit = limit.unwrap_or(Duration::MAX);
        let attempt = self.runtime.block_on(async {
            tokio::select! {
                message = events.message() => match message {
                    Ok(Some(event)) => Attempt::Done(Next::Item(event)),
                    Ok(None) => Attempt::Done(Next::End),
                    Err(status) => interrupted(self.args, &status),
                },
                () = tokio::time::sleep(limit) => Attempt::Done(Next::TimedOut),
                () = signals.next() => Attempt::Interrupted,
            }
        });
        if let Attempt::Lost { .. } = attempt {
            self.client = None;
        }
        attempt
    }

    /// Waits for a time or a signal; returns whether a signal came.
    pub(crate) fn pause(&self, time: Duration, signals: &mut Signals) -> bool {
        self.runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(time) => false,
                () = signals.next() => true,
            }
        })
    }

    fn failure(&self, status: &Status) -> Failure {
        failure(self.args, status)
    }
}

/// Checks the health of a node.
pub(crate) fn health(url: &str, security: &Security) -> Result<Result<(), NetError>, Failure> {
    Ok(runtime()?.block_on(strata_proto::net::health(url, security, HEALTH_TIMEOUT)))
}

fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::new(ExitCode::Unexpected, format!("cannot start a runtime: {error}"))
    })
}

fn job_service(connection: Connection) -> JobServiceClient<Connection> {
    JobServiceClient::new(connection).max_decoding_message_size(limits::MESSAGE_BYTES)
}

fn reference(job: &str) -> v1::JobRef {
    v1::JobRef { job: job.to_owned() }
}

/// Whether a status counts as a lost connection instead of a reply of the coordinator.
///
/// Of internal errors, those of a broken stream have a source; those of a reply have none.
fn is_lost(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable | Code::Unknown | Code::Cancelled | Code::DeadlineExceeded => true,
        Code::Internal => status.source().is_some(),
        _ => false,
    }
}

/// Whether the coordinator could not write because its disk is full.
fn is_disk_full(status: &Status) -> bool {
    status.code() == Code::ResourceExhausted && status.source().is_none()
}

fn interrupted<T>(args: &ClientArgs, status: &Status) -> Attempt<T> {
    // A full disk of the coordinator is temporary, like a lost connection.
    if is_lost(status) || is_disk_full(status) {
        let reason = failure(args, status).to_string();
        Attempt::Lost { reason, answered: status.code() == Code::Unknown }
    } else {
        Attempt::Refused(failure(args, status))
    }
}

/// The failure for a call that was refused.
fn failure(args: &ClientArgs, status: &Status) -> Failure {
    let (url, message) = (&args.coordinator, &status_reason(status));
    match status.code() {
        // A reply of the coordinator: its journal or a worker is not available.
        Code::Unavailable if status.source().is_none() => {
            Failure::new(ExitCode::Unreachable, format!("{url} cannot answer now: {message}"))
        }
        _ if is_lost(status) => {
            Failure::new(ExitCode::Unreachable, NetError::unreachable(url, message))
        }
        Code::Unauthenticated => Failure::usage(match &args.security.token_file {
            Some(file) => {
                let file = file.display();
                format!(
                    "{url} refuses the token in {file} ({message}): --token-file must name the cluster's"
                )
            }
            None => format!("{url} requires a token: name the cluster's with --token-file"),
        }),
        Code::NotFound => Failure::new(ExitCode::NoSuchJob, message),
        Code::InvalidArgument | Code::AlreadyExists | Code::FailedPrecondition => {
            Failure::usage(message)
        }
        _ if is_disk_full(status) => {
            Failure::new(ExitCode::Limit, format!("the disk of {url} is full: {message}"))
        }
        Code::OutOfRange => Failure::new(ExitCode::Limit, message),
        Code::DataLoss => Failure::new(ExitCode::Corrupt, message),
        Code::Unimplemented => {
            let message = format!("{url} does not support this call: it has another version");
            Failure::new(ExitCode::Unexpected, message)
        }
        _ => Failure::new(ExitCode::Unexpected, format!("{url} failed: {message}")),
    }
}
