//! HTTP server: liveness, readiness, metrics and the web page.

use std::sync::Arc;
use std::time::Duration;

use crate::dashboard::{Dashboard, Peer};
use axum::Router;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use strata_proto::net::Security;

use super::dashboard::ClusterSource;
use super::metrics;
use super::metrics::format::TextFormat;
use crate::cluster::context::Cluster;

#[derive(Clone)]
struct Shared {
    cluster: Arc<Cluster>,
    security: Security,
}

/// Serves until the task is aborted. Health checks need no token; metrics do, since they name jobs.
/// A connection ends after the response to a request for either of them.
pub(super) async fn serve(
    listener: Box<dyn strata_proto::platform::Listener>,
    cluster: Arc<Cluster>,
    security: Security,
) {
    let page = Dashboard {
        source: Arc::new(ClusterSource::new(Arc::clone(&cluster))),
        platform: Arc::clone(&cluster.options.platform),
        security: security.clone(),
        host_names: cluster.options.dashboard.host_names.clone(),
    };
    // The certificate was checked at the start.
    let (page, tls) = match page.router().and_then(|page| Ok((page, security.web()?))) {
        Ok(both) => both,
        Err(error) => return tracing::error!("the HTTP server cannot start: {error}"),
    };
    let routes = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(show_metrics))
        .with_state(Shared { cluster, security })
        .layer(map_response(close))
        .merge(page);
    crate::dashboard::serve(listener, routes, tls).await;
}

/// Ends the connection after the response.
async fn close(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// A write of the journal within this time shows that it can be written.
const PROVEN: Duration = Duration::from_secs(10);

/// Ready if the journal can be written and the coordinator is not shutting down.
async fn ready(State(shared): State<Shared>) -> Response {
    if shared.cluster.is_shutting_down() {
        return (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n").into_response();
    }
    let cluster = Arc::clone(&shared.cluster);
    let check = move || cluster.journal.check_writable(PROVEN);
    match shared.cluster.platform().blocking(check).await {
        Ok(Ok(())) => "ready\n".into_response(),
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn show_metrics(
    State(shared): State<Shared>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Response {
    if !shared.security.admits(&headers, peer.address.ip()).await {
        return (StatusCode::UNAUTHORIZED, "a bearer token is needed\n").into_response();
    }
    let cluster = Arc::clone(&shared.cluster);
    let format = TextFormat::of_request(&headers);
    match shared.cluster.platform().blocking(move || metrics::text(&cluster, format)).await {
        Ok(Ok(text)) => {
            let vary = (header::VARY, "accept");
            ([(header::CONTENT_TYPE, format.content_type()), vary], text).into_response()
        }
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};

    use strata_proto::net::{TlsFiles, Token};
    use strata_run::catalogue::Registry;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::time::Instant;

    use super::*;
    use crate::cluster::context::ClusterOptions;
    use crate::cluster::job_view::JobViews;
    use crate::journal::operations::Journal;

    /// The response to a request for the metrics.
    async fn metrics(address: SocketAddr, secret: &str) -> String {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {secret}\r\n\r\n"
        );
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn wrong_tokens_for_the_metrics_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let options = ClusterOptions::for_tests(Registry::shipped());
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let listener = options.platform.listen(SocketAddr::from((loopback, 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let cluster = Cluster::new(options, journal, JobViews::new(folder.path()), 1);
        let (token, secret) = Token::random().unwrap();
        let security = Security::open(Some(token), &TlsFiles::default()).unwrap();
        let serving = tokio::spawn(serve(listener, cluster, security.clone()));

        let begun = Instant::now();
        assert!(metrics(address, &secret).await.starts_with("HTTP/1.1 200 "));
        assert!(metrics(address, "wrong").await.starts_with("HTTP/1.1 401 "));
        // With the one above they are eight, after which a sender waits.
        for _ in 0..7 {
            let _ = security.throttle().count(loopback, begun);
        }
        assert!(security.throttle().wait(loopback, begun).is_some());
        serving.abort();
    }
}
