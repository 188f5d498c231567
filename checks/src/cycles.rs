//! Import cycles: groups of files in which each imports every other, directly or through others.

use std::fmt::Write;

use crate::imports::Imports;
use crate::modules::{FileId, Tree};

/// Finds the groups of two and more files that import each other.
///
/// `imports` are the imports of `tree`. Each group is sorted, and the largest group comes first.
pub fn cycles(tree: &Tree, imports: &Imports) -> Vec<Vec<FileId>> {
    let mut targets = vec![Vec::new(); tree.files.len()];
    for (from, to) in imports.keys() {
        targets[*from].push(*to);
    }
    let mut components = components(&targets);
    components.iter_mut().for_each(|component| component.sort_unstable());
    components.sort_by_key(|component| (usize::MAX - component.len(), component.clone()));
    components
}

/// Describes cycles as text: the files of each cycle, and the lines of the imports between them.
pub fn describe(tree: &Tree, imports: &Imports, cycles: &[Vec<FileId>]) -> String {
    let mut text = String::new();
    for cycle in cycles {
        let _ = writeln!(text, "cycle of {} files:", cycle.len());
        for ((from, to), found) in imports {
            if cycle.contains(from) && cycle.contains(to) {
                let target = tree.files[*to].display();
                for import in found {
                    let source = tree.files[*from].display();
                    let _ =
                        writeln!(text, "  {source}:{} {} -> {target}", import.line, import.path);
                }
            }
        }
    }
    text
}

/// Strongly connected components of two and more nodes, by Tarjan's algorithm.
///
/// `targets[node]` are the nodes that a node leads to.
pub fn components(targets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        targets,
        order: vec![None; targets.len()],
        lowest: vec![0; targets.len()],
        is_open: vec![false; targets.len()],
        open: Vec::new(),
        visited: 0,
        components: Vec::new(),
    };
    for node in 0..targets.len() {
        if search.order[node].is_none() {
            search.visit(node);
        }
    }
    search.components.retain(|component| component.len() > 1);
    search.components
}

struct Search<'a> {
    targets: &'a [Vec<usize>],
    /// The number at which a node was first visited.
    order: Vec<Option<usize>>,
    /// The lowest number that is reachable through open nodes.
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    /// Visited nodes whose component is not complete.
    open: Vec<usize>,
    visited: usize,
    components: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, node: usize) {
        let number = self.visited;
        self.visited += 1;
        self.order[node] = Some(number);
        self.lowest[node] = number;
        self.open.push(node);
        self.is_open[node] = true;
        for &target in &self.targets[node] {
            match self.order[target] {
                None => {
                    self.visit(target);
                    self.lowest[node] = self.lowest[node].min(self.lowest[target]);
                }
                Some(order) if self.is_open[target] => {
                    self.lowest[node] = self.lowest[node].min(order);
                }
                Some(_) => {}
            }
        }
        if self.lowest[node] == number {
            let start = self.open.iter().rposition(|open| *open == node).unwrap_or(0);
            let component = self.open.split_off(start);
            component.iter().for_each(|member| self.is_open[*member] = false);
            self.components.push(component);
        }
    }
}
