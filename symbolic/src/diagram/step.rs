//! One step of a node: what is reached from its current states and from what comes in, less the
//! current states and those before.

use strata_space::nested::NestedSpace;

use crate::diagram::arena::Diagram;
use crate::diagram::incoming::Gathered;
use crate::error::StepError;
use crate::index::bits::{Configs, bits};
use crate::index::shared::Moved;
use crate::index::space::ClassId;
use crate::memory::prefetch::prefetch;
use crate::node::content::Entry;
use crate::node::hash::fold;
use crate::node::record::LeafSets;
use crate::node::reference::Ref;

const MIX: u64 = 0xd6e8_feb8_6659_fd93;
const MIX2: u64 = 0xe703_7ed1_a0b4_28db;

/// A reference's part of the fingerprint of a set of references, which is a sum.
#[inline(always)]
fn print(set: Ref) -> u64 {
    let word = fold(u64::from(set.word()) ^ MIX, MIX2);
    fold(word ^ MIX2, MIX ^ u64::from(set.word()))
}

impl<S: NestedSpace> Diagram<S> {
    /// The layer after the one whose top node is given.
    pub(crate) fn step_top(&mut self, top: Ref) -> Result<Ref, StepError> {
        let class = self.levels.root()?;
        let next = self.step(self.levels.top(), class, top, 0)?;
        self.settle(next)?;
        Ok(next)
    }

    /// What becomes of a node of a class when the sets in `incoming` from `from` on come in, which
    /// are taken away.
    fn step(&mut self, level: u8, class: ClassId, set: Ref, from: usize) -> Result<Ref, StepError> {
        if from == self.incoming.len() && self.node(set).is_hollow() {
            // What was before is no longer of interest either.
            return Ok(Ref::EMPTY);
        }
        // Of a node and its flip one is stepped for both. One that is its own flip is told apart
        // by what comes in.
        let flip_class = self.levels.flip_class(class);
        let flip = if set.is_symmetric() {
            let [own, flip] = [false, true].map(|flip| self.fingerprint(from, flip));
            (flip_class, flip) < (class, own)
        } else {
            set.is_flipped()
        };
        if !flip {
            return self.recall(level, class, set, from);
        }
        for incoming in &mut self.incoming[from..] {
            *incoming = incoming.flip();
        }
        Ok(self.recall(level, flip_class, set.flip(), from)?.flip())
    }

    /// A fingerprint of what comes in, or of its flip.
    #[inline(always)]
    fn fingerprint(&self, from: usize, flip: bool) -> u64 {
        let sets = self.incoming[from..].iter();
        sets.fold(0, |sum, set| sum.wrapping_add(print(set.flip_if(flip))))
    }

    /// [`Self::step`] for a node that is not flipped, from memory if possible.
    fn recall(
        &mut self,
        level: u8,
        class: ClassId,
        set: Ref,
        from: usize,
    ) -> Result<Ref, StepError> {
        let key = self.fingerprint(from, false);
        let id = set.id();
        let node = &self.nodes[id];
        let free = set != Ref::EMPTY && node.next == 0;
        if node.next != 0 && node.incoming == key {
            let next = Ref::of_word(node.next);
            return self.remembered(level, class, set, from, next);
        }
        // The empty set is one for all classes. Numbers of nodes are below those of its stand-ins.
        let whose = if set == Ref::EMPTY { u32::MAX - class } else { id as u32 };
        if !free && let Some(next) = self.further.get(&(whose, key)) {
            return self.remembered(level, class, set, from, *next);
        }
        let next = self.make(level, class, set, from)?;
        if free {
            let node = &mut self.nodes[id];
            (node.incoming, node.next) = (key, next.word());
        } else {
            self.further.insert((whose, key), next);
        }
        Ok(next)
    }

    /// What becomes of a node that is not flipped.
    fn make(&mut self, level: u8, class: ClassId, set: Ref, from: usize) -> Result<Ref, StepError> {
        if level == self.levels.leaf() {
            self.step_leaf(class, set, from)
        } else {
            self.step_inner(level, class, set, from)
        }
    }

