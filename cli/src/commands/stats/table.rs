//! Layer table of a job: aligned columns, CSV, JSON lines, or only depths and counts.

use std::io::{self, Write};

use clap::ValueEnum;
use strata_store::EngineKind;

use crate::output::json::write_line;
use crate::output::layer::{COLUMNS, LayerRow, has_orbits, has_positions, is_shown};
use crate::output::units;

/// Format of the layer table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Aligned columns.
    Table,
    /// Comma-separated values.
    Csv,
    /// One JSON object per line.
    Json,
    /// A line `depth positions` per layer, as the b-files of the OEIS have them.
    Growth,
}

/// Writes the rows of a job of an engine in the given format.
pub(crate) fn write(
    rows: &[LayerRow],
    engine: EngineKind,
    format: TableFormat,
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        TableFormat::Table => write_table(rows, engine, out),
        TableFormat::Csv => write_csv(rows, out),
        TableFormat::Json => write_json(rows, out),
        TableFormat::Growth => write_growth(rows, out),
    }
}

fn write_csv(rows: &[LayerRow], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    rows.iter().try_for_each(|row| writeln!(out, "{}", row.fields().join(",")))
}

/// Positions of each layer, or states where positions are not counted.
fn write_growth(rows: &[LayerRow], out: &mut impl Write) -> io::Result<()> {
    let mut lines = rows.iter().map(|row| (row.depth, row.positions.unwrap_or(row.states)));
    lines.try_for_each(|(depth, count)| writeln!(out, "{depth} {count}"))
}

fn write_json(rows: &[LayerRow], out: &mut impl Write) -> io::Result<()> {
    rows.iter().try_for_each(|row| write_line("layer", row, out))
}

fn write_table(rows: &[LayerRow], engine: EngineKind, out: &mut impl Write) -> io::Result<()> {
    let shown = COLUMNS.map(|column| is_shown(column, rows, engine));
    let chosen = |cells: [String; COLUMNS.len()]| -> Vec<String> {
        let cells = cells.into_iter().zip(shown);
        cells.filter(|(_, is_shown)| *is_shown).map(|(cell, _)| cell).collect()
    };
    let mut lines = vec![chosen(COLUMNS.map(str::to_owned))];
    lines.extend(rows.iter().map(|row| chosen(row.cells())));
    let mut widths = vec![0; COLUMNS.len()];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.len());
        }
    }
    for line in &lines {
        for (index, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let gap = if index == 0 { "" } else { "  " };
            write!(out, "{gap}{cell:>width$}")?;
        }
        writeln!(out)?;
    }
    write_totals(rows, engine, out)
}

