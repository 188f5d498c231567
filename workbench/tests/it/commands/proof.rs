//! The proof of X(n) = U(n) on the command line: `panex prove`, `verify-proof` and `bound`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::tempdir;

use super::{expect, refused, strata};

fn bound(level: u32) -> Value {
    expect(0, &mut strata(&format!("panex bound {level} --json"))).event("bound")
}

/// U(n) modulo 10^18, from the sum that defines it.
fn last_digits(n: usize) -> u128 {
    const MODULUS: u128 = 1_000_000_000_000_000_000;
    let mut towers = vec![0, 1, 2, 9];
    while towers.len() <= n {
        let [.., before, last] = towers[..] else { unreachable!("four of them") };
        towers.push((2 * last + before + 3) % MODULUS);
    }
    let sum: u128 = towers[2..=n - 3].iter().sum();
    let three = 3 * towers[n] + 6 * towers[n - 1] + 3 * towers[n - 2];
    (three + 4 * sum + 6 + MODULUS - 2 * n as u128) % MODULUS
}

#[test]
fn a_bound_says_what_is_proven_and_what_is_searched() {
    let found = bound(1);
    let expected = json!({
        "v": 1, "event": "bound", "level": 1, "moves": "3", "lower_bound": null,
        "exchange": null, "bits": 2, "evidence": "searched",
    });
    assert_eq!(found, expected);
    let (found, moves) = (bound(7), json!("2189"));
    assert_eq!(
        (&found["moves"], &found["lower_bound"], &found["exchange"]),
        (&moves, &moves, &moves)
    );
    assert_eq!(found["evidence"], "proven");
    for level in ["0", "10001", "-1", "five"] {
        refused(&mut strata(&format!("panex bound -- {level}")), "");
    }
    refused(&mut strata("panex bound 10001"), "10001 is not in 1..=10000");
}

#[test]
fn large_bounds_have_the_digits_of_the_sum() {
    for (n, bits) in [(1000, 1269..=1275), (9_999, 12_700..=12_730), (10_000, 12_700..=12_730)] {
        let found = bound(n);
        let digits = found["exchange"].as_str().unwrap();
        let (_, last) = digits.split_at(digits.len() - 18);
        assert_eq!(last.parse::<u128>().unwrap(), last_digits(n as usize), "n = {n}");
        assert_eq!(found["lower_bound"], found["exchange"]);
        assert!(bits.contains(&found["bits"].as_u64().unwrap()), "n = {n}: {}", found["bits"]);
    }
}

fn verify(certificate: &Path) -> Command {
    let mut command = strata("panex verify-proof --json -q");
    command.arg(certificate);
    command
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn the_proof_is_built_checked_and_written() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("certificate");
    // An existing file is replaced.
    fs::write(&file, "old").unwrap();
    let mut prove = strata("panex prove --json -q");
    let proof = expect(0, prove.arg("--certificate").arg(&file)).event("proof");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    let certificate = fs::read_to_string(&file).unwrap();
    assert!(certificate.starts_with("strata-panex-proof 1\nlower\n"));
    assert!(certificate.ends_with("\nend\n"));
    assert_eq!(proof["bytes"], certificate.len());
    assert_eq!((&proof["theorem"], &proof["from"]), (&"X(n) = U(n)".into(), &5.into()));
    assert_eq!(proof["exact"], json!([42, 128, 343, 881]));
    let lines = |word: &str| certificate.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!(proof["signatures"], lines("sig "));
    assert_eq!(proof["classes"], lines("class"));
    assert_eq!(proof["forms"], lines("form ") - proof["upper_forms"].as_u64().unwrap() as usize);
    assert_eq!(proof["segments"], lines("segment "));
    assert_eq!(proof["rules"], lines("rule ") + lines("top-rule "));
    let count = |field: &str| proof[field].as_u64().unwrap();
    assert!(count("inequalities") > 6_900_000, "{proof}");
    assert!(count("identities") > 0 && count("identities") < count("inequalities"), "{proof}");
    assert!(count("base_equalities") <= count("base_rows"), "{proof}");
    assert_eq!(proof["lemmas"].as_object().unwrap().len(), 4);

    // The verifier alone says the same.
    let again = expect(0, &mut verify(&file)).event("proof");
    let without = |event: &Value| {
        let mut fields = event.as_object().unwrap().clone();
        fields.retain(|name, _| name != "seconds" && name != "peak_rss_bytes");
        fields
    };
    assert_eq!(without(&proof), without(&again));

    // A hyphen is standard output and input.
    let printed = expect(0, &mut strata("panex prove --certificate - -q")).stdout;
    assert_eq!(printed, certificate);
    let input = fs::File::open(&file).unwrap();
    let mut again = expect(0, verify(Path::new("-")).stdin(input)).event("proof");
    assert!(again["file"].is_null());
    again["file"] = proof["file"].clone();
    assert_eq!(without(&proof), without(&again));
    refused(&mut strata("panex prove --certificate - --json"), "a certificate is no JSON event");
}

