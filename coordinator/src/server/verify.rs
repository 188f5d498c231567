//! Verification of a job's files by the workers that have them, and lists of states from these
//! files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use strata_proto::net::{Pace, Security, convert};
use strata_proto::v1;
use strata_run::Totals;
use strata_store::LayerRecord;
use tokio::task::JoinSet;
use tonic::Status;

use super::layers::{LONGEST_WAIT, LayerFiles, Worker, in_pace, in_time};
use super::reader::JobReader;
use super::status::blocking;
use super::streams::{MessageSender, send};
use crate::cluster::context::Cluster;
use crate::entry::{ClusterCheckpoint, JobEntry};

/// Number of layers whose kept files are checked together.
const LAYERS: u32 = 256;

/// Most files in one request to a worker.
const FILES: usize = 256;

/// How often a running job may replace the checkpoint that is being checked.
const ATTEMPTS: u32 = 100;

/// A check of a job's files.
pub(super) struct Verification {
    pub(super) reader: JobReader,
    pub(super) security: Security,
    pub(super) entry: JobEntry,
    pub(super) parts: MessageSender<v1::VerifyPart>,
}

impl Verification {
    /// Checks the kept layers, then the checkpoint.
    ///
    /// # Errors
    /// `DATA_LOSS` at the first damage; `UNAVAILABLE` if a worker cannot be reached; the status of the
    /// journal's error.
    pub(super) async fn run(mut self) -> Result<(), Status> {
        let mut sums = None::<Totals>;
        let mut from = 0;
        loop {
            let lines = self.lines(from..from.saturating_add(LAYERS)).await?;
            let Some(last) = lines.last() else { break };
            from = last.depth + 1;
            lines.iter().for_each(|line| sums.get_or_insert_default().add(line));
            let with_files = lines.iter().filter(|line| !line.kept.is_empty());
            let files = with_files
                .clone()
                .flat_map(|line| line.kept.iter().map(|kept| convert::kept_to(kept, line.depth)));
            let found = self.check(files.collect()).await?;
            for line in with_files {
                check_layer(line.depth, Some(line), &found).map_err(Status::data_loss)?;
            }
        }
        check_sums(&self.entry, sums.as_ref()).map_err(Status::data_loss)?;
        self.checkpoint().await
    }

    /// Checks the files of the last checkpoint. If a running job makes a newer checkpoint
    /// meanwhile, which removes these files, the newer one is checked.
    async fn checkpoint(&mut self) -> Result<(), Status> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let Some(checkpoint) = self.entry.checkpoint.clone() else { return Ok(()) };
            let checked = self.checkpoint_files(&checkpoint).await;
            let Err(status) = checked else { return Ok(()) };
            self.entry = self.reader.find(self.entry.id.clone()).await?;
            if self.entry.checkpoint.as_ref() == Some(&checkpoint) {
                return Err(status);
            }
            last = Some(status);
        }
        let last = last.as_ref().map_or("", |status| status.message());
        let text = format!(
            "job {} has replaced the checkpoint {ATTEMPTS} times while it was being checked (the last \
             time: {last}); verify it again with a longer `checkpoint_interval`, or when it has ended",
            self.entry.id
        );
        Err(Status::unavailable(text))
    }

    async fn checkpoint_files(&self, checkpoint: &ClusterCheckpoint) -> Result<(), Status> {
        let records: Vec<v1::LayerFile> = checkpoint.records.iter().map(convert::file_to).collect();
        let found = self.check(records.clone()).await?;
        for (record, found) in records.iter().zip(&found) {
            if record != found {
                let v1::LayerFile { file, .. } = record;
                let text = format!("{file}: the journal has {record:?}, the file {found:?}");
                return Err(Status::data_loss(text));
            }
        }
        let layers = checkpoint.records.iter().filter(|record| !record.is_older());
        let mut depths: Vec<u32> = layers.map(|record| record.depth).collect();
        depths.dedup();
        for depth in depths {
            let lines = self.lines(depth..depth.saturating_add(1)).await?;
            check_layer(depth, lines.first(), &found).map_err(Status::data_loss)?;
        }
        Ok(())
    }

    async fn lines(&self, depths: Range<u32>) -> Result<Vec<LayerRecord>, Status> {
        let (cluster, id) = (Arc::clone(&self.reader.cluster), self.entry.id.clone());
        let platform = self.reader.cluster.platform();
        blocking(platform, move || cluster.journal.layers_between(&id, depths)).await
    }

    /// Makes the workers check files, all at the same time. Returns the files with the counts and
    /// digests found, in the given order.
    async fn check(&self, files: Vec<v1::LayerFile>) -> Result<Vec<v1::LayerFile>, Status> {
        let mut by_worker: BTreeMap<u32, Vec<(usize, v1::LayerFile)>> = BTreeMap::new();
        for (at, file) in files.iter().enumerate() {
            by_worker.entry(file.worker).or_default().push((at, file.clone()));
        }
        let mut checks = JoinSet::new();
        for files in by_worker.into_values() {
            let (cluster, security) = (Arc::clone(&self.reader.cluster), self.security.clone());
            let (entry, parts) = (self.entry.clone(), self.parts.clone());
            checks.spawn(check_at_worker(cluster, security, entry, files, parts));
        }
        let mut found = files;
        while let Some(checked) = checks.join_next().await {
            let checked = checked.map_err(|error| Status::internal(error.to_string()))?;
            for (at, file) in checked? {
                found[at] = file;
            }
        }
        Ok(found)
    }
}

