//! Arguments of `strata plot`.

use std::path::{Path, PathBuf};

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use strata_plot::{Quantity, Size};

use crate::files;
use crate::output::exit::Failure;
use crate::target::TargetArgs;

/// Limit of jobs to compare with the first: each has a colour of its own.
const MOST_COMPARED: usize = 3;

/// Arguments of `plot`.
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// What to draw
    #[arg(long, value_name = "WHAT", default_value = "positions")]
    #[arg(env = "STRATA_WHAT", hide_env_values = true, value_parser = quantities())]
    pub(crate) what: Quantity,

    /// Use a logarithmic vertical axis; zeros are not drawn
    #[arg(long, env = "STRATA_LOG", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) log: bool,

    /// Another job to draw in the same chart (repeatable, at most three)
    #[arg(long, value_name = "JOB|DIR", env = "STRATA_COMPARE", hide_env_values = true)]
    pub(crate) compare: Vec<PathBuf>,

    /// Write the chart to a file: an image if the name ends in .svg or .png; '-' is standard output
    #[arg(long, value_name = "FILE", env = "STRATA_OUT", hide_env_values = true)]
    out: Option<PathBuf>,

    /// Title of the chart [default: the jobs and what is shown]
    #[arg(long, value_name = "TEXT", env = "STRATA_TITLE", hide_env_values = true)]
    pub(crate) title: Option<String>,

    /// Form of the chart [default: by the ending of --out, else text]
    #[arg(long = "as", value_name = "FORM", env = "STRATA_AS", hide_env_values = true)]
    pub(crate) form: Option<Form>,

    /// Width and height of an image, in pixels
    #[arg(long, value_name = "WxH", default_value_t = Size::default())]
    #[arg(env = "STRATA_SIZE", hide_env_values = true)]
    pub(crate) size: Size,

    /// Colours of an image
    #[arg(long, value_name = "THEME", default_value = "light")]
    #[arg(env = "STRATA_THEME", hide_env_values = true)]
    pub(crate) theme: Theme,
}

/// Form of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Braille characters.
    Text,
    /// An SVG image.
    Svg,
    /// A PNG image.
    Png,
}

/// Colours of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Theme {
    /// Dark on white.
    Light,
    /// Light on dark.
    Dark,
}

/// Quantities by name.
fn quantities() -> impl TypedValueParser<Value = Quantity> {
    let value = |quantity: Quantity| PossibleValue::new(quantity.name()).help(quantity.about());
    let names = PossibleValuesParser::new(Quantity::ALL.map(value));
    names.try_map(|name| Quantity::find(&name).ok_or("no such quantity"))
}

impl Form {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Svg => "svg",
            Form::Png => "png",
        }
    }
}

impl PlotArgs {
    /// The file for the chart; none if it is printed.
    pub(crate) fn file(&self) -> Option<&Path> {
        files::output(self.out.as_deref())
    }

    /// The form of the chart: that of `--as`, or that of the file's ending.
    ///
    /// # Errors
    /// `Usage` if the file's ending names no form, or there are too many jobs.
    pub(crate) fn form(&self) -> Result<Form, Failure> {
        if self.compare.len() > MOST_COMPARED {
            let number = self.compare.len();
            let message = format!("--compare: {number} jobs, at most {MOST_COMPARED} fit a chart");
            return Err(Failure::usage(message));
        }
        let Some(file) = self.file() else { return Ok(self.form.unwrap_or(Form::Text)) };
        let ending = file.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        match (self.form, ending.as_deref()) {
            (Some(form), _) => Ok(form),
            (None, Some("svg")) => Ok(Form::Svg),
            (None, Some("png")) => Ok(Form::Png),
            (None, Some("txt")) => Ok(Form::Text),
            (None, _) => {
                let file = file.display();
                Err(Failure::usage(format!("--out {file}: use .svg, .png or .txt, or --as FORM")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn form(line: &str) -> Result<Form, String> {
        match Cli::try_parse_from(line.split_whitespace()) {
            Ok(Cli { command: Command::Plot(args), .. }) => {
                args.form().map_err(|failure| failure.to_string())
            }
            other => panic!("not plot: {other:?}"),
        }
    }

    #[test]
    fn the_form_follows_the_ending_of_the_file() {
        assert_eq!(form("strata plot dir"), Ok(Form::Text));
        assert_eq!(form("strata plot dir --out a/b.svg"), Ok(Form::Svg));
        assert_eq!(form("strata plot dir --out B.PNG"), Ok(Form::Png));
        assert_eq!(form("strata plot dir --out b.txt"), Ok(Form::Text));
        assert_eq!(form("strata plot dir --as svg"), Ok(Form::Svg));
        assert_eq!(form("strata plot dir --out -"), Ok(Form::Text));
        assert_eq!(form("strata plot dir --out - --as svg"), Ok(Form::Svg));
        assert_eq!(form("strata plot dir --out b.svg --as png"), Ok(Form::Png));
        let refused = form("strata plot dir --out b.jpg").unwrap_err();
        assert_eq!(refused, "--out b.jpg: use .svg, .png or .txt, or --as FORM");
    }

    #[test]
    fn more_than_three_compared_jobs_are_refused() {
        let compared = |number: usize| format!("strata plot a{}", " --compare b".repeat(number));
        assert_eq!(form(&compared(3)), Ok(Form::Text));
        let refused = form(&compared(4)).unwrap_err();
        assert_eq!(refused, "--compare: 4 jobs, at most 3 fit a chart");
    }
}
