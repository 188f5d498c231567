//! A headless Chromium that WebDriver controls, and checks of a page.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::Url;

use crate::cluster::harness::free_port;

/// Time limit of every wait.
const WAIT: Duration = Duration::from_secs(60);

/// Time between two looks at a page.
const POLL: Duration = Duration::from_millis(100);

/// Script functions that find content that users cannot read or that has no name. They return texts
/// that say what is wrong.
const CHECKS: &str = include_str!("checks.js");

/// A browser. It ends with the test.
pub(crate) struct Browser {
    pub(crate) page: Client,
    driver: Child,
}

/// The browser's log.
#[derive(Debug)]
struct ReadLog;

impl WebDriverCompatibleCommand for ReadLog {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({"type": "browser"}).to_string()))
    }
}

impl Browser {
    /// Starts Chromium, which accepts any certificate, and its driver.
    pub(crate) async fn start() -> Browser {
        let port = free_port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts: Debian has it as chromium-driver");
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < WAIT, "chromedriver does not listen");
            tokio::time::sleep(POLL).await;
        }
        let arguments = [
            "--headless=new",
            // The tests may run as root, in a container.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--window-size=1280,900",
        ];
        let capabilities = json!({
            "browserName": "chrome",
            "acceptInsecureCerts": true,
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        });
        let Value::Object(capabilities) = capabilities else { panic!("not an object") };
        let capabilities: Capabilities = capabilities.into_iter().collect();
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("Chromium starts");
        Browser { page, driver }
    }

    /// Waits until a script's result satisfies a condition, and returns it.
    pub(crate) async fn until(
        &self,
        what: &str,
        script: &str,
        holds: impl Fn(&Value) -> bool,
    ) -> Value {
        let begun = Instant::now();
        loop {
            let value = self.page.execute(script, Vec::new()).await.unwrap_or(Value::Null);
            if holds(&value) {
                return value;
            }
            if begun.elapsed() > WAIT {
                let text = self.text("main").await;
                panic!("timed out: {what}; the last value is {value}; the page says: {text}");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until an element contains a text.
    pub(crate) async fn sees(&self, selector: &str, text: &str) {
        let script = format!(
            "return [...document.querySelectorAll({selector:?})].filter((e) => e.checkVisibility())\
             .map((e) => e.innerText).join('\\n')"
        );
        let has = |value: &Value| value.as_str().is_some_and(|found| found.contains(text));
        self.until(&format!("{selector} has {text:?}"), &script, has).await;
    }

    /// The text of an element; empty without one.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({selector:?})?.innerText ?? ''");
        let value = self.page.execute(&script, Vec::new()).await.unwrap_or(Value::Null);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks the visible element of a selector that contains a text. An empty text matches any
    /// element.
    pub(crate) async fn click(&self, selector: &str, text: &str) {
        let find = format!(
            "return [...document.querySelectorAll({selector:?})].find((e) => \
             e.checkVisibility() && e.innerText.includes({text:?}))"
        );
        let what = format!("{selector} {text:?} can be clicked");
        self.until(&what, &find, |value| !value.is_null()).await;
        let click = find.replacen("return ", "(", 1) + ").click()";
        self.page.execute(&click, Vec::new()).await.expect("it is clicked");
    }

    /// Scrolls to an element.
    pub(crate) async fn shows(&self, selector: &str) {
        let script = format!("document.querySelector({selector:?}).scrollIntoView()");
        self.page.execute(&script, Vec::new()).await.expect("it is shown");
    }

    /// Types into an element.
    pub(crate) async fn types(&self, selector: &str, text: &str) {
        let found = self.page.wait().at_most(WAIT).for_element(Locator::Css(selector)).await;
        found.expect(selector).send_keys(text).await.expect("it takes keys");
    }

    /// Saves a screenshot of the page, and checks the page.
    pub(crate) async fn picture(&self, name: &str) {
        // Time for charts and short-lived texts to appear.
        tokio::time::sleep(Duration::from_millis(700)).await;
        let picture = self.page.screenshot().await.expect("a picture");
        assert!(picture.starts_with(b"\x89PNG"));
        fs::create_dir_all(folder()).unwrap();
        fs::write(folder().join(format!("{name}.png")), picture).unwrap();
        let script = format!("{CHECKS}; return findings()");
        let findings = self.page.execute(&script, Vec::new()).await.expect("checks run");
        assert_eq!(findings, json!([]), "{name}");
    }

    /// Asserts that the console has no error of scripts, of the content policy or of requests,
    /// besides the requests that a test expects to fail.
    pub(crate) async fn assert_no_errors(&self, expected: &[&str]) {
        let log = self.page.issue_cmd(ReadLog).await.expect("the browser's log");
        let entries = log.as_array().cloned().unwrap_or_default();
        let severe = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        let messages = severe.filter_map(|entry| entry["message"].as_str());
        let unexpected: Vec<&str> = messages
            .filter(|message| !expected.iter().any(|expected| message.contains(expected)))
            .collect();
        assert!(unexpected.is_empty(), "{unexpected:#?}");
    }

    /// Ends the browser.
    pub(crate) async fn end(self) {
        self.page.clone().close().await.expect("the browser ends");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Folder of the screenshots: `target/dashboard`.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("dashboard")
}
