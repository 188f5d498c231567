//! The upper bound: X(n) <= U(n) for all n >= 5.
//!
//! X(5) and X(6) are computed. From level 6 on, a grammar proves the bound: a segment of level N+1
//! is a chain of segments of level N. A segment's form is claimed to be at least its length, for
//! all N >= 6. That holds at N = 6 by computation, and from N to N+1 by the segment's rules.

use crate::certificate::Certificate;
use crate::failure::{Result, ensure, fails, require};
use crate::graph::{Graphs, order_of};
use crate::lower::U;
use crate::sequence::Form;

/// Checks the upper part of a certificate.
pub(crate) fn check(certificate: &Certificate, graphs: &Graphs) -> Result<()> {
    for (n, exact) in [(5, graphs.exact[2]), (6, graphs.exact[3])] {
        let is_short = 8 * i128::from(exact) <= U.eighths(n);
        let place = format_args!("n = {n}: {exact}");
        ensure(is_short, "X(5) and X(6) are at most U(5) and U(6)", place)?;
    }
    // The place of each segment in the tables: index of its signature, row.
    let (mut entries, outline) = (Vec::new(), &certificate.outline);
    for (number, segment) in certificate.segments.iter().enumerate() {
        let (place, check) =
            (format!("segment {number}"), "segments have listed signatures and rows");
        let at = outline.index.get(&segment.signature).ok_or_else(|| fails(check, &place))?;
        let row = outline.find(*at, &segment.end, check)?;
        let length = 8 * i128::from(graphs.level_6[*at][row][segment.pattern]);
        let claim = segment.form.eighths(6);
        let place = format_args!("{place}: {claim} < {length}");
        ensure(claim >= length, "segments are upper bounds at level 6", place)?;
        entries.push((*at, row));
    }
    let mut has_rule = vec![[false; 2]; entries.len() + 1];
    for rule in &certificate.rules {
        check_rule(certificate, graphs, &entries, rule)?;
        has_rule[rule.0][rule.1 as usize] = true;
    }
    let missing = has_rule.iter().position(|has| *has != [true; 2]);
    let place = format_args!("segment {}", missing.unwrap_or_default());
    ensure(missing.is_none(), "segments have rules for both parities", place)
}

/// A rule is a path in the graph of its segment, with the right end, order vector and length.
fn check_rule(
    certificate: &Certificate,
    graphs: &Graphs,
    entries: &[(usize, usize)],
    (number, parity, children): &(usize, u32, Vec<usize>),
) -> Result<()> {
    let place = format!("rule of segment {number}, parity {parity}");
    let segment = certificate.segments.get(*number).map(|segment| (segment, entries[*number]));
    let graph = segment.map_or(&graphs.top, |(_, (at, _))| &graphs.graphs[at]);
    // The node, the order bits of levels N+1, N, N-1 and below, and the length.
    let (mut node, mut order, mut length) = (&graph[0], 0, Form::default());
    for &child in children {
        let (signature, row) = entries[child];
        let edge = node.edges.get(row).filter(|_| node.signature == signature);
        let check = "children of a rule follow one another";
        let (target, flips) = *edge.ok_or_else(|| fails(check, &place))?;
        node = &graph[target];
        order ^= certificate.segments[child].pattern ^ if flips { 8 } else { 0 };
        length = length.add(1, certificate.segments[child].form);
    }
    let (form, is_right) = match segment {
        Some((segment, (_, row))) => {
            (segment.form, node.row == Some(row) && order == order_of(segment.pattern, 2))
        }
        // The whole puzzle ends where it starts, with all colours exchanged.
        None => (U, node.place == graph[0].place && order == 0b1111),
    };
    ensure(is_right, "rules end as their segments do", &place)?;
    // The first N >= 6 for which N+1 has the parity.
    let first = 6 + (7 + parity) % 2;
    require(form.next().add(-1, length), (first, 2), "rules are not too long", &place)
}
