//! Exit codes of the commands that read jobs: `verify`, `stats`, `layer` and `path`.

use std::fs;
use std::path::Path;

use crate::common::{Finished, expect, only_job, refused, solve, strata, verify};
use tempfile::tempdir;

fn stats(dir: &Path) -> std::process::Command {
    let mut command = strata("stats");
    command.arg(dir);
    command
}

fn layer(dir: &Path, depth: u32) -> std::process::Command {
    let mut command = strata("layer");
    command.arg(dir).arg(depth.to_string());
    command
}

/// The commands that read a job in a folder.
fn readers(dir: &Path) -> [std::process::Command; 3] {
    [verify(dir), stats(dir), layer(dir, 0)]
}

fn is_one_line(ran: &Finished) {
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_stopped_job_is_read() {
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), "hanoi 4 --max-layers 3 --keep-layers all"));
    for mut command in readers(dir.path()) {
        expect(0, &mut command);
    }
}

#[test]
fn a_folder_without_a_job_exits_with_no_such_job() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "no job").unwrap();
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for place in [dir.path().join("missing"), empty, file.clone(), file.join("below")] {
        for mut command in readers(&place) {
            is_one_line(&expect(11, &mut command));
        }
    }
    let ran = expect(11, &mut verify(&dir.path().join("empty")));
    assert!(ran.stderr.contains("there is no job in"), "{}", ran.stderr);
}

#[test]
fn a_data_directory_with_several_jobs_is_refused() {
    let dir = tempdir().unwrap();
    for line in ["hanoi 2", "hanoi 3"] {
        expect(0, &mut solve(dir.path(), line));
    }
    for mut command in readers(dir.path()) {
        let message = refused(&mut command, "holds several jobs");
        assert!(message.contains("hanoi-2-3-") && message.contains("hanoi-3-3-"), "{message}");
    }
}

#[test]
fn a_layer_that_is_not_there_is_refused() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 4"));
    // The history has the count.
    assert_eq!(expect(0, &mut layer(dir.path(), 3)).stdout, "depth 3: 4 states\n");
    refused(
        layer(dir.path(), 3).arg("--list"),
        "does not hold layer 3: it holds layers 14 and 15; --keep-layers all keeps every layer",
    );
    for flags in ["", "--list", "--sample 2"] {
        let mut command = layer(dir.path(), 99);
        refused(command.args(flags.split_whitespace()), "there is no layer 99: the last is 15");
    }
    refused(layer(dir.path(), 15).arg("--sample=0"), "--sample");
    refused(layer(dir.path(), 15).args(["--list", "--sample=1"]), "--sample");
}

#[test]
fn the_empty_layer_after_a_whole_space_is_not_shown() {
    for engine in ["explicit", "dense", "symbolic"] {
        let (root, line) = (tempdir().unwrap(), format!("hanoi 3 --exhaust --engine {engine}"));
        let dir = root.path().join("data");
        expect(0, &mut solve(&dir, &line));
        let verified = expect(0, &mut verify(&dir)).stdout;
        assert!(verified.contains("checkpoint  depth 7\n"), "{engine}: {verified}");
        assert!(verified.contains("history     8 layers"), "{engine}: {verified}");
        assert_eq!(expect(0, &mut layer(&dir, 7)).stdout, "depth 7: 8 states\n");
        refused(&mut layer(&dir, 8), "there is no layer 8: the last is 7");
        let list = |flags: &str| expect(0, strata(&format!("list {flags} --data-dir")).arg(&dir));
        assert_eq!(list("--json").event("local_job")["checkpoint"], 7);
        let table = list("").stdout;
        let cells: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(cells[3], "7", "{engine}: {table}");
    }
    // The layer before is the only one that the files hold.
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 3 --exhaust --engine explicit"));
    let why = "it holds layer 7; --keep-layers all";
    refused(layer(dir.path(), 6).arg("--list"), why);
}