/// Replaces the number in a column of the first line that starts with a word, after a heading.
fn changed(text: &str, heading: &str, word: &str, column: usize, by: i64) -> String {
    let (before, after) = text.split_at(text.find(heading).unwrap());
    let line = after.lines().find(|line| line.starts_with(word)).unwrap();
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    words[column] = (words[column].parse::<i64>().unwrap() + by).to_string();
    format!("{before}{}", after.replacen(line, &words.join(" "), 1))
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn a_damaged_certificate_names_the_check_that_fails() {
    let dir = tempdir().unwrap();
    let certificate = strata_panex::proof::certificate().unwrap();
    let without = |line: &str| certificate.replacen(&format!("\n{line}\n"), "\n", 1);
    let rule = certificate.lines().rfind(|line| line.starts_with("rule ")).unwrap();
    // The last one outside the grammar: the first signature is needed by no other.
    let is_outside = |line: &&str| {
        line.starts_with("sig ") && !certificate.contains(&line.replace("sig", "\nsegment"))
    };
    let signature = certificate.lines().rfind(is_outside).unwrap();
    let middle = &certificate[..certificate.len() / 2];
    let base = "rows are lower bounds at level 4; at Signature {";
    for (name, text, reason) in [
        ("a higher price", changed(&certificate, "lower\n", "weights", 3, 1), base),
        ("a higher row", changed(&certificate, "lower\n", "form", 4, 8), base),
        (
            "a shorter segment",
            changed(&certificate, "upper\n", "form", 4, -8),
            "segments are upper bounds at level 6; at segment 0",
        ),
        ("a missing rule", without(rule), "rules for both parities; at segment 1555"),
        (
            "a missing signature",
            without(signature),
            "signatures inside segments are listed; at Signature { shape: 4",
        ),
        ("a cut", middle.to_owned(), "expected"),
        ("an empty file", String::new(), "line 1: expected"),
        ("another file", "[package]\n".to_owned(), "line 1: expected"),
    ] {
        let file = dir.path().join("changed");
        fs::write(&file, text).unwrap();
        let ran = expect(12, &mut verify(&file));
        assert_eq!(ran.stdout, "", "{name}");
        assert_eq!(ran.stderr.lines().count(), 1, "{name}: {}", ran.stderr);
        let start = format!("error: {}: ", file.display());
        assert!(ran.stderr.starts_with(&start), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(reason), "{name}: {}", ran.stderr);
    }
}

#[test]
fn files_that_are_not_certificates_are_refused() {
    let dir = tempdir().unwrap();
    let file = |name: &str| dir.path().join(name);
    fs::write(file("bytes"), b"strata-panex-proof 1\nlower\xff\n").unwrap();
    let ran = expect(12, &mut verify(&file("bytes")));
    assert!(ran.stderr.ends_with("bytes: byte 26 is not UTF-8\n"), "{}", ran.stderr);
    refused(&mut verify(&file("missing")), "cannot read");
    refused(&mut verify(dir.path()), "is a directory");
    refused(&mut verify(Path::new("/dev/zero")), "it is not a regular file");
    fs::File::create(file("large")).unwrap().set_len(1 << 40).unwrap();
    refused(&mut verify(&file("large")), "it is longer than");
    refused(&mut strata("panex verify-proof"), "FILE");

    // Before anything is built.
    let prove = |file: &Path| {
        let mut command = strata("panex prove --certificate");
        command.arg(file);
        command
    };
    refused(&mut prove(&file("none/certificate")), "--certificate: there is no folder");
    refused(&mut prove(dir.path()), "it is not a regular file");
    refused(&mut prove(Path::new("/dev/null")), "it is not a regular file");
}
