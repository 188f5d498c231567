//! What leaves a node by a move: the sets that its siblings of the next layer take in.

use strata_space::nested::{MAX_MOVES, NestedSpace};

use crate::diagram::{Diagram, Entry};
use crate::error::StepError;
use crate::intern::Wanted;
use crate::levels::{Configs, Moved, bits};
use crate::refs::Ref;

/// Sets of exits of one node that are being made: by move, and by configuration.
#[derive(Clone)]
pub(crate) struct Slots {
    configs: [Configs; MAX_MOVES as usize],
    below: [[u32; 64]; MAX_MOVES as usize],
    /// What is below the node.
    entries: Vec<Entry>,
}

impl Default for Slots {
    fn default() -> Slots {
        Slots {
            configs: [Configs::default(); MAX_MOVES as usize],
            below: [[0; 64]; MAX_MOVES as usize],
            entries: Vec::new(),
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
        let mut known = self.known_exits(id, mv);
        if known == 0 {
            self.find_exits(level, id)?;
            known = self.known_exits(id, mv);
        }
        Ok(Ref::of_word(known).flip_if(flipped))
    }

    /// Works out a node's exits by all moves: who needs one mostly needs all.
    #[inline(never)]
    fn find_exits(&mut self, level: u8, id: usize) -> Result<(), StepError> {
        let node = Ref::new(id as u32, false, false);
        let moves: u64 = self.node(node).exits().into();
        if level == self.levels.leaf() {
            let class = self.node(node).class();
            let current = self.leaf(node).current;
            for mv in bits(moves) {
                let open = |leaf: &usize| self.levels.row(class, *leaf).exits >> mv & 1 == 1;
                let left = bits(current)
                    .filter(open)
                    .fold(0, |set, leaf| set | 1 << self.levels.leaves.leave(leaf, mv));
                let set = self.intern_leaf_exits(left)?;
                self.keep_exits(id, mv, set);
            }
            return Ok(());
        }
        let slots = &mut self.slots[usize::from(level)];
        slots.configs = [Configs::default(); MAX_MOVES as usize];
        let mut entries = std::mem::take(&mut slots.entries);
        self.read_entries(id, &mut entries);
        let sorted = self.sort_exits(level, &entries);
        self.slots[usize::from(level)].entries = entries;
        sorted?;
        let mut wanted = [(0, Wanted::default()); MAX_MOVES as usize];
        for (wanted, mv) in wanted.iter_mut().zip(bits(moves)) {
            let base = self.made.len();
            let slots = &self.slots[usize::from(level)];
            let configs = slots.configs[mv];
            let below = configs.iter().map(|config| slots.below[mv][usize::from(config)]);
            self.made.extend(below);
            *wanted = (mv, self.want_exits(level, configs, base));
        }
        // What was made last is taken away first.
        let wanted = &wanted[..moves.count_ones() as usize];
        for (_, wanted) in wanted {
            self.prefetch_wanted(wanted);
        }
        for (mv, wanted) in wanted.iter().rev() {
            let set = self.intern_exits(wanted)?;
            self.keep_exits(id, *mv, set);
        }
        Ok(())
    }

    /// Sorts the exits of a node's children by move and by configuration after it.
    #[inline(always)]
    fn sort_exits(&mut self, level: u8, entries: &[Entry]) -> Result<(), StepError> {
        for Entry { config, below } in entries.iter().copied() {
            for mv in bits(self.exit_moves(below).into()) {
                if let Moved::Outside(config) = self.levels.shift(level, config, mv)? {
                    let below = self.exits(level - 1, below, mv)?;
                    let slots = &mut self.slots[usize::from(level)];
                    slots.configs[mv].insert(config);
                    slots.below[mv][usize::from(config)] = below.word();
                }
            }
        }
        Ok(())
    }
}
