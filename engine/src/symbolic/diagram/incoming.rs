//! Incoming sets of a node: the exit sets that enter below it, by configuration.

use crate::symbolic::index::bits::{ConfigId, ConfigSet};
use crate::symbolic::node::content::Child;
use crate::symbolic::node::reference::Ref;

/// Distinct incoming sets, in linked lists by configuration.
#[derive(Clone)]
pub(crate) struct IncomingSets {
    pub(crate) configs: ConfigSet,
    /// By configuration: the last set's index in `links`, plus 1.
    heads: [u32; 64],
    /// A set, and the index of the one before it plus 1.
    links: Vec<(Ref, u32)>,
    /// The children of the node itself.
    pub(crate) own_children: Vec<Child>,
}

impl Default for IncomingSets {
    fn default() -> IncomingSets {
        IncomingSets {
            configs: ConfigSet::default(),
            heads: [0; 64],
            links: Vec::new(),
            own_children: Vec::new(),
        }
    }
}

impl IncomingSets {
    pub(crate) fn clear(&mut self) {
        self.configs = ConfigSet::default();
        self.links.clear();
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, config: ConfigId, set: Ref) {
        let head = &mut self.heads[usize::from(config)];
        if !self.configs.contains(config) {
            self.configs.insert(config);
            *head = 0;
        }
        let mut at = *head;
        while at != 0 {
            let (known, before) = self.links[at as usize - 1];
            if known == set {
                return;
            }
            at = before;
        }
        self.links.push((set, *head));
        *head = self.links.len() as u32;
    }

    #[inline(always)]
    pub(crate) fn at(&self, config: ConfigId) -> impl Iterator<Item = Ref> {
        let head = self.heads[usize::from(config)];
        let mut at = if self.configs.contains(config) { head } else { 0 };
        std::iter::from_fn(move || {
            let (set, before) = *self.links.get((at as usize).checked_sub(1)?)?;
            at = before;
            Some(set)
        })
    }
}
