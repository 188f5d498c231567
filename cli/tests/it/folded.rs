//! Dense jobs with `--symmetry on`: positions of the explicit engine, with workers, parts, resumed
//! jobs and paths.

use std::path::Path;
use std::sync::Arc;

use crate::common::{Finished, expect, only_job, refused, solve, strata, verify};
use strata_store::{JobDir, LayerRecord, RealFs};
use tempfile::tempdir;

/// A puzzle that ships as a file.
fn data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("puzzles/data");
    format!("puzzle {}", folder.join(name).display())
}

fn diamond() -> String {
    format!("{} --symmetry on", data("skewb-diamond.tws"))
}

/// Depths and positions.
fn positions(ran: &Finished) -> Vec<(u64, u64)> {
    ran.layers().into_iter().map(|(depth, .., positions)| (depth, positions)).collect()
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

fn searched(line: &str) -> Finished {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), line));
    expect(0, &mut verify(&only_job(dir.path())));
    ran
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn positions_are_those_of_all_states_and_of_the_explicit_engine() {
    let cube = format!("{} --moves F,U,R", data("2x2x2.tws"));
    let from = format!("{} --start UFR2", data("skewb-diamond.tws"));
    for line in [cube, from, data("skewb-diamond.tws")] {
        let plain = searched(&format!("{line} --engine dense"));
        let explicit = searched(&format!("{line} --symmetry on --engine explicit"));
        let folded = searched(&format!("{line} --symmetry on --engine auto"));
        assert_eq!(folded.event("job")["engine"], "dense", "{line}");
        assert_eq!(positions(&folded), positions(&plain), "{line}");
        assert_eq!(positions(&folded), positions(&explicit), "{line}");
        let result = folded.event("result");
        let [states, all] = ["states", "positions"].map(|name| result[name].as_u64().unwrap());
        assert_eq!(Some(all), plain.event("result")["states"].as_u64());
        assert!(2 * states <= all, "{line}: {states} of {all}");
        // The explicit engine stores orbits.
        let states = explicit.layers().into_iter().map(|(_, states, ..)| Some(states));
        let states: Vec<Option<u64>> = states.collect();
        assert_eq!((folded.orbits(), explicit.orbits()), (states.clone(), states), "{line}");
        assert_eq!(result["orbits"], explicit.event("result")["states"]);
        assert!(plain.orbits().iter().all(Option::is_none));
        let lean = searched(&format!("{line} --symmetry on --engine dense --no-digest"));
        assert_eq!(lean.orbits(), folded.orbits());
        assert_eq!(positions(&lean), positions(&plain), "{line}");
    }
}

#[test]
fn workers_parts_and_resumed_jobs_have_the_same_layers() {
    let line = format!("{} --keep-layers every:3", diamond());
    let whole = searched(&format!("{line} --engine dense"));
    let (whole, orbits) = (whole.layers(), whole.orbits());
    assert!(orbits.iter().all(Option::is_some));
    let least = refused(
        &mut solve(tempdir().unwrap().path(), &format!("{line} --engine dense --memory 1MiB")),
        "the dense engine takes at least",
    );
    let least: u64 =
        least.split_whitespace().filter_map(|word| word.parse().ok()).next_back().unwrap();
    let memory = format!("--memory {}MiB --workers 2", 2 * least);
    let parts = searched(&format!("{line} --engine dense {memory}"));
    assert_eq!((parts.layers(), parts.orbits()), (whole.clone(), orbits.clone()));
    let dir = tempdir().unwrap();
    for (index, workers) in [1, 3, 2].into_iter().enumerate() {
        let depth = 2 * index + 1;
        let resume = if index == 0 { "" } else { "--resume" };
        let limits = format!("--workers {workers} --max-layers {depth} {resume}");
        let ran = expect(4, &mut solve(dir.path(), &format!("{line} --engine dense {limits}")));
        assert_eq!(ran.layers(), whole[..=depth]);
        assert_eq!(ran.orbits(), orbits[..=depth]);
        expect(0, &mut verify(dir.path()));
    }
    let line = format!("{line} --engine dense --workers 2 --resume");
    let resumed = expect(0, &mut solve(dir.path(), &line));
    assert_eq!((resumed.layers(), resumed.orbits()), (whole, orbits.clone()));
    let sum: u64 = orbits.iter().flatten().sum();
    assert_eq!(resumed.event("result")["orbits"], sum);
    expect(0, &mut verify(dir.path()));
    let shown = expect(0, strata("stats --format json").arg(only_job(dir.path())));
    assert_eq!(shown.orbits(), orbits);
}

/// Orbits that are not those of the files are found by `verify`, and by a resume.
#[test]
fn wrong_orbits_are_found() {
    let line = format!("{} --engine dense", diamond());
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
fn paths_lead_to_the_goal_itself() {
    for goal in ["UFR DBL UBL", "UBR"] {
        let line = data("skewb-diamond.tws");
        let goal_option = |line: &str| {
            let dir = tempdir().unwrap();
            let mut command = solve(dir.path(), line);
            let ran = expect(0, command.args(["--goal", goal]));
            let path = ran.event("path");
            assert_eq!(
                path["moves"].as_array().unwrap().len() as u64,
                ran.event("result")["moves"].as_u64().unwrap()
            );
            (ran.event("result")["moves"].clone(), path["positions"].as_array().unwrap().clone())
        };
        let (moves, plain) = goal_option(&format!("{line} --engine dense --path"));
        for keep in ["", "--keep-layers all"] {
            let line = format!("{line} --symmetry on --engine dense --path {keep}");
            let (found, positions) = goal_option(&line);
            assert_eq!(found, moves, "{goal} {keep}");
            assert_eq!((positions.first(), positions.last()), (plain.first(), plain.last()));
        }
    }
}

#[test]
fn the_farthest_states_have_shortest_moves() {
    let dir = tempdir().unwrap();
    let ran =
        expect(0, &mut solve(dir.path(), &format!("{} --engine dense --antipodes 5", diamond())));
    let depth = ran.event("result")["layers"].as_u64().unwrap() as usize;
    let antipodes = ran.event("antipodes");
    let listed = antipodes["antipodes"].as_array().unwrap();
    assert!(!listed.is_empty());
    for one in listed {
        assert_eq!(one["moves"].as_array().unwrap().len(), depth, "{one}");
    }
}

#[test]
fn files_of_a_job_with_all_states_are_no_files_of_a_folded_one() {
    let (folded, plain) = (tempdir().unwrap(), tempdir().unwrap());
    let limits = "--engine dense --max-layers 3";
    expect(4, &mut solve(folded.path(), &format!("{} {limits}", diamond())));
    expect(4, &mut solve(plain.path(), &format!("{} {limits}", data("skewb-diamond.tws"))));
    let (folded, plain) = (only_job(folded.path()), only_job(plain.path()));
    for entry in std::fs::read_dir(&plain).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.extension().is_some_and(|extension| extension == "strata")
            && folded.join(name).exists()
        {
            std::fs::copy(&path, folded.join(name)).unwrap();
        }
    }
    expect(12, &mut verify(&folded));
}

#[test]
fn puzzles_that_gain_nothing_store_every_state() {
    let ran = searched("topspin 7 4 --symmetry on --engine dense");
    let explicit = searched("topspin 7 4 --symmetry on --engine explicit");
    assert_eq!(ran.orbits(), explicit.orbits());
    assert!(ran.orbits().iter().all(Option::is_some));
    assert!(ran.layers().iter().all(|(_, states, .., positions)| states == positions));
}
