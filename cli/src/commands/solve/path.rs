//! The moves of a shortest solution: traced back through the layers where all are kept, else by
//! midpoints, after Manasse, Sleator, Wei and Baxter: the position in which the searches from both
//! ends met lies on a shortest way, so both halves are searched in the same manner.

use std::path::PathBuf;
use std::time::Instant;

use strata::{KeepLayers, StopReason};
use strata_explicit::{Layers, Trace};
use strata_space::Finish;
use strata_store::{
    CheckpointFile, DataDir, HistoryLine, JobDir, JobSpec, KeptFile, Layer, Manifest, StoreError,
};

use super::jobs;
use super::run::Search;
use super::session::{Ended, Job, Session};
use super::signals::Signals;
use crate::cli::{PathForm, SolveArgs};
use crate::folder::audit::{self, Ledger};
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::spaces::puzzle::{self, Moves, Puzzle};

/// What a search for a way comes to.
pub(super) enum Way {
    /// The moves.
    Found(Moves),
    /// The search of a part was stopped.
    Stopped(StopReason),
}

/// Refuses to look for the path of a search that has none, before anything is searched.
pub(super) fn check(args: &SolveArgs, search: &Search) -> Result<(), Failure> {
    if !Puzzle::is_one(&search.spec.space) {
        let space = &search.spec.space;
        return Err(Failure::usage(format!("--path: {space} does not tell its moves")));
    }
    let keeps_all = !args.line.given("keep-layers") || args.keep_layers == KeepLayers::All;
    if !keeps_all && !Puzzle::has_ends(&search.spec.space) {
        return Err(takes_all_layers(&search.spec.space));
    }
    check_form(&args.path.form, search.is_exhaustive())
}

/// The refusal of a path in parts, of a puzzle that cannot begin or end with any state.
fn takes_all_layers(space: &str) -> Failure {
    let message =
        format!("--path: {space} has no parameters start and goal, so all layers must be kept");
    Failure::usage(message)
}

/// Refuses a path that leads to no goal, or a file that cannot be made.
pub(super) fn check_form(form: &PathForm, exhaust: bool) -> Result<(), Failure> {
    if exhaust {
        return Err(Failure::usage("--path: a search of the whole space has no goal"));
    }
    form.check()
}

/// Finds the paths of finished searches.
pub(super) struct Paths<'a> {
    /// How parts are searched.
    args: SolveArgs,
    signals: &'a Signals,
    /// Holds a folder for each part that is searched.
    parts: PathBuf,
}

