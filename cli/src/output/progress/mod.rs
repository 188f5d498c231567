//! Display of a run: a bar or log lines on standard error, JSON or the result on standard output.
//!
//! A run reports events to one [`Progress`], which passes them to its sinks. A sink decides what
//! to leave out, so that a thousand layers a second are not slowed by printing. A thread ticks the
//! sinks a few times a second: held-back output is written, and a long layer shows activity.

mod bar;
mod json;
mod lines;
mod reporter;
mod sink;
mod text;

pub(crate) use reporter::Progress;
pub(crate) use sink::Sink;
