//! Arguments of the commands that speak with a cluster.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;
use strata::KeepLayers;
use strata_net::{Security, TlsFiles, Token};

use crate::args::domain::{CommonFlags, DomainArgs, Given};
use crate::cli::{Engine, PathForm, TableFormat, parse_keep_layers};
use crate::client::remote::refusal;
use crate::cmdline::{SolveLine, quoted};
use crate::output::exit::Failure;
use crate::output::units;
use crate::spaces::program;

/// Where a coordinator listens unless told otherwise.
const COORDINATOR: &str = "http://127.0.0.1:7070";

/// How to reach a cluster.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClientArgs {
    /// The cluster's coordinator
    #[arg(long, value_name = "URL", default_value = COORDINATOR)]
    #[arg(env = "STRATA_COORDINATOR", hide_env_values = true, value_parser = parse_url)]
    pub(crate) coordinator: String,

    /// Token and certificates.
    #[command(flatten)]
    pub(crate) security: SecurityArgs,
}

/// How the members of a cluster know each other.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct SecurityArgs {
    /// File with the cluster's token
    #[arg(long, value_name = "FILE", env = "STRATA_TOKEN_FILE", hide_env_values = true)]
    pub(crate) token_file: Option<PathBuf>,

    /// Certificate of the authority that signs the cluster's certificates
    #[arg(long, value_name = "FILE", env = "STRATA_TLS_CA", hide_env_values = true)]
    pub(crate) tls_ca: Option<PathBuf>,

    /// Own certificate
    #[arg(long, value_name = "FILE", env = "STRATA_TLS_CERT", hide_env_values = true)]
    #[arg(requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Key of the own certificate
    #[arg(long, value_name = "FILE", env = "STRATA_TLS_KEY", hide_env_values = true)]
    #[arg(requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

impl SecurityArgs {
    /// The files of the encryption.
    pub(crate) fn tls_files(&self) -> TlsFiles {
        let SecurityArgs { tls_ca, tls_cert, tls_key, .. } = self.clone();
        TlsFiles { ca: tls_ca, cert: tls_cert, key: tls_key }
    }

    /// Reads the files.
    pub(crate) fn open(&self) -> Result<Security, Failure> {
        let token = self.token_file.as_deref().map(Token::read).transpose();
        let opened = token.and_then(|token| Security::open(token, &self.tls_files()));
        opened.map_err(|error| refusal(&error))
    }
}

impl ClientArgs {
    /// The command for a job of this cluster, quoted for a shell. What came from the environment
    /// is spelt out, so that the command works in any shell.
    pub(crate) fn command(&self, verb: &str, job: &str) -> String {
        let mut words = format!("{} {verb} {}", program::name(), quoted(job));
        let mut add = |flag: &str, value: &str| words += &format!(" --{flag} {}", quoted(value));
        if self.coordinator != COORDINATOR {
            add("coordinator", &self.coordinator);
        }
        let SecurityArgs { token_file, tls_ca, tls_cert, tls_key } = &self.security;
        let files = [
            ("token-file", token_file),
            ("tls-ca", tls_ca),
            ("tls-cert", tls_cert),
            ("tls-key", tls_key),
        ];
        for (flag, file) in files {
            if let Some(file) = file {
                add(flag, &file.to_string_lossy());
            }
        }
        words
    }
}

/// Why an address was refused.
#[derive(Debug, thiserror::Error)]
#[error("use http://HOST:PORT or https://HOST:PORT")]
pub(crate) struct UrlError;

/// The address of a node.
pub(crate) fn parse_url(text: &str) -> Result<String, UrlError> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let host = rest.ok_or(UrlError)?.trim_end_matches('/');
    let plain = !host.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/');
    if host.is_empty() || !plain {
        return Err(UrlError);
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Why a job's name was refused.
#[derive(Debug, thiserror::Error)]
#[error("use at most 64 letters, digits, dots, dashes and underscores")]
pub(crate) struct NameError;

fn parse_name(text: &str) -> Result<String, NameError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !(1..=64).contains(&text.len()) || !text.chars().all(plain) {
        return Err(NameError);
    }
    Ok(text.to_owned())
}

