//! Check that the generated code is up to date with the protocol's files.
//!
//! The generator and its dependencies take longer to build than the rest of the protocol, so the
//! code is checked in. Its first two lines are digests: of the files that it was generated from,
//! and of the code itself.

use xxhash_rust::xxh3::xxh3_128;

/// Returns `code` with two lines before it: the digests of `sources` and of `code`. `sources` is
/// the content of the protocol's files, one after the other.
pub fn stamp(sources: &str, code: &str) -> String {
    format!(
        "// Digest of v1/*.proto: {:032x}\n// Digest of the lines below: {:032x}\n{code}",
        xxh3_128(sources.as_bytes()),
        xxh3_128(code.as_bytes())
    )
}

#[cfg(test)]
mod tests {
    use super::stamp;

    #[test]
    fn the_generated_code_matches_the_protocol_files() {
        let sources = concat!(
            include_str!("../v1/common.proto"),
            include_str!("../v1/control.proto"),
            include_str!("../v1/exchange.proto"),
            include_str!("../v1/jobs.proto"),
        );
        let written = include_str!("v1.rs");
        let code = written.splitn(3, '\n').nth(2).expect("two lines of digests");
        let first_lines = |text: &str| text.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            first_lines(written),
            first_lines(&stamp(sources, code)),
            "run cargo run -p strata-proto --features generate"
        );
    }
}
