//! `strata tiles`: solvability of boards and walks on the command line.

use super::{expect, refused, strata};

/// A command with a board behind it.
fn tiles(line: &str, board: &str) -> std::process::Command {
    let mut command = strata(line);
    command.arg(board);
    command
}

#[test]
fn parity_decides_solvability() {
    let ran = expect(0, &mut tiles("tiles check 3x5", "6 1 2 4 5 / 7 3 _ 14 9 / 11 12 8 13 10"));
    let expected = "6 1 2 4 5 / 7 3 _ 14 9 / 11 12 8 13 10: solvable\n  \
                    inversions  20\n  \
                    rule        inversions must be even\n";
    assert_eq!(ran.stdout, expected);
    let found = expect(3, &mut tiles("tiles check 3x2 --json", "1 2 / 4 3 / 5 _"));
    let found = found.event("solvability");
    assert_eq!((&found["solvable"], &found["odd"]), (&false.into(), &true.into()));

    refused(&mut tiles("tiles check 2x2", "2 1 / 3 3"), "row 2, column 2: '3' is there twice");
    refused(&mut tiles("tiles check 1x2", "1 _"), "a board has 2 to 15 rows, not 1");
    refused(&mut tiles("tiles check 33", "1 _"), "a board's shape is ROWSxCOLUMNS");
}

#[test]
fn walks_are_constructed_and_checked() {
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
