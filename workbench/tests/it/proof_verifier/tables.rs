//! Tables of lengths: caps of signatures do not matter, and graphs agree with searches.

use std::collections::BTreeMap;

use strata_panex_proof_verifier::puzzle::{CAPS, Place, Signature, UNREACHED, search};

use crate::proof_verifier::{certificate, graphs};

/// Towers of levels 2 and 3, by shape. A small tile is the character `'0' + 2 * level + colour`.
const TOWERS: [[[&str; 3]; 5]; 2] = [
    [["42", "", "53"], ["", "42", "53"], ["", "4", "532"], ["42", "53", ""], ["423", "5", ""]],
    [
        ["642", "", "753"],
        ["", "642", "753"],
        ["", "64", "7532"],
        ["642", "753", ""],
        ["6423", "75", ""],
    ],
];

/// The signatures with their rows, in the order of the certificate.
fn signatures() -> Vec<(Signature, Vec<Place>)> {
    let (lower, _) = certificate().split_once("\ntop\n").unwrap();
    let mut signatures = Vec::new();
    for class in lower.split("\nclass\n").skip(1) {
        let lines = |keyword| {
            let lines = class.lines().filter(move |line| line.starts_with(keyword));
            lines.map(|line| line.split(' ').skip(1).collect::<Vec<&str>>())
        };
        let column = |word: &str| word.replace('-', "");
        let row =
            |words: Vec<&str>| (words[0].parse().unwrap(), [1, 2, 3].map(|c| column(words[c])));
        let rows: Vec<Place> = lines("row ").map(row).collect();
        for words in lines("sig ") {
            let three = |first: usize| [0, 1, 2].map(|i| words[first + i].parse().unwrap());
            let signature =
                Signature { shape: words[0].parse().unwrap(), e: three(1), g: three(4) };
            signatures.push((signature, rows.clone()));
        }
    }
    signatures
}

/// Lemma P3: capped values have the same tables as the values they replace.
#[test]
fn tables_of_level_2_do_not_change_with_larger_caps() {
    let mut changed = 0;
    for (signature, _) in signatures() {
        let wide = Signature {
            e: signature.e.map(|e| if e == CAPS[0] { 9 } else { e }),
            g: signature.g.map(|g| if g == CAPS[1] { 11 } else { g }),
            ..signature
        };
        changed += usize::from(wide != signature);
        let [capped, wide] =
            [signature, wide].map(|signature| search(signature, TOWERS[0]).unwrap());
        assert!(capped == wide, "{signature:?}");
    }
    assert!(changed > 700, "{changed} signatures have a cap");
}

/// Lengths of chains of segments, all but the last from the start to itself with other orders.
fn chains(segments: &BTreeMap<Place, Vec<i64>>) -> BTreeMap<&Place, Vec<i64>> {
    let back = segments.values().find(|lengths| lengths[0] == 0).unwrap();
    let add = |one: &[i64], other: &[i64]| -> Vec<i64> {
        let sum = |order: usize| {
            (0..8).map(|part| one[part].saturating_add(other[part ^ order])).min().unwrap()
        };
        (0..8).map(sum).collect()
    };
    // A shortest chain returns with each of the 8 orders at most once: three doublings are enough.
    let back = (0..3).fold(back.clone(), |back, _| add(&back, &back));
    segments.iter().map(|(end, lengths)| (end, add(&back, lengths))).collect()
}

/// Compares the derived tables of level 3 with searches, for every `step`-th signature. Returns
/// the number of entries of segments compared.
fn compare_level_3(step: usize) -> usize {
    let derived = graphs().next_tables(&graphs().level_2, 2);
    let signatures = signatures();
    assert_eq!(derived.len(), signatures.len());
    let mut entries = 0;
    for ((signature, rows), derived) in signatures.iter().zip(&derived).step_by(step) {
        let searched = search(*signature, TOWERS[1]).unwrap();
        let reached = |(_, lengths): &(&Place, &Vec<i64>)| lengths.iter().any(|&l| l < UNREACHED);
        let derived: BTreeMap<_, _> = rows.iter().zip(derived).filter(reached).collect();
        let chains = chains(&searched);
        assert!(derived.into_iter().eq(chains.iter().map(|(end, l)| (*end, l))), "{signature:?}");
        entries += searched.values().flatten().filter(|&&length| length != UNREACHED).count();
    }
    entries
}

/// Lemmas P2 and P3 at level 3, for some signatures.
#[test]
fn some_tables_of_level_3_are_those_of_a_search() {
    assert!(compare_level_3(400) > 200);
}

/// Lemmas P2 and P3 at level 3, for all 1,574 signatures.
#[test]
#[ignore = "about a minute in a release build"]
fn all_tables_of_level_3_are_those_of_a_search() {
    assert_eq!(compare_level_3(1), 141_088);
}
