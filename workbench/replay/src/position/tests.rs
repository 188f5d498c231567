use proptest::prelude::*;

use super::*;
use crate::gold::{GoldError, GoldPosition};

/// The end of a random walk from the start.
pub(crate) fn any_position(highest: u8) -> impl Strategy<Value = Position> {
    let steps = prop::collection::vec(any::<prop::sample::Index>(), 0..200);
    (1..=highest, steps).prop_map(|(level, steps)| {
        let mut position = Position::start(level).unwrap();
        for step in steps {
            let moves: Vec<Move> = position.legal_moves(CentreTop::Allowed).collect();
            position.apply(*step.get(&moves), CentreTop::Allowed).unwrap();
        }
        position
    })
}

fn parse(text: &str) -> Position {
    text.parse().unwrap()
}

proptest! {
    #[test]
    fn positions_round_trip_through_text(position in any_position(30)) {
        let text = position.to_string();
        prop_assert_eq!(text.parse(), Ok(position.clone()));
        prop_assert_eq!(Position::parse(&text, position.level()), Ok(position));
    }

    #[test]
    fn symmetries_preserve_moves(position in any_position(6)) {
        for mv in Move::ALL {
            for centre_top in [CentreTop::Allowed, CentreTop::Forbidden] {
                let mut after = position.clone();
                let made = after.apply(mv, centre_top);
                let mut mirrored = position.clone().mirror();
                let mut swapped = position.clone().star();
                let of_mirror = mirrored.apply(mv.mirror(), centre_top);
                let of_star = swapped.apply(mv, centre_top);
                match made {
                    Ok(tile) => {
                        prop_assert_eq!(of_mirror, Ok(tile));
                        prop_assert_eq!(of_star, Ok(tile.swapped()));
                        prop_assert_eq!(mirrored, after.clone().mirror());
                        prop_assert_eq!(swapped, after.clone().star());
                        prop_assert_eq!(after.apply(mv.inverse(), CentreTop::Allowed), Ok(tile));
                    }
                    Err(_) => prop_assert!(of_mirror.is_err() && of_star.is_err()),
                }
                prop_assert_eq!(&position, &after, "unchanged, or moved back");
            }
        }
    }

    #[test]
    fn tiles_rest_in_layers_they_fit(position in any_position(9)) {
        for column in Column::ALL {
            let layers = position.layers(column);
            prop_assert!(layers.is_sorted_by(|(_, a), (_, b)| a < b));
            prop_assert!(layers.iter().all(|(tile, layer)| *layer <= tile.level));
        }
        let on_top = position.layers(Column::Centre).first().is_some_and(|(_, layer)| *layer == 0);
        prop_assert_eq!(position.check(CentreTop::Forbidden).is_err(), on_top);
    }

    #[test]
    fn gold_positions_yield_the_hidden_levels_or_are_ambiguous(position in any_position(6)) {
        let gold = GoldPosition::from(&position);
        prop_assert_eq!(gold.to_string().parse(), Ok(gold.clone()));
        match gold.to_position() {
            Ok(found) => prop_assert_eq!(found, position),
            Err(GoldError::Ambiguous { places, levels }) => {
                prop_assert_eq!(places[0].colour, places[1].colour);
                prop_assert_ne!(levels[0], levels[1]);
                for place in places {
                    let there = position.layers(place.column).into_iter().any(|(tile, layer)| {
                        (tile.colour, layer) == (place.colour, place.layer)
                    });
                    prop_assert!(there, "{} in {}", place, position);
                    prop_assert!(levels.iter().all(|level| *level >= place.layer));
                }
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

/// All legal positions that extend the columns downwards with the remaining tiles.
fn with_more(level: u8, columns: &[Vec<Tile>; 3], tiles: &[Tile], found: &mut Vec<Position>) {
    if tiles.is_empty() {
        found.extend(Position::new(level, columns.clone()));
    }
    for (at, tile) in tiles.iter().enumerate() {
        let rest = [&tiles[..at], &tiles[at + 1..]].concat();
        // Only columns from the last one in use on, so that each arrangement occurs once.
        let last = columns.iter().rposition(|column| !column.is_empty()).unwrap_or(0);
        for column in last..3 {
            let mut columns = columns.clone();
            columns[column].push(*tile);
            with_more(level, &columns, &rest, found);
        }
    }
}

/// All legal positions of a level, reachable from the start or not.
fn legal_positions(level: u8) -> Vec<Position> {
    let tiles: Vec<Tile> =
        (1..=level).flat_map(|level| [Tile::blue(level), Tile::orange(level)]).collect();
    let mut found = Vec::new();
    with_more(level, &[const { Vec::new() }; 3], &tiles, &mut found);
    found
}

#[test]
fn gold_levels_are_determined_if_and_only_if_one_position_matches() {
    for level in 1..=3 {
        let all = legal_positions(level);
        let mut looks = std::collections::HashMap::<GoldPosition, usize>::new();
        for position in &all {
            *looks.entry(GoldPosition::from(position)).or_default() += 1;
        }
        for position in &all {
            let gold = GoldPosition::from(position);
            match gold.to_position() {
                Ok(found) => assert_eq!((looks[&gold], &found), (1, position)),
                Err(error) => {
                    assert!(looks[&gold] > 1, "{position}: {error}");
                    assert!(matches!(error, GoldError::Ambiguous { .. }), "{position}: {error}");
                }
            }
        }
    }
}

#[test]
fn start_goal_and_symmetries() {
    let start = Position::start(3).unwrap();
    assert_eq!(start.to_string(), "b1 b2 b3 / - / o1 o2 o3");
    let goal = Position::goal(3).unwrap();
    assert_eq!(goal.to_string(), "o1 o2 o3 / - / b1 b2 b3");
    assert_eq!(start.clone().mirror(), goal);
    assert_eq!(start.clone().star().mirror(), start);
    assert_eq!(Position::start(99).unwrap().level(), 99);
}

#[test]
fn layers_follow_from_levels_and_tiles_below() {
    let position = parse("b1 o2 o3 / b3 o1 / b2");
    assert_eq!(
        position.layers(Column::Left).iter().map(|(_, at)| *at).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(position.layers(Column::Centre), [(Tile::blue(3), 0), (Tile::orange(1), 1)]);
    assert_eq!(position.layers(Column::Right), [(Tile::blue(2), 2)]);
    assert_eq!(position.check(CentreTop::Allowed), Ok(()));
    let error = position.check(CentreTop::Forbidden).unwrap_err();
    assert_eq!(error, RuleError::CentreTop { tile: Tile::orange(1) });
}

#[test]
fn bad_positions_get_precise_messages() {
    for (text, message) in [
        ("b1 / o1", "a position has three columns with '/' between them (b1 / - / o1), this has 2"),
        ("b1 /  / o1", "nothing in C: an empty column is written '-'"),
        (
            "b1 / - / o1 x2",
            "R, token 2: 'x2' is not a tile: b or o and a level from 1 to 99, such as b1 or o12",
        ),
        ("b1 / - b2 / o1", "C, token 1: '-' is not a tile"),
        ("- / - / -", "level 0: a position has 1 to 99 tiles per tower"),
        ("b1 b3 / - / o1", "missing: b2, o2, o3"),
        ("b1 b2 / o1 / o1 o2", "o1 is there twice, in C and in R"),
        ("b4 b2 o4 b1 o3 / o1 o2 b3 / -", "b1 has 3 tiles above it in L, but may have at most 1"),
        ("b1 o1 b2 b4 o3 / o2 o4 b3 / -", "o3 has 4 tiles above it in L, but may have at most 3"),
    ] {
        let error = text.parse::<Position>().unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let error = Position::parse("b1 b2 / o7 / o1 o2", 2).unwrap_err();
    assert_eq!(error.to_string(), "o7 in C is out of range: the tiles are b1 to b2 and o1 to o2");
    assert!(Position::start(0).is_err());
    assert!(Position::start(100).is_err());
}

#[test]
fn gold_texts() {
    for (text, silver) in [
        ("b b b / - / o o o", "b1 b2 b3 / - / o1 o2 o3"),
        ("- / b b b / o o o", "- / b1 b2 b3 / o1 o2 o3"),
        ("- / b b / b o o o", "- / b2 b3 / b1 o1 o2 o3"),
        ("b b / b . . / o o o", "b2 b3 / b1 / o1 o2 o3"),
        ("o . . / b b / b o o", "o1 / b2 b3 / b1 o2 o3"),
    ] {
        let gold: GoldPosition = text.parse().unwrap();
        assert_eq!(gold.to_string(), text);
        let position = gold.to_position().unwrap();
        assert_eq!(position.to_string(), silver);
        assert_eq!(GoldPosition::from(&position), gold);
    }
}

#[test]
fn bad_gold_positions_get_precise_messages() {
    for (text, message) in [
        ("b b / o o", "a position has three columns"),
        ("b1 b2 / - / o1 o2", "L, token 1: 'b1' is none of b, o and . (an empty layer)"),
        ("b b / - / o", "2 blue and 1 orange tiles"),
        ("- / - / .", "0 blue and 0 orange tiles"),
        ("b b o o / - / -", "L has 4 layers, a column of level 2 has 3 with the track"),
        ("b . . / b / o o", "no level fits the b in L, layer 0"),
        ("b b b / - / o o", "3 blue and 2 orange tiles"),
        (
            "b b o / - / o .",
            "the levels are not determined: the b in L, layer 0 and the b in L, layer 1 \
             can be b1 and b2 or the other way round",
        ),
    ] {
        let read = text.parse::<GoldPosition>();
        let error = match read.and_then(|gold| gold.to_position()) {
            Ok(position) => panic!("{text} was read as {position}"),
            Err(error) => error.to_string(),
        };
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn a_tile_on_the_centre_s_top_layer_must_leave_before_any_other_moves() {
    let position = parse("b2 b3 / o1 b1 / o2 o3");
    let moves: Vec<Move> = position.legal_moves(CentreTop::Allowed).collect();
    assert_eq!(moves, [Move::CL, Move::CR]);
    let error = position.check_move(Move::RL, CentreTop::Allowed).unwrap_err();
    assert_eq!(error, MoveError::Blocked { tile: Tile::orange(1) });
}
