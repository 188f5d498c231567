# List the recipes.
default:
    @just --list

# Build everything, optimised.
build:
    cargo build --workspace --release --locked

# Run all tests, doc tests included.
test:
    cargo test --workspace --locked

# Run the checks of continuous integration other than tests: format, lints, dependencies.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
    cargo deny --locked check bans licenses sources

# Format the code.
fmt:
    cargo fmt --all

# Run the benchmarks.
bench:
    cargo bench --workspace --locked

# Build the documentation.
doc:
    RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --locked

# Update the listings of public items in docs/api.
surface:
    STRATA_UPDATE_SURFACE=1 cargo test -p strata-checks --test surface --locked

# Run everything continuous integration runs.
ci:
    bash .ci/run

# Solve Panex of level N, as in `just solve 6`; further arguments are passed on.
solve N *ARGS:
    cargo run --release --locked -- solve panex {{ N }} {{ ARGS }}
