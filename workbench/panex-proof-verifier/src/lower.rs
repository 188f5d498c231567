//! The lower bound: X(n) >= U(n) for all n >= 5.
//!
//! R_N is the table of level N with the top order bit only: each changed lower level i gives a
//! discount of c_i (Lemma P4). The forms of rows are claims f <= R_N for all N >= 4. They hold at
//! N = 4 by computation, and from N to N+1 by potentials: lower bounds of sums along paths.

use std::collections::HashSet;
use std::fmt::Display;

use crate::certificate::{Certificate, Potentials};
use crate::failure::{Result, ensure, fails, require};
use crate::graph::{Graph, Graphs};
use crate::puzzle::UNREACHED;
use crate::report::Report;
use crate::sequence::Form;

/// U(n), n >= 5.
pub(crate) const U: Form = Form([-840, 392, -64, -16, 0]);

/// Checks the lower part of a certificate.
pub(crate) fn check(certificate: &Certificate, graphs: &Graphs, report: &mut Report) -> Result<()> {
    // Lemma P4 needs c_i >= 0. The parser ensures it for i <= 3.
    require(certificate.price, (4, 1), "prices are not negative", "weight")?;
    check_base(certificate, graphs, report)?;
    let mut step = Step { certificate, count: 0, identities: 0, distinct: HashSet::new() };
    for (at, graph) in graphs.graphs.iter().enumerate() {
        step.check_signature(at, graph)?;
    }
    (report.inequalities, report.identities) = (step.count, step.identities);
    report.distinct = step.distinct.len();
    let top = step.check_edges(&graphs.top, &certificate.top, "top")?;
    report.top_inequalities = step.count - report.inequalities;
    // The goal is the start with both order bits. Here n = N+1 is the argument.
    check_bound(certificate, top[0][3].previous())
}

/// Computes R_2, R_3 and R_4, and compares R_4 with the forms of the rows.
fn check_base(certificate: &Certificate, graphs: &Graphs, report: &mut Report) -> Result<()> {
    let signatures = &certificate.outline.signatures;
    let mut tables = graphs.level_2.clone();
    for (i, price) in (1..).zip(certificate.early_prices) {
        // Forgets the lower of two order bits: R[b] = min(D[b, 0], D[b, 1] - c_i).
        let priced = |cost| if cost == UNREACHED { cost } else { cost - price };
        let fold = |costs: &[i64]| costs.chunks(2).map(|d| d[0].min(priced(d[1]))).collect();
        if i > 1 {
            tables = graphs.next_tables(&tables, 1, <[i64]>::to_vec);
        }
        tables.iter_mut().flatten().for_each(|costs| *costs = fold(costs));
        for ((signature, _), table) in signatures.iter().zip(&tables) {
            let is_valid = table.iter().flatten().all(|&cost| cost >= 0);
            let place = format_args!("{signature}, c_{i} = {price}");
            ensure(is_valid, "priced costs are not negative", place)?;
        }
    }
    for ((signature, class), table) in signatures.iter().zip(&tables) {
        let rows = certificate.outline.rows[*class].iter().zip(&certificate.classes[*class].0);
        for ((row, forms), costs) in rows.zip(table) {
            for (bit, (form, &cost)) in forms.iter().zip(costs).enumerate() {
                let (claim, value) = (form.eighths(4), 8 * i128::from(cost));
                let place = format_args!(
                    "{signature}, row {row}, bit {bit}: 8 R = {value}, claimed {claim}"
                );
                ensure(claim <= value, "rows are lower bounds at level 4", place)?;
                report.base_rows += 1;
                report.base_equalities += u64::from(claim == value);
            }
        }
    }
    Ok(())
}

/// The induction step: inequalities f(N) >= 0 for all N >= 4. Each different one is decided once.
struct Step<'a> {
    certificate: &'a Certificate,
    count: u64,
    /// Inequalities with f = 0.
    identities: u64,
    distinct: HashSet<Form>,
}

