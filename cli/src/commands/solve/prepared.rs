//! The search of `strata solve`, checked before anything is written.

use strata_run::catalogue::Space;
use strata_run::{EngineChoice, REVERSIBLE_SAMPLES, Request, RunOptions, default_shards};

use super::args::SolveArgs;
use super::engine;
use super::job_run::Labels;
use crate::output::exit::Failure;
use crate::spaces::request::{self, Naming};

/// A checked search.
pub(super) struct Prepared {
    pub(super) request: Request,
    /// The space with its tables. It is moved to the engine, so that the tables exist once.
    pub(super) space: Space,
    pub(super) labels: Labels,
}

impl Prepared {
    /// Checks everything that can be checked before files are written.
    ///
    /// # Errors
    /// If the space, its parameters or the options are refused.
    pub(super) fn new(args: &SolveArgs) -> Result<Prepared, Failure> {
        let space =
            request::open(&args.search.domain, &args.search.args, args.search.parameters())?;
        let mut options = options(args);
        let EngineChoice { engine, reason } = engine::choose(args, &space, &options)?;
        let shards = args.search.shards.unwrap_or_else(|| default_shards(engine, &space));
        if !engine.is_explicit() && !args.search.line.typed("workers") {
            // The number may come from a variable, which may be meant for other searches.
            options.workers = 1;
        }
        let request = Request::new(&space, engine, shards, options)?;
        let naming = Naming::of(&space, args.search.own.form);
        let labels = Labels::of_search(&space, reason, naming);
        Ok(Prepared { request, space, labels })
    }
}

/// Resources and limits of the command line.
fn options(args: &SolveArgs) -> RunOptions {
    RunOptions {
        threads: args.threads(),
        workers: args.workers,
        memory: args.memory,
        checkpoint_interval: args.checkpoint_interval,
        keep_layers: args.search.keep_layers,
        max_layers: args.search.max_layers,
        disk_limit: args.search.disk_limit,
        verify: args.verify,
        reversible_samples: args.check_reversible.unwrap_or(REVERSIBLE_SAMPLES),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn prepared(line: &str) -> Result<Prepared, String> {
        let words = line.split_whitespace().map(std::ffi::OsString::from);
        let Ok(Cli { command: Command::Solve(args), .. }) = crate::cmdline::parse(words) else {
            panic!("not solve: {line}");
        };
        Prepared::new(&args).map_err(|failure| failure.to_string())
    }

    #[test]
    fn only_given_parameters_differ_from_the_defaults() {
        let plain = prepared("strata solve panex 6").unwrap();
        assert_eq!(plain.request.spec().shards, 64);
        assert_eq!(plain.request.spec().params["k"], "3");
        let other = prepared("strata solve panex 6 -k 2 --s 5 --shards 8 --exhaust").unwrap();
        let names: Vec<String> = other
            .request
            .spec()
            .differences(plain.request.spec())
            .into_iter()
            .map(|(name, ..)| name)
            .collect();
        assert_eq!(names, ["shards", "engine", "exhaust", "k", "s"]);
        assert!(other.request.is_exhaustive() && !plain.request.is_exhaustive());
    }

    #[test]
    fn invalid_searches_are_refused() {
        for (line, reason) in [
            ("strata solve chess", "unknown space 'chess'"),
            ("strata solve panex", "panex takes level"),
            ("strata solve panex 0", "level must be between 1 and"),
            ("strata solve panex 99", "level must be between 1 and"),
            ("strata solve panex 6 --pegs 4", "panex has no parameter 'pegs'"),
            ("strata solve hanoi 4 --symmetry off", "hanoi has no parameter 'symmetry'"),
            ("strata solve panex 6 --workers 3 --shards 2", "3 workers cannot share 2 shards"),
            ("strata solve panex 6 --engine explicit --memory 1MiB", "too small"),
            (
                "strata solve panex 6 --engine symbolic --memory 1000KiB",
                "the symbolic engine takes at least 1 MiB",
            ),
        ] {
            let message = prepared(line).err().unwrap();
            assert!(message.contains(reason), "{line}: {message}");
        }
        assert!(Cli::try_parse_from(["strata", "solve", "hanoi", "4"]).is_ok());
    }
}
