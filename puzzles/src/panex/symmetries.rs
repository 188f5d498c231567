//! Symmetries that a search between two positions may use.

use super::position::Position;
use super::tile::Symmetry;

/// Which end of a search a position is reached from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The start: side bit 0.
    Start,
    /// The goal: side bit 1.
    Goal,
}

impl End {
    /// The side bit.
    pub(super) fn side(self) -> u32 {
        match self {
            End::Start => 0,
            End::Goal => 1,
        }
    }
}

/// Symmetries by which states are identified, as sets of bits by [`Symmetry::number`].
///
/// A symmetry that *fixes* both ends maps each position to one at the same distance from either
/// end. A symmetry that *exchanges* the ends maps the search from the start to the search from the
/// goal, so only one of them is run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Group {
    fixing: u8,
    exchanging: u8,
}

impl Group {
    /// The identity alone.
    pub(super) const TRIVIAL: Group = Group { fixing: 1, exchanging: 0 };

    /// The symmetries of a pair of ends.
    pub(super) fn of(start: &Position, goal: &Position) -> Group {
        let bits = |symmetries: &[Symmetry], maps: &dyn Fn(Symmetry) -> bool| {
            symmetries.iter().filter(|s| maps(**s)).fold(0, |bits, s| bits | 1 << s.number())
        };
        let fixes = |s| start.image(s) == *start && goal.image(s) == *goal;
        let exchanges = |s| start.image(s) == *goal && goal.image(s) == *start;
        let fixing = bits(&Symmetry::ALL, &fixes);
        // An exchange must not fix any position: a position that is its own image would be reached
        // from both ends with one side bit. `'` fixes positions only with two tiles, `*` fixes
        // none, `*'` fixes many. If `'` fixes the ends (only with two tiles), `*` without `*'`
        // would not make a group.
        let mirrored = fixing >> Symmetry::MIRROR.number() & 1 == 1;
        let exchanging = if mirrored || start == goal {
            0
        } else {
            bits(&[Symmetry::MIRROR, Symmetry::STAR], &exchanges)
        };
        Group { fixing, exchanging }
    }

    /// The group without the symmetries that exchange the ends.
    #[must_use]
    pub(super) fn without_exchanges(self) -> Group {
        Group { exchanging: 0, ..self }
    }

    /// All of them, the identity first.
    pub(super) fn iter(self) -> impl Iterator<Item = Symmetry> {
        members(self.fixing | self.exchanging)
    }

    /// A symmetry that exchanges the ends, if there is one.
    pub(super) fn exchange(self) -> Option<Symmetry> {
        members(self.exchanging).next()
    }

    /// A symmetry that fixes both ends, besides the identity. There is at most one: two of them
    /// would generate `*`, which fixes no position.
    pub(super) fn fixing(self) -> Option<Symmetry> {
        members(self.fixing).find(|s| *s != Symmetry::IDENTITY)
    }

    /// How a symmetry changes the side bit.
    pub(super) fn side(self, symmetry: Symmetry) -> u32 {
        u32::from(self.exchanging >> symmetry.number() & 1)
    }

    /// The symmetries that map a state's arrangement to the positions that it stands for on a side:
    /// at most two. Without an exchange they are the same for both sides.
    pub(super) fn images(self, side: usize) -> impl Iterator<Item = Symmetry> {
        let exchanged = side == 1 && self.exchanging != 0;
        members(if exchanged { self.exchanging } else { self.fixing })
    }
}

fn members(bits: u8) -> impl Iterator<Item = Symmetry> {
    Symmetry::ALL.into_iter().filter(move |s| bits >> s.number() & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(level: u8, start: &str, goal: &str) -> (Vec<Symmetry>, Option<Symmetry>) {
        let parse = |text: &str| Position::parse(level, text).unwrap();
        let group = Group::of(&parse(start), &parse(goal));
        (group.iter().collect(), group.exchange())
    }

    #[test]
    fn towers_have_all_symmetries() {
        let (all, exchange) = group(2, "b1 b2 / - / o1 o2", "o1 o2 / - / b1 b2");
        assert_eq!(all, Symmetry::ALL);
        assert_eq!(exchange, Some(Symmetry::MIRROR));
    }

    #[test]
    fn only_symmetries_that_fix_or_exchange_both_ends_are_used() {
        use Symmetry as S;
        let towers = "b1 b2 / - / o1 o2";
        for (start, goal, all, exchange) in [
            (towers, towers, vec![S::IDENTITY, S::BOTH], None),
            (towers, "b2 / - / o1 b1 o2", vec![S::IDENTITY], None),
            ("b2 / b1 / o1 o2", "o1 o2 / b1 / b2", vec![S::IDENTITY, S::MIRROR], Some(S::MIRROR)),
            ("b2 / b1 / o1 o2", "o2 / o1 / b1 b2", vec![S::IDENTITY, S::STAR], Some(S::STAR)),
            // Exchanged by *', which has fixed points.
            ("b2 / b1 / o1 o2", "b1 b2 / o1 / o2", vec![S::IDENTITY], None),
            ("o1 b2 / - / b1 o2", towers, vec![S::IDENTITY, S::BOTH], None),
        ] {
            assert_eq!(group(2, start, goal), (all, exchange), "{start} to {goal}");
        }
    }

    #[test]
    fn each_side_has_its_two_images() {
        let towers = Position::start(3);
        let group = Group::of(&towers, &Position::goal(3));
        let images = |side| group.images(side).collect::<Vec<_>>();
        assert_eq!(images(0), [Symmetry::IDENTITY, Symmetry::BOTH]);
        assert_eq!(images(1), [Symmetry::MIRROR, Symmetry::STAR]);
        assert_eq!(Group::TRIVIAL.images(1).collect::<Vec<_>>(), [Symmetry::IDENTITY]);
    }
}
