//! What the verifier accepts and rejects.
//!
//! The verifier's crate must not depend on this one, so tests that need a certificate are here.

mod changes;
mod claims;
mod hostile;
mod random;
mod tables;

use std::sync::OnceLock;

use strata_panex_proof_verifier::{Certificate, Failure, Graphs, Report, check};

/// The certificate's text.
fn certificate() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| strata_panex::proof::certificate().unwrap())
}

/// The graphs of the certificate.
fn graphs() -> &'static Graphs {
    static GRAPHS: OnceLock<Graphs> = OnceLock::new();
    GRAPHS.get_or_init(|| Graphs::derive(&Certificate::parse(certificate()).unwrap()).unwrap())
}

/// Verifies a text. The graphs of the unchanged certificate are used again if they fit.
fn verify(text: &str) -> Result<Report, Failure> {
    let changed = Certificate::parse(text)?;
    if graphs().fit(&changed) {
        check(&changed, graphs())
    } else {
        check(&changed, &Graphs::derive(&changed)?)
    }
}

#[test]
fn the_certificate_is_accepted_with_the_known_figures() {
    let report = check(&Certificate::parse(certificate()).unwrap(), graphs()).unwrap();
    let expected = [
        ("signatures", 1_574),
        ("classes", 68),
        ("forms", 499),
        ("nodes", 96_676),
        ("edges", 857_944),
        ("top_nodes", 15),
        ("top_edges", 139),
        ("base_rows", 36_112),
        ("base_equalities", 36_112),
        ("inequalities", 6_937_350),
        ("identities", 831_724),
        ("distinct", 2_119),
        ("top_inequalities", 1_113),
        ("segments", 1_556),
        ("rules", 3_114),
        ("upper_forms", 21),
        ("X(3)", 42),
        ("X(4)", 128),
        ("X(5)", 343),
        ("X(6)", 881),
    ];
    assert_eq!(report, expected);
}
