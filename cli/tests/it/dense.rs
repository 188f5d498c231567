//! Dense jobs: their memory, files and orbits, and moves without inverses.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{Finished, data, expect, only_job, refused, solve, strata, verify};
use strata_store::{JobDir, LayerRecord, RealFs};
use tempfile::tempdir;

fn diamond() -> String {
    format!("{} --symmetry on --engine dense", data("skewb-diamond.tws"))
}

/// A file with some permutations.
fn permutations(dir: &Path, content: &str) -> String {
    let file = dir.join("permutations.txt");
    fs::write(&file, content).unwrap();
    format!("puzzle {}", file.display())
}

/// A search in a folder of its own.
fn searched(line: &str) -> Finished {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), line));
    expect(0, &mut verify(&only_job(dir.path())));
    ran
}

#[test]
fn the_least_memory_named_in_the_refusal_suffices_for_each_worker() {
    for (line, sessions) in [
        (&*diamond(), &[(2, "--workers 2")][..]),
        ("pancake 9 --engine dense --keep-layers all", &[(1, "--threads 2"), (3, "--workers 3")]),
    ] {
        let whole = searched(line);
        let refusal = refused(
            &mut solve(tempdir().unwrap().path(), &format!("{line} --memory 1MiB")),
            "the dense engine takes at least",
        );
        let mut numbers = refusal.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
        let least = numbers.next_back().unwrap();
        for (workers, flags) in sessions {
            let line = format!("{line} --memory {}MiB {flags}", workers * least);
            let parts = searched(&line);
            assert_eq!(parts.layers(), whole.layers(), "{line}");
            assert_eq!(parts.orbits(), whole.orbits(), "{line}");
        }
    }
}

/// Moves without inverses need the files of all layers.
#[test]
fn a_job_without_inverses_is_resumed_by_other_numbers_of_workers() {
    let folder = tempdir().unwrap();
    let line = permutations(folder.path(), "a = (1,2,3,4,5,6,7,8)\nb = (1,2)(3,4,5)\n");
    let line = format!("{line} --engine dense");
    let whole = searched(&line).layers();
    let dir = tempdir().unwrap();
    for (index, workers) in [1, 3, 2, 1, 2].into_iter().enumerate() {
        let depth = 2 * index + 1;
        let resume = if index == 0 { "" } else { "--resume" };
        let line = format!("{line} --workers {workers} --max-layers {depth} {resume}");
        let ran = expect(4, &mut solve(dir.path(), &line));
        assert_eq!(ran.layers(), whole[..=depth], "{line}");
        expect(0, &mut verify(dir.path()));
    }
    let line = format!("{line} --workers 3 --resume");
    assert_eq!(expect(0, &mut solve(dir.path(), &line)).layers(), whole, "{line}");
    expect(0, &mut verify(dir.path()));
}

#[test]
fn moves_without_inverses_keep_all_layers() {
    let folder = tempdir().unwrap();
    // Generators of the symmetric group of seven points.
    let line = permutations(folder.path(), "a = (1,2,3,4,5,6,7)\nb = (1,2)(3,4,5)\n");
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), &format!("{line} --engine dense --max-layers 6")));
    let ran = expect(0, &mut solve(dir.path(), &format!("{line} --engine auto --resume")));
    assert_eq!(ran.layers().iter().map(|layer| layer.1).sum::<u64>(), 5_040);
    let last = ran.layers().len() - 1;
    for depth in 0..=last {
        expect(0, &mut strata(&format!("layer {} {depth}", dir.path().display())));
    }
    // A state of the last layer has no way back that is known to be shortest.
    assert!(ran.events("antipodes").is_empty());
    let asked = searched(&format!("{line} --engine dense --antipodes 1"));
    assert_eq!(asked.layers(), ran.layers());
    let antipode = asked.event("antipodes")["antipodes"][0].clone();
    assert!(antipode["moves"].is_null());
    let dir = tempdir().unwrap();
    let mut command = solve(dir.path(), &format!("{line} --engine dense --path"));
    let ran = expect(0, command.arg("--goal").arg(antipode["state"].as_str().unwrap()));
    assert_eq!(ran.event("result")["moves"], last);
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len(), last);
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

