//! `strata panex table`: the tables of the papers, with the evidence for each number.

use std::io::{self, Write};

use serde::Serialize;
use strata_cli::toolkit::{Console, ExitCode, Failure, print, write_line};
use strata_panex::formulas::{Quantity, X_PROOF, X_PROVEN_FROM};
use strata_panex::table::{Cell, Evidence, FOOTNOTES, Table};

use super::args::TableArgs;

/// Highest level of lists of moves; higher ones take minutes.
const CONSTRUCTED: u8 = 16;

/// Columns of the paper's table and of Baxter's.
const TABLES: [(&str, &[Quantity]); 2] = [
    (
        "The paper",
        &[
            Quantity::T,
            Quantity::TBar,
            Quantity::S,
            Quantity::SBar,
            Quantity::X,
            Quantity::U,
            Quantity::L,
        ],
    ),
    (
        "Baxter's simplified algorithm",
        &[Quantity::BaxterT, Quantity::BaxterS, Quantity::BaxterU, Quantity::BaxterUImproved],
    ),
];

/// Runs `strata panex table`.
pub(super) fn run(args: &TableArgs, console: &Console) -> Result<ExitCode, Failure> {
    let mut table = Table::new(args.max).map_err(Failure::usage)?;
    table.construct(CONSTRUCTED).map_err(|error| {
        Failure::new(ExitCode::Unexpected, format!("a table is wrong: {error}"))
    })?;
    print(|out| if console.json { json(&table, out) } else { text(&table, out) })?;
    Ok(ExitCode::Done)
}

fn name(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Proven => "proven",
        Evidence::Searched => "searched",
        Evidence::Constructed => "constructed",
        Evidence::ChokePoint => "choke-point",
        Evidence::Published => "published",
    }
}

/// The number, and a letter for each kind of evidence.
fn cell(cell: Option<Cell>) -> [String; 2] {
    let Some(Cell { value, .. }) = cell else { return ["-".to_owned(), String::new()] };
    let letter = |evidence| match evidence {
        Evidence::Proven => 'P',
        Evidence::Searched => 's',
        Evidence::Constructed => 'c',
        Evidence::ChokePoint => 'k',
        Evidence::Published => 'p',
    };
    [value.to_string(), cell.iter().flat_map(Cell::evidence).map(letter).collect()]
}

fn text(table: &Table, out: &mut impl Write) -> io::Result<()> {
    for (title, columns) in TABLES {
        writeln!(out, "{title}")?;
        let mut rows: Vec<Vec<[String; 2]>> =
            vec![columns.iter().map(|c| [c.name().to_owned(), String::new()]).collect()];
        rows.extend((1..=table.rows()).map(|n| {
            columns.iter().map(|&quantity| cell(table.cell(quantity, n))).collect::<Vec<_>>()
        }));
        let width = |column: usize, part: usize| {
            rows.iter().map(|row| row[column][part].chars().count()).max().unwrap_or(0)
        };
        for (n, row) in rows.iter().enumerate() {
            let label = if n == 0 { "n".to_owned() } else { n.to_string() };
            let mut line = format!("{label:>3}");
            for (column, [number, letters]) in row.iter().enumerate() {
                let (wide, more) = (width(column, 0), width(column, 1));
                line += &format!("  {number:>wide$} {letters:<more$}");
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        for note in FOOTNOTES.iter().filter(|note| columns.contains(&note.quantity)) {
            writeln!(out, "  {}: {}", note.quantity.name(), note.text)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "P: proven for every n from {X_PROVEN_FROM} on ({X_PROOF});")?;
    writeln!(out, "s: searched over positions here; c: moves made here and replayed;")?;
    writeln!(out, "k: searched over choke points here; p: searched by others, and published;")?;
    writeln!(out, "no letter: formula only.")
}

fn json(table: &Table, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        quantity: &'a str,
        n: u8,
        value: u128,
        evidence: Vec<&'a str>,
    }
    for n in 1..=table.rows() {
        for quantity in Quantity::ALL {
            let Some(cell) = table.cell(quantity, n) else { continue };
            let evidence = cell.evidence().map(name).collect();
            let line = Line { quantity: quantity.name(), n, value: cell.value, evidence };
            write_line("number", &line, out)?;
        }
    }
    Ok(())
}
