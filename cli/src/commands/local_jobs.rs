//! Jobs of a data directory, read from their manifests without a lock.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Map, Value};
use strata_store::{Holder, Manifest, RealFs, RunState, jobs_in};

use crate::client::table::{self, Column, Kind, WIDTH};
use crate::client::tables::{NO_GOAL, Shape, extent};
use crate::folder;
use crate::output::events::Outcome;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::{self, write_line};
use crate::output::layer::counted;
use crate::output::units;
use crate::spaces::request;

/// A job in a folder.
pub(super) struct LocalJob {
    id: String,
    folder: PathBuf,
    /// Its manifest, or why it cannot be read.
    manifest: Result<Manifest, String>,
    /// When its history or manifest changed last; the start of 1970 if that is unknown.
    changed: SystemTime,
    /// Whether a process works on it now.
    is_running: bool,
}

/// The jobs of a data directory, oldest first.
///
/// # Errors
/// `NoSuchJob` if there is no such folder. Another failure if it cannot be read.
pub(super) fn read(dir: &Path) -> Result<Vec<LocalJob>, Failure> {
    if !dir.is_dir() {
        let message = format!("there is no folder {}", dir.display());
        return Err(Failure::new(ExitCode::NoSuchJob, message));
    }
    let job = |id: String| {
        let folder = dir.join(&id);
        let manifest = folder::open(&folder).map(|(_, manifest)| manifest);
        let changed = ["history.jsonl", "manifest.json"]
            .iter()
            .filter_map(|file| folder.join(file).metadata().and_then(|data| data.modified()).ok())
            .max();
        let manifest = manifest.map_err(|error| error.to_string());
        let changed = changed.unwrap_or(SystemTime::UNIX_EPOCH);
        LocalJob { id, folder, manifest, changed, is_running: false }
    };
    let mut jobs: Vec<LocalJob> = jobs_in(&RealFs, dir)?.into_iter().map(job).collect();
    // A process works on one job at a time: of the jobs in state `running`, the one whose files
    // changed last. The others were killed.
    let in_use = Holder::of(dir).is_some();
    let is_open = |job: &&mut LocalJob| {
        job.manifest.as_ref().is_ok_and(|manifest| manifest.state == RunState::Running)
    };
    let newest = jobs.iter_mut().filter(is_open).max_by_key(|job| job.changed);
    if let Some(newest) = newest.filter(|_| in_use) {
        newest.is_running = true;
    }
    jobs.sort_by_key(|job| job.manifest.as_ref().map_or(0, |manifest| manifest.created));
    Ok(jobs)
}

