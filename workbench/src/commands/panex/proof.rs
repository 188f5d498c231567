//! `strata panex prove` and `verify-proof`: the certificate that X(n) = U(n), built and checked.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use strata_cli::toolkit::{
    Console, ExitCode, Failure, check_folder, files, print, units, write_line,
};
use strata_panex::formulas::X_PROOF;
use strata_panex_proof_verifier::{self as verifier, Certificate, Graphs, Report};
use strata_run::memory;
use strata_store::{RealFs, write_durably};

use super::args::{ProveArgs, VerifyProofArgs};

/// Longest file that is read as a certificate, in bytes; that of `prove` has 276 KiB.
const MAX_BYTES: u64 = 32 << 20;

/// Least n for which the verifier proves X(n) = U(n). It proves it for all n from there.
const FROM: u32 = 5;

/// Labels and texts of the report. Names in braces stand for figures of the verifier.
const LINES: [(&str, &str); 7] = [
    ("signatures", "{signatures} in {classes} classes, {forms} forms"),
    ("graphs", "{nodes} nodes, {edges} edges"),
    ("level 4", "{base_rows} claims, {base_equalities} of them tight"),
    (
        "every N >= 4",
        "{inequalities} inequalities, {identities} of them tight, {distinct} different",
    ),
    ("whole puzzle", "{top_nodes} nodes, {top_edges} edges, {top_inequalities} inequalities"),
    ("grammar", "{segments} segments, {rules} rules, {upper_forms} forms"),
    ("tables", "X(3) to X(6) = {X(3)}, {X(4)}, {X(5)}, {X(6)}"),
];

/// The lemmas of [`X_PROOF`] on which the verifier relies.
const LEMMAS: [(&str, &str); 4] = [
    ("P1", "model: columns of tiles without cells need as many moves as the puzzle"),
    ("P2", "cutting: a segment is a chain of segments one level down; only A, B, C move in it"),
    ("P3", "caps: capped levels and rows leave all segments as they are"),
    ("P4", "prices: a price for each order bit that is not kept leaves a lower bound"),
];

/// Runs `strata panex prove`.
pub(super) fn prove(args: &ProveArgs, console: &Console) -> Result<ExitCode, Failure> {
    let is_printed = args.certificate.as_deref().is_some_and(files::is_standard);
    if is_printed && console.json {
        return Err(Failure::usage("--certificate -: a certificate is no JSON event"));
    }
    let file = files::output(args.certificate.as_deref()).map(output).transpose()?;
    let started = Instant::now();
    let certificate = strata_panex::proof::certificate().map_err(unexpected)?;
    let (bytes, built) = (certificate.len() as u64, started.elapsed().as_secs_f64());
    tracing::info!("certificate built: {}, {}", units::bytes(bytes), units::seconds(built));
    let report = check(&certificate)
        .map_err(|failure| unexpected(format!("the certificate built here is wrong: {failure}")))?;
    if is_printed {
        print(|out| out.write_all(certificate.as_bytes()))?;
        return Ok(ExitCode::Done);
    }
    if let Some(file) = &file {
        write_durably(&RealFs, file, certificate.as_bytes())
            .map_err(|error| Failure::usage(format!("--certificate: {error}")))?;
    }
    let seconds = started.elapsed().as_secs_f64();
    Proof { file: file.as_deref(), bytes, report, seconds }.show(console)
}

/// Runs `strata panex verify-proof`.
pub(super) fn verify(args: &VerifyProofArgs, console: &Console) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let file = &args.certificate;
    let name = files::input_name(file);
    let bytes = files::read(file, MAX_BYTES)
        .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let corrupt = |why: String| Failure::new(ExitCode::Corrupt, format!("{name}: {why}"));
    let text = String::from_utf8(bytes).map_err(|error| {
        corrupt(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
    })?;
    let report = check(&text).map_err(corrupt)?;
    let seconds = started.elapsed().as_secs_f64();
    let file = files::output(Some(file));
    Proof { file, bytes: text.len() as u64, report, seconds }.show(console)
}

