//! Connections of frames: messages between workers without the cost of HTTP/2.
//!
//! A frame is the length of a message in four bytes, lowest first, and the message with its checksum. A frame
//! of length 0 has no message and shows that the sender is alive. The connection begins with [`PREFACE`] and
//! a [`Greeting`](v1::Greeting); the other end answers with a [`Reply`](v1::Reply).

use std::io;
use std::time::Duration;

use prost::bytes::{Bytes, BytesMut};
use prost::{Message, Name};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, ReadHalf, WriteHalf};
use tonic::Status;

use crate::codec;
use crate::net::error::reasons;
use crate::net::limits;
use crate::net::pace::{Pace, Stalled};
use crate::platform::ByteStream;
use crate::v1;

/// First bytes of a connection of frames. One of HTTP/2 begins with `PRI `.
pub(crate) const PREFACE: [u8; 4] = *b"SF01";

/// Bytes of a greeting, at most: a token and what is around it.
pub(crate) const GREETING_BYTES: usize = 8 << 10;

/// Bytes of the length of a frame.
const LENGTH: usize = 4;

/// Bytes that are read at once, if frames are shorter.
const BUFFER: usize = 16 << 10;

/// Window over which a frame must come at the minimum rate. A sender that has stopped, or sends a byte now
/// and then, must not hold what its receiver has set aside for the frame.
const WINDOW: Duration = Duration::from_secs(10);

/// Time for which a refused sender may go on, so that the refusal reaches it.
const LINGER: Duration = Duration::from_secs(1);

/// Why no frame comes any more.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other end has closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// The connection is broken.
    #[error("{}", reasons(.0))]
    Io(#[from] io::Error),
    /// The frame came too slowly.
    #[error("a message came too slowly: {0}")]
    Stalled(#[from] Stalled),
    /// The frame is longer than permitted.
    #[error("a message of {bytes} bytes is longer than {limit}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The greatest length.
        limit: usize,
    },
    /// The message was damaged on its way, or is malformed.
    #[error("{}", .0.message())]
    Damaged(Box<Status>),
}

/// Both directions of a connection of frames.
#[derive(Debug)]
pub struct FrameConnection {
    /// Frames of the other end.
    pub reader: FrameReader,
    /// Frames to it.
    pub writer: FrameWriter,
}

impl FrameConnection {
    /// A connection whose next bytes are those of a frame.
    #[must_use]
    pub fn new(stream: Box<dyn ByteStream>) -> Self {
        let (from, to) = tokio::io::split(stream);
        let reader = FrameReader { from: BufReader::with_capacity(BUFFER, from) };
        Self { reader, writer: FrameWriter { to, buffer: Vec::new() } }
    }

    /// Sends a refusal, and ends the connection. Drops what the other end sends until it has ended it, too:
    /// otherwise the refusal may be lost.
    pub async fn refuse(mut self, refusal: v1::Refusal) {
        let refused = async {
            self.writer.add(&v1::Reply { sequence: 0, refusal: Some(refusal) });
            self.writer.send().await?;
            self.writer.to.shutdown().await?;
            tokio::io::copy(&mut self.reader.from, &mut tokio::io::sink()).await
        };
        // The other end may have gone.
        let _ = tokio::time::timeout(LINGER, refused).await;
    }
}

/// Reads frames.
#[derive(Debug)]
pub struct FrameReader {
    from: BufReader<ReadHalf<Box<dyn ByteStream>>>,
}

impl FrameReader {
    /// Waits until bytes have come. If this future is dropped, none are lost.
    ///
    /// # Errors
    /// [`FrameError::Closed`], [`FrameError::Io`].
    pub async fn ready(&mut self) -> Result<(), FrameError> {
        if self.from.fill_buf().await?.is_empty() { Err(FrameError::Closed) } else { Ok(()) }
    }

    /// Reads the length of the next frame, in bytes.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] above `limit`, and if the length does not come.
    pub async fn length(&mut self, limit: usize) -> Result<usize, FrameError> {
        let mut length = [0; LENGTH];
        Pace::of_bytes(WINDOW).wait(self.from.read_exact(&mut length)).await??;
        let bytes = u32::from_le_bytes(length) as usize;
        if bytes > limit { Err(FrameError::TooLong { bytes, limit }) } else { Ok(bytes) }
    }

    /// Reads the message of a frame of this length.
    ///
    /// # Errors
    /// [`FrameError::Damaged`], and if the message does not come.
    pub async fn message<T: Message + Name + Default>(
        &mut self,
        bytes: usize,
    ) -> Result<T, FrameError> {
        let mut message = BytesMut::with_capacity(bytes);
        let mut pace = Pace::of_bytes(WINDOW);
        let mut rest = (&mut self.from).take(bytes as u64);
        while message.len() < bytes {
            let read = pace.wait(rest.read_buf(&mut message)).await??;
            if read == 0 {
                return Err(FrameError::Closed);
            }
            pace.count(read as u64);
        }
        decode(message.freeze())
    }

    /// Waits for the next message of at most `limit` bytes.
    ///
    /// # Errors
    /// Those of [`Self::length`] and [`Self::message`].
    pub async fn next<T: Message + Name + Default>(
        &mut self,
        limit: usize,
    ) -> Result<T, FrameError> {
        loop {
            self.ready().await?;
            let bytes = self.length(limit).await?;
            if bytes > 0 {
                return self.message(bytes).await;
            }
        }
    }
}

fn decode<T: Message + Name + Default>(bytes: Bytes) -> Result<T, FrameError> {
    codec::decode(bytes).map_err(|status| FrameError::Damaged(Box::new(status)))
}

