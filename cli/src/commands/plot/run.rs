//! Run of `strata plot`: layers of jobs in, a chart out.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use strata_plot::{Chart, Image, JobCurve, LayerFigures, Scale, Terminal, chart};
use strata_run::forecast::Forecast;
use terminal_size::{Height, Width, terminal_size_of};

use super::args::{Form, PlotArgs, Theme};
use super::event::{self, Written};
use crate::client::record;
use crate::commands::stats::rows::rows;
use crate::folder::{open, space};
use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::layer::LayerRow;
use crate::output::path_form::check_folder;
use crate::output::stdout;
use crate::target::Target;

/// Lines that a text chart needs besides the plot, the prompt after it included.
const OTHER_LINES: usize = 8;

/// Runs `strata plot`.
///
/// # Errors
/// If there is no such job, its history cannot be read, it has nothing to draw, or the file cannot be
/// written.
pub(crate) fn run(args: &PlotArgs, console: &Console) -> Result<ExitCode, Failure> {
    let form = args.form()?;
    if let Some(file) = args.file() {
        check_folder("out", file)?;
    }
    if form == Form::Png && args.file().is_none() && !console.json && io::stdout().is_terminal() {
        return Err(Failure::usage("a PNG image is no text: use --out FILE or a pipe"));
    }
    let first = args.target.find()?;
    let mut jobs = vec![curve(&first)?];
    for word in &args.compare {
        jobs.push(curve(&args.target.places.find(word)?)?);
    }
    let scale = if args.log { Scale::Log } else { Scale::Linear };
    let mut chart = chart(args.what, &jobs, scale);
    if let Some(title) = &args.title {
        chart.title.clone_from(title);
    }
    check(args, &chart, &jobs)?;
    let written = match args.file() {
        Some(file) => Some(write_file(file, form, &draw(args, form, console, &chart)?)?),
        None => None,
    };
    if console.json {
        stdout::print(|out| event::write(args, &chart, written, out))?;
    } else if written.is_none() {
        let content = draw(args, form, console, &chart)?;
        stdout::print(|out| out.write_all(&content))?;
    }
    Ok(ExitCode::Done)
}

/// The layers of a job.
fn curve(target: &Target<'_>) -> Result<JobCurve, Failure> {
    let name = match target {
        Target::Folder(folder) => {
            let name = folder.file_name().unwrap_or(folder.as_os_str());
            name.to_string_lossy().into_owned()
        }
        Target::Cluster(found) if found.job.name.is_empty() => found.job.id.clone(),
        Target::Cluster(found) => found.job.name.clone(),
    };
    let figures = |row: LayerRow| LayerFigures {
        depth: row.depth,
        states: row.states,
        positions: row.positions,
        bytes: row.bytes,
        traffic: row.read_bytes.saturating_add(row.written_bytes),
        seconds: row.seconds,
    };
    let (_, rows) = rows(target)?;
    let last = rows.last().map(|row| row.depth);
    let mut curve = JobCurve::new(name, rows.into_iter().map(figures).collect());
    if let (Some(last), Some(forecast)) = (last, remainder(target)?) {
        curve.expected = forecast.expected_layers(last);
    }
    Ok(curve)
}

/// The forecast of a job's search; none if the job is done.
fn remainder(target: &Target<'_>) -> Result<Option<Forecast>, Failure> {
    match target {
        Target::Folder(folder) => {
            let (folder, manifest) = open(folder)?;
            if manifest.result.is_some() {
                return Ok(None);
            }
            // If the space cannot be opened, the layers are drawn without a forecast.
            let space = space(&folder, &manifest).ok();
            Ok(space.map(|space| Forecast::new(&space, manifest.spec.engine, None)))
        }
        Target::Cluster(found) if found.job.result.is_some() => Ok(None),
        Target::Cluster(found) => Ok(Some(record::forecast(&found.job))),
    }
}

/// Refuses a chart in which a job has no point.
fn check(args: &PlotArgs, chart: &Chart, jobs: &[JobCurve]) -> Result<(), Failure> {
    let what = args.what.name();
    for job in jobs {
        let alone = strata_plot::chart(args.what, std::slice::from_ref(job), chart.y.scale);
        if alone.is_empty() {
            let why = match job.layers.is_empty() {
                true => "it has no layers yet",
                false if chart.y.scale == Scale::Log => "no layer has a value above zero",
                false => "its layers have no such value",
            };
            let name = &job.name;
            return Err(Failure::usage(format!("{name}: no {what} to draw: {why}")));
        }
    }
    Ok(())
}

/// The chart in its form.
fn draw(args: &PlotArgs, form: Form, console: &Console, chart: &Chart) -> Result<Vec<u8>, Failure> {
    let theme = match args.theme {
        Theme::Light => strata_plot::Theme::Light,
        Theme::Dark => strata_plot::Theme::Dark,
    };
    let image = Image { size: args.size, theme, transparent: false };
    match form {
        Form::Text => Ok(chart.text(&terminal(args, console)).into_bytes()),
        Form::Svg => Ok(chart.svg(&image).into_bytes()),
        Form::Png => {
            let failed = |error| Failure::new(ExitCode::Unexpected, format!("--as png: {error}"));
            chart.png(&image).map_err(failed)
        }
    }
}

/// The terminal of standard output, or one of 80 columns.
fn terminal(args: &PlotArgs, console: &Console) -> Terminal {
    let default = Terminal::default();
    if args.file().is_some() {
        return default;
    }
    let size = terminal_size_of(io::stdout());
    let (width, height) = size.map_or((default.width, default.height), |(width, height)| {
        let (Width(width), Height(height)) = (width, height);
        // A plot that is too high is hard to read.
        let rows = usize::from(height).saturating_sub(OTHER_LINES).min(usize::from(width) / 4);
        (usize::from(width), rows)
    });
    Terminal { width, height, colour: console.colours }
}

/// Writes the file of `--out`.
fn write_file(file: &Path, form: Form, content: &[u8]) -> Result<Written, Failure> {
    std::fs::write(file, content)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", file.display())))?;
    Ok(Written { file: file.display().to_string(), bytes: content.len() as u64, form })
}
