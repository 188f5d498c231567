//! Incoming sets of a node: exit sets whose states enter the sets below the node, by configuration.

use crate::symbolic::index::bits::{ConfigId, ConfigSet};
use crate::symbolic::node::content::Child;
use crate::symbolic::node::reference::Ref;

/// Distinct incoming sets, in linked lists by configuration.
#[derive(Clone)]
pub(crate) struct IncomingSets {
    pub(crate) configs: ConfigSet,
    /// For each configuration, the index of its last set in `links`, plus 1.
    heads: [u32; 64],
    /// Each set, with the index of the set before it in its list, plus 1; 0 for the first.
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
