//! `strata solve`: searches a state space with a coordinator and workers in this process.

use std::time::Instant;

use strata::StopReason;
use strata::catalogue::Space;
use strata::{Budget, KeepLayers, SymbolicWorker};
use strata_space::Finish;
use strata_store::{DataDir, EngineKind, JobDir, JobSpec, RunState};

use super::path::{Paths, Way};
use super::session::{Ended, Job, Session};
use super::signals::Signals;
use super::{clockwise, engine, jobs, path, report};
use crate::cli::SolveArgs;
use crate::folder::audit::{self, Ledger};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::progress::Progress;
use crate::output::units;
use crate::spaces::moves;
use crate::spaces::puzzle::Puzzle;
use crate::spaces::request::{self, Naming};

/// Of so many steps that the symbolic engine remembers `--verify` makes one again.
const VERIFY: u32 = 64;

/// Shards unless something else is asked for: enough to share out among many workers.
const SHARDS: u32 = 64;

/// What is to be searched and with what means, checked.
pub(super) struct Search {
    /// The job's identity.
    pub(super) spec: JobSpec,
    pub(super) naming: Naming,
    /// Depth at which the search is expected to end at the latest.
    pub(super) expected_layers: Option<u32>,
    /// How memory is shared out; the symbolic engine does that by itself.
    pub(super) budget: Option<Budget>,
}

impl Search {
    /// Checks everything that can be checked without looking at the disk. The space itself, with
    /// its tables, is there once only and goes to the engine.
    pub(super) fn new(args: &SolveArgs) -> Result<(Search, Space), Failure> {
        let space = request::open(&args.domain, &args.args, args.parameters())?;
        let spec = JobSpec {
            space: space.name().to_owned(),
            params: space.parameters(),
            shards: args.shards.unwrap_or(SHARDS),
            engine: engine::choose(args, &space)?,
        };
        if args.workers > spec.shards as usize {
            let (workers, shards) = (args.workers, spec.shards);
            let message = format!(
                "{workers} workers cannot share {shards} shards: --workers must be at most --shards"
            );
            return Err(Failure::usage(message));
        }
        Ok((Search::of(args, spec, &space)?, space))
    }

    /// The search of a space that has been opened by its specification.
    pub(super) fn of(args: &SolveArgs, spec: JobSpec, space: &Space) -> Result<Search, Failure> {
        let tables = space.table_bytes();
        if !spec.engine.is_explicit() {
            return Search::of_diagrams(args, spec, space);
        }
        let budget = Budget::new(args.memory, tables, args.workers, args.threads)
            .map_err(|error| Failure::usage(format!("invalid value for '--memory': {error}")))?;
        let (naming, expected_layers) = (Naming::of(space, args.own.gold), space.expected_layers());
        Ok(Search { spec, naming, expected_layers, budget: Some(budget) })
    }

    /// [`Self::of`] for the symbolic engine, which shares its memory out by itself.
    fn of_diagrams(args: &SolveArgs, spec: JobSpec, space: &Space) -> Result<Search, Failure> {
        let least = SymbolicWorker::LEAST_MEMORY;
        if args.memory < least {
            let (given, least) = (units::bytes(args.memory), units::bytes(least));
            let why = format!("{given} is too small: --engine symbolic takes at least {least}");
            return Err(Failure::usage(format!("invalid value for '--memory': {why}")));
        }
        let (naming, expected_layers) = (Naming::of(space, args.own.gold), space.expected_layers());
        Ok(Search { spec, naming, expected_layers, budget: None })
    }

    /// What the symbolic engine is made of.
    pub(super) fn symbolic(&self, args: &SolveArgs) -> strata_symbolic::Options {
        strata_symbolic::Options {
            memory: usize::try_from(args.memory).unwrap_or(usize::MAX),
            keep_layers: false,
            digests: self.spec.engine == EngineKind::Symbolic,
            verify: if args.verify { VERIFY } else { 0 },
            threads: args.threads,
        }
    }

    /// Whether the whole space is to be listed.
    pub(super) fn is_exhaustive(&self) -> bool {
        self.spec.params.get("exhaust").is_some_and(|value| value == "true")
    }
}

