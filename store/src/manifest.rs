//! A job's manifest: what the job is, how far it is, and which files its checkpoint consists of.
//! Readable JSON that ends in a checksum over every byte of the file.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Result, StoreError};
use crate::format::FileKind;
use crate::fs::{Fs, write_durably};
use crate::layer::{ExpectedFile, Layer};

/// Version of the manifest's format.
pub const MANIFEST_FORMAT: u32 = 1;

const CHECKSUM_LABEL: &[u8] = b",\n  \"checksum\": \"";
const CHECKSUM_END: &[u8] = b"\"\n}\n";
const DIGITS: usize = 16;

/// A 64-bit checksum, written as 16 hexadecimal digits.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Default)]
pub struct Hex64(pub u64);

/// A 128-bit digest as two words, written as 32 hexadecimal digits, first word first.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Default)]
pub struct Hex128(pub [u64; 2]);

/// Digits as this crate writes them: the right number, no sign, no capitals.
fn parse_hex(text: &str, digits: usize) -> Option<u128> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (plain && text.len() == digits).then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

impl fmt::Display for Hex64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Hex64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hex64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = parse_hex(&text, 16).ok_or_else(|| D::Error::custom("no 16 hex digits"))?;
        Ok(Self(value as u64))
    }
}

impl fmt::Display for Hex128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}

impl fmt::Debug for Hex128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hex128 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex128 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = parse_hex(&text, 32).ok_or_else(|| D::Error::custom("no 32 hex digits"))?;
        Ok(Self([(value >> 64) as u64, value as u64]))
    }
}

/// How a job's layers are held.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// Every state is written down.
    #[default]
    Explicit,
    /// As diagrams, with digests and numbers of moves.
    Symbolic,
    /// As diagrams, without digests and numbers of moves, which take memory.
    SymbolicLean,
}

impl EngineKind {
    /// All of them.
    pub const ALL: [EngineKind; 3] =
        [EngineKind::Explicit, EngineKind::Symbolic, EngineKind::SymbolicLean];

    /// The name, as in a manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Explicit => "explicit",
            EngineKind::Symbolic => "symbolic",
            EngineKind::SymbolicLean => "symbolic-lean",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<EngineKind> {
        EngineKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether every state is written down.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        *self == EngineKind::Explicit
    }
}

/// What a job searches; two jobs of equal specification have equal results.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Name of the state space.
    pub space: String,
    /// The state space's parameters, as text.
    pub params: BTreeMap<String, String>,
    /// Number of shards.
    pub shards: u32,
    /// How its layers are held.
    #[serde(default, skip_serializing_if = "EngineKind::is_explicit")]
    pub engine: EngineKind,
}

impl JobSpec {
    /// Name, own value and the other's value of everything that differs; a parameter that one of
    /// them lacks counts as empty.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<(String, String, String)> {
        let mut pairs = vec![
            ("space".to_owned(), self.space.clone(), other.space.clone()),
            ("shards".to_owned(), self.shards.to_string(), other.shards.to_string()),
            ("engine".to_owned(), self.engine.name().to_owned(), other.engine.name().to_owned()),
        ];
        let names: std::collections::BTreeSet<_> =
            self.params.keys().chain(other.params.keys()).collect();
        let value = |spec: &Self, name| spec.params.get(name).cloned().unwrap_or_default();
        pairs.extend(
            names.into_iter().map(|name| (name.clone(), value(self, name), value(other, name))),
        );
        pairs.retain(|(_, mine, theirs)| mine != theirs);
        pairs
    }
}

/// Whether a job goes on.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process works on it, or worked on it when it was killed.
    Running,
    /// Stopped at a limit or by the user; can be resumed.
    Stopped,
    /// Finished, with a result.
    Done,
}

/// One file of a checkpoint's layer.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointFile {
    /// The layer's depth.
    pub depth: u32,
    /// The worker that wrote the file and has it.
    pub worker: u32,
    /// File name in the job's folder.
    pub file: String,
    /// Length of the file.
    pub bytes: u64,
    /// States in it.
    pub states: u64,
    /// Regions in it.
    pub regions: u64,
    /// Legal moves of the states.
    pub generated: u64,
    /// Digest of its states.
    pub digest: Hex128,
    /// The file's seal.
    pub seal: Hex64,
}

impl CheckpointFile {
    /// Describes a persisted layer file of a worker; `None` if it is in memory only.
    #[must_use]
    pub fn of(layer: &Layer, worker: u32) -> Option<Self> {
        let path = layer.path()?;
        let totals = layer.totals();
        Some(Self {
            depth: layer.header().depth,
            worker,
            file: path.file_name()?.to_str()?.to_owned(),
            bytes: layer.file_bytes(),
            states: totals.states,
            regions: totals.regions,
            generated: totals.generated,
            digest: Hex128(totals.digest),
            seal: Hex64(layer.seal()),
        })
    }

