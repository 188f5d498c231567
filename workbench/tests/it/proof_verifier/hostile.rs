//! Damaged and hostile texts: they are refused with a reason, and nothing panics.

use strata_panex_proof_verifier::sequence::Form;
use strata_panex_proof_verifier::{Certificate, check};

use crate::proof_verifier::claims::Claims;
use crate::proof_verifier::random::Random;
use crate::proof_verifier::{certificate, graphs, verify};

/// The verifier's reply to the certificate with one text replaced by another, once.
fn answer(old: &str, new: &str) -> String {
    let text = certificate();
    assert!(text.contains(old), "{old}");
    verify(&text.replacen(old, new, 1)).unwrap_err().to_string()
}

#[track_caller]
fn assert_malformed(old: &str, new: &str) {
    let answer = answer(old, new);
    assert!(answer.starts_with("line "), "{answer}");
}

#[test]
fn numbers_in_other_spellings_are_refused() {
    for price in ["+1", "01", "-0", "", "1 ", " 1", "1.0", "0x1", "\u{661}"] {
        assert_malformed("weights 0 1 5\n", &format!("weights 0 {price} 5\n"));
    }
}

#[test]
fn large_coefficients_are_refused() {
    let bound = 1i128 << 32;
    for number in [bound + 1, i64::MAX.into(), 1 << 100, i128::MAX] {
        for number in [number, -number] {
            assert_malformed("form 0 0 0 0 0\n", &format!("form {number} 0 0 0 0\n"));
        }
    }
    // The largest ones are read, and change what is claimed.
    assert!(!answer("form 0 0 0 0 0\n", &format!("form {bound} 0 0 0 0\n")).starts_with("line"));
}

#[test]
fn the_sign_test_has_room_for_sums_of_forms() {
    for signs in 0..3usize.pow(5) {
        for size in [1 << 32, 1 << 39, (1 << 40) - 1] {
            let coefficient = |i| size * ((signs / 3usize.pow(i) % 3) as i128 - 1);
            let form = Form(std::array::from_fn(|i| coefficient(i as u32)));
            for start in 4..=7 {
                let is_proven = form.prove_sign(start, 1).is_ok();
                assert!(!is_proven || form.eighths(start) >= 0);
            }
        }
    }
}

#[test]
fn certificates_with_the_largest_coefficients_do_not_overflow() {
    let mut random = Random(3);
    for _ in 0..2 {
        let line = |line: &str| {
            if line.starts_with("form ") {
                let size = ["4294967296", "-4294967296"];
                let coefficients: Vec<&str> = (0..5).map(|_| size[random.below(2)]).collect();
                format!("form {}\n", coefficients.join(" "))
            } else {
                format!("{line}\n")
            }
        };
        let text: String = certificate().lines().map(line).collect();
        let changed = Certificate::parse(&text).unwrap();
        assert!(check(&changed, graphs()).is_err());
    }
}

#[test]
fn prices_above_the_lengths_are_refused() {
    for prices in ["4294967296 4294967296 4294967296", "0 4294967296 0", "40 0 0"] {
        let answer = answer("weights 0 1 5\n", &format!("weights {prices}\n"));
        assert!(answer.contains("priced costs are not negative"), "{answer}");
    }
    assert_malformed("weights 0 1 5\n", "weights 0 -1 5\n");
}

#[test]
fn deviations_from_the_text_format_are_refused() {
    let text = certificate();
    for damaged in [
        String::new(),
        "\n".to_owned(),
        "end\n".to_owned(),
        text.replace('\n', "\r\n"),
        text.trim_end().to_owned(),
        format!("{text}\n"),
        format!("{text}end\n"),
        format!(" {text}"),
        text.replacen("top\n", "top \n", 1),
        text.replacen("class\n", "class\nclass 1\n", 1),
        text.replacen("lower\n", "lower\n# comment\n", 1),
    ] {
        let answer = verify(&damaged).unwrap_err().to_string();
        assert!(answer.starts_with("line "), "{answer}");
    }
}

#[test]
fn lines_that_occur_twice_are_refused() {
    for keyword in ["sig ", "row ", "node ", "weights "] {
        let line = certificate().lines().find(|line| line.starts_with(keyword)).unwrap();
        assert_malformed(&format!("{line}\n"), &format!("{line}\n{line}\n"));
    }
}

