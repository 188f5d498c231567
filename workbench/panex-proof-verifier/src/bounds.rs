//! Both bounds: X(n) >= U(n) and X(n) <= U(n) for all n >= 5 (sections 9 and 10 of the document).

use std::collections::HashMap;
use std::fmt::Display;

use crate::certificate::{Certificate, Segment};
use crate::graph::{Graphs, Node};
use crate::puzzle::UNREACHED;
use crate::report::{Report, Result, ensure, fails};
use crate::sequence::{Form, U};

/// Fails unless f(N) >= 0 for the levels N = start, start + step, ...
fn require(form: Form, levels: (usize, usize), check: &str, place: impl Display) -> Result<()> {
    let failure = |n| fails(check, format_args!("{place}: {form:?} is not proven at N = {n}"));
    form.prove_sign(levels.0, levels.1).map_err(failure)
}

/// Checks the potentials, which prove the lower bound.
pub(crate) fn lower(certificate: &Certificate, graphs: &Graphs, report: &mut Report) -> Result<()> {
    // Lemma P4 needs c_i >= 0. The parser ensures it for i <= 3.
    require(certificate.price, (4, 1), "prices are not negative", "weight")?;
    check_base(certificate, graphs, report)?;
    let (mut step, mut top) = (HashMap::new(), HashMap::new());
    for (at, graph) in graphs.graphs.iter().enumerate() {
        check_graph(certificate, at, graph, &mut step)?;
    }
    let goal = check_graph(certificate, graphs.graphs.len(), &graphs.top, &mut top)?;
    check_bound(certificate, goal)?;
    let identities = step.get(&Form::default()).copied().unwrap_or_default();
    report.extend([("inequalities", step.values().sum()), ("identities", identities)]);
    report.extend([("distinct", step.len()), ("top_inequalities", top.values().sum())]);
    Ok(())
}

/// Computes R_2, R_3 and R_4, and compares R_4 with the forms of the rows.
fn check_base(certificate: &Certificate, graphs: &Graphs, report: &mut Report) -> Result<()> {
    let mut tables = graphs.level_2.clone();
    for (i, price) in (1..).zip(certificate.early_prices) {
        if i > 1 {
            tables = graphs.next_tables(&tables, 1);
        }
        // The minimum of D(x, 0) and D(x, 1) - c_i, for x = 0 and 1.
        let priced = |cost| if cost == UNREACHED { cost } else { cost - price };
        for costs in tables.iter_mut().flatten() {
            *costs = costs.chunks(2).map(|d| d[0].min(priced(d[1]))).collect();
            let is_valid = costs.iter().all(|&cost| cost >= 0);
            ensure(is_valid, "priced costs are not negative", format_args!("c_{i} = {price}"))?;
        }
    }
    let (mut rows, mut equalities) = (0, 0);
    for ((signature, class), table) in certificate.signatures.iter().zip(&tables) {
        for ((row, forms), costs) in certificate.claims[*class].iter().enumerate().zip(table) {
            for (form, &cost) in forms.iter().zip(costs) {
                let (claim, value) = (form.eighths(4), 8 * i128::from(cost));
                let place = format_args!("{signature:?}, row {row}: {claim} > {value}");
                ensure(claim <= value, "rows are lower bounds at level 4", place)?;
                (rows, equalities) = (rows + 1, equalities + usize::from(claim == value));
            }
        }
    }
    report.extend([("base_rows", rows), ("base_equalities", equalities)]);
    Ok(())
}

/// Checks S1, S2 and S3 for the signature with index `at`. Counts each inequality f(N) >= 0, and
/// proves it for all N >= 4 when it is new. Returns the potential of the start with both order
/// bits.
fn check_graph(
    certificate: &Certificate,
    at: usize,
    graph: &[Node],
    counts: &mut HashMap<Form, usize>,
) -> Result<Form> {
    let Certificate { signatures, claims, price, .. } = certificate;
    let (signature, class) = signatures[at];
    let mut prove = |form: Form, check, node: &Node, bits, row| {
        let count = counts.entry(form).or_default();
        *count += 1;
        let place = format_args!("{signature:?}, node {:?} bits {bits:02b}, row {row}", node.place);
        if *count == 1 { require(form, (4, 1), check, place) } else { Ok(()) }
    };
    let find = |node: &Node| {
        let forms = certificate.potentials[class].get(&node.place);
        let place = format_args!("{signature:?}, node {:?}", node.place);
        forms.ok_or_else(|| fails("nodes have potentials", place))
    };
    let potentials = graph.iter().map(find).collect::<Result<Vec<_>>>()?;
    let start = Form::default().add(-1, potentials[0][0].next());
    prove(start, "start potentials are at most 0", &graph[0], 0, 0)?;
    for (node, source) in graph.iter().zip(&potentials) {
        let claims_below = &claims[signatures[node.signature].1];
        for ((row, forms), &(target, flips)) in claims_below.iter().enumerate().zip(&node.edges) {
            for (bits, bit) in (0..8).map(|all| (all / 2, all % 2)) {
                let target = potentials[target][bits ^ bit ^ (2 * flips)];
                let slack = source[bits].add(-1, target).next().add(1, forms[bit]);
                prove(slack, "potentials respect edges", node, bits, row)?;
            }
        }
        for (row, bits) in node.row.iter().flat_map(|&row| (0..4).map(move |bits| (row, bits))) {
            let price = if bits % 2 == 1 { *price } else { Form::default() };
            let slack = source[bits].add(-1, claims[class][row][bits / 2]).next().add(-1, price);
            prove(slack, "rows are at most the potentials of their nodes", node, bits, row)?;
        }
    }
    Ok(potentials[0][3])
}

