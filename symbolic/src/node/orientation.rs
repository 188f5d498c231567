//! Orientation.

use std::cmp::Ordering;

use crate::index::bits::Configs;
use crate::index::shared::Known;
use crate::node::reference::Ref;

/// Whether a set is stored as it is or flipped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Turned {
    Own,
    /// It is its own flip.
    Symmetric,
    Flipped,
}

impl Turned {
    /// The lesser one is stored; the flip is compared to the set.
    pub(crate) fn of(flip: Ordering) -> Turned {
        match flip {
            Ordering::Less => Turned::Flipped,
            Ordering::Equal => Turned::Symmetric,
            Ordering::Greater => Turned::Own,
        }
    }

    pub(crate) fn reference(self, id: u32) -> Ref {
        Ref::new(id, self == Turned::Symmetric, self == Turned::Flipped)
    }
}

/// Brings what is below the configurations of a list into the orientation in which it is stored: the
/// lesser one, where `classes` compares the flip's class to its own. Returns the configurations then.
#[inline]
pub(crate) fn orient<C>(
    known: &Known<C>,
    level: u8,
    configs: Configs,
    below: &mut [u32],
    classes: Ordering,
) -> (Configs, Turned) {
    if classes == Ordering::Greater {
        return (configs, Turned::Own);
    }
    let flips = configs.iter().map(|config| known.config(level, config).flip);
    let flip_configs: Configs = flips.clone().collect();
    let order = classes.then(flip_configs.0.cmp(&configs.0));
    if order == Ordering::Greater {
        return (configs, Turned::Own);
    }
    let (mut places, mut flipped) = ([0; 64], [0; 64]);
    for (config, word) in flips.zip(&*below) {
        places[usize::from(config)] = Ref::of_word(*word).flip().word();
    }
    for (place, config) in flipped.iter_mut().zip(flip_configs.iter()) {
        *place = places[usize::from(config)];
    }
    let flipped = &flipped[..below.len()];
    let turned = Turned::of(order.then_with(|| flipped.cmp(below)));
    if turned == Turned::Flipped {
        below.copy_from_slice(flipped);
        return (flip_configs, turned);
    }
    (configs, turned)
}
