//! Tests of message conversion: round trips, every refusal, and arbitrary messages.

use std::collections::{BTreeMap, HashMap};

use proptest::collection::{btree_map, hash_map, vec};
use proptest::prelude::*;
use prost::Message;
use strata_proto::net::{convert, limits};
use strata_proto::v1;
use strata_space::{MODULI, Weight};
use strata_store::{CheckpointFile, EngineKind, EntryKey, Hex64, JobSpec, KeptFile, LayerRecord};

/// A message after encoding and decoding.
fn round_trip<M: Message + Default>(message: &M) -> M {
    M::decode(&message.encode_to_vec()[..]).unwrap()
}

fn digest() -> impl Strategy<Value = [u64; 2]> {
    (0..MODULI[0], 0..MODULI[1]).prop_map(|(first, second)| [first, second])
}

fn word(len: usize) -> impl Strategy<Value = String> {
    vec(prop::sample::select(b"abcxyz0189_-".to_vec()), 1..=len)
        .prop_map(|bytes| String::from_utf8(bytes).unwrap())
}

fn spec() -> impl Strategy<Value = JobSpec> {
    let value = vec(prop::sample::select(vec!['a', 'Z', ' ', '7', 'é', '/', '"']), 0..60)
        .prop_map(|chars| chars.into_iter().collect::<String>());
    let params = btree_map(word(limits::NAME_LEN), value, 0..=limits::PARAMETERS);
    (word(limits::NAME_LEN), params, any::<u32>()).prop_map(|(space, params, shards)| JobSpec {
        space,
        params,
        shards,
        engine: EngineKind::Explicit,
    })
}

/// States and no more regions than states.
fn sizes(limit: u64) -> impl Strategy<Value = (u64, u64)> {
    (0..limit, any::<u64>())
        .prop_map(|(states, seed)| (states, if states == 0 { 0 } else { 1 + seed % states }))
}

fn record() -> impl Strategy<Value = CheckpointFile> {
    let counts = (sizes(limits::PART_COUNT / 3), 0..limits::PART_COUNT, 0..limits::PART_COUNT);
    let rest = (any::<u32>(), 0..limits::WORKERS, word(128), digest(), any::<u64>());
    (counts, rest).prop_map(|(((states, regions), generated, bytes), rest)| {
        let (depth, worker, file, digest, seal) = rest;
        let (digest, seal) = (Weight(digest), Hex64(seal));
        CheckpointFile {
            depth,
            worker,
            file,
            bytes,
            states,
            positions: 3 * states,
            regions,
            generated,
            digest,
            seal,
        }
    })
}

fn layer() -> impl Strategy<Value = LayerRecord> {
    let counts = (sizes(limits::LAYER_COUNT / 3), 0..limits::LAYER_COUNT, 0..limits::LAYER_COUNT);
    (any::<u32>(), counts, digest(), 0.0..1e12f64).prop_map(
        |(depth, ((states, regions), generated, bytes), digest, seconds)| {
            let digest = Weight(digest);
            LayerRecord {
                depth,
                states,
                positions: 3 * states,
                orbits: (depth % 2 == 0).then_some(states),
                generated,
                regions,
                bytes,
                digest,
                seconds,
                read_bytes: bytes / 2,
                written_bytes: bytes / 3,
                memo_hits: bytes / 4,
                memo_misses: bytes / 5,
                memo_miss_seconds: seconds / 2.0,
                kept: Vec::new(),
            }
        },
    )
}

