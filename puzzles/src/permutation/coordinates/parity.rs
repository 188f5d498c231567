//! Parity constraints between orbits. Each halves the number of keys.

use crate::group::{Parity, Term};

/// Orbits whose parity follows from those of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Parities(Vec<Constraint>);

/// A constraint: the product of the permutations of these orbits always has the same parity.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    /// The orbit whose parity follows from those of the others.
    pub(super) determined: usize,
    others: Vec<usize>,
    is_odd: bool,
}

impl Parities {
    /// The constraints among `found` that concern permutations only and determine one of `orbits`. `is_odd`
    /// returns whether an orbit of the start is an odd permutation.
    pub(super) fn new(
        found: &[Parity],
        orbits: &[usize],
        is_odd: impl Fn(usize) -> bool,
    ) -> Parities {
        let of_orders = |parity: &Parity| -> Option<Vec<usize>> {
            let orbit = |term: &Term| match term {
                Term::Permutation(orbit) => Some(*orbit),
                Term::Turns(_) => None,
            };
            parity.iter().map(orbit).collect()
        };
        let all: Vec<Vec<usize>> = found.iter().filter_map(of_orders).collect();
        // Only an orbit that is in no other constraint: then no two constraints determine each other.
        let is_single =
            |orbit: &usize| all.iter().filter(|constraint| constraint.contains(orbit)).count() == 1;
        let constraints = all.iter().filter_map(|constraint| {
            let fits = |orbit: &&usize| orbits.contains(orbit) && is_single(orbit);
            let determined = *constraint.iter().find(fits)?;
            let others = constraint.iter().copied().filter(|orbit| *orbit != determined).collect();
            let is_odd = constraint.iter().fold(false, |odd, orbit| odd ^ is_odd(*orbit));
            Some(Constraint { determined, others, is_odd })
        });
        Parities(constraints.collect())
    }

    /// Whether the parity of an orbit follows from those of others.
    pub(super) fn has(&self, orbit: usize) -> bool {
        self.0.iter().any(|constraint| constraint.determined == orbit)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Constraint> {
        self.0.iter()
    }
}

impl Constraint {
    /// Whether the determined orbit is an odd permutation; `is_odd` returns this for the others.
    #[inline]
    pub(super) fn is_odd(&self, is_odd: impl Fn(usize) -> bool) -> bool {
        self.others.iter().fold(self.is_odd, |odd, orbit| odd ^ is_odd(*orbit))
    }
}
