//! Network errors.
//!
//! Each error names its file, address or flag. None holds a token or a key.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tonic::{Code, Status};

/// A connection failed, or the network is not set up correctly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Listening beyond this machine was refused, because the node has no token.
    #[error("listening on {addr}, beyond this machine, needs a token: give `token_file`")]
    NoToken {
        /// The refused address.
        addr: SocketAddr,
    },
    /// Listening beyond this machine was refused, because the node has no certificate.
    #[error(
        "listening on {addr}, beyond this machine, needs TLS: give `tls_cert` and `tls_key` \
         (`strata tls-init` creates them), or `insecure` to do without encryption"
    )]
    PlaintextListener {
        /// The refused address.
        addr: SocketAddr,
    },
    /// The token was not sent, because the connection would not be encrypted.
    #[error(
        "the token would be sent unencrypted to {url}, beyond this machine: use https:// and \
         `tls_ca` (`strata tls-init` creates the files), or `insecure` to do without encryption"
    )]
    PlaintextToken {
        /// The URL.
        url: String,
    },
    /// A file to be created exists.
    #[error("{} exists already, and is not replaced", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A name for a certificate is neither a host name nor an IP address.
    #[error("{name:?} is neither a host name nor an IP address")]
    HostName {
        /// The name.
        name: String,
    },
    /// No certificate can be made.
    #[error("cannot make a certificate: {why}")]
    Certificate {
        /// The reason.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A token file does not hold a token.
    #[error("{} holds no token: {why}", path.display())]
    Token {
        /// The token file.
        path: PathBuf,
        /// What is wrong with it, without its content.
        why: String,
    },
    /// A PEM file has no usable content, or does not match another one.
    #[error("cannot use {} for TLS: {why}", path.display())]
    Tls {
        /// The PEM file.
        path: PathBuf,
        /// What is wrong with it, without its content.
        why: String,
    },
    /// The operating system provides no random numbers.
    #[error("no random numbers: {why}")]
    Random {
        /// The cause.
        why: String,
    },
    /// A flag for TLS needs another flag.
    #[error("{given} needs {missing} as well")]
    TlsFlags {
        /// The given flag.
        given: &'static str,
        /// The missing flag.
        missing: &'static str,
    },
    /// A node cannot listen on an address.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// The operating system's error.
        source: io::Error,
    },
    /// The settings of a server cannot be used.
    #[error("cannot set up the server: {why}")]
    Server {
        /// The reason.
        why: String,
    },
    /// A URL is malformed, or its scheme or TLS cannot be used here.
    #[error("cannot use the URL {url:?}: {why}")]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// No node answers.
    #[error("cannot reach {url}: {why}")]
    Unreachable {
        /// The URL.
        url: String,
        /// The reason.
        why: String,
    },
    /// A node answers and refuses the call.
    #[error("{url} refuses: {why}")]
    Refused {
        /// The URL.
        url: String,
        /// The node's reason.
        why: String,
    },
}

impl NetError {
    /// Adds the file to an error; for `map_err`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_path_buf(), source }
    }

    /// The error of a machine without random numbers.
    #[must_use]
    pub fn random(error: io::Error) -> Self {
        Self::Random { why: error.to_string() }
    }

    pub(crate) fn token(path: &Path, why: impl Into<String>) -> Self {
        Self::Token { path: path.to_path_buf(), why: why.into() }
    }

    pub(crate) fn tls(path: &Path, why: impl Into<String>) -> Self {
        Self::Tls { path: path.to_path_buf(), why: why.into() }
    }

    pub(crate) fn url(url: &str, why: impl Into<String>) -> Self {
        Self::Url { url: url.to_owned(), why: why.into() }
    }

    /// The error of a node that cannot be reached, with the hint of [`with_hint`].
    pub fn unreachable(url: &str, why: impl Into<String>) -> Self {
        Self::Unreachable { url: url.to_owned(), why: with_hint(url, why.into()) }
    }

    /// The error of a failed call: `Refused` if the node answered, else `Unreachable`.
    pub(crate) fn status(url: &str, status: &Status) -> Self {
        let answered = match status.code() {
            // The connection is lost or unusable.
            Code::Unavailable | Code::Unknown | Code::Cancelled | Code::DeadlineExceeded => false,
            // The status of a broken stream has a source; one that the node sent has none.
            Code::Internal => status.source().is_none(),
            _ => true,
        };
        let why = status_reason(status);
        if answered {
            Self::Refused { url: url.to_owned(), why }
        } else {
            Self::unreachable(url, why)
        }
    }
}

