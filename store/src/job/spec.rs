//! Specification of a job: the state space, its parameters, and the engine.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::layer::format::FileKind;

/// The engine of a job, which determines how layers are represented.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// Layers are lists of states.
    #[default]
    Explicit,
    /// Layers are decision diagrams, with digests and counts of moves.
    Symbolic,
    /// Layers are decision diagrams, without digests and counts of moves, which saves memory.
    SymbolicLean,
    /// Layers are one bit for each state of the space, with digests.
    Dense,
    /// Layers are one bit for each state of the space, without digests, which saves time.
    DenseLean,
}

impl EngineKind {
    /// All engines.
    pub const ALL: [EngineKind; 5] = [
        EngineKind::Explicit,
        EngineKind::Symbolic,
        EngineKind::SymbolicLean,
        EngineKind::Dense,
        EngineKind::DenseLean,
    ];

    /// The name in a manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Explicit => "explicit",
            EngineKind::Symbolic => "symbolic",
            EngineKind::SymbolicLean => "symbolic-lean",
            EngineKind::Dense => "dense",
            EngineKind::DenseLean => "dense-lean",
        }
    }

    /// The engine with a name; None if there is none.
    #[must_use]
    pub fn find(name: &str) -> Option<EngineKind> {
        EngineKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether layers are lists of states.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        *self == EngineKind::Explicit
    }

    /// Whether layers are decision diagrams. A checkpoint then has a single file, which holds the last
    /// two layers; with other engines, each of the two layers has its own files.
    #[must_use]
    pub fn is_symbolic(self) -> bool {
        matches!(self, EngineKind::Symbolic | EngineKind::SymbolicLean)
    }

    /// Whether layers are a bit for each state of the space.
    #[must_use]
    pub fn is_dense(self) -> bool {
        matches!(self, EngineKind::Dense | EngineKind::DenseLean)
    }

    /// The kind of the layer files.
    #[must_use]
    pub fn file_kind(self) -> FileKind {
        match self {
            EngineKind::Explicit => FileKind::Layer,
            EngineKind::Symbolic | EngineKind::SymbolicLean => FileKind::Diagram,
            EngineKind::Dense | EngineKind::DenseLean => FileKind::Dense,
        }
    }

    /// The kind of files that hold several older layers. A symbolic search has none.
    #[must_use]
    pub fn older_kind(self) -> FileKind {
        if self.is_dense() { FileKind::OlderDense } else { FileKind::Older }
    }

    /// Whether layers have digests. If not, digests are zero.
    #[must_use]
    pub fn has_digests(self) -> bool {
        !matches!(self, EngineKind::SymbolicLean | EngineKind::DenseLean)
    }

    /// Whether moves are counted.
    #[must_use]
    pub fn counts_moves(self) -> bool {
        self != EngineKind::SymbolicLean
    }
}

/// Specification of a job. Jobs with equal specifications have equal results.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Name of the state space.
    pub space: String,
    /// The state space's parameters, as text.
    pub params: BTreeMap<String, String>,
    /// Number of shards.
    pub shards: u32,
    /// The engine.
    #[serde(default, skip_serializing_if = "EngineKind::is_explicit")]
    pub engine: EngineKind,
}

impl JobSpec {
    /// Whether each state is an orbit of the symmetries that the search uses. False for the dense engine,
    /// which counts orbits separately.
    #[must_use]
    pub fn states_are_orbits(&self) -> bool {
        let is_on = self.params.get("symmetry").is_some_and(|value| value == "on");
        is_on && !self.engine.is_dense()
    }

    /// The fields and parameters that differ, each as (name, value here, value in `other`). A missing
    /// parameter counts as empty.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<(String, String, String)> {
        let mut pairs = vec![
            ("space".to_owned(), self.space.clone(), other.space.clone()),
            ("shards".to_owned(), self.shards.to_string(), other.shards.to_string()),
            ("engine".to_owned(), self.engine.name().to_owned(), other.engine.name().to_owned()),
        ];
        let names: BTreeSet<_> = self.params.keys().chain(other.params.keys()).collect();
        let value = |spec: &Self, name| spec.params.get(name).cloned().unwrap_or_default();
        pairs.extend(
            names.into_iter().map(|name| (name.clone(), value(self, name), value(other, name))),
        );
        pairs.retain(|(_, here, there)| here != there);
        pairs
    }
}
