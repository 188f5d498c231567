//! Client of a simulated cluster: submits a job, follows and resumes it until it is done, and
//! checks its numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use strata::{LayerRecord, Search};
use strata_proto::net::convert::{self, ConvertError};
use strata_proto::net::{Connection, Security};
use strata_proto::v1;
use strata_proto::v1::job_service_client::JobServiceClient;
use strata_space::Digest;
use tonic::{Code, Status};

use crate::simulation::fault::Kind;
use crate::simulation::node::coordinator_url;
use crate::simulation::platform::SimulatedPlatform;
use crate::simulation::random::Random;
use crate::simulation::world::{HostId, World};

/// Longest time of a call.
const CALL: Duration = Duration::from_secs(3);

/// Longest time between two calls.
const PAUSE: Duration = Duration::from_millis(300);

/// In the error of a job whose files are on workers that are away.
const LOST: &str = "did not reconnect";

/// A puzzle with its parameters.
type Puzzle = (&'static str, &'static [(&'static str, &'static str)]);

/// Searches of 45 to 729 states. Moves of `lx` and clockwise moves of tiles have no inverses. Keys of
/// [`WIDE`] have 53 bits.
const PUZZLES: [Puzzle; 8] = [
    ("puzzle", &[("file", WIDE), ("inverses", "true"), ("exhaust", "true")]),
    ("hanoi", &[("discs", "5")]),
    ("hanoi", &[("discs", "6")]),
    ("tiles", &[("size", "2x3"), ("exhaust", "true")]),
    ("tiles", &[("size", "2x3"), ("moves", "clockwise"), ("start", "5 4 3 / 2 1 _")]),
    ("lx", &[("n", "5"), ("exhaust", "true")]),
    ("panex", &[("level", "2")]),
    ("panex", &[("level", "3")]),
];

/// Three wheels of six pieces each that change places: 648 states.
const WIDE: &str = r"a = (1,2,3,4,5,6)\nc = (1,7,13)(2,8,14)(3,9,15)(4,10,16)(5,11,17)(6,12,18)\n";

/// The least number of blocks of [`DENSE`], which is also the largest number of shards.
const BLOCKS: u32 = 4;

/// Searches of 262,144 and 40,320 states, in blocks enough for several workers of the dense engine.
const DENSE: [Puzzle; 2] = [
    ("hanoi", &[("discs", "9"), ("pegs", "4"), ("exhaust", "true")]),
    ("lx", &[("n", "8"), ("exhaust", "true")]),
];

/// The figures of a layer: states, positions, generated, digest.
type Figures = (u64, u64, u64, Digest);

/// Expected results of a search.
#[derive(Debug)]
struct Expected {
    moves: Option<u64>,
    states: u64,
    digest: Digest,
    layers: Vec<Figures>,
}

fn figures(layer: &LayerRecord) -> Figures {
    (layer.states, layer.positions, layer.generated, layer.digest)
}

/// The results of an undisturbed search in this process.
fn expected(puzzle: &Puzzle) -> Arc<Expected> {
    static KNOWN: Mutex<BTreeMap<String, Arc<Expected>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known.entry(format!("{puzzle:?}")).or_insert_with(|| {
        let report = Search::named(puzzle.0, puzzle.1.iter().copied()).threads(1).run();
        let report = report.expect("an undisturbed search ends");
        Arc::new(Expected {
            moves: report.moves(),
            states: report.states(),
            digest: report.digest(),
            layers: report.layers().iter().map(figures).collect(),
        })
    });
    Arc::clone(found)
}

/// Faults that have happened so far.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<BTreeSet<Kind>>);

impl Faults {
    pub(crate) fn add(&self, kind: Kind) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(kind);
    }

    /// Whether a fault of one of these kinds has happened.
    pub(crate) fn any(&self, kinds: &[Kind]) -> bool {
        let happened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.iter().any(|kind| happened.contains(kind))
    }
}

/// Counter of jobs that run at the same time.
#[derive(Debug, Default)]
pub(crate) struct Together(Mutex<(BTreeSet<u64>, usize)>);

impl Together {
    /// Records whether a client sees its job run on workers.
    fn set(&self, number: u64, runs: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, most) = &mut *state;
        if runs {
            now.insert(number)
        } else {
            now.remove(&number)
        };
        *most = now.len().max(*most);
    }

    /// Largest number of jobs that their clients saw running at the same time.
    pub(crate) fn most(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// A job whose numbers are checked.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Name, puzzle and engine, for messages.
    pub(crate) text: String,
    /// Its id, if it was removed.
    pub(crate) removed: Option<String>,
}

/// A client with one job.
#[derive(Debug)]
pub(crate) struct Job {
    number: u64,
    puzzle: Puzzle,
    name: String,
    /// Number of jobs submitted after the first, because earlier ones failed.
    again: u32,
    /// Whether the job is still to be cancelled once.
    cancel: bool,
    /// Whether a call to cancel the job was made. Even a failed call may have had an effect.
    is_cancelled: bool,
    /// Whether to remove the job at the end.
    remove: bool,
    checkpoint_interval_ms: u64,
    priority: i32,
    shards: u32,
    engine: &'static str,
    random: Random,
    platform: SimulatedPlatform,
    faults: Arc<Faults>,
    together: Arc<Together>,
}

