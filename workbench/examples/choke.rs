//! X(N) by choke points, with time and memory:
//! `cargo run --release -p strata-panex --example choke -- LEVEL [THREADS] [--path] [--avx2 | --portable]`.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use strata_panex::choke::{Progress, Search, Vectors};
use strata_replay::{CentreTop, Move, Position, replay};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, numbers): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with("--"));
    let level = numbers.first().ok_or("which level?")?.parse()?;
    let threads = numbers.get(1).map_or(Ok(2), |t| t.parse())?;
    let mut search = Search::new(level).threads(threads).on_progress(&show);
    let mut path = false;
    for flag in flags {
        match flag.as_str() {
            "--path" => path = true,
            "--portable" => search = search.vectors(Vectors::Portable),
            #[cfg(target_arch = "x86_64")]
            "--avx2" => search = search.vectors(Vectors::Avx2),
            other => return Err(format!("unknown flag {other}").into()),
        }
    }
    let started = Instant::now();
    let moves = if path {
        let moves = search.moves()?;
        let elapsed = started.elapsed();
        let count = moves.len();
        check(level, moves)?;
        eprintln!("\nreplayed; the list took {:.2} s", elapsed.as_secs_f64());
        count
    } else {
        search.least_moves()? as usize
    };
    let seconds = started.elapsed().as_secs_f64();
    println!("X({level}) = {moves}  {seconds:.2} s  {} MiB", peak_memory()? >> 10);
    Ok(())
}

/// Shows the progress on one line, which the next call overwrites.
fn show(progress: Progress) {
    let Progress { level, done, classes, elapsed } = progress;
    let mut err = std::io::stderr().lock();
    let seconds = elapsed.as_secs_f64();
    // Progress is optional: errors of standard error are ignored.
    let _ = write!(err, "\rlevel {level}: {done} of {classes} tables, {seconds:.1} s   ");
    if done == classes {
        let _ = writeln!(err);
    }
}

/// Replays the moves on explicit tiles, and checks rules and goal.
fn check(level: u8, moves: Vec<Move>) -> Result<(), Box<dyn Error>> {
    let replay = replay(&Position::start(level)?, moves, CentreTop::Forbidden, |_, _| {})?;
    let solved = replay.position() == &Position::goal(level)?;
    solved.then_some(()).ok_or("the moves do not end at the goal".into())
}

/// Peak memory of this process in KiB, from the kernel.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)).ok_or("no VmHWM")?;
    Ok(number.parse()?)
}
