//! Fuzz target for positions of Panex, boards of sliding tiles and lists of moves: the search and
//! the replay accept the same texts, and what they accept is written as it was read.
//!
//! An input is a kind (1 byte), a size (1 byte) and a text.

use strata_puzzles::{panex, tiles};
use strata_replay::tiles as checker;
use strata_replay::{CentreTop, GoldPosition, Position, Word, draw, parse_moves, replay};

use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Checks a text, given a size.
type Check = fn(u8, &str) -> Result<Outcome, Finding>;

/// The checks, by the kind of the text.
const KINDS: [Check; 7] = [position, gold, moves, board, shape, tile_moves, any_board];

/// Texts.
pub(super) struct Positions;

fn same<T: PartialEq + std::fmt::Debug>(what: &str, a: T, b: T) -> Result<(), Finding> {
    if a == b { Ok(()) } else { Err(format!("{what}: {a:?} and {b:?}")) }
}

/// A position of a level: the search and the replay accept the same ones.
fn position(level: u8, text: &str) -> Result<Outcome, Finding> {
    let level = 1 + level % panex::MAX_LEVEL;
    let searched = panex::Position::parse(level, text);
    let replayed = Position::parse(text, level);
    let texts = (
        searched.as_ref().ok().map(ToString::to_string),
        replayed.as_ref().ok().map(ToString::to_string),
    );
    same(text, &texts.0, &texts.1)?;
    let (searched, replayed) = match (searched, replayed) {
        (Ok(searched), Ok(replayed)) => (searched, replayed),
        (Err(error), _) => return Ok(Outcome::refused(error)),
        (_, Err(error)) => return Ok(Outcome::refused(error)),
    };
    let written = texts.0.unwrap_or_default();
    same("read back", panex::Position::parse(level, &written).as_ref(), Ok(&searched))?;
    same("read back", Position::parse(&written, level).as_ref(), Ok(&replayed))?;
    same("of its tiles", written.parse::<Position>().as_ref(), Ok(&replayed))?;
    let mut next = [Vec::new(), Vec::new()];
    next[0].extend(searched.moves(panex::CentreTop::Allow).iter().map(ToString::to_string));
    for mv in replayed.legal_moves(CentreTop::Allowed) {
        let mut moved = replayed.clone();
        moved.apply(mv, CentreTop::Allowed).map_err(|error| format!("{mv}: {error}"))?;
        next[1].push(moved.to_string());
    }
    next.iter_mut().for_each(|texts| texts.sort());
    same("moves", &next[0], &next[1])?;
    for symmetry in panex::Symmetry::ALL {
        same("image", searched.image(symmetry).image(symmetry), searched)?;
    }
    draw::text(&replayed);
    draw::svg(&replayed);
    Ok(Outcome::Accepted)
}

fn gold(_: u8, text: &str) -> Result<Outcome, Finding> {
    let gold: GoldPosition = match text.parse() {
        Ok(gold) => gold,
        Err(error) => return Ok(Outcome::refused(error)),
    };
    same("read back", gold.to_string().parse().as_ref(), Ok(&gold))?;
    match gold.to_position() {
        Ok(position) => {
            same("without levels", GoldPosition::from(&position), gold)?;
            draw::gold_text(&position);
            Ok(Outcome::Accepted)
        }
        Err(error) => Ok(Outcome::refused(error)),
    }
}

/// Moves of Panex; accepted ones are also replayed.
fn moves(level: u8, text: &str) -> Result<Outcome, Finding> {
    let moves = match parse_moves(text) {
        Ok(moves) => moves,
        Err(error) => return Ok(Outcome::refused(error)),
    };
    let written: Vec<String> = moves.iter().map(ToString::to_string).collect();
    same("read back", parse_moves(&written.join(" ")).as_ref(), Ok(&moves))?;
    let word: Word = moves.iter().map(|named| named.mv).collect();
    same("as a word", text.parse::<Word>().as_ref(), Ok(&word))?;
    same("read back", word.to_string().parse::<Word>().as_ref(), Ok(&word))?;
    same("inverse", &word.inverse().inverse(), &word)?;
    let level = 1 + level % 8;
    let start = Position::start(level).map_err(|error| error.to_string())?;
    let mut last = start.clone();
    let played = replay(&start, moves, CentreTop::Allowed, |_, position| last = position.clone());
    match played {
        Ok(played) => {
            let mut end = played.into_position();
            same("the last position", &last, &end)?;
            for mv in word.inverse().iter() {
                end.apply(*mv, CentreTop::Allowed).map_err(|error| format!("back: {error}"))?;
            }
            same("back at the start", end, start)?;
            Ok(Outcome::Accepted)
        }
        Err(error) => Ok(Outcome::refused(error)),
    }
}

const SHAPES: [&str; 6] = ["2x2", "2x3", "3x3", "3x4", "5x5", "12x2"];

