//! JSON form of charts: a line per curve, then one for the chart.

use std::io::{self, Write};

use serde::Serialize;
use strata_plot::{Chart, Scale, Series, Unit};

use super::args::{Form, PlotArgs};
use crate::output::json::write_line;

/// A written file.
#[derive(Serialize)]
pub(super) struct Written {
    /// Its path.
    pub(super) file: String,
    /// Its length.
    pub(super) bytes: u64,
    /// Its form.
    #[serde(serialize_with = "form_name")]
    pub(super) form: Form,
}

fn form_name<S: serde::Serializer>(form: &Form, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(form.name())
}

/// Fields of the `curve` event.
#[derive(Serialize)]
struct Curve<'a> {
    name: &'a str,
    points: Vec<[f64; 2]>,
}

/// Fields of an axis.
#[derive(Serialize)]
struct AxisFields<'a> {
    label: &'a str,
    unit: &'static str,
    scale: &'static str,
}

/// Fields of the `plot` event.
#[derive(Serialize)]
struct Plot<'a> {
    what: &'static str,
    title: &'a str,
    x: AxisFields<'a>,
    y: AxisFields<'a>,
    #[serde(flatten)]
    written: Option<Written>,
}

/// Writes the events of a chart.
pub(super) fn write(
    args: &PlotArgs,
    chart: &Chart,
    written: Option<Written>,
    out: &mut impl Write,
) -> io::Result<()> {
    for series in &chart.series {
        let Series { name, points, .. } = series;
        let points = points.iter().map(|point| [point.x, point.y]).collect();
        write_line("curve", &Curve { name, points }, out)?;
    }
    let axis = |axis: &'_ strata_plot::Axis| (unit(axis.unit), scale(axis.scale));
    let ((x_unit, x_scale), (y_unit, y_scale)) = (axis(&chart.x), axis(&chart.y));
    let plot = Plot {
        what: args.what.name(),
        title: &chart.title,
        x: AxisFields { label: &chart.x.label, unit: x_unit, scale: x_scale },
        y: AxisFields { label: &chart.y.label, unit: y_unit, scale: y_scale },
        written,
    };
    write_line("plot", &plot, out)
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Number | Unit::Count => "1",
        Unit::PerSecond => "1/s",
        Unit::Seconds => "s",
        Unit::Bytes => "bytes",
        Unit::Ratio => "bytes/state",
    }
}

fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    }
}
