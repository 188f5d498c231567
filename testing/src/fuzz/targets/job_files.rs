//! Mutations of manifests and histories that get past the checksums.

use xxhash_rust::xxh3::xxh3_64;

use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;

const LABEL: &str = ",\n  \"checksum\": \"";
const END: &str = "\"\n}\n";

/// The checksum that a manifest contains, as text.
pub(super) fn checksum_of(manifest: &[u8]) -> Option<&[u8]> {
    let end = manifest.len().checked_sub(END.len())?;
    manifest.get(end.checked_sub(16)?..end)
}

/// Recomputes the checksum of a manifest. Adds one if there is none.
pub(super) fn reseal_manifest(manifest: &mut Vec<u8>) {
    let label = LABEL.as_bytes();
    let found = manifest.windows(label.len()).rposition(|window| window == label);
    let end = found.unwrap_or_else(|| {
        manifest
            .iter()
            .rposition(|byte| *byte == b'}')
            .map_or(manifest.len(), |at| at.saturating_sub(1))
    });
    manifest.truncate(end);
    manifest.extend_from_slice(label);
    let digits = manifest.len();
    manifest.extend_from_slice(&[b'0'; 16]);
    manifest.extend_from_slice(END.as_bytes());
    let sum = format!("{:016x}", xxh3_64(manifest));
    manifest[digits..digits + 16].copy_from_slice(sum.as_bytes());
}

/// Replaces the value of the first member called `name` after offset `from`.
fn set(json: &mut Vec<u8>, from: usize, name: &str, value: &str) {
    let member = format!("\"{name}\": ");
    let find =
        |part: &[u8]| part.windows(member.len()).position(|window| window == member.as_bytes());
    let Some(at) = json.get(from..).and_then(find) else { return };
    let start = from + at + member.len();
    let len = json[start..].iter().take_while(|byte| !b",\n".contains(byte)).count();
    json.splice(start..start + len, value.bytes());
}

/// Records length, lines and checksum of a whole history in the manifest's checkpoint.
pub(super) fn record_history(manifest: &mut Vec<u8>, history: &[u8]) {
    let name = b"\"history\": {";
    let Some(at) = manifest.windows(name.len()).position(|window| window == name) else { return };
    let lines = history.iter().filter(|byte| **byte == b'\n').count();
    set(manifest, at, "bytes", &history.len().to_string());
    set(manifest, at, "lines", &lines.to_string());
    set(manifest, at, "checksum", &format!("\"{:016x}\"", xxh3_64(history)));
}

/// Words that occur in manifests and histories.
const WORDS: [&str; 24] = [
    "\"depth\"",
    "\"worker\"",
    "\"file\"",
    "\"bytes\"",
    "\"states\"",
    "\"regions\"",
    "\"generated\"",
    "\"digest\"",
    "\"seal\"",
    "\"history\"",
    "\"lines\"",
    "\"counters\"",
    "\"state\"",
    "\"done\"",
    "\"stopped\"",
    "\"running\"",
    "\"kept\"",
    "\"seconds\"",
    "\"symbolic-lean\"",
    "\"engine\"",
    "\"shards\"",
    "ffffffffffffffff",
    "{",
    "}",
];

/// Changes a JSON text: mostly its numbers, so that it remains valid JSON.
pub(super) fn mutate_json(text: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    if rng.once_in(3) {
        mutate::text(text, other, &WORDS, rng);
        return;
    }
    for _ in 0..mutate::changes(rng) {
        if let Some((from, to)) = a_number(text, rng) {
            replace_all(text, &from, &to, rng);
        }
    }
}

/// A random number in a text, and its replacement.
pub(super) fn a_number(text: &[u8], rng: &mut Rng) -> Option<(Vec<u8>, Vec<u8>)> {
    let numbers: Vec<&[u8]> = text
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|word| word.first().is_some_and(u8::is_ascii_digit))
        .collect();
    if numbers.is_empty() {
        return None;
    }
    let from = rng.pick(&numbers).to_vec();
    let to = match from.len() {
        // Seals and digests keep their length.
        16 => format!("{:016x}", rng.edge(0)),
        32 => format!("{:016x}{:016x}", rng.edge(0), rng.edge(0)),
        _ => rng.edge(usize::from(from[0])).to_string(),
    };
    Some((from, to.into_bytes()))
}

/// Replaces a word once or everywhere: some figures are recorded at several places.
pub(super) fn replace_all(text: &mut Vec<u8>, from: &[u8], to: &[u8], rng: &mut Rng) {
    let once = rng.once_in(2);
    let mut at = if once { rng.below(text.len()) } else { 0 };
    while let Some(found) = text[at..].windows(from.len()).position(|window| window == from) {
        let start = at + found;
        let bounds = [start.checked_sub(1), Some(start + from.len())];
        let inside = bounds
            .into_iter()
            .flatten()
            .any(|at| text.get(at).is_some_and(u8::is_ascii_alphanumeric));
        at = start + if inside { 1 } else { to.len() };
        if !inside {
            text.splice(start..start + from.len(), to.iter().copied());
            if once {
                return;
            }
        }
    }
}
