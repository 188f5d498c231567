//! Messages and services of the protocol, generated from `proto/v1`, and their codec.
//!
//! `cargo run -p strata-proto --features generate` writes `src/v1.rs` anew.
#![forbid(unsafe_code)]

pub mod codec;
#[cfg(any(test, feature = "generate"))]
#[doc(hidden)]
pub mod freshness;

pub mod net;
pub mod platform;

/// Version 1 of the protocol.
#[allow(missing_docs, clippy::all, clippy::unwrap_used, unreachable_pub)]
#[rustfmt::skip]
pub mod v1;

#[cfg(test)]
mod tests {
    use super::v1::{Advance, Digest, JobSpec, LayerRecord, LayerReport, Order, order};
    use prost::Message;

    #[test]
    fn messages_survive_encoding_and_decoding() {
        let layer = LayerRecord {
            depth: 441,
            states: 19_331,
            digest: Some(Digest { first: u64::MAX, second: 1 }),
            ..LayerRecord::default()
        };
        let report = LayerReport { layer: Some(layer), met_odd: true, ..LayerReport::default() };
        let bytes = report.encode_to_vec();
        assert_eq!(LayerReport::decode(&bytes[..]), Ok(report));
        let spec = JobSpec {
            space: "panex".into(),
            parameters: [("level".to_string(), "6".to_string())].into(),
            shards: 64,
            engine: "symbolic".to_owned(),
        };
        assert_eq!(JobSpec::decode(&spec.encode_to_vec()[..]), Ok(spec));
    }

    #[test]
    fn fields_keep_their_numbers() {
        // Epoch, number and order are fields 1, 2 and 6: other versions read them so.
        let advance = order::What::Advance(Advance { depth: 7, ..Advance::default() });
        let bytes =
            Order { epoch: 5, number: 2, what: Some(advance), incarnation: 0 }.encode_to_vec();
        assert_eq!(bytes, [0x08, 5, 0x10, 2, 0x32, 2, 0x08, 7]);
    }
}
