//! Back through remembered layers: from where a search ended to where it began.

use strata_space::nested::{Nested, NestedFinish, NestedSpace, successors};

use crate::diagram::meeting::{Meeting, meets};
use crate::index::bits::{ConfigId, bits};
use crate::node::reference::Ref;
use crate::search::typed::Search;

impl<S: NestedSpace> Search<S> {
    /// The states of a shortest way from start to goal, with both, of a search that has just ended
    /// and has kept all its layers.
    pub fn shortest_path(&self) -> Option<Vec<Nested<S::Config>>> {
        let space = &**self.space();
        match space.finish() {
            NestedFinish::Exhausted => None,
            NestedFinish::State(goal) => self.back(goal, self.depth()),
            NestedFinish::Meeting => {
                let (met, less) = self.meeting()?;
                let exchange = |state: &Nested<S::Config>| Nested {
                    configs: state.configs.iter().map(|c| space.exchange_config(*c)).collect(),
                    leaf: space.exchange_leaf(state.leaf),
                };
                let twin = exchange(&met);
                let mut way = self.back(met, self.depth())?;
                // The goal's search is the image of the start's.
                let rest = self.back(twin, self.depth() - less)?;
                way.extend(rest.iter().rev().skip(1).map(exchange));
                Some(way)
            }
        }
    }

    /// The states from the start to one of a layer.
    fn back(&self, state: Nested<S::Config>, depth: u32) -> Option<Vec<Nested<S::Config>>> {
        let mut way = vec![state];
        for depth in (0..depth).rev() {
            let next = successors(&**self.space(), way.last()?);
            way.push(next.into_iter().find(|next| self.contains(depth, next) == Some(true))?);
        }
        way.reverse();
        Some(way)
    }

    /// A state of the last layer whose image is in it, too (0), or in the layer before (1). The odd
    /// way is the shorter one.
    fn meeting(&self) -> Option<(Nested<S::Config>, u32)> {
        let diagram = self.diagram();
        let (levels, top) = (&diagram.levels, self.top());
        let meeting = meets(diagram, levels.top(), top, top);
        let wanted = |found: Meeting| if meeting.odd { found.odd } else { found.even };
        let mut met = Nested { configs: Vec::new(), leaf: 0 };
        let (mut a, mut b): (Ref, Ref) = (top, top);
        for level in (levels.leaf() + 1..=levels.top()).rev() {
            let image = |config: ConfigId| levels.config(level, config).exchange;
            let mut below = diagram
                .entries(level, a)
                .filter_map(|entry| Some((entry, diagram.below(level, b, image(entry.config))?)));
            let found =
                below.find(|(entry, other)| wanted(meets(diagram, level - 1, entry.below, *other)));
            let (entry, other) = found?;
            met.configs.push(levels.config(level, entry.config).config);
            (a, b) = (entry.below, other);
        }
        let other = diagram.leaf(b);
        let other = if meeting.odd { other.previous } else { other.current };
        let image = |leaf: usize| levels.leaves().exchange(1 << leaf);
        met.leaf = bits(diagram.leaf(a).current).find(|leaf| image(*leaf) & other != 0)? as u8;
        Some((met, u32::from(meeting.odd)))
    }
}
