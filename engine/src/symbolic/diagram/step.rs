//! Step of a node: its successor in the next layer.
//!
//! The successor holds the states that moves reach from the node's current states, and the states of the
//! incoming sets, without the node's current and previous states. Steps are memoised by node and by a
//! fingerprint of the incoming sets.

use strata_space::nested::{NestedSpace, Shift};

use crate::memory::prefetch;
use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::diagram::incoming::IncomingSets;
use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::{ConfigSet, bits};
use crate::symbolic::index::space::ClassId;
use crate::symbolic::node::content::Child;
use crate::symbolic::node::hash::mix;
use crate::symbolic::node::record::LeafSets;
use crate::symbolic::node::reference::Ref;

const MIX: u64 = 0xd6e8_feb8_6659_fd93;
const MIX2: u64 = 0xe703_7ed1_a0b4_28db;

/// The term of a reference in a fingerprint, which is the sum over a set of references.
#[inline(always)]
fn fingerprint_of(set: Ref) -> u64 {
    let word = mix(u64::from(set.word()) ^ MIX, MIX2);
    mix(word ^ MIX2, MIX ^ u64::from(set.word()))
}

impl<S: NestedSpace> Diagram<S> {
    /// The top node of the layer after `top`.
    ///
    /// # Errors
    /// [`StepError`]; the diagram still holds `top`.
    pub(crate) fn step_top(&mut self, top: Ref) -> Result<Ref, StepError> {
        let class = self.index.root_class()?;
        let next = self.step(self.index.top_level(), class, top, 0)?;
        self.finish_layer(next)?;
        Ok(next)
    }

    /// The successor of a set, given its level and class. Its incoming sets are the entries of
    /// `self.incoming` from index `from` on; they are removed.
    fn step(&mut self, level: u8, class: ClassId, set: Ref, from: usize) -> Result<Ref, StepError> {
        if from == self.incoming.len() && self.node(set).has_no_states() {
            // Without current states and incoming sets, the successor is empty, whatever the previous
            // states are.
            return Ok(Ref::EMPTY);
        }
        // A set and its flip share one step. For a self-mirrored set, the smaller of (class, fingerprint
        // of the incoming sets) and the same pair of the flips decides.
        let flip_class = self.index.flip_class(class);
        let flip = if set.is_self_mirrored() {
            let [own, flip] = [false, true].map(|flip| self.fingerprint(from, flip));
            (flip_class, flip) < (class, own)
        } else {
            set.is_flipped()
        };
        if !flip {
            return self.step_memoised(level, class, set, from);
        }
        for incoming in &mut self.incoming[from..] {
            *incoming = incoming.flip();
        }
        Ok(self.step_memoised(level, flip_class, set.flip(), from)?.flip())
    }

    /// The fingerprint of the incoming sets, or of their flips.
    #[inline(always)]
    fn fingerprint(&self, from: usize, flip: bool) -> u64 {
        let sets = self.incoming[from..].iter();
        sets.fold(0, |sum, set| sum.wrapping_add(fingerprint_of(set.flip_if(flip))))
    }