    /// A step from memory; now and then it is made again, as far as what is below is remembered.
    #[inline(always)]
    fn remembered(
        &mut self,
        level: u8,
        class: ClassId,
        set: Ref,
        from: usize,
        next: Ref,
    ) -> Result<Ref, StepError> {
        if self.verify != 0 {
            self.remembered += 1;
            // A step that is being checked is not interrupted by others: scratch is one a level.
            if self.remembered >= self.verify {
                self.remembered = 0;
                let verify = std::mem::take(&mut self.verify);
                let again = self.make(level, class, set, from);
                self.verify = verify;
                return if again? == next { Ok(next) } else { Err(StepError::Mismatch { level }) };
            }
        }
        self.incoming.truncate(from);
        Ok(next)
    }

    fn step_leaf(&mut self, class: ClassId, set: Ref, from: usize) -> Result<Ref, StepError> {
        let LeafSets { current, previous } = self.leaf(set);
        let come_in = self.incoming[from..].iter().map(|set| self.leaf_exits(*set));
        let inside = bits(current).map(|leaf| self.levels.row(class, leaf).inside);
        let reached = come_in.chain(inside).fold(0, |all, set| all | set);
        self.incoming.truncate(from);
        let next = LeafSets { current: reached & !(current | previous), previous: current };
        self.intern_leaf(class, next)
    }

    #[inline(never)]
    fn step_inner(
        &mut self,
        level: u8,
        class: ClassId,
        set: Ref,
        from: usize,
    ) -> Result<Ref, StepError> {
        for set in &self.incoming[from..] {
            self.exit_lists.prefetch(*set);
        }
        // A level's scratch is free: this is the only step of the level under way.
        let mut gathered = std::mem::take(&mut self.gathered[usize::from(level)]);
        self.read_entries(set.id(), &mut gathered.own);
        let next = self.gather(level, from, &mut gathered);
        let next = next.and_then(|()| self.step_children((level, class), &gathered));
        self.gathered[usize::from(level)] = gathered;
        next
    }

    /// Steps what is below each configuration and makes the node of it.
    fn step_children(
        &mut self,
        (level, class): (u8, ClassId),
        gathered: &Gathered,
    ) -> Result<Ref, StepError> {
        let made = self.made.len();
        let mut configs = Configs::default();
        let own: Configs = gathered.own.iter().map(|entry| entry.config).collect();
        let mut entries = gathered.own.iter();
        for config in Configs(own.0 | gathered.configs.0).iter() {
            let entry = if own.contains(config) { entries.next() } else { None };
            let below = entry.map_or(Ref::EMPTY, |entry| entry.below);
            let from = self.incoming.len();
            self.incoming.extend(gathered.at(config));
            let inner = self.levels.inner(class, config)?;
            let next = self.step(level - 1, inner, below, from)?;
            if next != Ref::EMPTY {
                prefetch(&self.nodes, next.id());
                self.work.prefetch(next);
                configs.insert(config);
                self.made.push(next.word());
            }
        }
        self.intern((level, class), configs, made)
    }

    /// Gathers what comes in below a node: from outside, in `incoming`, which is taken away, and from
    /// one of its children to another.
    fn gather(&mut self, level: u8, from: usize, gathered: &mut Gathered) -> Result<(), StepError> {
        gathered.clear();
        for set in &self.incoming[from..] {
            for mut entry in self.exit_lists.entries(set.id()) {
                if set.is_flipped() {
                    entry = self.flip_entry(level, entry);
                }
                gathered.push(entry.config, entry.below);
            }
        }
        self.incoming.truncate(from);
        for at in 0..gathered.own.len() {
            let Entry { config, below } = gathered.own[at];
            for mv in bits(self.exit_moves(below).into()) {
                if let Moved::Inside(config) = self.levels.shift(level, config, mv)? {
                    gathered.push(config, self.exits(below, mv));
                }
            }
        }
        Ok(())
    }
}
