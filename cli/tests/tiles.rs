//! The sliding-tile puzzle from the command line.

#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;

use common::{expect, refused, strata};

/// A command with a board behind it.
fn tiles(line: &str, board: &str) -> std::process::Command {
    let mut command = strata(line);
    command.arg(board);
    command
}

#[test]
fn parity_tells_what_can_be_solved() {
    let ran = expect(0, &mut tiles("tiles check 3x5", "6 1 2 4 5 / 7 3 _ 14 9 / 11 12 8 13 10"));
    let expected = "6 1 2 4 5 / 7 3 _ 14 9 / 11 12 8 13 10: solvable\n  \
                    inversions  20\n  \
                    rule        inversions must be even\n";
    assert_eq!(ran.stdout, expected);
    let ran = expect(3, &mut tiles("tiles check 2x2", "2 1 / 3 _"));
    let expected = "2 1 / 3 _: not solvable\n  \
                    inversions  1\n  \
                    blank row   2\n  \
                    rule        inversions + row must be even\n";
    assert_eq!(ran.stdout, expected);
    let found = expect(3, &mut tiles("tiles check 3x2 --json", "1 2 / 4 3 / 5 _"));
    let found = found.event("solvability");
    assert_eq!((&found["solvable"], &found["odd"]), (&false.into(), &true.into()));

    refused(&mut tiles("tiles check 2x2", "2 1 / 3 3"), "row 2, column 2: '3' is there twice");
    refused(&mut tiles("tiles check 1x2", "1 _"), "a board has 2 to 15 rows, not 1");
    refused(&mut tiles("tiles check 33", "1 _"), "a board's shape is ROWSxCOLUMNS");
}

#[test]
fn walks_are_made_and_checked() {
    let ran = expect(0, &mut tiles("tiles walk 2x3", "_ 1 2 / 4 5 3"));
    let expected = "_ 1 2 / 4 5 3: 3 moves, checked\n  \
                    clockwise   1\n  \
                    straight    1\n  \
                    choices on  none\n  \
                    allowed on  5 (L or U)\n\
                    RRD\nRRD\n";
    assert_eq!(ran.stdout, expected);
    let walk =
        expect(0, &mut tiles("tiles walk 3x3 --json", "_ 1 3 / 4 2 5 / 7 8 6")).event("walk");
    assert_eq!(walk["choices"], serde_json::json!([8]));
    let word = walk["word"].as_str().unwrap();
    assert_eq!(walk["moves"], word.len());
    assert!(
        !["UL", "LD", "DR", "RU", "UD", "DU", "LR", "RL"].iter().any(|turn| word.contains(turn))
    );

    let ran = expect(3, &mut tiles("tiles walk 3x3", "2 1 3 / 4 5 6 / 7 8 _"));
    assert!(ran.stderr.contains("2 1 3 / 4 5 6 / 7 8 _ cannot be solved"), "{}", ran.stderr);
}