/// Runs `strata solve`.
pub(crate) fn run(args: &SolveArgs, console: &Console) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    if let Some(code) = clockwise::run(args, console)? {
        return Ok(code);
    }
    let (search, space) = Search::new(args)?;
    if args.path.wanted() {
        path::check(args, &search)?;
    }
    jobs::check_folder(&args.data_dir, args.resume)?;
    let data = DataDir::lock(&args.data_dir).map_err(jobs::unusable)?;
    let job = if args.resume { resume(&data, &search)? } else { create(&data, &search)? };
    let signals = Signals::listen();
    let progress = Progress::start(console, search.expected_layers);
    let run = Run { search: &search, data: &data, progress: &progress, signals: &signals, started };
    let code = if args.path.wanted() {
        run.with_path(args, (job, space))?
    } else {
        match run.search(args, (job, space))? {
            Ended::Finished(code) => code,
            Ended::Stopped { reason, depth } => report::stopped(args, &progress, reason, depth),
        }
    };
    progress.finish()?;
    drop(data);
    Ok(code)
}

/// What stays the same in a run of the program.
pub(super) struct Run<'a> {
    pub(super) search: &'a Search,
    pub(super) data: &'a DataDir,
    pub(super) progress: &'a Progress,
    pub(super) signals: &'a Signals,
    pub(super) started: Instant,
}

impl Run<'_> {
    /// Searches, or shows once more what was found.
    pub(super) fn search(
        &self,
        args: &SolveArgs,
        (job, space): (Job, Space),
    ) -> Result<Ended, Failure> {
        if job.manifest.state == RunState::Done {
            // It may have been killed just after its end.
            job.folder.remove_leftovers(&job.manifest, &job.ledger.lines)?;
            return report::again(self.search, args, self.progress, &job).map(Ended::Finished);
        }
        let job = (job, space);
        Session::start(self.search, args, self.progress, self.signals, job, self.started)?.run()
    }

    /// Searches and shows the moves of a shortest solution.
    ///
    /// All layers are kept unless the command line says which are. If they turn out not to fit the
    /// disk, a new job begins again without them.
    fn with_path(&self, args: &SolveArgs, (job, space): (Job, Space)) -> Result<ExitCode, Failure> {
        let mut folder = job.folder.clone();
        let chosen = args.line.given("keep-layers");
        let may_begin_again = job.new && !chosen && Puzzle::has_ends(&self.search.spec.space);
        let keep_layers = if chosen { args.keep_layers } else { KeepLayers::All };
        let keeping = SolveArgs { keep_layers, ..args.clone() };
        let mut ended = self.search(&keeping, (job, space))?;
        if let Ended::Stopped { reason: StopReason::DiskLimit | StopReason::DiskFull, depth } =
            ended
            && may_begin_again
        {
            tracing::warn!(
                depth,
                "not all layers fit the disk: beginning again without keeping them"
            );
            folder.remove()?;
            let job = create(self.data, self.search)?;
            folder = job.folder.clone();
            let (_, space) = Search::new(args)?;
            ended = self.search(args, (job, space))?;
        }
        match ended {
            Ended::Stopped { reason, depth } => {
                Ok(report::stopped(args, self.progress, reason, depth))
            }
            Ended::Finished(ExitCode::Done) if !self.search.spec.engine.is_explicit() => {
                self.path_of_diagrams(args, &folder)
            }
            Ended::Finished(ExitCode::Done) => self.path(args, folder),
            Ended::Finished(code) => Ok(code),
        }
    }

    /// Shows the path of the finished symbolic job, by a search that remembers all layers.
    fn path_of_diagrams(&self, args: &SolveArgs, folder: &JobDir) -> Result<ExitCode, Failure> {
        let spec = &self.search.spec;
        let puzzle = Puzzle::open(spec)?;
        let options = strata_symbolic::Options {
            keep_layers: true,
            digests: false,
            verify: 0,
            ..self.search.symbolic(args)
        };
        let expected = folder.read_manifest()?.result.and_then(|result| result.moves);
        let way = match engine::way(spec, options, self.signals)? {
            engine::Way::Found(way) => way,
            engine::Way::Interrupted(depth) => {
                let reason = StopReason::Interrupted;
                return Ok(report::stopped(args, self.progress, reason, depth));
            }
        };
        let moves = puzzle.moves_between(&way).ok_or_else(|| {
            Failure::new(ExitCode::Unexpected, "the way traced back is none".to_owned())
        })?;
        moves::show(&puzzle, expected, &moves, &args.path.form, args.own.gold, self.progress)?;
        Ok(ExitCode::Done)
    }

    /// Shows the path of the finished job.
    fn path(&self, args: &SolveArgs, folder: JobDir) -> Result<ExitCode, Failure> {
        let spec = &self.search.spec;
        match Paths::new(args, self.signals, &folder).find(spec, &folder)? {
            Way::Found(found) => {
                let expected = folder.read_manifest()?.result.and_then(|result| result.moves);
                let (puzzle, gold) = (Puzzle::open(spec)?, args.own.gold);
                moves::show(&puzzle, expected, &found, &args.path.form, gold, self.progress)?;
                Ok(ExitCode::Done)
            }
            Way::Stopped(reason) => {
                let depth = folder.read_manifest()?.checkpoint.map_or(0, |last| last.depth);
                Ok(report::stopped(args, self.progress, reason, depth))
            }
        }
    }
}

