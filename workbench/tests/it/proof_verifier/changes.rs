//! Random single changes of the certificate: each is rejected, or weakens a claim without harm.

use std::collections::BTreeMap;

use crate::proof_verifier::claims::{Claims, Harmless};
use crate::proof_verifier::random::Random;
use crate::proof_verifier::{certificate, verify};

/// Kinds of changes.
const KINDS: [&str; 8] = [
    "coefficient",
    "price",
    "missing line",
    "redirected reference",
    "changed rule",
    "truncated file",
    "changed signature",
    "changed arrangement",
];

/// The number of a random line that starts with `keyword`.
fn line_with(lines: &[String], keyword: &str, random: &mut Random) -> usize {
    let is_found = |line: &String| line.split(' ').next() == Some(keyword);
    let found: Vec<usize> = (0..lines.len()).filter(|&at| is_found(&lines[at])).collect();
    found[random.below(found.len())]
}

/// Replaces one word of a line.
fn replace(lines: &mut [String], at: usize, word: usize, new: &str) {
    let mut words: Vec<&str> = lines[at].split(' ').collect();
    words[word] = new;
    lines[at] = words.join(" ");
}

fn word(lines: &[String], at: usize, word: usize) -> String {
    lines[at].split(' ').nth(word).unwrap().to_owned()
}

fn words(lines: &[String], at: usize) -> usize {
    lines[at].split(' ').count()
}

/// Adds a small or a large number to an integer of a line.
fn shift(lines: &mut [String], at: usize, place: usize, random: &mut Random) {
    let size = [1, 2, 4, 8, 28, 56, 1_000, 1 << 20][random.below(8)];
    let shift = if random.below(2) == 0 { size } else { -size };
    let new = word(lines, at, place).parse::<i64>().unwrap() + shift;
    replace(lines, at, place, &new.to_string());
}

/// Makes one change of a kind; returns what was changed.
fn change(lines: &mut Vec<String>, kind: &str, random: &mut Random) -> String {
    let keyword = match kind {
        "coefficient" => "form",
        "price" => random.pick(&["weight", "weights"]),
        "redirected reference" => random.pick(&["row", "node", "segment"]),
        "changed rule" => random.pick(&["rule", "rule", "rule", "top-rule"]),
        "changed signature" => random.pick(&["sig", "sig", "segment"]),
        "changed arrangement" => random.pick(&["row", "node", "segment"]),
        _ => random.pick(&[
            "class", "sig", "row", "node", "top", "segment", "rule", "top-rule", "form", "weight",
            "weights", "start", "upper", "end",
        ]),
    };
    let at = line_with(lines, keyword, random);
    let before = lines[at].clone();
    match kind {
        "coefficient" => shift(lines, at, 1 + random.below(5), random),
        "price" => {
            let place = 1 + random.below(words(lines, at) - 1);
            shift(lines, at, place, random);
        }
        "missing line" => {
            lines.remove(at);
            return format!("without line {}: {before}", at + 1);
        }
        "truncated file" => {
            let kept = random.below(lines.len());
            lines.truncate(kept);
            if random.below(2) == 0 {
                lines.push("end".to_owned());
            }
            return format!("{kept} lines");
        }
        "redirected reference" => {
            let first = if keyword == "segment" { 13 } else { 5 };
            let place = first + random.below(words(lines, at) - first);
            let forms = if keyword == "segment" { 21 } else { 499 };
            replace(lines, at, place, &random.below(forms).to_string());
        }
        "changed rule" => change_rule(lines, at, random),
        "changed signature" => {
            replace(lines, at, 1 + random.below(7), &random.below(7).to_string());
        }
        _ => {
            let first = if keyword == "segment" { 8 } else { 1 };
            let (one, other) = (first + 1 + random.below(3), first + 1 + random.below(3));
            if one == other {
                replace(lines, at, first, &random.below(5).to_string());
            } else {
                let (left, right) = (word(lines, at, one), word(lines, at, other));
                replace(lines, at, one, &right);
                replace(lines, at, other, &left);
            }
        }
    }
    format!("line {}: {before} -> {}", at + 1, lines[at])
}

/// Changes the segment, the parity or the children of a rule.
fn change_rule(lines: &mut [String], at: usize, random: &mut Random) {
    let mut words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
    let parity = if words[0] == "rule" { 2 } else { 1 };
    let child = parity + 1 + random.below(words.len() - parity - 1);
    match random.below(6) {
        0 => words[parity] = (1 - words[parity].parse::<i32>().unwrap()).to_string(),
        1 => words[child] = random.below(1_556).to_string(),
        2 => drop(words.remove(child)),
        3 => words.insert(child, words[child].clone()),
        4 => {
            let other = parity + 1 + random.below(words.len() - parity - 1);
            words.swap(child, other);
        }
        _ => words[parity - 1] = random.below(1_556).to_string(),
    }
    lines[at] = words.join(" ");
}

/// Makes changes and compares what the verifier says with the claims. Returns the figures.
fn check_changes(count: usize, seed: u64) -> BTreeMap<String, usize> {
    let original: Vec<String> = certificate().lines().map(str::to_owned).collect();
    let claims = Claims::read(&original);
    let mut random = Random(seed);
    let mut figures = BTreeMap::new();
    let mut made = 0;
    while made < count {
        let kind = KINDS[made % KINDS.len()];
        let mut lines = original.clone();
        let what = change(&mut lines, kind, &mut random);
        if lines == original {
            continue;
        }
        made += 1;
        let result = match verify(&(lines.join("\n") + "\n")) {
            Ok(_) => {
                let harmless = Claims::read(&lines).harmless(&claims);
                match harmless {
                    None => panic!("accepted: {what}"),
                    Some(Harmless::SameClaims) => "accepted, same claims",
                    Some(Harmless::WeakerClaims) => "accepted, weaker claims",
                }
            }
            Err(failure) => {
                let text = failure.to_string();
                assert!(!text.is_empty() && text.len() < 1_000, "{what}: {text}");
                "rejected"
            }
        };
        *figures.entry(format!("{kind}: {result}")).or_insert(0) += 1;
    }
    figures
}

#[test]
fn changes_of_each_kind_are_rejected_or_harmless() {
    let figures = check_changes(2 * KINDS.len(), 1);
    println!("{figures:#?}");
}

/// Run it in a release build: it takes some minutes.
#[test]
#[ignore = "minutes in a release build"]
fn a_thousand_changes_are_rejected_or_harmless() {
    let figures = check_changes(1_000, 2);
    println!("{figures:#?}");
    for kind in KINDS {
        let rejected = figures.get(&format!("{kind}: rejected")).copied().unwrap_or(0);
        assert!(rejected >= 60, "{kind}: only {rejected} of 125 changes are rejected");
    }
}
