//! Puzzles from files on the command line.

use crate::common::{expect, refused, solve, strata};

/// Swaps of neighbours, in a file of a folder.
fn bubbles(folder: &std::path::Path) -> String {
    let path = folder.join("bubbles.txt");
    std::fs::write(&path, "# bubbles\na = (1,2)\nb = (2,3)\nc = (3,4)\n").unwrap();
    path.display().to_string()
}

#[test]
fn a_file_is_searched_and_shown_by_its_hash() {
    let dir = tempfile::tempdir().unwrap();
    let file = bubbles(dir.path());
    let ran = expect(0, &mut solve(dir.path(), &format!("puzzle {file}")));
    let job = ran.event("job");
    let shown = job["params"]["file"].as_str().unwrap();
    assert!(shown.starts_with("hash-") && shown.len() == 21, "{shown}");
    let layers: Vec<u64> =
        ran.events("layer").iter().map(|layer| layer["states"].as_u64().unwrap()).collect();
    assert_eq!(layers, [1, 3, 5, 6, 5, 3, 1]);
    // The same content under another name is the same job.
    let other = dir.path().join("other.txt");
    std::fs::copy(&file, &other).unwrap();
    let again = expect(0, &mut solve(dir.path(), &format!("puzzle {} --resume", other.display())));
    assert_eq!(again.event("job")["job"], job["job"]);
}

#[test]
fn paths_have_the_moves_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let cube = concat!(env!("CARGO_MANIFEST_DIR"), "/../puzzles/data/2x2x2.tws");
    for keep in ["all", "last"] {
        let line = format!("puzzle {cube} --moves F,U,R --keep-layers {keep} --path");
        let mut command = solve(dir.path(), &line);
        let path = expect(0, command.arg("--goal").arg("F U R2 F' R U'")).event("path");
        assert_eq!(path["moves"], serde_json::json!(["F", "U", "R2", "F'", "R", "U'"]));
    }
}

#[test]
fn faults_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.txt");
    std::fs::write(&path, "a = (1,2)\nb = (2,9\n").unwrap();
    let path = path.display().to_string();
    let message = format!("{path}: line 2, column 5: expected a cycle in brackets, found '(2,9'");
    refused(&mut solve(dir.path(), &format!("puzzle {path}")), &message);
    refused(&mut strata(&format!("puzzle info {path}")), &message);
    refused(&mut solve(dir.path(), "puzzle nofile"), "cannot read nofile: No such file");
}

#[test]
fn a_puzzle_is_described_without_a_search() {
    let file = |name: &str| format!("{}/../puzzles/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let ran = expect(0, &mut strata(&format!("puzzle info {}", file("3x3x3.tws"))));
    let page = include_str!("../../../docs/puzzles.md");
    assert!(page.contains(&ran.stdout), "docs/puzzles.md should show\n{}", ran.stdout);
    let line = format!("puzzle info {} --moves F,U,R --json", file("2x2x2.tws"));
    let found = expect(0, &mut strata(&line)).event("puzzle");
    assert_eq!((&found["order"], &found["key_bits"]), (&"3674160".into(), &22.into()));
    assert_eq!(found["engine"], "dense");
    let dense = &found["dense"];
    let [blocks, rows, lanes] =
        ["blocks", "rows", "lanes"].map(|name| dense[name].as_u64().unwrap());
    assert_eq!(blocks * rows * lanes, 3_674_160);
    assert_eq!((&dense["undirected"], &dense["disk_bytes"]), (&true.into(), &918_540.into()));
    assert_eq!(dense["plane_bytes"].as_u64(), Some(blocks * rows * 32));
    // 3,674,160 states and 9 moves, with 7 million successors a second.
    assert_eq!(found["explicit_seconds"].as_f64().map(f64::round), Some(5.0));
    assert_eq!(found["coordinates"], false);
}

#[test]
fn goals_are_read_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let [puzzle, goals, empty] =
        ["puzzle", "goals", "empty"].map(|name| dir.path().join(name).display().to_string());
    std::fs::write(&puzzle, "a = (1,2)\nb = (2,3)\nc = (3,4)\n").unwrap();
    std::fs::write(&goals, "# far, and near\n4 3 2 1\n3 2 1 4\n").unwrap();
    std::fs::write(&empty, "# none\n").unwrap();
    let line = |goals: &str| format!("puzzle {puzzle} --goal @{goals}");
    let ran = expect(0, &mut solve(dir.path(), &line(&goals)));
    assert_eq!(ran.event("result")["moves"], 3);
    let goal = ran.event("job")["params"]["goal"].as_str().unwrap().to_owned();
    assert!(goal.starts_with("hash-"), "{goal}");
    refused(&mut solve(dir.path(), &line(&empty)), "it has no goals");
    refused(&mut solve(dir.path(), &line("nofile")), "cannot read nofile: No such file");
}

