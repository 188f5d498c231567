//! Verifier of a certificate for the theorem: **the shortest exchange of two Panex towers of n
//! levels has exactly U(n) moves, for every n >= 5.**
//!
//! The crate uses the standard library only and shares no code with the program that makes the
//! certificate. It is to be read beside `docs/panex-proof.md`, "the document", in this order:
//! `report`, [`sequence`], [`puzzle`], `certificate`, `graph`, `bounds`.

mod bounds;
mod certificate;
mod graph;
pub mod puzzle;
mod report;
pub mod sequence;

pub use certificate::Certificate;
pub use graph::{Graphs, Table};
pub use report::{Failure, Report};
use report::{Result, ensure};

/// Verifies a certificate.
pub fn verify(certificate: &str) -> Result<Report> {
    let certificate = Certificate::parse(certificate)?;
    check(&certificate, &Graphs::derive(&certificate)?)
}

/// Checks the claims of a certificate with graphs that were derived from it, or from one with the
/// same signatures and rows.
pub fn check(certificate: &Certificate, graphs: &Graphs) -> Result<Report> {
    ensure(graphs.fit(certificate), "graphs belong to the certificate", "signatures and rows")?;
    let Certificate { index, claims, segments, rules, forms, .. } = certificate;
    let (all, top) = (graphs.graphs.iter(), &graphs.top);
    let edges = |graph: &Vec<_>| graph.iter().map(|node: &graph::Node| node.edges.len()).sum();
    let mut report = vec![("signatures", index.len()), ("classes", claims.len())];
    report.extend([("forms", forms[0]), ("nodes", all.clone().map(Vec::len).sum())]);
    report.extend([("edges", all.map(edges).sum()), ("top_nodes", top.len())]);
    report.push(("top_edges", edges(top)));
    bounds::lower(certificate, graphs, &mut report)?;
    bounds::upper(certificate, graphs)?;
    report.extend([("segments", segments.len()), ("rules", rules.len())]);
    report.push(("upper_forms", forms[1]));
    report.extend(["X(3)", "X(4)", "X(5)", "X(6)"].into_iter().zip(graphs.exact));
    Ok(report)
}
