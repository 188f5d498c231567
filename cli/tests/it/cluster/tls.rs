//! Encryption: refused plaintext beyond this machine, and the files of `tls-init`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::cluster::follower::expected;
use crate::cluster::harness::{COORDINATOR, Cluster, fails, free_port};
use crate::common::{expect, strata};

const SECRET: &str = "a-secret-that-is-long-enough";

/// Writes the token file, and returns the flag.
fn token(dir: &Path) -> String {
    let path = dir.join("token");
    fs::write(&path, SECRET).unwrap();
    format!("--token-file {}", path.display())
}

/// Flags of a node or client with the files of `tls-init`.
fn tls(dir: &Path, member: &str) -> String {
    let file = |name: String| dir.join(name).display().to_string();
    let (ca, cert) = (file("ca.pem".to_owned()), file(format!("{member}.pem")));
    format!("--tls-ca {ca} --tls-cert {cert} --tls-key {}", file(format!("{member}-key.pem")))
}

#[test]
fn listening_beyond_loopback_requires_tls() {
    let dir = tempfile::tempdir().unwrap();
    let token = token(dir.path());
    let (port, http) = (free_port(), free_port());
    let data = format!("--data-dir {} {token}", dir.path().join("data").display());
    for line in [
        format!("coordinator --listen 0.0.0.0:{port} --http 127.0.0.1:{http} {data}"),
        format!("coordinator --listen 127.0.0.1:{port} --http 0.0.0.0:{http} {data}"),
        format!("worker --listen 0.0.0.0:{port} {data}"),
    ] {
        let ran = fails(2, &mut strata(&line), "needs TLS");
        for word in ["--tls-cert and --tls-key", "`strata tls-init`", "--insecure"] {
            assert!(ran.stderr.contains(word), "{}", ran.stderr);
        }
    }
    assert!(!dir.path().join("data").exists());
}

#[test]
fn the_token_is_not_sent_unencrypted_beyond_loopback() {
    let dir = tempfile::tempdir().unwrap();
    let token = token(dir.path());
    let data = format!("--data-dir {} {token}", dir.path().join("data").display());
    let listen = format!("--listen 127.0.0.1:{}", free_port());
    for line in [
        format!("list --coordinator http://host.invalid:7070 {token}"),
        format!("health --url http://10.0.0.7:7070 {token}"),
        format!("worker {listen} --coordinator http://host.invalid:7070 {data}"),
        format!("worker {listen} --advertise http://host.invalid:7071 {data}"),
    ] {
        let ran = fails(2, &mut strata(&line), "would be sent unencrypted");
        assert!(ran.stderr.contains("--insecure"), "{}", ran.stderr);
    }
    // With the flag the name is looked up.
    let line = format!("list --coordinator http://host.invalid:7070 --insecure {token}");
    fails(10, &mut strata(&line), "cannot reach");
}

#[test]
fn insecure_nodes_run_and_warn() {
    let dir = tempfile::tempdir().unwrap();
    let common = format!("{} --insecure", token(dir.path()));
    let mut cluster = Cluster::in_folder(dir, "http", "0.0.0.0", common, "");
    let port = free_port();
    let advertise = format!("--advertise http://127.0.0.1:{port}");
    cluster.join("w1", &format!("--listen 0.0.0.0:{port} {advertise}"));
    for name in [COORDINATOR, "w1"] {
        let log = cluster.log(name);
        assert!(log.contains("WARN") && log.contains("insecure: traffic is not"), "{log}");
    }
    expect(0, &mut cluster.client("list"));
}

#[test]
fn the_files_of_tls_init_serve_nodes_and_clients() {
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("tls");
    let (init, token) = (format!("tls-init {}", files.display()), token(dir.path()));
    let ran = expect(0, &mut strata(&format!("{init} --name coordinator --name 10.0.0.7")));
    assert!(ran.stdout.contains(&tls(&files, "node")), "{}", ran.stdout);
    assert!(ran.stdout.contains(&tls(&files, "client")), "{}", ran.stdout);
    let common = format!("{token} {}", tls(&files, "node"));
    let mut cluster = Cluster::in_folder(dir, "https", "0.0.0.0", common, "");
    let mut ports = Vec::new();
    for name in ["w1", "w2"] {
        let port = free_port();
        let advertise = format!("--advertise https://localhost:{port}");
        cluster.join(name, &format!("--listen 0.0.0.0:{port} {advertise}"));
        assert!(!cluster.log(name).contains("not encrypted"), "{}", cluster.log(name));
        ports.push(port);
    }
    // Clients have a certificate of their own; nodes are reached by name and address.
    let at = |host: &str| format!("--coordinator {host}:{} {token}", cluster.grpc);
    let client = tls(&files, "client");
    let localhost = at("https://localhost");
    let line = format!("--json submit panex 6 --quiet {localhost} {client}");
    let ran = expect(0, &mut strata(&line));
    assert_eq!(ran.event("result")["states"], expected().result["states"]);
    expect(0, &mut strata(&format!("list {} {client}", at("https://127.0.0.1"))));
    for port in ports {
        expect(0, &mut strata(&format!("health --url https://127.0.0.1:{port} {token} {client}")));
    }
    // Without a certificate, or without encryption, there is no connection.
    let ca = format!("--tls-ca {}", files.join("ca.pem").display());
    let ran = fails(10, &mut strata(&format!("list {localhost} {ca}")), "cannot reach");
    // The node's alert may be lost with the connection.
    let advice = |text: &str| text.contains("certificate") && text.contains("--tls-cert");
    assert!(advice(&ran.stderr), "{}", ran.stderr);
    // Certificates of another authority, at the client and at the node.
    let others = cluster.path().join("others");
    expect(0, &mut strata(&format!("tls-init {}", others.display())));
    let other = |name: &str| others.join(name).display().to_string();
    let (cert, key) = (other("client.pem"), other("client-key.pem"));
    let intruder = format!("{ca} --tls-cert {cert} --tls-key {key}");
    let ran = fails(10, &mut strata(&format!("list {localhost} {intruder}")), "cannot reach");
    assert!(advice(&ran.stderr), "{}", ran.stderr);
    let mistrust = format!("--tls-ca {}", other("ca.pem"));
    let ran = fails(10, &mut strata(&format!("list {localhost} {mistrust}")), "cannot reach");
    let reason = "the authority in --tls-ca has not signed the node's certificate";
    assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    fails(10, &mut strata(&format!("list {}", at("http://127.0.0.1"))), "cannot reach");
}

#[test]
fn tls_init_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let init = format!("tls-init {}", dir.path().display());
    expect(0, &mut strata(&init));
    let contents = || {
        let files = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.map(|path| (fs::read(&path).unwrap(), path)).collect();
        files.sort();
        files
    };
    let before = contents();
    assert_eq!(before.len(), 6);
    for (_, path) in &before {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        let secret = path.to_string_lossy().ends_with("-key.pem");
        assert_eq!(mode, if secret { 0o600 } else { 0o644 }, "{}", path.display());
    }
    fails(2, &mut strata(&init), "exists already");
    let ran = expect(0, &mut strata(&format!("--json {init} --keep-existing")));
    assert_eq!(ran.event("certificates")["created"], false);
    assert_eq!(contents(), before);
    // Incomplete files are not kept silently.
    fs::remove_file(dir.path().join("node-key.pem")).unwrap();
    fails(2, &mut strata(&format!("{init} --keep-existing")), "node-key.pem");
    fails(2, &mut strata(&format!("{init}/other --name https://a")), "neither a host name");
}
