//! Searches of sliding-tile puzzles on the command line.

use crate::common::{expect, only_job, refused, solve, strata, verify};
use strata_replay::tiles::{Board, Choices, Clockwise, follow};

#[test]
fn boards_that_cannot_be_solved_and_flags_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
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
        let mut board: strata_replay::tiles::Board = start.parse().unwrap();
        for mv in &path {
            let word: strata_replay::tiles::Word = mv.as_str().unwrap().parse().unwrap();
            assert!(board.step(word[0]));
        }
        assert_eq!((path.len(), board.to_string()), (moves, "1 2 3 / 4 5 6 / 7 8 _".to_owned()));
    }
    let mut command = solve(dir.path(), "tiles 2x2 --path --path-format words");
    let ran = expect(0, command.args(["--start", "_ 2 / 1 3"]));
    assert_eq!(ran.event("path")["moves"], serde_json::json!(["DR"]));
}

/// Boards by distance, by the search in memory that shares no code with the engines.
fn boards_by_distance(goal: &Board, choices: Choices) -> Vec<u64> {
    let mut search = Clockwise::new(goal, choices, false, u64::MAX).unwrap();
    let levels = std::iter::from_fn(|| search.advance());
    let mut boards: Vec<u64> = levels.map(|level| level.boards).collect();
    while boards.last() == Some(&0) {
        boards.pop();
    }
    boards
}

#[test]
fn clockwise_layers_have_the_boards_of_a_search_in_memory() {
    for (shape, choices, flags) in [
        ("2x3", "free", "--workers 2 --shards 5"),
        ("3x2", "bottom", "--workers 2"),
        ("3x3", "limited", "--workers 2 --threads 2"),
    ] {
        let rules = match choices {
            "free" => Choices::Free,
            "limited" => Choices::Side,
            _ => Choices::Bottom,
        };
        let dir = tempfile::tempdir().unwrap();
        let line = format!("tiles {shape} --moves clockwise --choices {choices} --exhaust {flags}");
        let ran = expect(0, &mut solve(dir.path(), &line));
        let expected = boards_by_distance(&Board::goal(shape.parse().unwrap()), rules);
        let mut found: Vec<u64> = ran.layers().iter().map(|layer| layer.4).collect();
        while found.last() == Some(&0) {
            found.pop();
        }
        assert_eq!(found, expected, "{line}");
        let (result, radius) = (ran.event("result"), expected.len() - 1);
        assert_eq!(result["positions"], expected.iter().sum::<u64>(), "{line}");
        let farthest = serde_json::json!({"depth": radius, "positions": expected[radius]});
        assert_eq!(result["farthest"], farthest, "{line}");
        let verified = expect(0, &mut verify(&only_job(dir.path())));
        assert!(verified.stdout.contains("states"), "{}", verified.stdout);
        let folder = dir.path().display().to_string();
        let listed = expect(0, &mut strata(&format!("list --data-dir {folder}"))).stdout;
        assert!(listed.contains("positions") && !listed.contains("radius"), "{listed}");
    }
}

#[test]
fn clockwise_paths_keep_the_rules() {
    let start = "8 6 7 / 2 5 4 / 3 _ 1";
    let (start, goal): (Board, Board) =
        (start.parse().unwrap(), "1 2 3 / 4 5 6 / 7 8 _".parse().unwrap());
    for (flags, choices) in [
        ("", Choices::Free),
        ("--keep-layers last --workers 2", Choices::Free),
        ("--choices limited", Choices::Side),
    ] {
        let mut search = Clockwise::new(&goal, choices, false, u64::MAX).unwrap();
        let mut distance = 0;
        while !search.reaches(&start) {
            distance = search.advance().unwrap().depth;
        }
        let dir = tempfile::tempdir().unwrap();
        let line = format!("tiles 3x3 --moves clockwise --path --path-format words {flags}");
        let ran = expect(0, solve(dir.path(), &line).args(["--start", &start.to_string()]));
        assert_eq!(ran.event("result")["moves"], distance, "{flags}");
        let word = ran.event("path")["moves"][0].as_str().unwrap().to_owned();
        let walk: strata_replay::tiles::Word = word.parse().unwrap();
        assert_eq!(walk.len(), distance as usize, "{flags}");
        assert_eq!(follow(&start, &walk, choices).unwrap(), goal, "{flags}");
    }
}

#[test]
fn clockwise_results_name_rules_and_the_last_boards() {
    let dir = tempfile::tempdir().unwrap();
    let clockwise = |line: &str| {
        let mut command = strata(&format!("solve --progress none --moves clockwise {line}"));
        command.arg("--data-dir").arg(dir.path());
        command
    };
    let ran = expect(0, &mut clockwise("tiles 2x3 --exhaust --antipodes 3")).stdout;
    assert!(ran.starts_with("tiles-2x3-clockwise: whole space, radius 31\n"), "{ran}");
    assert!(ran.contains("  depth       32\n") && ran.contains("  positions   360"), "{ran}");
    assert!(ran.contains("  farthest    1        (positions at depth 31)\n"), "{ran}");
    let farthest = ran.lines().last().unwrap().trim();
    let mut search =
        Clockwise::new(&Board::goal("2x3".parse().unwrap()), Choices::Free, true, u64::MAX);
    let search = search.as_mut().unwrap();
    while search.advance().is_some() {}
    assert_eq!(search.walk(&farthest.parse().unwrap()).unwrap().len(), 31);

    let ran = expect(0, clockwise("tiles 2x3").args(["--start", "4 5 _ / 1 2 3"])).stdout;
    let title = "distance(4 5 _ / 1 2 3 to 1 2 3 / 4 5 _), clockwise = ";
    assert!(ran.starts_with(title), "{ran}");
    let mut bottom = clockwise("tiles 3x2 --choices bottom");
    expect(3, bottom.args(["--start", "1 2 / 5 3 / _ 4"]));
    expect(3, clockwise("tiles 3x2").args(["--start", "2 1 / 3 4 / 5 _"]));
    // More boards than memory could have bits for.
    let ran = expect(4, &mut clockwise("tiles 5x5 --exhaust --max-layers 6 --json"));
    let positions: Vec<u64> = ran.layers().iter().map(|layer| layer.4).collect();
    assert_eq!(positions, [1, 2, 3, 5, 8, 11, 18]);
}

#[test]
fn unsupported_options_of_clockwise_searches_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refuse = |line: &str, why: &str| {
        let mut command = strata(&format!("solve --progress none --moves clockwise {line}"));
        refused(command.arg("--data-dir").arg(dir.path()), why);
    };
    refuse("tiles 3x3 --engine symbolic", "some moves cannot be undone");
    refuse("tiles 3x3 --engine dense", "tiles has no dense form");
    refuse("tiles 3x3 --symmetry on", "makes left turns of right turns");
    refuse("tiles 3x3 -k 2", "the first tiles of an order are the region");
    refuse(
        "tiles 3x3 --choices some",
        "choices must be 'free' or 'limited' or 'bottom', not 'some'",
    );
    refuse("hanoi 3", "hanoi has no parameter 'moves'");
    let mut command = strata("solve tiles 2x3 --moves clockwise --exhaust --start");
    refused(command.arg("1 2 _ / 4 5 3"), "starts from every board");
}