/// B(n) = `goal`(n) + c_1 + ... + c_(n-2) >= U(n) for all n >= 5.
fn check_bound(certificate: &Certificate, goal: Form) -> Result<()> {
    // T-bar(0), ... Both sides of U satisfy (x^2 - 2x - 1)(x - 1)^2: four values would be enough.
    let mut t: Vec<i128> = vec![0, 0, 2, 9];
    (4..20).for_each(|n| t.push(2 * t[n - 1] + t[n - 2] + 3));
    let sum = |n: usize| t[2..=n - 3].iter().sum::<i128>();
    let u = |n: usize| 3 * t[n] + 6 * t[n - 1] + 3 * t[n - 2] + 4 * sum(n) - 2 * n as i128 + 6;
    ensure((5..20).all(|n| U.eighths(n) == 8 * u(n)), "U agrees with its definition", "U")?;
    let (excess, prices) = (goal.add(-1, U), certificate.early_prices.iter().sum::<i64>());
    let least = excess.eighths(5) + 8 * i128::from(prices);
    ensure(least >= 0, "the lower bound is at least U(5)", format_args!("n = 5: {least} < 0"))?;
    // From n = N+1 to N+2 the price c_N joins the sum.
    let growth = excess.next().add(-1, excess).next().add(1, certificate.price);
    require(growth, (4, 1), "the lower bound grows like U(n)", "top")
}

/// Checks the grammar, which proves the upper bound.
pub(crate) fn upper(certificate: &Certificate, graphs: &Graphs) -> Result<()> {
    let segments = &certificate.segments;
    for (n, exact) in (5..).zip(&graphs.exact[2..]) {
        let is_short = 8 * *exact as i128 <= U.eighths(n);
        ensure(is_short, "X(5) and X(6) are at most U(5) and U(6)", format!("n = {n}: {exact}"))?;
    }
    for (number, Segment { signature, row, order, form }) in segments.iter().enumerate() {
        let length = graphs.level_6[*signature][*row][*order];
        let is_long = form.eighths(6) >= 8 * i128::from(length);
        ensure(is_long, "segments are upper bounds at level 6", format!("segment {number}"))?;
    }
    let mut has_rule = vec![[false; 2]; segments.len() + 1];
    for (rule, (segment, parity, _)) in certificate.rules.iter().enumerate() {
        check_rule(certificate, graphs, rule)?;
        has_rule[*segment][*parity] = true;
    }
    let missing = has_rule.iter().position(|has_rule| *has_rule != [true; 2]);
    let place = format!("segment {}", missing.unwrap_or_default());
    ensure(missing.is_none(), "segments have rules for both parities", place)
}

/// Checks hypotheses H1, H2 and H3 for a rule.
fn check_rule(certificate: &Certificate, graphs: &Graphs, rule: usize) -> Result<()> {
    let Certificate { segments, rules, .. } = certificate;
    let (number, parity, children) = &rules[rule];
    let place = format!("rule of segment {number}, parity {parity}");
    let segment = segments.get(*number);
    let graph = segment.map_or(&graphs.top, |segment| &graphs.graphs[segment.signature]);
    // The node, the order bits of levels N+1, N, N-1 and below, and the length.
    let (mut node, mut order, mut length) = (&graph[0], 0, Form::default());
    for child in children.iter().map(|&child| &segments[child]) {
        let edge = node.edges.get(child.row).filter(|_| node.signature == child.signature);
        let check = "children of a rule follow one another";
        let (target, flips) = *edge.ok_or_else(|| fails(check, &place))?;
        node = &graph[target];
        order ^= (8 * flips) ^ (child.order / 2);
        length = length.add(1, child.form);
    }
    let (form, is_right) = match segment {
        Some(segment) => (segment.form, node.row == Some(segment.row) && order == segment.order),
        // The whole puzzle ends where it starts, with all colours exchanged.
        None => (U, node.place == graph[0].place && order == 0b1111),
    };
    ensure(is_right, "rules end as their segments do", &place)?;
    // The first N >= 6 for which N+1 has the parity.
    let first = 6 + (7 + parity) % 2;
    require(form.next().add(-1, length), (first, 2), "rules are not too long", &place)
}
