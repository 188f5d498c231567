//! Coordinates of an orbit with many pieces, which are split into three groups.
//!
//! The coordinate of a group has the number of the set of slots that its pieces are in, and in its low bits
//! the number of their order. A digit of a key combines coordinates without gaps: the set of the second
//! group is numbered among those that do not meet the first group's.

use super::orders::{factorial, is_odd, rank, unrank};

/// Bits of the order in a coordinate of a group, which has at most four pieces.
const ORDER_BITS: u32 = 5;

/// Bits of the number of a set of at most four of twelve slots.
const SET_BITS: u32 = 9;

/// Values of a coordinate: 32 for each of 495 sets. Some are unused.
pub(super) const VALUES: usize = 495 << ORDER_BITS;

/// Three groups of pieces.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) form: Form,
    /// By group and set of slots (a bit each), the number of the set. Sets of one size are numbered in
    /// ascending order of their bits.
    numbers: [Vec<u16>; 3],
    /// By the set numbers of the first and second group, joined into one: the number of the second set among
    /// those that do not meet the first.
    relative: Vec<u8>,
    /// By set number of the first group and relative number of the second: the set numbers of the second and
    /// third group, and whether the slots of the three sets, one after the other, are an odd permutation.
    others: Vec<(u16, u16, bool)>,
    /// By group and order, whether it is odd.
    odd: [Vec<bool>; 3],
    /// By group and coordinate, the slots of its pieces.
    pub(super) slots: [Vec<u8>; 3],
}

impl Groups {
    pub(super) fn new(pieces: usize) -> Groups {
        let form = Form::of(pieces);
        let sizes = form.sizes;
        let sets = sizes.map(|size| {
            (0..1_u16 << pieces)
                .filter(|set| set.count_ones() as usize == size)
                .collect::<Vec<u16>>()
        });
        let all = (1 << pieces) - 1_u16;
        let mut relative = vec![0; 1 << (2 * SET_BITS)];
        let mut others = Vec::with_capacity(sets[0].len() * form.relatives as usize);
        for (row, first) in sets[0].iter().enumerate() {
            let mut number = 0;
            for (at, second) in (0..).zip(&sets[1]) {
                relative[row << SET_BITS | usize::from(at)] = number;
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
        let numbers = sets.each_ref().map(|sets| {
            let mut numbers = vec![0; 1 << pieces];
            (0..).zip(sets).for_each(|(number, set)| numbers[usize::from(*set)] = number);
            numbers
        });
        let slots = [0, 1, 2].map(|group| {
            let orders: Vec<Vec<u8>> = (0..1 << ORDER_BITS)
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
        Groups { form, numbers, relative, others, odd, slots }
    }

    /// By move and coordinate of a group, the coordinate after the move.
    pub(super) fn action(&self, group: usize, images: &[Vec<u8>]) -> Vec<Vec<u16>> {
        let size = self.form.sizes[group];
        let of_move = |images: &Vec<u8>| {
            let mut to = vec![0; images.len()];
            (0..).zip(images).for_each(|(slot, from)| to[usize::from(*from)] = slot);
            let (mut action, mut next) = (vec![0; VALUES], vec![0; size]);
            for (after, slots) in action.iter_mut().zip(self.slots[group].chunks(size)) {
                next.iter_mut().zip(slots).for_each(|(slot, from)| *slot = to[usize::from(*from)]);
                *after = self.rank(group, &next);
            }
            action
        };
        images.iter().map(of_move).collect()
    }

    /// Splits a list that has an entry per piece into the parts of the groups.
    pub(super) fn parts<'a>(&self, at: &'a [u8]) -> [&'a [u8]; 3] {
        let (first, rest) = at.split_at(self.form.sizes[0]);
        let (second, third) = rest.split_at(self.form.sizes[1]);
        [first, second, third]
    }

    /// The coordinate of a group whose pieces are in these slots.
    pub(super) fn rank(&self, group: usize, slots: &[u8]) -> u16 {
        let set = slots.iter().fold(0_u16, |set, slot| set | 1 << slot);
        let number = u32::from(self.numbers[group][usize::from(set)]);
        // The order of the slots is that of their numbers among them.
        (number << ORDER_BITS | rank(slots)) as u16
    }

    /// Whether the pieces are an odd permutation.
    #[inline(always)]
    pub(super) fn is_odd(&self, coordinates: [u16; 3]) -> bool {
        let numbering = self.numbering();
        let parts = coordinates.map(split);
        let relative = numbering.relative_of(parts[0].0, parts[1].0);
        let (_, _, odd) = numbering.others_of(parts[0].0, relative);
        (0..3).fold(odd, |odd, group| odd ^ self.odd[group][parts[group].1 as usize])
    }

    /// The conversion of coordinates to numbers without gaps.
    #[inline]
    pub(super) fn numbering(&self) -> Numbering<'_> {
        let Groups { form, relative, others, .. } = self;
        Numbering { form: *form, relative, others }
    }
}

/// Sizes that follow from the number of pieces alone.
#[derive(Copy, Clone, Debug)]
pub(super) struct Form {
    /// Pieces of each group.
    pub(super) sizes: [usize; 3],
    /// By group, the number of orders.
    orders: [u32; 3],
    /// Sets of slots of the first group.
    firsts: u32,
    /// Sets of the second group that do not meet one of the first.
    relatives: u32,
}

impl Form {
    /// The form of some pieces, at least 8.
    pub(super) const fn of(pieces: usize) -> Form {
        // At least two in the last, whose parity may follow from others.
        let last = if pieces > 10 { pieces - 8 } else { 2 };
        let sizes = [4, pieces - 4 - last, last];
        let orders = [factorial(sizes[0]), factorial(sizes[1]), factorial(sizes[2])];
        Form {
            sizes,
            orders,
            firsts: subsets(pieces, sizes[0]),
            relatives: subsets(pieces - sizes[0], sizes[1]),
        }
    }

    /// Number of values of the first coordinate.
    pub(super) fn firsts(&self) -> u32 {
        self.firsts * self.orders[0]
    }

    /// Number of the values of the second and third coordinate for one of the first.
    pub(super) fn rest(&self) -> u32 {
        self.relatives * self.orders[1] * self.orders[2]
    }
}

/// The number of sets of `size` things among `all`.
const fn subsets(all: usize, size: usize) -> u32 {
    factorial(all) / factorial(size) / factorial(all - size)
}

/// Factors of the parts of three coordinates in a number, see [`Numbering::factors`].
#[derive(Copy, Clone, Debug)]
pub(super) struct Factors {
    first: u64,
    /// Of the relative number of the second set.
    relative: u64,
    second_order: u64,
    /// By order of the third group, the product.
    third: [u64; 1 << ORDER_BITS],
}

/// Conversion of the coordinates of three groups to numbers without gaps, and back.
#[derive(Copy, Clone, Debug)]
pub(super) struct Numbering<'a> {
    form: Form,
    /// Those of [`Groups`].
    relative: &'a [u8],
    others: &'a [(u16, u16, bool)],
}

impl Numbering<'_> {
    /// The number of a set of the second group among those that do not meet one of the first.
    #[inline(always)]
    fn relative_of(self, first: u32, second: u32) -> u32 {
        self.relative[(first << SET_BITS | second) as usize].into()
    }

