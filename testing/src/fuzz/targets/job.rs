//! Fuzz target for job folders with changed manifests and histories: folders that verification
//! accepts are consistent.
//!
//! An input is the number of a job (1 byte), the length of the manifest (4 bytes), the manifest and
//! the history. The other files of the folder are those of the job with that number.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata_run::catalogue::Registry;
use strata_run::verify;
use strata_store::{HistoryPrefix, JobDir, Manifest, RealFs, check_name};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::job_files::{a_number, mutate_json, record_history, replace_all, reseal_manifest};
use super::support::{must, scratch};
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Folders of jobs.
pub(super) struct Jobs {
    /// Manifest and history of each job, as they were written.
    files: Vec<[Vec<u8>; 2]>,
    dirs: Vec<PathBuf>,
    _folder: TempDir,
}

/// Jobs of searches, in `corpus/jobs`: Hanoi with 3 discs, done, and stopped with two workers that
/// keep all layers; Panex 2 with the symbolic engine; LX with 4 tokens, a directed graph, stopped.
const JOBS: [&str; 4] = ["hanoi-3-3-t2yqlz", "hanoi-3-3-oshp6k", "panex-2-oou2me", "lx-4-3ywwwd"];

impl Jobs {
    pub(super) fn new() -> Jobs {
        let folder = scratch();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/jobs");
        let dirs: Vec<PathBuf> = JOBS.iter().map(|job| folder.path().join(job)).collect();
        for (job, dir) in JOBS.iter().zip(&dirs) {
            must(std::fs::create_dir(dir));
            for file in must(std::fs::read_dir(from.join(job))) {
                let file = must(file);
                must(std::fs::copy(file.path(), dir.join(file.file_name())));
            }
        }
        let read = |dir: &PathBuf| {
            ["manifest.json", "history.jsonl"].map(|name| must(std::fs::read(dir.join(name))))
        };
        Jobs { files: dirs.iter().map(read).collect(), dirs, _folder: folder }
    }
}

fn join(number: u8, manifest: &[u8], history: &[u8]) -> Vec<u8> {
    let len = (manifest.len() as u32).to_le_bytes();
    [&[number], &len[..], manifest, history].concat()
}

/// Splits an input into number, manifest and history.
fn split(input: &[u8]) -> Option<(u8, Vec<u8>, Vec<u8>)> {
    let (&[number, a, b, c, d], rest) = input.split_first_chunk()?;
    let len = u32::from_le_bytes([a, b, c, d]) as usize;
    let (manifest, history) = rest.split_at_checked(len)?;
    Some((number, manifest.to_vec(), history.to_vec()))
}

/// Checks a history that was accepted with the recorded prefix.
fn check_history(job: &JobDir, prefix: &HistoryPrefix, history: &[u8]) -> Result<(), Finding> {
    let Ok(view) = job.read_history(Some(prefix)) else { return Ok(()) };
    let durable = history.get(..prefix.bytes as usize).ok_or("a prefix longer than the file")?;
    if xxh3_64(durable) != prefix.checksum.0 {
        return Err("a prefix with another checksum".to_owned());
    }
    if view.lines.len() - view.after_checkpoint != prefix.lines as usize {
        return Err(format!("{} lines, {prefix:?}", view.lines.len()));
    }
    for file in view.lines.iter().flat_map(|line| &line.kept) {
        if check_name("file", &file.file).is_err() {
            return Err(format!("it names {:?}", file.file));
        }
    }
    let resumed = job.resume_history(prefix).map_err(|error| format!("resumed: {error}"))?;
    let (mut history, lines) = resumed;
    if lines[..] != view.lines[..lines.len()] {
        return Err("other lines when resumed".to_owned());
    }
    for line in &view.lines[lines.len()..] {
        history.append(line).map_err(|error| error.to_string())?;
    }
    history.flush().map_err(|error| error.to_string())?;
    let again = job.read_history(Some(prefix)).map_err(|error| format!("written, but {error}"))?;
    if again == view { Ok(()) } else { Err(format!("{view:?} was read back as {again:?}")) }
}

impl Jobs {
    fn verify(&self, job: &JobDir, manifest: &Manifest) -> Result<Outcome, Finding> {
        let Manifest { spec, checkpoint, .. } = manifest;
        let history = match strata_run::read_history(job, manifest) {
            Ok(history) => history,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        let sum = history.lines().iter().try_fold(0_u64, |sum, line| sum.checked_add(line.states));
        if sum != Some(history.totals().states) {
            return Err(format!("{} states in total, {sum:?}", history.totals().states));
        }
        // The parameters of a space are another target.
        let own = self.files.iter().any(|[original, _]| {
            serde_json::from_slice::<serde_json::Value>(original)
                .is_ok_and(|original| original["spec"] == serde_json::json!(spec))
        });
        if !own {
            return Ok(Outcome::refused("another specification"));
        }
        let space = must(Registry::shipped().open(&spec.space, &spec.params));
        if let Err(error) = verify::verify(job, manifest.clone(), space) {
            return Ok(Outcome::refused(error));
        }
        // Verification has read the files again: their figures are right.
        let last = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.layers.len());
        if last == 0 && manifest.result.is_some() {
            return Err("a result without files".to_owned());
        }
        Ok(Outcome::Accepted)
    }
}

impl Target for Jobs {
    fn name(&self) -> &'static str {
        "job"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let files = (0..).zip(&self.files);
        files.map(|(number, [manifest, history])| join(number, manifest, history)).collect()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let Some((number, mut manifest, mut history)) = split(input) else { return };
        match rng.below(6) {
            0 => mutate::bytes(&mut history, other, rng),
            1 => mutate_json(&mut history, other, rng),
            2 => mutate_json(&mut manifest, other, rng),
            _ => {
                for _ in 0..mutate::changes(rng) {
                    if let Some((from, to)) = a_number(&history, rng) {
                        replace_all(&mut history, &from, &to, rng);
                        replace_all(&mut manifest, &from, &to, rng);
                    }
                }
            }
        }
        if !rng.once_in(8) {
            record_history(&mut manifest, &history);
        }
        if !rng.once_in(20) {
            reseal_manifest(&mut manifest);
        }
        *input = join(number, &manifest, &history);
        input.truncate(mutate::MAX_LEN);
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let Some((number, manifest, history)) = split(input) else {
            return Ok(Outcome::refused("too short"));
        };
        let dir = &self.dirs[usize::from(number) % self.dirs.len()];
        must(std::fs::write(dir.join("manifest.json"), manifest));
        must(std::fs::write(dir.join("history.jsonl"), &history));
        let (job, manifest) = match JobDir::open(Arc::new(RealFs), dir) {
            Ok(opened) => opened,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        if let Some(checkpoint) = &manifest.checkpoint {
            check_history(&job, &checkpoint.history, &history)?;
            must(std::fs::write(dir.join("history.jsonl"), &history));
        }
        self.verify(&job, &manifest)
    }

    fn memory(&self, _: usize) -> usize {
        256 << 20
    }

    fn test_runs(&self) -> u64 {
        400
    }
}
