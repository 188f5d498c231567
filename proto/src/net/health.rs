//! Health check of a node.

use std::time::Duration;

use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::net::error::NetError;
use crate::net::limits;
use crate::net::security::Security;

/// Checks that the node at `url` serves, with the standard health check of gRPC for the whole node.
///
/// # Errors
/// [`NetError::Url`] if the URL cannot be used, [`NetError::Unreachable`] without an answer within
/// `timeout`, [`NetError::Refused`] if the node rejects the token or does not serve now.
pub async fn health(url: &str, security: &Security, timeout: Duration) -> Result<(), NetError> {
    let check = tokio::time::timeout(timeout, check(url, security));
    check.await.unwrap_or_else(|_| {
        Err(NetError::unreachable(url, format!("no answer within {timeout:?}")))
    })
}

async fn check(url: &str, security: &Security) -> Result<(), NetError> {
    let connection = security.connect(url).await?;
    let mut client = HealthClient::new(connection).max_decoding_message_size(limits::MESSAGE_BYTES);
    let whole = HealthCheckRequest { service: String::new() };
    let answer = client.check(whole).await.map_err(|status| NetError::status(url, &status))?;
    match answer.into_inner().status() {
        ServingStatus::Serving => Ok(()),
        _ => Err(NetError::Refused { url: url.to_owned(), why: "it does not serve now".into() }),
    }
}