/// Arguments of `submit`.
#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// The state space, such as panex or hanoi
    pub(crate) domain: String,

    /// Its arguments, such as the level or the number of discs
    #[arg(value_name = "ARGS", allow_negative_numbers = true)]
    pub(crate) args: Vec<String>,

    /// A name for the job: submitting it again follows the job there is
    #[arg(long, value_name = "NAME", env = "STRATA_NAME", hide_env_values = true)]
    #[arg(value_parser = parse_name)]
    pub(crate) name: Option<String>,

    /// Print the job's id and leave
    #[arg(long, env = "STRATA_DETACH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) detach: bool,

    /// Stop, resumably, before a layer that is expected to take more room on the workers' disks
    #[arg(long, value_name = "SIZE")]
    #[arg(env = "STRATA_DISK_LIMIT", hide_env_values = true, value_parser = units::parse_size)]
    pub(crate) disk_limit: Option<u64>,

    /// Stop, resumably, at this depth
    #[arg(long, value_name = "N", env = "STRATA_MAX_LAYERS", hide_env_values = true)]
    pub(crate) max_layers: Option<u32>,

    /// Time between checkpoints, such as 500ms or 2m [default: the coordinator's]
    #[arg(long, value_name = "DURATION")]
    #[arg(env = "STRATA_CHECKPOINT_INTERVAL", hide_env_values = true)]
    #[arg(value_parser = humantime::parse_duration)]
    pub(crate) checkpoint_interval: Option<Duration>,

    /// Layer files to keep: all, last (those the search needs) or every:K
    #[arg(long, value_name = "WHICH", default_value = "last")]
    #[arg(env = "STRATA_KEEP_LAYERS", hide_env_values = true, value_parser = parse_keep_layers)]
    pub(crate) keep_layers: KeepLayers,

    /// Flags that many state spaces have.
    #[command(flatten)]
    pub(crate) common: CommonFlags,

    /// Shards to divide the states among [default: the coordinator's]
    #[arg(long, value_name = "N", env = "STRATA_SHARDS", hide_env_values = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) shards: Option<u32>,

    /// How layers are held; auto is explicit here, and a symbolic job has one worker
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    #[arg(env = "STRATA_ENGINE", hide_env_values = true)]
    pub(crate) engine: Engine,

    /// Flags of single state spaces.
    #[command(flatten)]
    pub(crate) own: DomainArgs,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,

    /// The command line these arguments came from.
    #[arg(skip)]
    pub(crate) line: SolveLine,
}

impl SubmitArgs {
    /// The parameters of state spaces that were given by flag or variable.
    pub(crate) fn parameters(&self) -> Vec<Given> {
        self.own.given(&self.common, &self.line)
    }
}

/// Arguments of the commands for one job.
#[derive(Debug, Args)]
pub(crate) struct JobArgs {
    /// The job: its id, a beginning of it that no other job has, or its name
    pub(crate) job: String,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Arguments of `path`.
#[derive(Debug, Args)]
pub(crate) struct PathJobArgs {
    /// The job: its id, a beginning of it that no other job has, or its name
    pub(crate) job: String,

