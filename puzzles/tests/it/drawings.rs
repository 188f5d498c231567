//! Tests of the drawings of positions of the shipped puzzles.

use roxmltree::{Document, Node};
use strata_puzzles::Hanoi;
use strata_puzzles::panex::Panex;
use strata_puzzles::permutation::{Member, Pancake};
use strata_puzzles::tiles::Tiles;
use strata_space::{DrawingTheme, Puzzle};

fn open<P: Puzzle>(parameters: &[(&str, &str)]) -> P {
    let parameters = parameters.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    P::open(&parameters).unwrap()
}

fn draw(puzzle: &impl Puzzle, position: &str) -> String {
    puzzle.drawing(position, DrawingTheme::Light).unwrap()
}

/// The texts in a drawing, sorted.
fn texts(drawing: &str) -> Vec<String> {
    let document = Document::parse(drawing).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let mut texts: Vec<String> = texts.map(|text| text.text().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

/// An attribute as a number of at least zero.
fn number(node: &Node<'_, '_>, name: &str) -> u32 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// Width and height of a drawing.
fn size(drawing: &str) -> (u32, u32) {
    let document = Document::parse(drawing).unwrap();
    (number(&document.root_element(), "width"), number(&document.root_element(), "height"))
}

#[test]
fn every_piece_is_drawn_once() {
    let panex = draw(&open::<Panex>(&[("level", "3")]), "b2 / b3 o1 / o2 b1 o3");
    let tiles = ["0", "1", "2", "3", "C", "L", "R", "b1", "b2", "b3", "o1", "o2", "o3"];
    assert_eq!(texts(&panex), tiles);
    let board = draw(&open::<Tiles>(&[("size", "2x3")]), "1 _ 3 / 4 5 2");
    assert_eq!(texts(&board), ["1", "2", "3", "4", "5"]);
    let hanoi = draw(&open::<Hanoi>(&[("discs", "4"), ("pegs", "4")]), "- / 1 3 / - / 2 4");
    assert_eq!(texts(&hanoi), ["1", "2", "3", "4"]);
}

/// Checks that the drawings of some positions have the same size and all pieces inside.
fn check(puzzle: &impl Puzzle, positions: &[&str]) {
    let (wide, high) = size(&draw(puzzle, positions[0]));
    for position in positions {
        for theme in [DrawingTheme::Light, DrawingTheme::Dark] {
            let drawing = puzzle.drawing(position, theme).unwrap();
            assert_eq!(size(&drawing), (wide, high), "{position}");
            let document = Document::parse(&drawing).unwrap();
            assert_eq!(document.root_element().attribute("aria-label"), Some(*position));
            let mut pieces = 0;
            for piece in document.descendants().filter(|node| node.has_tag_name("rect")) {
                let (x, y) = (number(&piece, "x"), number(&piece, "y"));
                assert!(x + number(&piece, "width") <= wide, "{position}");
                assert!(y + number(&piece, "height") <= high, "{position}");
                pieces += 1;
            }
            assert!(pieces >= 3, "{position}");
        }
    }
}

#[test]
fn all_positions_of_a_puzzle_have_drawings_of_one_size_inside_their_frame() {
    let panex = ["b1 b2 / - / o1 o2", "- / b2 / b1 o1 o2", "b2 / b1 / o1 o2", "b2 o2 / b1 / o1"];
    check(&open::<Panex>(&[("level", "2")]), &panex);
    let tiles = ["1 2 / 3 4 / 5 _", "_ 1 / 2 3 / 4 5", "5 4 / 3 _ / 2 1"];
    check(&open::<Tiles>(&[("size", "3x2")]), &tiles);
    let hanoi = ["1 2 3 / - / - / -", "- / - / - / 1 2 3", "1 / 2 / 3 / -"];
    check(&open::<Hanoi>(&[("discs", "3"), ("pegs", "4")]), &hanoi);
    let discs: Vec<String> = (1..=21).map(|disc| disc.to_string()).collect();
    let tower = discs.join(" ");
    check(
        &open::<Hanoi>(&[("discs", "21")]),
        &[&format!("{tower} / - / -"), &format!("- / - / {tower}")],
    );
}

#[test]
fn texts_that_are_not_positions_have_no_drawing() {
    let panex = open::<Panex>(&[("level", "2")]);
    assert_eq!(panex.drawing("b1 b2 / - / o1", DrawingTheme::Light), None);
    let tiles = open::<Tiles>(&[("size", "2x3")]);
    assert_eq!(tiles.drawing("1 2 / 3 _", DrawingTheme::Light), None);
    let hanoi = open::<Hanoi>(&[("discs", "3")]);
    let refused = ["1 2 3 / -", "2 1 3 / - / -", "1 2 / - / -", "1 2 2 3 / - / -", "<b> / - / -"];
    for position in refused {
        assert_eq!(hanoi.drawing(position, DrawingTheme::Light), None, "{position}");
    }
    // A puzzle without drawings.
    let pancake = open::<Member<Pancake>>(&[("n", "4")]);
    assert_eq!(pancake.drawing("1 2 3 4", DrawingTheme::Light), None);
}
