//! Fuzz target for diagram snapshots: the file, and its content as a layer of a symbolic search.
//!
//! An input begins with the number of a space and a depth. If the highest bit of the number is set,
//! a file follows; otherwise the content of a file.

use std::path::PathBuf;

use strata_engine::symbolic::{AnySearch, Options};
use strata_puzzles::panex::{NestedPanex, PanexConfig, SymmetryUse};
use strata_puzzles::{Hanoi, NestedHanoi};
use strata_store::{RealFs, SnapshotSeal, read_diagram_snapshot, write_diagram_snapshot};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::support::{must, scratch};
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

const JOB: &str = "job-1";
const FILE: u8 = 0x80;
const TRAILER: usize = 40;
const HEADER: usize = 20 + JOB.len();
const MEMORY: usize = 4 << 20;

/// Depths of the seeds, by space: Hanoi with 3 and 4 pegs, Panex with and without symmetry.
const DEPTHS: [&[u32]; 4] = [&[0, 9, 20], &[3], &[1, 12], &[2, 25]];

/// Snapshots.
pub(super) struct Snapshots {
    seeds: Vec<Vec<u8>>,
    folder: TempDir,
}

fn open(space: u8) -> Box<dyn AnySearch> {
    let options =
        Options { memory: MEMORY, keep_layers: false, digests: true, verify: 0, threads: 1 };
    let hanoi = |discs, pegs| must(NestedHanoi::new(must(Hanoi::new(discs, pegs, false))));
    let panex = |level, symmetry| {
        must(NestedPanex::new(PanexConfig { symmetry, ..PanexConfig::new(level) }))
    };
    must(match space % 4 {
        0 => strata_engine::symbolic::open(hanoi(5, 3), options),
        1 => strata_engine::symbolic::open(hanoi(4, 4), options),
        2 => strata_engine::symbolic::open(panex(3, SymmetryUse::On), options),
        _ => strata_engine::symbolic::open(panex(4, SymmetryUse::Off), options),
    })
}