/// Writes frames.
#[derive(Debug)]
pub struct FrameWriter {
    to: WriteHalf<Box<dyn ByteStream>>,
    /// Frames that have not been sent.
    buffer: Vec<u8>,
}

impl FrameWriter {
    /// Adds the first bytes of a connection.
    pub(crate) fn begin(&mut self) {
        self.buffer.extend(PREFACE);
    }

    /// Adds a message, to be sent with others.
    pub fn add<T: Message + Name>(&mut self, message: &T) {
        let start = self.buffer.len();
        self.buffer.extend([0; LENGTH]);
        codec::encode_to(message, &mut self.buffer);
        let bytes = (self.buffer.len() - start - LENGTH) as u32;
        self.buffer[start..start + LENGTH].copy_from_slice(&bytes.to_le_bytes());
    }

    /// Adds a frame without a message.
    pub fn add_empty(&mut self) {
        self.buffer.extend([0; LENGTH]);
    }

    /// Bytes that have been added and not sent.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.buffer.len()
    }

    /// Sends what has been added. If this future is dropped, the connection cannot be used any more.
    ///
    /// # Errors
    /// That of the connection.
    pub async fn send(&mut self) -> io::Result<()> {
        self.to.write_all(&self.buffer).await?;
        self.buffer.clear();
        // One batch can have 64 MiB.
        self.buffer.shrink_to(limits::MESSAGE_BYTES);
        self.to.flush().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    fn receipt(sequence: u64) -> v1::Reply {
        v1::Reply { sequence, refusal: None }
    }

    /// The encoded frames of replies.
    async fn encoded(replies: &[v1::Reply]) -> Vec<u8> {
        let (own, mut other) = duplex(1 << 20);
        let mut writer = FrameConnection::new(Box::new(own)).writer;
        for reply in replies {
            writer.add_empty();
            writer.add(reply);
        }
        writer.send().await.unwrap();
        assert_eq!(writer.waiting(), 0);
        let mut bytes = vec![0; 1 << 20];
        let len = other.read(&mut bytes).await.unwrap();
        bytes.truncate(len);
        bytes
    }

    fn reader(bytes: usize) -> (FrameReader, tokio::io::DuplexStream) {
        let (own, other) = duplex(bytes);
        (FrameConnection::new(Box::new(own)).reader, other)
    }

    #[tokio::test]
    async fn any_division_into_parts_gives_the_same_messages() {
        let replies: Vec<v1::Reply> = (0..20).map(|number| receipt(1 << number)).collect();
        let bytes = encoded(&replies).await;
        for part in [1, 2, 3, 5, 19, bytes.len()] {
            let (mut reader, mut other) = reader(part);
            let bytes = bytes.clone();
            tokio::spawn(async move {
                for part in bytes.chunks(part) {
                    other.write_all(part).await.unwrap();
                    tokio::task::yield_now().await;
                }
            });
            for reply in &replies {
                assert_eq!(reader.next::<v1::Reply>(100).await.unwrap(), *reply);
            }
            let end = reader.next::<v1::Reply>(100).await;
            assert!(matches!(end, Err(FrameError::Closed)), "{end:?}");
        }
    }

    #[tokio::test]
    async fn damaged_long_and_cut_messages_are_errors() {
        let bytes = encoded(&[receipt(7)]).await;
        // After the empty frame and the length.
        for at in 2 * LENGTH..bytes.len() {
            let (mut reader, mut other) = reader(100);
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            other.write_all(&damaged).await.unwrap();
            let found = reader.next::<v1::Reply>(100).await;
            assert!(matches!(found, Err(FrameError::Damaged(_))), "{at}: {found:?}");
        }
        let (mut reader, mut other) = reader(100);
        other.write_all(&bytes).await.unwrap();
        let long = reader.next::<v1::Reply>(5).await.unwrap_err().to_string();
        assert_eq!(long, format!("a message of {} bytes is longer than 5", bytes.len() - 8));
        let (mut reader, mut other) = self::reader(100);
        other.write_all(&bytes[..bytes.len() - 1]).await.unwrap();
        drop(other);
        assert!(matches!(reader.next::<v1::Reply>(100).await, Err(FrameError::Closed)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_comes_byte_by_byte_is_too_slow() {
        let bytes = [&60_000_u32.to_le_bytes()[..], &[0; 60_000]].concat();
        let (mut reader, mut other) = reader(100);
        tokio::spawn(async move {
            for byte in bytes {
                other.write_all(&[byte]).await.unwrap();
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let slow = reader.next::<v1::Reply>(1 << 20).await.unwrap_err().to_string();
        assert!(slow.starts_with("a message came too slowly: only "), "{slow}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_waits_for_the_other_end_but_not_for_ever() {
        for closes in [true, false] {
            let (own, other) = duplex(100);
            let refusal = v1::Refusal { message: "no".to_owned(), ..v1::Refusal::default() };
            let connection = FrameConnection::new(Box::new(own));
            let refused = tokio::spawn(connection.refuse(refusal.clone()));
            let mut other = FrameConnection::new(Box::new(other));
            // The sender goes on for a while.
            for _ in 0..10 {
                other.writer.add(&receipt(1));
                other.writer.send().await.unwrap();
            }
            let reply = other.reader.next::<v1::Reply>(100).await.unwrap();
            assert_eq!(reply.refusal, Some(refusal));
            let begun = tokio::time::Instant::now();
            if closes {
                drop(other);
            }
            refused.await.unwrap();
            assert_eq!(begun.elapsed(), if closes { Duration::ZERO } else { LINGER });
        }
    }
}
