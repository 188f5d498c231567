//! Fuzz target for files that define puzzles: every accepted definition has moves with inverses,
//! and its states are read back from their texts.
//!
//! An input is the content of a file.

use strata_puzzles::permutation::{Definition, PermutationPuzzle, RankKey};
use strata_space::{Key192, KeySpace, Parameters, Puzzle, file_content, file_value};

use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Files of all formats.
pub(super) struct Definitions;

const TWS: &str = "Name small\nSet C 4 3\nSet E 3 2\nSolved\nC\n1 1 2 3\n? ? 0 1\nE\n1 2 3\nEnd\n\
                   Move U\nC\n2 3 4 1\n0 1 0 2\nE\n2 1 3\nEnd\nMoveTransformation R\nC\n1 0 2 3\n\
                   1 2 0 0\nEnd\nMove x\nE\n2 3 1\nEnd\nMoveAlias F U'\nMoveSequence S U x R2 x'\n\
                   Illegal E 3 1\n";

const DEF: &str = "Name small\nSet C 4 3\nSolved\nC\n1 2 3 4\nEnd\nIgnore\nC\n1 0 0 0\nEnd\nMove R\nC\n\
                   1 3 4 2\n0 1 2 0\nEnd\n";

const KPUZZLE: &str = r#"{"name": "small", "orbits": [
    {"orbitName": "C", "numPieces": 4, "numOrientations": 6}],
  "defaultPattern": {"C": {"pieces": [0, 1, 2, 2], "orientation": [0, 1, 5, 0],
    "orientationMod": [1, 2, 0, 0]}},
  "moves": {"U": {"C": {"permutation": [1, 2, 3, 0], "orientationDelta": [0, 1, 5, 0]}},
    "R": {"C": {"permutation": [0, 2, 3, 1], "orientationDelta": [0, 2, 0, 1]}}},
  "derivedMoves": {"S": "[R: U2']", "T": "[U, S]3", "Uv": "(R T) U'"}}"#;

const GENERATORS: &str =
    "# a list\na = (1,2,3)\n  (4, 5);\nb := [2,1,4,3]; a2 =\n3 1 2;;\nd=(); # none\n";

/// Parameters of the searches that are tried.
const OPTIONS: [&[(&str, &str)]; 4] =
    [&[], &[("metric", "quarter")], &[("inverses", "true")], &[("goal", "? ? ? ? ?")]];

fn given(content: &str, options: &[(&str, &str)]) -> Parameters {
    let file = file_value(content);
    let pairs = [("file", &*file)].into_iter().chain(options.iter().copied());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Checks that the moves of a definition have inverses.
fn check_moves(definition: &Definition) -> Result<(), Finding> {
    let shape = &definition.shape;
    for mv in definition.moves.iter().chain(&definition.rotations) {
        let inverse = mv.element.inverse(shape).filter(|inverse| shape.has(inverse));
        let inverse = inverse.ok_or_else(|| format!("{} has no inverse", mv.name))?;
        let there = definition.after(&definition.solved, &mv.element);
        if definition.after(&there, &inverse) != definition.solved {
            return Err(format!("{} is not undone by its inverse", mv.name));
        }
    }
    Ok(())
}

/// Checks that the first moves and states of a search are read back from their names and texts.
fn check_search<K: RankKey>(content: &str, options: &[(&str, &str)]) -> Result<(), Finding> {
    let Ok(puzzle) = PermutationPuzzle::<K>::open(&given(content, options)) else {
        return Ok(());
    };
    for name in puzzle.move_names().take(8) {
        let alone = PermutationPuzzle::<K>::open(&given(content, &[("moves", name)]));
        let alone = alone.map_err(|error| format!("{name} is not read back: {error}"))?;
        if alone.move_names().next() != Some(name) {
            return Err(format!("{name} was read back as another move"));
        }
    }
    let start = puzzle.seeds()[0].key();
    let mut next = vec![start];
    puzzle.successors(start, &mut next);
    for key in next.into_iter().take(20) {
        let text = puzzle.text(key);
        let start = [("start", &*text)];
        let again = PermutationPuzzle::<K>::open(&given(content, &[options, &start].concat()));
        let again = again.map_err(|error| format!("{text} is not read back: {error}"))?;
        if again.seeds()[0].key() != key || again.text(key) != text {
            return Err(format!("{text} was read back as {}", again.text(again.seeds()[0].key())));
        }
    }
    Ok(())
}

impl Target for Definitions {
    fn name(&self) -> &'static str {
        "definitions"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let shipped = include_str!("../../../../puzzles/data/2x2x2.tws");
        [TWS, DEF, KPUZZLE, GENERATORS, shipped].map(|text| text.as_bytes().to_vec()).into()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let words = [
            "Set",
            "Solved\n",
            "StartState\n",
            "Move",
            "MoveTransformation",
            "MoveAlias",
            "MoveSequence S ",
            "Illegal C 1 ",
            "End\n",
            "Ignore\n",
            "Block\n",
            "?",
            "\n",
            "255",
            "127",
            "(",
            "[",
            "U2'",
            "999999",
            ":",
            "=",
            "\"derivedMoves\":",
            "\"orientationMod\":",
            "[[U:R],x]",
            "^-1",
            "\"",
            "'",
            ";",
            ",\n",
            "\\\n",
            " #",
        ];
        mutate::text(input, other, &words, rng);
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let content = String::from_utf8_lossy(input);
        let value = file_value(&content);
        let Some(content) = file_content(&value) else {
            return Err("a value without content".to_owned());
        };
        if file_value(&content) != value {
            return Err("another value".to_owned());
        }
        let definition = match Definition::read(&content) {
            Ok(definition) => definition,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        check_moves(&definition)?;
        OPTIONS.iter().try_for_each(|options| {
            check_search::<u128>(&content, options)?;
            check_search::<Key192>(&content, options)
        })?;
        Ok(Outcome::Accepted)
    }

    fn memory(&self, len: usize) -> usize {
        // Goals that stand for 100,000 states.
        (128 << 20) + 64 * len
    }
}
