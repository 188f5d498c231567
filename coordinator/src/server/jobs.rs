//! `JobService`: clients submit, watch, cancel, resume and remove jobs.

use std::sync::Arc;

use strata_proto::net::{Security, convert};
use strata_proto::v1;
use strata_proto::v1::job_service_server::JobService;
use strata_run::catalogue::Registry;
use strata_run::{EngineChoice, REVERSIBLE_SAMPLES, check_engine, default_shards, engine_settings};
use strata_space::{Work, WorkError, shortened};
use strata_store::JobSpec;
use tonic::{Request, Response, Status};

use super::changes;
use super::layers::LayerFiles;
use super::openings::Openings;
use super::options::{options_from, options_to};
use super::paths::PathSearch;
use super::reader::JobReader;
use super::removal::{self, Collection};
use super::status::{blocking, invalid};
use super::streams::{Messages, WatchedJob, send_jobs, send_layers, stream};
use super::verify::{Verification, list_states};
use super::view;
use crate::cluster::context::Cluster;
use crate::cluster::engine_choice::{WorkerBudget, check_options, choose};
use crate::cluster::event::Level;
use crate::entry::{AutoEngine, EngineRecord, JobOptions};
use crate::journal::error::JournalError;
use crate::journal::operations::JobName;

/// Greatest number of shards.
const MAX_SHARDS: u32 = 65_536;

/// Implementation of `JobService`.
pub(super) struct Jobs {
    cluster: Arc<Cluster>,
    reader: JobReader,
    /// For connections to workers.
    security: Security,
    openings: Openings,
}

impl Jobs {
    pub(super) fn new(cluster: Arc<Cluster>, security: Security) -> Jobs {
        let reader = JobReader { cluster: Arc::clone(&cluster) };
        Jobs { cluster, reader, security, openings: Openings::default() }
    }

    /// Finds the files of a layer.
    async fn layer(&self, layer: v1::LayerRef) -> Result<LayerFiles, Status> {
        let v1::LayerRef { job, depth } = layer;
        let entry = self.reader.find(job).await?;
        let line = self.reader.layer(&entry.id, depth).await?;
        LayerFiles::new(&entry, line.as_ref(), depth)
    }

    async fn watched(&self, job: String) -> Result<WatchedJob, Status> {
        let id = self.reader.find(job).await?.id;
        let view = self.reader.view(&id);
        Ok(WatchedJob { reader: self.reader.clone(), id, view })
    }
}

#[tonic::async_trait]
impl JobService for Jobs {
    type WatchStream = Messages<v1::JobEvent>;
    type LogsStream = Messages<v1::LogLine>;
    type FetchLayerStream = Messages<v1::LayerPart>;
    type FindPathStream = Messages<v1::PathPart>;
    type ListStream = Messages<v1::ListPart>;
    type LayersStream = Messages<v1::LayersPart>;
    type CollectStream = Messages<v1::CollectPart>;
    type VerifyStream = Messages<v1::VerifyPart>;
    type ListStatesStream = Messages<v1::StatesPart>;

    async fn submit(
        &self,
        request: Request<v1::SubmitRequest>,
    ) -> Result<Response<v1::Job>, Status> {
        let v1::SubmitRequest { spec, options, name, auto, again, dry_run } = request.into_inner();
        let name = (!name.is_empty()).then_some(name);
        let spec = convert::spec_from(spec).map_err(invalid)?;
        let options = options_from(options.unwrap_or_default()).map_err(invalid)?;
        let puzzles = Arc::clone(&self.cluster.options.puzzles);
        let budget = WorkerBudget::least(&self.cluster.membership.members());
        let complete = move |work: &Work| complete(&puzzles, (spec, options), auto, budget, work);
        let Submission { spec, options, label, expected_layers } =
            self.openings.run(self.cluster.platform(), complete).await?;
        if dry_run {
            return Ok(Response::new(v1::Job {
                spec: Some(convert::spec_to(&spec)),
                engine_reason: options.engine.reason.clone(),
                options: Some(options_to(&options)),
                expected_layers,
                ..v1::Job::default()
            }));
        }
        let cluster = Arc::clone(&self.cluster);
        let entry = blocking(self.cluster.platform(), move || {
            let now = cluster.seconds();
            let name = name.as_deref().map(|name| JobName { name, again });
            cluster.membership.forget_replaced();
            let (entry, new) =
                cluster.journal.submit(&label, name, spec, options, now, expected_layers)?;
            if new {
                let (engine, reason) = (entry.spec.engine.name(), &entry.options.engine.reason);
                let job = cluster.job(&entry.id);
                job.log(Level::Info, "submitted");
                job.log(Level::Info, &format!("engine {engine}: {reason}"));
            }
            Ok::<_, JournalError>(entry)
        })
        .await?;
        self.cluster.wake_queue();
        Ok(Response::new(self.reader.message(entry).await?))
    }

