//! Token check: clients present the token with every call, and nodes check it before every call.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::platform::Instant;
use http::{HeaderMap, header};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::server::NamedService;
use tonic::service::Interceptor;
use tonic::{Request, Status};
use tower::{Layer, Service};

use crate::net::incoming::Caller;
use crate::net::throttle::Throttle;
use crate::net::token::Token;

/// A `tower` layer that admits calls which present the cluster's token, or all calls if the cluster
/// has none. An admitted call ends the time limit of its connection. The refusal of a wrong token
/// is delayed if many wrong tokens came from the same network.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    token: Option<Token>,
    throttle: Arc<Throttle>,
}

/// Why a call is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoToken,
    WrongToken,
}

impl Refusal {
    fn text(self) -> &'static str {
        match self {
            Refusal::NoToken => "no token",
            Refusal::WrongToken => "wrong token",
        }
    }

    /// Counts a wrong token against its sender's network. Returns the delay of the refusal.
    pub(crate) fn delay(self, throttle: &Throttle, from: Option<IpAddr>) -> Duration {
        match (self, from) {
            (Refusal::WrongToken, Some(from)) => throttle.count(from, Instant::now()),
            _ => Duration::ZERO,
        }
    }
}

/// Waits for `delay`; returns at once if it is zero.
pub(crate) async fn wait(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

impl Guard {
    pub(crate) fn new(token: Option<Token>, throttle: Arc<Throttle>) -> Self {
        Self { token, throttle }
    }

    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let presented = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
        self.check_secret(presented.and_then(bearer))
    }

    fn check_secret(&self, secret: Option<&[u8]>) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let secret = secret.ok_or(Refusal::NoToken)?;
        if token.matches(secret) { Ok(()) } else { Err(Refusal::WrongToken) }
    }

    /// Admits the connection of a caller that has presented this secret; an empty one is none.
    ///
    /// # Errors
    /// Why it is not admitted. A wrong secret is counted, and its refusal delayed, as for a call.
    pub(crate) async fn admit(&self, secret: &str, caller: &Caller) -> Result<(), &'static str> {
        match self.check_secret(Some(secret.as_bytes()).filter(|secret| !secret.is_empty())) {
            Ok(()) => {
                caller.admit();
                Ok(())
            }
            Err(refusal) => {
                wait(refusal.delay(&self.throttle, Some(caller.ip()))).await;
                Err(refusal.text())
            }
        }
    }
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { inner, guard: self.clone() }
    }
}

/// A service behind a [`Guard`].
#[derive(Clone, Debug)]
pub struct Guarded<S> {
    inner: S,
    guard: Guard,
}

impl<S, A, B> Service<http::Request<A>> for Guarded<S>
where
    S: Service<http::Request<A>, Response = http::Response<B>>,
    S::Future: Send + 'static,
    B: Default,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<A>) -> Self::Future {
        let caller = request.extensions().get::<Caller>();
        match self.guard.check(request.headers()) {
            Ok(()) => {
                if let Some(caller) = caller {
                    caller.admit();
                }
                Box::pin(self.inner.call(request))
            }
            Err(refusal) => {
                let delay = refusal.delay(&self.guard.throttle, caller.map(Caller::ip));
                Box::pin(async move {
                    wait(delay).await;
                    Ok(Status::unauthenticated(refusal.text()).into_http())
                })
            }
        }
    }
}

impl<S: NamedService> NamedService for Guarded<S> {
    const NAME: &'static str = S::NAME;
}

/// The credentials after "Bearer ", which may have any case (RFC 7235).
fn bearer(value: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let (scheme, secret) = value.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(secret)
}

/// Presents the cluster's token, if there is one, with every call.
#[derive(Clone, Default)]
pub struct Attach {
    header: Option<MetadataValue<Ascii>>,
}

impl Attach {
    pub(crate) fn new(token: Option<&Token>) -> Self {
        Self { header: token.map(Token::header) }
    }
}

