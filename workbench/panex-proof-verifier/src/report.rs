//! Figures of a successful verification.

/// What a successful verification has checked.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// X(3), X(4), X(5) and X(6), from tables with all bits of the order vector.
    pub exact: [u64; 4],
    /// Forms of the lower part.
    pub forms: usize,
    /// Signatures of the lower part.
    pub signatures: usize,
    /// Classes of signatures.
    pub classes: usize,
    /// Nodes of the graphs of all signatures.
    pub nodes: usize,
    /// Edges of the graphs of all signatures.
    pub edges: usize,
    /// Forms compared with R_4.
    pub base_rows: u64,
    /// Those of them that are equal.
    pub base_equalities: u64,
    /// Inequalities of the induction step, each for all N >= 4.
    pub inequalities: u64,
    /// Different ones among them.
    pub distinct: usize,
    /// Identities among them.
    pub identities: u64,
    /// Nodes of the graph of the whole puzzle.
    pub top_nodes: usize,
    /// Edges of the graph of the whole puzzle.
    pub top_edges: usize,
    /// Inequalities of the whole puzzle, each for all n >= 5.
    pub top_inequalities: u64,
    /// Segments of the grammar.
    pub segments: usize,
    /// Rules of the grammar, with those of the whole puzzle.
    pub rules: usize,
    /// Forms of the upper part.
    pub upper_forms: usize,
}