    async fn list(
        &self,
        request: Request<v1::ListRequest>,
    ) -> Result<Response<Self::ListStream>, Status> {
        let v1::ListRequest { unfinished } = request.into_inner();
        // An error of the first part is returned as the call's error.
        let (list, jobs) = self.reader.list(unfinished).await?.part().await?;
        Ok(stream(|parts| send_jobs(list, jobs, parts)))
    }

    async fn status(&self, request: Request<v1::JobRef>) -> Result<Response<v1::Job>, Status> {
        let entry = self.reader.find(request.into_inner().job).await?;
        Ok(Response::new(self.reader.message(entry).await?))
    }

    async fn watch(
        &self,
        request: Request<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let v1::WatchRequest { job, after } = request.into_inner();
        let job = self.watched(job).await?;
        Ok(stream(|events| job.watch(after, events)))
    }

    async fn logs(
        &self,
        request: Request<v1::LogsRequest>,
    ) -> Result<Response<Self::LogsStream>, Status> {
        let v1::LogsRequest { job, follow } = request.into_inner();
        let job = self.watched(job).await?;
        Ok(stream(|lines| job.logs(follow, lines)))
    }

    async fn cancel(&self, request: Request<v1::JobRef>) -> Result<Response<v1::Job>, Status> {
        let entry = self.reader.find(request.into_inner().job).await?;
        let (cluster, id) = (Arc::clone(&self.cluster), entry.id);
        let cancelled = blocking(self.cluster.platform(), move || changes::cancel(&cluster, &id));
        let (entry, had_ended) = cancelled.await?;
        if had_ended {
            let text = format!("job {} has ended already", entry.id);
            return Err(Status::failed_precondition(text));
        }
        Ok(Response::new(self.reader.message(entry).await?))
    }

    async fn resume(&self, request: Request<v1::JobRef>) -> Result<Response<v1::Job>, Status> {
        let entry = self.reader.find(request.into_inner().job).await?;
        let cluster = Arc::clone(&self.cluster);
        let resumed =
            blocking(self.cluster.platform(), move || changes::resume(&cluster, &entry.id));
        Ok(Response::new(self.reader.message(resumed.await?).await?))
    }

    async fn remove(
        &self,
        request: Request<v1::JobRef>,
    ) -> Result<Response<v1::RemovedJob>, Status> {
        Ok(Response::new(removal::remove(&self.reader, request.into_inner().job).await?))
    }

    async fn collect(
        &self,
        request: Request<v1::CollectRequest>,
    ) -> Result<Response<Self::CollectStream>, Status> {
        let collection = Collection::new(Arc::clone(&self.cluster), request.get_ref())?;
        Ok(stream(|parts| collection.run(parts)))
    }

    async fn layers(
        &self,
        request: Request<v1::JobRef>,
    ) -> Result<Response<Self::LayersStream>, Status> {
        let entry = self.reader.find(request.into_inner().job).await?;
        let layers = self.reader.layers(&entry.id, &self.reader.view(&entry.id)).await?;
        Ok(stream(|parts| send_layers(layers, parts)))
    }

    async fn look_up(
        &self,
        request: Request<v1::LookUpRequest>,
    ) -> Result<Response<v1::Found>, Status> {
        let v1::LookUpRequest { layer, candidates, numbering } = request.into_inner();
        let layer = layer.ok_or_else(|| invalid("layer is missing"))?;
        let files = self.layer(layer).await?;
        let members = &self.cluster.membership;
        Ok(Response::new(files.find(members, &self.security, &candidates, numbering).await?))
    }

    async fn fetch_layer(
        &self,
        request: Request<v1::LayerRef>,
    ) -> Result<Response<Self::FetchLayerStream>, Status> {
        let files = self.layer(request.into_inner()).await?;
        let (cluster, security) = (Arc::clone(&self.cluster), self.security.clone());
        Ok(stream(|parts| async move { files.fetch(&cluster.membership, &security, &parts).await }))
    }

