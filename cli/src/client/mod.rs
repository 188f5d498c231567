//! Calls to a cluster, and its jobs and workers as events, JSON lines and text.

pub(crate) mod expected;
pub(crate) mod follow;
pub(crate) mod job_events;
pub(crate) mod layers;
pub(crate) mod path;
pub(crate) mod record;
pub(crate) mod remote;
pub(crate) mod removed;
pub(crate) mod report;
pub(crate) mod searched;
pub(crate) mod table;
pub(crate) mod tables;
