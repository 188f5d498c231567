//! Retention of layer files.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Which layers stay on disk besides the two last ones, which a search always needs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepLayers {
    /// None.
    #[default]
    Last,
    /// All.
    All,
    /// Every layer whose depth is a multiple of this.
    Every(NonZeroU32),
}

impl KeepLayers {
    /// Whether the layer of that depth stays.
    #[must_use]
    pub fn keeps(self, depth: u32) -> bool {
        match self {
            KeepLayers::Last => false,
            KeepLayers::All => true,
            KeepLayers::Every(step) => depth.is_multiple_of(step.get()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_layer_is_kept_from_the_first_on() {
        let keep = KeepLayers::Every(NonZeroU32::new(3).unwrap());
        let kept: Vec<u32> = (0..8).filter(|depth| keep.keeps(*depth)).collect();
        assert_eq!(kept, [0, 3, 6]);
        assert!(KeepLayers::All.keeps(1));
        assert!(!KeepLayers::default().keeps(0));
    }
}
