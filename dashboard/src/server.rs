//! Server of the HTTP port: accepts connections, and answers requests of several on each.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming as IncomingBody;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use strata_net::{AcceptedConnection, Caller, ConnectionLimits, Incoming, WebStream, WebTls};
use strata_platform::Listener;
use tower::ServiceExt;

/// Longest time from the begin of a connection, or the answer before, to the end of the headers of a
/// request.
const HEADERS: Duration = Duration::from_secs(30);

/// Longest headers of a request, in bytes.
const HEADER_BYTES: usize = 16 << 10;

/// Who sent a request, and how.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The other end's address.
    pub address: SocketAddr,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    caller: Caller,
}

impl Peer {
    /// Removes the time limit of the connection, after an authorised request.
    pub fn admit(&self) {
        self.caller.admit();
    }

    /// The other end's host.
    pub(crate) fn ip(&self) -> IpAddr {
        self.address.ip()
    }
}

/// Answers requests until the task is aborted. Each request has a [`Peer`] among its extensions. A
/// connection without an authorised request is closed after the time limit of the listener, and one
/// without requests after half a minute.
pub async fn serve(listener: Box<dyn Listener>, router: Router, tls: Option<WebTls>) {
    let mut incoming = Incoming::new(listener, ConnectionLimits::http());
    loop {
        let (connection, address) = incoming.accept().await;
        tokio::spawn(answer(connection, address, router.clone(), tls.clone()));
    }
}

/// Answers the requests of one connection.
async fn answer(
    connection: AcceptedConnection,
    address: SocketAddr,
    router: Router,
    tls: Option<WebTls>,
) {
    // Whoever opened it sees the end; there is nothing to do here.
    let Ok(stream) = WebStream::accept(connection, tls.as_ref()).await else { return };
    let peer = Peer { address, is_encrypted: stream.is_encrypted(), caller: stream.caller() };
    let service = service_fn(move |request: Request<IncomingBody>| {
        let (router, peer) = (router.clone(), peer.clone());
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            let response: Result<Response<Body>, std::convert::Infallible> =
                router.oneshot(request).await;
            response
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%address, "an HTTP connection ended: {error}");
    }
}
