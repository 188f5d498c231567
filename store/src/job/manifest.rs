//! The manifest of a job: specification, state, checkpoint and result.
//!
//! The manifest is readable JSON. Its last member is a checksum over every byte of the file, with the
//! digits of the checksum itself taken as zeros.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use strata_space::Digest;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Result, StoreError};
use crate::fs::durable::write_durably;
use crate::fs::file_system::Fs;
use crate::hex::Hex64;
use crate::job::checkpoint::Checkpoint;
use crate::job::spec::JobSpec;
use crate::name::check_name;

/// Name of the manifest in the job's folder.
pub(crate) const MANIFEST_FILE: &str = "manifest.json";

/// Version of the manifest format.
const MANIFEST_FORMAT: u32 = 1;

const CHECKSUM_LABEL: &[u8] = b",\n  \"checksum\": \"";
const CHECKSUM_END: &[u8] = b"\"\n}\n";
const DIGITS: usize = 16;

/// The state of a job in its manifest. The queue of a cluster also records whether a job waits, and why
/// it ended early.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process runs the job, or was killed while it ran the job.
    Running,
    /// The job was stopped by a limit or by the user, and can be resumed.
    Stopped,
    /// The job is finished and has a result.
    Done,
}

/// The result of a finished job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobResult {
    /// Length of a shortest solution; `None` if the space has no goal or cannot reach it.
    pub moves: Option<u64>,
    /// The greatest depth with states.
    pub layers: u32,
    /// States of all layers.
    pub states: u64,
    /// Positions that they stand for; 0 if they are not counted.
    pub positions: u64,
    /// Number of orbits of the positions under the symmetries, as the dense engine counts them; None
    /// unless they were counted in all layers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orbits: Option<u64>,
    /// Number of legal moves of the states.
    pub generated: u64,
    /// States of the widest layer.
    pub widest: u64,
    /// Digest of all layers.
    pub digest: Digest,
    /// Peak of the bytes on disk.
    pub disk_peak_bytes: u64,
    /// Peak of the resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Search time over all sessions, in seconds.
    pub seconds: f64,
}

/// Resources of the last run of a job. The next run uses them as defaults. Limits are not among them: a
/// limit holds for one run only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSettings {
    /// Number of threads of each worker.
    pub threads: u32,
    /// Number of workers in the process.
    pub workers: u32,
    /// Memory budget in bytes.
    pub memory: u64,
    /// Milliseconds between checkpoints.
    pub checkpoint_interval_ms: u64,
    /// The layers kept on disk: `all`, `last` or `every:K`.
    pub keep_layers: String,
}

/// The content of a job's manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the format, 1.
    pub format: u32,
    /// The job's id, which is also the name of its folder.
    pub job: String,
    /// Specification of the search.
    pub spec: JobSpec,
    /// State of the job.
    pub state: RunState,
    /// Settings of its last run; `None` in a manifest without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSettings>,
    /// When the job was created, in seconds since 1970.
    pub created: u64,
    /// Search time over all sessions, in seconds.
    pub seconds: f64,
    /// The last checkpoint; `None` before the first.
    pub checkpoint: Option<Checkpoint>,
    /// The result, once the job is done.
    pub result: Option<JobResult>,
}

