//! Conversion between messages and the types of other crates.
//!
//! A message may come from anyone with the token, or from a node of another version. Every value is
//! checked before it is used. An optional field is an `Option`, as in the generated code.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::v1;
use strata_space::dense::DenseState;
use strata_space::{Digest, MODULI};
use strata_store::check_name;
use strata_store::{
    CheckpointFile, DenseNumbering, EngineKind, EntryKey, Hex64, JobSpec, KeptFile, LayerRecord,
};

use crate::net::limits;
use crate::net::text::shortened;

/// A message has an impossible value.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct ConvertError {
    /// The field, as in the protocol's files.
    pub field: &'static str,
    /// The cause.
    pub why: String,
}

impl ConvertError {
    /// An error in a field.
    pub fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into() }
    }
}

/// A digest as a message.
#[must_use]
pub fn digest_to(digest: Digest) -> v1::Digest {
    let [first, second] = digest.0;
    v1::Digest { first, second }
}

/// A digest from a message.
///
/// # Errors
/// If the digest is missing, or a residue is not below its modulus.
pub fn digest_from(digest: Option<v1::Digest>) -> Result<Digest, ConvertError> {
    let v1::Digest { first, second } =
        digest.ok_or_else(|| ConvertError::new("digest", "it is missing"))?;
    for (residue, modulus) in [first, second].into_iter().zip(MODULI) {
        // Sums of larger values would be silently wrong.
        if residue >= modulus {
            let why = format!("{residue} is not a residue modulo {modulus}");
            return Err(ConvertError::new("digest", why));
        }
    }
    Ok(strata_space::Weight([first, second]))
}

/// A job's specification as a message.
#[must_use]
pub fn spec_to(spec: &JobSpec) -> v1::JobSpec {
    v1::JobSpec {
        space: spec.space.clone(),
        parameters: spec.params.clone().into_iter().collect(),
        shards: spec.shards,
        engine: spec.engine.name().to_owned(),
    }
}

/// A job's specification from a message. The catalogue checks later that the space exists and takes
/// the parameters. `shards` may be 0, the default in a request.
///
/// # Errors
/// If the specification is missing, there are too many parameters, a name has other characters than
/// `a-z`, `0-9`, `_` and `-`, a value has control characters, a name or value is too long, or the
/// engine is unknown.
pub fn spec_from(spec: Option<v1::JobSpec>) -> Result<JobSpec, ConvertError> {
    let v1::JobSpec { space, parameters, shards, engine } =
        spec.ok_or_else(|| ConvertError::new("spec", "it is missing"))?;
    check_word("space", &space)?;
    if parameters.len() > limits::PARAMETERS {
        let why = format!("{} are more than {}", parameters.len(), limits::PARAMETERS);
        return Err(ConvertError::new("parameters", why));
    }
    for (name, value) in &parameters {
        check_word("parameters", name)?;
        if value.len() > limits::PARAMETER_LEN {
            let why = format!("{name} has more than {} bytes", limits::PARAMETER_LEN);
            return Err(ConvertError::new("parameters", why));
        }
        // Values appear in messages and logs.
        if value.contains(char::is_control) {
            let why = format!("{name} has control characters: {:?}", shortened(value));
            return Err(ConvertError::new("parameters", why));
        }
    }
    let params: BTreeMap<_, _> = parameters.into_iter().collect();
    let engine = match &*engine {
        "" => EngineKind::Explicit,
        name => EngineKind::find(name).ok_or_else(|| {
            let known = EngineKind::ALL.map(EngineKind::name).join(", ");
            let name = shortened(name);
            ConvertError::new("engine", format!("{name:?} is none (there are {known})"))
        })?,
    };
    Ok(JobSpec { space, params, shards, engine })
}

/// A layer file of a checkpoint as a message.
#[must_use]
pub fn file_to(record: &CheckpointFile) -> v1::LayerFile {
    v1::LayerFile {
        depth: record.depth,
        worker: record.worker,
        file: record.file.clone(),
        bytes: record.bytes,
        states: record.states,
        positions: record.positions,
        regions: record.regions,
        generated: record.generated,
        digest: Some(digest_to(record.digest)),
        seal: record.seal.0,
    }
}

/// A layer file of a checkpoint from a message.
///
/// # Errors
/// If the name could lead out of the job's folder, the worker's number or a count is impossible, or
/// the digest is missing or invalid.
pub fn file_from(file: v1::LayerFile) -> Result<CheckpointFile, ConvertError> {
    check_file(&file)?;
    let counts =
        [("states", file.states), ("positions", file.positions), ("generated", file.generated)];
    check_counts(limits::PART_COUNT, &counts)?;
    check_regions(file.regions, file.states)?;
    check_positions(file.positions, file.states)?;
    Ok(CheckpointFile {
        depth: file.depth,
        worker: file.worker,
        digest: digest_from(file.digest)?,
        file: file.file,
        bytes: file.bytes,
        states: file.states,
        positions: file.positions,
        regions: file.regions,
        generated: file.generated,
        seal: Hex64(file.seal),
    })
}

