//! Sign-in sessions of browsers that have presented the token.
//!
//! A session is a random number in a cookie that scripts cannot read. It ends 12 hours after the sign-in,
//! after an hour without a request, and with the server. It permits reading only.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, header};
use strata_proto::platform::{Instant, Platform};

/// Most sessions at a time. A further one ends the least recently used one.
const MOST: usize = 64;

/// Longest time from the sign-in.
const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Longest time without a request. An open page makes requests.
const IDLE: Duration = Duration::from_secs(60 * 60);

#[derive(Clone, Copy, Debug)]
struct Session {
    begun: Instant,
    used: Instant,
}

impl Session {
    fn is_valid(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.begun) < LIFETIME
            && now.saturating_duration_since(self.used) < IDLE
    }
}

/// The sessions of a server.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, Session>>,
}

impl Sessions {
    fn open(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session. Returns its id: 64 hexadecimal digits.
    ///
    /// # Errors
    /// If there are no random numbers.
    pub(crate) fn begin(&self, platform: &dyn Platform, now: Instant) -> io::Result<String> {
        let id = format!("{:032x}{:032x}", platform.random()?, platform.random()?);
        let mut open = self.open();
        open.retain(|_, session| session.is_valid(now));
        if open.len() >= MOST {
            let oldest = open.iter().min_by_key(|(_, session)| session.used);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                open.remove(&oldest);
            }
        }
        open.insert(id.clone(), Session { begun: now, used: now });
        Ok(id)
    }

    /// Whether an id is that of a valid session. If so, the session counts as used at `now`.
    pub(crate) fn use_now(&self, id: &str, now: Instant) -> bool {
        let mut open = self.open();
        let Some(session) = open.get_mut(id) else { return false };
        if session.is_valid(now) {
            session.used = now;
            return true;
        }
        open.remove(id);
        false
    }

    /// Ends a session, if there is one.
    pub(crate) fn end(&self, id: &str) {
        self.open().remove(id);
    }
}

/// Name of the cookie. Browsers send a host's cookies to all its ports, so the name contains the
/// port: coordinators on one machine do not replace each other's sessions.
fn cookie_name(host: &str, is_encrypted: bool) -> String {
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    let port = if port.bytes().all(|byte| byte.is_ascii_digit()) { port } else { "" };
    // Browsers accept a cookie whose name has this prefix only if it is secure and for this host
    // alone.
    let prefix = if is_encrypted { "__Host-" } else { "" };
    format!("{prefix}strata-{port}")
}

/// The header that sets the cookie. It has no expiry, so the browser deletes it when it is closed.
pub(crate) fn cookie(id: &str, host: &str, is_encrypted: bool) -> String {
    let name = cookie_name(host, is_encrypted);
    let secure = if is_encrypted { "; Secure" } else { "" };
    format!("{name}={id}; Path=/; HttpOnly; SameSite=Strict{secure}")
}

/// The header that removes the cookie.
pub(crate) fn no_cookie(host: &str, is_encrypted: bool) -> String {
    format!("{}; Max-Age=0", cookie("", host, is_encrypted))
}

/// The session's id in the cookies of a request.
pub(crate) fn presented(headers: &HeaderMap, host: &str, is_encrypted: bool) -> Option<String> {
    let name = cookie_name(host, is_encrypted);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs =
        cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, id)| id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use strata_proto::platform::System;
    use tokio::runtime::Handle;

    use super::*;

    fn after(begun: Instant, seconds: u64) -> Instant {
        begun + Duration::from_secs(seconds)
    }

    #[tokio::test]
    async fn a_session_ends_without_requests_and_after_its_lifetime() {
        let (sessions, system) = (Sessions::default(), System::new(&Handle::current()));
        let begun = Instant::now();
        let id = sessions.begin(&*system, begun).unwrap();
        assert_eq!(id.len(), 64);
        for minutes in (0..12 * 60).step_by(59) {
            assert!(sessions.use_now(&id, after(begun, minutes * 60)), "{minutes}");
        }
        assert!(!sessions.use_now(&id, begun + LIFETIME));
        let id = sessions.begin(&*system, begun).unwrap();
        assert!(!sessions.use_now(&id, begun + IDLE));
        // The session stays ended.
        assert!(!sessions.use_now(&id, begun));
        let id = sessions.begin(&*system, begun).unwrap();
        sessions.end(&id);
        assert!(!sessions.use_now(&id, begun) && !sessions.use_now("", begun));
    }

    #[tokio::test]
    async fn the_number_of_sessions_is_bounded() {
        let (sessions, system) = (Sessions::default(), System::new(&Handle::current()));
        let begun = Instant::now();
        let first = sessions.begin(&*system, begun).unwrap();
        let second = sessions.begin(&*system, begun).unwrap();
        assert!(sessions.use_now(&first, after(begun, 1)));
        for _ in 2..=MOST {
            sessions.begin(&*system, after(begun, 2)).unwrap();
        }
        assert_eq!(sessions.open().len(), MOST);
        assert!(!sessions.use_now(&second, after(begun, 3)));
        assert!(sessions.use_now(&first, after(begun, 3)));
    }

    #[test]
    fn cookies_are_read_by_their_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=b; strata-7080=one".parse().unwrap());
        headers.append(header::COOKIE, "__Host-strata-7080=two; strata-=three".parse().unwrap());
        let read = |host, encrypted| presented(&headers, host, encrypted);
        assert_eq!(read("127.0.0.1:7080", false).as_deref(), Some("one"));
        assert_eq!(read("[::1]:7080", true).as_deref(), Some("two"));
        assert_eq!(read("host", false).as_deref(), Some("three"));
        assert_eq!(read("[::1]:7081", false), None);
        let set = cookie("x", "a:1", true);
        assert_eq!(set, "__Host-strata-1=x; Path=/; HttpOnly; SameSite=Strict; Secure");
        assert!(no_cookie("a:1", false).ends_with("SameSite=Strict; Max-Age=0"));
    }
}
