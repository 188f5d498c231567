//! The plain breadth-first search that all others are compared with: one hash map of all states.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// Searches layer by layer, until nothing is new or the layers so far and the depths of all states satisfy
/// `is_last`. `successors` lists one state for each move.
pub(crate) fn search<S: Clone + Eq + Hash>(
    starts: &[S],
    mut successors: impl FnMut(&S) -> Vec<S>,
    mut is_last: impl FnMut(&[Vec<S>], &HashMap<S, u32>) -> bool,
) -> Vec<Vec<S>> {
    let mut depths: HashMap<S, u32> = starts.iter().map(|start| (start.clone(), 0)).collect();
    let mut layers = vec![starts.to_vec()];
    while !is_last(&layers, &depths) {
        let depth = layers.len() as u32;
        let mut next = Vec::new();
        for successor in layers[layers.len() - 1].iter().flat_map(&mut successors) {
            if let Entry::Vacant(entry) = depths.entry(successor) {
                next.push(entry.key().clone());
                entry.insert(depth);
            }
        }
        if next.is_empty() {
            break;
        }
        layers.push(next);
    }
    layers
}

/// The layers around some states, up to a depth.
pub(crate) fn layers_of<S: Clone + Eq + Hash>(
    starts: &[S],
    depth: usize,
    successors: impl FnMut(&S) -> Vec<S>,
) -> Vec<Vec<S>> {
    search(starts, successors, |layers, _| layers.len() > depth)
}
