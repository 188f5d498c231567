//! The verifier accepts the certificate, and what it rejects.
//!
//! The verifier's crate must not depend on this one, so tests that need a certificate are here.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod changes;
mod claims;
mod hostile;
mod random;
mod tables;

use std::sync::OnceLock;

use strata_panex_proof_verifier::{Certificate, Graphs, check};

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

#[test]
fn the_certificate_is_accepted_with_the_known_figures() {
    let report = check(&Certificate::parse(certificate()).unwrap(), graphs()).unwrap();
    assert_eq!(report.exact, [42, 128, 343, 881]);
    assert_eq!((report.signatures, report.classes, report.forms), (1_574, 68, 499));
    assert_eq!((report.nodes, report.edges), (96_676, 857_944));
    assert_eq!((report.base_rows, report.base_equalities), (36_112, 36_112));
    assert_eq!(report.inequalities, 6_937_350);
    assert_eq!((report.distinct, report.identities), (2_119, 831_724));
    assert_eq!((report.top_nodes, report.top_edges, report.top_inequalities), (15, 139, 1_113));
    assert_eq!((report.segments, report.rules, report.upper_forms), (1_556, 3_114, 21));
}
