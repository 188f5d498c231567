//! Searches between any two positions, paths, and their replay.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Finished, expect, only_job, refused, solve, strata, verify};
use serde_json::Value;
use tempfile::tempdir;

/// `strata replay` of some moves.
fn replay(line: &str, ends: [&str; 2], moves: &str) -> Finished {
    let mut command = strata(&format!("replay {line}"));
    command.args(["--start", ends[0], "--goal", ends[1]]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may exit before it has read all input.
    let _ = child.stdin.take().unwrap().write_all(moves.as_bytes());
    Finished::of(child.wait_with_output().unwrap())
}

/// `strata solve` with text output, without progress.
fn plain(dir: &Path, line: &str) -> Command {
    let mut command = strata(&format!("solve --progress none --threads 1 {line}"));
    command.arg("--data-dir").arg(dir);
    command
}

/// The lines after the result.
fn moves_of(ran: &Finished) -> String {
    let digest = ran.stdout.lines().position(|line| line.starts_with("  digest")).unwrap();
    ran.stdout.lines().skip(digest + 1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_path_leads_from_any_position_to_any_other() {
    let dir = tempdir().unwrap();
    let ends = ["b2 b4 / b1 o3 / o1 b3 o2 o4", "- / b1 b2 o3 / o1 o2 b3 b4 o4"];
    let mut command = plain(dir.path(), "panex 4 --path --path-format words");
    let ran = expect(0, command.args(["--start", ends[0], "--goal", ends[1]]));
    let moves = moves_of(&ran);
    assert_eq!(moves.lines().count(), 1);
    let length = moves.split_whitespace().count();
    let title = format!("distance({} to {}) = {length}\n", ends[0], ends[1]);
    assert!(ran.stdout.starts_with(&title), "{}", ran.stdout);
    assert_eq!(replay("panex 4", ends, &moves).code, Some(0));
}

/// Moves and positions of a path.
fn path_event(ran: &Finished) -> (Vec<String>, Vec<String>) {
    let event = ran.event("path");
    let texts = |name: &str| -> Vec<String> {
        let texts = event[name].as_array().unwrap().iter();
        texts.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    (texts("moves"), texts("positions"))
}

/// Positions are those of the replay, whichever way they were found: from the layers of all engines
/// and by midpoints. They do not depend on the form of the moves.
#[test]
fn a_path_has_the_position_before_each_move_and_after_the_last_one() {
    for flags in [
        "--engine explicit",
        "--engine explicit --keep-layers last",
        "--engine explicit --keep-layers every:5",
        "--engine explicit --symmetry off",
        "--engine explicit --symmetry off --keep-layers last",
        "--engine symbolic --path-format words",
        "--engine explicit --gold",
    ] {
        let dir = tempdir().unwrap();
        let ran = expect(0, &mut solve(dir.path(), &format!("panex 4 --path {flags}")));
        let (moves, positions) = path_event(&ran);
        let ends = ["towers", "exchanged"];
        let replayed = replay("panex 4 --every 1 --json", ends, &moves.join("\n"));
        assert_eq!(replayed.code, Some(0), "{flags}: {}", replayed.stderr);
        let replayed = replayed.events("position");
        let replayed: Vec<&str> =
            replayed.iter().map(|event| event["position"].as_str().unwrap()).collect();
        assert_eq!((moves.len(), positions.len()), (128, 129), "{flags}");
        assert_eq!(positions, replayed, "{flags}");
    }
}

#[test]
fn paths_of_other_puzzles_have_positions() {
    for (line, start, goal, moves) in [
        ("tiles 2x3", "5 4 3 / 2 1 _", "1 2 3 / 4 5 _", None),
        ("tiles 2x3 --path-format words", "5 4 3 / 2 1 _", "1 2 3 / 4 5 _", Some(1)),
        ("tiles 2x3 --moves clockwise", "_ 1 2 / 4 5 3", "1 2 3 / 4 5 _", None),
        ("pancake 5 --engine explicit --goal r3", "2 4 1 5 3", "3 2 1 4 5", None),
        ("pancake 5 --engine dense --goal r3", "2 4 1 5 3", "3 2 1 4 5", None),
    ] {
        let dir = tempdir().unwrap();
        let mut command = solve(dir.path(), &format!("--path {line}"));
        let ran = expect(0, command.args(["--start", start]));
        let (shown, positions) = path_event(&ran);
        let length = ran.event("result")["moves"].as_u64().unwrap() as usize;
        assert_eq!(shown.len(), moves.unwrap_or(length), "{line}");
        assert_eq!(positions.len(), length + 1, "{line}");
        let ends = (positions.first().unwrap().as_str(), positions.last().unwrap().as_str());
        assert_eq!(ends, (start, goal), "{line}");
    }
}

#[test]
fn a_path_may_go_to_a_file() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("moves");
    let mut command = solve(dir.path(), "panex 2 --start exchanged --goal towers");
    let ran = expect(0, command.arg("--path-file").arg(&file));
    let path = ran.event("path");
    assert_eq!(path["file"], file.to_str().unwrap());
    let written = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = written.lines().map(Value::from).collect();
    assert_eq!(path["moves"], Value::from(lines));
    assert_eq!(replay("panex 2", ["exchanged", "towers"], &written).code, Some(0));
    let nowhere = dir.path().join("no/where");
    refused(solve(dir.path(), "panex 2").arg("--path-file").arg(nowhere), "there is no folder");
    let folder = dir.path();
    let ran = expect(2, solve(dir.path(), "panex 2 --path").arg("--path-file").arg(folder));
    assert!(ran.stderr.contains("cannot write"), "{}", ran.stderr);
}

#[test]
fn layers_that_exceed_the_disk_limit_are_not_kept() {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), "panex 5 --path --disk-limit 100KiB"));
    assert_eq!(ran.events("job").len(), 2, "it begins again");
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len(), 343);
    let job = only_job(dir.path());
    assert!(!job.join("parts").exists());
    expect(0, &mut verify(&job));
    // A search that does not fit even without kept layers stops resumably.
    let too_small = "panex 5 --path --disk-limit 4KiB";
    let ran = expect(4, &mut solve(dir.path(), too_small));
    assert_eq!(ran.event("stopped")["reason"], "disk_limit");
    let resume = ran.event("stopped")["resume_command"].as_str().unwrap().to_owned();
    assert!(resume.contains("--path") && !resume.contains("--disk-limit"), "{resume}");
    let ran = expect(0, &mut solve(dir.path(), "panex 5 --path --resume"));
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len(), 343);
}

