//! Dense jobs: same layers as explicit ones, also after kills, damage and limits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Finished, SmallDisk, expect, only_job, refused, run, solve, strata, verify};
use tempfile::tempdir;

/// A puzzle that ships as a file.
fn data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("puzzles/data");
    format!("puzzle {}", folder.join(name).display())
}

/// A file with some permutations.
fn permutations(dir: &Path, content: &str) -> String {
    let file = dir.join("permutations.txt");
    fs::write(&file, content).unwrap();
    format!("puzzle {}", file.display())
}

/// A search by an engine, in a folder of its own.
fn searched(engine: &str, line: &str) -> Finished {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), &format!("{line} --engine {engine}")));
    assert_eq!(ran.event("job")["engine"], engine);
    expect(0, &mut verify(&only_job(dir.path())));
    ran
}

#[test]
fn layers_are_those_of_the_explicit_engine() {
    let dir = tempdir().unwrap();
    let alternating = permutations(dir.path(), "a = (1,2,3)\nb = (3,4,5)\nc = (5,6,7)\n");
    for line in [
        "hanoi 7 --pegs 4",
        &format!("{} --moves F,U,R --max-layers 6", data("2x2x2.tws")),
        &format!("{alternating} --inverses"),
    ] {
        let code = if line.contains("--max-layers") { 4 } else { 0 };
        let [expected, found] = ["explicit", "dense --threads 3"].map(|engine| {
            let dir = tempdir().unwrap();
            let ran = expect(code, &mut solve(dir.path(), &format!("{line} --engine {engine}")));
            expect(0, &mut verify(dir.path()));
            ran.layers()
        });
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn without_digests_the_counts_are_the_same() {
    let with = searched("dense", "hanoi 7 --pegs 4 --exhaust");
    let dir = tempdir().unwrap();
    let line = "hanoi 7 --pegs 4 --exhaust --engine dense --no-digest";
    let without = expect(0, &mut solve(dir.path(), line));
    assert_eq!(without.event("job")["engine"], "dense-lean");
    let counts = |ran: &Finished| -> Vec<_> {
        ran.layers().into_iter().map(|(depth, states, moves, ..)| (depth, states, moves)).collect()
    };
    assert_eq!(counts(&without), counts(&with));
    assert!(without.layers().iter().all(|(.., digest, _)| digest.bytes().all(|c| c == b'0')));
    expect(0, &mut verify(dir.path()));
    refused(
        &mut solve(dir.path(), "hanoi 5 --no-digest --engine symbolic"),
        "needs the dense engine",
    );
}

#[test]
fn parts_on_disk_have_the_same_layers() {
    let line = "pancake 9 --keep-layers all";
    let whole = searched("dense", line);
    let least = refused(
        &mut solve(tempdir().unwrap().path(), &format!("{line} --engine dense --memory 1MiB")),
        "the dense engine takes at least",
    );
    let least: u64 =
        least.split_whitespace().filter_map(|word| word.parse().ok()).next_back().unwrap();
    let parts = searched("dense", &format!("{line} --memory {least}MiB --threads 2"));
    assert_eq!(parts.layers(), whole.layers());
    for workers in [2, 3] {
        let memory = format!("--memory {}MiB", workers * least);
        let shared = searched("dense", &format!("{line} {memory} --workers {workers}"));
        assert_eq!(shared.layers(), whole.layers(), "{workers} workers");
    }
}

#[test]
fn a_job_is_resumed_by_other_numbers_of_workers() {
    let folder = tempdir().unwrap();
    // Moves without inverses need the files of all layers.
    let directed = permutations(folder.path(), "a = (1,2,3,4,5,6,7,8)\nb = (1,2)(3,4,5)\n");
    for line in ["pancake 9 --keep-layers all", &directed] {
        let whole = searched("dense", line).layers();
        let dir = tempdir().unwrap();
        for (index, workers) in [1, 3, 2, 1, 2].into_iter().enumerate() {
            let depth = 2 * index + 1;
            let resume = if index == 0 { "" } else { "--resume" };
            let limits = format!("--workers {workers} --max-layers {depth} {resume}");
            let line = format!("{line} --engine dense {limits}");
            let ran = expect(4, &mut solve(dir.path(), &line));
            assert_eq!(ran.layers(), whole[..=depth], "{line}");
            expect(0, &mut verify(dir.path()));
        }
        let line = format!("{line} --engine dense --workers 3 --resume");
        assert_eq!(expect(0, &mut solve(dir.path(), &line)).layers(), whole, "{line}");
        expect(0, &mut verify(dir.path()));
    }
}

#[test]
fn a_job_is_killed_at_random_moments_and_resumed() {
    for line in ["pancake 9 --memory 6MiB", "pancake 9 --keep-layers all"] {
        let expected = searched("dense", line).layers();
        let dir = tempdir().unwrap();
        let interval = "--engine dense --checkpoint-interval 1ms --threads 2";
        let mut kills = 0;
        for attempt in 0..200_u64 {
            let resume = if only_job_of(dir.path()).is_some() { "--resume" } else { "" };
            let mut command = solve(dir.path(), &format!("{line} {interval} {resume}"));
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            if kills < 10 {
                std::thread::sleep(Duration::from_millis(20 + attempt * 17 % 180));
            }
            let ended = kills == 10 || child.try_wait().unwrap().is_some();
            if !ended {
                child.kill().unwrap();
                kills += 1;
            }
            let ran = Finished::of(child.wait_with_output().unwrap());
            if only_job_of(dir.path()).is_some() {
                expect(0, &mut verify(dir.path()));
            }
            if ended {
                assert_eq!((ran.code, ran.layers()), (Some(0), expected), "{line}: {}", ran.stderr);
                break;
            }
        }
        assert!(kills > 0, "{line} was never killed");
        // `--resume` of the finished job checks its files and shows its layers.
        expect(0, &mut solve(dir.path(), &format!("{line} --engine dense --resume")));
    }
}

fn only_job_of(dir: &Path) -> Option<PathBuf> {
    let jobs = fs::read_dir(dir).ok()?.map(|entry| entry.unwrap().path());
    jobs.into_iter().find(|path| path.join("manifest.json").exists())
}

#[test]
fn limits_stop_resumably() {
    let expected = searched("dense", "pancake 8").layers();
    for limit in ["--max-layers 5", "--keep-layers all --disk-limit 8KiB"] {
        let dir = tempdir().unwrap();
        let line = "pancake 8 --engine dense";
        let ran = expect(4, &mut solve(dir.path(), &format!("{line} {limit}")));
        let depth = ran.event("stopped")["depth"].as_u64().unwrap() as usize;
        assert_eq!(ran.layers(), expected[..=depth], "{limit}");
        expect(0, &mut verify(dir.path()));
        // The job keeps its engine.
        let ran = expect(0, &mut solve(dir.path(), "pancake 8 --engine auto --resume"));
        assert_eq!(ran.event("job")["engine"], "dense");
        assert_eq!(ran.layers(), expected);
        assert_eq!(ran.event("job")["resumed_from"], depth);
    }
}

#[test]
fn a_full_disk_stops_resumably() {
    let outside = tempdir().unwrap();
    let folder = outside.path().join("small");
    let Some(disk) = SmallDisk::mount(&folder, 128) else {
        println!("skipped: a small file system cannot be mounted here");
        return;
    };
    let line = "pancake 9 --engine dense --keep-layers all";
    let ran = expect(4, &mut solve(&folder, &format!("{line} --checkpoint-interval 1ms")));
    let stopped = ran.event("stopped");
    assert_eq!(stopped["reason"], "disk_full", "{}", ran.stderr);
    let larger = outside.path().join("larger");
    fs::create_dir(&larger).unwrap();
    let job = only_job(&folder);
    let copy = larger.join(job.file_name().unwrap());
    fs::create_dir(&copy).unwrap();
    for file in fs::read_dir(&job).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let ran = expect(0, &mut solve(&larger, &format!("{line} --resume")));
    assert_eq!(ran.event("job")["resumed_from"], stopped["depth"]);
    assert_eq!(ran.layers(), searched("dense", "pancake 9").layers());
    drop(disk);
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn damage_is_detected() {
    for (line, code) in [("pancake 8 --keep-layers every:3", 0), ("pancake 8 --max-layers 6", 4)] {
        let dir = tempdir().unwrap();
        expect(code, &mut solve(dir.path(), &format!("{line} --engine dense")));
        let job = only_job(dir.path());
        let mut files: Vec<PathBuf> =
            fs::read_dir(&job).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        assert!(files.len() >= 4, "{files:?}");
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let intact = fs::read(&file).unwrap();
            for step in 0..8 {
                let mut bytes = intact.clone();
                let at = (bytes.len() - 1) * step / 7;
                bytes[at] ^= 0x20;
                fs::write(&file, &bytes).unwrap();
                let resume = &mut solve(dir.path(), "pancake 8 --engine dense --resume");
                for command in [&mut verify(&job), resume] {
                    let ran = expect(12, command);
                    assert!(!ran.stdout.contains("\"event\":\"result\""));
                    assert!(ran.stderr.contains(&name), "{name} at {at}: {}", ran.stderr);
                }
            }
            fs::write(&file, &intact[..intact.len() / 2]).unwrap();
            expect(12, &mut verify(&job));
            fs::remove_file(&file).unwrap();
            expect(12, &mut verify(&job));
            fs::write(&file, &intact).unwrap();
        }
        expect(0, &mut verify(&job));
        expect(0, &mut solve(dir.path(), "pancake 8 --engine dense --resume"));
    }
}

#[test]
fn layers_are_counted_listed_and_sampled() {
    let dir = tempdir().unwrap();
    expect(
        0,
        &mut solve(dir.path(), "hanoi 5 --pegs 4 --exhaust --engine dense --keep-layers all"),
    );
    let other = tempdir().unwrap();
    let line = "hanoi 5 --pegs 4 --exhaust --engine explicit --keep-layers all";
    expect(0, &mut solve(other.path(), line));
    let list = |dir: &Path, depth: u32, how: &str| {
        let mut command = strata(&format!("layer {} {depth} {how}", dir.display()));
        let mut lines: Vec<String> =
            expect(0, &mut command).stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for depth in [0, 1, 5, 9] {
        let states = list(dir.path(), depth, "--list");
        assert_eq!(states, list(other.path(), depth, "--list"));
        assert_eq!(list(dir.path(), depth, ""), list(other.path(), depth, ""));
        let sample = list(dir.path(), depth, "--sample 4");
        assert!((1..=4).contains(&sample.len()) && sample.iter().all(|one| states.contains(one)));
    }
    let table = |dir: &Path| {
        let csv = expect(0, strata("stats --format csv").arg(dir)).stdout;
        let columns = |line: &str| line.split(',').take(4).map(str::to_owned).collect::<Vec<_>>();
        csv.lines().map(columns).collect::<Vec<_>>()
    };
    assert_eq!(table(dir.path()), table(other.path()));
}

#[test]
fn paths_are_shortest() {
    let puzzle = format!("{} --moves F,U,R", data("2x2x2.tws"));
    let goal = "--goal";
    let dir = tempdir().unwrap();
    for keep in ["", "--keep-layers all"] {
        let line = format!("{puzzle} --engine dense --path {keep}");
        let mut command = solve(dir.path(), &line);
        let ran = expect(0, command.args([goal, "F U R2 F' U2 R"]));
        let moves = ran.event("path")["moves"].as_array().unwrap().len() as u64;
        assert_eq!(Some(moves), ran.event("result")["moves"].as_u64());
        assert_eq!(moves, 6);
    }
}

#[test]
fn antipodes_are_shown_without_a_flag() {
    let ran = searched("dense", "pancake 7");
    let found = ran.event("antipodes");
    assert_eq!((&found["depth"], &found["states"]), (&8.into(), &35.into()));
    let antipodes = found["antipodes"].as_array().unwrap();
    assert_eq!(antipodes.len(), 20);
    for antipode in antipodes {
        let mut stack: Vec<&str> = antipode["state"].as_str().unwrap().split(' ').collect();
        let moves = antipode["moves"].as_array().unwrap();
        assert_eq!(moves.len(), 8);
        for name in moves {
            let top: usize = name.as_str().unwrap()[1..].parse().unwrap();
            stack[..top].reverse();
        }
        assert_eq!(stack, ["1", "2", "3", "4", "5", "6", "7"]);
    }
}

#[test]
fn what_the_engine_does_not_support_is_refused() {
    let dir = tempdir().unwrap();
    for (line, why) in [
        ("panex 3 --engine dense", "panex has no dense form"),
        ("hanoi 5 --engine dense --workers 9", "9 workers cannot share"),
        ("hanoi 5 --engine dense --verify", "does not support --verify"),
        ("hanoi 5 --engine dense --shards 9", "9 shards are more than"),
        ("hanoi 9 --pegs 4 --engine dense --memory 1MiB", "the dense engine takes at least"),
        ("hanoi 13 --pegs 8 --engine dense", "too large"),
    ] {
        refused(&mut solve(dir.path(), line), why);
    }
}

#[test]
fn auto_says_what_it_chose_and_why() {
    let dir = tempdir().unwrap();
    let chosen = |line: &str| {
        let ran = run(&mut solve(dir.path(), &format!("{line} --engine auto")));
        let job = ran.event("job");
        let engine = job["engine"].as_str().unwrap().to_owned();
        let reason = job["engine_reason"].as_str().unwrap().to_owned();
        let first = ran.stderr.lines().next().unwrap().to_owned();
        assert!(first.contains(&format!("engine {engine}: {reason}")), "{first}");
        (engine, reason)
    };
    for (line, engine, reason) in [
        ("hanoi 5", "symbolic", "the space is nested"),
        ("hanoi 5 --keep-layers all", "dense", "243 states take"),
        ("hanoi 5 --workers 2", "explicit", "--workers needs it"),
        ("pancake 7", "dense", "5040 states take"),
        ("pancake 7 --shards 4", "explicit", "--shards needs it"),
        ("tiles 2x3 --exhaust", "explicit", "no other engine searches this space"),
    ] {
        let (found, why) = chosen(line);
        assert!(found == engine && why.contains(reason), "{line}: {found}: {why}");
    }
}

#[test]
fn moves_without_inverses_keep_all_layers() {
    let folder = tempdir().unwrap();
    // Generators of the symmetric group of seven points.
    let line = permutations(folder.path(), "a = (1,2,3,4,5,6,7)\nb = (1,2)(3,4,5)\n");
    let whole = searched("dense", &line);
    assert_eq!(whole.layers().iter().map(|layer| layer.1).sum::<u64>(), 5_040);
    let (last, dir) = (whole.layers().len() - 1, tempdir().unwrap());
    for depth in [1, 2, 6, last - 1] {
        let resume = if depth == 1 { "" } else { "--resume" };
        let line = format!("{line} --engine dense --max-layers {depth} {resume}");
        let ran = expect(4, &mut solve(dir.path(), &line));
        assert_eq!(ran.layers(), whole.layers()[..=depth]);
        expect(0, &mut verify(dir.path()));
    }
    let ran = expect(0, &mut solve(dir.path(), &format!("{line} --engine auto --resume")));
    assert_eq!(ran.layers(), whole.layers());
    for depth in 0..=last {
        expect(0, &mut strata(&format!("layer {} {depth}", dir.path().display())));
    }
    // A state of the last layer has no way back that is known to be shortest.
    assert!(ran.events("antipodes").is_empty());
    let asked = searched("dense", &format!("{line} --antipodes 1"));
    let antipode = asked.event("antipodes")["antipodes"][0].clone();
    assert!(antipode["moves"].is_null());
    let dir = tempdir().unwrap();
    let mut command = solve(dir.path(), &format!("{line} --engine dense --path"));
    let ran = expect(0, command.arg("--goal").arg(antipode["state"].as_str().unwrap()));
    assert_eq!(ran.event("result")["moves"], last);
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len(), last);
    // The explicit engine finds the same, and traces the path along the moves.
    let explicit = searched("explicit", &line);
    let numbers = |ran: &Finished| -> Vec<_> {
        ran.layers()
            .into_iter()
            .map(|(depth, states, _, digest, _)| (depth, states, digest))
            .collect()
    };
    assert_eq!(numbers(&explicit), numbers(&whole));
    let dir = tempdir().unwrap();
    let mut command = solve(dir.path(), &format!("{line} --engine explicit --path"));
    let ran = expect(0, command.arg("--goal").arg(antipode["state"].as_str().unwrap()));
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len(), last);
}
