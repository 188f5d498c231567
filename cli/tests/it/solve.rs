//! Complete searches: results, counts and output formats.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{expect, only_job, refused, solve, strata, verify};
use serde_json::Value;
use tempfile::tempdir;

#[test]
fn a_result_is_text_and_the_choice_of_the_engine_is_logged() {
    let dir = tempdir().unwrap();
    let mut command = strata("solve panex 5 --progress none");
    let ran = expect(0, command.arg("--data-dir").arg(dir.path()));
    let words = |line| ran.stdout.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(ran.stdout.lines().next(), Some("X(5) = 343"));
    assert_eq!((words(1), words(2)), (vec!["engine", "symbolic"], vec!["depth", "172"]));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("INFO engine symbolic: the space is nested"), "{}", ran.stderr);
}

#[test]
fn a_dry_run_prints_the_expected_cost_and_writes_nothing() {
    let dir = tempdir().unwrap();
    let mut command = strata("solve panex 10 --engine explicit --threads 2 --dry-run");
    let ran = expect(0, command.arg("--data-dir").arg(dir.path().join("data")));
    assert!(ran.stdout.starts_with("panex-10: explicit engine"), "{}", ran.stdout);
    for line in ["depth    15,769", "states   5.03e11", "memory   1.0 GiB"] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    let json = |line: &str| {
        let mut command = strata(&format!("solve {line} --dry-run --json"));
        expect(0, command.arg("--data-dir").arg(dir.path().join("data"))).event("forecast")
    };
    // The whole search was measured: 299 s.
    let nine = json("panex 9 --engine explicit --threads 2");
    let [low, high] = ["seconds_low", "seconds_high"].map(|field| nine[field].as_f64().unwrap());
    assert!((low..high).contains(&299.0), "{nine}");
    // All layers stay for a path.
    let all = json("panex 9 --engine explicit --threads 2 --path")["disk_bytes"].as_u64().unwrap();
    assert!(all > 5 << 30 && nine["disk_bytes"].as_u64().unwrap() < 1 << 30, "{all} {nine}");
    let unknown = json("tiles 3x4");
    assert!(unknown["seconds_high"].is_null() && unknown["search"] == "tiles-3x4", "{unknown}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn json_has_every_layer_and_every_field() {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), "panex 5"));
    for line in ran.stdout.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["v"], 1);
    }
    let job = ran.event("job");
    assert_eq!((&job["space"], &job["params"]["level"]), (&"panex".into(), &5.into()));
    assert_eq!(job["params"]["exhaust"], false);
    assert!(job["resumed_from"].is_null());
    let layers = ran.layers();
    let depths: Vec<u64> = layers.iter().map(|layer| layer.0).collect();
    assert_eq!(depths, (0..=172).collect::<Vec<_>>());
    assert_eq!(layers[0].1, 1);
    let result = ran.event("result");
    assert_eq!(result["outcome"], "goal");
    assert_eq!((&result["moves"], &result["layers"]), (&343.into(), &172.into()));
    assert_eq!(result["states"], layers.iter().map(|layer| layer.1).sum::<u64>());
    assert_eq!(result["states"], 218_855);
    assert_eq!(result["generated"], layers.iter().map(|layer| layer.2).sum::<u64>());
    assert_eq!(result["widest"], 3_158);
    for number in ["seconds", "peak_rss_bytes", "disk_peak_bytes", "spilled_bytes"] {
        assert!(result[number].is_number(), "{number}");
    }
    assert_eq!(result["digest"].as_str().unwrap().len(), 32);
    let last = ran.events("layer").pop().unwrap();
    assert_eq!(last["total_states"], 218_855);
    assert_eq!(last["replayed"], false);
    assert_eq!(ran.event("checkpoint")["depth"], 172);
    // Other settings reach the search, and change no layer.
    let settings = "--workers 2 --threads 2 --memory 100MiB --shards 7 -k 2 --s 4";
    let other = expect(0, &mut solve(dir.path(), &format!("panex 5 {settings}")));
    assert_eq!((&other.event("job")["params"]["k"], other.layers()), (&2.into(), layers));
}