/// Makes the worker that has some files check them, and sends each one to the client. Returns the
/// files with the counts and digests found.
async fn check_at_worker(
    cluster: Arc<Cluster>,
    security: Security,
    entry: JobEntry,
    files: Vec<(usize, v1::LayerFile)>,
    parts: MessageSender<v1::VerifyPart>,
) -> Result<Vec<(usize, v1::LayerFile)>, Status> {
    let mut found = Vec::with_capacity(files.len());
    for files in files.chunks(FILES) {
        let Some((_, first)) = files.first() else { break };
        let mut worker = Worker::connect(first, &cluster.membership, &security).await?;
        let request = v1::CheckRequest {
            job: entry.id.clone(),
            spec: Some(convert::spec_to(&entry.spec)),
            files: files.iter().map(|(_, file)| file.clone()).collect(),
        };
        let replies = in_time(&worker.name, worker.client.check(request)).await?;
        let mut replies = replies.into_inner();
        for (at, asked) in files {
            let file = loop {
                match in_time(&worker.name, replies.message()).await? {
                    Some(v1::CheckPart { file: Some(file) }) => break file,
                    // The worker is still reading the file.
                    Some(v1::CheckPart { file: None }) => {}
                    None => {
                        let text = format!("worker {}: no reply about {}", worker.name, asked.file);
                        return Err(Status::unavailable(text));
                    }
                }
            };
            if (&file.file, file.depth, file.worker) != (&asked.file, asked.depth, asked.worker) {
                let text = format!("worker {}: a reply about {}", worker.name, file.file);
                return Err(Status::unavailable(text));
            }
            let part = v1::VerifyPart { worker: worker.name.clone(), file: Some(file.clone()) };
            if !send(&parts, part).await {
                return Err(Status::cancelled("the client is gone"));
            }
            found.push((*at, file));
        }
    }
    Ok(found)
}

/// Compares the files of a layer with its line in the journal. A layer without states has no line.
fn check_layer(
    depth: u32,
    line: Option<&LayerRecord>,
    files: &[v1::LayerFile],
) -> Result<(), String> {
    let mut found = [0_u64; 4];
    let mut digest = strata_space::Digest::ZERO;
    for file in files.iter().filter(|file| file.depth == depth) {
        let counts = [file.states, file.positions, file.regions, file.generated];
        for (sum, count) in found.iter_mut().zip(counts) {
            *sum = sum.saturating_add(count);
        }
        let part = convert::digest_from(file.digest).map_err(|error| error.to_string())?;
        digest += part;
    }
    let expected = line.map_or(([0; 4], [0; 2]), |line| {
        ([line.states, line.positions, line.regions, line.generated], line.digest.0)
    });
    if (found, digest.0) == expected {
        return Ok(());
    }
    Err(format!(
        "layer {depth}: its files have [states, positions, regions, moves] {found:?} and the digest \
         {:?}, the journal {:?} and {:?}",
        digest.0, expected.0, expected.1
    ))
}

/// Compares the sums over the journal's layers with those of the job and its result. A job that has
/// not ended passes: it may have more layers by now.
fn check_sums(entry: &JobEntry, sums: Option<&Totals>) -> Result<(), String> {
    let recorded = entry.progress.as_ref();
    let figures = |totals: Option<&Totals>| {
        totals.map(|t| (t.depth, t.states, t.positions, t.generated, t.digest))
    };
    let (found, expected) = (figures(sums), figures(recorded));
    let states = sums.map_or(0, |sums| sums.states);
    let result = entry.result.as_ref().map_or(states, |result| result.states);
    if !entry.state.has_ended() || (found == expected && result == states) {
        return Ok(());
    }
    Err(format!(
        "the journal's layers have [depth, states, positions, moves, digest] {found:?}, the job \
         {expected:?}, its result {result} states"
    ))
}

