//! The clients' side: jobs are submitted, watched, cancelled and resumed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use strata::KeepLayers;
use strata::catalogue::Registry;
use strata_net::{Security, convert, limits};
use strata_proto::v1;
use strata_proto::v1::job_service_server::JobService;
use strata_store::JobSpec;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::layers::LayerFiles;
use super::view;
use super::{blocking, refused};
use crate::cluster::Cluster;
use crate::cluster::job_view::{JobEvent, JobView, Level};
use crate::entry::{JobEntry, JobOptions, JobState};
use crate::journal::JournalError;

/// Shards of a job that does not say: enough to share out among many workers.
const SHARDS: u32 = 64;
const MOST_SHARDS: u32 = 65_536;

/// Events on their way to one client.
const AHEAD: usize = 256;

/// See the module.
pub(crate) struct Jobs {
    pub(crate) cluster: Arc<Cluster>,
    /// For the way to the workers.
    pub(crate) security: Security,
}

type Events<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl Jobs {
    async fn find(&self, job: String) -> Result<JobEntry, Status> {
        let cluster = Arc::clone(&self.cluster);
        blocking(move || cluster.journal.find(&job)).await
    }

    async fn live(&self, id: &str) -> Result<Arc<JobView>, Status> {
        let (cluster, id) = (Arc::clone(&self.cluster), id.to_owned());
        blocking(move || cluster.job(&id)).await
    }

    /// The files of a layer.
    async fn layer(&self, layer: v1::LayerRef) -> Result<LayerFiles, Status> {
        let v1::LayerRef { job, depth } = layer;
        let entry = self.find(job).await?;
        let line = self.live(&entry.id).await?.line(depth);
        LayerFiles::of(&entry, line.as_ref(), depth)
    }

    async fn show(&self, entry: JobEntry) -> Result<v1::Job, Status> {
        let cluster = Arc::clone(&self.cluster);
        blocking(move || {
            let live = cluster.job(&entry.id)?;
            Ok::<_, JournalError>(view::job(&entry, &live, &cluster.journal.jobs()?))
        })
        .await
    }

    /// A stream that `fill` sends into, until it is done or fails.
    fn stream<T, F>(
        &self,
        fill: impl FnOnce(Jobs, mpsc::Sender<Result<T, Status>>) -> F,
    ) -> Response<Events<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<(), Status>> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let (cluster, security) = (Arc::clone(&self.cluster), self.security.clone());
        let filling = fill(Jobs { cluster, security }, sender.clone());
        tokio::spawn(async move {
            if let Err(status) = filling.await {
                let _ = sender.send(Err(status)).await;
            }
        });
        Response::new(Box::pin(ReceiverStream::new(receiver)))
    }

    /// Tells the queue and those who watch of a change, and shows the job.
    async fn changed(&self, entry: JobEntry, live: &JobView) -> Result<Response<v1::Job>, Status> {
        live.state();
        self.cluster.wake_queue();
        Ok(Response::new(self.show(entry).await?))
    }

    /// Whether a job has ended and all is told of it.
    async fn is_over(&self, id: &str, live: &JobView) -> Result<bool, Status> {
        // In this order: what has ended in the journal, the queue has begun.
        let has_ended = self.find(id.to_owned()).await?.state.has_ended();
        Ok(has_ended && !live.is_at_work())
    }
}

#[tonic::async_trait]
impl JobService for Jobs {
    type WatchStream = Events<v1::JobEvent>;
    type LogsStream = Events<v1::LogLine>;
    type FetchLayerStream = Events<v1::LayerPart>;

    async fn submit(
        &self,
        request: Request<v1::SubmitRequest>,
    ) -> Result<Response<v1::Job>, Status> {
        let v1::SubmitRequest { spec, options, name } = request.into_inner();
        let name = (!name.is_empty()).then_some(name);
        name.as_deref().map_or(Ok(()), check_name)?;
        let spec = convert::spec_from(spec).map_err(invalid)?;
        let options = options_of(options.unwrap_or_default())?;
        let (spec, label) = blocking(move || complete(spec)).await?;
        let cluster = Arc::clone(&self.cluster);
        let (entry, new) = blocking(move || {
            let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
            cluster.journal.submit(&label, name.as_deref(), spec, options, now)
        })
        .await?;
        if new {
            self.live(&entry.id).await?.note(Level::Info, "submitted");
        }
        self.cluster.wake_queue();
        Ok(Response::new(self.show(entry).await?))
    }