#[test]
fn references_outside_the_lists_are_refused() {
    let text = certificate();
    for (keyword, number) in
        [("row ", "499"), ("node ", "499"), ("segment ", "21"), ("rule ", "1556")]
    {
        let line = text.lines().find(|line| line.starts_with(keyword)).unwrap();
        let shorter = line.rsplit_once(' ').unwrap().0;
        assert_malformed(&format!("{line}\n"), &format!("{shorter} {number}\n"));
    }
    let rule = text.lines().find(|line| line.starts_with("rule ")).unwrap();
    let long = format!("rule 0 0{}\n", " 0".repeat(17));
    assert_malformed(&format!("{rule}\n"), &long);
}

#[test]
fn rows_with_other_tiles_are_refused() {
    let row = certificate().lines().find(|line| line.starts_with("row ")).unwrap();
    let forms: Vec<&str> = row.split(' ').skip(5).collect();
    for columns in ["X - -", "A B C", "AAAAA AAAAA AAAAA", "- C -"] {
        let new = format!("row 0 {columns} {}\n", forms.join(" "));
        let answer = answer(&format!("{row}\n"), &new);
        assert!(answer.contains("a row has the tiles of its signatures"), "{answer}");
    }
}

/// One signature with every arrangement as a row: the graph is as large as graphs can be.
#[test]
fn work_is_bounded() {
    let mut rows = String::new();
    for shape in 0..5 {
        for order in ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"] {
            for (i, j) in (0..=3).flat_map(|i| (i..=3).map(move |j| (i, j))) {
                let part = |part: &str| if part.is_empty() { "-".into() } else { part.to_owned() };
                let [left, centre, right] = [&order[..i], &order[i..j], &order[j..]].map(part);
                rows += &format!("row {shape} {left} {centre} {right} 0 0\n");
            }
        }
    }
    for signature in ["1 5 5 5 6 6 6", "4 1 1 1 6 6 6"] {
        let text = format!(
            "strata-panex-proof 1\nlower\nstart 4\nweights 0 1 5\nweight 0 0 0 0 0\n\
             form 0 0 0 0 0\nclass\nsig {signature}\n{rows}top\nupper\nstart 6\nend\n"
        );
        assert!(Certificate::parse(&text).is_ok());
        let answer = verify(&text).unwrap_err().to_string();
        assert!(!answer.starts_with("line "), "{answer}");
    }
}

/// Changes, removes or repeats some bytes.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    let end = (at + 1 + random.below(40)).min(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let repeated = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, repeated);
        }
        3 => bytes[at] = random.next() as u8,
        4 => bytes[at] = b" \n-9A"[random.below(5)],
        _ => {
            // A digit becomes another one.
            let digits = (at..bytes.len()).find(|&at| bytes[at].is_ascii_digit());
            bytes[digits.unwrap_or(at)] = b'0' + random.below(10) as u8;
        }
    }
}

/// Verifies damaged texts; returns how many the parser refused and how many were rejected later.
/// An accepted one makes no stronger claim than the certificate.
fn verify_damaged(count: usize, seed: u64) -> (usize, usize) {
    let claims = |text: &str| Claims::read(&text.lines().map(str::to_owned).collect::<Vec<_>>());
    let original = claims(certificate());
    let mut random = Random(seed);
    let (mut refused, mut rejected) = (0, 0);
    for _ in 0..count {
        let mut bytes = certificate().as_bytes().to_vec();
        damage(&mut bytes, &mut random);
        let text = String::from_utf8_lossy(&bytes);
        if Certificate::parse(&text).is_err() {
            refused += 1;
            continue;
        }
        match verify(&text) {
            Ok(_) => assert!(text == certificate() || claims(&text).harmless(&original).is_some()),
            Err(_) => rejected += 1,
        }
    }
    (refused, rejected)
}

#[test]
fn damaged_texts_do_not_panic() {
    let (refused, rejected) = verify_damaged(24, 4);
    assert!(refused > 4 && rejected > 2, "{refused}, {rejected}");
}

#[test]
#[ignore = "minutes in a release build"]
fn two_thousand_damaged_texts_do_not_panic() {
    let (refused, rejected) = verify_damaged(2_000, 5);
    println!("{refused} refused by the parser, {rejected} rejected by a check");
    assert!(refused > 500 && rejected > 200, "{refused}, {rejected}");
}