/// Adds a hint to the reason `why` of a failed connection to `url`. The errors that different TLS
/// settings of the two ends cause do not mention TLS or the certificate.
#[must_use]
pub fn with_hint(url: &str, mut why: String) -> String {
    const CUT: [&str; 4] = ["broken pipe", "Broken pipe", "reset by peer", "connection closed"];
    // An alert of TLS, read as a frame of HTTP/2.
    const ALERT: [&str; 2] = ["frame with invalid size", "FRAME_SIZE_ERROR"];
    let has = |signs: &[&str]| signs.iter().any(|sign| why.contains(sign));
    let hint = if why.contains("InvalidContentType") {
        " (the node may not use TLS: then its URL begins with http://)"
    } else if !url.starts_with("https://") && has(&ALERT) {
        " (the node may use TLS: then its URL begins with https://)"
    } else if url.starts_with("https://") && has(&CUT) {
        // The alert of a node that refuses a certificate may be lost with the connection.
        " (it may require a certificate, or refuse that in `tls_cert`)"
    } else {
        ""
    };
    why.push_str(hint);
    why
}

/// Why a call failed: the message of `status` and its causes, such as the refused certificate that
/// caused a "transport error".
#[must_use]
pub fn status_reason(status: &Status) -> String {
    chain(status.message(), status.source())
}

/// An error and its sources in one line, without a "transport error" in front of its cause.
pub(crate) fn reasons(error: &dyn Error) -> String {
    chain(&error.to_string(), error.source())
}

fn chain(first: &str, mut source: Option<&(dyn Error + 'static)>) -> String {
    let hides_cause = first == "transport error" && source.is_some();
    let mut text = if hides_cause { String::new() } else { first.to_owned() };
    while let Some(error) = source {
        let more = error.to_string();
        // Wrappers often repeat their source.
        if !text.contains(&more) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&more);
        }
        source = error.source();
    }
    match advice(&text) {
        Some(advice) => format!("{text} ({advice})"),
        None => text,
    }
}

/// The meaning of a TLS handshake error, and what to do. The error text names neither the
/// certificate nor a flag.
fn advice(text: &str) -> Option<&'static str> {
    const REFUSED: &str = "the node refuses the certificate in `tls_cert`: use one that the \
                           cluster's authority has signed";
    const UNKNOWN: &str = "the authority in `tls_ca` has not signed the node's certificate";
    const ADVICE: [(&str, &str); 9] = [
        (
            "fatal alert: CertificateRequired",
            "the node requires a certificate: use `tls_cert` and `tls_key`",
        ),
        ("fatal alert: BadCertificate", REFUSED),
        ("fatal alert: UnsupportedCertificate", REFUSED),
        ("fatal alert: CertificateExpired", "the certificate in `tls_cert` has expired"),
        ("fatal alert: CertificateUnknown", REFUSED),
        ("fatal alert: UnknownCA", REFUSED),
        ("fatal alert: DecryptError", REFUSED),
        ("invalid peer certificate: UnknownIssuer", UNKNOWN),
        ("invalid peer certificate: BadSignature", UNKNOWN),
    ];
    ADVICE.iter().find(|(found, _)| text.contains(found)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_is_printed_once() {
        let inner = NetError::token(Path::new("t"), "it is empty");
        let outer = NetError::file(Path::new("f"))(io::Error::other(inner));
        assert_eq!(reasons(&outer), "cannot use f: t holds no token: it is empty");
        let chained = chain("transport error", Some(&outer));
        assert_eq!(chained, "cannot use f: t holds no token: it is empty");
        assert_eq!(chain("transport error", None), "transport error");
    }

    #[test]
    fn a_refused_certificate_is_named_with_its_flag() {
        let reason = |text: &str| chain(text, None);
        let required = "received fatal alert: CertificateRequired";
        let expected = "(the node requires a certificate: use `tls_cert` and `tls_key`)";
        assert_eq!(reason(required), format!("{required} {expected}"));
        let unknown = reason("invalid peer certificate: UnknownIssuer");
        assert!(
            unknown.ends_with("(the authority in `tls_ca` has not signed the node's certificate)")
        );
        assert!(reason("received fatal alert: DecryptError").contains("`tls_cert`"));
        assert_eq!(reason("broken pipe"), "broken pipe");
        let cut = |url| NetError::unreachable(url, "broken pipe").to_string();
        assert!(cut("https://a").contains("`tls_cert`"), "{}", cut("https://a"));
        assert!(!cut("http://a").contains("certificate"));
        let alert = NetError::unreachable("http://a", "connection error: frame with invalid size");
        let hint = "(the node may use TLS: then its URL begins with https://)";
        assert!(alert.to_string().ends_with(hint), "{alert}");
        assert_eq!(cut("http://a"), "cannot reach http://a: broken pipe");
        let plain =
            NetError::unreachable("https://a", "corrupt message of type InvalidContentType");
        let hint = "(the node may not use TLS: then its URL begins with http://)";
        assert!(plain.to_string().ends_with(hint), "{plain}");
        let down = NetError::unreachable("http://a", "Connection refused").to_string();
        assert_eq!(down, "cannot reach http://a: Connection refused");
    }

    #[test]
    fn a_refusal_differs_from_an_unreachable_node() {
        let refused = NetError::status("http://a", &Status::unauthenticated("no token"));
        assert_eq!(refused.to_string(), "http://a refuses: no token");
        let unreachable = NetError::status("http://a", &Status::unavailable("gone"));
        assert_eq!(unreachable.to_string(), "cannot reach http://a: gone");
    }
}