proptest! {
    #[test]
    fn digests_survive_a_round_trip(residues in digest()) {
        let digest = Weight(residues);
        let message = convert::digest_to(digest);
        prop_assert_eq!(convert::digest_from(Some(round_trip(&message))), Ok(digest));
    }

    #[test]
    fn specifications_survive_a_round_trip(spec in spec()) {
        let message = round_trip(&convert::spec_to(&spec));
        prop_assert_eq!(convert::spec_from(Some(message)), Ok(spec));
    }

    #[test]
    fn candidates_survive_a_round_trip(shard: u32, region: u128, local: u128) {
        let candidate = (EntryKey { shard, region }, local);
        let message = round_trip(&convert::candidate_to(candidate));
        prop_assert_eq!(convert::candidate_from(&message), candidate);
    }

    #[test]
    fn checkpoint_files_survive_a_round_trip(record in record()) {
        let message = round_trip(&convert::file_to(&record));
        prop_assert_eq!(convert::file_from(message), Ok(record));
    }

    #[test]
    fn kept_files_survive_a_round_trip(record in record()) {
        let CheckpointFile { depth, worker, file, bytes, seal, .. } = record;
        let kept = KeptFile { worker, file, bytes, seal };
        let message = round_trip(&convert::kept_to(&kept, depth));
        prop_assert_eq!(message.depth, depth);
        prop_assert_eq!(convert::kept_from(message), Ok(kept));
    }

    #[test]
    fn layers_survive_a_round_trip(layer in layer()) {
        let message = round_trip(&convert::layer_to(&layer));
        prop_assert_eq!(convert::layer_from(message), Ok(layer));
    }

    #[test]
    fn owners_are_converted_in_order(owners in vec(0..limits::WORKERS, 1..200)) {
        let converted = convert::owners_from(owners.clone(), owners.len() as u32).unwrap();
        let numbers: Vec<u32> = converted.iter().map(|&owner| u32::from(owner)).collect();
        prop_assert_eq!(numbers, owners);
    }

    /// An arbitrary message is accepted or refused without a panic. An accepted one converts back
    /// to itself.
    #[test]
    fn arbitrary_messages_are_accepted_or_refused(
        numbers in prop::array::uniform8(prop_oneof![0..9u64, any::<u64>()]),
        worker in prop_oneof![0..9u32, any::<u32>()],
        name in prop_oneof![word(9), any::<String>()],
        digest in prop::option::of(prop::array::uniform2(prop_oneof![0..9u64, any::<u64>()])),
        seconds in any::<f64>(),
        parameters in hash_map(any::<String>(), any::<String>(), 0..4),
        owners in vec(any::<u32>(), 0..4),
    ) {
        let [depth, bytes, states, regions, generated, seal, shards, positions] = numbers;
        let (depth, shards) = (depth as u32, shards as u32);
        let digest = digest.map(|[first, second]| v1::Digest { first, second });
        let file = v1::LayerFile {
            depth, worker, file: name.clone(), bytes, states, positions, regions, generated, digest, seal,
        };
        if let Ok(record) = convert::file_from(file.clone()) {
            prop_assert_eq!(convert::file_to(&record), file.clone());
        }
        if let Ok(kept) = convert::kept_from(file) {
            prop_assert!(!kept.file.contains('/') && !kept.file.starts_with('.'));
        }
        let layer = v1::LayerRecord {
            depth, states, positions, orbits: Some(regions), generated, regions, bytes, digest, seconds,
            read_bytes: bytes, written_bytes: generated, memo_hits: generated, memo_misses: regions,
            memo_miss_seconds: seconds,
        };
        if let Ok(accepted) = convert::layer_from(layer) {
            prop_assert_eq!(convert::layer_to(&accepted), layer);
        }
        let spec = v1::JobSpec { space: name, parameters, shards, engine: "symbolic".into() };
        if let Ok(accepted) = convert::spec_from(Some(spec.clone())) {
            prop_assert_eq!(convert::spec_to(&accepted), spec);
        }
        let _ = convert::owners_from(owners, shards);
    }

    /// Conversion does not panic on messages decoded from arbitrary bytes.
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = v1::LayerFile::decode(&bytes[..]).map(convert::file_from);
        let _ = v1::LayerFile::decode(&bytes[..]).map(convert::kept_from);
        let _ = v1::LayerRecord::decode(&bytes[..]).map(convert::layer_from);
        let _ = v1::JobSpec::decode(&bytes[..]).map(|spec| convert::spec_from(Some(spec)));
    }

    /// Valid messages with a few damaged bytes, which pass more checks than random bytes.
    #[test]
    fn damaged_messages_do_not_panic(
        record in record(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = convert::file_to(&record).encode_to_vec();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(file) = v1::LayerFile::decode(&bytes[..]) {
            let _ = convert::file_from(file);
        }
    }
}

