//! Tests of the service without a network.

use std::time::Duration;

use prost::Message;
use strata_proto::net::{TlsFiles, limits};
use strata_run::Figures;
use strata_run::catalogue::{
    Entry, KeySpace, Keyed, NoNested, Parameter, Parameters, Puzzle, Seed, SpaceError,
};
use strata_space::file_value;
use strata_store::{JobResult, LayerRecord, Weight};
use tempfile::TempDir;
use tokio_stream::StreamExt;
use tonic::Code;

use super::*;
use crate::cluster::context::ClusterOptions;
use crate::cluster::job_view::JobViews;
use crate::entry::{JobEntry, JobState};
use crate::journal::operations::Journal;
use crate::server::openings::AT_A_TIME;

fn service() -> (TempDir, Jobs) {
    let folder = tempfile::tempdir().unwrap();
    let jobs = open(&folder, Registry::shipped());
    (folder, jobs)
}

/// The service of a coordinator with these puzzles, over the journal in a folder.
fn open(folder: &TempDir, puzzles: Registry) -> Jobs {
    let options = ClusterOptions::for_tests(puzzles);
    let journal = Journal::open(&folder.path().join("journal")).unwrap();
    let views = JobViews::new(folder.path());
    let cluster = Cluster::new(options, journal, views, 1);
    let security = Security::open(None, &TlsFiles::default()).unwrap();
    Jobs::new(cluster, security)
}

fn line(depth: u32) -> LayerRecord {
    LayerRecord {
        depth,
        states: 10 + u64::from(depth),
        positions: 10 + u64::from(depth),
        generated: 30,
        regions: 5,
        bytes: 100,
        digest: Weight([7, 8]),
        seconds: f64::from(depth),
        ..LayerRecord::default()
    }
}

fn hanoi(name: &str) -> Request<v1::SubmitRequest> {
    let spec = v1::JobSpec {
        space: "hanoi".to_owned(),
        parameters: [("discs".to_owned(), "3".to_owned())].into(),
        ..v1::JobSpec::default()
    };
    let name = name.to_owned();
    Request::new(v1::SubmitRequest { spec: Some(spec), name, ..v1::SubmitRequest::default() })
}

#[tokio::test]
async fn a_submission_with_an_unknown_engine_setting_is_refused() {
    let (_folder, jobs) = service();
    let submit = async |setting: &str| {
        let mut request = hanoi("");
        let settings = vec![setting.to_owned()];
        request.get_mut().auto = Some(v1::EngineNeeds { settings });
        jobs.submit(request).await.map(|job| job.into_inner())
    };
    let job = submit("shards").await.unwrap();
    assert_eq!(job.spec.unwrap().engine, "explicit");
    assert_eq!(job.engine_reason.split(';').next(), Some("`shards` needs it"));
    let refused = submit("--shards").await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert_eq!(refused.message(), "auto: there is no setting \"--shards\"");
}

#[tokio::test]
async fn an_invalid_name_is_an_invalid_argument() {
    let (_folder, jobs) = service();
    for name in ["..", ".hidden", "a b", "a/b", &"x".repeat(65)] {
        let status = jobs.submit(hanoi(name)).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{name}: {status}");
        assert!(status.message().contains("use 1 to 64 letters"), "{status}");
    }
    assert!(jobs.submit(hanoi("a-1_b.c")).await.is_ok());
}

#[tokio::test]
async fn a_dense_job_has_at_most_a_shard_for_each_block() {
    let (_folder, jobs) = service();
    let submit = async |name: &str, shards: u32| {
        let mut request = hanoi(name);
        let spec = request.get_mut().spec.as_mut().unwrap();
        (spec.engine, spec.shards) = ("dense".to_owned(), shards);
        jobs.submit(request).await
    };
    let status = submit("a", 100).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().starts_with("shards: 100 shards are more than"), "{status}");
    let job = submit("b", 0).await.unwrap().into_inner();
    let shards = job.spec.unwrap().shards;
    assert!((1..=strata_run::DEFAULT_SHARDS).contains(&shards), "{shards}");
    assert!(submit("c", shards + 1).await.is_err() || shards == strata_run::DEFAULT_SHARDS);
}

#[tokio::test]
async fn a_dense_job_may_have_moves_that_cannot_be_undone() {
    let (_folder, jobs) = service();
    let mut request = hanoi("a");
    let spec = request.get_mut().spec.as_mut().unwrap();
    spec.space = "puzzle".to_owned();
    spec.engine = "dense".to_owned();
    let file = file_value("turn = (1,2,3,4,5)\nswap = (1,2)\n");
    spec.parameters = [("file".to_owned(), file)].into();
    let job = jobs.submit(request).await.unwrap().into_inner();
    assert_eq!(job.spec.unwrap().engine, "dense");
}

