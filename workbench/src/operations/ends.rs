//! The positions that the operations lead between.

use strata_replay::{MAX_LEVEL, Position, PositionError, Tile};

use super::task::{Kind, OperationError, Task};
use super::transform::Transform;

/// Where an operation begins and where it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The position before it.
    pub start: Position,
    /// The position after it.
    pub goal: Position,
}

impl Ends {
    fn new(start: [Vec<Tile>; 3], goal: [Vec<Tile>; 3]) -> Result<Ends, PositionError> {
        let count: usize = start.iter().map(Vec::len).sum();
        let level = u8::try_from(count / 2).unwrap_or(u8::MAX);
        Ok(Ends { start: Position::new(level, start)?, goal: Position::new(level, goal)? })
    }

    /// The ends of the transformed operation.
    #[must_use]
    pub fn transformed(self, by: Transform) -> Ends {
        let image = |position: Position| {
            let position = if by.mirror { position.mirror() } else { position };
            if by.star { position.star() } else { position }
        };
        let (start, goal) = (image(self.start), image(self.goal));
        if by.inverse { Ends { start: goal, goal: start } } else { Ends { start, goal } }
    }
}

/// The situations in which the paper calls an operation S_n; all take the same moves.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SinkVariation {
    /// Tile n sinks into the empty centre, under the tower.
    Plain,
    /// There is an extra tile in layer n of the centre; tile n comes to rest on top of it.
    Supported,
    /// The tile n + i, i >= 1, sinks instead of tile n. (The tiles n to n + i - 1 lie below it.)
    Larger(u8),
}

fn blue(levels: impl IntoIterator<Item = u8>) -> Vec<Tile> {
    levels.into_iter().map(Tile::blue).collect()
}

fn orange(levels: impl IntoIterator<Item = u8>) -> Vec<Tile> {
    levels.into_iter().map(Tile::orange).collect()
}

/// The stacks as one, the first on top.
fn on<const N: usize>(stacks: [Vec<Tile>; N]) -> Vec<Tile> {
    stacks.concat()
}

impl Task {
    /// The positions the left version leads between, with as few tiles as it needs; none for "4"
    /// and V.
    ///
    /// # Errors
    /// If the positions would have more than [`MAX_LEVEL`] tiles per tower.
    pub fn ends(self) -> Result<Option<Ends>, PositionError> {
        let n = self.n();
        let ends = match self.kind() {
            Kind::T | Kind::BaxterT => Ends {
                start: Position::start(n)?,
                goal: Position::new(n, [vec![], blue(1..=n), orange(1..=n)])?,
            },
            Kind::TBar => Ends {
                start: Position::start(n)?,
                goal: Position::new(n, [vec![], blue(2..=n), on([blue([1]), orange(1..=n)])])?,
            },
            Kind::S | Kind::BaxterS => sink(n, false, SinkVariation::Plain)?,
            Kind::SBar => sink(n, true, SinkVariation::Plain)?,
            Kind::X | Kind::BaxterU | Kind::BaxterUImproved => {
                Ends { start: Position::start(n)?, goal: Position::goal(n)? }
            }
            Kind::C => Ends::new(
                [vec![], blue(2..=n), on([blue([1]), orange(1..=n)])],
                [orange([n]), blue(2..=n), on([blue([1]), orange(1..n)])],
            )?,
            Kind::BaxterZ | Kind::BaxterZImproved => Ends::new(
                [blue([n]), on([blue(1..n), orange([n])]), orange(1..n)],
                [vec![], on([blue(1..n), orange([n])]), on([orange(1..n), blue([n])])],
            )?,
            Kind::Y => Ends::new(
                [on([orange([1]), blue([1, 2])]), on([orange([2]), blue([3])]), orange([3])],
                after_y(),
            )?,
            Kind::Z => Ends::new(after_y(), [orange(1..=3), vec![], blue(1..=3)])?,
            Kind::YBar => Ends::new(
                [on([orange([1]), blue([1, 2])]), on([orange([2]), blue([3, 4])]), orange([3, 4])],
                [orange([3]), blue([2, 3, 4]), on([orange([1]), blue([1]), orange([2, 4])])],
            )?,
            Kind::W => Ends::new(
                [
                    orange([4]),
                    on([blue([2]), orange([3]), blue([4])]),
                    on([orange([1]), blue([1]), orange([2]), blue([3])]),
                ],
                [orange(1..=4), blue([1, 2, 4]), blue([3])],
            )?,
            Kind::Four | Kind::V => return Ok(None),
        };
        Ok(Some(ends))
    }

    /// The positions the left version of S or S-bar leads between in one of its variations.
    ///
    /// # Errors
    /// If the task is not a sink, or the positions would have more than [`MAX_LEVEL`] tiles per tower.
    pub fn sink_ends(self, variation: SinkVariation) -> Result<Ends, OperationError> {
        let bar = match self.kind() {
            Kind::S | Kind::BaxterS => false,
            Kind::SBar => true,
            _ => {
                return Err(OperationError::Variation {
                    task: self,
                    reason: "only S and S-bar have variations",
                });
            }
        };
        match variation {
            SinkVariation::Larger(0) => Err(OperationError::Variation {
                task: self,
                reason: "the larger tile is n + i with i at least 1",
            }),
            SinkVariation::Larger(i) if i > MAX_LEVEL - self.n() => {
                Err(OperationError::Variation {
                    task: self,
                    reason: "the larger tile is too large",
                })
            }
            variation => Ok(sink(self.n(), bar, variation)?),
        }
    }
}

fn after_y() -> [Vec<Tile>; 3] {
    [orange([3]), on([orange([1]), blue([2, 3])]), on([blue([1]), orange([2])])]
}

/// Ends of S_n or S-bar_n. Larger tiles than n wait at the bottom of L.
fn sink(n: u8, bar: bool, variation: SinkVariation) -> Result<Ends, PositionError> {
    let (sinking, waiting) = match variation {
        SinkVariation::Larger(i) => (n + i, blue(n..n + i)),
        SinkVariation::Plain | SinkVariation::Supported => (n, vec![]),
    };
    let (support, right) = match variation {
        SinkVariation::Supported => (orange([n]), orange(1..n)),
        SinkVariation::Plain | SinkVariation::Larger(_) => (vec![], orange(1..=sinking)),
    };
    let (corner, centre) = if bar { (blue([1]), blue(2..n)) } else { (vec![], blue(1..n)) };
    Ends::new(
        [
            on([blue([sinking]), waiting.clone()]),
            on([centre, support.clone()]),
            on([corner, right.clone()]),
        ],
        [on([blue(1..n), waiting]), on([blue([sinking]), support]), right],
    )
}
