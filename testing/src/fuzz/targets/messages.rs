//! Fuzz target for messages: the codec, and the conversion to the types of other crates.
//!
//! An input is the number of a message type and an encoded message with its checksum.

use std::fmt::Debug;

use prost::{Message, Name};
use strata_proto::net::convert;
use strata_proto::{codec, v1};
use strata_space::MODULI;
use strata_store::LocalWidth;
use strata_store::check_name;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Length in bytes of the checksum's field: key and checksum.
pub(super) const FIELD: usize = 10;

/// A type of message.
struct Type {
    name: &'static str,
    check: fn(&[u8]) -> Result<Outcome, Finding>,
}

macro_rules! types {
    ($($name:ident),* $(,)?) => {
        /// All message types.
        const TYPES: &[Type] = &[
            $(Type { name: v1::$name::NAME, check: |bytes| check_type::<v1::$name>(bytes, |_| Ok(())) },)*
            Type { name: v1::Digest::NAME, check: |bytes| check_type(bytes, digest) },
            Type { name: v1::JobSpec::NAME, check: |bytes| check_type(bytes, spec) },
            Type { name: v1::LayerFile::NAME, check: |bytes| check_type(bytes, file) },
            Type { name: v1::LayerReport::NAME, check: |bytes| check_type(bytes, report) },
            Type { name: v1::LayerRecord::NAME, check: |bytes| check_type(bytes, layer) },
            Type { name: v1::Candidate::NAME, check: |bytes| check_type(bytes, candidate) },
            Type { name: v1::Prepare::NAME, check: |bytes| check_type(bytes, prepare) },
            Type { name: v1::DenseNumbering::NAME, check: |bytes| check_type(bytes, numbering) },
        ];
    };
}

types! {
    KeepLayers, Found, FromWorker, Hello, WorkerBeat, ToWorker, Welcome, CoordinatorBeat, Order, Peer,
    CheckRequest, CheckPart, ListFileRequest, StatesPart, VerifyPart, ListStatesRequest,
    Seed, Restore, Advance, Save, Saved, Release, Answer, LayerReports, SavedFiles, Noted, Failure, Batch, LayerEnd,
    CarriedExits, Greeting, Refusal, Reply, BlockRange,
    FetchRequest, FileChunk, FindRequest, JobOptions, SubmitRequest, JobRef, ListRequest, ListPart,
    Job, JobResult, WatchRequest, JobEvent, CheckpointDone, RolledBack, LogsRequest, LogLine, LogField,
    LayerRef, LookUpRequest, LayerPart, LayersPart, WorkersRequest, WorkersReply, WorkerInfo,
    LayerRange, ListHeldJobs, HeldJobs, RemoveJobs, RemovedJobs, RemovedJob, CollectRequest,
    CollectPart, UnknownJob, EngineNeeds, PathPart, PathProgress, PathPositions, FindPathRequest,
    Machine,
}

type Checked = Result<(), String>;

fn ensure(holds: bool, what: impl Debug) -> Checked {
    if holds { Ok(()) } else { Err(format!("{what:?}")) }
}

/// Decodes a message, encodes and decodes it again, and converts it.
fn check_type<T>(bytes: &[u8], convert: fn(T) -> Checked) -> Result<Outcome, Finding>
where
    T: Message + Name + Default + Clone + PartialEq + Debug,
{
    let message: T = match codec::decode(bytes.to_vec().into()) {
        Ok(message) => message,
        Err(status) => return Ok(Outcome::refused(status.message())),
    };
    let (content, field) = bytes.split_at(bytes.len() - FIELD);
    let sum = xxh3_64_with_seed(content, xxh3_64(T::NAME.as_bytes()));
    if field[2..] != sum.to_le_bytes() {
        return Err("accepted with a wrong checksum".to_owned());
    }
    let again: T = codec::decode(codec::encode(&message).into())
        .map_err(|status| format!("encoded, but {}", status.message()))?;
    // NaN does not equal itself, so messages with it are not compared.
    let text = format!("{message:?}");
    if again != message && !text.contains("NaN") {
        return Err(format!("{text} was read back as {again:?}"));
    }
    match convert(message) {
        Ok(()) => Ok(Outcome::Accepted),
        Err(why) if why.starts_with("refused: ") => Ok(Outcome::Refused(why)),
        Err(why) => Err(why),
    }
}