#[test]
fn start_and_goal_are_part_of_a_jobs_identity() {
    let dir = tempdir().unwrap();
    let ends = ["--start", "b2 / - / o1 b1 o2", "--goal", "o1 o2 b2 / b1 / -"];
    let line = "panex 2 --max-layers 1";
    expect(4, solve(dir.path(), line).args(ends));
    let message = refused(
        solve(dir.path(), "panex 2 --resume").args(&ends[..2]),
        "goal is o1 o2 b2 / b1 / - in job",
    );
    assert!(message.contains("not exchanged"), "{message}");
    let ran = expect(0, solve(dir.path(), "panex 2 --resume --path").args(ends));
    let moves = ran.event("result")["moves"].as_u64().unwrap();
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len() as u64, moves);
    // The path of a finished job can be found again.
    let again = expect(0, solve(dir.path(), "panex 2 --resume --path").args(ends));
    assert_eq!(again.event("path"), ran.event("path"));
}

#[test]
fn equal_unconnected_and_centre_top_ends_are_accepted() {
    let dir = tempdir().unwrap();
    let from_to = |start: &str, goal: &str| {
        let mut command = solve(dir.path(), "panex 3 --path");
        command.args(["--start", start, "--goal", goal]);
        command
    };
    let ran = expect(0, &mut from_to("towers", "towers"));
    assert_eq!(ran.event("result")["moves"], 0);
    assert_eq!(ran.event("path")["moves"], Value::Array(Vec::new()));
    let ran = expect(3, &mut from_to("towers", "o3 o2 / o1 / b1 b3 b2"));
    assert_eq!(ran.event("result")["outcome"], "no_goal");
    assert!(ran.events("path").is_empty());
    let ran = expect(0, &mut from_to("towers", "b3 / b2 b1 / o1 o2 o3"));
    assert_eq!(ran.event("job")["params"]["centre-top"], "allow");
    assert_eq!(ran.event("path")["moves"], Value::from(vec!["b1 L>C", "b2 L>C"]));
}

