//! Networking shared by nodes and clients: the cluster's token, TLS, connections, limits, the
//! version of the protocol, and the conversion between messages and the types of other crates.
//!
//! A node opens one [`Security`] from its token file and its PEM files. A server is built with
//! [`Security::server`] and has the layer [`Security::guard`] in front of its services. Its
//! connections come from an [`Incoming`], which closes those without an authorised call. A caller
//! connects with [`Security::connect`], which presents the token.

mod authority;
pub mod convert;
mod date;
mod error;
mod guard;
mod health;
mod incoming;
mod kept;
pub mod limits;
mod listener;
mod pace;
pub mod protocol;
mod security;
mod text;
mod throttle;
mod token;
mod validity;
mod web;

pub use authority::ClusterCertificates;
pub use date::dated;
pub use error::{NetError, status_reason, with_hint};
pub use guard::{Attach, Guard, Guarded};
pub use health::health;
pub use incoming::{AcceptedConnection, Caller, ConnectionLimits, Incoming};
pub use kept::KeptFiles;
pub use listener::listen;
pub use pace::{Pace, Stalled, least_bytes};
pub use security::{Connection, Security, TlsFiles};
pub use text::{printable, reported, shortened};
pub use throttle::Throttle;
pub use token::Token;
pub use web::{WebStream, WebTls};
