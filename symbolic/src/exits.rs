//! What leaves a node by a move: the sets that its siblings of the next layer take in.

use strata_space::nested::NestedSpace;

use crate::diagram::Diagram;
use crate::full::Full;
use crate::levels::{Configs, Moved, bits};
use crate::refs::Ref;

impl<S: NestedSpace> Diagram<S> {
    /// The current states of a node that let something larger make a move, after it.
    #[inline(always)]
    pub(crate) fn exits(&mut self, level: u8, set: Ref, mv: usize) -> Result<Ref, Full> {
        let flipped = set.is_flipped();
        let mv = if flipped { self.levels.flip_move(mv) } else { mv };
        let id = set.id();
        let exits = match *self.exit_memory(id, mv) {
            0 => self.find_exits_of(level, id, mv)?,
            known => Ref::of_word(known),
        };
        Ok(exits.flip_if(flipped))
    }

    #[inline(never)]
    fn find_exits_of(&mut self, level: u8, id: usize, mv: usize) -> Result<Ref, Full> {
        let node = Ref::new(id as u32, false, false);
        let exits = if level == self.levels.leaf() {
            let class = self.node(node).class();
            let open = bits(self.leaf(node).current)
                .filter(|leaf| self.levels.row(class, *leaf).exits >> mv & 1 == 1);
            let left = open.fold(0, |set, leaf| set | 1 << self.levels.leaves.leave(leaf, mv));
            self.intern_leaf_exits(left)?
        } else {
            self.prefetch_children(id);
            let mut configs = Configs::default();
            let own = self.configs(id);
            for (config, at) in own.iter().zip(0..) {
                let below = self.child(id, at);
                if self.exit_moves(below) >> mv & 1 == 0 {
                    continue;
                }
                if let Moved::Outside(config) = self.levels.shift(level, config, mv)? {
                    let below = self.exits(level - 1, below, mv)?;
                    configs.insert(config);
                    self.slots[usize::from(level)][usize::from(config)] = below.word();
                }
            }
            let base = self.made.len();
            let slots = &self.slots[usize::from(level)];
            self.made.extend(configs.iter().map(|config| slots[usize::from(config)]));
            self.intern_exits(level, configs, base)?
        };
        *self.exit_memory(id, mv) = exits.word();
        Ok(exits)
    }
}
