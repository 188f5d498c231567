//! The papers' algorithms, and the proof that X(n) = U(n).
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod certificate;
mod docs;
mod proof_lemmas;
mod proof_verifier;
mod search;
mod tiles;
