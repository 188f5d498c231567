//! Tests of every fuzz target with its valid inputs, the committed corpus and some mutations.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::sync::{Mutex, MutexGuard, PoisonError};

use strata_testing::fuzz::runner::{Options, corpus, replay, run};
use strata_testing::fuzz::{Outcome, Target, targets};

/// Serialises the tests: memory is counted for the whole process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(name: &str) {
    let all = targets::all();
    let (_, make) = all.iter().find(|(known, _)| *known == name).unwrap();
    let mut target = make();
    let seeds = target.seeds();
    assert!(!seeds.is_empty());
    for (number, seed) in seeds.iter().enumerate() {
        let outcome = replay(&mut *target, seed);
        assert_eq!(outcome, Ok(Outcome::Accepted), "seed {number} of {name}");
    }
    for (file, input) in corpus(name).unwrap() {
        let outcome = replay(&mut *target, &input);
        assert!(outcome.is_ok(), "corpus/{name}/{file}: {outcome:?}");
    }
    let options = Options { seed: 1, runs: Some(target.test_runs()), ..Options::default() };
    let summary = run(&mut *target, &options).unwrap();
    assert_eq!(summary.findings, [], "{name} with seed 1");
    assert_eq!(summary.runs, target.test_runs());
    // Mutations that all end at the first check would test nothing.
    assert!(summary.outcomes > 5, "{name}: {summary:?}");
}

#[test]
fn seeds_corpus_and_mutations_have_no_findings() {
    let _turn = turn();
    for (name, _) in targets::all() {
        check(name);
    }
}

/// Accepts texts of letters; panics at `p`, and takes memory at `m`.
struct Example;

impl Target for Example {
    fn name(&self) -> &'static str {
        "example"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        vec![b"abc".to_vec()]
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut strata_testing::fuzz::Rng) {
        strata_testing::fuzz::mutate::bytes(input, other, rng);
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, String> {
        match input {
            [b'p', ..] => panic!("a defect"),
            [b't', ..] => {
                std::thread::spawn(|| panic!("a defect elsewhere")).join().unwrap_err();
                Ok(Outcome::Accepted)
            }
            [b'm', ..] => {
                drop(std::hint::black_box(vec![1_u8; 100 << 20]));
                Ok(Outcome::Accepted)
            }
            [b'w', ..] => Err("wrong".to_owned()),
            _ => Ok(Outcome::Accepted),
        }
    }
}

#[test]
fn panics_wrong_results_and_excess_memory_are_found() {
    let _turn = turn();
    let found = |input: &[u8]| replay(&mut Example, input).unwrap_err();
    assert_eq!(replay(&mut Example, b"abc"), Ok(Outcome::Accepted));
    assert!(found(b"p").contains("a defect"));
    assert!(found(b"t").contains("a defect elsewhere"));
    assert!(found(b"m").contains("bytes of memory"));
    assert_eq!(found(b"w"), "wrong");
}

#[test]
fn runs_with_one_seed_have_the_same_findings() {
    let _turn = turn();
    let options = Options { seed: 3, runs: Some(3000), ..Options::default() };
    // The text of a finding may have figures of memory.
    let [first, second] = [(); 2].map(|()| {
        let findings = run(&mut Example, &options).unwrap().findings;
        findings.into_iter().map(|(number, _)| number).collect::<Vec<u64>>()
    });
    assert!(!first.is_empty());
    assert_eq!(first, second);
}
