# List the recipes.
default:
    @just --list

# Build everything, optimised.
build:
    cargo build --workspace --release --locked

# Run all tests, doc tests included.
test:
    cargo test --workspace --locked

# Lint one crate and run its unit tests after a change in it, such as `just check store`. With names, the integration tests that match one of them, too: `just check cli usage:: recovery::`.
check CRATE *TESTS:
    cargo fmt --all --check
    cargo clippy --manifest-path {{ CRATE }}/Cargo.toml --all-targets --locked -- -D warnings
    cargo test --manifest-path {{ CRATE }}/Cargo.toml --locked --lib --bins
    {{ if TESTS == "" { "" } else { "cargo test --manifest-path " + CRATE + "/Cargo.toml --locked --tests -- " + TESTS } }}

# Run the checks of continuous integration other than tests: format, lints, documentation, dependencies.
lint:
    bash .ci/run lint

# Format the code.
fmt:
    cargo fmt --all

# Run the benchmarks.
bench:
    cargo bench --workspace --locked

# Build the documentation.
doc:
    RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --locked

# Run everything continuous integration runs.
ci:
    bash .ci/run

# Solve Panex of level N, as in `just solve 6`; further arguments are passed on.
solve N *ARGS:
    cargo run --release --locked -- solve panex {{ N }} {{ ARGS }}
