//! Execution of a page's commands by a shell, in a scratch folder.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::examples::compare::{is_information, is_shown};
use crate::examples::page::{Block, Command, Mark};

/// Folders of the repository that the pages use.
const LINKS: [&str; 4] = ["deploy", "examples", "puzzles", "strata"];

/// Time limit of a block that a test runs.
const LIMIT: Duration = Duration::from_secs(300);

/// Time limit of a block that `scripts/long-examples` runs.
const LONG_LIMIT: Duration = Duration::from_secs(3600);

/// The first lines of the script that runs a block.
const PRELUDE: &str = r#"
status=0
finish() { trap - EXIT; kill $(jobs -p) 2>/dev/null; wait; }
trap finish EXIT
# command NUMBER TEXT: runs a command; the next one finds its exit code in $?.
command() {
    (exit "$status")
    eval "$2" >"$results/$1.out" 2>&1
    status=$?
    echo "$status" >"$results/$1.code"
}
# interrupted NUMBER SECONDS TEXT: runs a search and interrupts it some time after its start. With job
# control, a command in the background does not ignore the signal.
interrupted() {
    set -m
    eval "$3" >"$results/$1.out" 2>&1 &
    for _ in $(seq 600); do
        ! grep -q "job started" "$results/$1.out" && kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    sleep "$2"
    kill -INT -- -$! 2>/dev/null
    wait $!
    status=$?
    set +m
    echo "$status" >"$results/$1.code"
}
# node NUMBER TEXT: starts a node and waits until it is ready.
node() {
    eval "$2" >"$results/$1.out" 2>&1 &
    for _ in $(seq 300); do
        if grep -q "is ready" "$results/$1.out"; then echo 0 >"$results/$1.code"; return; fi
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    echo 1 >"$results/$1.code"
}
"#;

/// A folder in which a page's commands run. It is removed in the end.
pub(crate) struct Folder {
    work: TempDir,
    results: TempDir,
    /// Ports in the pages, and the ports that replace them.
    ports: Vec<(String, String)>,
}

impl Folder {
    /// A folder that has the repository's folders that pages use.
    pub(crate) fn new(root: &Path) -> Folder {
        let work = tempfile::tempdir().unwrap();
        for link in LINKS {
            std::os::unix::fs::symlink(root.join(link), work.path().join(link)).unwrap();
        }
        let free: Vec<TcpListener> =
            (0..20).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports = free.iter().zip(7070..).map(|(free, port)| {
            (format!(":{port}"), format!(":{}", free.local_addr().unwrap().port()))
        });
        let ports = ports.collect();
        Folder { work, results: tempfile::tempdir().unwrap(), ports }
    }

    /// Runs the commands of a block. Returns what differs from the page.
    pub(crate) fn run(&self, page: &str, block: &Block) -> Vec<String> {
        for command in &block.commands {
            self.create_shown_file(command);
        }
        let limit = if block.mark == Mark::Long { LONG_LIMIT } else { LIMIT };
        let mut shell = Group(self.shell(block).spawn().unwrap());
        let end = Instant::now() + limit;
        let mut wrong = Vec::new();
        while shell.0.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                wrong.push(format!("{page}:{}: takes more than {limit:?}", block.line));
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(shell);
        let next = block.commands.iter().skip(1).map(Some).chain([None]);
        for (number, (command, next)) in block.commands.iter().zip(next).enumerate() {
            let result = self.check(number, command, next);
            wrong.extend(result.err().map(|why| {
                format!(
                    "{page}:{}: {why}\n$ {}\n{}",
                    command.line,
                    command.text,
                    self.output(number)
                )
            }));
        }
        wrong
    }

    /// Creates a file that the page only shows: `cat` of one that does not exist.
    fn create_shown_file(&self, command: &Command) {
        if let (Some(name), Some(shown)) = (command.text.strip_prefix("cat "), &command.shown) {
            let file = self.work.path().join(name.trim());
            if !file.exists() {
                std::fs::write(file, shown.join("\n") + "\n").unwrap();
            }
        }
    }

