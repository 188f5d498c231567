//! Tests of the protection: listeners, URLs, certificates and tokens.

use super::*;
use crate::net::authority::ClusterCertificates;

fn with_token() -> Security {
    let token = Token::for_tests("correct-horse-battery-staple");
    Security::open(Some(token), &TlsFiles::default()).unwrap()
}

#[test]
fn listening_beyond_loopback_needs_a_token() {
    for local in ["127.0.0.1:7070", "127.8.9.1:0", "[::1]:7070", "[::ffff:127.0.0.1]:7070"] {
        assert!(Security::default().check_listen(local.parse().unwrap()).is_ok(), "{local}");
        assert!(with_token().check_listen(local.parse().unwrap()).is_ok());
    }
    let others = ["0.0.0.0:7070", "[::]:7070", "10.0.0.7:80", "[2001:db8::1]:1"];
    for other in others {
        let addr = other.parse().unwrap();
        let error = Security::default().check_listen(addr).unwrap_err();
        assert!(matches!(error, NetError::NoToken { addr: named } if named == addr));
        assert!(error.to_string().contains(other) && error.to_string().contains("`token_file`"));
        // Without encryption, too.
        assert!(Security::default().insecure(true).check_listen(addr).is_err());
    }
}

#[test]
fn listening_beyond_loopback_needs_a_certificate() {
    for other in ["0.0.0.0:7070", "[::]:7070", "10.0.0.7:80"] {
        let addr = other.parse().unwrap();
        let error = with_token().check_listen(addr).unwrap_err();
        assert!(matches!(error, NetError::PlaintextListener { addr: named } if named == addr));
        let text = error.to_string();
        for word in [other, "`tls_cert`", "`tls_key`", "`strata tls-init`", "`insecure`"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(with_token().insecure(true).check_listen(addr).is_ok());
    }
}

#[tokio::test]
async fn the_token_is_not_sent_unencrypted_beyond_loopback() {
    let others = [
        "http://host:7070",
        "http://10.0.0.7",
        "http://[2001:db8::1]:1",
        "http://localhost.example",
        "http://127.0.0.1.example",
        "http://0.0.0.0:7070",
    ];
    for url in others {
        let error = with_token().connect(url).await.unwrap_err();
        assert!(matches!(&error, NetError::PlaintextToken { url: named } if named == url));
        assert!(error.to_string().contains("`insecure`"), "{error}");
        assert!(with_token().connect_lazy(url).is_err() && with_token().check_url(url).is_err());
        assert!(with_token().insecure(true).connect_lazy(url).is_ok());
        // Without a token nothing is disclosed.
        assert!(Security::default().connect_lazy(url).is_ok());
    }
    let local = ["http://127.8.9.1:7070", "http://LOCALHOST", "http://[::1]:7070/"];
    for url in local.into_iter().chain(["http://[::ffff:127.0.0.1]", "https://host"]) {
        assert!(with_token().check_url(url).is_ok(), "{url}");
    }
}

#[tokio::test]
async fn unusable_urls_are_refused() {
    let security = with_token();
    let cases = [
        ("", ""),
        ("localhost:7070", "http://"),
        ("localhost", "http://"),
        ("unix:///tmp/socket", ""),
        ("ftp://localhost", "http://"),
        ("http://", ""),
        ("http://:7070", "host"),
        ("http://a b", ""),
        ("http://host:99999", "port"),
        ("http://host:0", "port"),
        ("http://host:", "port"),
        ("http://[::1]:x", ""),
        ("http://host:7070/path", "follow"),
        ("http://host:7070?query", "follow"),
        ("https://host:7070", "`tls_ca`"),
    ];
    for (url, why) in cases {
        let error = security.connect_lazy(url).unwrap_err();
        assert!(matches!(&error, NetError::Url { url: named, .. } if named == url), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(matches!(security.connect(url).await, Err(NetError::Url { .. })), "{url}");
    }
    for url in ["http://127.0.0.1:7070", "http://localhost", "http://[::1]:7070/"] {
        assert!(security.connect_lazy(url).is_ok(), "{url}");
    }
    let error = security.connect_lazy("http://me:secret@host:7070").unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn tls_files_are_regular_and_short() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("ca.pem");
    std::fs::File::create(&long).unwrap().set_len(limits::PEM_BYTES + 1).unwrap();
    let cases =
        [(Path::new("/dev/zero"), "it is not a regular file"), (&*long, "it is longer than")];
    for (path, why) in cases {
        let ca = TlsFiles { ca: Some(path.to_path_buf()), ..TlsFiles::default() };
        let own = Some(path.to_path_buf());
        let own = TlsFiles { cert: own.clone(), key: own, ca: None };
        for files in [ca, own] {
            let text = Security::open(None, &files).unwrap_err().to_string();
            assert!(text.contains(why), "{text}");
        }
    }
}

#[test]
fn certificates_that_expire_soon_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = ClusterCertificates::create(folder.path(), &[]).unwrap();
    let (cert, key, ca) = (files.node.clone(), files.node_key.clone(), Some(files.ca.clone()));
    let tls = TlsFiles { cert: Some(cert), key: Some(key), ca };
    let security = Security::open(None, &tls).unwrap();
    let warnings = |now| security.certificate_warnings(now).collect::<Vec<_>>();
    let now = SystemTime::now();
    let day = Duration::from_secs(24 * 60 * 60);
    assert_eq!(warnings(now + 3600 * day), Vec::<String>::new());
    let soon = warnings(now + 3640 * day);
    assert!(soon[0].contains("node.pem: the certificate expires in 9 days, on "), "{soon:?}");
    assert!(soon[1].contains("ca.pem: the certificate expires in 9 days, on "), "{soon:?}");
    let over = warnings(now + 3651 * day);
    assert!(over[0].contains("node.pem: the certificate has expired, on "), "{over:?}");
    assert_eq!(Security::default().certificate_warnings(now).count(), 0);
}

/// Collects the texts of the events of a thread.
#[derive(Clone, Default)]
struct Events(Arc<std::sync::Mutex<Vec<String>>>);

impl tracing::Subscriber for Events {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = event.metadata().level().to_string();
        event.record(&mut |field: &tracing::field::Field, value: &dyn fmt::Debug| {
            text.push_str(&format!(" {field}={value:?}"));
        });
        self.0.lock().unwrap().push(text);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn expired_certificates_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let files = ClusterCertificates::create(folder.path(), &[]).unwrap();
    let (cert, key) = (Some(files.node.clone()), Some(files.node_key.clone()));
    let security = Security::open(None, &TlsFiles { cert, key, ca: None }).unwrap();
    let events = Events::default();
    let years = Duration::from_secs(20 * 365 * 24 * 60 * 60);
    tracing::subscriber::with_default(events.clone(), || {
        security.log_certificates(SystemTime::now());
        security.log_certificates(SystemTime::now() + years);
    });
    let logged = events.0.lock().unwrap();
    let [warning] = &**logged else { panic!("{logged:?}") };
    assert!(warning.starts_with("WARN "), "{warning}");
    assert!(warning.contains("node.pem: the certificate has expired"), "{warning}");
}

#[tokio::test(start_paused = true)]
async fn over_http_wrong_tokens_beyond_the_limit_are_delayed_and_the_right_one_is_not() {
    let (security, from) = (with_token(), IpAddr::from([10, 0, 0, 1]));
    let admits = async |secret: &str| {
        let value = format!("Bearer {secret}").parse().unwrap();
        let headers = HeaderMap::from_iter([(http::header::AUTHORIZATION, value)]);
        let begun = crate::platform::Instant::now();
        (security.admits(&headers, from).await, begun.elapsed())
    };
    for number in 0..12 {
        let (is_admitted, took) = admits("wrong-horse-battery").await;
        assert!(!is_admitted);
        assert_eq!(took.is_zero(), number < 8, "{number}: {took:?}");
        assert_eq!(admits("correct-horse-battery-staple").await, (true, Duration::ZERO));
    }
}

#[test]
fn debug_output_hides_the_token() {
    let shown = format!("{:?}", with_token());
    assert!(shown.starts_with("Security { token: Some(Token(..)), identity: None, "), "{shown}");
}
