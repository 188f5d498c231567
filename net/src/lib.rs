//! What nodes and clients share of the network: the cluster's token, encryption, connections,
//! limits, and the translation between messages and what the other crates work with.
//!
//! A node opens a [`Security`] once, from its token file and its PEM files. Everything that listens
//! takes [`Security::server`] and puts [`Security::guard`] before its services; everything that
//! calls goes through [`Security::connect`], which presents the token.
#![forbid(unsafe_code)]

pub mod convert;
mod error;
mod guard;
mod health;
pub mod limits;
mod security;
mod token;

pub use error::NetError;
pub use guard::{Attach, Guard};
pub use health::health;
pub use security::{Connection, Security, TlsFiles};
pub use token::Token;
