//! Search for a subgroup L that symmetries map to itself.

use std::collections::HashSet;

use crate::group::element::Element;
use crate::group::lanes::{Closure, MOST};
use crate::group::radix::Radix;
use crate::group::symmetry::Symmetry;

/// Limit of the subgroups that are joined.
const MOST_PARTS: usize = 200;

/// Subgroups that others are joined to, in turn.
const STARTS: usize = 40;

/// A subgroup with its generators and the numbers of its members.
#[derive(Clone)]
struct Subgroup {
    generators: Vec<Element>,
    members: Vec<Element>,
    numbers: HashSet<u64>,
}

/// Subgroups of the group over the digits of a radix from one on.
pub(super) struct LaneSearch<'a> {
    radix: &'a Radix,
    from: usize,
    symmetries: &'a [Symmetry],
    closure: Closure<'a>,
    digits: Vec<u32>,
}

impl<'a> LaneSearch<'a> {
    /// In the group over the digits from `from` on, which has `order` members and which the symmetries
    /// map to itself.
    pub(super) fn new(
        radix: &'a Radix,
        (from, order): (usize, u64),
        symmetries: &'a [Symmetry],
    ) -> LaneSearch<'a> {
        let closure = Closure::new(radix, from, order);
        LaneSearch { radix, from, symmetries, closure, digits: vec![0; radix.len()] }
    }

    /// A subgroup of at most 64 members that all symmetries map to itself: the largest of those
    /// found, the same in every run. The identity is its first member.
    pub(super) fn largest(mut self, order: u64) -> Option<Vec<Element>> {
        let mut parts = self.parts(order)?;
        parts.sort_by_key(|part| std::cmp::Reverse(part.members.len()));
        let mut best = vec![self.radix.shape().identity()];
        for start in parts.iter().take(STARTS) {
            let mut joined = start.clone();
            for part in &parts {
                let common = part.numbers.intersection(&joined.numbers).count();
                let product = part.members.len() * joined.members.len() / common.max(1);
                if common < part.members.len() && product <= MOST {
                    joined = self.join(&joined, &part.generators)?.unwrap_or(joined);
                }
            }
            if joined.members.len() > best.len() {
                best = joined.members;
            }
            if best.len() == MOST {
                break;
            }
        }
        Some(best)
    }

    /// The small subgroups that the images of one member generate.
    fn parts(&mut self, order: u64) -> Option<Vec<Subgroup>> {
        let trivial = Subgroup {
            generators: Vec::new(),
            members: vec![self.radix.shape().identity()],
            numbers: HashSet::from([0]),
        };
        let mut is_known = vec![false; order as usize];
        let mut parts: Vec<Subgroup> = Vec::new();
        for number in 1..order {
            if is_known[number as usize] || parts.len() == MOST_PARTS {
                continue;
            }
            let member = self.radix.member(self.from, self.radix.len(), number)?;
            let images: Option<Vec<Element>> =
                self.symmetries.iter().map(|s| s.conjugate(&member, self.radix.shape())).collect();
            let images = images?;
            for image in &images {
                is_known[self.number(image)? as usize] = true;
            }
            let Some(part) = self.join(&trivial, &images)? else { continue };
            // Other members may generate the same group.
            if !parts.iter().any(|other| other.numbers == part.numbers) {
                parts.push(part);
            }
        }
        Some(parts)
    }

    /// The group that a subgroup and other members generate; `Some(None)` if it is too large.
    fn join(&mut self, group: &Subgroup, others: &[Element]) -> Option<Option<Subgroup>> {
        let mut joined = group.clone();
        for other in others {
            if joined.numbers.contains(&self.number(other)?) {
                continue;
            }
            joined.generators.push(other.clone());
            let Some(members) = self.closure.of(&joined.generators, &mut self.digits)? else {
                return Some(None);
            };
            let numbers: Option<HashSet<u64>> =
                members.iter().map(|member| self.number(member)).collect();
            (joined.members, joined.numbers) = (members, numbers?);
        }
        Some(Some(joined))
    }

    fn number(&mut self, member: &Element) -> Option<u64> {
        let image = |slot: usize, _| (member.images()[slot], member.turns()[slot]);
        let is_member = self.radix.read(self.from..self.radix.len(), image, &mut self.digits);
        is_member.then(|| self.radix.number(self.from, &self.digits[self.from..]))
    }
}
