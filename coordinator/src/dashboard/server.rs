//! Server of the HTTP port: accepts connections and answers their requests.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use hyper::body::Incoming as IncomingBody;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use strata_proto::net::{
    AcceptedConnection, Caller, ConnectionLimits, Incoming, WebTls, accept_web,
};
use strata_proto::platform::Listener;
use tower::ServiceExt;

/// Longest time from the start of a connection, or from the previous response, to the end of a
/// request's headers.
const HEADERS: Duration = Duration::from_secs(30);

/// Most bytes of a request's headers.
const HEADER_BYTES: usize = 16 << 10;

/// Response to a request with several `Host` headers.
const TWO_HOSTS: &str = "the request names more than one host\n";

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

    /// IP address of the other end.
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
    // The other end sees that the connection has ended; nothing is left to do here.
    let Ok(stream) = accept_web(connection, tls.as_ref()).await else { return };
    let peer = Peer { address, is_encrypted: stream.is_encrypted(), caller: stream.caller() };
    let service = service_fn(move |request: Request<IncomingBody>| {
        let (router, peer) = (router.clone(), peer.clone());
        async move {
            let mut request = request.map(Body::new);
            // A proxy and this server may each read a different one of the names.
            if request.headers().get_all(header::HOST).iter().count() > 1 {
                return Ok((StatusCode::BAD_REQUEST, TWO_HOSTS).into_response());
            }
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

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn a_request_with_two_hosts_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/healthz", get(|| async { "ok" }));
        let server = tokio::spawn(serve(Box::new(listener), router, None));
        for (hosts, status) in [
            ("Host: a\r\n", "200"),
            ("Host: a\r\nHost: b\r\n", "400"),
            ("Host: a\r\nX: y\r\nhost: a\r\n", "400"),
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{hosts:?}: {answer}");
        }
        server.abort();
    }
}