/// A kept file of the layer at a depth as a message, without counts and digest: the history has
/// those by layer.
#[must_use]
pub fn kept_to(kept: &KeptFile, depth: u32) -> v1::LayerFile {
    v1::LayerFile {
        depth,
        worker: kept.worker,
        file: kept.file.clone(),
        bytes: kept.bytes,
        seal: kept.seal.0,
        ..v1::LayerFile::default()
    }
}

/// A kept file from a message. Depth, counts and digest are ignored.
///
/// # Errors
/// If the name could lead out of the job's folder, or the worker's number or the length is
/// impossible.
pub fn kept_from(file: v1::LayerFile) -> Result<KeptFile, ConvertError> {
    check_file(&file)?;
    let v1::LayerFile { worker, file, bytes, seal, .. } = file;
    Ok(KeptFile { worker, file, bytes, seal: Hex64(seal) })
}

/// A region's key and a local as a message.
#[must_use]
pub fn candidate_to((key, local): (EntryKey, u128)) -> v1::Candidate {
    let EntryKey { shard, region } = key;
    let (region_high, region_low) = ((region >> 64) as u64, region as u64);
    let (local_high, local) = ((local >> 64) as u64, local as u64);
    v1::Candidate { shard, region_high, region_low, local, local_high }
}

/// A region's key and a local from a message.
#[must_use]
pub fn candidate_from(candidate: &v1::Candidate) -> (EntryKey, u128) {
    let v1::Candidate { shard, region_high, region_low, local, local_high } = *candidate;
    let local = u128::from(local_high) << 64 | u128::from(local);
    let region = u128::from(region_high) << 64 | u128::from(region_low);
    (EntryKey { shard, region }, local)
}

/// A state of a dense space as a message.
#[must_use]
pub fn dense_candidate_to(state: DenseState) -> v1::Candidate {
    let DenseState { block, row, lane } = state;
    let local = u64::from(row) << 6 | u64::from(lane);
    v1::Candidate { region_low: block.into(), local, ..v1::Candidate::default() }
}

/// A state of a dense space from a message.
///
/// # Errors
/// If the shard or a high half is not 0, or the block or the row is too large.
pub fn dense_candidate_from(candidate: &v1::Candidate) -> Result<DenseState, ConvertError> {
    let v1::Candidate { shard, region_high, region_low, local, local_high } = *candidate;
    let (block, row) = (u32::try_from(region_low), u16::try_from(local >> 6));
    match (shard, region_high | local_high, block, row) {
        (0, 0, Ok(block), Ok(row)) => Ok(DenseState { block, row, lane: (local & 63) as u8 }),
        _ => Err(ConvertError::new("candidates", "a state is none of a dense space")),
    }
}

/// A numbering of dense states as a message.
#[must_use]
pub fn numbering_to(numbering: &DenseNumbering) -> v1::DenseNumbering {
    let DenseNumbering { blocks, rows, lanes, fingerprint } = *numbering;
    v1::DenseNumbering { blocks, rows, lanes, fingerprint }
}

/// A numbering of dense states from a message.
///
/// # Errors
/// If there are no rows or more than 65,536, or no lanes or more than 64.
pub fn numbering_from(numbering: v1::DenseNumbering) -> Result<DenseNumbering, ConvertError> {
    let v1::DenseNumbering { blocks, rows, lanes, fingerprint } = numbering;
    if !(1..=1 << 16).contains(&rows) || !(1..=64).contains(&lanes) {
        let why = format!("{rows} rows of {lanes} lanes");
        return Err(ConvertError::new("numbering", why));
    }
    Ok(DenseNumbering { blocks, rows, lanes, fingerprint })
}

/// Figures of a layer, or of a worker's part of it, as a message, without kept files.
#[must_use]
pub fn layer_to(layer: &LayerRecord) -> v1::LayerRecord {
    v1::LayerRecord {
        depth: layer.depth,
        states: layer.states,
        positions: layer.positions,
        orbits: layer.orbits,
        generated: layer.generated,
        regions: layer.regions,
        bytes: layer.bytes,
        digest: Some(digest_to(layer.digest)),
        seconds: layer.seconds,
        read_bytes: layer.read_bytes,
        written_bytes: layer.written_bytes,
        memo_hits: layer.memo_hits,
        memo_misses: layer.memo_misses,
        memo_miss_seconds: layer.memo_miss_seconds,
    }
}

/// Figures of a layer from a message, without kept files.
///
/// # Errors
/// If a count or the time is impossible, or the digest is missing or invalid.
pub fn layer_from(layer: v1::LayerRecord) -> Result<LayerRecord, ConvertError> {
    figures(layer, limits::LAYER_COUNT)
}