#[tokio::test(start_paused = true)]
async fn submissions_and_dry_runs_wait_for_their_turn_to_open_a_space() {
    let (_folder, jobs) = service();
    let mut turns = Vec::new();
    for _ in 0..AT_A_TIME {
        turns.push(jobs.openings.turn().await.unwrap());
    }
    let submit = |dry_run| {
        let mut request = hanoi("");
        request.get_mut().dry_run = dry_run;
        jobs.submit(request)
    };
    for dry_run in [false, true] {
        let status = submit(dry_run).await.unwrap_err();
        assert_eq!(status.code(), Code::Unavailable, "dry run {dry_run}: {status}");
    }
    drop(turns);
    for dry_run in [false, true] {
        submit(dry_run).await.unwrap();
    }
}

/// All messages of a stream. Each fits a message of the protocol.
async fn parts<T: Message>(stream: Response<Messages<T>>) -> Vec<T> {
    let mut stream = stream.into_inner();
    let mut parts = Vec::new();
    while let Some(part) = stream.next().await {
        let part = part.unwrap();
        assert!(part.encoded_len() < limits::MESSAGE_BYTES / 4, "{}", part.encoded_len());
        parts.push(part);
    }
    parts
}

#[tokio::test]
async fn the_layers_of_a_deep_job_are_sent_in_parts() {
    const LAYERS: u32 = 200_000;
    let (_folder, jobs) = service();
    let id = jobs.submit(hanoi("deep")).await.unwrap().into_inner().id;
    let lines: Vec<LayerRecord> = (0..LAYERS).map(line).collect();
    jobs.cluster.journal.checkpoint(&id, &lines, |_| ()).unwrap();
    let stream = jobs.layers(Request::new(v1::JobRef { job: id })).await.unwrap();
    let layers: Vec<_> = parts(stream).await.into_iter().flat_map(|p| p.layers).collect();
    let bytes: usize = layers.iter().map(Message::encoded_len).sum();
    assert!(bytes > limits::MESSAGE_BYTES, "{bytes}");
    assert!(layers.iter().map(|layer| layer.depth).eq(0..LAYERS));
}

#[tokio::test]
async fn a_long_list_is_sent_in_parts() {
    const JOBS: usize = 50_000;
    let (_folder, jobs) = service();
    let first = jobs.submit(hanoi("first")).await.unwrap().into_inner().id;
    let entry = jobs.cluster.journal.find(&first).unwrap();
    jobs.cluster.journal.submit_copies(&entry, JOBS - 1).unwrap();
    jobs.cluster.journal.update(&first, |entry| entry.state = JobState::Cancelled).unwrap();
    let list = async |unfinished| {
        let stream = jobs.list(Request::new(v1::ListRequest { unfinished })).await.unwrap();
        parts(stream).await.into_iter().flat_map(|part| part.jobs).collect::<Vec<v1::Job>>()
    };
    let all = list(false).await;
    let bytes: usize = all.iter().map(Message::encoded_len).sum();
    assert!(bytes > limits::MESSAGE_BYTES, "{bytes}");
    assert_eq!((all.len(), all[0].id == first), (JOBS, true));
    let unfinished = list(true).await;
    assert_eq!(unfinished.len(), JOBS - 1);
    assert_eq!(unfinished[JOBS - 2].queue_position, JOBS as u32 - 2);
}

#[tokio::test]
async fn the_first_list_after_a_start_opens_no_space_and_no_view() {
    const JOBS: usize = 10_000;
    let (folder, jobs) = service();
    let mut request = hanoi("first");
    let spec = request.get_mut().spec.as_mut().unwrap();
    "panex".clone_into(&mut spec.space);
    spec.parameters = [("level".to_owned(), "3".to_owned())].into();
    let v1::Job { id, expected_layers, .. } = jobs.submit(request).await.unwrap().into_inner();
    assert!(expected_layers.is_some());
    let cluster = Arc::clone(&jobs.cluster);
    let lines: Vec<LayerRecord> = (0..8).map(line).collect();
    let entry = cluster.journal.checkpoint(&id, &lines, |entry| entry.state = JobState::Done);
    cluster.journal.submit_copies(&entry.unwrap(), JOBS - 1).unwrap();
    drop((jobs, cluster));
    // A coordinator that knows no puzzle cannot open a space.
    let jobs = open(&folder, Registry::new([]));
    let stream = jobs.list(Request::new(v1::ListRequest::default())).await.unwrap();
    let all: Vec<v1::Job> = parts(stream).await.into_iter().flat_map(|part| part.jobs).collect();
    assert_eq!(all.len(), JOBS);
    for job in all {
        assert_eq!((job.depth, job.layer_states, job.states), (Some(7), 17, 108));
        assert_eq!(job.expected_layers, expected_layers);
        assert!(jobs.cluster.job_in_use(&job.id).is_none());
    }
}

