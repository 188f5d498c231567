//! Pseudorandom numbers, and members of a group by product replacement.

use crate::group::element::Element;
use crate::group::shape::Shape;

/// Minimum number of elements in the pool.
const POOL: usize = 12;

/// Products before the first member is taken.
const WARM_UP: usize = 60;

/// A sequence of pseudorandom members: the product replacement algorithm of Celler et al. (1995), with
/// an accumulator. The sequence is the same in every run.
pub(crate) struct RandomMembers<'a> {
    shape: &'a Shape,
    pool: Vec<Element>,
    accumulator: Element,
    random: Xorshift,
}

/// A sequence of pseudorandom numbers (Marsaglia's xorshift), the same on every run.
pub(crate) struct Xorshift {
    state: u64,
}

impl Xorshift {
    pub(crate) fn new() -> Xorshift {
        Xorshift { state: 0x9E37_79B9_7F4A_7C15 }
    }

    /// The next number below a bound; 0 if the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % bound.max(1)
    }
}

impl<'a> RandomMembers<'a> {
    /// Members of the group that `generators` generate; they are of the shape.
    pub(crate) fn new(shape: &'a Shape, generators: &[Element]) -> RandomMembers<'a> {
        let pool = generators.iter().cycle().take(generators.len().max(POOL)).cloned().collect();
        let accumulator = shape.identity();
        let mut members = RandomMembers { shape, pool, accumulator, random: Xorshift::new() };
        for _ in 0..WARM_UP {
            members.next();
        }
        members
    }

    /// The next member.
    pub(crate) fn next(&mut self) -> Element {
        let (a, b) = (self.random.below(self.pool.len()), self.random.below(self.pool.len()));
        if a != b {
            let pair = if self.random.below(2) == 0 { (a, b) } else { (b, a) };
            if let Some(product) = self.pool[pair.0].times(&self.pool[pair.1], self.shape) {
                self.pool[a] = product;
            }
            if let Some(product) = self.accumulator.times(&self.pool[a], self.shape) {
                self.accumulator = product;
            }
        }
        self.accumulator.clone()
    }
}