#[test]
fn an_exhausted_search_leaves_a_done_job_and_a_goal_excluded_in_advance_leaves_none() {
    let root = tempdir().unwrap();
    let file = root.path().join("even.txt");
    // Even permutations, and an odd goal, which the explicit engine has to search for.
    fs::write(&file, "a = (1,2,3)\nb = (2,3,4)\n").unwrap();
    let list = |dir: &Path| expect(0, strata("list --json --data-dir").arg(dir));
    let search = |dir: &Path, engine: &str| {
        let mut command = strata(&format!("solve --progress none --engine {engine} puzzle"));
        command.arg(&file).args(["--inverses", "--goal", "2 1 3 4", "--data-dir"]).arg(dir);
        expect(3, &mut command)
    };
    let dir = root.path().join("explicit");
    search(&dir, "explicit");
    let job = list(&dir).event("local_job").clone();
    assert_eq!((&job["state"], &job["outcome"]), (&"done".into(), &"no_goal".into()));
    let table = expect(0, strata("list --data-dir").arg(&dir)).stdout;
    assert!(table.lines().nth(1).unwrap().trim_end().ends_with("no goal"), "{table}");
    for engine in ["dense", "auto"] {
        let dir = root.path().join(engine);
        let ran = search(&dir, engine);
        assert!(ran.stderr.contains("no sequence of moves leads"), "{}", ran.stderr);
        // It is known without a search.
        assert!(!dir.exists() || list(&dir).events("local_job").is_empty(), "{engine}");
    }
}

#[test]
fn states_of_a_layer_are_json_lines() {
    for engine in ["explicit", "symbolic"] {
        let dir = tempdir().unwrap();
        expect(0, &mut solve(dir.path(), &format!("hanoi 3 --engine {engine}")));
        let text = expect(0, layer(dir.path(), 7).arg("--list")).stdout;
        let listed = expect(0, layer(dir.path(), 7).args(["--list", "--json"]));
        let states = listed.events("layer_state");
        assert_eq!(states.len(), listed.stdout.lines().count());
        let texts: Vec<&str> = states.iter().map(|line| line["state"].as_str().unwrap()).collect();
        assert_eq!(texts, text.lines().collect::<Vec<_>>());
        assert!(states.iter().all(|line| line["depth"] == 7), "{}", listed.stdout);
        let sampled = expect(0, layer(dir.path(), 7).args(["--sample", "2", "--json"]));
        assert_eq!(sampled.events("layer_state").len(), sampled.stdout.lines().count());
    }
}

#[test]
fn json_output_with_another_table_format_is_refused() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 3"));
    for format in ["csv", "growth", "table"] {
        let mut command = stats(dir.path());
        refused(command.args(["--json", "--format", format]), "--json prints the table as JSON");
    }
    expect(0, stats(dir.path()).args(["--json", "--format", "json"]));
}

#[test]
fn damaged_files_exit_with_the_corruption_code() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 4 --keep-layers all"));
    let job = only_job(dir.path());
    let file = |prefix: &str| {
        let files = fs::read_dir(&job).unwrap().map(|file| file.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let mut files: Vec<_> = files.filter(|path| name(path).starts_with(prefix)).collect();
        files.sort();
        files.remove(0)
    };
    let damaged = |path: &Path, commands: Vec<std::process::Command>| {
        let intact = fs::read(path).unwrap();
        let mut bytes = intact.clone();
        bytes[intact.len() / 2] ^= 1;
        fs::write(path, bytes).unwrap();
        for mut command in commands {
            let ran = expect(12, &mut command);
            is_one_line(&ran);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(ran.stderr.contains(name), "{name}: {}", ran.stderr);
        }
        fs::write(path, intact).unwrap();
    };
    damaged(&file("manifest"), readers(&job).into());
    damaged(&file("history"), readers(&job).into());
    let of_layer = vec![verify(&job), {
        let mut command = layer(&job, 0);
        command.arg("--list");
        command
    }];
    damaged(&file("layer-"), of_layer);
    for mut command in readers(&job) {
        expect(0, &mut command);
    }
}

#[test]
fn a_coordinator_that_does_not_answer_is_unreachable() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for line in ["path job", "stats job"] {
        let ran = expect(10, strata(line).args(["--coordinator", &url]));
        is_one_line(&ran);
    }
    // An error of the command line is found before the coordinator is called.
    let moves = tempdir().unwrap().path().join("missing/moves");
    let command = &mut strata("path job --coordinator");
    refused(command.arg(&url).arg("--path-file").arg(moves), "--path-file");
    refused(&mut strata("path"), "JOB");
    refused(&mut strata("stats"), "JOB");
    refused(&mut strata("verify"), "DIR");
    refused(&mut strata("layer ."), "DEPTH");
}
