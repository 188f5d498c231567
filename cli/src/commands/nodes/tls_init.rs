//! `strata tls-init`: certificates of a new cluster.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use serde::Serialize;
use strata_proto::net::ClusterCertificates;

use super::node::host;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;

/// Arguments of `tls-init`.
#[derive(Debug, Args)]
pub(crate) struct TlsInitArgs {
    /// Folder of the files, created if necessary
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Host name or address of a node, besides localhost and this host; repeatable
    #[arg(long, value_name = "HOST", env = "STRATA_NAME", hide_env_values = true)]
    #[arg(value_delimiter = ',')]
    name: Vec<String>,

    /// Check and keep the files if they exist, instead of refusing
    #[arg(long, env = "STRATA_KEEP_EXISTING", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    keep_existing: bool,
}

/// Fields of the `certificates` event.
#[derive(Serialize)]
struct Created {
    ca: PathBuf,
    ca_key: PathBuf,
    node: PathBuf,
    node_key: PathBuf,
    client: PathBuf,
    client_key: PathBuf,
    /// False if they existed.
    created: bool,
}

impl Created {
    fn new(files: ClusterCertificates, created: bool) -> Self {
        let ClusterCertificates { ca, ca_key, node, node_key, client, client_key } = files;
        Self { ca, ca_key, node, node_key, client, client_key, created }
    }
}

/// Runs `strata tls-init`.
///
/// # Errors
/// If a file exists, unless it is to be kept, or cannot be used or written, or a name is malformed.
pub(crate) fn run(args: &TlsInitArgs, console: &Console) -> Result<ExitCode, Failure> {
    let existing = ClusterCertificates::of(&args.dir);
    let created = if args.keep_existing && existing.exist() {
        existing.check()?;
        Created::new(existing, false)
    } else {
        Created::new(ClusterCertificates::create(&args.dir, &names(args))?, true)
    };
    stdout::print(|out| {
        if console.json { write_line("certificates", &created, out) } else { report(&created, out) }
    })?;
    Ok(ExitCode::Done)
}

/// The given names, and this host's if a certificate can have it.
fn names(args: &TlsInitArgs) -> Vec<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let own = Some(host()).filter(|name| name.len() <= 63 && name.chars().all(fits));
    own.into_iter().chain(args.name.iter().cloned()).collect()
}

fn report(files: &Created, out: &mut dyn Write) -> std::io::Result<()> {
    let (ca, node, node_key) = (files.ca.display(), files.node.display(), files.node_key.display());
    let (client, client_key) = (files.client.display(), files.client_key.display());
    if !files.created {
        return writeln!(out, "the certificates exist and can be used");
    }
    writeln!(out, "nodes:   --tls-ca {ca} --tls-cert {node} --tls-key {node_key}")?;
    writeln!(out, "clients: --tls-ca {ca} --tls-cert {client} --tls-key {client_key}")?;
    writeln!(out, "no node needs {}: keep it elsewhere", files.ca_key.display())
}