#[test]
fn illegal_ends_are_refused() {
    let parent = tempdir().unwrap();
    let dir = parent.path().join("data");
    for (flag, position, reason) in [
        ("--start", "b1 b2 b3 / o1 o2 o3", "there are 2 columns"),
        ("--start", "b1 b2 b3 / - / o1 o2", "start is not a legal position: o3 is missing"),
        ("--goal", "b1 b2 b3 / - / o1 o2 o4", "'o4' is no tile"),
        ("--goal", "b1 b2 b3 / b1 / o1 o2 o3", "b1 is there twice"),
        ("--goal", "- / b2 b3 b1 / o1 o2 o3", "b1 has 2 tiles above it in column C: at most 1"),
        ("--start", "here", "there are 1 columns"),
    ] {
        refused(solve(&dir, "panex 3").args([flag, position]), reason);
    }
    let forbidden = "panex 3 --centre-top forbid";
    let reason = "a tile on the centre's top layer, which is forbidden";
    refused(solve(&dir, forbidden).args(["--goal", "b3 / b2 b1 / o1 o2 o3"]), reason);
    refused(&mut solve(&dir, "panex 3 --exhaust --goal towers"), "goal");
    refused(&mut solve(&dir, "hanoi 3 --start towers"), "hanoi has no parameter 'start'");
    refused(&mut solve(&dir, "panex 3 --exhaust --path"), "has no goal");
    assert!(!dir.exists());
}