pub(super) fn create(data: &DataDir, search: &Search) -> Result<Job, Failure> {
    if let Some(job) = jobs::unfinished(data, &search.spec) {
        tracing::warn!("job {job} searches the same and is unfinished: --resume goes on with it");
    }
    let (folder, manifest) = jobs::create(data, search)?;
    Ok(Job { folder, manifest, ledger: Ledger::default(), new: true })
}

pub(super) fn resume(data: &DataDir, search: &Search) -> Result<Job, Failure> {
    let (folder, manifest) = jobs::find(data, search)?;
    let ledger = audit::ledger(&folder, &manifest)?;
    if manifest.state == RunState::Done {
        audit::files(&folder, &manifest, &ledger)?;
    } else {
        // The workers check the checkpoint's own files when they load them.
        audit::kept_files(&folder, &ledger, None)?;
    }
    Ok(Job { folder, manifest, ledger, new: false })
}

/// What ends a search of that space.
pub(super) fn rule<S>(finish: Finish<S>) -> strata::Rule {
    match finish {
        Finish::Meeting => strata::Rule::Meeting,
        Finish::State(_) => strata::Rule::State,
        Finish::Exhausted => strata::Rule::Exhausted,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn search(line: &str) -> Result<Search, String> {
        let words = line.split_whitespace().map(std::ffi::OsString::from);
        let Ok(Cli { command: Command::Solve(args), .. }) = crate::cmdline::parse(words) else {
            panic!("not solve: {line}");
        };
        Search::new(&args).map(|(search, _)| search).map_err(|failure| failure.to_string())
    }

    #[test]
    fn only_what_was_given_differs_from_the_defaults() {
        let plain = search("strata solve panex 6").unwrap();
        assert_eq!(plain.spec.shards, 64);
        assert_eq!(plain.spec.params["k"], "3");
        let other = search("strata solve panex 6 -k 2 --s 5 --shards 8 --exhaust").unwrap();
        let names: Vec<String> =
            other.spec.differences(&plain.spec).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["shards", "engine", "exhaust", "k", "s"]);
        assert!(other.is_exhaustive() && !plain.is_exhaustive());
    }

    #[test]
    fn what_cannot_be_searched_is_refused() {
        for (line, reason) in [
            ("strata solve chess", "unknown space 'chess'"),
            ("strata solve panex", "panex takes level"),
            ("strata solve panex 0", "level must be between 1 and"),
            ("strata solve panex 99", "level must be between 1 and"),
            ("strata solve panex 6 --pegs 4", "panex has no parameter 'pegs'"),
            ("strata solve hanoi 4 --symmetry off", "hanoi has no parameter 'symmetry'"),
            ("strata solve panex 6 --workers 3 --shards 2", "3 workers cannot share 2 shards"),
            ("strata solve panex 6 --engine explicit --memory 1MiB", "too small"),
            ("strata solve panex 6 --memory 1000KiB", "takes at least 1.0 MiB"),
        ] {
            let message = search(line).err().unwrap();
            assert!(message.contains(reason), "{line}: {message}");
        }
        assert!(Cli::try_parse_from(["strata", "solve", "hanoi", "4"]).is_ok());
    }
}
