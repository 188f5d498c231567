//! Forecasts of searches: the expected cost before a search starts, and the time left while it runs.
//!
//! All functions are pure. [`Forecast`] has the known figures of a search's size.
//! [`Forecast::expected`] derives time, memory and disk space. [`RemainingTime`] estimates the time left
//! from the work done so far and the time that it took. A figure without a basis is absent.

mod cost;
mod model;
mod planes;
mod range;
mod remaining;
mod work;

pub use cost::{Expected, Resources};
pub use model::Forecast;
pub use planes::PlanePasses;
pub use range::Range;
pub use remaining::RemainingTime;
