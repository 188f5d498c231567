//! Texts of small puzzles of all formats and features, for tests.

/// Alike pieces.
pub(crate) const RING: &str = "Name ring\nSet A 6 1\nSolved\nA\n1 1 2 2 7 7\nEnd\nMove L\nA\n2 3 4 5 6 1\nEnd\n\
                    Move X\nA\n2 1 3 4 5 6\nEnd\n";

/// Orientations whose sum is fixed.
pub(crate) const TWISTS: &str = "Set C 4 3\nSolved\nC\n1 2 3 4\n0 0 0 0\nEnd\nMove U\nC\n2 3 4 1\nEnd\n\
                      Move R\nC\n1 3 4 2\n0 1 2 0\nEnd\n";

/// A piece whose orientation is ignored.
pub(crate) const OPEN_TWIST: &str = "Set C 4 3\nSolved\nC\n1 2 3 4\n? 0 0 0\nEnd\nMove U\nC\n2 3 4 1\nEnd\n\
                          Move R\nC\n1 3 4 2\n0 1 2 0\nEnd\n";

/// Alike pieces of which some have no orientation, and a sum of turns that moves change.
pub(crate) const ALIKE_OPEN: &str = "Set C 5 4\nSolved\nC\n1 1 2 2 3\n? ? 0 1 3\nEnd\nMove U\nC\n2 3 4 5 1\n\
                          0 1 0 2 0\nEnd\nMove R\nC\n2 1 3 4 5\n3 0 0 0 0\nEnd\n";

/// Two sets that move together, and turns in place.
pub(crate) const SETS: &str = "Set CORNERS 3 2\nSet EDGES 4 1\nSet SPIN 1 6\nSolved\nCORNERS\n1 2 3\nEDGES\n\
                    1 2 3 4\nSPIN\n1\n3\nEnd\nMove a\nCORNERS\n2 3 1\n1 0 1\nSPIN\n1\n2\nEnd\n\
                    Move b\nCORNERS\n2 1 3\nEDGES\n2 3 4 1\nEnd\n";

/// A slot that two pieces must not enter.
pub(crate) const ILLEGAL: &str = "Set A 6 1\nSolved\nA\n1 2 3 4 5 6\nEnd\nMove L\nA\n2 3 4 5 6 1\nEnd\nMove X\nA\n\
                       2 1 3 4 5 6\nEnd\nIllegal A 4 1 2\nIllegal A 5 1\n";

/// Numbers from 0, turns by the slot that a piece comes to.
pub(crate) const ZERO_BASED: &str = "Set C 4 3\nStartState\nC\n0 1 1 2\n0 0 0 1\nEnd\nMoveTransformation U\nC\n\
                          1 2 3 0\n0 0 0 1\nEnd\nMoveTransformation R\nC\n0 2 3 1\n0 1 2 0\nEnd\n";

/// Sequences, an alias, and rotations, which are not moves.
pub(crate) const SEQUENCES: &str = "Set A 5 2\nSolved\nA\n1 2 3 4 5\nEnd\nMove F\nA\n2 3 1 4 5\n1 1 0 0 0\nEnd\n\
                         Move x\nA\n2 3 4 5 1\nEnd\nMoveSequence B x F x'\nMoveSequence Gv x2\n\
                         MoveAlias H F'\n";

/// A solved state that is not in order.
pub(crate) const SHUFFLED: &str = "# a comment\nName shuffled\nSet A 5 3\nSolved\nA\n3 1 2 5 4\n1 0 2 0 0\nEnd\n\
                        Move p\nA\n2 3 1 4 5\n1 0 0 0 0\nEnd\nMove q\nA\n1 2 4 5 3\n0 0 2 1 0\nEnd\n";

/// [`TWISTS`] with turns by the slots that pieces come to.
pub(crate) const KPUZZLE: &str = r#"{
    "name": "twists",
    "orbits": [{"orbitName": "C", "numPieces": 4, "numOrientations": 3}],
    "defaultPattern": {"C": {"pieces": [0, 1, 2, 3], "orientation": [0, 0, 0, 0]}},
    "moves": {
        "U": {"C": {"permutation": [1, 2, 3, 0], "orientationDelta": [0, 0, 0, 0]}},
        "R": {"C": {"permutation": [0, 2, 3, 1], "orientationDelta": [0, 2, 0, 1]}}
    }
}"#;

/// A ring of five, with pieces that may not be in opposite slots.
pub(crate) const ILLEGAL_RING: &str = "Set A 5 1\nSolved\nA\n1 2 3 4 5\nEnd\nMove L\nA\n2 3 4 5 1\nEnd\nMove X\nA\n\
                            2 1 3 4 5\nEnd\nIllegal A 4 1 2\n";
