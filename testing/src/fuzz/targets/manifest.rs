//! Fuzz target for manifests: an accepted manifest names only files of the folder, and is read back
//! the same after it is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_store::{
    Checkpoint, CheckpointFile, Counters, EngineKind, Hex64, HistoryPrefix, JobDir, JobResult,
    JobSpec, Manifest, RealFs, RunState, Weight, check_name,
};
use tempfile::TempDir;

use super::job_files::{checksum_of, mutate_json, reseal_manifest};
use super::support::{must, scratch};
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

const JOB: &str = "job-1";

/// Manifests.
pub(super) struct Manifests {
    seeds: Vec<Vec<u8>>,
    folder: TempDir,
}

fn spec(engine: EngineKind) -> JobSpec {
    let params = [("level", "3"), ("start", "b1 b2 b3 / - / o1 o2 o3")];
    JobSpec {
        space: "panex".to_owned(),
        params: params.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
        shards: 64,
        engine,
    }
}

fn seeds(folder: &TempDir) -> Vec<Vec<u8>> {
    let file = |depth, worker| CheckpointFile {
        depth,
        worker,
        file: format!("layer-{depth:06}-{worker:03}.strata"),
        bytes: 1000 + u64::from(depth),
        states: 77,
        positions: 77,
        regions: 7,
        generated: 300,
        digest: Weight([3, 4]),
        seal: Hex64(0x1234_5678_9abc_def0),
    };
    let new = Manifest { created: 1_700_000_000, ..Manifest::new(JOB, spec(EngineKind::Symbolic)) };
    let checkpoint = Checkpoint {
        depth: 21,
        layers: vec![file(20, 0), file(20, 1), file(21, 0), file(21, 1)],
        history: HistoryPrefix { bytes: 1234, lines: 22, checksum: Hex64(9) },
        counters: Counters {
            states: 999,
            positions: 999,
            generated: 3000,
            disk_peak_bytes: 1 << 40,
            spilled_bytes: 0,
        },
    };
    let stopped = Manifest {
        state: RunState::Stopped,
        seconds: 0.1 + 0.2,
        checkpoint: Some(checkpoint),
        spec: JobSpec { params: BTreeMap::new(), ..spec(EngineKind::Explicit) },
        ..new.clone()
    };
    let result = JobResult {
        moves: Some(42),
        layers: 21,
        states: 999,
        positions: 999,
        orbits: Some(333),
        generated: 3000,
        widest: 90,
        digest: Weight([5, 6]),
        disk_peak_bytes: 1 << 40,
        peak_rss_bytes: 1 << 30,
        seconds: 123.456_789_012_345_6,
    };
    let done = Manifest { state: RunState::Done, result: Some(result), ..stopped.clone() };
    let write = |manifest: &Manifest| {
        let job = must(JobDir::attach(Arc::new(RealFs), folder.path(), JOB));
        must(job.write_manifest(manifest));
        must(std::fs::read(job.path().join("manifest.json")))
    };
    [new, stopped, done].iter().map(write).collect()
}

impl Manifests {
    pub(super) fn new() -> Manifests {
        let folder = scratch();
        Manifests { seeds: seeds(&folder), folder }
    }

    /// Opens the folder with a manifest.
    fn open(&self, manifest: &[u8]) -> Result<(JobDir, Manifest), String> {
        let folder = self.folder.path().join(JOB);
        must(std::fs::write(folder.join("manifest.json"), manifest));
        JobDir::open(Arc::new(RealFs), &folder).map_err(|error| error.to_string())
    }
}

impl Target for Manifests {
    fn name(&self) -> &'static str {
        "manifest"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        self.seeds.clone()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        if rng.once_in(5) {
            mutate::bytes(input, other, rng);
        } else {
            mutate_json(input, other, rng);
        }
        if !rng.once_in(5) {
            reseal_manifest(input);
        }
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let (job, manifest) = match self.open(input) {
            Ok(opened) => opened,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        let same = self.seeds.iter().find(|seed| checksum_of(seed) == checksum_of(input));
        if same.is_some_and(|seed| seed != input) {
            return Err("another manifest with the checksum of a valid one".to_owned());
        }
        let outside = manifest.files().into_iter().find(|name| check_name("file", name).is_err());
        if let Some(name) = outside {
            return Err(format!("it names {name:?}"));
        }
        if manifest.job != job.job() {
            return Err(format!("the manifest of {:?} in the folder of {JOB}", manifest.job));
        }
        // Written as the store writes it, without the sync.
        let mut written = must(serde_json::to_vec_pretty(&manifest));
        reseal_manifest(&mut written);
        let again = self.open(&written).map_err(|error| format!("written, but {error}"))?.1;
        if again != manifest {
            return Err(format!("{manifest:?} was read back as {again:?}"));
        }
        Ok(Outcome::Accepted)
    }
}