fn refused(error: convert::ConvertError) -> String {
    format!("refused: {error}")
}

fn digest(message: v1::Digest) -> Checked {
    let digest = convert::digest_from(Some(message)).map_err(refused)?;
    ensure(digest.0.iter().zip(MODULI).all(|(word, modulus)| *word < modulus), digest)?;
    ensure(convert::digest_to(digest) == message, (message, digest))
}

fn spec(message: v1::JobSpec) -> Checked {
    let spec = convert::spec_from(Some(message)).map_err(refused)?;
    let again = convert::spec_from(Some(convert::spec_to(&spec)));
    ensure(again.as_ref() == Ok(&spec), (spec, again))
}

fn file(message: v1::LayerFile) -> Checked {
    let kept = convert::kept_from(message.clone()).map_err(refused)?;
    ensure(check_name("file", &kept.file).is_ok(), &kept)?;
    let again = convert::kept_from(convert::kept_to(&kept, message.depth));
    ensure(again.as_ref() == Ok(&kept), (kept, again))?;
    let file = convert::file_from(message.clone()).map_err(refused)?;
    ensure(convert::file_to(&file) == message, (message, file))
}

fn report(message: v1::LayerReport) -> Checked {
    let part = convert::part_from(&message).map_err(refused)?;
    // Sums over the largest number of workers must not overflow.
    let sums = [part.states, part.positions, part.generated, part.bytes];
    ensure(sums.iter().all(|count| count.checked_mul(4096).is_some()), part)
}

fn layer(message: v1::LayerRecord) -> Checked {
    let layer = convert::layer_from(message).map_err(refused)?;
    ensure(convert::layer_to(&layer) == message, (message, layer))
}

fn candidate(message: v1::Candidate) -> Checked {
    let candidate = convert::candidate_from(&message);
    ensure(convert::candidate_to(candidate) == message, message)
}

fn prepare(message: v1::Prepare) -> Checked {
    let spec = convert::spec_from(message.spec).map_err(refused)?;
    let given = message.owners.clone();
    let owners = convert::owners_from(message.owners, spec.shards).map_err(refused)?;
    ensure(owners.iter().map(|owner| u32::from(*owner)).eq(given.iter().copied()), given)
}

fn numbering(message: v1::DenseNumbering) -> Checked {
    let numbering = convert::numbering_from(message).map_err(refused)?;
    ensure(convert::numbering_to(&numbering) == message, (message, numbering))
}

