//! The papers' operations by name, and errors about them.

use std::fmt;
use std::str::FromStr;
use strata_replay::{MAX_LEVEL, PositionError};

/// Limit of the moves of a list: 2^30, a GiB of memory.
pub const MAX_WORD: u32 = 1 << 30;

/// Why an operation does not exist or cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// There is no operation of that name.
    #[error("unknown operation '{name}' (known: {})", Kind::ALL.map(Kind::name).join(", "))]
    Unknown {
        /// Requested name.
        name: String,
    },
    /// A level that the operation does not have.
    #[error("{kind}_{level} is not defined: {kind} has the levels {least} to {MAX_LEVEL}")]
    LevelRange {
        /// Operation.
        kind: Kind,
        /// Requested level.
        level: u8,
        /// Its least level.
        least: u8,
    },
    /// The operation needs a level.
    #[error("{kind} needs a level, {least} to {MAX_LEVEL}")]
    LevelMissing {
        /// Operation.
        kind: Kind,
        /// Its least level.
        least: u8,
    },
    /// The operation is one fixed word.
    #[error("{kind} has no level: it is one fixed list of moves")]
    NoLevel {
        /// Operation.
        kind: Kind,
    },
    /// More moves than a list may have.
    #[error(
        "a list of {} moves would be too long, {MAX_WORD} are the most",
        .len.map_or("2^128 or more".to_owned(), |len| len.to_string())
    )]
    TooLong {
        /// Moves, where they can be counted.
        len: Option<u128>,
    },
    /// A variation of S requested for another operation, or for a tile that is out of range.
    #[error("{task} has no such variation: {reason}")]
    Variation {
        /// Operation.
        task: Task,
        /// Reason.
        reason: &'static str,
    },
    /// A task that applies to many positions.
    #[error("{task} has no start and goal of its own: it applies to many positions")]
    NoEnds {
        /// Operation.
        task: Task,
    },
    /// The positions an operation leads between do not exist.
    #[error(transparent)]
    Position(#[from] PositionError),
}

/// Kind of an operation, without its level. All are the left versions, which begin with tiles of L.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// T: the tower 1..n goes from L to C.
    T,
    /// T-bar: the same, but tile 1 ends on top of R.
    TBar,
    /// S: tile n goes from L under the tower 1..n-1 in C, which ends on L.
    S,
    /// S-bar: the same, but tile 1 begins on top of R.
    SBar,
    /// "4": the two topmost tiles of C change places.
    Four,
    /// C: the tile n goes from R to L; the towers 1..n-1 are unchanged.
    C,
    /// X: the towers 1..n change places, in X(n) moves up to n = 4 and in U(n) moves from n = 5 on.
    X,
    /// Y of the exchange of level 3.
    Y,
    /// Y-bar of the exchanges from level 4.
    YBar,
    /// Z of the exchange of level 3.
    Z,
    /// W of the exchange of level 4.
    W,
    /// V of the exchanges from level 5.
    V,
    /// Baxter's simplified T.
    BaxterT,
    /// Baxter's simplified S.
    BaxterS,
    /// Baxter's Zigzag: the tile n goes from L to R.
    BaxterZ,
    /// Baxter's simplified exchange, in U moves.
    BaxterU,
    /// Zigzag with bar versions.
    BaxterZImproved,
    /// Baxter's improved exchange, in U' moves.
    BaxterUImproved,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 18] = [
        Kind::T,
        Kind::TBar,
        Kind::S,
        Kind::SBar,
        Kind::Four,
        Kind::C,
        Kind::X,
        Kind::Y,
        Kind::YBar,
        Kind::Z,
        Kind::W,
        Kind::V,
        Kind::BaxterT,
        Kind::BaxterS,
        Kind::BaxterZ,
        Kind::BaxterU,
        Kind::BaxterZImproved,
        Kind::BaxterUImproved,
    ];

    /// The name, such as `Tbar`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::T => "T",
            Kind::TBar => "Tbar",
            Kind::S => "S",
            Kind::SBar => "Sbar",
            Kind::Four => "4",
            Kind::C => "C",
            Kind::X => "X",
            Kind::Y => "Y",
            Kind::YBar => "Ybar",
            Kind::Z => "Z",
            Kind::W => "W",
            Kind::V => "V",
            Kind::BaxterT => "Baxter-T",
            Kind::BaxterS => "Baxter-S",
            Kind::BaxterZ => "Baxter-Z",
            Kind::BaxterU => "Baxter-U",
            Kind::BaxterZImproved => "Baxter-Z'",
            Kind::BaxterUImproved => "Baxter-U'",
        }
    }

    /// The least level of the operation; none if it is one fixed word.
    pub fn least(self) -> Option<u8> {
        match self {
            Kind::Four | Kind::Y | Kind::YBar | Kind::Z | Kind::W => None,
            Kind::T | Kind::TBar | Kind::X => Some(1),
            Kind::BaxterT | Kind::BaxterS | Kind::BaxterZ | Kind::BaxterZImproved => Some(1),
            Kind::S | Kind::SBar => Some(2),
            Kind::BaxterU | Kind::BaxterUImproved => Some(3),
            Kind::C => Some(4),
            Kind::V => Some(5),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = OperationError;

    /// Reads a name; capitals do not matter.
    fn from_str(text: &str) -> Result<Kind, OperationError> {
        let named = |kind: &Kind| kind.name().eq_ignore_ascii_case(text);
        Kind::ALL
            .into_iter()
            .find(named)
            .ok_or_else(|| OperationError::Unknown { name: text.to_owned() })
    }
}

/// An operation of a level, such as T_7.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Task {
    kind: Kind,
    /// 0 for the fixed words.
    level: u8,
}

impl Task {
    /// The operation of a kind and level; the fixed words have none.
    ///
    /// # Errors
    /// If the level is out of the kind's range, missing, or should not be there.
    pub fn new(kind: Kind, level: Option<u8>) -> Result<Task, OperationError> {
        match (kind.least(), level) {
            (None, None) => Ok(Task { kind, level: 0 }),
            (None, Some(_)) => Err(OperationError::NoLevel { kind }),
            (Some(least), None) => Err(OperationError::LevelMissing { kind, least }),
            (Some(least), Some(level)) if level < least || level > MAX_LEVEL => {
                Err(OperationError::LevelRange { kind, level, least })
            }
            (Some(_), Some(level)) => Ok(Task { kind, level }),
        }
    }

    /// The operation of a kind and level, which must be in the kind's range. For the formulas of
    /// this crate.
    pub(super) fn of(kind: Kind, level: u8) -> Task {
        debug_assert!(level >= kind.least().unwrap_or(0), "{kind}_{level}");
        Task { kind, level }
    }

    /// The kind of operation.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// Its level; none for the fixed words.
    pub fn level(self) -> Option<u8> {
        self.kind.least().map(|_| self.level)
    }

    /// Whether its name is written with L or R.
    pub(super) fn is_sided(self) -> bool {
        matches!(
            self.kind,
            Kind::T | Kind::TBar | Kind::S | Kind::SBar | Kind::BaxterT | Kind::BaxterS
        )
    }

    /// The level as the definitions use it.
    pub(super) fn n(self) -> u8 {
        self.level
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level() {
            Some(level) => write!(f, "{}_{level}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}
