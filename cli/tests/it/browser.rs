//! The web page in a real browser, against real processes.
//!
//! The tests need Chromium and its driver, so they are ignored by default: `cargo test -p
//! strata-cli --test it -- browser --ignored`. Screenshots of the pages go to `target/dashboard`.

mod driver;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::browser::driver::Browser;
use crate::cluster::harness::Cluster;
use crate::common::{expect, solve};

const SECRET: &str = "correct-horse-battery-staple";

/// A search that takes more than a minute, with layers of several workers from the start.
const LONG: &str = "panex 8 --engine explicit --shards 16";

fn cluster() -> Cluster {
    let mut cluster = Cluster::with_token("--checkpoint-interval 500ms", Some(SECRET));
    cluster.join("w1", "");
    cluster.join("w2", "");
    cluster
}

/// Opens the page and signs in.
async fn signed_in(cluster: &Cluster) -> Browser {
    let browser = Browser::start().await;
    browser.page.goto(&format!("http://127.0.0.1:{}/", cluster.http)).await.unwrap();
    browser.types("#token", SECRET).await;
    browser.click("#login-form button", "Sign in").await;
    browser.sees("h1", "Cluster").await;
    browser
}

/// A search with its page, in a process that is killed at the end.
struct Search {
    child: Child,
    /// The page's address with the token.
    link: String,
    _folder: TempDir,
}