impl<'a> Paths<'a> {
    /// For a job: parts of its way are searched in its folder, and removed when they are done.
    pub(super) fn new(args: &SolveArgs, signals: &'a Signals, job: &JobDir) -> Paths<'a> {
        let args = SolveArgs { max_layers: None, resume: false, ..args.clone() };
        Paths { args, signals, parts: job.path().join("parts") }
    }

    /// The path of a finished job.
    pub(super) fn find(&self, spec: &JobSpec, folder: &JobDir) -> Result<Way, Failure> {
        self.clear()?;
        let data = DataDir::lock(&self.parts)?;
        let way = self.way(&data, spec, folder, self.args.disk_limit)?;
        drop(data);
        self.clear()?;
        Ok(way)
    }

    /// Removes what an earlier run may have left.
    fn clear(&self) -> Result<(), Failure> {
        match std::fs::remove_dir_all(&self.parts) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let message = format!("cannot remove {}: {error}", self.parts.display());
                Err(Failure::new(ExitCode::JobFailed, message))
            }
            _ => Ok(()),
        }
    }

    /// The way of one finished job, while its files and those of the parts may take `room` bytes.
    fn way(
        &self,
        data: &DataDir,
        spec: &JobSpec,
        folder: &JobDir,
        room: Option<u64>,
    ) -> Result<Way, Failure> {
        let puzzle = Puzzle::open(spec)?;
        let mut layers = JobLayers::read(folder)?;
        let mut trace = Trace::new(puzzle.space(), spec.shards)?;
        if layers.is_complete() {
            let chain = trace.chain(layers.depth(), &mut layers)?;
            let moves = chain.and_then(|chain| puzzle.moves(&chain));
            return Ok(Way::Found(moves.ok_or_else(|| no_way(folder))?));
        }
        let room = room.map(|room| room.saturating_sub(layers.bytes()));
        let [start, goal] = puzzle.ends().ok_or_else(|| takes_all_layers(&spec.space))?;
        let Finish::Meeting = puzzle.space().finish() else {
            // Searched from the start only: there is no midpoint yet.
            return self.between(data, spec, [&start, &goal], room);
        };
        let depth = layers.depth();
        let last = layers.open(depth)?;
        let before = if depth > 0 { layers.open(depth - 1)? } else { Vec::new() };
        let met = trace.meeting(depth, &last, &before)?;
        let (state, _) = met.ok_or_else(|| no_way(folder))?;
        let ends = [start, puzzle.space().text(state), goal];
        drop((last, before, trace));
        drop(puzzle);
        let mut moves = Moves::new();
        for ends in ends.windows(2) {
            match self.between(data, spec, [&ends[0], &ends[1]], room)? {
                Way::Found(more) => moves.extend(more),
                stopped => return Ok(stopped),
            }
        }
        Ok(Way::Found(moves))
    }

    /// Searches a part of a way, and finds its path.
    fn between(
        &self,
        data: &DataDir,
        spec: &JobSpec,
        [from, to]: [&str; 2],
        room: Option<u64>,
    ) -> Result<Way, Failure> {
        let mut spec = spec.clone();
        let ends = [("start", from), ("goal", to)];
        let ends = ends.into_iter().chain(Puzzle::both_ends(&spec.space).iter().copied());
        spec.params.extend(ends.map(|(name, value)| (name.to_owned(), value.to_owned())));
        tracing::info!(start = %from, goal = %to, "searching a part of the path");
        for keep_layers in [KeepLayers::All, KeepLayers::Last] {
            let args = SolveArgs { keep_layers, disk_limit: room, ..self.args.clone() };
            let space = puzzle::reopen(&spec)?;
            let search = Search::of(&args, spec.clone(), &space)?;
            let (folder, manifest) = jobs::create(data, &search)?;
            let ledger = Ledger::default();
            let job = Job { folder: folder.clone(), manifest, ledger, new: true };
            let progress = Progress::silent();
            let session = Session::start(
                &search,
                &args,
                &progress,
                self.signals,
                (job, space),
                Instant::now(),
            );
            let way = match session?.run()? {
                Ended::Finished(_) => self.way(data, &search.spec, &folder, room)?,
                Ended::Stopped { reason, .. } => Way::Stopped(reason),
            };
            folder.remove()?;
            match way {
                Way::Stopped(StopReason::DiskLimit | StopReason::DiskFull)
                    if keep_layers == KeepLayers::All => {}
                way => return Ok(way),
            }
        }
        Ok(Way::Stopped(StopReason::DiskLimit))
    }
}

fn no_way(folder: &JobDir) -> Failure {
    let message = format!("{}: the layers do not lead to the goal", folder.path().display());
    Failure::new(ExitCode::Corrupt, message)
}

/// The layers of a finished job: those of its last checkpoint, and those that were kept.
struct JobLayers<'a> {
    folder: &'a JobDir,
    /// Depth of the last layer.
    depth: u32,
    records: Vec<CheckpointFile>,
    lines: Vec<HistoryLine>,
}

impl<'a> JobLayers<'a> {
    fn read(folder: &'a JobDir) -> Result<JobLayers<'a>, StoreError> {
        let manifest: Manifest = folder.read_manifest()?;
        let lines = audit::ledger(folder, &manifest)?.lines;
        let (depth, records) =
            manifest.checkpoint.map_or((0, Vec::new()), |last| (last.depth, last.layers));
        Ok(JobLayers { folder, depth, records, lines })
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether every layer is there.
    fn is_complete(&self) -> bool {
        (0..self.depth.saturating_sub(1)).all(|depth| self.kept(depth).is_some())
    }

    fn kept(&self, depth: u32) -> Option<&[KeptFile]> {
        self.lines.get(depth as usize)?.kept.as_deref()
    }

    /// Bytes of all of them.
    fn bytes(&self) -> u64 {
        let kept = self.lines.iter().flat_map(|line| line.kept.iter().flatten());
        let records = self.records.iter().map(|record| record.bytes).sum::<u64>();
        kept.map(|file| file.bytes).sum::<u64>() + records
    }
}

impl Layers for JobLayers<'_> {
    fn open(&mut self, depth: u32) -> Result<Vec<Layer>, strata_explicit::Error> {
        let folder = self.folder;
        let fs = folder.fs();
        if depth + 1 >= self.depth {
            let records = self.records.iter().filter(|record| record.depth == depth);
            let open = |record: &CheckpointFile| {
                Layer::open(
                    fs.clone(),
                    &folder.file_path(&record.file)?,
                    &record.expect(folder.job()),
                )
            };
            return Ok(records.map(open).collect::<Result<_, StoreError>>()?);
        }
        let open = |kept: &KeptFile| {
            let path = folder.file_path(&kept.file)?;
            Layer::open(fs.clone(), &path, &kept.expect(folder.job(), depth))
        };
        let kept = self.kept(depth).unwrap_or_default();
        Ok(kept.iter().map(open).collect::<Result<_, StoreError>>()?)
    }
}