    #[inline(always)]
    fn others_of(self, first: u32, relative: u32) -> (u16, u16, bool) {
        self.others[(first * self.form.relatives + relative) as usize]
    }

    /// The number of the first coordinate.
    #[inline(always)]
    pub(super) fn of_first(self, first: u16) -> u32 {
        let (set, order) = split(first);
        set * self.form.orders[0] + order
    }

    /// The first coordinate of a number.
    #[inline(always)]
    pub(super) fn first(self, number: u32) -> u16 {
        join(number / self.form.orders[0], number % self.form.orders[0])
    }

    /// The number of the second and third coordinate, given the first.
    #[inline(always)]
    pub(super) fn of_rest(self, first: u16, second: u16, third: u16) -> u32 {
        let ((set, _), (other, order)) = (split(first), split(second));
        let (_, last) = split(third);
        let [_, orders, lasts] = self.form.orders;
        (self.relative_of(set, other) * orders + order) * lasts + last
    }

    /// The factors for [`Self::add_all`]. `first` is the factor of [`Self::of_first`], and `rest` that of
    /// [`Self::of_rest`] without its lowest `shift` bits. `shift` is 0 or 1.
    pub(super) fn factors(self, first: u64, rest: u64, shift: u32) -> Factors {
        let [_, orders, lasts] = self.form.orders.map(u64::from);
        // There is an even number of orders of the third group, so the lowest bit is that of its order.
        let second_order = (lasts >> shift) * rest;
        let third = std::array::from_fn(|order| (order as u64 >> shift) * rest);
        Factors { first, relative: orders * second_order, second_order, third }
    }

    /// Adds the terms of three coordinates after a move to the number of each state. `coordinates` is by
    /// group and state; `actions` has the coordinate after the move, by group and coordinate.
    pub(super) fn add_all(
        self,
        factors: &Factors,
        coordinates: [&[u16]; 3],
        actions: [&[u16]; 3],
        numbers: &mut [u64],
    ) {
        let [first, second, third] = coordinates;
        // A constant length leaves more registers to the loop.
        let [a, b, c] = actions.map(|action| &action[..VALUES]);
        let next = |action: &[u16], at: u16| action[usize::from(at)];
        for (((number, first), second), third) in
            numbers.iter_mut().zip(first).zip(second).zip(third)
        {
            let (first, (second, order)) = (next(a, *first), split(next(b, *second)));
            let (set, _) = split(first);
            let (_, last) = split(next(c, *third));
            *number += u64::from(self.of_first(first)) * factors.first
                + u64::from(self.relative_of(set, second)) * factors.relative
                + u64::from(order) * factors.second_order
                + factors.third[last as usize];
        }
    }

    /// The second and third coordinate of a number, given the first.
    #[inline(always)]
    pub(super) fn second_and_third(self, first: u16, number: u32) -> (u16, u16) {
        let [_, orders, lasts] = self.form.orders;
        let (rest, last) = (number / lasts, number % lasts);
        let (set, _) = split(first);
        let (second, third, _) = self.others_of(set, rest / orders);
        (join(second.into(), rest % orders), join(third.into(), last))
    }
}

/// The numbers of the set and of the order in a coordinate.
#[inline(always)]
fn split(coordinate: u16) -> (u32, u32) {
    (u32::from(coordinate >> ORDER_BITS), u32::from(coordinate) % (1 << ORDER_BITS))
}

/// The inverse of [`split`].
#[inline(always)]
fn join(set: u32, order: u32) -> u16 {
    (set << ORDER_BITS | order) as u16
}

/// The slots of a set, ascending.
fn slots_of(set: u16) -> Vec<u8> {
    (0..u16::BITS as u8).filter(|slot| set >> slot & 1 == 1).collect()
}
