//! Interceptors that present the token with every call and check it before every call.

use std::fmt;

use http::{HeaderMap, header};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::incoming::Caller;
use crate::token::Token;

/// Admits calls that present the cluster's token; without a token, all calls. The time limit of
/// their connections ends.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    token: Option<Token>,
}

impl Guard {
    pub(crate) fn new(token: Option<Token>) -> Self {
        Self { token }
    }

    fn check(&self, presented: Option<&[u8]>) -> Result<(), &'static str> {
        let Some(token) = &self.token else { return Ok(()) };
        let secret = presented.and_then(bearer).ok_or("no token")?;
        if token.matches(secret) { Ok(()) } else { Err("wrong token") }
    }

    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        self.check(headers.get(header::AUTHORIZATION).map(|value| value.as_bytes())).is_ok()
    }
}

impl Interceptor for Guard {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let presented = request.metadata().get(header::AUTHORIZATION.as_str());
        self.check(presented.map(MetadataValue::as_encoded_bytes))
            .map_err(Status::unauthenticated)?;
        if let Some(caller) = request.extensions().get::<Caller>() {
            caller.admit();
        }
        Ok(request)
    }
}

/// The credentials behind "Bearer ", whose case does not matter (RFC 7235).
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

    fn present_token(guard: &Guard, header: Option<&str>) -> Result<(), String> {
        let mut request = Request::new(());
        if let Some(header) = header {
            request.metadata_mut().insert("authorization", header.parse().unwrap());
        }
        let answer = guard.clone().call(request).map(drop);
        answer.map_err(|status| format!("{:?}: {}", status.code(), status.message()))
    }

    #[test]
    fn only_the_token_is_admitted() {
        let guard = Guard::new(Some(Token::for_tests(SECRET)));
        assert_eq!(present_token(&guard, Some(&format!("Bearer {SECRET}"))), Ok(()));
        assert_eq!(present_token(&guard, Some(&format!("bearer {SECRET}"))), Ok(()));
        for none in [None, Some(""), Some("Bearer"), Some(SECRET), Some("Basic abcdefghijklmnop")] {
            assert_eq!(
                present_token(&guard, none),
                Err("Unauthenticated: no token".into()),
                "{none:?}"
            );
        }
        let longer = format!("Bearer {SECRET}x");
        for wrong in ["Bearer ", "Bearer wrong", &longer, &longer[..longer.len() - 2]] {
            assert_eq!(
                present_token(&guard, Some(wrong)),
                Err("Unauthenticated: wrong token".into())
            );
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
        assert!(Guard::new(Some(token)).call(sent).is_ok());
        let bare = Attach::new(None).call(Request::new(())).unwrap();
        assert!(bare.metadata().is_empty());
    }

    #[test]
    fn debug_output_hides_the_token() {
        let token = Token::for_tests(SECRET);
        let attach = Attach::new(Some(&token));
        let sent = attach.clone().call(Request::new(())).unwrap();
        let shown = format!("{attach:?} {:?} {sent:?}", Guard::new(Some(token)));
        assert!(!shown.contains(SECRET), "{shown}");
    }

    #[test]
    fn headers_of_plain_http_are_checked() {
        let guard = Guard::new(Some(Token::for_tests(SECRET)));
        let mut headers = HeaderMap::new();
        assert!(!guard.admits(&headers));
        assert!(Guard::default().admits(&headers));
        headers.insert(header::AUTHORIZATION, format!("Bearer {SECRET}").parse().unwrap());
        assert!(guard.admits(&headers));
    }
}
