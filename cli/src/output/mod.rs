//! What the program prints: results, events, progress, log lines and exit codes.

pub(crate) mod args;
pub(crate) mod console;
pub(crate) mod events;
pub(crate) mod exit;
pub(crate) mod forecast;
pub(crate) mod json;
pub(crate) mod layer;
pub(crate) mod path_form;
pub(crate) mod progress;
pub(crate) mod shell;
pub(crate) mod stdout;
pub(crate) mod units;
