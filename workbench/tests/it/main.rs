//! The papers' algorithms, the proof that X(n) = U(n), and the program.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod certificate;
mod commands;
mod docs;
mod proof_lemmas;
mod proof_verifier;
mod search;
mod tiles;
