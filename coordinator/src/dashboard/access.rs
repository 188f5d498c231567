//! Access checks of the web page: the server's names, request origins, and headers of all responses.
//!
//! A page of another site can make a browser send requests to this server. The site's own host name
//! may even resolve to this server (DNS rebinding), so the `Host` header is checked.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use strata_proto::net::WebTls;

/// Names by which the server may be called.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostNames {
    /// Names besides those of this machine.
    pub(crate) names: Vec<String>,
    /// TLS; its certificate has further names.
    pub(crate) tls: Option<WebTls>,
}

impl HostNames {
    /// Whether `host`, with or without a port, is a name of this server. IP addresses always are: a
    /// page of another site is reached by its name or its own address.
    pub(crate) fn allow(&self, host: &str) -> bool {
        let name = without_port(host);
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let lower = name.to_ascii_lowercase();
        bare.parse::<IpAddr>().is_ok()
            || lower == "localhost"
            || lower.ends_with(".localhost")
            || self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
            || self.tls.as_ref().is_some_and(|tls| tls.names(name))
    }
}

/// A host without its port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The `Host` header of a request.
pub(crate) fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST)?.to_str().ok()
}

/// Whether a request comes from the server's own page, or from no page.
pub(crate) fn is_own(headers: &HeaderMap, host: &str, is_encrypted: bool) -> bool {
    let scheme = if is_encrypted { "https" } else { "http" };
    let origin = headers.get(header::ORIGIN);
    let is_own =
        origin.is_none_or(|origin| origin.as_bytes() == format!("{scheme}://{host}").as_bytes());
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    is_own && site.is_none_or(|site| site == b"same-origin" || site == b"none")
}

/// Content security policy of pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// Content security policy of an image that is opened as a page.
const IMAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// Headers of all responses.
const HEADERS: [(&str, &str); 7] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("x-frame-options", "DENY"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

/// Adds the headers that all responses have. If a response has no cache rule, caches must not store
/// it.
pub(crate) fn protect(headers: &mut HeaderMap) {
    let is_image = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"image/svg"));
    let policy = if is_image { IMAGE_POLICY } else { POLICY };
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_sites_are_refused() {
        let names = HostNames { names: vec!["cluster.example".to_owned()], tls: None };
        let own =
            ["127.0.0.1:7080", "localhost", "LOCALHOST:80", "[::1]:7080", "10.1.2.3", "[fd00::1]"];
        for host in own.into_iter().chain(["a.localhost:1", "cluster.example:7080"]) {
            assert!(names.allow(host), "{host}");
        }
        for host in ["", ":80", "rebound.example:7080", "localhost.example", "1.2.3", "x:y", "::1x"]
        {
            assert!(!names.allow(host), "{host}");
        }
    }

    #[test]
    fn requests_of_other_pages_are_refused() {
        let of = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            headers
        };
        let host = "127.0.0.1:7080";
        assert!(is_own(&of(&[]), host, false));
        assert!(is_own(&of(&[("origin", "http://127.0.0.1:7080")]), host, false));
        assert!(is_own(&of(&[("origin", "https://127.0.0.1:7080")]), host, true));
        assert!(is_own(&of(&[("sec-fetch-site", "same-origin")]), host, false));
        for origin in ["null", "https://127.0.0.1:7080", "http://127.0.0.1", "http://other.example"]
        {
            assert!(!is_own(&of(&[("origin", origin)]), host, false), "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert!(!is_own(&of(&[("sec-fetch-site", site)]), host, false), "{site}");
        }
    }

    #[test]
    fn every_answer_has_a_policy() {
        let mut headers = HeaderMap::new();
        protect(&mut headers);
        assert!(
            headers["content-security-policy"].to_str().unwrap().contains("script-src 'self';")
        );
        assert_eq!(
            (&headers["cache-control"], &headers["x-content-type-options"]),
            (&HeaderValue::from_static("no-store"), &HeaderValue::from_static("nosniff"))
        );
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
        protect(&mut headers);
        assert!(headers["content-security-policy"].to_str().unwrap().ends_with("sandbox"));
    }
}