/// A message's type and its bytes.
type Filled = (&'static str, Vec<u8>);

fn one<T: Message + Name>(message: T) -> Filled {
    (T::NAME, codec::encode(&message))
}

fn a_digest() -> Option<v1::Digest> {
    Some(v1::Digest { first: 5, second: 1 << 60 })
}

fn a_spec() -> Option<v1::JobSpec> {
    Some(v1::JobSpec {
        space: "hanoi".to_owned(),
        parameters: [("discs".to_owned(), "4".to_owned())].into(),
        shards: 4,
        engine: "explicit".to_owned(),
    })
}

fn a_file() -> v1::LayerFile {
    v1::LayerFile {
        depth: 7,
        worker: 1,
        file: "layer-000007-001.strata".to_owned(),
        bytes: 4000,
        states: 70,
        positions: 140,
        regions: 9,
        generated: 200,
        digest: a_digest(),
        seal: 1 << 63,
    }
}

fn a_layer() -> v1::LayerRecord {
    v1::LayerRecord {
        depth: 7,
        states: 70,
        positions: 140,
        orbits: Some(35),
        generated: 200,
        regions: 9,
        bytes: 4000,
        digest: a_digest(),
        seconds: 0.25,
        read_bytes: 3000,
        written_bytes: 4500,
        memo_hits: 90,
        memo_misses: 10,
        memo_miss_seconds: 0.125,
    }
}

fn options() -> v1::JobOptions {
    let keep = Some(v1::KeepLayers { which: Some(v1::keep_layers::Which::Every(3)) });
    v1::JobOptions { max_layers: Some(9), keep, ..v1::JobOptions::default() }
}

/// Messages of many types, with values as in a cluster.
pub(super) fn filled() -> Vec<Filled> {
    [between_nodes(), answers(), of_clients()].concat()
}

/// Orders, and messages between workers.
fn between_nodes() -> Vec<Filled> {
    let prepare = v1::Prepare {
        job: "hanoi-4-3-abcdef".to_owned(),
        spec: a_spec(),
        owners: vec![0, 1, 0, 1],
        peers: vec![v1::Peer { number: 1, address: "http://127.0.0.1:7001".to_owned() }],
        keep: options().keep,
        files: vec![a_file().file],
        kept_layers: vec![v1::LayerRange { first: 3, count: 2, step: 3 }],
        last_depth: Some(9),
        columns: 2,
    };
    let restore = v1::Restore {
        depth: 7,
        files: vec![a_file()],
        owners: vec![0, 1, 0, 1],
        kept: vec!["layer-000002-000-1.strata".to_owned()],
        kept_layers: vec![v1::LayerRange { first: 3, count: 2, step: 3 }],
    };
    let order = |what| v1::Order { epoch: 3, number: 2, what: Some(what), incarnation: 8 };
    let advance = order(v1::order::What::Advance(v1::Advance {
        depth: 8,
        last: 9,
        time_ms: 500,
        least_states: 0,
        most_states: u64::MAX,
        files: vec![a_file()],
    }));
    let run = super::run::seeds(LocalWidth::One).swap_remove(0).into();
    let candidate =
        v1::Candidate { shard: 1, region_high: 2, region_low: 3, local: 4, local_high: 5 };
    let (job, file) = ("a".to_owned(), Some(a_file()));
    vec![
        one(order(v1::order::What::Prepare(prepare.clone()))),
        one(order(v1::order::What::Restore(restore.clone()))),
        one(prepare),
        one(restore),
        one(v1::ToWorker { message: Some(v1::to_worker::Message::Order(advance)) }),
        one(v1::Batch {
            epoch: 3,
            from: 1,
            sequence: 1,
            depth: 7,
            run,
            incarnation: 8,
            end: Some(v1::LayerEnd {
                states: 9,
                ends_window: true,
                of_row: true,
                carried: vec![v1::CarriedExits { from: 2, to: 1, run: vec![7].into(), direct: 5 }],
                learned: vec![vec![8].into()],
            }),
            wants_receipt: true,
        }),
        one(candidate),
        one(v1::FindRequest {
            job: job.clone(),
            file: file.clone(),
            candidates: vec![candidate],
            numbering: Some(NUMBERING),
        }),
        one(NUMBERING),
        one(v1::FetchRequest { job, file, blocks: vec![v1::BlockRange { first: 7, end: 90 }] }),
    ]
}

/// Messages of a worker to the coordinator.
fn answers() -> Vec<Filled> {
    let report = v1::LayerReport {
        layer: Some(v1::LayerRecord { orbits: None, ..a_layer() }),
        kept: Some(a_file()),
        ..v1::LayerReport::default()
    };
    let reports = v1::LayerReports { layers: vec![report.clone()] };
    let outcome = Some(v1::answer::Outcome::Layers(reports));
    let answer = v1::Answer { epoch: 3, order: 2, outcome, incarnation: 8 };
    let hello = v1::Hello {
        protocol: 2,
        version: "0.1.0".to_owned(),
        worker_id: "0123456789abcdef".repeat(2),
        instance: "fedcba9876543210".repeat(2),
        name: "w".to_owned(),
        address: "http://127.0.0.1:7001".to_owned(),
        threads: 2,
        memory_bytes: 1 << 30,
        machine: Some(v1::Machine { id: "0123".to_owned(), processors: 8 }),
        ..v1::Hello::default()
    };
    vec![
        one(a_digest().unwrap_or_default()),
        one(a_file()),
        one(report),
        one(v1::FromWorker { message: Some(v1::from_worker::Message::Answer(answer.clone())) }),
        one(answer),
        one(v1::Failure { kind: 2, message: "the disk is full".to_owned() }),
        one(v1::SavedFiles { depth: 7, files: vec![a_file(), a_file()], peak_rss_bytes: 1 << 26 }),
        one(hello),
    ]
}

const NUMBERING: v1::DenseNumbering =
    v1::DenseNumbering { blocks: 100, rows: 12, lanes: 60, fingerprint: 7 };

fn needs() -> v1::EngineNeeds {
    v1::EngineNeeds { settings: vec!["shards".to_owned(), "keep_layers".to_owned()] }
}

/// Messages between clients and the coordinator.
fn of_clients() -> Vec<Filled> {
    let (spec, options) = (a_spec(), Some(options()));
    let job = v1::Job { id: "a".to_owned(), spec: spec.clone(), options, ..v1::Job::default() };
    let layer = Some(v1::LayerRef { job: "a".to_owned(), depth: 7 });
    let candidates =
        vec![v1::Candidate { shard: 1, region_high: 2, region_low: 3, local: 4, local_high: 5 }];
    vec![
        one(a_layer()),
        one(spec.clone().unwrap_or_default()),
        one(v1::SubmitRequest {
            spec,
            options,
            name: "a".to_owned(),
            auto: Some(needs()),
            again: true,
            dry_run: true,
        }),
        one(options.unwrap_or_default()),
        one(v1::LookUpRequest { layer, candidates, numbering: Some(NUMBERING) }),
        one(v1::JobEvent { event: Some(v1::job_event::Event::Layer(a_layer())) }),
        one(v1::ListPart { jobs: vec![job.clone()] }),
        one(job),
    ]
}

/// Appends the checksum for the type `name` to a message without one.
pub(super) fn reseal(name: &str, content: &mut Vec<u8>) {
    let sum = xxh3_64_with_seed(content, xxh3_64(name.as_bytes()));
    let key = codec::FIELD << 3 | 1;
    content.extend([key as u8 | 0x80, (key >> 7) as u8]);
    content.extend(sum.to_le_bytes());
}

/// Changes the fields of an encoded message: their values, their order and their number.
pub(super) fn mutate_fields(content: &mut Vec<u8>, other: &[u8], rng: &mut Rng, depth: u32) {
    let Some(mut fields) = fields(content).filter(|fields| !fields.is_empty() && !rng.once_in(6))
    else {
        mutate::bytes(content, other, rng);
        return;
    };
    for _ in 0..mutate::changes(rng).min(3) {
        let at = rng.below(fields.len());
        match rng.below(8) {
            0 => drop(fields.remove(at)),
            1 => {
                let copied = fields[at].clone();
                fields.insert(rng.below(fields.len() + 1), copied);
            }
            2 => fields[at].key = fields[at].key.wrapping_add(rng.edge(3) << rng.below(4)),
            _ => change_value(&mut fields[at], other, rng, depth),
        }
        if fields.is_empty() {
            break;
        }
    }
    content.clear();
    fields.iter().for_each(|field| field.write(content));
}

/// A field of a message. The key's lowest three bits are the type of its value.
#[derive(Clone, Debug)]
struct Field {
    key: u64,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Number(u64),
    Fixed(Vec<u8>),
    Bytes(Vec<u8>),
}

fn change_value(field: &mut Field, other: &[u8], rng: &mut Rng, depth: u32) {
    match &mut field.value {
        Value::Number(number) => {
            *number = match rng.below(3) {
                0 => number.wrapping_add(rng.bits() % 5).wrapping_sub(2),
                _ => rng.edge(*number as usize),
            };
        }
        Value::Fixed(bytes) => mutate::number(bytes, rng),
        Value::Bytes(bytes) => {
            let nested = depth < 5 && fields(bytes).is_some_and(|fields| !fields.is_empty());
            match rng.below(5) {
                0 => *bytes = vec![b'a'; rng.edge(64).min(70_000) as usize],
                1 | 2 => mutate::text(
                    bytes,
                    other,
                    &["..", "/", "http://", "hanoi", "panex", "exhaust"],
                    rng,
                ),
                _ if nested => mutate_fields(bytes, other, rng, depth + 1),
                _ => mutate::bytes(bytes, other, rng),
            }
        }
    }
}

fn fields(mut rest: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let key = prost::encoding::decode_varint(&mut rest).ok()?;
        let value = match key & 7 {
            0 => Value::Number(prost::encoding::decode_varint(&mut rest).ok()?),
            kind @ (1 | 5) => {
                let (value, after) = rest.split_at_checked(if kind == 1 { 8 } else { 4 })?;
                rest = after;
                Value::Fixed(value.to_vec())
            }
            2 => {
                let len = usize::try_from(prost::encoding::decode_varint(&mut rest).ok()?).ok()?;
                let (value, after) = rest.split_at_checked(len)?;
                rest = after;
                Value::Bytes(value.to_vec())
            }
            _ => return None,
        };
        fields.push(Field { key, value });
    }
    Some(fields)
}

