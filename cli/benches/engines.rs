//! Comparison of the explicit and the symbolic engine: `cargo bench -p strata-cli --bench engines
//! -- LEVEL ROUNDS` (7 and 1 by default). Compares every layer's states, moves and digest, and
//! prints times and memory.

use std::process::Command;

use serde_json::Value;

struct SearchOutput {
    /// Depth, states, moves and digest of each layer.
    layers: Vec<[String; 4]>,
    result: Value,
}

fn solve(level: u32, engine: &str) -> Result<SearchOutput, Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let line = format!("solve panex {level} --engine {engine} --threads 1 --json --progress none");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    let output = command.args(line.split(' ')).arg("--data-dir").arg(dir.path()).output()?;
    let mut ran = SearchOutput { layers: Vec::new(), result: Value::Null };
    for line in String::from_utf8(output.stdout)?.lines() {
        let event: Value = serde_json::from_str(line)?;
        match event["event"].as_str() {
            Some("layer") => ran.layers.push(
                ["depth", "states", "generated", "digest"].map(|field| event[field].to_string()),
            ),
            Some("result") => ran.result = event,
            _ => {}
        }
    }
    if ran.result.is_null() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(ran)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Cargo adds a flag of its own.
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let level = numbers.next().unwrap_or(7);
    let rounds = numbers.next().unwrap_or(1);
    for _ in 0..rounds {
        let [explicit, symbolic] = [run(level, "explicit")?, run(level, "symbolic")?];
        let differ = explicit.layers.iter().zip(&symbolic.layers).find(|(a, b)| a != b);
        if let Some((a, b)) = differ {
            return Err(format!("layers differ: {a:?} and {b:?}").into());
        }
        if explicit.layers.len() != symbolic.layers.len() {
            return Err("one has more layers than the other".into());
        }
        println!("all {} layers agree", explicit.layers.len());
    }
    Ok(())
}

/// Searches, and prints time and memory.
fn run(level: u32, engine: &str) -> Result<SearchOutput, Box<dyn std::error::Error>> {
    let ran = solve(level, engine)?;
    let seconds = ran.result["seconds"].as_f64().unwrap_or(0.0);
    let mib = ran.result["peak_rss_bytes"].as_f64().unwrap_or(0.0) / f64::from(1 << 20);
    println!("{engine:>8}: X({level}) = {}, {seconds:.2} s, {mib:.0} MiB", ran.result["moves"]);
    Ok(ran)
}
