//! `solve --ui`: the web page of a search in this process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{refused, solve, strata};

/// A search with a page.
struct Search {
    child: Child,
    /// Reads the lines after the link.
    rest: JoinHandle<Vec<String>>,
    host: String,
    token: String,
}

impl Search {
    fn start(command: &mut Command) -> Search {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let link = lines.find_map(|line| Some(line.unwrap().split_once("page: ")?.1.to_owned()));
        let link = link.expect("the address is printed");
        // The pipe is read to its end, so that the process does not block.
        let rest_of_lines = std::thread::spawn(move || lines.map(Result::unwrap).collect());
        let rest = link.strip_prefix("http://").unwrap();
        let (host, token) = rest.split_once("/#token=").unwrap();
        Search { child, rest: rest_of_lines, host: host.to_owned(), token: token.to_owned() }
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

    /// Repeats a request with the token until the answer contains a text.
    fn until(&self, path: &str, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let answer = self.send(&format!("GET {path}"), &self.bearer());
            if answer.contains(text) {
                return answer;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{answer}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The first live update of a job that has its result.
    fn result_of(&self, id: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let (host, bearer) = (&self.host, self.bearer());
        write!(stream, "GET /api/live/{id} HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n").unwrap();
        let lines = BufReader::new(stream).lines().map(Result::unwrap);
        let mut jobs = lines.filter(|line| line.starts_with("data: {\"job\""));
        jobs.find(|job| job.contains("\"state\":\"done\"")).unwrap()
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }

    /// Ends the process by Ctrl-C, for which it waits. Returns its standard output.
    fn end(mut self) -> String {
        assert!(self.child.try_wait().unwrap().is_none());
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        // No layer is left to wait for.
        let logged = self.rest.join().unwrap().join("\n");
        assert!(!logged.contains("stopping after this layer"), "{logged}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[test]
fn the_page_of_a_search_needs_the_token_of_the_link_and_stays_until_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let search = Search::start(&mut solve(folder.path(), "panex 4 --ui --path"));
    assert!(search.host.starts_with("127.0.0.1:"), "{}", search.host);
    assert!(search.send("GET /", "").contains("<title>Strata</title>"));
    assert!(search.send("GET /api/live", "").starts_with("HTTP/1.1 401"));
    let bearer = search.bearer();
    let signed_in = search.send("POST /api/session", &bearer);
    assert!(signed_in.starts_with("HTTP/1.1 204") && signed_in.contains("HttpOnly"), "{signed_in}");
    let job = crate::common::only_job(folder.path());
    let id = job.file_name().unwrap().to_str().unwrap().to_owned();
    let solution = search.until(&format!("/api/jobs/{id}/solution"), "\"moves\"");
    assert_eq!(solution.matches("\",\"").count() + 1, 128);
    assert!(solution.contains("\"has_drawings\":true,\"has_positions\":true"), "{solution}");
    let start = "b1 b2 b3 b4 / - / o1 o2 o3 o4";
    search.until(&format!("/api/jobs/{id}/solution/0"), start);
    let drawing = search.until(&format!("/api/jobs/{id}/solution/0/dark"), "<svg ");
    assert!(drawing.contains("image/svg+xml") && drawing.contains(start), "{drawing}");
    let own = format!("{bearer}X-Strata-Request: 1\r\n");
    let refused = search.send(&format!("POST /api/jobs/{id}/cancel"), &own);
    assert!(refused.starts_with("HTTP/1.1 409"), "{refused}");
    // The result is there, and the process waits for Ctrl-C.
    assert!(search.end().contains("\"moves\":128"));
}

#[test]
fn a_resumed_search_has_a_page_too() {
    let folder = tempfile::tempdir().unwrap();
    crate::common::expect(4, &mut solve(folder.path(), "panex 4 --max-layers 20"));
    let job = crate::common::only_job(folder.path());
    let mut resume = strata("resume --json --progress none --ui");
    let search = Search::start(resume.arg(&job));
    let id = job.file_name().unwrap().to_str().unwrap();
    let live = search.result_of(id);
    assert!(live.contains("X(4) = 128"), "{live}");
    assert!(live.contains("strata solve panex 4"), "{live}");
    assert!(search.end().contains("\"moves\":128"));
}

#[test]
fn the_page_is_for_this_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    refused(&mut solve(folder.path(), "panex 3 --ui=0.0.0.0:0"), "is beyond this machine");
}
