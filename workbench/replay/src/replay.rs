//! Replay of lists of moves from a position, with every move checked.

use crate::moves::{Move, NamedMove};
use crate::position::{CentreTop, MoveError, Position, RuleError};
use crate::tile::Tile;

/// Error of a list of moves that does not fit the position from which it is replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Centre-top is forbidden, but the first position has it.
    #[error("before the first move, {0}")]
    Start(RuleError),
    /// A move is not legal.
    #[error("move {number} ({mv}): {error}")]
    Illegal {
        /// Number of the move, from 1.
        number: u64,
        /// The move, with its tile if the list or the position names one.
        mv: NamedMove,
        /// The reason.
        error: MoveError,
    },
    /// The list names a tile that differs from the one that moves.
    #[error("move {number} ({mv}): the top tile of {} is {found}", mv.mv.from())]
    OtherTile {
        /// Number of the move, from 1.
        number: u64,
        /// The move as it is in the list.
        mv: NamedMove,
        /// The tile that moves.
        found: Tile,
    },
}

/// A replay under way: a position and how many moves led to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replay {
    position: Position,
    moves: u64,
    centre_top: CentreTop,
}

impl Replay {
    /// Begins with a position, before any move.
    ///
    /// # Errors
    /// If centre-top is forbidden and the position has a tile there.
    pub fn new(start: Position, centre_top: CentreTop) -> Result<Replay, ReplayError> {
        start.check(centre_top).map_err(ReplayError::Start)?;
        Ok(Replay { position: start, moves: 0, centre_top })
    }

    /// Makes one move, and returns it with the tile that moved. After an error nothing has changed.
    ///
    /// # Errors
    /// If the move is illegal, or names a tile that differs from the one that moves.
    pub fn step(&mut self, next: impl Into<NamedMove>) -> Result<NamedMove, ReplayError> {
        let mv: NamedMove = next.into();
        let number = self.moves + 1;
        let found = self.position.top(mv.mv.from());
        if let (Some(tile), Some(found)) = (mv.tile, found)
            && tile != found
        {
            return Err(ReplayError::OtherTile { number, mv, found });
        }
        let tile = self.position.apply(mv.mv, self.centre_top).map_err(|error| {
            let mv = NamedMove { tile: mv.tile.or(found), ..mv };
            ReplayError::Illegal { number, mv, error }
        })?;
        self.moves = number;
        Ok(NamedMove { tile: Some(tile), ..mv })
    }

    /// The position after the moves so far.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Number of moves so far.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Ends the replay with its last position.
    pub fn into_position(self) -> Position {
        self.position
    }
}

/// Replays moves from a position. `visit` is called with every position, the first one included,
/// and the number of moves before it. Returns the replay at its end.
///
/// # Errors
/// If centre-top is forbidden and the first position has a tile there; if a move is illegal, or names
/// a tile that differs from the one that moves.
pub fn replay<M: Into<NamedMove>>(
    start: &Position,
    moves: impl IntoIterator<Item = M>,
    centre_top: CentreTop,
    mut visit: impl FnMut(u64, &Position),
) -> Result<Replay, ReplayError> {
    let mut replay = Replay::new(start.clone(), centre_top)?;
    visit(0, replay.position());
    for mv in moves {
        replay.step(mv)?;
        visit(replay.moves(), replay.position());
    }
    Ok(replay)
}

/// Names the tile of every move of a word, for the text form `b1 L>C`.
///
/// # Errors
/// If a move is illegal. The error names the move and the reason.
pub fn name_moves(start: &Position, word: &[Move]) -> Result<Vec<NamedMove>, ReplayError> {
    let mut replay = Replay::new(start.clone(), CentreTop::Allowed)?;
    word.iter().map(|mv| replay.step(mv)).collect()
}

