//! `strata panex choke`: X(LEVEL) by choke points, and a shortest list of moves.

use std::io::{self, Write};
use std::time::Instant;

use serde::Serialize;
use strata_cli::toolkit::{Console, ExitCode, Failure, print, units, write_line};
use strata_panex::choke::{Progress, Search};
use strata_replay::{CentreTop, Move, Position, Word, replay};
use strata_run::memory;

use super::args::ChokeArgs;
use super::words::write_words;

struct Found {
    level: u8,
    moves: u64,
    seconds: f64,
    peak_rss_bytes: Option<u64>,
    path: Option<Vec<Move>>,
}

/// Runs `strata panex choke`.
pub(super) fn run(args: &ChokeArgs, console: &Console) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let search = search(args.level, args.threads);
    let path = args.path.then(|| search.moves()).transpose().map_err(unexpected)?;
    let moves = match &path {
        Some(path) => {
            check(args.level, path)?;
            path.len() as u64
        }
        None => search.least_moves().map_err(unexpected)?.into(),
    };
    let seconds = started.elapsed().as_secs_f64();
    let found = Found { level: args.level, moves, seconds, peak_rss_bytes: memory::peak(), path };
    print(|out| if console.json { found.json(out) } else { found.text(out) })?;
    Ok(ExitCode::Done)
}

/// A search that logs its progress.
pub(super) fn search(level: u8, threads: usize) -> Search<'static> {
    Search::new(level).threads(threads).on_progress(&show)
}

fn unexpected(error: impl std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Unexpected, error.to_string())
}

fn show(progress: Progress) {
    let Progress { level, done, classes, elapsed } = progress;
    if done == classes {
        tracing::info!("level {level} done, {:.1} s", elapsed.as_secs_f64());
    } else {
        tracing::debug!("level {level}: {done} of {classes} tables");
    }
}

/// Replays the moves by code that shares nothing with the search.
fn check(level: u8, path: &[Move]) -> Result<(), Failure> {
    let start = Position::start(level).map_err(unexpected)?;
    let goal = Position::goal(level).map_err(unexpected)?;
    let end = replay(&start, path.iter().copied(), CentreTop::Forbidden, |_, _| {});
    match end.map_err(unexpected)?.into_position() {
        end if end == goal => Ok(()),
        end => Err(unexpected(format!("the moves end at {end}"))),
    }
}

impl Found {
    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "X({}) = {}", self.level, self.moves)?;
        writeln!(out, "  time        {}", units::seconds(self.seconds))?;
        if let Some(peak) = self.peak_rss_bytes {
            writeln!(out, "  peak memory {}", units::bytes(peak))?;
        }
        match &self.path {
            Some(path) => {
                writeln!(out, "  moves       replayed")?;
                write_words(path, out)
            }
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut impl Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Line {
            level: u8,
            moves: u64,
            seconds: f64,
            peak_rss_bytes: Option<u64>,
            word: Option<String>,
        }
        let word = self.path.as_ref().map(|path| path.iter().copied().collect::<Word>());
        let line = Line {
            level: self.level,
            moves: self.moves,
            seconds: self.seconds,
            peak_rss_bytes: self.peak_rss_bytes,
            word: word.map(|word| word.to_string()),
        };
        write_line("choke", &line, out)
    }
}
