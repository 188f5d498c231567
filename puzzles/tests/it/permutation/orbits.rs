//! Reference for the orbits of states under the symmetries of the moves, found by trying all images.

use std::collections::HashMap;

use super::reference::{Reference, State as Arrangement, Step};

/// A small graph of arrangements, for the slow reference.
pub(crate) struct Graph {
    /// By state, its depth.
    depths: Vec<usize>,
    /// By state and move, the state after it, if it is legal.
    next: Vec<Vec<Option<usize>>>,
}

impl Graph {
    pub(crate) fn new(reference: &Reference, moves: &[Vec<Step>]) -> Graph {
        let start: Arrangement = reference.normal_start();
        let mut numbers = HashMap::from([(start.clone(), 0)]);
        let (mut states, mut graph) = (vec![start], Graph { depths: vec![0], next: Vec::new() });
        let mut at = 0;
        while let Some(state) = states.get(at).cloned() {
            let mut next = Vec::new();
            for steps in moves {
                let after = reference.apply(&state, steps);
                let is_illegal = reference.is_illegal(&after);
                let number = *numbers.entry(after.clone()).or_insert_with(|| {
                    if !is_illegal {
                        states.push(after);
                        graph.depths.push(graph.depths[at] + 1);
                    }
                    states.len() - 1
                });
                next.push((!is_illegal).then_some(number));
            }
            graph.next.push(next);
            at += 1;
        }
        graph
    }

    /// The map of states under which the first moves become `images` and the start is fixed, if there is
    /// one. With fewer than all moves it covers a part of the states.
    fn lift(&self, images: &[usize]) -> Option<Vec<Option<usize>>> {
        let mut map = vec![None; self.next.len()];
        let mut back = vec![None; self.next.len()];
        (map[0], back[0]) = (Some(0), Some(0));
        let mut queue = vec![0];
        while let Some(state) = queue.pop() {
            let image = map[state]?;
            for (number, other) in images.iter().enumerate() {
                match (self.next[state][number], self.next[image][*other]) {
                    (None, None) => {}
                    (Some(next), Some(to)) => {
                        if map[next].is_some_and(|known| known != to)
                            || back[to].is_some_and(|known| known != next)
                        {
                            return None;
                        }
                        if map[next].is_none() {
                            queue.push(next);
                        }
                        (map[next], back[to]) = (Some(to), Some(next));
                    }
                    _ => return None,
                }
            }
        }
        Some(map)
    }

    /// All maps of states that permute the moves and keep the start.
    fn maps(&self, images: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        let Some(map) = self.lift(images) else { return };
        let moves = self.next[0].len();
        if images.len() == moves {
            found.push(map.into_iter().map(Option::unwrap).collect());
            return;
        }
        for image in 0..moves {
            if !images.contains(&image) {
                images.push(image);
                self.maps(images, found);
                images.pop();
            }
        }
    }

    /// Orbits and states of each layer, and the number of different maps.
    pub(crate) fn orbits(&self) -> (Vec<(usize, u64)>, usize) {
        let mut maps = Vec::new();
        self.maps(&mut Vec::new(), &mut maps);
        let mut layers = vec![(0, 0); self.depths.iter().max().unwrap() + 1];
        for (state, depth) in self.depths.iter().enumerate() {
            layers[*depth].0 += usize::from(maps.iter().all(|map| map[state] >= state));
            layers[*depth].1 += 1;
        }
        maps.sort();
        maps.dedup();
        (layers, maps.len())
    }
}
