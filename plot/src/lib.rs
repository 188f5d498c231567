//! Charts of searches as SVG, PNG and terminal text.
//!
//! A [`Chart`] is data: axes with units, [`Series`] of points, and [`Mark`]s. [`JobCurve`] holds
//! the layers of a job; [`chart`] makes from it the charts that commands and pages show. SVG and
//! PNG share one layout, text has another. Series of millions of points are reduced to the columns
//! of the image, with their extremes kept. Nothing here reads or writes files.
//!
//! ```
//! use strata_plot::{Image, JobCurve, LayerFigures, Quantity, Scale, Terminal, chart};
//!
//! // The distances in a cube of three dimensions.
//! let layers = [1, 3, 3, 1].into_iter().zip(0..).map(|(states, depth)| LayerFigures {
//!     depth,
//!     states,
//!     seconds: 0.1,
//!     ..LayerFigures::default()
//! });
//! let job = JobCurve::new("cube", layers.collect());
//! let chart = chart(Quantity::Positions, &[job], Scale::Linear);
//! assert!(chart.svg(&Image::default()).starts_with("<svg "));
//! assert!(chart.png(&Image::default())?.starts_with(b"\x89PNG"));
//! assert!(chart.text(&Terminal::default()).starts_with("cube: states by depth\n"));
//! # Ok::<(), strata_plot::PngError>(())
//! ```
#![forbid(unsafe_code)]

mod braille;
mod chart;
mod curve;
mod font;
mod image;
mod layout;
mod legend;
mod measure;
mod png;
mod projection;
mod reduce;
mod scene;
mod svg;
mod text;
mod theme;
mod ticks;
mod unit;

pub use chart::{Axis, Chart, Mark, MarkKind, Point, Scale, Series, SeriesStyle};
pub use curve::{JobCurve, JobMark, LayerFigures, Quantity, chart};
pub use image::{Image, Size, SizeError, Theme};
pub use png::PngError;
pub use text::Terminal;
pub use unit::Unit;
