//! Sliding-tile puzzles on the command line.

#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;

use common::{expect, refused, solve, strata};

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
fn walks_are_constructed_and_checked() {
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

#[test]
fn boards_are_searched_from_both_ends() {
    let dir = tempfile::tempdir().unwrap();
    let layers = expect(0, &mut solve(dir.path(), "tiles 3x3 --exhaust")).layers();
    assert_eq!(layers.iter().map(|layer| layer.1).sum::<u64>(), 181_440);
    assert_eq!((layers[24].1, layers[31].1, layers.len()), (24_047, 2, 32));

    let symmetric = expect(0, &mut solve(dir.path(), "tiles 3x3 --exhaust --symmetry on"));
    assert_eq!(symmetric.event("job")["params"]["symmetry"], "on");
    let symmetric = symmetric.layers();
    assert_eq!(symmetric.iter().map(|layer| layer.1).sum::<u64>(), 90_792);
    for (all, orbits) in layers.iter().zip(&symmetric) {
        assert_eq!((orbits.0, &orbits.3, orbits.4), (all.0, &all.3, all.1));
        assert_eq!(all.4, all.1);
    }

    let mut command = solve(dir.path(), "tiles 3x3");
    let found = expect(0, command.args(["--start", "8 6 7 / 2 5 4 / 3 _ 1"])).event("result");
    assert_eq!(found["moves"], 31);

    let mut command = solve(dir.path(), "tiles 3x3");
    let ran = expect(3, command.args(["--start", "2 1 3 / 4 5 6 / 7 8 _"]));
    assert!(ran.stderr.contains("cannot be reached from 2 1 3 / 4 5 6 / 7 8 _"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");

    let refuse = |line: &str, start: &str, reason: &str| {
        refused(solve(dir.path(), line).args(["--start", start]), reason);
    };
    refuse(
        "tiles 2x2",
        "1 2 / 3 4",
        "start is not a board of 2x2: row 2, column 2: '4' is not one",
    );
    refused(
        &mut solve(dir.path(), "tiles 5x6"),
        "rows times columns must be between 4 and 25, not 30",
    );
    refused(&mut solve(dir.path(), "tiles 2x3 --choices limited"), "only clockwise moves");
    refused(
        &mut solve(dir.path(), "tiles 2x3 --engine symbolic"),
        "--engine symbolic: sliding tiles have no nested form",
    );
}

#[test]
fn the_first_layers_of_the_15_puzzle_match_published_counts() {
    let dir = tempfile::tempdir().unwrap();
    let layers = |symmetry: &str| {
        let line = format!("tiles 4x4 --exhaust --max-layers 18 --symmetry {symmetry}");
        expect(4, &mut solve(dir.path(), &line)).layers()
    };
    let (boards, orbits) = (layers("off"), layers("on"));
    let states: Vec<u64> = boards.iter().map(|layer| layer.1).collect();
    // A089484.
    let known = [
        1, 2, 4, 10, 24, 54, 107, 212, 446, 946, 1_948, 3_938, 7_808, 15_544, 30_821, 60_842,
        119_000, 231_844, 447_342,
    ];
    assert_eq!(states, known);
    // With symmetry, each state stands for two boards, except boards that are their own images.
    for (boards, orbits) in boards.iter().zip(&orbits) {
        assert_eq!((boards.0, &boards.3, boards.1), (orbits.0, &orbits.3, orbits.4));
        assert!((boards.1.div_ceil(2)..=boards.1).contains(&orbits.1), "{orbits:?}");
    }
    let total =
        |layers: &[(u64, u64, u64, String, u64)]| layers.iter().map(|layer| layer.1).sum::<u64>();
    assert!(10 * total(&orbits) < 6 * total(&boards));
}

#[test]
fn paths_are_traced_and_replayed() {
    let dir = tempfile::tempdir().unwrap();
    for (flags, start, moves) in [
        ("", "8 6 7 / 2 5 4 / 3 _ 1", 31),
        // Not all layers are kept: by midpoints.
        ("--keep-layers last", "8 6 7 / 2 5 4 / 3 _ 1", 31),
        ("", "1 2 3 / 4 5 6 / 7 _ 8", 1),
        ("", "1 2 3 / 4 5 6 / 7 8 _", 0),
        // Both ends are symmetric.
        ("", "5 4 8 / 2 1 7 / 6 3 _", 26),
        ("--keep-layers last", "5 4 8 / 2 1 7 / 6 3 _", 26),
        ("--symmetry off", "5 4 8 / 2 1 7 / 6 3 _", 26),
    ] {
        let mut command = solve(dir.path(), &format!("tiles 3x3 --path {flags}"));
        let ran = expect(0, command.args(["--start", start]));
        assert_eq!(ran.event("result")["moves"], moves, "{start}");
        let path = ran.event("path")["moves"].as_array().unwrap().clone();
        let mut board: strata_tiles::Board = start.parse().unwrap();
        for mv in &path {
            let word: strata_tiles::Word = mv.as_str().unwrap().parse().unwrap();
            assert!(board.step(word[0]));
        }
        assert_eq!((path.len(), board.to_string()), (moves, "1 2 3 / 4 5 6 / 7 8 _".to_owned()));
    }
    let mut command = solve(dir.path(), "tiles 2x2 --path --path-format words");
    let ran = expect(0, command.args(["--start", "_ 2 / 1 3"]));
    assert_eq!(ran.event("path")["moves"], serde_json::json!(["DR"]));
}

#[test]
fn clockwise_moves_are_searched_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let clockwise = |line: &str| {
        let mut command = strata(&format!("solve --json --progress none --moves clockwise {line}"));
        command.current_dir(dir.path());
        command
    };
    let ran = expect(0, &mut clockwise("tiles 3x3 --exhaust --choices limited"));
    let layers = ran.events("layer");
    assert_eq!((layers.len(), &layers[150]["states"]), (151, &2.into()));
    let result = ran.event("result");
    assert_eq!((&result["states"], &result["layers"]), (&181_440.into(), &150.into()));
    assert!(result["digest"].is_null());
    let job = ran.event("job");
    assert_eq!((&job["engine"], &job["job"]), (&"in-memory".into(), &"tiles-3x3".into()));
    assert_eq!(job["params"]["choices"], "limited");
    assert!(job["data_dir"].is_null() && job["params"].get("start").is_none());

    let mut command = clockwise("tiles 2x3 --path --path-format words");
    let ran = expect(0, command.args(["--start", "4 5 _ / 1 2 3"]));
    let moves = ran.event("path")["moves"][0].as_str().unwrap().to_owned();
    let length = ran.event("result")["moves"].as_u64().unwrap();
    assert_eq!(moves.parse::<strata_tiles::Word>().unwrap().len() as u64, length);

    let mut command = clockwise("tiles 3x2 --choices bottom");
    expect(3, command.args(["--start", "1 2 / 5 3 / _ 4"]));
    let mut command = clockwise("tiles 3x2");
    expect(3, command.args(["--start", "2 1 / 3 4 / 5 _"]));
    refused(&mut clockwise("tiles 3x4 --memory 100MiB --exhaust"), "take 457 MiB");
    refused(
        &mut clockwise("tiles 3x3 --resume"),
        "--resume: clockwise moves are searched in memory",
    );
    refused(
        &mut clockwise("tiles 3x3 --engine symbolic"),
        "--engine symbolic: clockwise moves are searched in memory",
    );
    expect(0, &mut clockwise("tiles 2x2 --engine auto"));
    refused(&mut clockwise("hanoi 3"), "hanoi has no parameter 'moves'");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
