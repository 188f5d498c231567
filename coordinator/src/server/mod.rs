//! The coordinator's servers: gRPC for workers and clients, HTTP for health, metrics and
//! the web page.

mod changes;
mod control;
pub(crate) mod coordinator;
mod dashboard;
pub(crate) mod error;
mod http;
mod jobs;
mod layers;
mod metrics;
mod openings;
pub(crate) mod options;
mod paths;
mod reader;
mod removal;
mod status;
mod streams;
mod verify;
mod view;
