//! Flags of the commands that contact a cluster: address, token and certificates.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use strata_proto::net::{Security, TlsFiles, Token};

use crate::args::values::secret_file;
use crate::output::exit::Failure;
use crate::output::shell::quoted;
use crate::program;

/// Address of a coordinator on this machine.
const COORDINATOR: &str = "http://127.0.0.1:7070";

/// Address of a cluster, and the files that authenticate to it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClientArgs {
    /// Address of the coordinator
    #[arg(long, value_name = "URL", default_value = COORDINATOR)]
    #[arg(env = "STRATA_COORDINATOR", hide_env_values = true, value_parser = parse_url)]
    pub(crate) coordinator: String,

    /// Token and certificates.
    #[command(flatten)]
    pub(crate) security: SecurityArgs,
}

/// Files that authenticate the nodes and clients of a cluster.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct SecurityArgs {
    /// File with the cluster's token
    #[arg(long, value_name = "FILE", env = "STRATA_TOKEN_FILE", hide_env_values = true)]
    #[arg(value_parser = secret_file())]
    pub(crate) token_file: Option<PathBuf>,

    /// Certificate of the authority that signs the cluster's certificates
    #[arg(long, value_name = "FILE", env = "STRATA_TLS_CA", hide_env_values = true)]
    #[arg(value_parser = secret_file())]
    pub(crate) tls_ca: Option<PathBuf>,

    /// Own certificate
    #[arg(long, value_name = "FILE", env = "STRATA_TLS_CERT", hide_env_values = true)]
    #[arg(value_parser = secret_file())]
    #[arg(requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Key of the own certificate
    #[arg(long, value_name = "FILE", env = "STRATA_TLS_KEY", hide_env_values = true)]
    #[arg(value_parser = secret_file())]
    #[arg(requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Permit unencrypted connections beyond this machine
    #[arg(long, env = "STRATA_INSECURE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) insecure: bool,
}

impl SecurityArgs {
    /// The certificate files.
    fn tls_files(&self) -> TlsFiles {
        let SecurityArgs { tls_ca, tls_cert, tls_key, .. } = self.clone();
        TlsFiles { ca: tls_ca, cert: tls_cert, key: tls_key }
    }

    /// Reads the files.
    ///
    /// # Errors
    /// If a file cannot be read or is malformed.
    pub(crate) fn open(&self) -> Result<Security, Failure> {
        let token = self.token_file.as_deref().map(Token::read).transpose()?;
        self.open_with(token)
    }

    /// Reads the certificate files and combines them with `token`.
    ///
    /// # Errors
    /// If a file cannot be read or is malformed.
    pub(crate) fn open_with(&self, token: Option<Token>) -> Result<Security, Failure> {
        Ok(Security::open(token, &self.tls_files())?.insecure(self.insecure))
    }
}

impl ClientArgs {
    /// The command for a job of this cluster, quoted for a shell.
    ///
    /// Values from the environment are written as flags, so that the command works in any shell.
    pub(crate) fn command(&self, verb: &str, job: &str) -> String {
        let mut words = format!("{} {verb} {}", program::name(), quoted(job));
        let mut add = |flag: &str, value: &str| words += &format!(" --{flag} {}", quoted(value));
        if self.coordinator != COORDINATOR {
            add("coordinator", &self.coordinator);
        }
        let SecurityArgs { token_file, tls_ca, tls_cert, tls_key, insecure } = &self.security;
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
        if *insecure {
            words += " --insecure";
        }
        words
    }
}

/// Why an address was refused.
#[derive(Debug, thiserror::Error)]
#[error("use http://HOST:PORT or https://HOST:PORT")]
pub(crate) struct UrlError;

/// Parses the address of a node.
pub(crate) fn parse_url(text: &str) -> Result<String, UrlError> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let host = rest.ok_or(UrlError)?.trim_end_matches('/');
    let plain = !host.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/');
    if host.is_empty() || !plain {
        return Err(UrlError);
    }
    Ok(text.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::exit::ExitCode;

    #[test]
    fn commands_name_the_cluster_unless_it_is_the_default() {
        let client = |coordinator: &str, token_file: Option<&str>| ClientArgs {
            coordinator: coordinator.to_owned(),
            security: SecurityArgs {
                token_file: token_file.map(PathBuf::from),
                ..SecurityArgs::default()
            },
        };
        let plain = client(COORDINATOR, None);
        assert_eq!(plain.command("watch", "panex-3-aaaaaa"), "strata watch panex-3-aaaaaa");
        let other = client(&parse_url("https://there:1/").unwrap(), Some("my.token"));
        assert_eq!(
            other.command("resume", "j"),
            "strata resume j --coordinator https://there:1 --token-file my.token"
        );
        let mut open = client(COORDINATOR, None);
        open.security.insecure = true;
        assert_eq!(open.command("watch", "j"), "strata watch j --insecure");
    }

    #[test]
    fn a_missing_token_file_is_a_usage_error() {
        let token_file = Some(PathBuf::from("no/such/token"));
        let security = SecurityArgs { token_file, ..SecurityArgs::default() };
        let failure = security.open().err().unwrap();
        assert_eq!(failure.code, ExitCode::Usage);
        assert!(failure.to_string().contains("no/such/token"), "{failure}");
    }
}
