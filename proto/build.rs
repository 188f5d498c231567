//! Compiles the protocol without a system protoc.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=v1");
    let files = ["v1/common.proto", "v1/control.proto", "v1/exchange.proto", "v1/jobs.proto"];
    let descriptors = protox::compile(files, ["."])?;
    // Batches are large: without copies.
    tonic_prost_build::configure().bytes(".strata.v1").compile_fds(descriptors)?;
    Ok(())
}