impl Manifest {
    /// The manifest of a new job.
    #[must_use]
    pub fn new(job: &str, spec: JobSpec) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            format: MANIFEST_FORMAT,
            job: job.to_owned(),
            spec,
            state: RunState::Running,
            run: None,
            created: now.map_or(0, |now| now.as_secs()),
            seconds: 0.0,
            checkpoint: None,
            result: None,
        }
    }

    /// Replaces the file at `path` durably and atomically.
    pub(crate) fn write(&self, fs: &dyn Fs, path: &Path) -> Result<()> {
        self.check_names(path)?;
        let bytes = self.to_bytes(path)?;
        // A manifest that cannot be read back, for instance with an infinite time, must not replace the
        // old one.
        Self::from_bytes(path, &bytes)?;
        write_durably(fs, path, &bytes)
    }

    /// Reads and checks the file at `path`, which must be the manifest of `job`.
    pub(crate) fn read(fs: &dyn Fs, path: &Path, job: &str) -> Result<Self> {
        let bytes = fs.read(path).map_err(StoreError::io("read", path))?;
        let manifest = Self::from_bytes(path, &bytes)?;
        if manifest.job != job {
            let expected = format!("the manifest of job {job:?}");
            let found = format!("{:?}", manifest.job);
            return Err(StoreError::corrupt(path, 0, expected, found));
        }
        manifest.check_names(path)?;
        Ok(manifest)
    }

    fn to_bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| StoreError::io("write", path)(error.into()))?;
        add_checksum(&mut bytes);
        Ok(bytes)
    }

    fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let tail = CHECKSUM_LABEL.len() + DIGITS + CHECKSUM_END.len();
        let start = bytes.len().saturating_sub(tail);
        let digits = start + CHECKSUM_LABEL.len();
        let framed = bytes.len() >= tail
            && bytes[start..].starts_with(CHECKSUM_LABEL)
            && bytes.ends_with(CHECKSUM_END);
        if !framed {
            let found = String::from_utf8_lossy(&bytes[start..]).into_owned();
            let expected = "the member \"checksum\" at the end";
            return Err(StoreError::corrupt(path, start as u64, expected, format!("{found:?}")));
        }
        let mut zeroed = bytes.to_vec();
        zeroed[digits..digits + DIGITS].fill(b'0');
        let computed = Hex64(xxh3_64(&zeroed)).to_string();
        if bytes[digits..digits + DIGITS] != *computed.as_bytes() {
            let found = String::from_utf8_lossy(&bytes[digits..digits + DIGITS]).into_owned();
            let expected = format!("checksum {computed} (computed over the file)");
            return Err(StoreError::corrupt(path, digits as u64, expected, found));
        }
        // Without the checksum, the rest of the file is the manifest.
        let mut json = bytes[..start].to_vec();
        json.extend_from_slice(b"\n}");
        let malformed = |error: serde_json::Error| {
            let offset = offset_of(&json, error.line(), error.column());
            StoreError::corrupt(path, offset, "a manifest", error)
        };
        // Other formats have other fields, so the version is checked first.
        let Version { format } = serde_json::from_slice(&json).map_err(malformed)?;
        if format != MANIFEST_FORMAT {
            let expected = format!("manifest format {MANIFEST_FORMAT}");
            let found = format!("format {format} of another version of Strata");
            return Err(StoreError::corrupt(path, 0, expected, found));
        }
        serde_json::from_slice(&json).map_err(malformed)
    }

    /// Checks that all file names are plain names, which stay in the job's folder.
    fn check_names(&self, path: &Path) -> Result<()> {
        check_name("job id", &self.job)?;
        let layers = self.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers);
        for record in layers {
            if check_name("file name", &record.file).is_err() {
                let found = format!("{:?}", record.file);
                return Err(StoreError::corrupt(path, 0, "a plain file name", found));
            }
        }
        Ok(())
    }

    /// Names of the checkpoint's files in the job's folder.
    #[must_use]
    pub fn files(&self) -> HashSet<&str> {
        let layers = self.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers);
        layers.map(|record| record.file.as_str()).collect()
    }
}

/// The part of a manifest that all formats have.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Adds the checksum of a JSON object that ends in "\n}", as its last member.
fn add_checksum(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() - 2);
    bytes.extend_from_slice(CHECKSUM_LABEL);
    let digits = bytes.len();
    bytes.extend_from_slice(&[b'0'; DIGITS]);
    bytes.extend_from_slice(CHECKSUM_END);
    let checksum = Hex64(xxh3_64(bytes)).to_string();
    bytes[digits..digits + DIGITS].copy_from_slice(checksum.as_bytes());
}

/// Byte offset of a line and column as serde_json counts them, from 1.
pub(crate) fn offset_of(json: &[u8], line: usize, column: usize) -> u64 {
    let lines: usize =
        json.split_inclusive(|&b| b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (lines + column.saturating_sub(1)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_another_manifest_format_names_the_format() {
        // It lacks the fields of this format.
        let mut bytes = b"{\n  \"format\": 2,\n  \"layers\": []\n}".to_vec();
        add_checksum(&mut bytes);
        let error = Manifest::from_bytes(Path::new("manifest.json"), &bytes).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("manifest format 1"), "{text}");
        assert!(text.contains("format 2 of another version of Strata"), "{text}");
    }
}
