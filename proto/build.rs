//! Compiles the protocol without a system protoc.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=v1");
    let files = ["v1/common.proto", "v1/control.proto", "v1/exchange.proto", "v1/jobs.proto"];
    let descriptors = protox::compile(files, ["."])?;
    let mut config = prost_build::Config::new();
    // The codec mixes the name into the checksum.
    config.enable_type_names();
    tonic_prost_build::configure()
        // Batches are large: without copies.
        .bytes(".strata.v1")
        .codec_path("crate::codec::CheckedCodec")
        .compile_fds_with_config(descriptors, config)?;
    Ok(())
}