fn good_file() -> v1::LayerFile {
    v1::LayerFile {
        depth: 3,
        worker: 1,
        file: "layer-000003-001.strata".into(),
        bytes: 4096,
        states: 10,
        positions: 10,
        regions: 2,
        generated: 30,
        digest: Some(v1::Digest { first: 1, second: 2 }),
        seal: 7,
    }
}

/// The error of converting a valid file message after one change.
fn refused(change: impl FnOnce(&mut v1::LayerFile)) -> String {
    let mut file = good_file();
    change(&mut file);
    convert::file_from(file).unwrap_err().to_string()
}

#[test]
fn impossible_files_are_refused_by_field() {
    assert!(convert::file_from(good_file()).is_ok());
    let names =
        ["", ".", "..", ".hidden", "a/b", "/etc/passwd", "..\\x", "a b", "a\0b", "é", "a\n"];
    for name in names.into_iter().chain([&*"x".repeat(201)]) {
        assert!(refused(|file| file.file = name.into()).starts_with("file: "), "{name:?}");
        let file = v1::LayerFile { file: name.into(), ..good_file() };
        assert_eq!(convert::kept_from(file).unwrap_err().field, "file");
    }
    assert!(refused(|file| file.worker = limits::WORKERS).starts_with("worker: 4096 "));
    assert!(refused(|file| file.bytes = limits::PART_COUNT).starts_with("bytes: "));
    assert!(refused(|file| file.states = u64::MAX).starts_with("states: "));
    assert!(refused(|file| file.generated = u64::MAX).starts_with("generated: "));
    assert!(refused(|file| file.positions = u64::MAX).starts_with("positions: "));
    let without_states = refused(|file| (file.states, file.regions, file.positions) = (0, 0, 9));
    assert_eq!(without_states, "positions: 9 positions of 0 states");
    assert_eq!(refused(|file| file.regions = 11), "regions: 11 regions with 10 states");
    assert_eq!(refused(|file| file.regions = 0), "regions: 0 regions with 10 states");
    assert_eq!(refused(|file| file.digest = None), "digest: it is missing");
    for (which, modulus) in MODULI.into_iter().enumerate() {
        let mut residues = [0; 2];
        residues[which] = modulus;
        let [first, second] = residues;
        let text = refused(|file| file.digest = Some(v1::Digest { first, second }));
        assert!(text.starts_with("digest: ") && text.contains(&modulus.to_string()), "{text}");
    }
}

