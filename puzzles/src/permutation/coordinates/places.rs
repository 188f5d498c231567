//! Coordinates of the places of an orbit's pieces, all of which differ.
//!
//! The places of up to eight pieces are one coordinate. More pieces are split into three groups with a
//! coordinate each.

use std::sync::Arc;

use super::groups::{Groups, VALUES};
use super::orders::{factorial, is_odd, rank, unrank};

/// By move and value of a coordinate, the value after the move.
pub(super) type Action = Arc<Vec<Vec<u16>>>;

/// Maximum number of pieces of one coordinate.
const MOST_TOGETHER: usize = 8;

/// Maximum number of pieces of three groups. The tables have a byte or more for each pair of sets of slots.
pub(super) const MOST_PIECES: usize = 12;

/// Numbering of the places of an orbit's pieces.
#[derive(Clone, Debug)]
pub(super) enum Places {
    /// One coordinate: the order of the pieces by slot. `orders` has the pieces by coordinate, `odd` whether
    /// they are an odd permutation.
    Together { pieces: usize, orders: Vec<u8>, odd: Vec<bool> },
    /// Three coordinates.
    Groups(Box<Groups>),
}

impl Places {
    pub(super) fn new(pieces: usize) -> Places {
        if pieces <= MOST_TOGETHER {
            let orders: Vec<u8> =
                (0..factorial(pieces)).flat_map(|at| unrank(at, pieces)).collect();
            let odd = orders.chunks(pieces).map(is_odd).collect();
            return Places::Together { pieces, orders, odd };
        }
        Places::Groups(Box::new(Groups::new(pieces)))
    }

    /// Number of coordinates.
    pub(super) fn count(&self) -> usize {
        match self {
            Places::Together { .. } => 1,
            Places::Groups(_) => 3,
        }
    }

    /// Number of the values of all coordinates.
    pub(super) fn values(&self) -> usize {
        match self {
            Places::Together { odd, .. } => odd.len(),
            Places::Groups(_) => 3 * VALUES,
        }
    }

    /// Writes the coordinates of pieces, given by slot.
    #[inline]
    pub(super) fn write_coordinates(&self, pieces: &[u8], coordinates: &mut [u16]) {
        match self {
            Places::Together { .. } => coordinates[0] = rank(pieces) as u16,
            Places::Groups(groups) => {
                let mut at = [0; MOST_PIECES];
                for (slot, piece) in (0..).zip(pieces) {
                    at[usize::from(*piece)] = slot;
                }
                let parts = groups.parts(&at[..pieces.len()]);
                for (group, (coordinate, at)) in coordinates.iter_mut().zip(parts).enumerate() {
                    *coordinate = groups.rank(group, at);
                }
            }
        }
    }

    /// Writes the pieces by slot.
    #[inline]
    pub(super) fn write_pieces(&self, coordinates: &[u16], pieces: &mut [u8]) {
        match self {
            Places::Together { pieces: count, orders, .. } => {
                let start = usize::from(coordinates[0]) * count;
                pieces.copy_from_slice(&orders[start..start + count]);
            }
            Places::Groups(groups) => {
                let all = groups.slots.iter().zip(groups.form.sizes).zip(coordinates);
                let slots = all.flat_map(|((slots, size), coordinate)| {
                    slots[usize::from(*coordinate) * size..].iter().take(size)
                });
                for (piece, slot) in (0..).zip(slots) {
                    pieces[usize::from(*slot)] = piece;
                }
            }
        }
    }

    /// The action of the moves on each coordinate. `images` has, by move and slot, the slot that the piece
    /// comes from.
    pub(super) fn actions(&self, images: &[Vec<u8>]) -> Vec<Action> {
        match self {
            Places::Together { pieces, orders, .. } => {
                let of_move = |images: &Vec<u8>| {
                    let mut next = vec![0; *pieces];
                    let after = |order: &[u8]| {
                        for (piece, from) in next.iter_mut().zip(images) {
                            *piece = order[usize::from(*from)];
                        }
                        rank(&next) as u16
                    };
                    orders.chunks(*pieces).map(after).collect()
                };
                vec![Arc::new(images.iter().map(of_move).collect())]
            }
            Places::Groups(groups) => {
                let mut actions: Vec<Action> = Vec::new();
                for (group, size) in groups.form.sizes.iter().enumerate() {
                    // Groups of one size have the same coordinates.
                    let same = groups.form.sizes[..group].iter().position(|other| other == size);
                    let action = match same {
                        Some(same) => Arc::clone(&actions[same]),
                        None => Arc::new(groups.action(group, images)),
                    };
                    actions.push(action);
                }
                actions
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_have_coordinates_and_moves_act_on_them() {
        for pieces in [1, 2, 5, 8, 9, 10, 11, 12] {
            let places = Places::new(pieces);
            let mut order: Vec<u8> = (0..pieces as u8).collect();
            let mut images = order.clone();
            images.rotate_left(1);
            images.swap(0, pieces / 2);
            let actions = places.actions(std::slice::from_ref(&images));
            for step in 0..400 {
                let mut coordinates = vec![0; places.count()];
                places.write_coordinates(&order, &mut coordinates);
                let mut found = vec![0; pieces];
                places.write_pieces(&coordinates, &mut found);
                assert_eq!(found, order);
                if let Places::Together { odd, .. } = &places {
                    assert_eq!(odd[usize::from(coordinates[0])], is_odd(&order));
                }
                if let Places::Groups(groups) = &places {
                    let [first, second, third] = coordinates[..] else { panic!("three groups") };
                    assert_eq!(groups.is_odd([first, second, third]), is_odd(&order));
                    let number = groups.numbering().of_rest(first, second, third);
                    assert!(number < groups.form.rest());
                    assert_eq!(groups.numbering().second_and_third(first, number), (second, third));
                    let of_first = groups.numbering().of_first(first);
                    assert_eq!(groups.numbering().first(of_first), first);
                    assert!(of_first < groups.form.firsts());
                    let all = u64::from(groups.form.firsts()) * u64::from(groups.form.rest());
                    assert_eq!(all, (1..=pieces as u64).product::<u64>());
                }
                order = images.iter().map(|from| order[usize::from(*from)]).collect();
                let after: Vec<u16> = coordinates
                    .iter()
                    .zip(&actions)
                    .map(|(at, action)| action[0][usize::from(*at)])
                    .collect();
                places.write_coordinates(&order, &mut coordinates);
                assert_eq!(coordinates, after);
                // Another order, so that not only powers of one move are seen.
                order.swap(step % pieces, step * 7 % pieces);
            }
        }
    }
}
