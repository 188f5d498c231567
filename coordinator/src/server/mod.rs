//! The coordinator's servers: gRPC for workers and clients, HTTP for health and metrics.

mod control;
pub(crate) mod coordinator;
pub(crate) mod error;
mod http;
mod jobs;
mod layers;
mod metrics;
pub(crate) mod options;
mod reader;
mod removal;
mod status;
mod streams;
mod view;
