//! Closed forms and the sign test.

use strata_panex_proof_verifier::sequence::Form;

#[test]
fn values_follow_the_definition() {
    // P(6) = 70, P(7) = 169, (-1)^6 = 1.
    assert_eq!(Form([2, -3, 5, 7, 11]).eighths(6), 2 * 70 - 3 * 169 + 5 * 6 + 7 + 11);
    assert_eq!(Form([2, -3, 5, 7, 11]).eighths(5), 2 * 29 - 3 * 70 + 5 * 5 + 7 - 11);
}

#[test]
fn sequences_without_pell_part_are_decided_by_two_terms_and_the_slope() {
    assert_eq!(Form([0, 0, 0, 3, 3]).prove_sign(4, 1), Ok(()));
    assert_eq!(Form([0, 0, 0, 3, 4]).prove_sign(4, 1), Err(5));
    assert_eq!(Form([0, 0, 0, 3, 4]).prove_sign(4, 2), Ok(()));
    assert_eq!(Form([0, 0, -1, 20, 0]).prove_sign(4, 1), Err(21));
    assert_eq!(Form([0, 0, -1, 1_000, 0]).prove_sign(4, 1), Err(44));
}

#[test]
fn a_sequence_that_becomes_negative_late_is_not_accepted() {
    // -P(17) P(N) + P(16) P(N+1) = -P(N-16) for N > 16.
    let (mut before, mut now) = (0i128, 1i128);
    for _ in 0..16 {
        (before, now) = (now, 2 * now + before);
    }
    assert_eq!(Form([-now, before, 0, 0, 0]).prove_sign(4, 1), Err(5));
    assert_eq!(Form([-now, before, 0, 1 << 20, 0]).prove_sign(4, 1), Err(33));
    assert_eq!(Form([-now, before, 0, 1 << 40, 0]).prove_sign(4, 1), Err(44));
}

#[test]
fn a_proven_sign_agrees_with_the_terms() {
    let mut proven = 0;
    for code in 0..7usize.pow(5) {
        let coefficient = |place| (code / 7usize.pow(place) % 7) as i128 - 3;
        let form = Form(std::array::from_fn(|i| coefficient(i as u32)));
        for step in [1, 2] {
            let first = (4..52).step_by(step).find(|&level| form.eighths(level) < 0);
            match form.prove_sign(4, step) {
                Ok(()) => {
                    assert_eq!(first, None, "{form:?}");
                    proven += 1;
                }
                Err(level) if level < 44 => assert_eq!(first, Some(level), "{form:?}"),
                Err(_) => assert!(form.0[2] < 0 || form.0[..2] != [0, 0], "{form:?}"),
            }
        }
    }
    assert!(proven > 10_000, "{proven}");
}
