//! Tests of the engines against independent searches, published tables and other runs of the engines.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

mod dense;
mod explicit;
#[path = "../../../strata/tests/it/reference/mod.rs"]
mod reference;
mod symbolic;