#[test]
fn positions_with_symmetry_are_the_states_without() {
    let dir = tempfile::tempdir().unwrap();
    let file =
        |name: &str| format!("puzzle {}/../puzzles/data/{name}.tws", env!("CARGO_MANIFEST_DIR"));
    for (line, goal, code) in [
        ("pancake 7".to_owned(), None, 0),
        ("burnt-pancake 5".to_owned(), None, 0),
        ("topspin 8 4".to_owned(), None, 0),
        ("lrx 7".to_owned(), None, 0),
        (format!("{} --moves U2,F2,R2", file("2x2x2")), None, 0),
        (format!("{} --moves U,R,F --metric quarter --max-layers 8", file("2x2x2")), None, 4),
        (format!("{} --max-layers 5", file("pyraminx")), None, 4),
        (format!("{} --max-layers 5", file("skewb")), None, 4),
        (format!("{} --moves U2,F2,R2", file("2x2x2")), Some("U2 F2 R2 U2"), 0),
        ("topspin 8 4".to_owned(), Some("2 1 4 3 6 5 8 7"), 0),
    ] {
        let search = |symmetry: &str| {
            let line = format!("{line} --engine explicit --symmetry {symmetry}");
            let mut command = solve(dir.path(), &line);
            command.args(goal.iter().flat_map(|goal| ["--goal", goal]));
            expect(code, &mut command)
        };
        let (all, orbits) = (search("off"), search("on"));
        let (states, stored) = (all.layers(), orbits.layers());
        assert_eq!(states.len(), stored.len(), "{line} {goal:?}");
        for (all, orbits) in states.iter().zip(&stored) {
            assert_eq!((orbits.4, &orbits.3), (all.1, &all.3), "{line} {goal:?}: layer {}", all.0);
            assert_eq!(all.4, all.1, "{line}: without symmetry");
        }
        if code == 0 {
            let [all, orbits] = [&all, &orbits].map(|ran| ran.event("result"));
            assert_eq!(orbits["positions"], all["states"], "{line} {goal:?}");
            assert_eq!(all["positions"], all["states"], "{line} {goal:?}");
            assert_eq!(orbits["digest"], all["digest"], "{line} {goal:?}");
        }
    }
}

#[test]
fn stats_has_the_positions_of_symmetric_states() {
    let dir = tempfile::tempdir().unwrap();
    for symmetry in ["off", "on"] {
        let ran = expect(0, &mut solve(dir.path(), &format!("topspin 7 4 --symmetry {symmetry}")));
        let job = ran.event("job")["job"].as_str().unwrap().to_owned();
        let stats = |format: &str| {
            let mut command = strata(&format!("stats --format {format}"));
            expect(0, command.arg(dir.path().join(&job)))
        };
        assert_eq!(stats("json").layers(), ran.layers());
        let growth = stats("growth").stdout;
        let layers = ran.layers();
        let lines = layers.iter().map(|layer| format!("{} {}\n", layer.0, layer.4));
        assert_eq!(growth, lines.collect::<String>());
        let total = stats("table").stdout.lines().last().unwrap().to_owned();
        assert_eq!(total.contains(" states, 2,520 positions, "), symmetry == "on", "{total}");
    }
}

