//! What comes in below a node, by configuration.

use crate::index::bits::{ConfigId, Configs};
use crate::node::content::Entry;
use crate::node::reference::Ref;

/// Sets that come in, by configuration, each once.
#[derive(Clone)]
pub(crate) struct Gathered {
    pub(crate) configs: Configs,
    /// By configuration: one more than the place of the last one in `links`.
    heads: [u32; 64],
    /// A set, and one more than the place of the one before.
    links: Vec<(Ref, u32)>,
    /// What is below the node itself.
    pub(crate) own: Vec<Entry>,
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered { configs: Configs::default(), heads: [0; 64], links: Vec::new(), own: Vec::new() }
    }
}

impl Gathered {
    pub(crate) fn clear(&mut self) {
        self.configs = Configs::default();
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