    async fn list(&self, _: Request<v1::ListRequest>) -> Result<Response<v1::ListReply>, Status> {
        let cluster = Arc::clone(&self.cluster);
        let mut jobs = blocking(move || {
            let entries = cluster.journal.jobs()?;
            let view = |entry: &JobEntry| Ok(view::job(entry, &*cluster.job(&entry.id)?, &entries));
            entries.iter().map(view).collect::<Result<Vec<v1::Job>, JournalError>>()
        })
        .await?;
        jobs.sort_by_key(|job| job.created);
        Ok(Response::new(v1::ListReply { jobs }))
    }

    async fn status(&self, request: Request<v1::JobRef>) -> Result<Response<v1::Job>, Status> {
        let entry = self.find(request.into_inner().job).await?;
        Ok(Response::new(self.show(entry).await?))
    }

    async fn watch(
        &self,
        request: Request<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let v1::WatchRequest { job, after } = request.into_inner();
        let entry = self.find(job).await?;
        let live = self.live(&entry.id).await?;
        Ok(self.stream(|jobs, sender| async move {
            watch(&jobs, &entry.id, &live, after, &sender).await
        }))
    }

    async fn logs(
        &self,
        request: Request<v1::LogsRequest>,
    ) -> Result<Response<Self::LogsStream>, Status> {
        let v1::LogsRequest { job, follow } = request.into_inner();
        let entry = self.find(job).await?;
        let live = self.live(&entry.id).await?;
        Ok(self.stream(|jobs, sender| async move {
            logs(&jobs, &entry.id, &live, follow, &sender).await
        }))
    }

    async fn cancel(&self, request: Request<v1::JobRef>) -> Result<Response<v1::Job>, Status> {
        let entry = self.find(request.into_inner().job).await?;
        let (cluster, id) = (Arc::clone(&self.cluster), entry.id);
        let live = self.live(&id).await?;
        let cancelled = Arc::clone(&live);
        let (entry, had_ended) = blocking(move || {
            cluster.journal.update(&id, |entry| {
                let had_ended = entry.state.has_ended();
                if !had_ended {
                    entry.cancel = true;
                    cancelled.set_cancelled(true);
                }
                if entry.state == JobState::Queued {
                    entry.state = JobState::Cancelled;
                }
                had_ended
            })
        })
        .await?;
        if had_ended {
            let text = format!("job {} has ended already", entry.id);
            return Err(Status::failed_precondition(text));
        }
        self.changed(entry, &live).await
    }

    async fn resume(&self, request: Request<v1::JobRef>) -> Result<Response<v1::Job>, Status> {
        let entry = self.find(request.into_inner().job).await?;
        let cluster = Arc::clone(&self.cluster);
        let entry = blocking(move || cluster.journal.requeue(&entry.id)).await?;
        let live = self.live(&entry.id).await?;
        live.note(Level::Info, "queued again");
        self.changed(entry, &live).await
    }

    async fn layers(
        &self,
        request: Request<v1::JobRef>,
    ) -> Result<Response<v1::LayersReply>, Status> {
        let entry = self.find(request.into_inner().job).await?;
        let (lines, _) = self.live(&entry.id).await?.lines();
        let layers = lines.iter().map(convert::line_to).collect();
        Ok(Response::new(v1::LayersReply { job: Some(self.show(entry).await?), layers }))
    }

    async fn look_up(
        &self,
        request: Request<v1::LookUpRequest>,
    ) -> Result<Response<v1::Found>, Status> {
        let v1::LookUpRequest { layer, candidates } = request.into_inner();
        let layer = layer.ok_or_else(|| invalid("layer is missing"))?;
        let files = self.layer(layer).await?;
        Ok(Response::new(files.find(&self.cluster.membership, &self.security, &candidates).await?))
    }

    async fn fetch_layer(
        &self,
        request: Request<v1::LayerRef>,
    ) -> Result<Response<Self::FetchLayerStream>, Status> {
        let files = self.layer(request.into_inner()).await?;
        Ok(self.stream(|jobs, parts| async move {
            files.fetch(&jobs.cluster.membership, &jobs.security, &parts).await
        }))
    }

    async fn workers(
        &self,
        _: Request<v1::WorkersRequest>,
    ) -> Result<Response<v1::WorkersReply>, Status> {
        let cluster = Arc::clone(&self.cluster);
        let known = blocking(move || cluster.journal.workers()).await?;
        let here = self.cluster.membership.members();
        let workers = known.iter().map(|entry| view::worker(entry, &here)).collect();
        Ok(Response::new(v1::WorkersReply { workers }))
    }
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}

fn check_name(name: &str) -> Result<(), Status> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    if name.len() <= limits::NAME_LEN && name.bytes().all(plain) {
        return Ok(());
    }
    Err(invalid("a name takes at most 64 letters, digits, dots, dashes and underscores"))
}