#[test]
fn symmetry_is_kept_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), "topspin 7 4 --symmetry on --engine auto"));
    assert_eq!(ran.event("job")["engine"], "explicit");
    let alike = dir.path().join("alike.tws");
    std::fs::write(&alike, "Set A 4 1\nSolved\nA\n1 1 2 2\nEnd\nMove M\nA\n2 3 4 1\nEnd\n")
        .unwrap();
    refused(
        &mut solve(dir.path(), &format!("puzzle {} --symmetry on --engine dense", alike.display())),
        "the dense engine cannot search this puzzle: with --symmetry on it takes puzzles whose \
         pieces all differ",
    );
    let swaps: Vec<String> =
        (2..=7).flat_map(|b| (1..b).map(move |a| format!("({a},{b})\n"))).collect();
    let path = dir.path().join("swaps.txt");
    std::fs::write(&path, swaps.concat()).unwrap();
    refused(
        &mut solve(dir.path(), &format!("puzzle {} --symmetry on", path.display())),
        "symmetry cannot have this value: the moves have more than 1024 symmetries",
    );
}

#[test]
fn moves_without_inverses_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("turns.txt");
    std::fs::write(&path, "turn = (1,2,3,4,5)\nswap = (1,2)\n").unwrap();
    let (file, advice) = (path.display(), "1 of 2 moves has no inverse; --inverses adds them");
    for (flags, is_said) in [("", true), ("--inverses", false)] {
        let info = expect(0, &mut strata(&format!("puzzle info {file} {flags}"))).stdout;
        assert_eq!(info.contains(&format!("advice       {advice}\n")), is_said, "{info}");
        let data = tempfile::tempdir().unwrap();
        let ran =
            expect(0, &mut solve(data.path(), &format!("puzzle {file} --engine auto {flags}")));
        assert_eq!(ran.stderr.contains(advice), is_said, "{}", ran.stderr);
    }
}

#[test]
fn a_puzzle_that_is_too_large_is_refused_for_its_keys() {
    let dir = tempfile::tempdir().unwrap();
    let cycle: Vec<String> = (1..=50).map(|point| point.to_string()).collect();
    let file = dir.path().join("large.txt");
    std::fs::write(&file, format!("a = ({})\nb = (1,2)\n", cycle.join(","))).unwrap();
    refused(
        &mut solve(dir.path(), &format!("puzzle {} --engine auto", file.display())),
        "keys of 215 bits do not fit: the limit is 192",
    );
}

/// The numbers of Rokicki et al., cube20.org: the positions of the 3x3x3 by half turns.
#[test]
fn a_puzzle_with_keys_of_more_than_64_bits_is_searched() {
    let dir = tempfile::tempdir().unwrap();
    let cube = concat!(env!("CARGO_MANIFEST_DIR"), "/../puzzles/data/3x3x3.tws");
    let line = format!("puzzle {cube} --engine auto --max-layers 4");
    let ran = expect(4, &mut solve(dir.path(), &line));
    let states: Vec<u64> = ran.layers().iter().map(|layer| layer.1).collect();
    assert_eq!(states, [1, 18, 243, 3240, 43239]);
}

/// The counts are those of a search of stickers, puzzles/tests/it/permutation/wide.rs.
#[test]
fn a_puzzle_with_keys_of_more_than_128_bits_is_searched() {
    let dir = tempfile::tempdir().unwrap();
    let cube = concat!(env!("CARGO_MANIFEST_DIR"), "/../puzzles/data/4x4x4.tws");
    let line = format!("puzzle {cube} --engine auto --max-layers 3");
    let ran = expect(4, &mut solve(dir.path(), &line));
    let states: Vec<u64> = ran.layers().iter().map(|layer| layer.1).collect();
    assert_eq!(states, [1, 36, 1026, 28_812]);
}

