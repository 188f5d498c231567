//! The `strata` program.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    strata_cli::run([])
}
