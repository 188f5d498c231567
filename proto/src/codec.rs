//! gRPC codec: every message carries a checksum.
//!
//! TCP's checksum misses some errors, and TLS is optional. A damaged count or digest would be a
//! wrong result, so the last field of each message, [`FIELD`], is a checksum of the fields before
//! it, a fixed64. Other decoders of the same messages skip it as an unknown field.

use std::marker::PhantomData;

use prost::bytes::{Buf, BufMut, Bytes};
use prost::{Message, Name};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Number of the checksum's field in every message.
pub const FIELD: u32 = 2047;

/// Key of the field: its number and the wire type of a fixed64, as a varint.
const KEY: [u8; 2] = {
    let key = FIELD << 3 | 1;
    [key as u8 | 0x80, (key >> 7) as u8]
};

/// Bytes of the field: key and value.
const FIELD_LEN: usize = KEY.len() + 8;

/// Codec of all services: protocol buffers with a checksum.
///
/// The checksum is xxh3-64 of the encoded message, seeded with xxh3-64 of the message type's full
/// name. So decoding a message as another type fails, too.
#[derive(Debug)]
pub struct CheckedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for CheckedCodec<T, U> {
    fn default() -> Self {
        CheckedCodec(PhantomData)
    }
}

impl<T, U> Codec for CheckedCodec<T, U>
where
    T: Message + Name + 'static,
    U: Message + Name + Default + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = CheckedEncoder<T>;
    type Decoder = CheckedDecoder<U>;

    fn encoder(&mut self) -> CheckedEncoder<T> {
        CheckedEncoder(PhantomData)
    }

    fn decoder(&mut self) -> CheckedDecoder<U> {
        CheckedDecoder(PhantomData)
    }
}

/// Encoder of messages of one type.
#[derive(Debug)]
pub struct CheckedEncoder<T>(PhantomData<T>);

impl<T: Message + Name> Encoder for CheckedEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        let bytes = encode(&message);
        to.reserve(bytes.len());
        to.put_slice(&bytes);
        Ok(())
    }
}

/// Decoder of messages of one type.
#[derive(Debug)]
pub struct CheckedDecoder<U>(PhantomData<U>);

impl<U: Message + Name + Default> Decoder for CheckedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let len = from.remaining();
        decode(from.copy_to_bytes(len)).map(Some)
    }
}

/// Encodes a message and appends its checksum.
#[must_use]
pub fn encode<T: Message + Name>(message: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_to(message, &mut bytes);
    bytes
}

/// Appends an [`encode`]d message to other bytes.
pub(crate) fn encode_to<T: Message + Name>(message: &T, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.reserve(message.encoded_len() + FIELD_LEN);
    message.encode_raw(bytes);
    let sum = checksum::<T>(&bytes[start..]);
    bytes.extend(KEY);
    bytes.extend(sum.to_le_bytes());
}

/// Checks the checksum of an [`encode`]d message, and decodes the message.
///
/// # Errors
/// `UNAVAILABLE` if it was damaged on its way: sending it again may succeed.
/// `FAILED_PRECONDITION` if it has no checksum, `INTERNAL` if it is malformed although its checksum
/// is right.
pub fn decode<U: Message + Name + Default>(mut bytes: Bytes) -> Result<U, Status> {
    let name = U::NAME;
    let Some(len) = bytes.len().checked_sub(FIELD_LEN) else {
        return Err(without_checksum(name));
    };
    let mut field = bytes.split_off(len);
    let mut key = KEY;
    field.copy_to_slice(&mut key);
    if key != KEY {
        return Err(without_checksum(name));
    }
    if field.get_u64_le() != checksum::<U>(&bytes) {
        let text = format!("a message ({name}) was damaged on its way: wrong checksum");
        return Err(Status::unavailable(text));
    }
    U::decode(bytes).map_err(|error| Status::internal(format!("{name}: {error}")))
}

fn checksum<T: Name>(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, xxh3_64(T::NAME.as_bytes()))
}

fn without_checksum(name: &str) -> Status {
    let text = format!("a message ({name}) has no checksum: does the peer run another version?");
    Status::failed_precondition(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tonic::Code;

    use super::*;
    use crate::v1::{Advance, Digest, LayerRecord, Save};

    fn layer(depth: u32, states: u64, first: u64) -> LayerRecord {
        let digest = Some(Digest { first, second: 1 });
        LayerRecord { depth, states, digest, seconds: 0.5, ..LayerRecord::default() }
    }

    #[test]
    fn other_decoders_skip_the_checksum() {
        let message = layer(7, 1000, 3);
        assert_eq!(LayerRecord::decode(&*encode(&message)), Ok(message));
    }

    #[test]
    fn a_message_without_a_checksum_is_refused() {
        for bytes in [Vec::new(), layer(7, 1000, 3).encode_to_vec()] {
            let error = decode::<LayerRecord>(bytes.into()).unwrap_err();
            assert_eq!(error.code(), Code::FailedPrecondition);
        }
    }

    #[test]
    fn decoding_a_message_as_another_type_fails() {
        let bytes = encode(&Advance { depth: 7, ..Advance::default() });
        assert_eq!(
            decode::<Advance>(bytes.clone().into()).unwrap(),
            Advance { depth: 7, ..Advance::default() }
        );
        assert_eq!(decode::<Save>(bytes.into()).unwrap_err().code(), Code::Unavailable);
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_detected(
            depth in any::<u32>(), states in any::<u64>(), first in any::<u64>(),
            place in any::<prop::sample::Index>(),
        ) {
            let message = layer(depth, states, first);
            let mut bytes = encode(&message);
            prop_assert_eq!(decode::<LayerRecord>(bytes.clone().into()).unwrap(), message);
            let bit = place.index(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode::<LayerRecord>(bytes.into()).is_err());
        }
    }
}
