//! Retention of layer files.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which layers stay on disk besides the last two, which a search always needs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepLayers {
    /// No other layers.
    #[default]
    Last,
    /// All layers.
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

impl fmt::Display for KeepLayers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepLayers::Last => f.write_str("last"),
            KeepLayers::All => f.write_str("all"),
            KeepLayers::Every(step) => write!(f, "every:{step}"),
        }
    }
}

/// The text is not a valid choice of layers to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use all, last or every:K with K of at least 1")]
pub struct KeepLayersError;

impl FromStr for KeepLayers {
    type Err = KeepLayersError;

    fn from_str(text: &str) -> Result<KeepLayers, KeepLayersError> {
        match text {
            "all" => Ok(KeepLayers::All),
            "last" => Ok(KeepLayers::Last),
            _ => {
                let step = text.strip_prefix("every:").ok_or(KeepLayersError)?;
                Ok(KeepLayers::Every(step.parse().map_err(|_| KeepLayersError)?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back() {
        for text in ["all", "last", "every:5"] {
            assert_eq!(text.parse::<KeepLayers>().unwrap().to_string(), text);
        }
        for text in ["", "some", "every:0", "every:", "every:-1"] {
            assert_eq!(text.parse::<KeepLayers>(), Err(KeepLayersError), "{text}");
        }
    }

    #[test]
    fn every_third_layer_is_kept_from_the_first_on() {
        let keep = KeepLayers::Every(NonZeroU32::new(3).unwrap());
        let kept: Vec<u32> = (0..8).filter(|depth| keep.keeps(*depth)).collect();
        assert_eq!(kept, [0, 3, 6]);
        assert!(KeepLayers::All.keeps(1));
        assert!(!KeepLayers::default().keeps(0));
    }
}
