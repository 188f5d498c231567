//! Canonical orientation of nodes.
//!
//! Mirroring maps a set of states to its *flip*. A node stores the smaller of the two (by class,
//! then content), and references carry a flip bit: equal sets up to mirroring share one node.

use std::cmp::Ordering;

use crate::symbolic::index::bits::ConfigSet;
use crate::symbolic::index::shared::SharedIndex;
use crate::symbolic::node::reference::Ref;

/// The orientation of a set that its node stores.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Orientation {
    AsIs,
    /// The set equals its flip.
    SelfMirrored,
    Flipped,
}

impl Orientation {
    /// The orientation to store, from the comparison of the flip with the set.
    pub(crate) fn from_flip_order(flip: Ordering) -> Orientation {
        match flip {
            Ordering::Less => Orientation::Flipped,
            Ordering::Equal => Orientation::SelfMirrored,
            Ordering::Greater => Orientation::AsIs,
        }
    }

    pub(crate) fn reference(self, id: u32) -> Ref {
        Ref::new(id, self == Orientation::SelfMirrored, self == Orientation::Flipped)
    }
}

/// Rewrites a node's children into canonical orientation.
///
/// `class_order` compares the class of the flip with the class of the set. Returns the
/// configurations in stored order and the orientation chosen.
#[inline]
pub(crate) fn canonicalise<C>(
    index: &SharedIndex<C>,
    level: u8,
    configs: ConfigSet,
    children: &mut [u32],
    class_order: Ordering,
) -> (ConfigSet, Orientation) {
    if class_order == Ordering::Greater {
        return (configs, Orientation::AsIs);
    }
    let flips = configs.iter().map(|config| index.config(level, config).flip);
    let flip_configs: ConfigSet = flips.clone().collect();
    let order = class_order.then(flip_configs.0.cmp(&configs.0));
    if order == Ordering::Greater {
        return (configs, Orientation::AsIs);
    }
    let (mut places, mut flipped) = ([0; 64], [0; 64]);
    for (config, word) in flips.zip(&*children) {
        places[usize::from(config)] = Ref::from_word(*word).flip().word();
    }
    for (place, config) in flipped.iter_mut().zip(flip_configs.iter()) {
        *place = places[usize::from(config)];
    }
    let flipped = &flipped[..children.len()];
    let orientation = Orientation::from_flip_order(order.then_with(|| flipped.cmp(children)));
    if orientation == Orientation::Flipped {
        children.copy_from_slice(flipped);
        return (flip_configs, orientation);
    }
    (configs, orientation)
}