    /// The shell with all commands of a block.
    fn shell(&self, block: &Block) -> Process {
        let mut script = PRELUDE.to_owned();
        for (number, command) in block.commands.iter().enumerate() {
            let mut text = self.with_own_ports(&command.text);
            if command.shown.is_none() && !command.is_node() {
                text = format!("set -e\n{text}\nset +e");
            }
            if command.text.starts_with("strata coordinator") && !text.contains("--listen") {
                text = format!("STRATA_LISTEN=127.0.0.1{} {text}", self.ports[0].1);
            }
            let text = text.replace('\'', r"'\''");
            let run = match command.interrupt() {
                Some(after) => format!("interrupted {number} {}", after.as_secs_f64()),
                None if command.is_node() => format!("node {number}"),
                None => format!("command {number}"),
            };
            writeln!(script, "{run} '{text}'").unwrap();
        }
        let mut shell = Process::new("bash");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("STRATA_") {
                shell.env_remove(name);
            }
        }
        let program = PathBuf::from(env!("CARGO_BIN_EXE_strata"));
        let old = std::env::var_os("PATH").unwrap_or_default();
        let programs = [program.parent().unwrap().to_owned()];
        let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&old)));
        shell.args(["-c", &script]).current_dir(self.work.path()).stdin(Stdio::null());
        shell.env("PATH", path.unwrap()).env("results", self.results.path());
        shell.env("STRATA_COORDINATOR", format!("http://127.0.0.1{}", self.ports[0].1));
        shell.env("STRATA_HTTP", format!("127.0.0.1{}", self.ports[10].1));
        shell.process_group(0);
        shell
    }

    fn with_own_ports(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (shown, own)| with_port(&text, shown, own))
    }

    /// The output of a command, with the ports of the pages.
    fn output(&self, number: usize) -> String {
        let output = std::fs::read(self.results.path().join(format!("{number}.out")));
        let output = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
        self.ports.iter().fold(output, |text, (shown, own)| with_port(&text, own, shown))
    }

    /// Compares a command's output and exit code with the page.
    ///
    /// A command may fail only if the page shows it: by an error in its last line, or by a next
    /// command `echo $?`.
    fn check(
        &self,
        number: usize,
        command: &Command,
        next: Option<&Command>,
    ) -> Result<(), String> {
        let code = std::fs::read_to_string(self.results.path().join(format!("{number}.code")));
        let code = code.map_err(|_| "did not end".to_owned())?;
        let shown: Vec<&str> = command.shown.iter().flatten().map(String::as_str).collect();
        let shows_error = shown.last().is_some_and(|last| last.starts_with("error: "))
            || command.interrupt().is_some()
            || next.is_some_and(|next| next.text.contains("echo $?"));
        if code.trim() != "0" && !shows_error {
            return Err(format!("exit code {}, which the page does not show", code.trim()));
        }
        let output = self.output(number);
        // Information in logs is left out, unless the page shows some.
        let shows_log = shown.iter().any(|line| line.contains(" INFO "));
        let lines = output.lines().filter(|line| shows_log || !is_information(line));
        let output: Vec<&str> = lines.collect();
        let is_like = is_shown(&output, &shown, command.interrupt().is_some());
        if command.shown.is_some() && !command.is_node() && !is_like {
            return Err("the output is not the one shown".to_owned());
        }
        Ok(())
    }
}

/// A text with one port replaced by another, both with a colon before them. Longer numbers are
/// kept: a port can be the beginning of a number in JSON.
fn with_port(text: &str, port: &str, other: &str) -> String {
    let mut parts = text.split(port);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer = part.starts_with(|next: char| next.is_ascii_digit());
        replaced.push_str(if is_longer { port } else { other });
        replaced.push_str(part);
    }
    replaced
}

#[test]
fn a_port_is_not_the_beginning_of_a_longer_number() {
    let text = r#"{"states":4078382,"at":"127.0.0.1:40783"} http://localhost:40783/"#;
    let expected = r#"{"states":4078382,"at":"127.0.0.1:7070"} http://localhost:7070/"#;
    assert_eq!(with_port(text, ":40783", ":7070"), expected);
}

/// A process and all that it has started, killed in the end.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // Nothing is left if all have ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}
