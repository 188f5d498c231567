//! Orders of a few things, numbered lexicographically.

/// The number of orders of `count` things, at most 12.
pub(super) const fn factorial(count: usize) -> u32 {
    match count {
        0 => 1,
        _ => count as u32 * factorial(count - 1),
    }
}

/// The number of an order of `order.len()` different numbers. Orders with the numbers 2i and 2i + 1 differ
/// in the last two things, so one of them is even and the other is odd.
pub(super) fn rank(order: &[u8]) -> u32 {
    let smaller = |at: usize| order[at + 1..].iter().filter(|thing| **thing < order[at]).count();
    (0..order.len()).fold(0, |rank, at| rank * (order.len() - at) as u32 + smaller(at) as u32)
}

/// The order of `count` things with a number.
pub(super) fn unrank(mut rank: u32, count: usize) -> Vec<u8> {
    let mut digits = vec![0; count];
    for (left, digit) in (1..).zip(digits.iter_mut().rev()) {
        (rank, *digit) = (rank / left, rank % left);
    }
    let mut left: Vec<u8> = (0..count as u8).collect();
    digits.into_iter().map(|digit| left.remove(digit as usize)).collect()
}

/// Whether an order of different numbers is an odd permutation.
pub(super) fn is_odd(order: &[u8]) -> bool {
    let pairs = (0..order.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    pairs.filter(|(a, b)| order[*a] > order[*b]).count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_numbered_and_pairs_have_both_parities() {
        for count in 0..=6 {
            let orders: Vec<Vec<u8>> = (0..factorial(count)).map(|at| unrank(at, count)).collect();
            assert!(orders.is_sorted_by(|a, b| a < b));
            assert!((0..).zip(&orders).all(|(at, order)| rank(order) == at));
            if count > 1 {
                assert!(orders.chunks(2).all(|pair| is_odd(&pair[0]) != is_odd(&pair[1])));
            }
        }
    }
}
