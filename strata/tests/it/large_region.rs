//! Tests of a search in which one region of one layer has more than 2^24 states. Each case takes 10 to
//! 20 s and up to 2 GiB, so they run on demand:
//! `cargo test -p strata-bfs --test it large_region -- --ignored`.

use crate::drive;

use drive::{SearchSetup, search};
use strata_engine::explicit::Engine;
use strata_space::{KeySpace, Keyed, Seed};

/// A binary tree with the root 1, in which vertex n has the children 2n and 2n + 1. Keys are products with an
/// odd factor: they are evenly distributed in their low bits, and their high bits are zero.
struct Tree {
    vertices: u64,
    low_bits: u32,
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Tree {
    fn key(&self, vertex: u64) -> u64 {
        vertex.wrapping_mul(FACTOR) & ((1 << self.low_bits) - 1)
    }

    fn vertex(&self, key: u64) -> u64 {
        // Newton's iteration doubles the bits of the inverse, which are three at first.
        let inverse = (0..5).fold(FACTOR, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(FACTOR.wrapping_mul(inverse)))
        });
        key.wrapping_mul(inverse) & ((1 << self.low_bits) - 1)
    }

    /// The number of vertices at each depth.
    fn counts(&self) -> Vec<u64> {
        let firsts = (0..).map(|depth| 1 << depth).take_while(|first| *first < self.vertices);
        firsts.map(|first| (2 * first).min(self.vertices) - first).collect()
    }
}

impl KeySpace for Tree {
    type Key = u64;
    fn seeds(&self) -> Vec<Seed> {
        vec![Seed::start(self.key(1))]
    }
    fn key_bits(&self) -> u32 {
        self.low_bits + 14
    }
    /// The low bits are local, so all vertices are in one region.
    fn local_bits(&self) -> Option<u32> {
        Some(self.low_bits)
    }
    fn successors(&self, key: u64, out: &mut Vec<u64>) {
        let vertex = self.vertex(key);
        let next = [vertex / 2, 2 * vertex, 2 * vertex + 1];
        let next = next.into_iter().filter(|next| (1..self.vertices).contains(next));
        out.extend(next.map(|next| self.key(next)));
    }
    fn text(&self, key: u64) -> String {
        self.vertex(key).to_string()
    }
}

/// The greatest resident memory of the process so far, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn check(low_bits: u32, inbox_memory: Option<usize>) {
    let tree = || Tree { vertices: 60_000_000, low_bits };
    let expected = tree().counts();
    let widest = *expected.last().unwrap();
    assert!(widest > 1 << 24 && expected.len() == 26);
    let setup = SearchSetup { inbox_memory, ..SearchSetup::default() };
    let before = peak();
    let found = search(setup, |shards| Engine::keyed(Keyed::new(tree()).unwrap(), shards));
    assert_eq!(found.states(), expected);
    assert_eq!(found.generated().iter().sum::<u64>(), 2 * (tree().vertices - 2));
    println!("peak memory: {} bytes a state of the widest layer", (peak() - before) / widest);
}

#[test]
#[ignore = "takes 10 to 20 s and up to 1 GiB"]
fn a_region_of_26_million_narrow_states() {
    check(26, None);
}

#[test]
#[ignore = "takes 10 to 20 s and up to 1 GiB"]
fn a_region_of_26_million_narrow_states_from_spilled_runs() {
    check(26, Some(0));
}

#[test]
#[ignore = "takes 10 to 20 s and up to 2 GiB"]
fn a_region_of_26_million_wide_states() {
    check(40, None);
}
