//! Exhaustive checks, on small puzzles, of the lemmas of `docs/panex-proof.md`.
//!
//! The model of the puzzle here is written from the page's definitions. It shares no code with the
//! crate, the engines or the verifier. The crate only supplies the certificate.

mod bound;
mod certificate;
mod model;
mod order;
mod pairs;
mod physical;
mod physical_board;
mod segments;
mod useful;