    async fn find_path(
        &self,
        request: Request<v1::JobRef>,
    ) -> Result<Response<Self::FindPathStream>, Status> {
        let entry = self.reader.find(request.into_inner().job).await?;
        let (cluster, security) = (Arc::clone(&self.cluster), self.security.clone());
        let search = PathSearch::new(cluster, security, entry)?;
        Ok(stream(|parts| search.run(parts)))
    }

    async fn verify(
        &self,
        request: Request<v1::JobRef>,
    ) -> Result<Response<Self::VerifyStream>, Status> {
        let entry = self.reader.find(request.into_inner().job).await?;
        let (reader, security) = (self.reader.clone(), self.security.clone());
        Ok(stream(|parts| Verification { reader, security, entry, parts }.run()))
    }

    async fn list_states(
        &self,
        request: Request<v1::ListStatesRequest>,
    ) -> Result<Response<Self::ListStatesStream>, Status> {
        let v1::ListStatesRequest { layer, sample } = request.into_inner();
        let v1::LayerRef { job, depth } = layer.ok_or_else(|| invalid("layer is missing"))?;
        let entry = self.reader.find(job).await?;
        let line = self.reader.layer(&entry.id, depth).await?;
        let (cluster, security) = (Arc::clone(&self.cluster), self.security.clone());
        let layer = (entry, line, depth);
        Ok(stream(|parts| list_states(cluster, security, layer, sample, parts)))
    }

    async fn workers(
        &self,
        _: Request<v1::WorkersRequest>,
    ) -> Result<Response<v1::WorkersReply>, Status> {
        let cluster = Arc::clone(&self.cluster);
        let known = blocking(self.cluster.platform(), move || cluster.journal.workers()).await?;
        let members = self.cluster.membership.members();
        let workers = known.iter().map(|entry| view::worker(entry, &members)).collect();
        Ok(Response::new(v1::WorkersReply { workers }))
    }
}

/// A checked submission.
struct Submission {
    spec: JobSpec,
    options: JobOptions,
    /// Prefix of the job's id.
    label: String,
    /// Depth at which a search ends at the latest, if known.
    expected_layers: Option<u32>,
}

/// Opens the space, which checks its parameters, chooses the engine if it is not named, and completes
/// the specification with defaults. `budget` is that of the smallest worker.
///
/// # Errors
/// `INVALID_ARGUMENT` if the space or an option is refused, also when `work` is cancelled while the space
/// is opened or checked; `CANCELLED` if it is cancelled after that.
fn complete(
    puzzles: &Registry,
    (mut spec, mut options): (JobSpec, JobOptions),
    auto: Option<v1::EngineNeeds>,
    budget: Option<WorkerBudget>,
    work: &Work,
) -> Result<Submission, Status> {
    let space = puzzles.open_within(&spec.space, &spec.params, work).map_err(invalid)?;
    options.engine = match auto {
        None => EngineRecord { reason: "the submission names it".to_owned(), auto: None },
        Some(v1::EngineNeeds { settings }) => {
            if let Some(unknown) = settings.iter().find(|given| !is_setting(given)) {
                return Err(invalid(format!(
                    "auto: there is no setting {:?}",
                    shortened(unknown, 64)
                )));
            }
            let auto = AutoEngine {
                settings,
                is_open: budget.is_none(),
                default_shards: spec.shards == 0,
            };
            let EngineChoice { engine, reason } = choose(&space, &auto, &options, budget);
            spec.engine = engine;
            EngineRecord { reason, auto: Some(auto) }
        }
    };
    let shards = if spec.shards == 0 { default_shards(spec.engine, &space) } else { spec.shards };
    if shards > MAX_SHARDS {
        return Err(invalid(format!("{shards} shards are more than {MAX_SHARDS}")));
    }
    check_options(spec.engine, &options).map_err(invalid)?;
    check_engine(&space, spec.engine, shards, REVERSIBLE_SAMPLES, work).map_err(invalid)?;
    if work.spend(0) == Err(WorkError::Cancelled) {
        return Err(Status::cancelled("the client has left"));
    }
    let spec = JobSpec {
        space: space.name().to_owned(),
        params: space.parameters(),
        shards,
        engine: spec.engine,
    };
    let (label, expected_layers) = (space.label(), space.expected_layers());
    Ok(Submission { spec, options, label, expected_layers })
}

/// Whether `given` names a setting that only some engines support.
fn is_setting(given: &str) -> bool {
    engine_settings().any(|setting| setting == given)
}

#[cfg(test)]
mod tests;