impl fmt::Debug for Attach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.header.is_some() { "Attach(..)" } else { "Attach" })
    }
}

impl Interceptor for Attach {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(header) = &self.header {
            request.metadata_mut().insert(header::AUTHORIZATION.as_str(), header.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "correct-horse-battery-staple";

    fn guard(token: Option<Token>) -> Guard {
        Guard::new(token, Arc::default())
    }

    fn present_token(guard: &Guard, header: Option<&str>) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        if let Some(header) = header {
            headers.insert(header::AUTHORIZATION, header.parse().unwrap());
        }
        guard.check(&headers)
    }

    #[test]
    fn only_the_token_is_admitted() {
        let guard = guard(Some(Token::for_tests(SECRET)));
        assert_eq!(present_token(&guard, Some(&format!("Bearer {SECRET}"))), Ok(()));
        assert_eq!(present_token(&guard, Some(&format!("bearer {SECRET}"))), Ok(()));
        for none in [None, Some(""), Some("Bearer"), Some(SECRET), Some("Basic abcdefghijklmnop")] {
            assert_eq!(present_token(&guard, none), Err(Refusal::NoToken), "{none:?}");
        }
        let longer = format!("Bearer {SECRET}x");
        for wrong in ["Bearer ", "Bearer wrong", &longer, &longer[..longer.len() - 2]] {
            assert_eq!(present_token(&guard, Some(wrong)), Err(Refusal::WrongToken));
        }
    }

    #[test]
    fn without_a_token_all_calls_are_admitted() {
        assert_eq!(present_token(&Guard::default(), None), Ok(()));
        assert_eq!(present_token(&Guard::default(), Some("Bearer whatever")), Ok(()));
    }

    #[test]
    fn the_attached_token_is_admitted() {
        let token = Token::for_tests(SECRET);
        let sent = Attach::new(Some(&token)).call(Request::new(())).unwrap();
        assert_eq!(guard(Some(token)).check(&sent.metadata().clone().into_headers()), Ok(()));
        let bare = Attach::new(None).call(Request::new(())).unwrap();
        assert!(bare.metadata().is_empty());
    }

    #[test]
    fn debug_output_hides_the_token() {
        let token = Token::for_tests(SECRET);
        let attach = Attach::new(Some(&token));
        let sent = attach.clone().call(Request::new(())).unwrap();
        let shown = format!("{attach:?} {:?} {sent:?}", guard(Some(token)));
        assert!(!shown.contains(SECRET), "{shown}");
    }

    /// Calls a service that answers with an empty body.
    async fn call(guard: &Guard, secret: &str, from: Caller) -> (http::HeaderMap, Duration) {
        let service = tower::service_fn(|_: http::Request<()>| async {
            Ok::<_, std::convert::Infallible>(http::Response::new(String::new()))
        });
        let mut request = http::Request::new(());
        let value = format!("Bearer {secret}").parse().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, value);
        request.extensions_mut().insert(from);
        let begun = Instant::now();
        let response = guard.layer(service).call(request).await.unwrap();
        (response.headers().clone(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_beyond_the_limit_are_delayed_and_the_right_one_is_not() {
        let guard = guard(Some(Token::for_tests(SECRET)));
        let stranger = || Caller::for_tests([10, 0, 0, 1].into());
        for number in 0..12 {
            let (headers, took) = call(&guard, "wrong-horse-battery", stranger()).await;
            assert_eq!(headers["grpc-status"], "16");
            assert_eq!(took.is_zero(), number < 8, "{number}: {took:?}");
            // The same network has the right token, too.
            let (headers, took) = call(&guard, SECRET, stranger()).await;
            assert_eq!((headers.get("grpc-status"), took), (None, Duration::ZERO));
        }
        let other = Caller::for_tests([10, 0, 0, 2].into());
        assert!(call(&guard, "wrong-horse-battery", other).await.1.is_zero());
    }
}