fn options_of(options: v1::JobOptions) -> Result<JobOptions, Status> {
    let keep = match options.keep.and_then(|keep| keep.which) {
        None | Some(v1::keep_layers::Which::Last(_)) => KeepLayers::Last,
        Some(v1::keep_layers::Which::All(_)) => KeepLayers::All,
        Some(v1::keep_layers::Which::Every(step)) => {
            let step = std::num::NonZeroU32::new(step);
            KeepLayers::Every(step.ok_or_else(|| invalid("every 0th layer cannot be kept"))?)
        }
    };
    let interval = std::time::Duration::from_millis(options.checkpoint_interval_ms);
    Ok(JobOptions {
        checkpoint_interval: Some(interval).filter(|interval| !interval.is_zero()),
        max_layers: options.max_layers,
        disk_limit: options.disk_limit_bytes,
        keep,
    })
}

/// Opens the space, which checks its parameters and fills in those that are missing. Also returns
/// the job's label.
fn complete(spec: JobSpec) -> Result<(JobSpec, String), Status> {
    let space = Registry::shipped().open(&spec.space, &spec.params).map_err(invalid)?;
    let shards = if spec.shards == 0 { SHARDS } else { spec.shards };
    if shards > MOST_SHARDS {
        return Err(invalid(format!("{shards} shards are more than {MOST_SHARDS}")));
    }
    if !spec.engine.is_explicit() {
        space.nested().map_err(invalid)?;
    }
    let spec = JobSpec {
        space: space.name().to_owned(),
        params: space.parameters(),
        shards,
        engine: spec.engine,
    };
    Ok((spec, space.label()))
}

async fn send<T>(sender: &mpsc::Sender<Result<T, Status>>, item: T) -> bool {
    sender.send(Ok(item)).await.is_ok()
}

fn event(event: v1::job_event::Event) -> v1::JobEvent {
    v1::JobEvent { event: Some(event) }
}

/// Sends what has happened in a job and what happens, until it ends or nobody listens.
async fn watch(
    jobs: &Jobs,
    id: &str,
    live: &JobView,
    after: Option<u32>,
    sender: &mpsc::Sender<Result<v1::JobEvent, Status>>,
) -> Result<(), Status> {
    use v1::job_event::Event;
    let mut changes = live.changes();
    let (lines, mut seen) = live.lines();
    let entry = jobs.find(id.to_owned()).await?;
    if !send(sender, event(Event::Job(jobs.show(entry).await?))).await {
        return Ok(());
    }
    let last = lines.last().map(|line| line.depth);
    if after > last && !send(sender, event(Event::RolledBack(v1::RolledBack { depth: last }))).await
    {
        return Ok(());
    }
    for line in lines.iter().filter(|line| after.is_none_or(|after| line.depth > after)) {
        if !send(sender, event(Event::Layer(convert::line_to(line)))).await {
            return Ok(());
        }
    }
    loop {
        let over = jobs.is_over(id, live).await?;
        let events = live.events(seen);
        seen += events.len();
        for happened in events {
            let message = match happened {
                JobEvent::State => {
                    let entry = jobs.find(id.to_owned()).await?;
                    Event::Job(jobs.show(entry).await?)
                }
                other => view::event(other),
            };
            if !send(sender, event(message)).await {
                return Ok(());
            }
        }
        if over {
            return Ok(());
        }
        tokio::select! {
            _ = sender.closed() => return Ok(()),
            changed = changes.changed() => if changed.is_err() {
                return Ok(());
            }
        }
    }
}

/// Sends a job's log, and with `follow` what is added to it until the job ends.
async fn logs(
    jobs: &Jobs,
    id: &str,
    live: &Arc<JobView>,
    follow: bool,
    sender: &mpsc::Sender<Result<v1::LogLine, Status>>,
) -> Result<(), Status> {
    let mut changes = live.changes();
    let reader = Arc::clone(live);
    let read = tokio::task::spawn_blocking(move || reader.notes()).await.map_err(refused)?;
    let (notes, mut seen) = read.map_err(|error| Status::unavailable(error.to_string()))?;
    for note in notes {
        if !send(sender, view::note(note)).await {
            return Ok(());
        }
    }
    if !follow {
        return Ok(());
    }
    loop {
        let over = jobs.is_over(id, live).await?;
        let events = live.events(seen);
        seen += events.len();
        for happened in events {
            if let JobEvent::LogEntry(note) = happened
                && !send(sender, view::note(note)).await
            {
                return Ok(());
            }
        }
        if over {
            return Ok(());
        }
        tokio::select! {
            _ = sender.closed() => return Ok(()),
            changed = changes.changed() => if changed.is_err() {
                return Ok(());
            }
        }
    }
}
