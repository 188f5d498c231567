//! What leaves a node by a move: the sets that its siblings of the next layer take in.

use strata_space::nested::{MAX_MOVES, NestedSpace};

use crate::diagram::Diagram;
use crate::error::StepError;
use crate::levels::{Configs, Moved, bits};
use crate::refs::Ref;

/// Sets of exits of one node that are being made: by move, and by configuration.
#[derive(Clone)]
pub(crate) struct Slots {
    configs: [Configs; MAX_MOVES as usize],
    below: [[u32; 64]; MAX_MOVES as usize],
}

impl Default for Slots {
    fn default() -> Slots {
        Slots {
            configs: [Configs::default(); MAX_MOVES as usize],
            below: [[0; 64]; MAX_MOVES as usize],
        }
    }
}

impl<S: NestedSpace> Diagram<S> {
    /// The current states of a node that let something larger make a move, after it.
    #[inline(always)]
    pub(crate) fn exits(&mut self, level: u8, set: Ref, mv: usize) -> Result<Ref, StepError> {
        let flipped = set.is_flipped();
        let mv = if flipped { self.levels.flip_move(mv) } else { mv };
        let id = set.id();
        if *self.exit_memory(id, mv) == 0 {
            self.find_exits(level, id)?;
        }
        Ok(Ref::of_word(*self.exit_memory(id, mv)).flip_if(flipped))
    }

    /// Works out a node's exits by all moves: who needs one mostly needs all.
    #[inline(never)]
    fn find_exits(&mut self, level: u8, id: usize) -> Result<(), StepError> {
        let node = Ref::new(id as u32, false, false);
        let moves = self.node(node).exits().into();
        if level == self.levels.leaf() {
            let class = self.node(node).class();
            let current = self.leaf(node).current;
            for mv in bits(moves) {
                let open = |leaf: &usize| self.levels.row(class, *leaf).exits >> mv & 1 == 1;
                let left = bits(current)
                    .filter(open)
                    .fold(0, |set, leaf| set | 1 << self.levels.leaves.leave(leaf, mv));
                *self.exit_memory(id, mv) = self.intern_leaf_exits(left)?.word();
            }
            return Ok(());
        }
        self.prefetch_children(id);
        self.slots[usize::from(level)].configs = [Configs::default(); MAX_MOVES as usize];
        let children = self.children(id);
        for (config, at) in self.configs(id).iter().zip(0..) {
            let below = self.child(children, at);
            for mv in bits(self.exit_moves(below).into()) {
                if let Moved::Outside(config) = self.levels.shift(level, config, mv)? {
                    let below = self.exits(level - 1, below, mv)?;
                    let slots = &mut self.slots[usize::from(level)];
                    slots.configs[mv].insert(config);
                    slots.below[mv][usize::from(config)] = below.word();
                }
            }
        }
        for mv in bits(moves) {
            let base = self.made.len();
            let slots = &self.slots[usize::from(level)];
            let configs = slots.configs[mv];
            let below = configs.iter().map(|config| slots.below[mv][usize::from(config)]);
            self.made.extend(below);
            *self.exit_memory(id, mv) = self.intern_exits(level, configs, base)?.word();
        }
        Ok(())
    }
}
