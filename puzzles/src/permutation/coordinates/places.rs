//! Coordinates of the places of an orbit's pieces, which all differ.
//!
//! The places of up to eight pieces are one coordinate. More pieces are in three groups: the coordinate of
//! a group is the number of the set of slots that it takes, and in the low bits, the order of its pieces
//! there. Moves act on the groups one by one. Together, the coordinates of all groups are a number
//! without gaps: a set is numbered among those that the groups before leave free.

use std::sync::Arc;

use super::orders::{factorial, is_odd, rank, unrank};

/// By move, what becomes of each value of a coordinate.
pub(super) type Action = Arc<Vec<Vec<u16>>>;

/// Most pieces of one coordinate.
const MOST_TOGETHER: usize = 8;

/// Most pieces of three groups: tables have a byte or more for each pair of sets of slots.
pub(super) const MOST_PIECES: usize = 12;

/// How the places of an orbit's pieces are numbered.
#[derive(Clone, Debug)]
pub(super) enum Places {
    /// As one coordinate: the order of the pieces by slot. By coordinate, the pieces and whether they are
    /// an odd order.
    Together { pieces: usize, orders: Vec<u8>, odd: Vec<bool> },
    /// As three.
    Groups(Box<Groups>),
}

/// Three groups of pieces.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    sizes: [usize; 3],
    /// By group, the sets of slots that it may take, as bits, ascending.
    sets: [Vec<u16>; 3],
    /// By group and set, as bits, its number.
    numbers: [Vec<u16>; 3],
    /// By sets of the first and second group, the number of the second among those that do not meet the
    /// first.
    relative: Vec<u8>,
    /// By set of the first group and relative number of the second: the sets of the second and the third,
    /// and whether the slots of the three, one after the other, are an odd order.
    others: Vec<(u16, u16, bool)>,
    /// Number of relative numbers.
    relatives: u32,
    /// By group and order, whether it is odd.
    odd: [Vec<bool>; 3],
    /// By group, the bits of an order.
    order_bits: [u32; 3],
    /// By group and coordinate, the slots of its pieces.
    slots: [Vec<u8>; 3],
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
                let all = groups.slots.iter().zip(groups.sizes).zip(coordinates);
                let slots = all.flat_map(|((slots, size), coordinate)| {
                    slots[usize::from(*coordinate) * size..].iter().take(size)
                });
                for (piece, slot) in (0..).zip(slots) {
                    pieces[usize::from(*slot)] = piece;
                }
            }
        }
    }

    /// Whether the pieces are an odd order.
    #[inline]
    pub(super) fn is_odd(&self, coordinates: &[u16]) -> bool {
        match self {
            Places::Together { odd, .. } => odd[usize::from(coordinates[0])],
            Places::Groups(groups) => groups.is_odd(coordinates),
        }
    }

    /// By coordinate, what moves make of each value. By move and slot, `images` has the slot that a piece
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
                for (group, size) in groups.sizes.iter().enumerate() {
                    // Groups of one size have the same coordinates.
                    let same = groups.sizes[..group].iter().position(|other| other == size);
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

impl Groups {
    fn new(pieces: usize) -> Groups {
        // At least two in the last, whose parity may follow from others.
        let last = pieces.saturating_sub(8).max(2);
        let sizes = [4, pieces - 4 - last, last];
        let sets = sizes.map(|size| {
            (0..1_u16 << pieces)
                .filter(|set| set.count_ones() as usize == size)
                .collect::<Vec<u16>>()
        });
        let all = (1 << pieces) - 1_u16;
        let relatives = sets[1].iter().filter(|second| *second & sets[0][0] == 0).count() as u32;
        let mut relative = Vec::with_capacity(sets[0].len() * sets[1].len());
        let mut others = Vec::with_capacity(sets[0].len() * relatives as usize);
        for first in &sets[0] {
            let mut number = 0;
            for (at, second) in (0..).zip(&sets[1]) {
                relative.push(number);
                if first & second == 0 {
                    let third = all ^ first ^ second;
                    let number_of_third = sets[2].partition_point(|set| *set < third) as u16;
                    let slots = [*first, *second, third].map(slots_of).concat();
                    others.push((at, number_of_third, is_odd(&slots)));
                    number += 1;
                }
            }
        }
        let odd = sizes.map(|size| {
            (0..factorial(size)).map(|at| is_odd(&unrank(at, size))).collect::<Vec<bool>>()
        });
        let order_bits = sizes.map(|size| factorial(size).next_power_of_two().ilog2());
        let numbers = sets.each_ref().map(|sets| {
            let mut numbers = vec![0; 1 << pieces];
            (0..).zip(sets).for_each(|(number, set)| numbers[usize::from(*set)] = number);
            numbers
        });
        let slots = [0, 1, 2].map(|group| {
            let orders: Vec<Vec<u8>> = (0..1 << order_bits[group])
                .map(|order| unrank(order % factorial(sizes[group]), sizes[group]))
                .collect();
            let of_set = |set: &u16| {
                let slots = slots_of(*set);
                let at = |order: &Vec<u8>| -> Vec<u8> {
                    order.iter().map(|at| slots[usize::from(*at)]).collect()
                };
                orders.iter().flat_map(at).collect::<Vec<u8>>()
            };
            sets[group].iter().flat_map(of_set).collect::<Vec<u8>>()
        });
        Groups { sizes, sets, numbers, relative, others, relatives, odd, order_bits, slots }
    }

    fn orders(&self, group: usize) -> u32 {
        self.odd[group].len() as u32
    }

    /// By move, what becomes of each coordinate of a group.
    fn action(&self, group: usize, images: &[Vec<u8>]) -> Vec<Vec<u16>> {
        let values = 0..self.sets[group].len() << self.order_bits[group];
        // Some coordinates stand for nothing; what becomes of them does not matter.
        let size = self.sizes[group];
        let of_move = |images: &Vec<u8>| {
            let mut to = vec![0; images.len()];
            (0..).zip(images).for_each(|(slot, from)| to[usize::from(*from)] = slot);
            let (mut action, mut next) = (vec![0; values.len()], vec![0; size]);
            for (after, slots) in action.iter_mut().zip(self.slots[group].chunks(size)) {
                next.iter_mut().zip(slots).for_each(|(slot, from)| *slot = to[usize::from(*from)]);
                *after = self.rank(group, &next);
            }
            action
        };
        images.iter().map(of_move).collect()
    }

    /// What is given by piece, by group.
    fn parts<'a>(&self, at: &'a [u8]) -> [&'a [u8]; 3] {
        let (first, rest) = at.split_at(self.sizes[0]);
        let (second, third) = rest.split_at(self.sizes[1]);
        [first, second, third]
    }

    /// The coordinate of a group whose pieces are in these slots.
    fn rank(&self, group: usize, slots: &[u8]) -> u16 {
        let set = slots.iter().fold(0_u16, |set, slot| set | 1 << slot);
        let number = u32::from(self.numbers[group][usize::from(set)]);
        // The order of the slots is that of their numbers among them.
        (number << self.order_bits[group] | rank(slots)) as u16
    }

    /// The set and the order of a coordinate.
    #[inline]
    fn split(&self, group: usize, coordinate: u16) -> (usize, u32) {
        let (coordinate, bits) = (u32::from(coordinate), self.order_bits[group]);
        ((coordinate >> bits) as usize, coordinate & ((1 << bits) - 1))
    }

    #[inline]
    fn is_odd(&self, coordinates: &[u16]) -> bool {
        let parts: [(usize, u32); 3] =
            std::array::from_fn(|group| self.split(group, coordinates[group]));
        let relative = self.relative[parts[0].0 * self.sets[1].len() + parts[1].0];
        let (_, _, odd) = self.others[parts[0].0 * self.relatives as usize + usize::from(relative)];
        (0..3).fold(odd, |odd, group| odd ^ self.odd[group][parts[group].1 as usize])
    }

    /// Number of values of the first coordinate.
    pub(super) fn firsts(&self) -> u32 {
        self.sets[0].len() as u32 * self.orders(0)
    }

    /// The first coordinate as a number without gaps.
    #[inline]
    pub(super) fn number_of_first(&self, first: u16) -> u32 {
        let (set, order) = self.split(0, first);
        set as u32 * self.orders(0) + order
    }

    /// The first coordinate of a number.
    #[inline]
    pub(super) fn first(&self, number: u32) -> u16 {
        let (set, order) = (number / self.orders(0), number % self.orders(0));
        (set << self.order_bits[0] | order) as u16
    }

    /// Number of the values of the second and third coordinate for one of the first.
    pub(super) fn rest(&self) -> u32 {
        self.relatives * self.orders(1) * self.orders(2)
    }

    /// The number of the second and third coordinate, given the first.
    #[inline]
    pub(super) fn number(&self, first: u16, second: u16, third: u16) -> u32 {
        let ((set, _), (other, order)) = (self.split(0, first), self.split(1, second));
        let relative = self.relative[set * self.sets[1].len() + other];
        let (_, last) = self.split(2, third);
        (u32::from(relative) * self.orders(1) + order) * self.orders(2) + last
    }

    /// The second and third coordinate of a number, given the first.
    #[inline]
    pub(super) fn second_and_third(&self, first: u16, number: u32) -> (u16, u16) {
        let (rest, last) = (number / self.orders(2), number % self.orders(2));
        let (relative, order) = (rest / self.orders(1), rest % self.orders(1));
        let (set, _) = self.split(0, first);
        let (second, third, _) = self.others[set * self.relatives as usize + relative as usize];
        let join =
            |group: usize, set, order| (u32::from(set) << self.order_bits[group] | order) as u16;
        (join(1, second, order), join(2, third, last))
    }
}

/// The slots of a set, ascending.
fn slots_of(set: u16) -> Vec<u8> {
    (0..u16::BITS as u8).filter(|slot| set >> slot & 1 == 1).collect()
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
                assert_eq!(places.is_odd(&coordinates), is_odd(&order));
                if let Places::Groups(groups) = &places {
                    let [first, second, third] = coordinates[..] else { panic!("three groups") };
                    let number = groups.number(first, second, third);
                    assert!(number < groups.rest());
                    assert_eq!(groups.second_and_third(first, number), (second, third));
                    let of_first = groups.number_of_first(first);
                    assert_eq!(groups.first(of_first), first);
                    assert!(of_first < groups.firsts());
                    let all = u64::from(groups.firsts()) * u64::from(groups.rest());
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