    /// What the file must be, for [`Layer::open`].
    #[must_use]
    pub fn expect<'a>(&self, job: &'a str) -> ExpectedFile<'a> {
        ExpectedFile {
            job,
            kind: FileKind::Layer,
            depth: self.depth,
            bytes: self.bytes,
            seal: self.seal.0,
        }
    }
}

/// The part of the history that a checkpoint vouches for.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryPrefix {
    /// Length in bytes.
    pub bytes: u64,
    /// Number of lines.
    pub lines: u64,
    /// xxh3-64 of these bytes.
    pub checksum: Hex64,
}

/// Sums over the whole search up to a checkpoint.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// States of all layers.
    pub states: u64,
    /// Legal moves of the states.
    pub generated: u64,
    /// Most bytes on disk at any time.
    pub disk_peak_bytes: u64,
    /// Bytes of inboxes that were spilled to disk.
    pub spilled_bytes: u64,
}

/// Where a search can go on from.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Depth of the last complete layer.
    pub depth: u32,
    /// The files of the last two layers; of one at depth 0.
    pub layers: Vec<CheckpointFile>,
    /// The history up to this layer.
    pub history: HistoryPrefix,
    /// Sums up to this layer.
    pub counters: Counters,
}

/// What a finished job found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobResult {
    /// Length of a shortest solution; none if there is no goal to be reached.
    pub moves: Option<u64>,
    /// Number of layers searched.
    pub layers: u32,
    /// States of all layers.
    pub states: u64,
    /// Legal moves of the states.
    pub generated: u64,
    /// States of the widest layer.
    pub widest: u64,
    /// Digest of all layers.
    pub digest: Hex128,
    /// Most bytes on disk at any time.
    pub disk_peak_bytes: u64,
    /// Most resident memory at any time.
    pub peak_rss_bytes: u64,
    /// Search time over all sessions.
    pub seconds: f64,
}

/// A job: what it is, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`MANIFEST_FORMAT`].
    pub format: u32,
    /// The job's id, and the name of its folder.
    pub job: String,
    /// What it searches.
    pub spec: JobSpec,
    /// Whether it goes on.
    pub state: RunState,
    /// When it was created, in seconds since 1970.
    pub created: u64,
    /// Search time over all sessions.
    pub seconds: f64,
    /// Where it can go on from; none before the first checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// What it found, once it is done.
    pub result: Option<JobResult>,
}

impl Manifest {
    /// Of a new job.
    #[must_use]
    pub fn new(job: &str, spec: JobSpec) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            format: MANIFEST_FORMAT,
            job: job.to_owned(),
            spec,
            state: RunState::Running,
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
        // What could not be read back (an infinite time, say) must not replace what can.
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
        // The checksum goes in as a last member, in place of the closing "\n}".
        bytes.truncate(bytes.len() - 2);
        bytes.extend_from_slice(CHECKSUM_LABEL);
        let digits = bytes.len();
        bytes.extend_from_slice(&[b'0'; DIGITS]);
        bytes.extend_from_slice(CHECKSUM_END);
        let checksum = Hex64(xxh3_64(&bytes)).to_string();
        bytes[digits..digits + DIGITS].copy_from_slice(checksum.as_bytes());
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
        // The file without its checksum is the manifest itself.
        let mut json = bytes[..start].to_vec();
        json.extend_from_slice(b"\n}");
        let manifest: Self = serde_json::from_slice(&json).map_err(|error| {
            let offset = offset_of(&json, error.line(), error.column());
            StoreError::corrupt(path, offset, "a manifest", error)
        })?;
        if manifest.format != MANIFEST_FORMAT {
            let expected = format!("manifest format {MANIFEST_FORMAT}");
            return Err(StoreError::corrupt(path, 0, expected, manifest.format));
        }
        Ok(manifest)
    }

    /// No file name may lead out of the job's folder.
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

    /// Names of the files in the job's folder that the checkpoint consists of.
    #[must_use]
    pub fn files(&self) -> HashSet<&str> {
        let layers = self.checkpoint.iter().flat_map(|checkpoint| &checkpoint.layers);
        layers.map(|record| record.file.as_str()).collect()
    }
}

/// Byte offset of a line and column as serde_json counts them, from 1.
pub(crate) fn offset_of(json: &[u8], line: usize, column: usize) -> u64 {
    let lines: usize =
        json.split_inclusive(|&b| b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (lines + column.saturating_sub(1)) as u64
}

/// Accepts names that stay in their folder: letters, digits, `-`, `_` and inner dots.
///
/// # Errors
/// `Name` for any other.
pub fn check_name(what: &'static str, name: &str) -> Result<()> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if plain && !name.is_empty() && !name.starts_with('.') && name.len() <= 200 {
        Ok(())
    } else {
        Err(StoreError::Name { what, name: name.to_owned() })
    }
}
