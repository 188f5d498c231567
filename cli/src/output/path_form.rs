//! Flags for the moves of a shortest solution.

use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use crate::files;
use crate::output::exit::Failure;

/// Whether to find the moves, and how to print them.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Path")]
pub(crate) struct PathArgs {
    /// Also print the moves of a shortest solution (keeps all layers, see --keep-layers)
    ///
    /// The moves are traced back through the layers. If the layers exceed the disk limit, or
    /// --keep-layers excludes them, both halves of the path are searched again, recursively.
    #[arg(long, env = "STRATA_PATH", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    path: bool,

    /// Form and destination of the moves.
    #[command(flatten)]
    pub(crate) form: PathForm,
}

/// Form and destination of the moves.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Path")]
pub(crate) struct PathForm {
    /// Form of the moves
    #[arg(long, value_name = "FORM", default_value = "moves")]
    #[arg(env = "STRATA_PATH_FORMAT", hide_env_values = true)]
    pub(crate) path_format: PathFormat,

    /// Write the moves to a file, or to standard output for '-' (with solve, implies --path)
    #[arg(long, value_name = "FILE", env = "STRATA_PATH_FILE", hide_env_values = true)]
    path_file: Option<PathBuf>,
}

impl PathArgs {
    /// Whether the moves are to be found.
    pub(crate) fn wanted(&self) -> bool {
        self.path || self.form.path_file.is_some()
    }
}

impl PathForm {
    /// Checks that there is a goal and that the file can be created.
    ///
    /// # Errors
    /// If the whole space is searched, or the file's folder does not exist.
    pub(crate) fn check_for_goal(&self, exhaust: bool) -> Result<(), Failure> {
        if exhaust {
            return Err(Failure::usage("--path: a search of the whole space has no goal"));
        }
        self.check()
    }

    /// Checks that the file can be created.
    ///
    /// # Errors
    /// If its folder does not exist.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.file().map_or(Ok(()), |file| check_folder("path-file", file))
    }

    /// The file for the moves; none if they are printed.
    pub(crate) fn file(&self) -> Option<&Path> {
        files::output(self.path_file.as_deref())
    }
}

/// Checks that the folder of a flag's output file exists.
///
/// # Errors
/// If it does not.
pub fn check_folder(flag: &str, file: &Path) -> Result<(), Failure> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let folder = folder.display();
            Err(Failure::usage(format!("--{flag}: there is no folder {folder}")))
        }
        _ => Ok(()),
    }
}

/// Form of the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathFormat {
    /// One per line with its tile, such as b1 L>C.
    Moves,
    /// All in one line, such as LC RC.
    Words,
}
