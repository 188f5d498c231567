//! Forecasts of searches: what a search costs, expected before it starts, and the time that is left
//! while it runs.
//!
//! Everything is pure: figures in, figures out. [`Forecast`] has what is known of a search's size.
//! [`Forecast::expected`] derives time, memory and disk. [`RemainingTime`] compares the work that is
//! done with the time that it took. Where there is no basis for a figure, it is absent.

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