/// Every `step`-th position of a replay and the last one, each with the number of moves before it.
///
/// # Errors
/// As [`replay`].
pub fn positions_every<M: Into<NamedMove>>(
    step: std::num::NonZeroU64,
    start: &Position,
    moves: impl IntoIterator<Item = M>,
    centre_top: CentreTop,
) -> Result<Vec<(u64, Position)>, ReplayError> {
    let mut seen = Vec::new();
    let end = replay(start, moves, centre_top, |moves, position| {
        if moves.is_multiple_of(step.get()) {
            seen.push((moves, position.clone()));
        }
    })?;
    if !end.moves().is_multiple_of(step.get()) {
        seen.push((end.moves(), end.into_position()));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use proptest::prelude::*;

    use super::*;
    use crate::moves::{Word, parse_moves};
    use crate::position::tests::any_position;

    proptest! {
        #[test]
        fn inverses_lead_back_and_symmetries_map_the_end(
            start in any_position(6),
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let mut walk = Replay::new(start.clone(), CentreTop::Allowed).unwrap();
            let mut word = Word::new();
            for step in steps {
                let moves: Vec<Move> = walk.position().legal_moves(CentreTop::Allowed).collect();
                word.extend([*step.get(&moves)]);
                walk.step(*step.get(&moves)).unwrap();
            }
            let end = walk.into_position();
            let run = |from: &Position, word: &Word| {
                replay(from, word.iter(), CentreTop::Allowed, |_, _| {}).unwrap().into_position()
            };
            prop_assert_eq!(&run(&start, &word), &end);
            prop_assert_eq!(&run(&end, &word.inverse()), &start);
            prop_assert_eq!(run(&start.clone().mirror(), &word.mirror()), end.clone().mirror());
            prop_assert_eq!(run(&start.clone().star(), &word), end.star());
        }
    }

    fn word(text: &str) -> Word {
        text.parse().unwrap()
    }

    #[test]
    fn the_paper_s_three_moves_exchange_level_one() {
        let start = Position::start(1).unwrap();
        let end = replay(&start, &*word("LC RL CR"), CentreTop::Forbidden, |_, _| {}).unwrap();
        assert_eq!((end.moves(), end.into_position()), (3, Position::goal(1).unwrap()));
    }

    #[test]
    fn named_moves_replay_and_print() {
        let start = Position::start(2).unwrap();
        let named = name_moves(&start, &word("LR LC RC")).unwrap();
        let text: Vec<String> = named.iter().map(NamedMove::to_string).collect();
        assert_eq!(text.join("\n"), "b1 L>R\nb2 L>C\nb1 R>C");
        let again = parse_moves(&text.join("\n")).unwrap();
        assert_eq!(again, named);
        let end = replay(&start, again, CentreTop::Forbidden, |_, _| {}).unwrap();
        assert_eq!(end.position().to_string(), "- / b1 b2 / o1 o2");
    }

    #[test]
    fn positions_every_two_moves_include_the_last() {
        let start = Position::start(2).unwrap();
        let moves = word("LR LC RC");
        let two = NonZeroU64::new(2).unwrap();
        let seen = positions_every(two, &start, &*moves, CentreTop::Allowed).unwrap();
        let shown: Vec<String> = seen.iter().map(|(at, p)| format!("{at}: {p}")).collect();
        let expected = ["0: b1 b2 / - / o1 o2", "2: - / b2 / b1 o1 o2", "3: - / b1 b2 / o1 o2"];
        assert_eq!(shown, expected);
        let even = positions_every(two, &start, &moves[..2], CentreTop::Allowed).unwrap();
        assert_eq!(even.len(), 2);
    }

    #[test]
    fn errors_name_the_move_and_the_reason() {
        let start = Position::start(2).unwrap();
        let fails = |moves: &str, centre_top| {
            let moves = parse_moves(moves).unwrap();
            replay(&start, moves, centre_top, |_, _| {}).unwrap_err().to_string()
        };
        assert_eq!(fails("LC CL CR CL", CentreTop::Allowed), "move 3 (CR): C is empty");
        assert_eq!(
            fails("LR LR", CentreTop::Allowed),
            "move 2 (b2 L>R): after it, o1 has 2 tiles above it in R, but may have at most 1"
        );
        assert_eq!(
            fails("b1 L>C o2 R>L", CentreTop::Allowed),
            "move 2 (o2 R>L): the top tile of R is o1"
        );
        let blocked = fails("LC LC", CentreTop::Forbidden);
        assert!(blocked.starts_with("move 2 (b2 L>C): after it, b1 has 1 tile above it in C: the"));
        assert!(replay(&start, &*word("LC LC"), CentreTop::Allowed, |_, _| {}).is_ok());
    }

    #[test]
    fn a_forbidden_start_is_refused() {
        let start: Position = "- / b2 b1 / o1 o2".parse().unwrap();
        let error = Replay::new(start, CentreTop::Forbidden).unwrap_err().to_string();
        assert!(error.starts_with("before the first move, b1 has 1 tile above it in C"));
    }
}
