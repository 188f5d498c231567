//! `solve --ui`: the web page of a search in this process.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{refused, solve};

/// A search with a page.
struct Search {
    child: Child,
    host: String,
    token: String,
}

impl Search {
    fn start(dir: &std::path::Path, line: &str) -> Search {
        let mut child =
            solve(dir, line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let link = lines.find_map(|line| Some(line.unwrap().split_once("page: ")?.1.to_owned()));
        let link = link.expect("the address is printed");
        // The pipe must be read to its end.
        std::thread::spawn(move || lines.for_each(drop));
        let rest = link.strip_prefix("http://").unwrap();
        let (host, token) = rest.split_once("/#token=").unwrap();
        Search { child, host: host.to_owned(), token: token.to_owned() }
    }

    fn send(&self, request: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let host = &self.host;
        let end = "Connection: close\r\n\r\n";
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\n{headers}{end}").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

#[test]
fn the_page_of_a_search_needs_the_token_of_the_link_and_stays_until_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut search = Search::start(folder.path(), "panex 4 --ui --path");
    assert!(search.host.starts_with("127.0.0.1:"), "{}", search.host);
    assert!(search.send("GET /", "").contains("<title>Strata</title>"));
    assert!(search.send("GET /api/live", "").starts_with("HTTP/1.1 401"));
    let bearer = format!("Authorization: Bearer {}\r\n", search.token);
    let signed_in = search.send("POST /api/session", &bearer);
    assert!(signed_in.starts_with("HTTP/1.1 204") && signed_in.contains("HttpOnly"), "{signed_in}");
    let job = crate::common::only_job(folder.path());
    let id = job.file_name().unwrap().to_str().unwrap().to_owned();
    let begun = Instant::now();
    let moves = loop {
        let answer = search.send(&format!("GET /api/jobs/{id}/solution"), &bearer);
        if answer.starts_with("HTTP/1.1 200") {
            break answer.matches("\",\"").count() + 1;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(moves, 128);
    let own = format!("{bearer}X-Strata-Request: 1\r\n");
    let refused = search.send(&format!("POST /api/jobs/{id}/cancel"), &own);
    assert!(refused.starts_with("HTTP/1.1 409"), "{refused}");
    // The result is there, and the process waits for Ctrl-C.
    assert!(search.child.try_wait().unwrap().is_none());
    kill_process(Pid::from_child(&search.child), Signal::INT).unwrap();
    let output = search.child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"moves\":128"));
}

#[test]
fn the_page_is_for_this_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    refused(&mut solve(folder.path(), "panex 3 --ui=0.0.0.0:0"), "is beyond this machine");
}
