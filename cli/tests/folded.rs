//! Dense jobs with `--symmetry on`: positions of the explicit engine, with workers, parts, resumed
//! jobs and paths.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;

use std::path::Path;

use common::{Finished, expect, only_job, refused, solve, verify};
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

fn searched(line: &str) -> Finished {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), line));
    expect(0, &mut verify(&only_job(dir.path())));
    ran
}

#[test]
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
        let lean = searched(&format!("{line} --symmetry on --engine dense --no-digest"));
        assert_eq!(positions(&lean), positions(&plain), "{line}");
    }
}

#[test]
fn workers_parts_and_resumed_jobs_have_the_same_layers() {
    let line = format!("{} --keep-layers every:3", diamond());
    let whole = searched(&format!("{line} --engine dense")).layers();
    let least = refused(
        &mut solve(tempdir().unwrap().path(), &format!("{line} --engine dense --memory 1MiB")),
        "the dense engine takes at least",
    );
    let least: u64 =
        least.split_whitespace().filter_map(|word| word.parse().ok()).next_back().unwrap();
    for workers in [1, 2, 3] {
        let memory = format!("--memory {}MiB --workers {workers}", workers * least);
        let parts = searched(&format!("{line} --engine dense {memory}"));
        assert_eq!(parts.layers(), whole, "{workers} workers");
    }
    let dir = tempdir().unwrap();
    for (index, workers) in [1, 3, 2, 1].into_iter().enumerate() {
        let depth = 2 * index + 1;
        let resume = if index == 0 { "" } else { "--resume" };
        let limits = format!("--workers {workers} --max-layers {depth} {resume}");
        let ran = expect(4, &mut solve(dir.path(), &format!("{line} --engine dense {limits}")));
        assert_eq!(ran.layers(), whole[..=depth]);
        expect(0, &mut verify(dir.path()));
    }
    let line = format!("{line} --engine dense --workers 2 --resume");
    assert_eq!(expect(0, &mut solve(dir.path(), &line)).layers(), whole);
    expect(0, &mut verify(dir.path()));
}

#[test]
fn paths_lead_to_the_goal_itself() {
    for goal in ["UFR DBL UBL", "UFR2 DFL UBR DFR DBL2", "UBR"] {
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
    assert!(ran.layers().iter().all(|(_, states, .., positions)| states == positions));
}
