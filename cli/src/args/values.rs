//! Values of flags: numbers with a limit, times, engines and files with secrets.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PathBufValueParser, RangedU64ValueParser, TypedValueParser};
use strata_store::EngineKind;

use crate::files;

/// Engine that holds the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Symbolic if the space and the flags permit it, else dense if it fits, else explicit.
    Auto,
    /// Every state is stored.
    Explicit,
    /// Layers are decision diagrams.
    Symbolic,
    /// Decision diagrams without digests and move counts, in less memory.
    SymbolicLean,
    /// A bit for every state of the space.
    Dense,
}

impl Engine {
    /// The engine named; none for `auto`.
    pub(crate) fn kind(self) -> Option<EngineKind> {
        match self {
            Engine::Auto => None,
            Engine::Explicit => Some(EngineKind::Explicit),
            Engine::Symbolic => Some(EngineKind::Symbolic),
            Engine::SymbolicLean => Some(EngineKind::SymbolicLean),
            Engine::Dense => Some(EngineKind::Dense),
        }
    }
}

/// Parser of a number from 1 to `limit`.
pub fn at_most(limit: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=limit)
}

/// Threads the machine can run at once; 1 if unknown.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Parser of the name of a file with a token, a certificate or a key. It refuses standard input,
/// because completions and the coordinator's searches for paths read the file as well.
pub(crate) fn secret_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|file| {
        if files::is_standard(&file) {
            return Err("it is read from a file only: name one");
        }
        Ok(file)
    })
}