impl Snapshots {
    pub(super) fn new() -> Snapshots {
        let folder = scratch();
        let mut seeds = Vec::new();
        for (space, depths) in (0..).zip(DEPTHS) {
            let mut search = open(space);
            for depth in depths {
                while search.depth() < *depth {
                    must(search.advance());
                }
                let content = search.snapshot();
                seeds.push([&[space, *depth as u8], &*content].concat());
                if *depth < 10 {
                    let path = folder.path().join("seed");
                    must(write_diagram_snapshot(&RealFs, &path, JOB, *depth, &content));
                    seeds.push(
                        [&[space | FILE, *depth as u8], &*must(std::fs::read(&path))].concat(),
                    );
                }
            }
        }
        Snapshots { seeds, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("snapshot")
    }

    /// Reads a file, with the seal that it contains as the expected one.
    fn read(&self, depth: u32, file: &[u8]) -> Result<Vec<u8>, String> {
        must(std::fs::write(self.path(), file));
        let seal = file.len().checked_sub(16).and_then(|at| file[at..].first_chunk());
        let seal = seal.map_or(0, |word| u64::from_le_bytes(*word));
        let expected = SnapshotSeal { bytes: file.len() as u64, seal };
        let (path, limit) = (self.path(), 1 << 20);
        let content = read_diagram_snapshot(&RealFs, &path, JOB, depth, expected, limit);
        content.map_err(|error| error.to_string())
    }
}

/// Recomputes the checksums of a file.
fn reseal(file: &mut [u8]) {
    let Some(trailer) = file.len().checked_sub(TRAILER).filter(|at| *at >= HEADER) else { return };
    let sum = xxh3_64(&file[HEADER..trailer]);
    file[trailer + 16..trailer + 24].copy_from_slice(&sum.to_le_bytes());
    let seal = xxh3_64(&[&file[..HEADER], &file[trailer..trailer + 24]].concat());
    file[trailer + 24..trailer + 32].copy_from_slice(&seal.to_le_bytes());
    file[trailer + 32..].copy_from_slice(b"STRATAND");
}

/// Changes a file: its bytes, its lengths, or its content.
fn mutate_file(file: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let content = file.len().checked_sub(TRAILER).and_then(|end| file.get(HEADER..end));
    let content = content.and_then(|packed| zstd::bulk::decompress(packed, mutate::MAX_LEN).ok());
    match (content, rng.below(4)) {
        (Some(mut content), 0) => {
            mutate::bytes(&mut content, other, rng);
            let packed = must(zstd::bulk::compress(&content, 1));
            let trailer = file.split_off(file.len() - TRAILER);
            file.truncate(HEADER);
            file.extend(&packed);
            file.extend((packed.len() as u64).to_le_bytes());
            file.extend((content.len() as u64).to_le_bytes());
            file.extend(&trailer[16..]);
        }
        (_, 1) if file.len() >= TRAILER => {
            let trailer = file.len() - TRAILER;
            mutate::number(&mut file[trailer..trailer + 16], rng);
        }
        _ => mutate::bytes(file, other, rng),
    }
    if !rng.once_in(3) {
        reseal(file);
    }
}

/// Checks a layer that a search has accepted.
fn check_layer(search: &mut dyn AnySearch, space: u8, depth: u32) -> Result<(), Finding> {
    let layer = search.layer();
    let positions = search.positions();
    let mut visited = 0;
    search.visit_texts(&mut |_| {
        visited += 1;
        if visited < 200 {
            std::ops::ControlFlow::Continue(())
        } else {
            std::ops::ControlFlow::Break(())
        }
    });
    if layer.stats.states < 200 && visited != layer.stats.states {
        return Err(format!("{visited} states, not {}", layer.stats.states));
    }
    for rank in [0, positions / 2, positions.saturating_sub(1), positions] {
        if search.nth_text(rank).is_some() != (rank < positions) {
            return Err(format!("the position of rank {rank} of {positions}"));
        }
    }
    let written = search.snapshot();
    let mut second = open(space);
    second.load(depth, &written).map_err(|error| format!("written, but {error}"))?;
    if (second.layer(), second.positions()) != (layer, positions) {
        return Err(format!("{layer:?} was read back as {:?}", second.layer()));
    }
    // Makes the next layers: any result but a panic is allowed.
    for _ in 0..2 {
        if search.advance().is_err() {
            break;
        }
        search.layer();
    }
    Ok(())
}

impl Target for Snapshots {
    fn name(&self) -> &'static str {
        "snapshot"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        self.seeds.clone()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let Some((head, content)) = input.split_at_checked(2) else { return };
        let (mut head, mut content) = (head.to_vec(), content.to_vec());
        if rng.once_in(50) {
            head[rng.below(2)] = rng.bits() as u8;
        }
        if head[0] & FILE == 0 {
            mutate::bytes(&mut content, other.get(2..).unwrap_or_default(), rng);
        } else {
            mutate_file(&mut content, other.get(2..).unwrap_or_default(), rng);
        }
        *input = [head, content].concat();
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let Some((&[space, depth], bytes)) = input.split_first_chunk() else {
            return Ok(Outcome::refused("too short"));
        };
        let depth = u32::from(depth);
        let content = if space & FILE == 0 {
            bytes.to_vec()
        } else {
            let content = match self.read(depth, bytes) {
                Ok(content) => content,
                Err(error) => return Ok(Outcome::refused(error)),
            };
            let declared =
                bytes.len().checked_sub(TRAILER - 8).and_then(|at| bytes[at..].first_chunk());
            let declared = declared.map_or(0, |word| u64::from_le_bytes(*word));
            if content.len() as u64 != declared {
                return Err(format!("{} bytes, declared as {declared}", content.len()));
            }
            content
        };
        let mut search = open(space & !FILE);
        if let Err(error) = search.load(depth, &content) {
            return Ok(Outcome::refused(error));
        }
        check_layer(&mut *search, space & !FILE, depth)?;
        Ok(Outcome::Accepted)
    }

    /// Two searches, each with its budget, and a snapshot.
    fn memory(&self, len: usize) -> usize {
        8 * MEMORY + 64 * len
    }

    fn test_runs(&self) -> u64 {
        200
    }
}
