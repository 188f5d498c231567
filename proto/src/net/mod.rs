//! Networking shared by nodes and clients: the cluster's token, TLS, connections, limits, the
//! version of the protocol, and the conversion between messages and the types of other crates.
//!
//! A node opens one [`Security`] from its token file and its PEM files. A server is built with
//! [`Security::server`] and has the layer [`Security::guard`] in front of its services. Its
//! connections come from a [`Port`], which closes those without an authorised call and, at a worker, also
//! takes connections of frames ([`FrameConnection`]). A caller connects with [`Security::connect`] or
//! [`Security::connect_frames`], which present the token.

mod accepted_stream;
mod authority;
pub mod convert;
mod date;
mod error;
mod frames;
mod guard;
mod health;
mod incoming;
mod kept;
pub mod limits;
mod listener;
mod pace;
mod port;
pub mod protocol;
mod security;
mod text;
mod throttle;
mod token;
mod validity;
mod web;

pub use accepted_stream::AcceptedStream;
pub use authority::ClusterCertificates;
pub use date::dated;
pub use error::{NetError, status_reason, with_hint};
pub use frames::{FrameConnection, FrameError, FrameReader, FrameWriter};
pub use guard::{Attach, Guard, Guarded};
pub use health::health;
pub use incoming::{AcceptedConnection, Caller, ConnectionLimits, Incoming};
pub use kept::KeptFiles;
pub use listener::listen;
pub use pace::{Pace, Stalled};
pub use port::Port;
pub use security::{Connection, Security, TlsFiles};
pub use text::{printable, reported, shortened};
pub use throttle::Throttle;
pub use token::Token;
pub use web::{WebTls, accept_web};
