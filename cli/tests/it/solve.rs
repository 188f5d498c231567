//! Complete searches: results, counts and output formats.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{expect, only_job, refused, run, solve, strata, verify};
use serde_json::Value;
use tempfile::tempdir;

#[test]
fn panex_has_the_known_answers() {
    let known = [(3, 2), (13, 7), (42, 21), (128, 64), (343, 172)];
    let dir = tempdir().unwrap();
    for (level, (moves, layers)) in (1..).zip(known) {
        let mut command = strata(&format!("solve panex {level} --progress none"));
        let ran = expect(0, command.arg("--data-dir").arg(dir.path()));
        let first = ran.stdout.lines().next().unwrap();
        assert_eq!(first, format!("X({level}) = {moves}"));
        let shown = |line| ran.stdout.lines().nth(line).unwrap().split_whitespace();
        assert!(shown(1).eq(["engine", "symbolic"]), "{}", ran.stdout);
        assert!(shown(2).eq(["depth", &layers.to_string()]), "{}", ran.stdout);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("INFO engine symbolic: the space is nested"), "{}", ran.stderr);
    }
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
fn a_whole_space_has_a_radius_with_and_without_symmetry() {
    let dir = tempdir().unwrap();
    let on = expect(0, &mut solve(dir.path(), "panex 4 --exhaust")).event("result");
    let off = expect(0, &mut solve(dir.path(), "panex 4 --exhaust --symmetry off")).event("result");
    for (result, states) in [(&on, 29_336), (&off, 58_608)] {
        assert_eq!((&result["states"], &result["layers"]), (&states.into(), &137.into()));
        assert_eq!((&result["moves"], &result["outcome"]), (&Value::Null, &"exhausted".into()));
    }
    // The digest is over positions, however they are stored.
    assert_eq!(on["digest"], off["digest"]);
}

#[test]
fn without_symmetry_the_search_ends_at_the_goal() {
    let dir = tempdir().unwrap();
    let result = expect(0, &mut solve(dir.path(), "panex 4 --symmetry off")).event("result");
    assert_eq!((&result["moves"], &result["layers"]), (&128.into(), &128.into()));
}

#[test]
fn hanoi_has_the_known_answers() {
    let dir = tempdir().unwrap();
    for (line, moves) in [("hanoi 7", 127), ("hanoi 8 --pegs 4", 33), ("hanoi 1", 1)] {
        let ran = expect(0, &mut solve(dir.path(), line));
        assert_eq!(ran.event("result")["moves"], moves, "{line}");
    }
    let ran = expect(0, &mut solve(dir.path(), "hanoi 6 --exhaust"));
    assert_eq!(ran.event("result")["states"], 729);
}

#[test]
fn counts_do_not_depend_on_threads_workers_and_shards() {
    let dir = tempdir().unwrap();
    let layers = |line: &str| expect(0, &mut solve(dir.path(), line)).layers();
    let panex = layers("panex 5");
    for more in [
        "--workers 3",
        "--workers 2 --threads 2 --memory 100MiB",
        "--threads 4",
        "--shards 1",
        "--shards 7 --workers 5",
        "-k 2 --s 4",
    ] {
        assert_eq!(layers(&format!("panex 5 {more}")), panex, "{more}");
    }
    let hanoi = layers("hanoi 7 --pegs 4");
    for more in ["--workers 3", "--threads 3 --memory 100MiB", "--shards 5"] {
        assert_eq!(layers(&format!("hanoi 7 --pegs 4 {more}")), hanoi, "{more}");
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
    assert_eq!(stats("json").lines().count(), layers.len());
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
fn folders_without_exactly_one_job_are_refused() {
    let dir = tempdir().unwrap();
    let ran = expect(11, &mut verify(dir.path()));
    assert!(ran.stderr.contains("there is no job in"), "{}", ran.stderr);
    expect(11, &mut verify(&dir.path().join("nowhere")));
    for level in [1, 2] {
        expect(0, &mut solve(dir.path(), &format!("panex {level}")));
    }
    refused(&mut verify(dir.path()), "several jobs");
    refused(strata("stats").arg(dir.path()), "panex-1-");
}

#[test]
fn invalid_input_is_refused_before_any_file_is_written() {
    let parent = tempdir().unwrap();
    let dir = parent.path().join("data");
    for (line, reason) in [
        ("panex 0", "level must be between 1 and"),
        ("panex 99", "level must be between 1 and"),
        ("panex -3", "level must be a whole number"),
        ("panex six", "level must be a whole number"),
        ("panex", "panex takes level"),
        ("panex 4 5", "panex takes level (2 given)"),
        ("chess 3", "unknown space 'chess'"),
        ("hanoi 22", "discs must be between"),
        ("hanoi 4 --pegs 2", "pegs must be between"),
        ("hanoi 4 -k 3", "hanoi has no parameter 'k'"),
        ("panex 6 -k 9", "k must be between"),
        ("panex 6 -k 3 --s 2", "s must be between"),
        ("panex 6 --memory 2", "2 bytes (did you mean 2GiB?) is too small: 25 MiB is the least"),
        ("panex 6 --checkpoint-interval 2M", "'M' would be a month"),
        ("panex 6 --memory 8MiB", "8 MiB is too small: 25 MiB is the least"),
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
fn a_job_folder_is_no_data_directory() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "panex 2"));
    let job = only_job(dir.path());
    refused(&mut solve(&job, "panex 2"), "is the folder of one job");
    refused(&mut solve(&job, "panex 2 --resume"), "is the folder of one job");
}

#[test]
fn domains_are_listed() {
    let text = expect(0, &mut strata("domains")).stdout;
    assert!(text.contains("strata solve panex LEVEL") && text.contains("-s, --locality"));
    let ran = run(&mut strata("domains --json"));
    let names: Vec<Value> = ran.events("domain").iter().map(|d| d["name"].clone()).collect();
    let families = ["pancake", "burnt-pancake", "topspin", "lrx", "lx"];
    assert_eq!(names[..4], ["panex", "hanoi", "tiles", "puzzle"]);
    assert_eq!(names[4..], families);
    let page = include_str!("../../../docs/puzzles.md");
    let shown = format!("```console\n$ strata domains\n{text}```\n");
    assert!(page.contains(&shown), "docs/puzzles.md should list\n{text}");
}
