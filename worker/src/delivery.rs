//! Receiving end of the connections over which other workers deliver their batches.

use std::sync::Arc;
use std::time::Duration;

use strata_proto::net::{FrameConnection, FrameError, FrameReader, FrameWriter, limits};
use strata_proto::v1;
use tokio::time::timeout;

use crate::batch::{self, Accepted};
use crate::intake::Intake;
use crate::state::NodeState;

/// Time without a batch after which accepted batches are acknowledged. While narrow layers follow each
/// other, their ends acknowledge them without a message.
const RECEIPT_DELAY: Duration = Duration::from_millis(20);

/// Why nothing more is accepted over a connection.
enum Ended {
    /// The other end has ended it, or is to see that it has ended.
    Broken(FrameError),
    /// Nothing came, not even empty frames; or receipts are not taken.
    Silent,
    /// The other end is to know why.
    Refused(v1::Refusal),
}

impl From<FrameError> for Ended {
    fn from(error: FrameError) -> Ended {
        match error {
            FrameError::Closed | FrameError::Io(_) => Ended::Broken(error),
            FrameError::Stalled(_) | FrameError::TooLong { .. } | FrameError::Damaged(_) => {
                let message = error.to_string();
                Ended::Refused(v1::Refusal { message, ..v1::Refusal::default() })
            }
        }
    }
}

/// Accepts batches and acknowledges them, until the connection ends.
pub(crate) async fn receive(state: Arc<NodeState>, intake: Intake, connection: FrameConnection) {
    let FrameConnection { mut reader, mut writer } = connection;
    match accept_all(&state, &intake, &mut reader, &mut writer).await {
        Ended::Broken(FrameError::Closed) => {}
        Ended::Broken(error) => tracing::debug!("a delivery ended: {error}"),
        Ended::Silent => tracing::debug!("a delivery ended: its sender is silent"),
        Ended::Refused(refusal) => {
            tracing::debug!("a batch was not accepted: {}", refusal.message);
            FrameConnection { reader, writer }.refuse(refusal).await;
        }
    }
}

async fn accept_all(
    state: &NodeState,
    intake: &Intake,
    reader: &mut FrameReader,
    writer: &mut FrameWriter,
) -> Ended {
    // The last accepted batch, if it has not been acknowledged.
    let mut accepted: Option<u64> = None;
    loop {
        let wait = if accepted.is_some() { RECEIPT_DELAY } else { limits::SILENCE };
        match timeout(wait, reader.ready()).await {
            Ok(Ok(())) => match next(state, intake, reader).await {
                Ok(None) => continue,
                Ok(Some(Accepted { sequence, wants_receipt: false })) => {
                    accepted = Some(sequence);
                    continue;
                }
                Ok(Some(Accepted { sequence, wants_receipt: true })) => accepted = Some(sequence),
                Err(ended) => return ended,
            },
            Ok(Err(error)) => return error.into(),
            Err(_) => {}
        }
        let Some(sequence) = accepted.take() else { return Ended::Silent };
        writer.add(&v1::Reply { sequence, refusal: None });
        match timeout(limits::SILENCE, writer.send()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return FrameError::Io(error).into(),
            Err(_) => return Ended::Silent,
        }
    }
}

/// Accepts the next batch; `None` for an empty frame.
async fn next(
    state: &NodeState,
    intake: &Intake,
    reader: &mut FrameReader,
) -> Result<Option<Accepted>, Ended> {
    let bytes = reader.length(limits::BATCH_BYTES).await?;
    if bytes == 0 {
        return Ok(None);
    }
    // Until the batch is in the inbox or on disk.
    let _permit = intake.permit(bytes).await;
    let batch = reader.message::<v1::Batch>(bytes).await?;
    let accepted = batch::accept(state, batch).await;
    accepted.map(Some).map_err(|error| Ended::Refused(error.into()))
}
