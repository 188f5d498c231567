//! `strata replay`: replays moves from standard input and checks each against the puzzle's rules.

use std::io::{self, Read, Write};
use std::num::NonZeroU64;

use clap::Args;
use clap::builder::{BoolishValueParser, RangedU64ValueParser};
use serde::Serialize;
use strata_replay::{CentreTop, GoldPosition, MAX_LEVEL, Position, draw, parse_moves, replay};

use crate::output::console::Console;
use crate::output::exit::{ExitCode, Failure};
use crate::output::json::write_line;
use crate::output::stdout;
use crate::spaces::shipped::gold;

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The puzzle
    #[arg(value_parser = ["panex"])]
    pub(crate) domain: String,

    /// Level of the puzzle
    #[arg(value_parser = RangedU64ValueParser::<u8>::new().range(1..=MAX_LEVEL.into()))]
    pub(crate) level: u8,

    /// First position: towers, exchanged, or a position such as 'b2 / - / o1 b1 o2'
    #[arg(long, value_name = "POSITION", default_value = "towers", allow_hyphen_values = true)]
    #[arg(env = "STRATA_START", hide_env_values = true)]
    pub(crate) start: String,

    /// Required last position (exit code 3 if the moves end elsewhere)
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    #[arg(env = "STRATA_GOAL", hide_env_values = true)]
    pub(crate) goal: Option<String>,

    /// Positions are those of Panex Gold, without levels: 'b b / - / o o'
    #[arg(long, env = "STRATA_GOLD", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) gold: bool,

    /// Draw the first and last position, and those of --every
    #[arg(long, env = "STRATA_DRAW", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub(crate) draw: bool,

    /// Print every K-th position
    #[arg(long, value_name = "K", env = "STRATA_EVERY", hide_env_values = true)]
    pub(crate) every: Option<NonZeroU64>,
}

/// Runs `strata replay`.
pub(crate) fn run(args: &ReplayArgs, console: &Console) -> Result<ExitCode, Failure> {
    let start = position("start", &args.start, args)?;
    let goal = args.goal.as_deref().map(|goal| position("goal", goal, args)).transpose()?;
    let form = |position: &Position| match args.gold {
        true => GoldPosition::from(position).to_string(),
        false => position.to_string(),
    };
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| {
        Failure::usage(format!("cannot read the moves from standard input: {error}"))
    })?;
    let moves = parse_moves(&text).map_err(Failure::usage)?;
    let last = moves.len() as u64;
    let is_shown = |at: u64| {
        let at_an_end = args.draw && (at == 0 || at == last);
        at_an_end || args.every.is_some_and(|every| at.is_multiple_of(every.get()))
    };
    let mut shown = Vec::new();
    let played = replay(&start, moves, CentreTop::Allowed, |at, position| {
        shown.extend(is_shown(at).then(|| (at, position.clone())));
    });
    let end = played.map_err(Failure::usage)?.into_position();
    let reached = goal.as_ref().map(|goal| *goal == end);
    stdout::print(|out| {
        for (moves, position) in &shown {
            let (moves, text) = (*moves, form(position));
            match (console.json, args.draw) {
                (true, _) => write_line("position", &Shown { moves, position: &text }, out)?,
                (false, true) if args.gold => {
                    writeln!(out, "{moves}: {text}\n{}\n", draw::gold_text(position))?;
                }
                (false, true) => writeln!(out, "{moves}: {text}\n{}\n", draw::text(position))?,
                (false, false) => writeln!(out, "{moves}: {text}")?,
            }
        }
        match console.json {
            true => {
                let position = form(&end);
                write_line("replayed", &Replayed { moves: last, position, goal: reached }, out)
            }
            false => writeln!(out, "{last} moves, to {}", form(&end)),
        }
    })?;
    match goal.filter(|goal| *goal != end) {
        Some(goal) => {
            let message = format!("the moves end in {}, not in {}", form(&end), form(&goal));
            Err(Failure::new(ExitCode::NoGoal, message))
        }
        None => Ok(ExitCode::Done),
    }
}

/// Reads a position of the command line.
fn position(flag: &str, text: &str, args: &ReplayArgs) -> Result<Position, Failure> {
    let level = args.level;
    let refused = |error: &dyn std::fmt::Display| Failure::usage(format!("--{flag}: {error}"));
    match text.trim() {
        "towers" => Position::start(level).map_err(|error| refused(&error)),
        "exchanged" => Position::goal(level).map_err(|error| refused(&error)),
        text if args.gold => gold::read(text, level).map_err(|error| refused(&error)),
        text => Position::parse(text, level).map_err(|error| refused(&error)),
    }
}

/// Fields of the `position` event: a position on the way.
#[derive(Serialize)]
struct Shown<'a> {
    moves: u64,
    position: &'a str,
}

/// Fields of the `replayed` event: the last position, and whether it is the goal.
#[derive(Serialize)]
struct Replayed {
    moves: u64,
    position: String,
    goal: Option<bool>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use strata_puzzles::panex;

    use super::*;

    fn accepted_by_both(text: &str, level: u8) -> bool {
        let searched = panex::Position::parse(level, text).map(|position| position.to_string());
        let replayed = Position::parse(text, level).map(|position| position.to_string());
        assert_eq!(searched.as_ref().ok(), replayed.as_ref().ok(), "{text}");
        searched.is_ok()
    }

    #[test]
    fn search_and_replay_accept_the_same_positions() {
        for (text, right) in [
            ("b1 b2 / - / o1 o2", true),
            (" b1 b2/-/o1  o2 ", true),
            ("b2 b1 / o1 / o2", true),
            ("b1 b2 o2 / - / o1", true),
            ("b2 o2 b1 / - / o1", false),
            ("b1 b2 / / o1 o2", false),
            ("b1 b2 / - / o1 o2 / -", false),
            ("b1 b2 / - / o1 o02", false),
            ("b1 b2 / - / o1 +2", false),
            ("b1 b2 / - / o1 o3", false),
            ("b1 - b2 / - / o1 o2", false),
            ("b1 b1 / - / o1 o2", false),
            ("b1 b2 / - / o1", false),
            ("towers", false),
            ("", false),
        ] {
            assert_eq!(accepted_by_both(text, 2), right, "{text}");
        }
    }

    proptest! {
        #[test]
        fn search_and_replay_agree_on_every_arrangement(
            words in Just(["b1", "b2", "b3", "o1", "o2", "o3", "/", "/"].to_vec()).prop_shuffle(),
        ) {
            let columns: Vec<String> = words.split(|word| *word == "/").map(|c| c.join(" ")).collect();
            let columns = columns.iter().map(|c| if c.is_empty() { "-" } else { c });
            accepted_by_both(&columns.collect::<Vec<_>>().join(" / "), 3);
        }
    }
}
