# List the recipes.
default:
    @just --list

# Build everything, optimised.
build:
    cargo build --workspace --release --locked

# Run all tests, doc tests included.
test:
    cargo test --workspace --locked

# Lint and test one crate, such as `just check store`, after a change in it.
check CRATE:
    cargo fmt --all --check
    cargo clippy --manifest-path {{ CRATE }}/Cargo.toml --all-targets --locked -- -D warnings
    cargo test --manifest-path {{ CRATE }}/Cargo.toml --locked

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
