//! `strata panex bound`: the proven lower bound of X(N), and U(N), for large N.

use std::io::{self, Write};

use serde::Serialize;
use strata_cli::toolkit::{Console, ExitCode, Failure, print, units, write_line};
use strata_panex::formulas::{X_PROOF, X_PROVEN_FROM};
use strata_panex::proof;
use strata_panex::table::X;

use super::args::BoundArgs;

/// What is known about X(N), as the fields of the JSON event. Numbers are decimal texts, since they
/// exceed the integers of most JSON readers.
#[derive(Serialize)]
struct Bound {
    level: u32,
    /// X(N).
    moves: String,
    /// The proven lower bound of X(N); none below level 3.
    lower_bound: Option<String>,
    /// U(N); none below level 5, where it is not defined.
    exchange: Option<String>,
    /// Bits of X(N).
    bits: u64,
    evidence: &'static str,
}

/// Runs `strata panex bound`.
pub(super) fn run(args: &BoundArgs, console: &Console) -> Result<ExitCode, Failure> {
    let bound = Bound::of(args.level)?;
    print(|out| match console.json {
        true => write_line("bound", &bound, out),
        false => bound.text(out),
    })?;
    Ok(ExitCode::Done)
}

impl Bound {
    fn of(level: u32) -> Result<Bound, Failure> {
        let (lower, exchange) = (proof::lower_bound(level), proof::exchange_length(level));
        let searched = (level as usize).checked_sub(1).and_then(|at| X.get(at).copied());
        let moves = match (&lower, &exchange) {
            (Some(lower), Some(exchange)) if lower == exchange => Some(lower.clone()),
            (_, None) => searched.map(Into::into),
            _ => None,
        };
        let moves = moves.ok_or_else(|| {
            Failure::new(ExitCode::Unexpected, format!("the bounds of X({level}) differ"))
        })?;
        let evidence = if exchange.is_some() { "proven" } else { "searched" };
        Ok(Bound {
            level,
            bits: moves.bits(),
            moves: moves.to_string(),
            lower_bound: lower.map(|lower| lower.to_string()),
            exchange: exchange.map(|exchange| exchange.to_string()),
            evidence,
        })
    }

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let (n, moves) = (self.level, &self.moves);
        let or_none = |number: &Option<String>| number.clone().unwrap_or_else(|| "none".to_owned());
        writeln!(out, "X({n}) = {moves}")?;
        writeln!(out, "  lower bound  {}", or_none(&self.lower_bound))?;
        writeln!(out, "  {:<11}  {}", format!("U({n})"), or_none(&self.exchange))?;
        writeln!(out, "  bits         {}", units::count(self.bits))?;
        match self.exchange {
            Some(_) => writeln!(out, "  evidence     proven: {X_PROOF}"),
            None => {
                let from = X_PROVEN_FROM;
                writeln!(out, "  evidence     searched; X(n) = U(n) is proven from n = {from} on")
            }
        }
    }
}