    /// As [`Self::step`], for a set that is not flipped: reuses the memoised step, or computes it.
    fn step_memoised(
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
            let next = Ref::from_word(node.next);
            return self.reuse_step(level, class, set, from, next);
        }
        // The empty set belongs to all classes, so its steps have keys by class. They are above all node
        // numbers.
        let owner = if set == Ref::EMPTY { u32::MAX - class } else { id as u32 };
        if !free && let Some(next) = self.step_overflow.get(&(owner, key)) {
            return self.reuse_step(level, class, set, from, *next);
        }
        let next = self.compute_step(level, class, set, from)?;
        if free {
            let node = &mut self.nodes[id];
            (node.incoming, node.next) = (key, next.word());
        } else {
            self.step_overflow.insert((owner, key), next);
        }
        Ok(next)
    }

    /// Computes the successor of a set that is not flipped.
    fn compute_step(
        &mut self,
        level: u8,
        class: ClassId,
        set: Ref,
        from: usize,
    ) -> Result<Ref, StepError> {
        if level == self.index.leaf_level() {
            self.step_leaf(class, set, from)
        } else {
            self.step_inner(level, class, set, from)
        }
    }

    /// Returns the memoised step `next`. At intervals the step is first recomputed, from the memoised steps
    /// below it, and compared.
    #[inline(always)]
    fn reuse_step(
        &mut self,
        level: u8,
        class: ClassId,
        set: Ref,
        from: usize,
        next: Ref,
    ) -> Result<Ref, StepError> {
        if self.verify_interval != 0 {
            self.reused_steps += 1;
            // A verification does not start others, as there is one scratch buffer per level.
            if self.reused_steps >= self.verify_interval {
                self.reused_steps = 0;
                let verify_interval = std::mem::take(&mut self.verify_interval);
                let recomputed = self.compute_step(level, class, set, from);
                self.verify_interval = verify_interval;
                return if recomputed? == next {
                    Ok(next)
                } else {
                    Err(StepError::Mismatch { level })
                };
            }
        }
        self.incoming.truncate(from);
        Ok(next)
    }

    fn step_leaf(&mut self, class: ClassId, set: Ref, from: usize) -> Result<Ref, StepError> {
        let LeafSets { current, previous } = self.leaf(set);
        let entering = self.incoming[from..].iter().map(|set| self.leaf_exits(*set));
        let inside = bits(current).map(|leaf| self.index.leaf_moves(class, leaf).inside);
        let reached = entering.chain(inside).fold(0, |all, set| all | set);
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
            self.exit_sets.prefetch(*set);
        }
        // The level's scratch buffer is free: at most one step per level is in progress.
        let mut incoming_sets = std::mem::take(&mut self.incoming_sets[usize::from(level)]);
        self.read_children(set.id(), &mut incoming_sets.own_children);
        let next = self.collect_incoming(level, from, &mut incoming_sets);
        let next = next.and_then(|()| self.step_children(level, class, &incoming_sets));
        self.incoming_sets[usize::from(level)] = incoming_sets;
        next
    }

    /// Steps the children at each configuration, and interns the node they form.
    fn step_children(
        &mut self,
        level: u8,
        class: ClassId,
        incoming_sets: &IncomingSets,
    ) -> Result<Ref, StepError> {
        let base = self.child_words.len();
        let mut configs = ConfigSet::default();
        let own: ConfigSet = incoming_sets.own_children.iter().map(|child| child.config).collect();
        let mut children = incoming_sets.own_children.iter();
        for config in ConfigSet(own.0 | incoming_sets.configs.0).iter() {
            let child = if own.contains(config) { children.next() } else { None };
            let set = child.map_or(Ref::EMPTY, |child| child.set);
            let from = self.incoming.len();
            self.incoming.extend(incoming_sets.at(config));
            let inner = self.index.inner_class(class, config)?;
            let next = self.step(level - 1, inner, set, from)?;
            if next != Ref::EMPTY {
                prefetch(&self.nodes, next.id());
                self.executor.prefetch(next);
                configs.insert(config);
                self.child_words.push(next.word());
            }
        }
        self.intern(level, class, configs, base)
    }

    /// Collects the incoming sets of the children, by configuration: children of the incoming sets, which
    /// are removed from `self.incoming`, and exit sets of siblings.
    fn collect_incoming(
        &mut self,
        level: u8,
        from: usize,
        incoming_sets: &mut IncomingSets,
    ) -> Result<(), StepError> {
        incoming_sets.clear();
        for set in &self.incoming[from..] {
            for mut child in self.exit_sets.children(set.id()) {
                if set.is_flipped() {
                    child = self.flip_child(level, child);
                }
                incoming_sets.push(child.config, child.set);
            }
        }
        self.incoming.truncate(from);
        for at in 0..incoming_sets.own_children.len() {
            let Child { config, set } = incoming_sets.own_children[at];
            for kind in bits(self.exit_moves(set).into()) {
                if let Shift::Inside(config) = self.index.shift(level, config, kind)? {
                    incoming_sets.push(config, self.exit_set(set, kind));
                }
            }
        }
        Ok(())
    }
}
