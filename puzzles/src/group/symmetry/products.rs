//! Product table of a group of symmetries, with its conjugacy classes and subgroups.

use std::collections::{HashMap, HashSet};

use super::conjugation::Symmetry;

/// The number of subgroups, conjugates included, at which the search for them ends.
const MOST: usize = 4096;

/// The products of some symmetries, by their indices.
pub(crate) struct Products {
    count: usize,
    products: Vec<u16>,
    inverses: Vec<u16>,
}

impl Products {
    /// The products of symmetries whose first is the identity; None if they are not a group.
    pub(crate) fn new(symmetries: &[Symmetry]) -> Option<Products> {
        let count = symmetries.len();
        let index: HashMap<&[usize], u16> =
            (0..).zip(symmetries).map(|(i, s)| (s.moves(), i)).collect();
        if index.len() != count || !symmetries.first()?.is_identity() {
            return None;
        }
        let mut products = Vec::with_capacity(count * count);
        let mut inverses = vec![0; count];
        let mut image = Vec::new();
        for (a, left) in symmetries.iter().enumerate() {
            for (b, right) in (0..).zip(symmetries) {
                image.clear();
                image.extend(right.moves().iter().map(|mv| left.moves()[*mv]));
                let product = *index.get(&*image)?;
                if product == 0 {
                    inverses[a] = b;
                }
                products.push(product);
            }
        }
        Some(Products { count, products, inverses })
    }

    /// The index of the inverse.
    pub(crate) fn inverse(&self, index: u16) -> u16 {
        self.inverses[usize::from(index)]
    }

    fn of(&self, a: u16, b: u16) -> u16 {
        self.products[usize::from(a) * self.count + usize::from(b)]
    }

    /// The subgroup that some indices generate, ascending.
    fn closure(&self, generators: &[u16]) -> Vec<u16> {
        let mut seen = vec![false; self.count];
        seen[0] = true;
        let mut members = vec![0];
        let mut next = 0;
        while next < members.len() {
            for generator in generators {
                let product = self.of(members[next], *generator);
                if !std::mem::replace(&mut seen[usize::from(product)], true) {
                    members.push(product);
                }
            }
            next += 1;
        }
        members.sort_unstable();
        members
    }

    /// A member of each conjugacy class except the identity's, with all members that commute with it.
    pub(crate) fn classes(&self) -> Vec<(u16, Vec<u16>)> {
        let all = 0..self.count as u16;
        let mut is_known = vec![false; self.count];
        let mut classes = Vec::new();
        for member in all.clone().skip(1) {
            if is_known[usize::from(member)] {
                continue;
            }
            for by in all.clone() {
                let conjugate = self.of(self.of(by, member), self.inverse(by));
                is_known[usize::from(conjugate)] = true;
            }
            let commutes = |other: &u16| self.of(member, *other) == self.of(*other, member);
            classes.push((member, all.clone().filter(commutes).collect()));
        }
        classes
    }

    fn conjugate(&self, group: &[u16], by: u16) -> Vec<u16> {
        let conjugate = |member: &u16| self.of(self.of(by, *member), self.inverse(by));
        let mut members: Vec<u16> = group.iter().map(conjugate).collect();
        members.sort_unstable();
        members
    }

    /// One subgroup of each conjugacy class except the trivial subgroup, the largest first. For groups with
    /// very many subgroups some are left out.
    pub(crate) fn subgroups(&self) -> Vec<Vec<u16>> {
        let all = 0..self.count as u16;
        let mut known: HashSet<Vec<u16>> = HashSet::new();
        let mut kept = vec![vec![0], all.clone().collect()];
        known.insert(kept[1].clone());
        let mut next = 0;
        while let Some(base) = kept.get(next).cloned().filter(|_| known.len() < MOST) {
            let others = all.clone().filter(|other| base.binary_search(other).is_err());
            for other in others {
                let larger = self.closure(&[&*base, &[other]].concat());
                if known.len() < MOST && !known.contains(&larger) {
                    known.extend(all.clone().map(|by| self.conjugate(&larger, by)));
                    kept.push(larger);
                }
            }
            next += 1;
        }
        kept.retain(|group| group.len() > 1);
        kept.sort_by_key(|group| std::cmp::Reverse(group.len()));
        kept.dedup();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::shape::Shape;
    use crate::group::symmetry::{Pieces, SymmetryLimits};

    #[test]
    fn the_symmetries_of_a_square_have_seven_classes_of_subgroups() {
        // Swaps of neighbours on a ring of four.
        let shape = Shape::plain(4).unwrap();
        let swaps = [[1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2], [3, 1, 2, 0]];
        let moves = swaps.map(|images| shape.permutation(&images).unwrap());
        let all =
            Symmetry::all(&shape, &moves, &Pieces::different(&shape), SymmetryLimits::default());
        let products = Products::new(&all.unwrap()).unwrap();
        let sizes: Vec<usize> = products.subgroups().iter().map(Vec::len).collect();
        // The dihedral group of order 8 has 10 subgroups in 8 classes, the trivial one included.
        assert_eq!(sizes, [8, 4, 4, 4, 2, 2, 2]);
        let classes = products.classes().into_iter().map(|(_, commuting)| 8 / commuting.len());
        let mut classes: Vec<usize> = classes.collect();
        classes.sort_unstable();
        assert_eq!(classes, [1, 2, 2, 2]);
        for index in 0..8 {
            assert_eq!(products.of(index, products.inverse(index)), 0);
        }
    }
}