impl Field {
    fn write(&self, out: &mut Vec<u8>) {
        prost::encoding::encode_varint(self.key, out);
        match &self.value {
            Value::Number(number) => prost::encoding::encode_varint(*number, out),
            Value::Fixed(bytes) => out.extend(bytes),
            Value::Bytes(bytes) => {
                prost::encoding::encode_varint(bytes.len() as u64, out);
                out.extend(bytes);
            }
        }
    }
}

/// Messages of all types.
pub(super) struct Messages;

impl Target for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let filled = filled().into_iter().filter_map(|(name, bytes)| {
            let number = TYPES.iter().position(|known| known.name == name)?;
            Some([&[number as u8], &*bytes].concat())
        });
        // An empty message is valid for every type; some types cannot be converted then.
        let empty = (0..).zip(TYPES).map(|(number, kind)| {
            let mut bytes = Vec::new();
            reseal(kind.name, &mut bytes);
            ((kind.check)(&bytes) == Ok(Outcome::Accepted)).then(|| [&[number], &*bytes].concat())
        });
        filled.chain(empty.flatten()).collect()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let Some((&number, bytes)) = input.split_first() else { return };
        let mut number = usize::from(number) % TYPES.len();
        if rng.once_in(8) {
            number = rng.below(TYPES.len());
        }
        let mut bytes = bytes.to_vec();
        if rng.once_in(6) {
            mutate::bytes(&mut bytes, other, rng);
        } else {
            bytes.truncate(bytes.len().saturating_sub(FIELD));
            mutate_fields(&mut bytes, other, rng, 0);
            bytes.truncate(mutate::MAX_LEN);
            reseal(TYPES[number].name, &mut bytes);
        }
        *input = [&[number as u8], &*bytes].concat();
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let Some((&number, bytes)) = input.split_first() else {
            return Ok(Outcome::refused("too short"));
        };
        let kind = &TYPES[usize::from(number) % TYPES.len()];
        match (kind.check)(bytes) {
            Ok(Outcome::Refused(why)) => Ok(Outcome::Refused(format!("{}: {why}", kind.name))),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_message_of_the_protocol_is_a_fuzzed_type() {
        let mut defined = BTreeSet::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/v1");
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let names = text.lines().filter_map(|line| line.strip_prefix("message "));
            defined.extend(names.map(|name| name.trim_end_matches([' ', '{', '}']).to_owned()));
        }
        let types: BTreeSet<String> = TYPES.iter().map(|kind| kind.name.to_owned()).collect();
        assert_eq!(types, defined);
        assert_eq!(types.len(), TYPES.len());
    }
}