/// A cycle of four pieces, and one of five that has the name of its square.
const CLASH: &str =
    "Name amb\nSet P 8 1\nMove m\nP\n2 3 4 1 5 6 7 8\nEnd\nMove m2\nP\n1 2 3 5 6 7 8 4\nEnd\n";

#[test]
fn a_move_with_the_name_of_a_power_is_printed_apart() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("amb.tws");
    std::fs::write(&file, CLASH).unwrap();
    let file = file.display();
    let info = expect(0, &mut strata(&format!("puzzle info {file}"))).stdout;
    let line = "names        m^2 is not written m2, which is another move\n";
    assert!(info.contains(line), "{info}");
    let way = |goal: &str| {
        let line = format!("puzzle {file} --path --path-format words");
        expect(0, solve(dir.path(), &line).arg("--goal").arg(goal)).event("path")["moves"].clone()
    };
    assert_eq!(way("m m"), serde_json::json!(["m^2"]));
    assert_eq!(way("m^2"), serde_json::json!(["m^2"]));
    assert_eq!(way("m2"), serde_json::json!(["m2"]));
}

#[test]
fn a_hyphen_is_standard_input_and_output() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("list");
    std::fs::write(&file, "a = (1,2)\nb = (2,3)\n").unwrap();
    let input = || std::fs::File::open(&file).unwrap();
    let info = expect(0, strata("puzzle info -").stdin(input())).stdout;
    assert!(info.contains("  moves        2: a b\n"), "{info}");
    let data = dir.path().join("data");
    let line = "solve puzzle - --goal a --path-file - --path-format words --progress none";
    let mut command = strata(line);
    let ran = expect(0, command.arg("--data-dir").arg(&data).current_dir(&dir).stdin(input()));
    assert!(ran.stdout.ends_with("\na\n"), "{}", ran.stdout);
    let ran = expect(0, solve(&data, "puzzle - --goal a --path-file -").stdin(input()));
    assert_eq!(ran.event("path")["file"], serde_json::Value::Null);
    let goal = format!("puzzle {} --goal @-", file.display());
    std::fs::write(dir.path().join("goals"), "# one\na b\n").unwrap();
    let goals = std::fs::File::open(dir.path().join("goals")).unwrap();
    assert_eq!(expect(0, solve(&data, &goal).stdin(goals)).event("result")["moves"], 2);
    let twice = "cannot read standard input: it can be read once, and two arguments are '-'";
    refused(solve(&data, "puzzle - --goal @-").stdin(input()), twice);
    std::fs::write(&file, "a = (1,2\n").unwrap();
    refused(
        strata("puzzle info -").stdin(input()),
        "standard input: line 1, column 5: expected a cycle",
    );
    refused(
        solve(&data, "puzzle -").stdin(input()),
        "standard input: line 1, column 5: expected a cycle",
    );
    for line in ["list --token-file -", "list --tls-ca -"] {
        refused(strata(line).current_dir(&dir), "it is read from a file only");
    }
    assert!(!dir.path().join("-").exists());
}

#[test]
fn a_file_is_refused_by_info_as_by_a_search() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad");
    for (content, reason) in [
        (&b"a = (1,2)\nb\0 = (2,3)\n"[..], ": line 2, column 2: a control character (U+0000)"),
        (b"a = (1,2)\n\xe9 = (2,3)\n", ": byte 11 is not UTF-8"),
    ] {
        std::fs::write(&path, content).unwrap();
        let path = path.display();
        let info = refused(&mut strata(&format!("puzzle info {path}")), reason);
        let searched = refused(&mut solve(dir.path(), &format!("puzzle {path}")), reason);
        assert_eq!(info, searched);
    }
}