impl Job {
    /// A random job.
    pub(crate) fn new(
        number: u64,
        world: &Arc<World>,
        platform: SimulatedPlatform,
        faults: &Arc<Faults>,
        together: &Arc<Together>,
    ) -> Job {
        let random = world.part("job", 0, 0);
        let intervals = [0, 1, 20, 200, 5000];
        let puzzle = PUZZLES[random.below(PUZZLES.len() as u64) as usize];
        let is_dense = world.part("engine", 0, 0).one_in(5);
        let dense = DENSE[world.part("dense", 0, 0).below(DENSE.len() as u64) as usize];
        let (puzzle, engine) = if is_dense { (dense, "dense") } else { (puzzle, "explicit") };
        // Jobs of one shard run beside others.
        let one = world.part("shards", number as HostId, 0).one_in(2);
        let most = if is_dense { BLOCKS } else { 8 };
        let shards = (1 + random.below(8) as u32).min(if one { 1 } else { most });
        Job {
            number,
            puzzle,
            engine,
            name: format!("job-{number}"),
            again: 0,
            cancel: random.one_in(5),
            is_cancelled: false,
            remove: world.part("removal", number as HostId, 0).one_in(2),
            checkpoint_interval_ms: intervals[random.below(intervals.len() as u64) as usize],
            priority: world.part("priority", number as HostId, 0).below(3) as i32 - 1,
            shards,
            random,
            platform,
            faults: Arc::clone(faults),
            together: Arc::clone(together),
        }
    }

    /// Follows the job until it is done, then removes it if it is to be removed.
    ///
    /// # Errors
    /// If it is done with other numbers, or ended in a way that the faults do not explain.
    pub(crate) async fn run(mut self) -> Result<Checked, String> {
        let (mut is_submitted, mut checked) = (false, None);
        while checked.is_none() {
            tokio::time::sleep(self.random.time(PAUSE)).await;
            if !is_submitted {
                is_submitted = match self.submit().await {
                    Ok(()) => true,
                    Err(status) if status.code() == Code::InvalidArgument => {
                        return Err(format!("{} is refused: {}", self.name, status.message()));
                    }
                    // The answer to an earlier call was lost, and the job has already ended.
                    Err(status) if status.code() == Code::AlreadyExists => true,
                    Err(_) => false,
                };
                continue;
            }
            let status = self.status().await;
            let runs = status.as_ref().is_ok_and(|job| job.state() == v1::JobState::Running);
            self.together.set(self.number, runs);
            match status {
                Ok(job) => match job.state() {
                    v1::JobState::Done => {
                        let id = job.id.clone();
                        checked = self.check(job).await?.then_some(id);
                    }
                    v1::JobState::Failed | v1::JobState::Stopped | v1::JobState::Cancelled => {
                        is_submitted = self.ended(&job).await?;
                    }
                    _ if self.cancel => {
                        self.is_cancelled = true;
                        self.cancel = self.call_cancel().await.is_err();
                    }
                    _ => {}
                },
                Err(status) if status.code() == Code::NotFound => {
                    if !self.faults.any(&[Kind::JournalRestored, Kind::JournalLost]) {
                        return Err(format!("{} is unknown: {}", self.name, status.message()));
                    }
                    is_submitted = false;
                }
                Err(_) => {}
            }
        }
        let removed = checked.filter(|_| self.remove);
        if let Some(id) = &removed {
            self.remove(id).await?;
        }
        Ok(Checked { text: format!("{} {:?} {}", self.name, self.puzzle, self.engine), removed })
    }

    /// Removes the job, which is done.
    async fn remove(&self, id: &str) -> Result<(), String> {
        loop {
            let job = v1::JobRef { job: id.to_owned() };
            let removed = within(async { self.connect().await?.remove(job).await }).await;
            match removed.map_err(|status| status.code()) {
                // The answer to an earlier call may have been lost.
                Ok(_) | Err(Code::NotFound) => return Ok(()),
                // In a restored older journal the job may still be running.
                Err(Code::FailedPrecondition) if !self.faults.any(&[Kind::JournalRestored]) => {
                    return Err(format!("{} is done and cannot be removed", self.name));
                }
                Err(_) => tokio::time::sleep(self.random.time(PAUSE)).await,
            }
        }
    }

