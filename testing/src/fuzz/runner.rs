//! Runner of fuzz targets: executes a corpus, or mutations from a seed.
//!
//! The inputs of a run depend on the target, the seed and the outcomes of earlier inputs only. So a
//! run with the same seed has the same findings. Inputs with a new outcome are mutated further: a
//! new error means that the input has reached a part of the parser that no earlier input had
//! reached.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::fuzz::memory::measure;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Most inputs that are kept for further mutation.
const POOL: usize = 2000;

/// A run ends after this many different findings.
const FINDINGS: usize = 20;

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seed of all mutations.
    pub seed: u64,
    /// Number of inputs; `None` for no limit.
    pub runs: Option<u64>,
    /// Duration; `None` for no limit.
    pub time: Option<Duration>,
    /// File to which each input is written before it is executed: after an abort of the process it
    /// has the input that caused it.
    pub current: Option<PathBuf>,
    /// Folder for findings.
    pub findings: Option<PathBuf>,
}

/// Result of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of inputs executed.
    pub runs: u64,
    /// Number of accepted inputs.
    pub accepted: u64,
    /// Number of different outcomes, counted while fewer than 2,000 inputs are kept for mutation.
    pub outcomes: usize,
    /// Most memory of an input, in bytes.
    pub peak: usize,
    /// Longest time of an input.
    pub slowest: Duration,
    /// The findings, each with the number of its input.
    pub findings: Vec<(u64, Finding)>,
}

/// Executes mutations of the seeds and the corpus of a target.
///
/// # Errors
/// If a file cannot be written.
pub fn run(target: &mut dyn Target, options: &Options) -> io::Result<Summary> {
    let current = options.current.as_deref().map(fs::File::create).transpose()?;
    let corpus = corpus(target.name())?.into_iter().map(|(_, input)| input);
    let seeds: Vec<Vec<u8>> = target.seeds().into_iter().chain(corpus).collect();
    let mut pool = seeds.clone();
    let (mut known, mut found) = (BTreeSet::new(), BTreeSet::new());
    let mut summary = Summary::default();
    let mut rng = Rng::new(options.seed);
    let start = Instant::now();
    for number in 0..options.runs.unwrap_or(u64::MAX) {
        if options.time.is_some_and(|time| start.elapsed() >= time) || found.len() >= FINDINGS {
            break;
        }
        let from = if rng.once_in(2) { &seeds } else { &pool };
        let mut input = rng.pick(from).clone();
        let other = rng.pick(&pool);
        target.mutate(&mut input, other, &mut rng);
        if let Some(file) = &current {
            let header = (input.len() as u64).to_le_bytes();
            file.write_all_at(&[&header, &*input].concat(), 0)?;
        }
        let began = Instant::now();
        let (result, peak) = measure(|| check(target, &input));
        summary.slowest = summary.slowest.max(began.elapsed());
        summary.peak = summary.peak.max(peak);
        summary.runs += 1;
        let outcome =
            result.and_then(|outcome| within(target, input.len(), peak).map(|()| outcome));
        match outcome {
            Ok(outcome) => {
                summary.accepted += u64::from(outcome == Outcome::Accepted);
                if pool.len() < POOL && known.insert(signature(&outcome)) {
                    pool.push(input);
                }
            }
            Err(finding) => {
                if found.insert(signature(&Outcome::refused(&finding))) {
                    save(options, target.name(), &input)?;
                    summary.findings.push((number, finding));
                }
            }
        }
    }
    summary.outcomes = known.len();
    Ok(summary)
}

fn save(options: &Options, name: &str, input: &[u8]) -> io::Result<()> {
    let Some(folder) = &options.findings else { return Ok(()) };
    fs::create_dir_all(folder)?;
    let hash = xxhash_rust::xxh3::xxh3_64(input);
    fs::File::create(folder.join(format!("{name}-{hash:016x}")))?.write_all(input)
}

/// Executes an input, and checks its outcome and its memory.
///
/// # Errors
/// The finding: a panic, a property that does not hold, or too much memory.
pub fn replay(target: &mut dyn Target, input: &[u8]) -> Result<Outcome, Finding> {
    let (result, peak) = measure(|| check(target, input));
    let outcome = result?;
    within(target, input.len(), peak)?;
    Ok(outcome)
}

fn within(target: &dyn Target, len: usize, peak: usize) -> Result<(), Finding> {
    let most = target.memory(len);
    if peak <= most {
        return Ok(());
    }
    Err(format!("an input of {len} bytes took {peak} bytes of memory, more than {most}"))
}

/// Executes an input; a panic of any thread is a finding.
fn check(target: &mut dyn Target, input: &[u8]) -> Result<Outcome, Finding> {
    static HOOK: Once = Once::new();
    HOOK.call_once(watch_panics);
    lock(&ELSEWHERE).clear();
    CHECKS.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| target.check(input)));
    CHECKS.set(false);
    let other = std::mem::take(&mut *lock(&ELSEWHERE));
    match result {
        Err(_) => Err(format!("a panic: {}", lock(&HERE))),
        Ok(_) if !other.is_empty() => {
            Err(format!("a panic of another thread: {}", other.join("; ")))
        }
        Ok(result) => result,
    }
}

thread_local! {
    /// Whether this thread executes an input.
    static CHECKS: Cell<bool> = const { Cell::new(false) };
}

/// The last panic of the thread that executes inputs.
static HERE: Mutex<String> = Mutex::new(String::new());

/// Panics of other threads.
static ELSEWHERE: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records panics. Those of other threads are also printed.
fn watch_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if CHECKS.get() {
            *lock(&HERE) = info.to_string();
        } else {
            lock(&ELSEWHERE).push(info.to_string());
            usual(info);
        }
    }));
}

/// The text of an outcome without figures and quoted parts, so that it is equal for inputs that
/// take the same path through the parser.
fn signature(outcome: &Outcome) -> String {
    let Outcome::Refused(text) = outcome else { return "accepted".to_owned() };
    let mut signature = String::new();
    let mut quoted = false;
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).take(60) {
        let (word, end) = match word.char_indices().next_back() {
            Some((at, end)) if !end.is_ascii_alphanumeric() => (&word[..at], Some(end)),
            _ => (word, None),
        };
        let is_figure = word.bytes().any(|byte| byte.is_ascii_digit());
        let is_hex = word.len() > 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !quoted && !is_figure && !is_hex {
            signature.push_str(word);
        }
        quoted ^= matches!(end, Some('"' | '\'' | '`'));
        signature.extend(end.filter(char::is_ascii).filter(|_| !quoted));
    }
    signature
}

/// The committed inputs of a target, in the order of their file names.
///
/// # Errors
/// If the folder exists and cannot be read.
pub fn corpus(name: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        inputs.push((file, fs::read(&path)?));
    }
    inputs.sort();
    Ok(inputs)
}
