//! Verifier of a certificate for the theorem: **the shortest exchange of two Panex towers of n
//! levels has exactly U(n) moves, for every n >= 5.**
//!
//! The crate uses the standard library only and shares no code with the program that makes the
//! certificate. `docs/panex-proof.md` has the definitions, the lemmas P1 to P4 that stay on paper,
//! and the format. What a reader has to believe is that page and these modules, in this order:
//! [`sequence`], [`puzzle`], `certificate`, `graph`, `lower`, `upper`.
//!
//! I(N) is the statement: from every listed signature, real segments of level N move no tiles but
//! the small ones, A, B and C, and end in listed rows. These checks discharge the hypotheses:
//!
//! | hypothesis | module | check |
//! |---|---|---|
//! | I(2) | `puzzle`, `graph` | a signature has a useful position, a row has the tiles of its signatures, only A, B, C move at level 2, segments of level 2 end in listed rows |
//! | I(N) gives I(N+1) | `graph` | only A, B, C move at level N+1, signatures inside segments are listed, rows lead to useful positions, segments of level N+1 end in listed rows |
//! | prices are not negative (Lemma P4) | `lower` | prices are not negative |
//! | forms are below R_4 | `lower` | priced costs are not negative, rows are lower bounds at level 4 |
//! | forms below R_N are below R_(N+1) | `lower` | start potentials are at most 0, potentials respect edges, rows are at most the potentials of their nodes |
//! | the bound is U(n) | `lower` | U agrees with its definition, the lower bound is at least U(5), the lower bound grows like U(n) |
//! | X(5), X(6) | `upper` | X(5) and X(6) are at most U(5) and U(6) |
//! | X(n) <= U(n) for n >= 7 | `upper` | segments are upper bounds at level 6, children of a rule follow one another, rules end as their segments do, rules are not too long, segments have rules for both parities |

mod certificate;
mod failure;
mod graph;
mod lower;
pub mod puzzle;
mod report;
pub mod sequence;
mod upper;

pub use certificate::Certificate;
pub use failure::Failure;
use failure::{Result, ensure};
pub use graph::{Graphs, Table};
pub use report::Report;

/// Smallest n for which a verification proves X(n) = U(n). It proves it for all n from there.
pub const FROM: u32 = 5;

/// Verifies a certificate.
pub fn verify(certificate: &str) -> Result<Report> {
    let certificate = Certificate::parse(certificate)?;
    check(&certificate, &Graphs::derive(&certificate)?)
}

/// Checks the claims of a certificate with graphs that were derived from it, or from one with the
/// same signatures and rows.
pub fn check(certificate: &Certificate, graphs: &Graphs) -> Result<Report> {
    ensure(graphs.fit(certificate), "graphs belong to the certificate", "signatures and rows")?;
    let edges = |graph: &graph::Graph| graph.iter().map(|node| node.edges.len()).sum::<usize>();
    let mut report = Report {
        exact: graphs.exact.map(i64::unsigned_abs),
        forms: certificate.forms[0],
        signatures: certificate.outline.signatures.len(),
        classes: certificate.classes.len(),
        nodes: graphs.graphs.iter().map(Vec::len).sum(),
        edges: graphs.graphs.iter().map(edges).sum(),
        top_nodes: graphs.top.len(),
        top_edges: edges(&graphs.top),
        segments: certificate.segments.len(),
        rules: certificate.rules.len(),
        upper_forms: certificate.forms[1],
        ..Report::default()
    };
    lower::check(certificate, graphs, &mut report)?;
    upper::check(certificate, graphs)?;
    Ok(report)
}
