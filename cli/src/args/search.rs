//! Flags that `solve` and `submit` share: what to search, and when to stop.

use clap::Args;
use clap::builder::BoolishValueParser;
use strata_run::KeepLayers;

use crate::args::domain::{CommonFlags, DomainArgs};
use crate::args::line::SolveLine;
use crate::args::values::Engine;
use crate::spaces::given::Given;
use strata_run::size::parse_size;

/// What to search, and when to stop.
#[derive(Clone, Debug, Args)]
pub(crate) struct SearchArgs {
    /// State space, such as panex or hanoi
    pub(crate) domain: String,

    /// Its arguments, such as the level or the number of discs
    #[arg(value_name = "ARGS", allow_negative_numbers = true)]
    pub(crate) args: Vec<String>,

    /// Stop, resumably, before a layer that is expected to exceed this much disk space
    #[arg(long, value_name = "SIZE")]
    #[arg(env = "STRATA_DISK_LIMIT", hide_env_values = true, value_parser = parse_size)]
    pub(crate) disk_limit: Option<u64>,

    /// Stop, resumably, at this depth
    #[arg(long, value_name = "N", env = "STRATA_MAX_LAYERS", hide_env_values = true)]
    pub(crate) max_layers: Option<u32>,

    /// Print the expected time, memory and disk, and search nothing
    #[arg(long, env = "STRATA_DRY_RUN", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) dry_run: bool,

    /// Layer files to keep: all, last (those the search needs) or every:K
    #[arg(long, value_name = "WHICH", default_value = "last")]
    #[arg(env = "STRATA_KEEP_LAYERS", hide_env_values = true)]
    pub(crate) keep_layers: KeepLayers,

    /// Flags that many state spaces have.
    #[command(flatten)]
    pub(crate) common: CommonFlags,

    /// How layers are held; in a cluster, a symbolic search uses one worker
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    #[arg(env = "STRATA_ENGINE", hide_env_values = true)]
    pub(crate) engine: Engine,

    /// Number of shards of the states; fixed when the job is created
    #[arg(long, value_name = "N", env = "STRATA_SHARDS", hide_env_values = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) shards: Option<u32>,

    /// Parameters of single state spaces.
    #[command(flatten)]
    pub(crate) own: DomainArgs,

    /// The command line these arguments came from.
    #[arg(skip)]
    pub(crate) line: SolveLine,
}

impl SearchArgs {
    /// Parameters of the state space that were given by flag or variable.
    pub(crate) fn parameters(&self) -> Vec<Given> {
        self.own.given(&self.common, &self.line)
    }
}
