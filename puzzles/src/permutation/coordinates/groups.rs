//! Three groups of an orbit's pieces, and their coordinates as numbers.
//!
//! The coordinate of a group is the number of the set of slots that it takes, and in the low bits, the order
//! of its pieces there. Together, the coordinates of all groups are a number without gaps: a set is
//! numbered among those that the groups before leave free.

use super::orders::{factorial, is_odd, rank, unrank};

/// Three groups of pieces.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) form: Form,
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
        let mut relative = Vec::with_capacity(sets[0].len() * sets[1].len());
        let mut others = Vec::with_capacity(sets[0].len() * form.relatives as usize);
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
        let numbers = sets.each_ref().map(|sets| {
            let mut numbers = vec![0; 1 << pieces];
            (0..).zip(sets).for_each(|(number, set)| numbers[usize::from(*set)] = number);
            numbers
        });
        let slots = [0, 1, 2].map(|group| {
            let orders: Vec<Vec<u8>> = (0..1 << form.order_bits[group])
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
        Groups { form, sets, numbers, relative, others, odd, slots }
    }

    /// By move, what becomes of each coordinate of a group.
    pub(super) fn action(&self, group: usize, images: &[Vec<u8>]) -> Vec<Vec<u16>> {
        let values = 0..self.sets[group].len() << self.form.order_bits[group];
        // Some coordinates stand for nothing; what becomes of them does not matter.
        let size = self.form.sizes[group];
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
        (number << self.form.order_bits[group] | rank(slots)) as u16
    }

    /// Whether the pieces are an odd order.
    #[inline(always)]
    pub(super) fn is_odd(&self, coordinates: [u16; 3]) -> bool {
        let numbering = self.numbering();
        let parts: [(u32, u32); 3] =
            std::array::from_fn(|group| numbering.split(group, coordinates[group]));
        let relative = numbering.relative_of(parts[0].0, parts[1].0);
        let (_, _, odd) = numbering.others_of(parts[0].0, relative);
        (0..3).fold(odd, |odd, group| odd ^ self.odd[group][parts[group].1 as usize])
    }

    /// How coordinates become numbers without gaps.
    #[inline]
    pub(super) fn numbering(&self) -> Numbering<'_> {
        let Groups { form, relative, others, .. } = self;
        Numbering { form: *form, relative, others }
    }
}

/// What follows from the number of pieces alone.
#[derive(Copy, Clone, Debug)]
pub(super) struct Form {
    /// Pieces of each group.
    pub(super) sizes: [usize; 3],
    /// By group, the number of orders, and the bits of an order.
    orders: [u32; 3],
    order_bits: [u32; 3],
    /// Sets of slots of the first and of the second group.
    firsts: u32,
    seconds: u32,
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
            order_bits: [bits_of(orders[0]), bits_of(orders[1]), bits_of(orders[2])],
            firsts: subsets(pieces, sizes[0]),
            seconds: subsets(pieces, sizes[1]),
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

/// The bits of a number below `orders`.
const fn bits_of(orders: u32) -> u32 {
    orders.next_power_of_two().ilog2()
}

/// The number of sets of `size` things among `all`.
const fn subsets(all: usize, size: usize) -> u32 {
    factorial(all) / factorial(size) / factorial(all - size)
}

/// How the coordinates of three groups become numbers without gaps.
#[derive(Copy, Clone, Debug)]
pub(super) struct Numbering<'a> {
    form: Form,
    /// Those of [`Groups`].
    relative: &'a [u8],
    others: &'a [(u16, u16, bool)],
}

impl Numbering<'_> {
    /// The number of a set and of an order of a coordinate.
    #[inline(always)]
    fn split(self, group: usize, coordinate: u16) -> (u32, u32) {
        let (coordinate, bits) = (u32::from(coordinate), self.form.order_bits[group]);
        (coordinate >> bits, coordinate & ((1 << bits) - 1))
    }

    #[inline(always)]
    fn join(self, group: usize, set: u32, order: u32) -> u16 {
        (set << self.form.order_bits[group] | order) as u16
    }

    /// The number of a set of the second group among those that do not meet one of the first.
    #[inline(always)]
    fn relative_of(self, first: u32, second: u32) -> u32 {
        self.relative[(first * self.form.seconds + second) as usize].into()
    }

    #[inline(always)]
    fn others_of(self, first: u32, relative: u32) -> (u16, u16, bool) {
        self.others[(first * self.form.relatives + relative) as usize]
    }

    /// The number of the first coordinate.
    #[inline(always)]
    pub(super) fn of_first(self, first: u16) -> u32 {
        let (set, order) = self.split(0, first);
        set * self.form.orders[0] + order
    }

    /// The first coordinate of a number.
    #[inline(always)]
    pub(super) fn first(self, number: u32) -> u16 {
        self.join(0, number / self.form.orders[0], number % self.form.orders[0])
    }

    /// The number of the second and third coordinate, given the first.
    #[inline(always)]
    pub(super) fn of_rest(self, first: u16, second: u16, third: u16) -> u32 {
        let ((set, _), (other, order)) = (self.split(0, first), self.split(1, second));
        let (_, last) = self.split(2, third);
        let [_, orders, lasts] = self.form.orders;
        (self.relative_of(set, other) * orders + order) * lasts + last
    }

    /// The second and third coordinate of a number, given the first.
    #[inline(always)]
    pub(super) fn second_and_third(self, first: u16, number: u32) -> (u16, u16) {
        let [_, orders, lasts] = self.form.orders;
        let (rest, last) = (number / lasts, number % lasts);
        let (set, _) = self.split(0, first);
        let (second, third, _) = self.others_of(set, rest / orders);
        (self.join(1, second.into(), rest % orders), self.join(2, third.into(), last))
    }
}

/// The slots of a set, ascending.
fn slots_of(set: u16) -> Vec<u8> {
    (0..u16::BITS as u8).filter(|slot| set >> slot & 1 == 1).collect()
}
