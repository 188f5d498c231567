//! Puzzles from files on the command line.

use crate::common::{data, expect, refused, solve, strata};

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
    for keep in ["all", "last"] {
        let line = format!("{} --moves F,U,R --keep-layers {keep} --path", data("2x2x2.tws"));
        let mut command = solve(dir.path(), &line);
        let path = expect(0, command.arg("--goal").arg("F U R2 F' R U'")).event("path");
        assert_eq!(path["moves"], serde_json::json!(["F", "U", "R2", "F'", "R", "U'"]));
    }
}

/// The dense engine stores one of several symmetric states. A path leads to the goal, not to its
/// image.
#[test]
fn dense_paths_lead_to_the_goal_itself() {
    let plain = ["", "--keep-layers all"];
    let symmetric = ["", "--symmetry on", "--symmetry on --keep-layers all"];
    let cube = format!("{} --moves F,U,R", data("2x2x2.tws"));
    let diamond = data("skewb-diamond.tws");
    for (line, goal, moves, flags) in [
        (&cube, "F U R2 F' U2 R", Some(6), &plain[..]),
        (&diamond, "UFR DBL UBL", None, &symmetric),
        (&diamond, "UBR", None, &symmetric),
    ] {
        let found = flags.iter().map(|flags| {
            let dir = tempfile::tempdir().unwrap();
            let mut command = solve(dir.path(), &format!("{line} --engine dense --path {flags}"));
            let ran = expect(0, command.args(["--goal", goal]));
            let (path, length) = (ran.event("path"), ran.event("result")["moves"].as_u64());
            assert_eq!(path["moves"].as_array().unwrap().len() as u64, length.unwrap());
            let positions = path["positions"].as_array().unwrap();
            (length, positions.first().cloned(), positions.last().cloned())
        });
        let found: Vec<_> = found.collect();
        assert!(moves.is_none() || found[0].0 == moves, "{line}: {found:?}");
        assert!(found.iter().all(|one| *one == found[0]), "{line} to {goal}: {found:?}");
    }
}

#[test]
fn a_puzzle_is_described_without_a_search() {
    let line = data("2x2x2.tws").replacen("puzzle", "puzzle info", 1);
    let ran = expect(0, &mut strata(&format!("{line} --moves F,U,R --json")));
    let found = ran.event("puzzle");
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
fn a_puzzle_whose_keys_exceed_192_bits_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cycle: Vec<String> = (1..=50).map(|point| point.to_string()).collect();
    let file = dir.path().join("large.txt");
    std::fs::write(&file, format!("a = ({})\nb = (1,2)\n", cycle.join(","))).unwrap();
    refused(
        &mut solve(dir.path(), &format!("puzzle {} --engine auto", file.display())),
        "keys of 215 bits do not fit: the limit is 192",
    );
}

/// A cycle of four pieces, and a cycle of five pieces that has the name of the first one's square.
const CLASH: &str =
    "Name amb\nSet P 8 1\nMove m\nP\n2 3 4 1 5 6 7 8\nEnd\nMove m2\nP\n1 2 3 5 6 7 8 4\nEnd\n";

#[test]
fn info_names_moves_whose_usual_name_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("amb.tws");
    std::fs::write(&file, CLASH).unwrap();
    let file = file.display();
    let info = expect(0, &mut strata(&format!("puzzle info {file}"))).stdout;
    let line = "names        m^2 is not written m2, which is another move\n";
    assert!(info.contains(line), "{info}");
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
        (
            b"a = (1,2)\nb = (2,9\n",
            ": line 2, column 5: expected a cycle in brackets, found '(2,9'",
        ),
    ] {
        std::fs::write(&path, content).unwrap();
        let path = path.display();
        let message = format!("{path}{reason}");
        let info = refused(&mut strata(&format!("puzzle info {path}")), &message);
        let searched = refused(&mut solve(dir.path(), &format!("puzzle {path}")), &message);
        assert_eq!(info, searched);
    }
    refused(&mut solve(dir.path(), "puzzle nofile"), "cannot read nofile: No such file");
}