    /// Form and place of the moves.
    #[command(flatten)]
    pub(crate) form: PathForm,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The job: its id, a beginning of it that no other job has, or its name
    pub(crate) job: Option<String>,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Arguments of `logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The job: its id, a beginning of it that no other job has, or its name
    pub(crate) job: String,

    /// Go on until the job ends
    #[arg(short, long, env = "STRATA_FOLLOW", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) follow: bool,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The job: its id, a beginning of it that no other job has, or its name
    pub(crate) job: String,

    /// Print the job's id and leave
    #[arg(long, env = "STRATA_DETACH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) detach: bool,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The job's folder or, if there is no such folder, a cluster's job
    #[arg(value_name = "JOB")]
    pub(crate) dir: PathBuf,

    /// The form of the table [default: table, with --json json]
    #[arg(long, value_name = "FORMAT", env = "STRATA_FORMAT", hide_env_values = true)]
    format: Option<TableFormat>,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

impl StatsArgs {
    /// The form asked for, in a run with or without `--json`.
    pub(crate) fn format(&self, json: bool) -> TableFormat {
        let otherwise = if json { TableFormat::Json } else { TableFormat::Table };
        self.format.unwrap_or(otherwise)
    }

    /// The cluster's job that is meant, if it is no folder.
    pub(crate) fn job(&self) -> Option<&str> {
        let word = self.dir.to_str()?;
        let is_name = !word.contains('/') && !self.dir.exists();
        is_name.then_some(word)
    }
}

/// Arguments of `health`.
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// The node to ask [default: the coordinator]
    #[arg(long, value_name = "URL", env = "STRATA_URL", hide_env_values = true)]
    #[arg(value_parser = parse_url)]
    pub(crate) url: Option<String>,

    /// The cluster.
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

impl HealthArgs {
    /// The node that is meant.
    pub(crate) fn node(&self) -> &str {
        self.url.as_deref().unwrap_or(&self.client.coordinator)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::output::exit::ExitCode;

    fn submit(line: &str) -> SubmitArgs {
        let words = line.split_whitespace().map(std::ffi::OsString::from);
        match crate::cmdline::parse(words) {
            Ok(Cli { command: Command::Submit(args), .. }) => *args,
            _ => panic!("not submit: {line}"),
        }
    }

    #[test]
    fn submit_takes_what_solve_takes() {
        let args = submit(
            "strata submit hanoi 10 --pegs 4 --exhaust --shards 8 --name ten --detach \
             --checkpoint-interval 2s --max-layers 9 --disk-limit 1GiB --keep-layers all",
        );
        assert_eq!((args.domain.as_str(), &*args.args), ("hanoi", &["10".to_owned()][..]));
        let given = args.parameters();
        let given: Vec<_> = given.iter().map(|g| (g.name, &*g.value, g.typed)).collect();
        assert_eq!(given, [("pegs", "4", true), ("exhaust", "true", true)]);
        assert_eq!(
            (args.shards, args.max_layers, args.disk_limit),
            (Some(8), Some(9), Some(1 << 30))
        );
        assert_eq!(args.checkpoint_interval, Some(Duration::from_secs(2)));
        assert_eq!(args.client.coordinator, COORDINATOR);
        assert!(args.detach);
    }

    #[test]
    fn commands_name_the_cluster_when_it_is_not_the_usual_one() {
        let plain = submit("strata submit panex 3").client;
        assert_eq!(plain.command("watch", "panex-3-aaaaaa"), "strata watch panex-3-aaaaaa");
        let other = "strata submit panex 3 --coordinator https://there:1/ --token-file my.token";
        assert_eq!(
            submit(other).client.command("resume", "j"),
            "strata resume j --coordinator https://there:1 --token-file my.token"
        );
    }

    #[test]
    fn bad_values_are_refused() {
        for line in [
            "strata list --coordinator localhost:7070",
            "strata list --coordinator http://",
            "strata list --coordinator http://a/b",
            "strata list --tls-cert mine.pem",
            "strata submit panex 3 --name a/b",
            "strata submit panex 3 --name=",
            "strata health --url ftp://a",
            "strata watch",
            "strata logs",
        ] {
            let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn stats_takes_folders_and_jobs() {
        let job = |word: &str| match Cli::try_parse_from(["strata", "stats", word]) {
            Ok(Cli { command: Command::Stats(args), .. }) => args.job().map(str::to_owned),
            other => panic!("not stats: {other:?}"),
        };
        assert_eq!(job("."), None);
        assert_eq!(job("no/such/folder"), None);
        assert_eq!(job("panex-6-aaaaaa"), Some("panex-6-aaaaaa".to_owned()));
    }

    #[test]
    fn a_missing_token_is_a_refusal() {
        let token_file = Some(PathBuf::from("no/such/token"));
        let security = SecurityArgs { token_file, ..SecurityArgs::default() };
        let failure = security.open().err().unwrap();
        assert_eq!(failure.code, ExitCode::Usage);
        assert!(failure.to_string().contains("no/such/token"), "{failure}");
    }
}
