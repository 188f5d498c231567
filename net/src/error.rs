//! What can go wrong between nodes. Each error names the file, address or flag that it is about,
//! and none of them ever holds a token or a key.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tonic::{Code, Status};

/// Something about the network failed, or is not set up as it must be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Other machines could give this node orders, and nothing would stop them.
    #[error("listening on {addr}, beyond this machine, needs a token: give --token-file")]
    NoToken {
        /// Where the node was to listen.
        addr: SocketAddr,
    },
    /// A file cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
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
    /// A PEM file does not hold what it should, or does not go with another one.
    #[error("cannot use {} for TLS: {why}", path.display())]
    Tls {
        /// The PEM file.
        path: PathBuf,
        /// What is wrong with it, without its content.
        why: String,
    },
    /// A flag for TLS is of no use without others.
    #[error("{given} needs {missing} as well")]
    TlsFlags {
        /// What was given.
        given: &'static str,
        /// What was not.
        missing: &'static str,
    },
    /// The listener's settings cannot be used.
    #[error("cannot set up the server: {why}")]
    Server {
        /// The reason.
        why: String,
    },
    /// A URL does not say where to connect to, or how is not known here.
    #[error("cannot use the URL {url:?}: {why}")]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody answers.
    #[error("cannot reach {url}: {why}")]
    Unreachable {
        /// The URL.
        url: String,
        /// The reason.
        why: String,
    },
    /// Somebody answers, but does not do what was asked.
    #[error("{url} refuses: {why}")]
    Refused {
        /// The URL.
        url: String,
        /// The answer.
        why: String,
    },
}

impl NetError {
    /// For `map_err`: adds the file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_path_buf(), source }
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

    pub(crate) fn unreachable(url: &str, why: impl Into<String>) -> Self {
        Self::Unreachable { url: url.to_owned(), why: why.into() }
    }

    /// What a failed call means: whether it came to an answer, and which.
    pub(crate) fn status(url: &str, status: &Status) -> Self {
        let answered = match status.code() {
            // A lost or unusable connection.
            Code::Unavailable | Code::Unknown | Code::Cancelled | Code::DeadlineExceeded => false,
            // A broken stream comes with its reason, an answer comes without.
            Code::Internal => status.source().is_none(),
            _ => true,
        };
        let why = chain(status.message(), status.source());
        if answered {
            Self::Refused { url: url.to_owned(), why }
        } else {
            Self::unreachable(url, why)
        }
    }
}

/// An error with all its reasons in one line: "transport error" alone helps nobody.
pub(crate) fn reasons(error: &dyn Error) -> String {
    chain(&error.to_string(), error.source())
}

fn chain(first: &str, mut source: Option<&(dyn Error + 'static)>) -> String {
    let mut text = first.to_owned();
    while let Some(error) = source {
        let more = error.to_string();
        // Wrappers often repeat what they wrap.
        if !text.contains(&more) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&more);
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_once() {
        let inner = NetError::token(Path::new("t"), "it is empty");
        let outer = NetError::file(Path::new("f"))(io::Error::other(inner));
        assert_eq!(reasons(&outer), "cannot use f: t holds no token: it is empty");
        let chained = chain("transport error", Some(&outer));
        assert_eq!(chained, "transport error: cannot use f: t holds no token: it is empty");
    }

    #[test]
    fn answers_are_told_from_silence() {
        let refused = NetError::status("http://a", &Status::unauthenticated("no token"));
        assert_eq!(refused.to_string(), "http://a refuses: no token");
        let silent = NetError::status("http://a", &Status::unavailable("gone"));
        assert_eq!(silent.to_string(), "cannot reach http://a: gone");
    }
}