impl LocalJob {
    fn state(&self) -> &'static str {
        match &self.manifest {
            Err(_) => "damaged",
            Ok(manifest) => match manifest.state {
                RunState::Running if self.is_running => "running",
                RunState::Running => "killed",
                RunState::Stopped => "stopped",
                RunState::Done => "done",
            },
        }
    }

    /// Depth of the last checkpoint, without the empty layer that ends the search of a whole space.
    fn depth(&self) -> Option<u32> {
        let manifest = self.manifest.as_ref().ok()?;
        let depth = manifest.checkpoint.as_ref()?.depth;
        Some(manifest.result.as_ref().map_or(depth, |result| depth.min(result.layers)))
    }

    /// How the search ended, if the job is done.
    fn outcome(&self) -> Option<Outcome> {
        let manifest = self.manifest.as_ref().ok()?;
        let result = manifest.result.as_ref()?;
        let (space, params) = (&manifest.spec.space, &manifest.spec.params);
        Some(Outcome::of(result.moves, || request::has_goal(space, params)))
    }

    /// The result of a job that is done, or why it cannot be read.
    fn result(&self) -> String {
        let manifest = match &self.manifest {
            Ok(manifest) => manifest,
            Err(error) => return error.clone(),
        };
        let Some(result) = &manifest.result else { return String::new() };
        match (result.moves, self.outcome()) {
            (Some(moves), _) => format!("{} moves", units::count(moves)),
            (None, Some(Outcome::NoGoal)) => NO_GOAL.to_owned(),
            (None, _) => extent(result.layers, result.states, result.positions),
        }
    }

    fn json(&self, out: &mut impl Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Fields<'a> {
            job: &'a str,
            folder: String,
            state: &'static str,
            space: Option<&'a str>,
            params: Option<Map<String, Value>>,
            engine: Option<&'static str>,
            shards: Option<u32>,
            created: Option<u64>,
            changed: u64,
            seconds: Option<f64>,
            checkpoint: Option<u32>,
            states: Option<u64>,
            positions: Option<u64>,
            outcome: Option<Outcome>,
            moves: Option<u64>,
            layers: Option<u32>,
            error: Option<&'a str>,
        }
        let manifest = self.manifest.as_ref().ok();
        let spec = manifest.map(|manifest| &manifest.spec);
        let last = manifest.and_then(|manifest| manifest.checkpoint.as_ref());
        let result = manifest.and_then(|manifest| manifest.result.as_ref());
        let changed = self.changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let fields = Fields {
            job: &self.id,
            folder: self.folder.display().to_string(),
            state: self.state(),
            space: spec.map(|spec| spec.space.as_str()),
            params: spec.map(|spec| json::parameters(&request::shown(&spec.space, &spec.params))),
            engine: spec.map(|spec| spec.engine.name()),
            shards: spec.map(|spec| spec.shards),
            created: manifest.map(|manifest| manifest.created),
            changed: changed.as_secs(),
            seconds: manifest.map(|manifest| manifest.seconds),
            checkpoint: self.depth(),
            states: last.map(|last| last.counters.states),
            positions: last.and_then(|last| counted(last.counters.positions, last.counters.states)),
            outcome: self.outcome(),
            moves: result.and_then(|result| result.moves),
            layers: result.map(|result| result.layers),
            error: self.manifest.as_ref().err().map(String::as_str),
        };
        write_line("local_job", &fields, out)
    }

    fn row(&self, shape: Shape) -> [String; 8] {
        let age = |time: SystemTime| {
            units::short_time(shape.now.duration_since(time).unwrap_or_default().as_secs_f64())
        };
        let manifest = self.manifest.as_ref().ok();
        let cell = |text: Option<String>| text.unwrap_or_default();
        let last = manifest.and_then(|manifest| manifest.checkpoint.as_ref());
        let count = if shape.wide { units::count } else { units::short_count };
        [
            self.id.clone(),
            self.state().to_owned(),
            cell(manifest.map(|manifest| manifest.spec.engine.name().to_owned())),
            match (manifest, shape.wide) {
                (Some(manifest), true) => {
                    request::short(&manifest.spec.space, &manifest.spec.params)
                }
                _ => String::new(),
            },
            cell(self.depth().map(|depth| units::count(u64::from(depth)))),
            cell(last.map(|last| count(last.counters.states))),
            age(self.changed),
            self.result(),
        ]
    }
}

/// Writes the jobs, as JSON lines or as a table. Depth and states are those of the last checkpoint.
///
/// # Errors
/// Those of the output.
pub(super) fn write(
    jobs: &[LocalJob],
    json: bool,
    shape: Shape,
    out: &mut impl Write,
) -> io::Result<()> {
    const COLUMNS: [Column; 8] = [
        ("job", Kind::Cut(12)),
        ("state", Kind::Left),
        ("engine", Kind::Cut(8)),
        ("search", Kind::Left),
        ("depth", Kind::Right),
        ("states", Kind::Right),
        ("changed", Kind::Right),
        ("result", Kind::Cut(12)),
    ];
    if json {
        return jobs.iter().try_for_each(|job| job.json(out));
    }
    let rows: Vec<[String; 8]> = jobs.iter().map(|job| job.row(shape)).collect();
    table::write(COLUMNS, &rows, ((!shape.wide).then_some(WIDTH), &[]), out)
}