/// Figures of a worker's part of a layer from its report.
///
/// # Errors
/// If the figures are missing, a count or a length is impossible, or the digest is missing or invalid.
pub fn part_from(report: &v1::LayerReport) -> Result<LayerRecord, ConvertError> {
    let layer = report.layer.ok_or_else(|| ConvertError::new("layer", "it is missing"))?;
    let counts = [
        ("fixed", report.fixed),
        ("disk_peak_bytes", report.disk_peak_bytes),
        ("disk_left_bytes", report.disk_left_bytes),
        ("spilled_bytes", report.spilled_bytes),
    ];
    check_counts(limits::PART_COUNT, &counts)?;
    if report.symmetries == 0 && report.fixed > 0 {
        return Err(ConvertError::new("fixed", format!("{} of no symmetries", report.fixed)));
    }
    figures(layer, limits::PART_COUNT)
}

/// Figures from a message; counts must be below `limit`.
fn figures(layer: v1::LayerRecord, limit: u64) -> Result<LayerRecord, ConvertError> {
    let v1::LayerRecord { depth, states, positions, orbits, generated, regions, bytes, .. } = layer;
    let v1::LayerRecord { digest, seconds, read_bytes, written_bytes, .. } = layer;
    let v1::LayerRecord { memo_hits, memo_misses, memo_miss_seconds, .. } = layer;
    let counts = [
        ("states", states),
        ("positions", positions),
        ("generated", generated),
        ("bytes", bytes),
        ("read_bytes", read_bytes),
        ("written_bytes", written_bytes),
        ("memo_hits", memo_hits),
        ("memo_misses", memo_misses),
    ];
    check_counts(limit, &counts)?;
    check_regions(regions, states)?;
    check_positions(positions, states)?;
    if let Some(orbits) = orbits.filter(|orbits| *orbits > states) {
        return Err(ConvertError::new("orbits", format!("{orbits} of {states} states")));
    }
    for (name, time) in [("seconds", seconds), ("memo_miss_seconds", memo_miss_seconds)] {
        if !time.is_finite() || time < 0.0 {
            return Err(ConvertError::new(name, format!("{time} is no time")));
        }
    }
    let digest = digest_from(digest)?;
    Ok(LayerRecord {
        depth,
        states,
        positions,
        orbits,
        generated,
        regions,
        bytes,
        digest,
        seconds,
        read_bytes,
        written_bytes,
        memo_hits,
        memo_misses,
        memo_miss_seconds,
        kept: Vec::new(),
    })
}

/// Owners of a job's shards from a message, by shard.
///
/// # Errors
/// If there is not one owner for each of `shards` shards, or one is not a worker's number.
pub fn owners_from(owners: Vec<u32>, shards: u32) -> Result<Arc<[u16]>, ConvertError> {
    if shards == 0 || owners.len() as u64 != u64::from(shards) {
        let why = format!("{} workers for {shards} shards", owners.len());
        return Err(ConvertError::new("owners", why));
    }
    let owner = |number: u32| {
        check_worker("owners", number)?;
        u16::try_from(number).map_err(|error| ConvertError::new("owners", error.to_string()))
    };
    owners.into_iter().map(owner).collect()
}

/// Checks the worker, the length and the name of a file.
fn check_file(file: &v1::LayerFile) -> Result<(), ConvertError> {
    check_worker("worker", file.worker)?;
    check_counts(limits::PART_COUNT, &[("bytes", file.bytes)])?;
    check_name("file name", &file.file)
        .map_err(|error| ConvertError::new("file", error.to_string()))
}

fn check_worker(field: &'static str, number: u32) -> Result<(), ConvertError> {
    if number < limits::WORKERS {
        Ok(())
    } else {
        let why = format!("{number} is no worker's number: they are below {}", limits::WORKERS);
        Err(ConvertError::new(field, why))
    }
}

fn check_counts(limit: u64, counts: &[(&'static str, u64)]) -> Result<(), ConvertError> {
    match counts.iter().find(|(_, count)| *count >= limit) {
        None => Ok(()),
        Some((field, count)) => {
            Err(ConvertError::new(field, format!("{count} is not below {limit}")))
        }
    }
}

/// Checks that each region has at least one state, and that there are regions if there are states.
fn check_regions(regions: u64, states: u64) -> Result<(), ConvertError> {
    if regions <= states && (regions > 0 || states == 0) {
        Ok(())
    } else {
        Err(ConvertError::new("regions", format!("{regions} regions with {states} states")))
    }
}

/// Checks that there are no positions without states. Whether a state may stand for no position
/// depends on the space; the plan checks that.
fn check_positions(positions: u64, states: u64) -> Result<(), ConvertError> {
    if positions == 0 || states > 0 {
        Ok(())
    } else {
        Err(ConvertError::new("positions", format!("{positions} positions of {states} states")))
    }
}

/// Checks the name of a space or a parameter.
fn check_word(field: &'static str, word: &str) -> Result<(), ConvertError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
    if word.is_empty() {
        Err(ConvertError::new(field, "a name is missing"))
    } else if word.len() > limits::NAME_LEN {
        let why = format!("a name has more than {} bytes", limits::NAME_LEN);
        Err(ConvertError::new(field, why))
    } else if !word.bytes().all(plain) {
        Err(ConvertError::new(field, format!("{word:?} has other characters than a-z, 0-9, _, -")))
    } else {
        Ok(())
    }
}
