//! `strata path`: the moves of a shortest solution found by a job.

use clap::Args;
use strata_run::forecast::Forecast;

use crate::client;
use crate::commands::local_path::{self, PathResources};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::path_form::PathForm;
use crate::output::progress::Progress;
use crate::target::{ClusterJob, Target, TargetArgs};

/// Arguments of `path`.
#[derive(Debug, Args)]
pub(crate) struct PathJobArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Form and destination of the moves.
    #[command(flatten)]
    form: PathForm,

    /// Resources of a search for the path.
    #[command(flatten)]
    resources: PathResources,
}

/// Runs `strata path`.
pub(crate) fn run(args: &PathJobArgs, console: &Console) -> Result<ExitCode, Failure> {
    args.form.check()?;
    let ClusterJob { remote, job } = match args.target.find()? {
        Target::Folder(folder) => {
            return local_path::run(&folder, &args.form, &args.resources, console);
        }
        Target::Cluster(found) => *found,
    };
    if let Some(flag) = args.target.places.typed.first_of(&PathResources::FLAGS) {
        let message = format!("--{flag} is for a job in a folder: {} is the cluster's", job.id);
        return Err(Failure::usage(message));
    }
    let (puzzle, path) = client::path::find(&remote, &job, &args.target.places.data_dir)?;
    let moves = job.result.as_ref().and_then(|result| result.moves);
    let progress = Progress::start(console, &Forecast::default());
    puzzle.show(path, moves, &args.form, false, &progress)?;
    progress.finish()?;
    Ok(ExitCode::Done)
}