/// Sends states of a layer.
///
/// # Errors
/// Those of [`LayerFiles::of_ended_or_kept`]; `DATA_LOSS` for a damaged file, `UNAVAILABLE` if a worker
/// cannot be reached.
pub(super) async fn list_states(
    cluster: Arc<Cluster>,
    security: Security,
    (entry, line, depth): (JobEntry, Option<LayerRecord>, u32),
    sample: Option<u64>,
    parts: MessageSender<v1::StatesPart>,
) -> Result<(), Status> {
    let files = LayerFiles::of_ended_or_kept(&entry, line.as_ref(), depth)?;
    let total = line.map_or(0, |line| line.states);
    if !send(&parts, v1::StatesPart { total, states: Vec::new() }).await || sample == Some(0) {
        return Ok(());
    }
    let step = sample.map_or(1, |number| total.div_ceil(number.max(1)).max(1));
    let mut skip = 0;
    for file in files.into_files() {
        let mut worker = Worker::connect(&file, &cluster.membership, &security).await?;
        let request = v1::ListFileRequest {
            job: entry.id.clone(),
            spec: Some(convert::spec_to(&entry.spec)),
            file: Some(file),
            skip,
            step,
        };
        let mut pace = Pace::new(LONGEST_WAIT, 1, "states");
        let replies = in_pace(&worker.name, &pace, worker.client.list_file(request)).await?;
        let mut replies = replies.into_inner();
        let mut states = None;
        while let Some(part) = in_pace(&worker.name, &pace, replies.message()).await? {
            states.get_or_insert(part.total);
            let part = v1::StatesPart { total: 0, ..part };
            let listed = part.states.len() as u64;
            if listed > 0 && !pace.exclude(send(&parts, part)).await {
                return Ok(());
            }
            pace.count(listed);
        }
        skip = skip_after(skip, step, states.unwrap_or(0));
    }
    Ok(())
}

/// The index of the first listed state in the next file, after one with `states` states.
fn skip_after(skip: u64, step: u64, states: u64) -> u64 {
    match states.checked_sub(skip) {
        // No state of that file was listed.
        None | Some(0) => skip - states,
        Some(rest) => (step - rest % step) % step,
    }
}

#[cfg(test)]
mod tests {
    use strata_store::Weight;

    use super::*;

    fn line() -> LayerRecord {
        LayerRecord {
            depth: 7,
            states: 30,
            positions: 60,
            generated: 90,
            regions: 3,
            bytes: 100,
            digest: Weight([4, 6]),
            seconds: 1.0,
            ..LayerRecord::default()
        }
    }

    fn file(worker: u32, states: u64) -> v1::LayerFile {
        v1::LayerFile {
            depth: 7,
            worker,
            file: format!("layer-000007-{worker:03}.strata"),
            states,
            positions: 2 * states,
            generated: 3 * states,
            regions: states / 10,
            digest: Some(v1::Digest { first: states / 10 + 1 - u64::from(worker), second: 3 }),
            ..v1::LayerFile::default()
        }
    }

    #[test]
    fn the_files_of_a_layer_have_its_counts_and_digest() {
        let files = [file(0, 10), file(1, 20), v1::LayerFile { depth: 6, ..file(2, 50) }];
        assert_eq!(check_layer(7, Some(&line()), &files), Ok(()));
        assert!(check_layer(7, Some(&line()), &files[..1]).unwrap_err().starts_with("layer 7: "));
        let other = LayerRecord { digest: Weight([4, 7]), ..line() };
        assert!(check_layer(7, Some(&other), &files).is_err());
        // The last layer of a whole space has no states and no line.
        assert!(check_layer(8, None, &[v1::LayerFile { depth: 8, ..file(0, 10) }]).is_err());
        let digest = Some(v1::Digest::default());
        let empty = v1::LayerFile { digest, depth: 8, ..v1::LayerFile::default() };
        assert_eq!(check_layer(8, None, &[empty]), Ok(()));
    }

    #[test]
    fn sampled_states_are_evenly_spaced_across_files() {
        // All indices that are listed over files of these sizes.
        let listed = |step: u64, files: &[u64]| {
            let (mut skip, mut start, mut all) = (0, 0, Vec::new());
            for states in files {
                all.extend((skip..*states).step_by(step as usize).map(|at| start + at));
                skip = skip_after(skip, step, *states);
                start += states;
            }
            all
        };
        for step in 1..9 {
            for files in [&[5, 0, 1, 7][..], &[1, 1, 1, 1, 1], &[0, 20], &[8, 8, 3]] {
                let total: u64 = files.iter().sum();
                let expected: Vec<u64> = (0..total).step_by(step as usize).collect();
                assert_eq!(listed(step, files), expected, "{step} {files:?}");
            }
        }
    }
}
