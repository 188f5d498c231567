//! `strata health`: whether a node of a cluster is healthy.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use strata_proto::net::NetError;

use crate::args::cluster::{ClientArgs, parse_url};
use crate::client::remote;
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;

/// Arguments of `health`.
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// Address of the node [default: the coordinator]
    #[arg(long, value_name = "URL", env = "STRATA_URL", hide_env_values = true)]
    #[arg(value_parser = parse_url)]
    url: Option<String>,

    /// The cluster.
    #[command(flatten)]
    client: ClientArgs,
}

impl HealthArgs {
    /// Address of the node to check.
    fn node(&self) -> &str {
        self.url.as_deref().unwrap_or(&self.client.coordinator)
    }
}

/// Fields of the `health` event.
#[derive(Serialize)]
struct Health<'a> {
    url: &'a str,
    healthy: bool,
    error: Option<String>,
}

impl<'a> Health<'a> {
    fn new(url: &'a str, failure: Option<&Failure>) -> Self {
        Health { url, healthy: failure.is_none(), error: failure.map(ToString::to_string) }
    }
}

/// Runs `strata health`.
///
/// # Errors
/// If the node cannot be reached or reports that it is not healthy.
pub(crate) fn run(args: &HealthArgs, console: &Console) -> Result<ExitCode, Failure> {
    let (security, url) = (args.client.security.open()?, args.node());
    let failure = match remote::health(url, &security)? {
        Ok(()) => None,
        Err(error @ (NetError::Unreachable { .. } | NetError::Refused { .. })) => {
            Some(Failure::new(ExitCode::Unreachable, error))
        }
        Err(error) => return Err(error.into()),
    };
    if console.json {
        stdout::print(|out| write_line("health", &Health::new(url, failure.as_ref()), out))?;
    } else if failure.is_none() {
        stdout::print(|out| writeln!(out, "{url} is healthy"))?;
    }
    failure.map_or(Ok(ExitCode::Done), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_names_node_and_health() {
        let mut line = Vec::new();
        write_line("health", &Health::new("http://a:1", None), &mut line).unwrap();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"v\":1,\"event\":\"health\",\"url\":\"http://a:1\",\"healthy\":true,\
             \"error\":null}\n"
        );
    }
}