#[tokio::test]
async fn a_watcher_that_falls_behind_receives_every_layer_once() {
    const LAYERS: u32 = 10_000;
    let (_folder, jobs) = service();
    let id = jobs.submit(hanoi("watched")).await.unwrap().into_inner().id;
    let cluster = &jobs.cluster;
    let view = cluster.job(&id);
    cluster.journal.update(&id, |entry| entry.state = JobState::Running).unwrap();
    view.activate(None);
    let request = v1::WatchRequest { job: id.clone(), after: None };
    let mut events = jobs.watch(Request::new(request)).await.unwrap().into_inner();
    let mut depths = Vec::new();
    let mut receive = |event: v1::JobEvent| {
        if let Some(v1::job_event::Event::Layer(layer)) = event.event {
            depths.push(layer.depth);
        }
    };
    for first in (0..LAYERS).step_by(500) {
        let lines: Vec<LayerRecord> = (first..first + 500).map(line).collect();
        lines.iter().for_each(|line| view.add_layer(line.clone(), Figures::default()));
        // The last layers are in no checkpoint.
        if first + 500 < LAYERS {
            let entry = cluster.journal.checkpoint(&id, &lines, |_| ()).unwrap();
            view.set_saved(entry.progress.as_ref());
        }
        // The watcher reads much less than there is.
        for _ in 0..5 {
            receive(events.next().await.unwrap().unwrap());
        }
    }
    let idle = Duration::from_secs(2);
    while let Ok(event) = tokio::time::timeout(idle, events.next()).await {
        receive(event.unwrap().unwrap());
    }
    assert!(depths.iter().copied().eq(0..LAYERS), "{} layers", depths.len());
    // The job ends, and with it the call.
    cluster.journal.update(&id, |entry| entry.state = JobState::Cancelled).unwrap();
    view.deactivate();
    while let Some(event) = events.next().await {
        event.unwrap();
    }
}

/// A puzzle of two positions without a goal; none of its parameters says that it has none.
struct Pair;

impl KeySpace for Pair {
    type Key = u64;

    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(0)]
    }

    fn key_bits(&self) -> u32 {
        1
    }

    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        out.push(1 - key);
    }

    fn text(&self, key: u64) -> String {
        key.to_string()
    }
}

impl Puzzle for Pair {
    type States = Keyed<Pair>;
    type Nested = NoNested;

    const NAME: &'static str = "pair";
    const SUMMARY: &'static str = "two points";
    const PARAMETERS: &'static [Parameter] = &[];

    fn open(_: &Parameters) -> Result<Pair, SpaceError> {
        Ok(Pair)
    }

    fn parameters(&self) -> Parameters {
        Parameters::new()
    }
}

#[tokio::test]
async fn the_exit_code_for_no_goal_is_only_for_spaces_with_a_goal() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = open(&folder, Registry::shipped().with([Entry::of::<Pair>()]));
    let mut pair = hanoi("");
    let spec = pair.get_mut().spec.as_mut().unwrap();
    "pair".clone_into(&mut spec.space);
    spec.parameters.clear();
    let with_goal = jobs.submit(hanoi("")).await.unwrap().into_inner().id;
    let without = jobs.submit(pair).await.unwrap().into_inner().id;
    for id in [&with_goal, &without] {
        let end = |entry: &mut JobEntry| {
            entry.state = JobState::Done;
            entry.result = Some(JobResult {
                moves: None,
                layers: 2,
                states: 6,
                positions: 6,
                orbits: None,
                generated: 12,
                widest: 3,
                digest: Weight([7, 8]),
                disk_peak_bytes: 0,
                peak_rss_bytes: 0,
                seconds: 1.0,
            });
        };
        jobs.cluster.journal.update(id, end).unwrap();
    }
    let list = jobs.list(Request::new(v1::ListRequest::default())).await.unwrap();
    let listed: Vec<v1::Job> = parts(list).await.into_iter().flat_map(|part| part.jobs).collect();
    for (at, id, code) in [(0, with_goal, view::EXIT_NO_GOAL), (1, without, 0)] {
        assert_eq!((&listed[at].id, listed[at].exit_code), (&id, code));
        let status = jobs.status(Request::new(v1::JobRef { job: id })).await.unwrap();
        assert_eq!(status.into_inner().exit_code, code);
    }
}

/// A search of a puzzle from a file.
fn puzzle(file: &str, engine: &str) -> Request<v1::SubmitRequest> {
    let mut request = hanoi("");
    let spec = request.get_mut().spec.as_mut().unwrap();
    spec.space = "puzzle".to_owned();
    spec.engine = engine.to_owned();
    spec.parameters = [("file".to_owned(), file_value(file))].into();
    request
}

#[tokio::test]
async fn a_puzzle_beyond_the_limits_is_refused() {
    let (_folder, jobs) = service();
    let mut request = puzzle("a = (1,1024)\nb = (2,3)\n", "explicit");
    let spec = request.get_mut().spec.as_mut().unwrap();
    spec.parameters.insert("moves".to_owned(), vec!["a"; 5000].join(","));
    request.get_mut().dry_run = true;
    let status = jobs.submit(request).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    assert!(status.message().contains("more than 4096"), "{status}");
}

#[test]
fn a_cancelled_submission_is_refused_without_work() {
    let work = Work::default();
    work.cancel();
    let spec = puzzle("a = (1,2,3)\nb = (1,2)\n", "explicit").into_inner().spec;
    let spec = convert::spec_from(spec).unwrap();
    let given = (spec, JobOptions::default());
    let done = complete(&Registry::shipped(), given, None, None, &work).map(drop);
    let status = done.unwrap_err();
    assert!(status.message().contains("cancelled"), "{status}");
    assert_eq!(work.spent(), 0);
}
