//! Tests that the drawings, numbers and words of `docs/panex.md` are those of the crate, and that
//! `docs/panex-proof.md` names the checks of the verifier.

use sha2::{Digest, Sha256};
use strata_panex::formulas::Quantity;
use strata_panex::operations::{Kind, Operation, Task};
use strata_panex::table::Table;
use strata_replay::{Position, draw};

const PAGE: &str = include_str!("../../../docs/panex.md");
const PROOF: &str = include_str!("../../../docs/panex-proof.md");

#[test]
fn drawings_are_those_of_the_crate() {
    let mut drawings = 0;
    for block in PAGE.split("```panex ").skip(1) {
        let (positions, rest) = block.split_once('\n').unwrap();
        let (drawing, _) = rest.split_once("\n```").unwrap();
        let read = |text: &str| -> Position {
            text.trim().parse().unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        let positions: Vec<Position> = positions.split(';').map(read).collect();
        let drawn = draw::row(&positions);
        assert_eq!(drawing, drawn, "should be\n{drawn}\n");
        drawings += 1;
    }
    assert!(drawings >= 9, "found {drawings}");
}

#[test]
fn the_table_is_that_of_the_crate() {
    let table = Table::new(10).unwrap();
    for n in 1..=10 {
        let cells = Quantity::ALL.map(|quantity| match table.cell(quantity, n) {
            Some(cell) => format!(" {} ", cell.value),
            None => " ".to_owned(),
        });
        let row = format!("\n| {n} |{}|\n", cells.join("|"));
        assert!(PAGE.contains(&row), "no row {row}");
    }
}

#[test]
fn the_words_are_those_of_the_crate() {
    for (kind, level) in [
        (Kind::T, Some(3)),
        (Kind::Four, None),
        (Kind::X, Some(1)),
        (Kind::X, Some(2)),
        (Kind::Y, None),
        (Kind::YBar, None),
        (Kind::Z, None),
        (Kind::W, None),
    ] {
        let word = Operation::from(Task::new(kind, level).unwrap()).word().unwrap();
        assert!(PAGE.contains(&word.to_string()), "{kind}: {word}");
    }
}

#[test]
fn the_proof_names_the_checks_of_the_verifier() {
    let (_, rest) =
        PROOF.split_once("\n| hypothesis | module | check, as in the messages |\n").unwrap();
    let mut checks = 0;
    for row in rest.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let module = cells[1].split('`').nth(1).unwrap();
        let path = format!("panex-proof-verifier/src/{module}.rs");
        let source =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(source.contains(&format!("\"{}\"", cells[2])), "{path} has no {}", cells[2]);
        checks += 1;
    }
    assert!(checks >= 24, "found {checks}");
}

#[test]
fn the_proof_has_the_size_and_the_hash_of_the_certificate() {
    let certificate = strata_panex::proof::certificate().unwrap();
    let size = certificate.len();
    let digits = format!("{},{:03}", size / 1000, size % 1000);
    assert!(PROOF.contains(&format!("{digits} bytes")), "{digits} bytes");
    let hash = Sha256::digest(certificate.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(PROOF.contains(&hash), "{hash}");
}