/// Orbits are in events, results and tables, also those of earlier sessions.
#[test]
fn a_resumed_job_shows_the_orbits_of_all_layers() {
    let whole = searched(&diamond());
    let (layers, orbits) = (whole.layers(), whole.orbits());
    assert!(orbits.iter().all(Option::is_some));
    let dir = tempdir().unwrap();
    let limits = "--workers 2 --max-layers 3";
    let ran = expect(4, &mut solve(dir.path(), &format!("{} {limits}", diamond())));
    assert_eq!((ran.layers(), ran.orbits()), (layers[..=3].to_vec(), orbits[..=3].to_vec()));
    let resumed = expect(0, &mut solve(dir.path(), &format!("{} --resume", diamond())));
    assert_eq!((resumed.layers(), resumed.orbits()), (layers, orbits.clone()));
    let sum: u64 = orbits.iter().flatten().sum();
    assert_eq!(resumed.event("result")["orbits"], sum);
    expect(0, &mut verify(dir.path()));
    let shown = expect(0, strata("stats --format json").arg(only_job(dir.path())));
    assert_eq!(shown.orbits(), orbits);
}

/// Changes the history of a stopped job, with right checksums.
fn rewrite_history(job: &Path, change: impl Fn(&mut LayerRecord)) {
    let (folder, mut manifest) = JobDir::open(Arc::new(RealFs), job).unwrap();
    let checkpoint = manifest.checkpoint.as_mut().unwrap();
    let mut lines = folder.read_history(Some(&checkpoint.history)).unwrap().lines;
    lines.iter_mut().for_each(change);
    let mut history = folder.create_history().unwrap();
    lines.iter().for_each(|line| history.append(line).unwrap());
    checkpoint.history = history.checkpoint().unwrap();
    folder.write_manifest(&manifest).unwrap();
}

/// Orbits that are not those of the files are found by `verify`, and by a resume.
#[test]
fn wrong_orbits_are_found() {
    let line = diamond();
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), &format!("{line} --max-layers 3")));
    rewrite_history(&only_job(dir.path()), |line| {
        let more = u64::from(line.depth == 3);
        line.orbits = line.orbits.map(|orbits| orbits + more);
    });
    let wrong = expect(12, &mut verify(dir.path()));
    assert!(wrong.stderr.contains("orbits"), "{}", wrong.stderr);
    let wrong = expect(12, &mut solve(dir.path(), &format!("{line} --resume")));
    assert!(wrong.stderr.contains("orbits"), "{}", wrong.stderr);
}

#[test]
fn files_of_an_unfolded_job_are_corrupt_in_a_folded_one() {
    let (folded, plain) = (tempdir().unwrap(), tempdir().unwrap());
    expect(4, &mut solve(folded.path(), &format!("{} --max-layers 3", diamond())));
    let line = format!("{} --engine dense --max-layers 3", data("skewb-diamond.tws"));
    expect(4, &mut solve(plain.path(), &line));
    let (folded, plain) = (only_job(folded.path()), only_job(plain.path()));
    for entry in fs::read_dir(&plain).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.extension().is_some_and(|extension| extension == "strata")
            && folded.join(name).exists()
        {
            fs::copy(&path, folded.join(name)).unwrap();
        }
    }
    expect(12, &mut verify(&folded));
}

#[test]
fn the_dense_engine_stores_every_state_where_folding_gains_nothing() {
    let ran = searched("topspin 7 4 --symmetry on --engine dense");
    let explicit = searched("topspin 7 4 --symmetry on --engine explicit");
    assert_eq!(ran.orbits(), explicit.orbits());
    assert!(ran.orbits().iter().all(Option::is_some));
    assert!(ran.layers().iter().all(|(_, states, .., positions)| states == positions));
}