impl Search {
    fn start(line: &str) -> Search {
        let folder = tempfile::tempdir().unwrap();
        let mut command = solve(folder.path(), &format!("{line} --ui"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let link = lines.find_map(|line| Some(line.unwrap().split_once("page: ")?.1.to_owned()));
        // The pipe is read to its end, so that the process does not block.
        std::thread::spawn(move || lines.for_each(drop));
        Search { child, link: link.expect("the address is printed"), _folder: folder }
    }

    /// Opens the page of the search.
    async fn open(&self) -> Browser {
        let browser = Browser::start().await;
        browser.page.goto(&self.link).await.unwrap();
        browser.sees("h1", "Search").await;
        browser.click("tbody a", "").await;
        browser
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a loaded drawing shows the position that the text names, in a theme, with that
/// position as its alternative text. Returns the position.
async fn drawn(browser: &Browser, theme: &str, holds: impl Fn(&str) -> bool) -> String {
    let script = format!(
        "const image = document.querySelector('.drawing'); \
         if (!image?.complete || !image.naturalWidth || !image.src.endsWith('/{theme}')) return null; \
         const text = document.querySelector('.position').innerText; \
         return fetch(image.src).then((answer) => answer.text()).then((drawing) => \
         image.alt === text && drawing.includes(`<title>${{text}}</title>`) ? text : null)"
    );
    let found = |value: &Value| value.as_str().is_some_and(&holds);
    browser.until("a drawing", &script, found).await.as_str().unwrap().to_owned()
}

/// Plays the first moves of the solution of Panex 4. Ends at the second position.
async fn plays_drawings(browser: &Browser, theme: &str) {
    browser.click(".solution button", "Show the solution").await;
    browser.sees(".move", "Start").await;
    let start = drawn(browser, theme, |text| text == "b1 b2 b3 b4 / - / o1 o2 o3 o4").await;
    browser.click(".controls button", "›").await;
    browser.sees(".move", "Move 1 of 128: ").await;
    drawn(browser, theme, |text| text != start).await;
}

/// Waits until the page of a job shows a depth greater than `before`; returns the depth.
async fn depth_after(browser: &Browser, before: u64) -> u64 {
    let script = "return parseInt(document.querySelector('[aria-label=Depth]')?.parentElement\
                  .querySelector('.after').innerText.replaceAll(',', ''))";
    let deeper = |value: &Value| value.as_u64().is_some_and(|depth| depth > before);
    browser.until(&format!("a depth after {before}"), script, deeper).await.as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium"]
async fn signing_in_and_out() {
    let cluster = cluster();
    let browser = Browser::start().await;
    browser.page.goto(&format!("http://127.0.0.1:{}/", cluster.http)).await.unwrap();
    browser.sees("h1", "Sign in").await;
    browser.picture("sign-in").await;
    browser.types("#token", "wrong-horse-battery-staple").await;
    browser.click("#login-form button", "Sign in").await;
    browser.sees("#login-error", "This is not the token.").await;
    browser.types("#token", SECRET).await;
    browser.click("#login-form button", "Sign in").await;
    browser.sees("h1", "Cluster").await;
    browser.sees("tbody", "w2").await;
    // The session outlives a reload. Scripts cannot read its cookie.
    browser.page.refresh().await.unwrap();
    browser.sees("h1", "Cluster").await;
    let cookies = browser.page.execute("return document.cookie", Vec::new()).await.unwrap();
    assert_eq!(cookies, "");
    browser.click("#sign-out", "").await;
    browser.sees("h1", "Sign in").await;
    browser.page.refresh().await.unwrap();
    browser.sees("h1", "Sign in").await;
    browser
        .assert_no_errors(&[
            "/api/session - Failed to load resource: the server responded with a status of 401",
        ])
        .await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium"]
async fn a_job_moves_and_a_killed_worker_turns_red_and_comes_back() {
    let mut cluster = cluster();
    let browser = signed_in(&cluster).await;
    browser.sees("table", "Jobs").await;
    let job = cluster.submit(LONG);
    browser.sees("tbody .badge", "running").await;
    browser.sees("tbody .badge", "connected").await;
    browser.picture("overview-light").await;
    browser.click("tbody a", &job).await;
    browser.sees("h1", &job).await;
    let first = depth_after(&browser, 0).await;
    depth_after(&browser, first).await;
    let chart = "return document.querySelector('.chart img').naturalWidth";
    browser.until("a chart", chart, |width| width.as_u64().is_some_and(|width| width >= 360)).await;
    browser.sees(".log", "checkpoint").await;
    browser.picture("job-light").await;
    browser.click(".back a", "").await;
    cluster.kill("w2");
    browser.sees("tr.silent", "silent for").await;
    browser.sees(".alerts", "w2").await;
    let colour = "return getComputedStyle(document.querySelector('tr.silent .badge')).color";
    let red = browser.page.execute(colour, Vec::new()).await.unwrap();
    assert_eq!(red, "rgb(163, 22, 33)");
    browser.picture("worker-lost").await;
    cluster.start("w2");
    let silent = "return document.querySelectorAll('tr.silent').length";
    browser.until("no silent worker", silent, |count| count == 0).await;
    browser.assert_no_errors(&[]).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium"]
async fn a_job_is_cancelled_resumed_and_deleted() {
    let cluster = cluster();
    let job = cluster.submit(LONG);
    let browser = signed_in(&cluster).await;
    browser.click("tbody a", &job).await;
    depth_after(&browser, 5).await;
    browser.click(".heading button", "Cancel").await;
    browser.sees("dialog h2", "Cancel this job?").await;
    browser.picture("question").await;
    browser.click("dialog button", "Cancel job").await;
    browser.sees(".heading .badge", "cancelled").await;
    assert_eq!(cluster.status(&job)["state"], "cancelled");
    // After a reload the session is still there, but the token is not.
    browser.page.refresh().await.unwrap();
    browser.click(".heading button", "Resume").await;
    browser.types("#confirm-token", SECRET).await;
    browser.click("dialog button", "Resume job").await;
    browser.sees(".heading .badge", "running").await;
    browser.click(".heading button", "Cancel").await;
    browser.click("dialog button", "Cancel job").await;
    browser.sees(".heading .badge", "cancelled").await;
    browser.click(".heading button", "Delete").await;
    browser.click("dialog button", "Keep it").await;
    browser.click(".heading button", "Delete").await;
    browser.click("dialog button", "Delete job").await;
    browser.sees("h1", "Cluster").await;
    browser.sees(".card", "No jobs yet").await;
    expect(11, &mut cluster.client(&format!("status {job}")));
    browser.assert_no_errors(&[]).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium"]
async fn a_result_is_readable_on_all_screens() {
    let cluster = cluster();
    cluster.follow("submit panex 4 --engine explicit --keep-layers all --name example").expect(0);
    let browser = signed_in(&cluster).await;
    browser.click("tbody a", "example").await;
    browser.sees(".result h2", "X(4) = 128").await;
    browser.sees(".search code", "strata solve panex 4").await;
    let charts =
        "return [...document.querySelectorAll('.chart img')].filter((i) => i.naturalWidth).length";
    browser.until("all charts", charts, |count| count.as_u64() >= Some(3)).await;
    browser.picture("result-light").await;
    browser.click(".chart button", "Logarithmic").await;
    // From the system's theme to light, then to dark.
    browser.click("#theme", "").await;
    browser.click("#theme", "Theme: light").await;
    browser.sees("#theme", "Theme: dark").await;
    browser.picture("result-dark").await;
    browser.page.set_window_size(390, 844).await.unwrap();
    browser.picture("result-narrow").await;
    plays_drawings(&browser, "dark").await;
    browser.click(".controls button", "Play").await;
    browser.sees(".move", "Move 3 of 128").await;
    browser.click(".controls button", "»").await;
    browser.sees(".move", "Move 128 of 128").await;
    drawn(&browser, "dark", |text| text == "o1 o2 o3 o4 / - / b1 b2 b3 b4").await;
    browser.shows(".solution").await;
    browser.picture("solution-narrow").await;
    browser.page.set_window_size(1280, 900).await.unwrap();
    browser.shows(".solution").await;
    browser.picture("solution-dark").await;
    browser.page.set_window_size(390, 844).await.unwrap();
    browser.click(".back a", "").await;
    browser.sees("h1", "Cluster").await;
    browser.picture("overview-narrow").await;
    browser.assert_no_errors(&[]).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium"]
async fn a_search_in_one_process_shows_expected_time_and_layers() {
    let search = Search::start("panex 8 --engine explicit");
    let browser = search.open().await;
    let first = depth_after(&browser, 0).await;
    browser.click(".back a", "").await;
    browser.sees("tbody .badge", "running").await;
    browser.sees("tbody [data-label='Time left']", " to ").await;
    browser.picture("search-overview").await;
    browser.click("tbody a", "").await;
    depth_after(&browser, first).await;
    browser.sees(".measure .after", "%").await;
    let left = "return document.querySelector('.left').innerText";
    let is_time = |text: &Value| {
        text.as_str().is_some_and(|text| text.starts_with("Time left: ") && text.contains(" to "))
    };
    browser.until("a time left", left, is_time).await;
    browser.sees(".facts", " of about ").await;
    let chart = "const image = document.querySelector('.chart img'); return image.src && \
                 fetch(image.src).then((answer) => answer.text()).then((svg) => svg.includes('expected'))";
    browser.until("the expected rest of the chart", chart, |has_rest| *has_rest == true).await;
    browser.picture("search-light").await;
    browser.assert_no_errors(&[]).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium"]
async fn a_solution_found_in_one_process_is_played() {
    let search = Search::start("panex 4 --path");
    let browser = search.open().await;
    browser.sees(".result h2", "X(4) = 128").await;
    browser.click("#theme", "").await;
    browser.sees("#theme", "Theme: light").await;
    plays_drawings(&browser, "light").await;
    browser.shows(".solution").await;
    browser.picture("solution-light").await;
    browser.click("#theme", "").await;
    drawn(&browser, "dark", |text| text.starts_with('b')).await;
    browser.assert_no_errors(&[]).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium"]
async fn positions_without_drawings_are_texts() {
    let search = Search::start("pancake 6 --goal r6 --path");
    let browser = search.open().await;
    browser.click(".solution button", "Show the solution").await;
    browser.sees(".position", "1 2 3 4 5 6").await;
    browser.click(".controls button", "›").await;
    browser.sees(".position", "6 5 4 3 2 1").await;
    let images = "return document.querySelectorAll('.drawing').length";
    browser.until("no drawing", images, |count| count == 0).await;
    browser.assert_no_errors(&[]).await;
    browser.end().await;
}
