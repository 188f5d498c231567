//! Generator of `src/v1.rs`: the messages and services of `v1/*.proto` in Rust. Does not need
//! protoc.
//!
//! Usage: `cargo run -p strata-proto --features generate [-- --check]`. With `--check` it writes
//! nothing, and exits with status 1 if the file differs from the generated code.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

const PROTOS: [&str; 4] =
    ["v1/common.proto", "v1/control.proto", "v1/exchange.proto", "v1/jobs.proto"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        other => return Err(format!("unknown arguments {other:?}; the only one is --check").into()),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("src/v1.rs");
    let code = generate(folder)?;
    if !check {
        fs::write(&path, code)?;
    } else if fs::read_to_string(&path)? != code {
        eprintln!("{} is not what v1/*.proto describe: run without --check", path.display());
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Rust code of the protocol, with the digests that a test in `freshness` compares.
fn generate(folder: &Path) -> Result<String, Box<dyn Error>> {
    let descriptors = protox::compile(PROTOS, [folder])?;
    let mut config = prost_build::Config::new();
    // The codec mixes the name into the checksum.
    config.enable_type_names();
    let out = tempfile::tempdir()?;
    tonic_prost_build::configure()
        // Batches are large: without copies.
        .bytes(".strata.v1")
        .codec_path("crate::codec::CheckedCodec")
        .out_dir(out.path())
        .compile_fds_with_config(descriptors, config)?;
    let code = fs::read_to_string(out.path().join("strata.v1.rs"))?;
    let sources = PROTOS.iter().map(|name| fs::read_to_string(folder.join(name)));
    let sources = sources.collect::<Result<String, _>>()?;
    Ok(strata_proto::freshness::stamp(&sources, &code))
}