#[test]
fn a_replay_draws_and_counts() {
    let towers = ["towers", "- / b1 b2 / o1 o2"];
    let ran = replay("panex 2 --every 2", towers, "LR LC\nb1 R>C");
    assert_eq!(
        ran.stdout,
        "0: b1 b2 / - / o1 o2\n2: - / b2 / b1 o1 o2\n3 moves, to - / b1 b2 / o1 o2\n"
    );
    let ran = replay("panex 2 --draw", towers, "LR LC RC");
    assert!(ran.stdout.starts_with("0: b1 b2 / - / o1 o2\n0   "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n\n3: - / b1 b2 / o1 o2\n0   "), "{}", ran.stdout);
    let ran = replay("panex 2 --json --every 3", towers, "LR LC RC");
    assert_eq!(ran.events("position").len(), 2);
    let end = ran.event("replayed");
    assert_eq!((&end["moves"], &end["goal"]), (&3.into(), &true.into()));
}

#[test]
fn a_replay_reports_the_illegal_move() {
    for (moves, code, reason) in [
        ("LR LC RC", 3, "the moves end in - / b1 b2 / o1 o2, not in o1 o2 / - / b1 b2"),
        ("LR LR", 2, "move 2 (b2 L>R)"),
        ("CL", 2, "move 1 (CL): C is empty"),
        ("b2 L>C", 2, "the top tile of L is b1"),
        // b2 is on the centre's top layer.
        ("LC LC RL", 2, "move 3 (o1 R>L)"),
    ] {
        let ran = replay("panex 2", ["towers", "exchanged"], moves);
        assert_eq!(ran.code, Some(code), "{moves}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(reason), "{}", ran.stderr);
    }
    let ran = replay("panex 2", ["b1 b2 / - / o1", "towers"], "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--start: missing: o2"), "{}", ran.stderr);
}

#[test]
fn gold_positions_are_shown_without_levels() {
    let dir = tempdir().unwrap();
    let ends = ["b / - / o b o", "o b / b . / o"];
    let run = |flags: &str| {
        let mut command = strata(&format!("solve panex 2 --path --progress none {flags}"));
        command.args(["--start", ends[0], "--goal", ends[1]]).arg("--data-dir").arg(dir.path());
        command
    };
    let ran = expect(0, &mut run("--gold"));
    assert!(
        ran.stdout.starts_with("distance(b / - / o b o to o b / b . / o) = 2\n"),
        "{}",
        ran.stdout
    );
    let moves: Vec<&str> = ran.stdout.lines().filter(|line| line.len() == 2).collect();
    assert_eq!(moves, ["RL", "RC"], "{}", ran.stdout);
    let job = expect(0, &mut run("--gold --json")).event("job");
    assert_eq!(job["params"]["goal"], "o1 b2 / b1 / o2");

    let ran = replay("panex 2 --gold --every 9 --draw", ends, &moves.join("\n"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.starts_with("0: b / - / o b o\n0   .--.--o\n1   |  |  b\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("2 moves, to o b / b . / o\n"), "{}", ran.stdout);
    let ran = replay("panex 2 --gold", ends, "RL");
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.contains("the moves end in o b / - / b o, not in o b / b . / o"),
        "{}",
        ran.stderr
    );
}

#[test]
fn ambiguous_gold_positions_are_refused() {
    let dir = tempdir().unwrap();
    let hidden = "the levels are not determined: the b in L, layer 0 and the b in L, layer 1 can be \
                  b1 and b2 or the other way round";
    for (line, goal, reason) in [
        ("panex 2", "b b o / - / o .", hidden),
        ("panex 3", "b b / - / o o", "--goal: a position of level 2, not 3"),
    ] {
        let mut command = solve(dir.path(), &format!("{line} --gold"));
        let message = refused(command.args(["--goal", goal]), reason);
        let ran = replay(&format!("{line} --gold"), ["towers", goal], "");
        assert_eq!((ran.code, ran.stderr), (Some(2), message));
    }
    refused(&mut solve(dir.path(), "hanoi 3 --gold"), "hanoi has no parameter 'gold'");
}

#[test]
fn a_job_in_a_folder_has_the_path_of_solve() {
    // Traced back through layers, by midpoints, and in diagrams.
    for (line, engine) in [
        ("panex 3 --keep-layers all", "explicit"),
        ("panex 3", "explicit"),
        ("panex 3", "symbolic"),
    ] {
        let dir = tempdir().unwrap();
        expect(0, &mut solve(dir.path(), &format!("{line} --engine {engine}")));
        let path = |flags: &str| {
            let mut command = strata("path --progress none");
            command.arg(dir.path()).args(flags.split_whitespace());
            expect(0, &mut command)
        };
        let moves = path("--threads 1 --memory 64MiB").stdout;
        assert_eq!(moves.lines().count(), 42, "{line} {engine}: {moves}");
        let event = path("--json").event("path");
        assert_eq!(event["moves"].as_array().unwrap().len(), 42);
        let job = only_job(dir.path());
        assert!(!job.join("parts").exists());
    }
}

/// A shortest solution of every engine, by rules of its own.
#[test]
fn the_moves_of_hanoi_carry_the_tower_over() {
    for engine in ["explicit", "symbolic", "dense"] {
        let dir = tempdir().unwrap();
        let line = format!("hanoi 6 --pegs 4 --engine {engine} --path");
        let path = expect(0, &mut solve(dir.path(), &line)).event("path");
        let words = path["moves"].as_array().unwrap();
        assert_eq!(words.len(), 17, "{line}");
        let mut stacks = [vec![6, 5, 4, 3, 2, 1], Vec::new(), Vec::new(), Vec::new()];
        for word in words {
            let (from, to) = word.as_str().unwrap().split_once('-').unwrap();
            let [from, to] = [from, to].map(|peg| peg.parse::<usize>().unwrap() - 1);
            let disc = stacks[from].pop().unwrap();
            assert!(stacks[to].last().is_none_or(|under| *under > disc), "{line}: {word}");
            stacks[to].push(disc);
        }
        assert_eq!(stacks[3].len(), 6, "{line}");
    }
}

#[test]
fn a_dense_job_in_a_folder_has_a_path_to_its_goal() {
    let dir = tempdir().unwrap();
    let goals = dir.path().join("goals");
    std::fs::write(&goals, "1 7 5 3 6 2 8 4\n").unwrap();
    let data = dir.path().join("data");
    let line = format!("pancake 8 --goal @{} --engine dense --keep-layers all", goals.display());
    let moves = expect(0, &mut solve(&data, &line)).event("result")["moves"].as_u64().unwrap();
    let ran = expect(0, strata("path --progress none").arg(&data));
    // Reversals of the first pancakes, by rules of its own.
    let mut stack: Vec<&str> = vec!["1", "2", "3", "4", "5", "6", "7", "8"];
    let words = ran.stdout.split_whitespace();
    for word in words.clone() {
        stack[..word.strip_prefix('r').unwrap().parse().unwrap()].reverse();
    }
    assert_eq!((words.count() as u64, &*stack.join(" ")), (moves, "1 7 5 3 6 2 8 4"));
}

#[test]
fn a_job_without_a_path_is_refused() {
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), "panex 4 --max-layers 9"));
    refused(strata("path").arg(dir.path()), "is stopped: strata resume continues it");
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 3 --exhaust"));
    refused(strata("path").arg(dir.path()), "has reached no goal");
}

/// A directed search has no midpoint, so another search of the same ends would find no more.
#[test]
fn a_directed_search_whose_layers_exceed_the_disk_limit_is_not_repeated() {
    let dir = tempdir().unwrap();
    let goal = dir.path().join("goal");
    std::fs::write(&goal, "8 7 6 5 4 3 2 1\n").unwrap();
    let line = "lx 8 --engine explicit --path --keep-layers last --disk-limit 78KB";
    let mut command = plain(&dir.path().join("data"), line);
    let ran = expect(4, command.args(["--goal", &format!("@{}", goal.display())]));
    assert_eq!(ran.stderr.matches("searching a part of the path").count(), 1, "{}", ran.stderr);
}