    /// Handles the end of a job without a result. Returns false if a new job has to be submitted.
    async fn ended(&mut self, job: &v1::Job) -> Result<bool, String> {
        let v1::Job { error, exit_code, .. } = job;
        let explained = match job.state() {
            v1::JobState::Cancelled => self.is_cancelled,
            v1::JobState::Stopped => {
                job.limit() == v1::Limit::DiskFull && self.faults.any(&[Kind::DiskFull])
            }
            _ => self.explains(*exit_code, error),
        };
        if !explained {
            let state = job.state().as_str_name();
            return Err(format!("{} ended as {state} ({exit_code}): {error}", self.name));
        }
        tracing::info!("{} ended ({exit_code}): {error}", self.name);
        // A worker that has left never brings its files back, so a resumed job would fail again.
        let is_lost = error.contains(LOST);
        if job.state() == v1::JobState::Failed && (self.again < 8 || is_lost) {
            self.again += 1;
            self.name = format!("{}-again", self.name);
            return Ok(false);
        }
        let _ = self.resume().await;
        Ok(true)
    }

    /// Whether the faults explain a failure.
    fn explains(&self, exit_code: u32, error: &str) -> bool {
        let files = [Kind::Damage, Kind::DataLost, Kind::JournalRestored, Kind::Clone];
        let gone = [
            Kind::DataLost,
            Kind::JournalRestored,
            Kind::JournalLost,
            Kind::Clone,
            Kind::Byzantine,
            Kind::Left,
        ];
        match exit_code {
            12 => self.faults.any(&files) || self.faults.any(&[Kind::Byzantine]),
            _ if error.contains(LOST) => self.faults.any(&gone),
            _ => self.faults.any(&[Kind::Byzantine]),
        }
    }

    async fn connect(&self) -> Result<JobServiceClient<Connection>, Status> {
        let security = Security::default().on(&self.platform);
        let connected = security.connect(&coordinator_url()).await;
        let connected = connected.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(JobServiceClient::new(connected))
    }

    async fn submit(&self) -> Result<(), Status> {
        let parameters =
            self.puzzle.1.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let spec = v1::JobSpec {
            space: self.puzzle.0.to_owned(),
            parameters: parameters.collect(),
            shards: self.shards,
            engine: self.engine.to_owned(),
        };
        let options = v1::JobOptions {
            checkpoint_interval_ms: self.checkpoint_interval_ms,
            priority: self.priority,
            ..v1::JobOptions::default()
        };
        let request = v1::SubmitRequest {
            spec: Some(spec),
            options: Some(options),
            name: self.name.clone(),
            ..v1::SubmitRequest::default()
        };
        within(async { self.connect().await?.submit(request).await }).await.map(drop)
    }

    fn reference(&self) -> v1::JobRef {
        v1::JobRef { job: self.name.clone() }
    }

    async fn status(&self) -> Result<v1::Job, Status> {
        within(async { self.connect().await?.status(self.reference()).await }).await
    }

    async fn resume(&self) -> Result<v1::Job, Status> {
        within(async { self.connect().await?.resume(self.reference()).await }).await
    }

    async fn call_cancel(&self) -> Result<v1::Job, Status> {
        within(async { self.connect().await?.cancel(self.reference()).await }).await
    }

    async fn layers(&self) -> Result<Vec<v1::LayerRecord>, Status> {
        let all = async {
            let parts = self.connect().await?.layers(self.reference()).await?;
            let mut parts = parts.into_inner();
            let mut lines = Vec::new();
            while let Some(part) = parts.message().await? {
                lines.extend(part.layers);
            }
            Ok(tonic::Response::new(lines))
        };
        within(all).await
    }

    /// Checks the result and all layers. Returns false if the layers cannot be read now.
    async fn check(&self, job: v1::Job) -> Result<bool, String> {
        let Ok(lines) = self.layers().await else { return Ok(false) };
        let wrong = |what: String| format!("{} is done with wrong numbers: {what}", self.name);
        let expected = expected(&self.puzzle);
        let result = job.result.ok_or_else(|| wrong("no result".to_owned()))?;
        let digest = convert::digest_from(result.digest).map_err(|error| error.to_string())?;
        let found = (result.moves, result.states, digest);
        let right = (expected.moves, expected.states, expected.digest);
        if found != right {
            return Err(wrong(format!("{found:?}, not {right:?}")));
        }
        let layers = lines.into_iter().map(convert::layer_from);
        let layers = layers.map(|layer| Ok(figures(&layer?))).collect::<Result<Vec<_>, _>>();
        let layers = layers.map_err(|error: ConvertError| error.to_string())?;
        if layers != expected.layers {
            let mut pairs = layers.iter().zip(&expected.layers).enumerate();
            let first = pairs.find(|(_, (found, right))| found != right);
            let (found, right) = (layers.len(), expected.layers.len());
            return Err(wrong(format!("{found} layers of {right}, the first wrong: {first:?}")));
        }
        Ok(true)
    }
}

async fn within<T>(
    call: impl Future<Output = Result<tonic::Response<T>, Status>>,
) -> Result<T, Status> {
    let called = tokio::time::timeout(CALL, call).await;
    let answered = called.map_err(|_| Status::deadline_exceeded("no answer"))??;
    Ok(answered.into_inner())
}
