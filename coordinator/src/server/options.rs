//! Conversion of a job's options between the journal and the protocol.

use std::num::NonZeroU32;
use std::time::Duration;

use strata_proto::net::convert::ConvertError;
use strata_proto::v1;
use strata_proto::v1::keep_layers::Which;
use strata_run::KeepLayers;

use crate::cluster::session::keep_layers_to;
use crate::entry::{EngineRecord, JobOptions};

/// A job's options as a message.
pub(crate) fn options_to(options: &JobOptions) -> v1::JobOptions {
    v1::JobOptions {
        checkpoint_interval_ms: options.checkpoint_interval.map_or(0, |i| i.as_millis() as u64),
        max_layers: options.max_layers,
        disk_limit_bytes: options.disk_limit,
        keep: Some(keep_layers_to(options.keep)),
        priority: options.priority,
    }
}

/// A job's options from a message, without the choice of its engine. An interval of 0 is the
/// default.
///
/// # Errors
/// If every 0th layer is to be kept.
pub(crate) fn options_from(options: v1::JobOptions) -> Result<JobOptions, ConvertError> {
    let keep = match options.keep.and_then(|keep| keep.which) {
        None | Some(Which::Last(_)) => KeepLayers::Last,
        Some(Which::All(_)) => KeepLayers::All,
        Some(Which::Every(step)) => {
            let step = NonZeroU32::new(step);
            KeepLayers::Every(
                step.ok_or_else(|| ConvertError::new("keep", "every must be positive"))?,
            )
        }
    };
    let interval = Duration::from_millis(options.checkpoint_interval_ms);
    Ok(JobOptions {
        checkpoint_interval: Some(interval).filter(|interval| !interval.is_zero()),
        max_layers: options.max_layers,
        disk_limit: options.disk_limit_bytes,
        keep,
        engine: EngineRecord::default(),
        priority: options.priority,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_protocol() {
        for keep in [KeepLayers::Last, KeepLayers::All, KeepLayers::Every(NonZeroU32::MIN)] {
            let options = JobOptions {
                checkpoint_interval: Some(Duration::from_millis(2500)),
                max_layers: Some(3),
                disk_limit: Some(1 << 40),
                keep,
                engine: EngineRecord::default(),
                priority: -7,
            };
            assert_eq!(options_from(options_to(&options)), Ok(options));
        }
        assert_eq!(options_from(v1::JobOptions::default()), Ok(JobOptions::default()));
    }

    #[test]
    fn keeping_every_0th_layer_is_refused() {
        let keep = Some(v1::KeepLayers { which: Some(Which::Every(0)) });
        let options = v1::JobOptions { keep, ..v1::JobOptions::default() };
        assert_eq!(options_from(options).unwrap_err().to_string(), "keep: every must be positive");
    }
}