fn write_totals(rows: &[LayerRow], engine: EngineKind, out: &mut impl Write) -> io::Result<()> {
    let states: u64 = rows.iter().map(|row| row.states).sum();
    let text = |sum: Option<u64>, name: &str| {
        sum.map_or_else(String::new, |sum| format!(", {} {name}", units::count(sum)))
    };
    let positions: Option<u64> = rows.iter().map(|row| row.positions).sum();
    let positions = text(positions.filter(|_| has_positions(rows)), "positions");
    let orbits: Option<u64> = rows.iter().map(|row| row.orbits).sum();
    let orbits = text(orbits.filter(|_| has_orbits(rows)), "orbits");
    let bytes: u64 = rows.iter().map(|row| row.bytes).sum();
    let bytes = match is_shown("bytes", rows, engine) {
        true => format!(", {}", units::bytes(bytes)),
        false => String::new(),
    };
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    writeln!(
        out,
        "total: {} states{positions}{orbits}{bytes}, {}",
        units::count(states),
        units::seconds(seconds)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<LayerRow> {
        let row = |depth, states, seconds| LayerRow {
            depth,
            states,
            positions: Some(states),
            orbits: None,
            generated: 3 * states,
            regions: 1,
            bytes: 100,
            digest: "00112233445566778899aabbccddeeff".to_owned(),
            seconds,
            read_bytes: 0,
            written_bytes: 0,
            memo_hits: 9 * states,
            memo_misses: states,
            memo_miss_seconds: seconds / 2.0,
        };
        vec![row(0, 1, 0.0), row(1, 12_345, 1.25)]
    }

    fn text(format: TableFormat) -> String {
        let mut out = Vec::new();
        write(&rows(), EngineKind::Explicit, format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_starts_with_depth_and_states() {
        assert_eq!(
            text(TableFormat::Csv),
            "depth,states,positions,orbits,generated,regions,bytes,digest,seconds,read_bytes,written_bytes,\
             memo_hits,memo_misses,memo_miss_seconds\n\
             0,1,1,,3,1,100,00112233445566778899aabbccddeeff,0.000000,0,0,9,1,0.000000\n\
             1,12345,12345,,37035,1,100,00112233445566778899aabbccddeeff,1.250000,0,0,111105,12345,0.625000\n"
        );
    }

    #[test]
    fn growth_has_the_positions_of_each_layer() {
        assert_eq!(text(TableFormat::Growth), "0 1\n1 12345\n");
        let mut rows = rows();
        rows[0].positions = None;
        rows[1].positions = Some(1_234_500);
        let mut out = Vec::new();
        write(&rows, EngineKind::Explicit, TableFormat::Growth, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "0 1\n1 1234500\n");
    }

    #[test]
    fn json_has_one_versioned_line_per_layer() {
        let text = text(TableFormat::Json);
        assert_eq!(text.lines().count(), 2);
        assert_eq!(
            text.lines().next(),
            Some(
                "{\"v\":1,\"event\":\"layer\",\"depth\":0,\"states\":1,\"positions\":1,\"orbits\":null,\
                 \"generated\":3,\"regions\":1,\"bytes\":100,\
                 \"digest\":\"00112233445566778899aabbccddeeff\",\"seconds\":0.0,\
                 \"read_bytes\":0,\"written_bytes\":0,\
                 \"memo_hits\":9,\"memo_misses\":1,\"memo_miss_seconds\":0.0}"
            )
        );
    }

    #[test]
    fn the_table_is_aligned() {
        let text = text(TableFormat::Table);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("depth  states  generated  regions  bytes"));
        assert!(lines[2].starts_with("    1  12,345     37,035        1    100"));
        assert_eq!(lines[0].len(), lines[1].len());
        assert_eq!(lines[3], "total: 12,346 states, 200 bytes, 1.25 s");
    }

    #[test]
    fn positions_have_a_column_if_they_differ_from_the_states() {
        let mut rows = rows();
        rows[1].positions = Some(1_234_500);
        let mut out = Vec::new();
        write(&rows, EngineKind::Explicit, TableFormat::Table, &mut out).unwrap();
        let table = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].starts_with("depth  states  positions  generated"), "{table}");
        assert!(lines[2].starts_with("    1  12,345  1,234,500     37,035"), "{table}");
        assert_eq!(lines[3], "total: 12,346 states, 1,234,501 positions, 200 bytes, 1.25 s");
    }

    #[test]
    fn orbits_have_a_column_if_they_differ_from_the_states() {
        let mut rows = rows();
        let table = |rows: &[LayerRow]| {
            let mut out = Vec::new();
            write(rows, EngineKind::Dense, TableFormat::Table, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        (rows[0].orbits, rows[1].orbits) = (Some(1), Some(12_345));
        assert!(!table(&rows).contains("orbits"));
        rows[1].orbits = Some(9_876);
        let shown = table(&rows);
        assert!(shown.starts_with("depth  states  orbits  generated"), "{shown}");
        assert!(shown.contains("    1  12,345   9,876     37,035"), "{shown}");
        assert!(
            shown.ends_with("total: 12,346 states, 9,877 orbits, 200 bytes, 1.25 s\n"),
            "{shown}"
        );
        // Those of one layer are unknown.
        rows[0].orbits = None;
        let shown = table(&rows);
        assert!(shown.ends_with("total: 12,346 states, 200 bytes, 1.25 s\n"), "{shown}");
    }

    #[test]
    fn the_table_omits_columns_that_the_engine_does_not_fill() {
        let table = |engine| {
            let mut out = Vec::new();
            write(&rows(), engine, TableFormat::Table, &mut out).unwrap();
            let table = String::from_utf8(out).unwrap();
            let header: Vec<_> =
                table.lines().next().unwrap().split_whitespace().map(str::to_owned).collect();
            (header.join(" "), table.lines().last().unwrap().to_owned())
        };
        let (header, total) = table(EngineKind::Symbolic);
        assert_eq!(header, "depth states generated digest seconds");
        assert_eq!(total, "total: 12,346 states, 1.25 s");
        assert_eq!(table(EngineKind::SymbolicLean).0, "depth states seconds");
        assert_eq!(table(EngineKind::DenseLean).0, "depth states generated regions bytes seconds");
        // CSV has all columns for all engines.
        let mut out = Vec::new();
        write(&rows(), EngineKind::SymbolicLean, TableFormat::Csv, &mut out).unwrap();
        assert!(out.starts_with(COLUMNS.join(",").as_bytes()));
    }

    #[test]
    fn an_empty_table_has_a_header() {
        let mut out = Vec::new();
        write(&[], EngineKind::Explicit, TableFormat::Csv, &mut out).unwrap();
        assert!(out.starts_with(b"depth,states"));
        write(&[], EngineKind::Explicit, TableFormat::Table, &mut out).unwrap();
    }
}