/// Runs the verifier and logs the time of its parts.
fn check(text: &str) -> Result<Report, verifier::Failure> {
    let started = Instant::now();
    let certificate = Certificate::parse(text)?;
    let graphs = Graphs::derive(&certificate)?;
    tracing::info!("graphs derived: {}", units::seconds(started.elapsed().as_secs_f64()));
    let report = verifier::check(&certificate, &graphs)?;
    tracing::info!("certificate accepted: {}", units::seconds(started.elapsed().as_secs_f64()));
    Ok(report)
}

fn unexpected(error: impl ToString) -> Failure {
    Failure::new(ExitCode::Unexpected, error)
}

/// The file to write, with symbolic links resolved. Only a regular file can be replaced.
fn output(file: &Path) -> Result<PathBuf, Failure> {
    check_folder("certificate", file)?;
    let refused = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("--certificate: cannot write {}: {why}", file.display()))
    };
    match fs::metadata(file) {
        Ok(kind) if !kind.is_file() => Err(refused(&"it is not a regular file")),
        Ok(_) => fs::canonicalize(file).map_err(|error| refused(&error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(file.to_owned()),
        Err(error) => Err(refused(&error)),
    }
}

/// An accepted certificate.
struct Proof<'a> {
    /// The file with the certificate; none if it was printed or read from standard input.
    file: Option<&'a Path>,
    bytes: u64,
    report: Report,
    seconds: f64,
}

impl Proof<'_> {
    fn show(&self, console: &Console) -> Result<ExitCode, Failure> {
        print(|out| match console.json {
            true => write_line("proof", &Fields::of(self), out),
            false => self.text(out),
        })?;
        Ok(ExitCode::Done)
    }

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "X(n) = U(n) for every n >= {FROM}")?;
        for (label, line) in LINES {
            let fill = |line: String, (name, figure): &(&str, usize)| {
                line.replace(&format!("{{{name}}}"), &units::count(*figure as u64))
            };
            let line = self.report.iter().fold(line.to_owned(), fill);
            writeln!(out, "  {label:<12} {line}")?;
        }
        let place = self.file.map_or(String::new(), |file| format!(", {}", file.display()));
        writeln!(out, "  certificate  {}{place}", units::bytes(self.bytes))?;
        writeln!(out, "  time         {}", units::seconds(self.seconds))?;
        writeln!(out, "proved on paper, in {X_PROOF}:")?;
        LEMMAS.iter().try_for_each(|(name, lemma)| writeln!(out, "  {name}  {lemma}"))
    }
}

/// Fields of the JSON event.
#[derive(Serialize)]
struct Fields<'a> {
    theorem: &'a str,
    from: u32,
    /// The verifier's figures, but for the values of X.
    #[serde(flatten)]
    figures: BTreeMap<&'a str, usize>,
    /// X(3) to X(6).
    exact: Vec<usize>,
    lemmas: BTreeMap<&'a str, &'a str>,
    page: &'a str,
    file: Option<String>,
    bytes: u64,
    seconds: f64,
    peak_rss_bytes: Option<u64>,
}

impl<'a> Fields<'a> {
    fn of(proof: &Proof<'a>) -> Fields<'a> {
        let (exact, figures): (Vec<_>, Vec<_>) =
            proof.report.iter().copied().partition(|(name, _)| name.starts_with("X("));
        Fields {
            theorem: "X(n) = U(n)",
            from: FROM,
            figures: figures.into_iter().collect(),
            exact: exact.into_iter().map(|(_, length)| length).collect(),
            lemmas: LEMMAS.into(),
            page: X_PROOF,
            file: proof.file.map(|file| file.display().to_string()),
            bytes: proof.bytes,
            seconds: proof.seconds,
            peak_rss_bytes: memory::peak(),
        }
    }
}