/// A board of a shape.
fn board(size: u8, text: &str) -> Result<Outcome, Finding> {
    let shape = SHAPES[usize::from(size) % SHAPES.len()];
    let searched = tiles::Shape::parse(shape).map_err(|error| error.to_string())?;
    let own: checker::Shape = shape.parse().map_err(|error| format!("{error}"))?;
    let found = tiles::Board::parse(searched, text);
    let checked = checker::Board::parse(text, own);
    let (found, checked) = match (found, checked) {
        (Ok(found), Ok(checked)) => (found, checked),
        (Err(error), Err(_)) => return Ok(Outcome::refused(error)),
        (a, b) => return Err(format!("{text}: {a:?} and {b:?}")),
    };
    same("text", found.to_string(), checked.to_string())?;
    same("read back", tiles::Board::parse(searched, &found.to_string()).as_ref(), Ok(&found))?;
    same("read back", checker::Board::parse(&checked.to_string(), own).as_ref(), Ok(&checked))?;
    Ok(Outcome::Accepted)
}

/// A board of any shape.
fn any_board(_: u8, text: &str) -> Result<Outcome, Finding> {
    let board: checker::Board = match text.parse() {
        Ok(board) => board,
        Err(error) => return Ok(Outcome::refused(error)),
    };
    same("read back", board.to_string().parse::<checker::Board>().as_ref(), Ok(&board))?;
    Ok(Outcome::Accepted)
}

fn shape(_: u8, text: &str) -> Result<Outcome, Finding> {
    let shape = match tiles::Shape::parse(text) {
        Ok(shape) => shape,
        Err(error) => {
            // The replay also accepts larger boards.
            if let Ok(shape) = text.parse::<checker::Shape>() {
                same(
                    "read back",
                    shape.to_string().parse::<checker::Shape>().as_ref(),
                    Ok(&shape),
                )?;
            }
            return Ok(Outcome::refused(error));
        }
    };
    same("read back", tiles::Shape::parse(&shape.to_string()), Ok(shape))?;
    same("squares", tiles::Board::goal(shape).to_string().matches(' ').count() > 0, true)?;
    Ok(Outcome::Accepted)
}

/// Moves of the blank, with groups.
fn tile_moves(_: u8, text: &str) -> Result<Outcome, Finding> {
    let word: checker::Word = match text.parse() {
        Ok(word) => word,
        Err(error) => return Ok(Outcome::refused(error)),
    };
    same("read back", word.to_string().parse::<checker::Word>().as_ref(), Ok(&word))?;
    Ok(Outcome::Accepted)
}

impl Target for Positions {
    fn name(&self) -> &'static str {
        "positions"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let text = |kind: u8, size: u8, text: &str| [&[kind, size], text.as_bytes()].concat();
        vec![
            text(0, 0, "b1 / - / o1"),
            text(0, 1, "b2 / - / o1 b1 o2"),
            text(0, 2, "b1 b2 b3 / - / o1 o2 o3"),
            text(0, 4, "b1 / o1 o2 b4 b5 / b2 b3 o3 o4 o5"),
            text(0, 9, "b1 b2 b3 b4 b5 b6 b7 b8 b9 b10 / o1 / o2 o3 o4 o5 o6 o7 o8 o9 o10"),
            text(1, 0, "b b b / - / o o o"),
            text(1, 0, "b b / b . . / o o o"),
            text(2, 2, "LC RC CL"),
            text(2, 1, "b1 L>C o1 R>L b1 C>R"),
            text(2, 7, "LC\nCL\nLC"),
            text(3, 0, "1 2 / 3 _"),
            text(3, 1, "1 _ 3 / 4 5 2"),
            text(3, 2, "8 7 6 / 5 4 3 / 2 1 _"),
            text(3, 3, "1 2 3 4 / 5 6 7 8 / 9 10 11 _"),
            text(4, 0, "3x4"),
            text(4, 0, "12x2"),
            text(5, 0, "ULDR"),
            text(6, 0, "1 2 3 / 4 5 6 / 7 8 _"),
            text(6, 0, "1 2 3 4 / 5 6 7 8 / 9 10 _ 11"),
        ]
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let Some((head, text)) = input.split_at_checked(2) else { return };
        let (mut head, mut text) = (head.to_vec(), text.to_vec());
        if rng.once_in(8) {
            head[rng.below(2)] = rng.bits() as u8;
        }
        let words: [&str; 20] = [
            "b1", "b2", "b3", "b10", "o1", "o2", "o3", "o10", " / ", "-", "LC", "R>C", "b", "o",
            ".", "_", "1 2 3", "(UL)2", "U", "x",
        ];
        mutate::text(&mut text, other.get(2..).unwrap_or_default(), &words, rng);
        *input = [head, text].concat();
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let Some((&[kind, size], text)) = input.split_first_chunk() else {
            return Ok(Outcome::refused("too short"));
        };
        KINDS[usize::from(kind) % KINDS.len()](size, &String::from_utf8_lossy(text))
    }

    /// A list of tile moves may have ten million, in a text of a few bytes.
    fn memory(&self, _: usize) -> usize {
        128 << 20
    }

    fn test_runs(&self) -> u64 {
        4_000
    }
}
