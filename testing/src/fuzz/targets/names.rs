//! Fuzz target for small texts: token files, names, sizes, ids, hexadecimal numbers, and the
//! escaping of texts.
//!
//! An input is a kind (1 byte) and a text.

use std::path::Path;

use strata_proto::net::{Token, printable, protocol};
use strata_run::size::parse_size;
use strata_store::{Digest, EngineKind, Hex64, check_name, read_input};
use tempfile::TempDir;

use super::support::{must, scratch};
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Texts.
pub(super) struct Names {
    folder: TempDir,
}

impl Names {
    pub(super) fn new() -> Names {
        Names { folder: scratch() }
    }

    /// A token file.
    fn token(&self, bytes: &[u8]) -> Result<Outcome, Finding> {
        let path = self.folder.path().join("token");
        must(std::fs::write(&path, bytes));
        let secret = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let token = match Token::read(&path) {
            Ok(token) => token,
            Err(error) => {
                let text = error.to_string();
                let shown = String::from_utf8_lossy(secret);
                let quoted = shown.len() >= 16 && text.contains(&*shown);
                return if quoted { Err(text) } else { Ok(Outcome::Refused(text)) };
            }
        };
        let is_plain =
            secret.iter().all(u8::is_ascii_graphic) && (16..=4096).contains(&secret.len());
        if !is_plain || !token.matches(secret) || token.matches(&secret[1..]) {
            return Err("a token that is none, or matches another secret".to_owned());
        }
        if format!("{token:?}").contains(&*String::from_utf8_lossy(secret)) {
            return Err("the token is shown".to_owned());
        }
        let read = must(read_input(&path, 1 << 20));
        if read == bytes { Ok(Outcome::Accepted) } else { Err("read as another file".to_owned()) }
    }
}

fn name(text: &str) -> Result<Outcome, Finding> {
    if let Err(error) = check_name("name", text) {
        return Ok(Outcome::refused(error));
    }
    let path = Path::new("/folder").join(text);
    if path.parent() != Some(Path::new("/folder")) || path.file_name() != Some(text.as_ref()) {
        return Err(format!("{text:?} leads to {}", path.display()));
    }
    Ok(Outcome::Accepted)
}

fn size(text: &str) -> Result<Outcome, Finding> {
    let size = match parse_size(text) {
        Ok(size) => size,
        Err(error) => return Ok(Outcome::refused(error)),
    };
    if parse_size(&size.to_string()) != Ok(size) || parse_size(&format!("{size} B")) != Ok(size) {
        return Err(format!("{text} is {size} bytes, which is another size"));
    }
    // A second computation of sizes with a binary unit and no fraction.
    let plain = text.trim().strip_suffix("KiB").and_then(|number| number.parse::<u64>().ok());
    match plain.filter(|number| *number != size / 1024) {
        Some(number) => Err(format!("{number} KiB are {size} bytes")),
        None => Ok(Outcome::Accepted),
    }
}

fn escaped(text: &str) -> Result<Outcome, Finding> {
    let line = printable(text);
    let unfit = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if line.contains(unfit) || line.lines().count() > 1 {
        return Err(format!("{line:?} is not one line"));
    }
    if printable(&line) != line || (!text.contains(unfit) && line != text) {
        return Err(format!("{text:?} became {line:?}"));
    }
    Ok(Outcome::Accepted)
}

fn id(text: &str) -> Result<Outcome, Finding> {
    if !protocol::is_id(text) {
        return Ok(Outcome::refused("no id"));
    }
    u128::from_str_radix(text, 16).map(|_| Outcome::Accepted).map_err(|error| error.to_string())
}

fn figures(text: &str) -> Result<Outcome, Finding> {
    let quoted = serde_json::Value::from(text);
    let mut accepted = false;
    if let Ok(figure) = serde_json::from_value::<Hex64>(quoted.clone()) {
        accepted = true;
        if figure.to_string() != text {
            return Err(format!("{text:?} was read as {figure}"));
        }
    }
    if let Ok(figure) = serde_json::from_value::<Digest>(quoted) {
        accepted = true;
        if figure.to_string() != text {
            return Err(format!("{text:?} was read as {figure}"));
        }
    }
    if let Some(engine) = EngineKind::find(text) {
        accepted = true;
        if engine.name() != text {
            return Err(format!("{text:?} was read as {engine:?}"));
        }
    }
    if accepted { Ok(Outcome::Accepted) } else { Ok(Outcome::refused("no figure")) }
}

impl Target for Names {
    fn name(&self) -> &'static str {
        "names"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let text = |kind: u8, text: &str| [&[kind], text.as_bytes()].concat();
        vec![
            text(0, "correct-horse-battery-staple\n"),
            text(0, &"x".repeat(4096)),
            text(1, "layer-000007-001.strata"),
            text(1, "panex-8_a.b"),
            text(2, "64MiB"),
            text(2, "1.5 GiB"),
            text(2, "18014398509481983KiB"),
            text(3, "lost\n17 INFO \u{1b}[2J\u{2028}"),
            text(3, "état 1"),
            text(4, &"0aF9".repeat(8)),
            text(5, &"0123456789abcdef".repeat(2)),
            text(5, "fedcba9876543210"),
            text(5, "symbolic-lean"),
        ]
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let Some((&kind, text)) = input.split_first() else { return };
        let mut text = text.to_vec();
        let words =
            ["KiB", "MB", "TiB", "k", ".", "..", "/", "\u{85}", "\u{9b}", "\\", "\u{7f}", "A"];
        mutate::text(&mut text, other.get(1..).unwrap_or_default(), &words, rng);
        *input = [&[kind], &*text].concat();
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let Some((&kind, bytes)) = input.split_first() else {
            return Ok(Outcome::refused("too short"));
        };
        let text = String::from_utf8_lossy(bytes);
        match kind % 6 {
            0 => self.token(bytes),
            1 => name(&text),
            2 => size(&text),
            3 => escaped(&text),
            4 => id(&text),
            _ => figures(&text),
        }
    }

    fn test_runs(&self) -> u64 {
        4_000
    }
}
