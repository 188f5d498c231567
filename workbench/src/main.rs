//! The program `strata-panex`, which `strata panex` and `strata tiles` run.
#![forbid(unsafe_code)]

mod commands;

fn main() -> std::process::ExitCode {
    strata_cli::toolkit::run("panex", commands::run)
}