#[test]
fn impossible_specifications_are_refused_by_field() {
    let spec = |space: &str, parameters: &[(&str, &str)]| {
        let pairs = parameters.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let parameters = pairs.collect();
        let spec =
            v1::JobSpec { space: space.into(), parameters, shards: 0, engine: String::new() };
        convert::spec_from(Some(spec)).map_err(|error| error.field)
    };
    assert!(spec("panex", &[("level", "6"), ("symmetry-2", "")]).is_ok());
    assert_eq!(convert::spec_from(None).unwrap_err().field, "spec");
    for space in ["", "Panex", "a b", "a/b", "a.b", &"a".repeat(limits::NAME_LEN + 1)] {
        assert_eq!(spec(space, &[]), Err("space"), "{space}");
        assert_eq!(spec("panex", &[(space, "1")]), Err("parameters"), "{space}");
    }
    let long = "1".repeat(limits::PARAMETER_LEN);
    assert!(spec("panex", &[("level", &long)]).is_ok());
    for value in ["a\nb", "\u{1b}[31m", &format!("{long}1")] {
        assert_eq!(spec("panex", &[("level", value)]), Err("parameters"));
    }
    let many: HashMap<_, _> =
        (0..=limits::PARAMETERS).map(|number| (format!("p{number}"), String::new())).collect();
    let spec =
        v1::JobSpec { space: "panex".into(), parameters: many, shards: 1, engine: String::new() };
    let error = convert::spec_from(Some(spec)).unwrap_err();
    assert_eq!(error.to_string(), "parameters: 65 are more than 64");
    let engine = |engine: &str| {
        let spec =
            v1::JobSpec { space: "panex".into(), engine: engine.into(), ..Default::default() };
        convert::spec_from(Some(spec)).map(|spec| spec.engine).map_err(|error| error.to_string())
    };
    assert_eq!(engine(""), Ok(EngineKind::Explicit));
    assert_eq!(engine("symbolic-lean"), Ok(EngineKind::SymbolicLean));
    // What a message quotes may have 4 MiB.
    let long = engine(&"quick".repeat(20_000)).unwrap_err();
    assert!(long.len() < 300 && long.contains("(100000 bytes)"), "{} bytes", long.len());
    let file = v1::LayerFile { file: "../x".repeat(25_000), ..v1::LayerFile::default() };
    let long = convert::kept_from(file).unwrap_err().to_string();
    assert!(long.len() < 300 && long.starts_with("file: "), "{} bytes", long.len());
    let refused = engine("quick").unwrap_err();
    assert!(refused.starts_with("engine: \"quick\" is none"), "{refused}");
}

#[test]
fn impossible_layers_and_owners_are_refused_by_field() {
    let params = BTreeMap::from([("disks".to_owned(), "3".to_owned())]);
    let spec = JobSpec { space: "hanoi".into(), params, shards: 3, engine: EngineKind::Explicit };
    assert_eq!(convert::spec_to(&spec).parameters["disks"], "3");
    let line = v1::LayerRecord {
        states: 1,
        regions: 1,
        digest: Some(v1::Digest::default()),
        ..v1::LayerRecord::default()
    };
    assert!(convert::layer_from(line).is_ok());
    for seconds in [-1.0, f64::NAN, f64::INFINITY] {
        let line = v1::LayerRecord { seconds, ..line };
        assert_eq!(convert::layer_from(line).unwrap_err().field, "seconds");
    }
    let line = v1::LayerRecord { bytes: limits::LAYER_COUNT, ..line };
    assert_eq!(convert::layer_from(line).unwrap_err().field, "bytes");
    let line = v1::LayerRecord { bytes: 0, orbits: Some(2), ..line };
    assert_eq!(convert::layer_from(line).unwrap_err().field, "orbits");

    let report = |layer| v1::LayerReport { layer, ..v1::LayerReport::default() };
    let layer = v1::LayerRecord { orbits: None, ..line };
    assert!(convert::part_from(&report(Some(layer))).is_ok());
    assert_eq!(convert::part_from(&report(None)).unwrap_err().field, "layer");
    // A layer may be larger than a part of it.
    let large = v1::LayerRecord { generated: limits::PART_COUNT, ..layer };
    assert!(convert::layer_from(large).is_ok());
    assert_eq!(convert::part_from(&report(Some(large))).unwrap_err().field, "generated");
    let fixed = v1::LayerReport { fixed: 1, ..report(Some(layer)) };
    assert_eq!(convert::part_from(&fixed).unwrap_err().field, "fixed");
    let spilled = v1::LayerReport { spilled_bytes: limits::PART_COUNT, ..report(Some(layer)) };
    assert_eq!(convert::part_from(&spilled).unwrap_err().field, "spilled_bytes");

    for (owners, shards) in [(vec![], 0), (vec![0], 2), (vec![0, 1], 1), (vec![limits::WORKERS], 1)]
    {
        assert_eq!(convert::owners_from(owners, shards).unwrap_err().field, "owners");
    }
}