#[test]
fn memory_stays_within_the_budget_and_a_fixed_overhead() {
    const MIB: u64 = 1 << 20;
    let dir = tempdir().unwrap();
    for (line, budget) in [
        ("hanoi 11 --pegs 4 --exhaust --threads 1 --memory 16MiB", 16),
        ("panex 6 --threads 2 --memory 40MiB", 40),
    ] {
        let result = expect(0, &mut solve(dir.path(), line)).event("result");
        let peak = result["peak_rss_bytes"].as_u64().unwrap();
        assert!(peak <= (budget + 64) * MIB, "{line}: {} MiB", peak / MIB);
        assert_eq!(result["spilled_bytes"].as_u64().unwrap() > 0, line.starts_with("hanoi"));
    }
}

#[test]
fn stats_and_verify_read_a_finished_job() {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), "panex 4"));
    let job = only_job(dir.path());
    let stats = |format: &str| {
        let mut command = strata(&format!("stats --format {format}"));
        expect(0, command.arg(dir.path())).stdout
    };
    let csv = stats("csv");
    assert!(csv.starts_with("depth,states,"));
    let counts = csv.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].parse().unwrap(), cells[1].parse().unwrap())
    });
    let counts: Vec<(u64, u64)> = counts.collect();
    let layers: Vec<(u64, u64)> = ran.layers().iter().map(|layer| (layer.0, layer.1)).collect();
    assert_eq!(counts, layers);
    let mut command = strata("stats --format json");
    assert_eq!(expect(0, command.arg(dir.path())).layers(), ran.layers());
    let growth =
        ran.layers().into_iter().map(|(depth, .., positions)| format!("{depth} {positions}\n"));
    assert_eq!(stats("growth"), growth.collect::<String>());
    assert!(stats("table").contains("total: 11,620 states"));

    let text = expect(0, &mut verify(&job)).stdout;
    assert!(text.contains("done, intact"), "{text}");
    let mut command = strata("--json verify");
    let event = expect(0, command.arg(dir.path())).event("verified");
    assert_eq!(event["states"], 11_620);
    assert_eq!(event["digest"], ran.event("result")["digest"]);

    let unchanged = expect(0, &mut solve(dir.path(), "panex 4 --resume --threads 3"));
    assert_eq!(unchanged.layers(), ran.layers());
    assert_eq!(unchanged.event("result")["digest"], ran.event("result")["digest"]);
    assert!(unchanged.events("layer").iter().all(|layer| layer["replayed"] == true));
}

#[test]
fn invalid_input_is_refused_before_any_file_is_written() {
    let parent = tempdir().unwrap();
    let dir = parent.path().join("data");
    for (line, reason) in [
        ("panex 0", "level must be between 1 and"),
        ("panex -3", "level must be a whole number"),
        ("hanoi 22", "discs must be between"),
        ("hanoi 4 --pegs 2", "pegs must be between"),
        ("panex 6 -k 9", "k must be between"),
        ("panex 6 -k 3 --s 2", "s must be between"),
        ("panex 6 --memory 2", "2 bytes (did you mean 2GiB?) is too small: 25 MiB is the least"),
        ("panex 6 --checkpoint-interval 2M", "'M' would be a month"),
        ("panex 6 --workers 65", "65 workers cannot share 64 shards"),
        ("panex 6 --shards 65537", "65537"),
        ("panex 6 --resume", "there is no job to resume"),
    ] {
        refused(&mut solve(&dir, line), reason);
        assert!(!dir.exists(), "{line}");
    }
    let file = parent.path().join("file");
    std::fs::write(&file, "").unwrap();
    refused(&mut solve(&file, "panex 3"), "file");
    refused(&mut solve(Path::new("/proc/strata"), "panex 3"), "/proc/strata");
}

#[test]
fn a_variable_of_another_space_is_ignored() {
    let dir = tempdir().unwrap();
    let mut command = solve(dir.path(), "hanoi 4");
    command.env("STRATA_K", "2").env("STRATA_PEGS", "4");
    let job = expect(0, &mut command).event("job");
    let params: BTreeMap<String, Value> = serde_json::from_value(job["params"].clone()).unwrap();
    assert_eq!(params["pegs"], 4);
    assert!(!params.contains_key("k"));
}

#[test]
fn a_job_folder_is_refused_as_a_data_directory() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "panex 2"));
    let job = only_job(dir.path());
    refused(&mut solve(&job, "panex 2"), "is the folder of one job");
    refused(&mut solve(&job, "panex 2 --resume"), "is the folder of one job");
}
