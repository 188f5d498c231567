//! The edge to the network: a coordinator as plain calls, over a runtime of one thread.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use strata_net::{Connection, NetError, Security, limits};
use strata_proto::v1;
use strata_proto::v1::job_service_client::JobServiceClient;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tonic::{Code, Response, Status, Streaming};

use crate::args::cluster::ClientArgs;
use crate::output::exit::{ExitCode, Failure};

/// The longest wait for the answer to a question.
const ANSWER: Duration = Duration::from_secs(30);

/// The longest wait for a node to say that it is healthy.
const HEALTH: Duration = Duration::from_secs(5);

/// A coordinator.
pub(crate) struct Remote<'a> {
    pub(crate) args: &'a ClientArgs,
    security: Security,
    runtime: Runtime,
    /// None once the connection is lost.
    client: Option<JobServiceClient<Connection>>,
}

/// SIGINT and SIGTERM, from the moment this is made.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// How an attempt ended that a signal or a lost connection may cut short.
pub(crate) enum Attempt<T> {
    Done(T),
    /// The connection is lost, or was not made; and whether there was an answer at all.
    Lost {
        reason: String,
        answered: bool,
    },
    Refused(Failure),
    Interrupted,
}

/// What comes next of a stream.
pub(crate) enum Next<T> {
    Item(T),
    /// The stream is over.
    End,
    /// Nothing came in time.
    Silence,
}

impl<'a> Remote<'a> {
    /// Connects.
    pub(crate) fn connect(args: &'a ClientArgs) -> Result<Remote<'a>, Failure> {
        let security = args.security.open()?;
        let runtime = runtime()?;
        let connection = runtime.block_on(security.connect(&args.coordinator));
        let client = Some(job_service(connection.map_err(|error| refusal(&error))?));
        Ok(Remote { args, security, runtime, client })
    }

    /// Asks a question that is answered at once.
    fn ask<T, F>(&self, call: impl FnOnce(JobServiceClient<Connection>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let Some(client) = self.client.clone() else {
            return Err(Failure::new(ExitCode::Unreachable, "the connection is lost"));
        };
        let answer = self.runtime.block_on(async {
            let late = |_| Status::deadline_exceeded(format!("no answer within {ANSWER:?}"));
            tokio::time::timeout(ANSWER, call(client)).await.map_err(late)?
        });
        answer.map(Response::into_inner).map_err(|status| self.failure(&status))
    }

    pub(crate) fn submit(&self, request: v1::SubmitRequest) -> Result<v1::Job, Failure> {
        self.ask(|mut client| async move { client.submit(request).await })
    }

    pub(crate) fn list(&self) -> Result<Vec<v1::Job>, Failure> {
        let reply = self.ask(|mut client| async move { client.list(v1::ListRequest {}).await })?;
        Ok(reply.jobs)
    }

    pub(crate) fn status(&self, job: &str) -> Result<v1::Job, Failure> {
        let job = reference(job);
        self.ask(|mut client| async move { client.status(job).await })
    }

    pub(crate) fn cancel(&self, job: &str) -> Result<v1::Job, Failure> {
        let job = reference(job);
        self.ask(|mut client| async move { client.cancel(job).await })
    }

    pub(crate) fn resume(&self, job: &str) -> Result<v1::Job, Failure> {
        let job = reference(job);
        self.ask(|mut client| async move { client.resume(job).await })
    }

    pub(crate) fn layers(&self, job: &str) -> Result<v1::LayersReply, Failure> {
        let job = reference(job);
        self.ask(|mut client| async move { client.layers(job).await })
    }

    pub(crate) fn workers(&self) -> Result<Vec<v1::WorkerInfo>, Failure> {
        let request = v1::WorkersRequest {};
        let reply = self.ask(|mut client| async move { client.workers(request).await })?;
        Ok(reply.workers)
    }

    pub(crate) fn logs(&self, job: &str, follow: bool) -> Result<Streaming<v1::LogLine>, Failure> {
        let request = v1::LogsRequest { job: job.to_owned(), follow };
        self.ask(|mut client| async move { client.logs(request).await })
    }

    pub(crate) fn look_up(&self, request: v1::LookUpRequest) -> Result<v1::Found, Failure> {
        self.ask(|mut client| async move { client.look_up(request).await })
    }

    pub(crate) fn fetch_layer(
        &self,
        layer: v1::LayerRef,
    ) -> Result<Streaming<v1::LayerPart>, Failure> {
        self.ask(|mut client| async move { client.fetch_layer(layer).await })
    }

    /// The next item of a stream that is not watched for signals.
    pub(crate) fn next<T>(&self, items: &mut Streaming<T>) -> Result<Option<T>, Failure> {
        let item = self.runtime.block_on(items.message());
        item.map_err(|status| self.failure(&status))
    }

    /// Begins to listen to signals, which until then end the process.
    pub(crate) fn signals(&self) -> Result<Signals, Failure> {
        let _context = self.runtime.enter();
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::new(ExitCode::Unexpected, format!("cannot listen to signals: {error}"))
            })
        };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Begins to watch a job, over a new connection if the old one is lost.
    pub(crate) fn watch(
        &mut self,
        job: &str,
        after: Option<u32>,
        signals: &mut Signals,
    ) -> Attempt<Streaming<v1::JobEvent>> {
        let Remote { args, security, runtime, client } = self;
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
                    Err(error) => return Attempt::Refused(refusal(&error)),
                },
            };
            match connected.watch(request).await {
                Ok(events) => {
                    *client = Some(connected);
                    Attempt::Done(events.into_inner())
                }
                Err(status) => cut_short(args, &status),
            }
        };
        runtime.block_on(async {
            tokio::select! {
                attempt = begin => attempt,
                () = signals.come() => Attempt::Interrupted,
            }
        })
    }

    /// Waits for the next event, for so long at most if there is a limit.
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
                    Err(status) => cut_short(self.args, &status),
                },
                () = tokio::time::sleep(limit) => Attempt::Done(Next::Silence),
                () = signals.come() => Attempt::Interrupted,
            }
        });
        if let Attempt::Lost { .. } = attempt {
            self.client = None;
        }
        attempt
    }

    /// Waits; returns whether a signal came.
    pub(crate) fn pause(&self, time: Duration, signals: &mut Signals) -> bool {
        self.runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(time) => false,
                () = signals.come() => true,
            }
        })
    }

    fn failure(&self, status: &Status) -> Failure {
        failure(self.args, status)
    }
}

