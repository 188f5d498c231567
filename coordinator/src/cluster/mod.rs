//! Workers, the job queue, and the sessions that run jobs.

pub(crate) mod admission;
pub(crate) mod assignment;
pub(crate) mod checkpoint_sink;
pub(crate) mod context;
pub(crate) mod engine_choice;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod job_log;
pub(crate) mod job_runner;
pub(crate) mod job_view;
pub(crate) mod membership;
pub(crate) mod notifier;
pub(crate) mod outgoing;
pub(crate) mod pace;
pub(crate) mod queue;
pub(crate) mod removal;
pub(crate) mod removal_messages;
pub(crate) mod retention;
pub(crate) mod schedule;
pub(crate) mod session;
pub(crate) mod space_info;
pub(crate) mod work;
pub(crate) mod worker_pool;