impl Step<'_> {
    fn require(&mut self, form: Form, check: &str, place: impl Display) -> Result<()> {
        self.count += 1;
        self.identities += u64::from(form == Form::default());
        let is_new = self.distinct.insert(form);
        if is_new { require(form, (4, 1), check, place) } else { Ok(()) }
    }

    /// If the forms of the rows are below R_N, those of a signature are below R_(N+1).
    fn check_signature(&mut self, at: usize, graph: &Graph) -> Result<()> {
        let (signature, class) = self.certificate.outline.signatures[at];
        let (rows, nodes) = &self.certificate.classes[class];
        let potentials = self.check_edges(graph, nodes, &signature.to_string())?;
        for (node, potentials) in graph.iter().zip(potentials) {
            let Some(row) = node.row else { continue };
            for (bits, potential) in potentials.into_iter().enumerate() {
                let price = if bits % 2 == 1 { self.certificate.price } else { Form::default() };
                let slack = potential.add(-1, price).add(-1, rows[row][bits / 2].next());
                let place = format_args!("{signature}, node {} bits {bits:02b}", node.place);
                self.require(slack, "rows are at most the potentials of their nodes", place)?;
            }
        }
        Ok(())
    }

    /// Potentials are at most 0 at the start, and D(target) <= D(source) + R_N(edge) for all edges
    /// and order bits, which add up modulo 2 (Lemma P4). Returns them as functions of N; the
    /// certificate has them for level N+1.
    fn check_edges(
        &mut self,
        graph: &Graph,
        potentials: &Potentials,
        name: &str,
    ) -> Result<Vec<[Form; 4]>> {
        let find = |place| {
            let forms = potentials.get(place).map(|forms| forms.map(Form::next));
            let name = format_args!("{name}, node {place}");
            forms.ok_or_else(|| fails("nodes have potentials", name))
        };
        let potentials = graph.iter().map(|node| find(&node.place)).collect::<Result<Vec<_>>>()?;
        let start = Form::default().add(-1, potentials[0][0]);
        self.require(start, "start potentials are at most 0", name)?;
        for (node, source) in graph.iter().zip(&potentials) {
            let (_, class) = self.certificate.outline.signatures[node.signature];
            let rows = &self.certificate.classes[class].0;
            for ((row, forms), &(target, flips)) in rows.iter().enumerate().zip(&node.edges) {
                for (from, bit) in (0..8).map(|bits| (bits / 2, bits % 2)) {
                    let to = from ^ bit ^ if flips { 2 } else { 0 };
                    let slack = source[from].add(1, forms[bit]).add(-1, potentials[target][to]);
                    let at = &node.place;
                    let place =
                        format_args!("{name}, node {at} bits {from:02b}, row {row} bit {bit}");
                    self.require(slack, "potentials respect edges", place)?;
                }
            }
        }
        Ok(potentials)
    }
}

/// X(n) >= `goal`(n) + c_1 + ... + c_(n-2) >= U(n) for all n >= 5.
fn check_bound(certificate: &Certificate, goal: Form) -> Result<()> {
    // T-bar(0), ... and the definition of U. Both sides satisfy the same linear recurrence of order
    // 4, with the characteristic polynomial (x^2 - 2x - 1)(x - 1)^2: four values would be enough.
    let mut t: Vec<i128> = vec![0, 0, 2, 9];
    (4..20).for_each(|n| t.push(2 * t[n - 1] + t[n - 2] + 3));
    let sum = |n: usize| t[2..=n - 3].iter().sum::<i128>();
    let u = |n: usize| 3 * t[n] + 6 * t[n - 1] + 3 * t[n - 2] + 4 * sum(n) - 2 * n as i128 + 6;
    let agrees = |n: usize| U.eighths(n as u32) == 8 * u(n);
    ensure((5..20).all(agrees), "U agrees with its definition", "U")?;
    let prices: i64 = certificate.early_prices.iter().sum();
    let (bound, least) = (goal.eighths(5) + 8 * i128::from(prices), U.eighths(5));
    let place = format_args!("n = 5: {bound} < {least}");
    ensure(bound >= least, "the lower bound is at least U(5)", place)?;
    // From n to n+1 the price c_(n-1) joins the sum.
    let growth = |form: Form| form.next().add(-1, form);
    let slack = growth(goal).add(1, certificate.price.previous()).add(-1, growth(U));
    require(slack, (5, 1), "the lower bound grows like U(n)", "top")
}