/// Asks a node whether it is healthy.
pub(crate) fn health(url: &str, security: &Security) -> Result<Result<(), NetError>, Failure> {
    Ok(runtime()?.block_on(strata_net::health(url, security, HEALTH)))
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

/// The failure for an error of the network.
pub(crate) fn refusal(error: &NetError) -> Failure {
    let code = match error {
        NetError::Unreachable { .. } => ExitCode::Unreachable,
        // A file, a flag or an address that is not as it must be.
        _ => ExitCode::Usage,
    };
    Failure::new(code, error)
}

/// Whether a failed call is no answer but the end of a connection. A broken stream comes with its
/// reason, an answer comes without.
fn is_lost(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable | Code::Unknown | Code::Cancelled | Code::DeadlineExceeded => true,
        Code::Internal => status.source().is_some(),
        _ => false,
    }
}

fn cut_short<T>(args: &ClientArgs, status: &Status) -> Attempt<T> {
    if is_lost(status) {
        let reason = failure(args, status).to_string();
        Attempt::Lost { reason, answered: status.code() == Code::Unknown }
    } else {
        Attempt::Refused(failure(args, status))
    }
}

/// The failure for a call that was refused.
fn failure(args: &ClientArgs, status: &Status) -> Failure {
    let (url, message) = (&args.coordinator, status.message());
    match status.code() {
        _ if is_lost(status) => {
            Failure::new(ExitCode::Unreachable, format!("cannot reach {url}: {message}"))
        }
        Code::Unauthenticated => Failure::usage(match &args.security.token_file {
            Some(file) => {
                let file = file.display();
                format!(
                    "{url} refuses the token in {file} ({message}): --token-file must name the cluster's"
                )
            }
            None => format!("{url} asks for a token: name the cluster's with --token-file"),
        }),
        Code::NotFound => Failure::new(ExitCode::NoSuchJob, message),
        Code::InvalidArgument | Code::AlreadyExists | Code::FailedPrecondition => {
            Failure::usage(message)
        }
        Code::DataLoss => Failure::new(ExitCode::Corrupt, message),
        Code::Unimplemented => {
            let message = format!("{url} does not know this call: it is of another version");
            Failure::new(ExitCode::Unexpected, message)
        }
        _ => Failure::new(ExitCode::Unexpected, format!("{url} failed: {message}")),
    }
}
