//! Tests that the reference search finds the golden values.

use crate::reference;

use reference::golden::{PANEX, PANEX_SPACE};
use reference::{CentreTop, Options, Stop, Symmetry, hanoi_layers, panex_layers};

#[test]
fn reference_meets_where_the_table_says() {
    for golden in PANEX.iter().filter(|golden| golden.level <= 5) {
        for centre_top in [CentreTop::Forbid, CentreTop::Allow] {
            let options = Options { symmetry: Symmetry::Class, centre_top, stop: Stop::AtMeeting };
            let found = panex_layers(golden.level, options);
            assert_eq!(found.moves, Some(golden.moves), "{golden:?}");
            assert_eq!(found.depth(), golden.layers, "{golden:?}");
            if centre_top == CentreTop::Forbid {
                assert_eq!(
                    (found.states(), found.widest()),
                    (golden.states, golden.widest),
                    "{golden:?}"
                );
            }
        }
    }
}

#[test]
fn reference_reaches_the_goal_after_as_many_moves() {
    for golden in PANEX.iter().filter(|golden| golden.level <= 4) {
        for symmetry in [Symmetry::Class, Symmetry::Off] {
            let options = Options { symmetry, centre_top: CentreTop::Forbid, stop: Stop::AtGoal };
            let found = panex_layers(golden.level, options);
            assert_eq!(found.moves, Some(golden.moves), "{golden:?}");
            assert_eq!(found.depth(), golden.moves, "{golden:?}");
        }
    }
}

#[test]
#[ignore = "takes long; run by scripts/nightly"]
fn reference_exhausts_the_space() {
    for golden in PANEX_SPACE {
        for (symmetry, states) in
            [(Symmetry::Class, golden.classes), (Symmetry::Off, golden.positions)]
        {
            let options = Options { symmetry, centre_top: CentreTop::Forbid, stop: Stop::Never };
            let found = panex_layers(golden.level, options);
            assert_eq!(
                (found.states(), found.depth(), found.moves),
                (states, golden.radius, None),
                "{golden:?}"
            );
        }
    }
}

#[test]
fn hanoi_is_the_known_space() {
    let three = hanoi_layers(8, 3);
    assert_eq!((three.states(), three.depth()), (3_u64.pow(8), 255));
    let four = hanoi_layers(8, 4);
    assert_eq!((four.states(), four.depth()), (4_u64.pow(8), 33));
}
