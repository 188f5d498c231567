//! Lower bound of X(n) and length U(n) of the paper's exchange for any n, in integers of any size.

use num_bigint::{BigInt, BigUint};

use super::form::Form;

/// The lower bound of X(3), from tables of level 2.
const THREE: u32 = 42;

/// The certificate's distance from the start to the goal, without the prices of the lower levels.
const DISTANCE: Form = Form { pell: [504, -168], slope: 0, constant: -160, parity: 0 };

/// The sum of the prices of the levels up to n - 2.
const PRICES: Form = Form { pell: [-1344, 560], slope: -64, constant: 144, parity: 0 };

/// U(n), by the closed form of the paper.
const EXCHANGE: Form = Form { pell: [-840, 392], slope: -64, constant: -16, parity: 0 };

/// The lower bound of X(level) that the certificate proves: the distance of the goal with one bit
/// of the swap vector, plus the prices of the other levels.
///
/// The certificate proves it from level 5 on, where it equals [`exchange_length`]. At levels 3 and
/// 4 the tables that precede its induction give 42 and 127, while X(3) = 42 and X(4) = 128. None
/// below 3.
pub fn lower_bound(level: u32) -> Option<BigUint> {
    match level {
        0..3 => None,
        3 => Some(THREE.into()),
        _ => whole(eighths(&DISTANCE, level) + eighths(&PRICES, level)),
    }
}

/// U(level): the moves of the paper's exchange. None below 5, where it is not defined.
///
/// [`Quantity::U`](crate::formulas::Quantity::U) has the same numbers up to 128 bits.
pub fn exchange_length(level: u32) -> Option<BigUint> {
    if level < 5 { None } else { whole(eighths(&EXCHANGE, level)) }
}

fn whole(eighths: BigInt) -> Option<BigUint> {
    (eighths / 8_u8).to_biguint()
}

/// 8 f(n).
fn eighths(form: &Form, n: u32) -> BigInt {
    let [a, b] = form.pell;
    let [p, q] = pell(n);
    let parity = if n.is_multiple_of(2) { form.parity } else { -form.parity };
    a * p + b * q + BigInt::from(form.slope) * n + form.constant + parity
}

/// The Pell numbers P(n) and P(n+1), by doubling the index for each bit of n.
fn pell(n: u32) -> [BigInt; 2] {
    let mut pair = [BigInt::ZERO, BigInt::from(1)];
    for bit in (0..32 - n.leading_zeros()).rev() {
        let [p, q] = &pair;
        let (even, odd) = (2_u8 * (p * (q - p)), p * p + q * q);
        pair = if n >> bit & 1 == 0 {
            [even, odd]
        } else {
            let next = 2_u8 * &odd + even;
            [odd, next]
        };
    }
    pair
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choke::Search;
    use crate::choke::classes::Structure;
    use crate::formulas::Quantity;
    use crate::proof::ladder::HIGHEST;
    use crate::proof::lower::LowerBound;
    use crate::proof::prices::price;
    use crate::table::X;

    #[test]
    fn pell_numbers_satisfy_their_recurrence() {
        assert_eq!(pell(0), [0, 1].map(BigInt::from));
        for n in 0..200 {
            let ([p, q], [q_again, r]) = (pell(n), pell(n + 1));
            assert_eq!((q_again, r), (q.clone(), 2_u8 * q + p), "P({n})");
        }
    }

    #[test]
    fn the_constants_are_those_of_the_certificate() {
        let lower = LowerBound::find(Structure::shared()).unwrap();
        // Start and goal are node 0 of the whole puzzle; at the goal all tiles are exchanged.
        assert_eq!(lower.top[0][0b11], DISTANCE);
        for n in 5..=HIGHEST {
            let sum: i64 = (1..=n - 2).map(|level| price(level).unwrap()).sum();
            assert_eq!(PRICES.eighths(n), Some(8 * sum), "prices up to {}", n - 2);
        }
    }

    #[test]
    fn lower_bounds_from_five_on_are_lengths_of_the_exchange() {
        // Equal sums of coefficients make the numbers equal on every level.
        let sum = |a: i64, b: i64, u: i64| a + b == u;
        let [a, b] = [0, 1].map(|i| sum(DISTANCE.pell[i], PRICES.pell[i], EXCHANGE.pell[i]));
        assert!(a && b && sum(DISTANCE.slope, PRICES.slope, EXCHANGE.slope));
        assert!(sum(DISTANCE.constant, PRICES.constant, EXCHANGE.constant));
        for n in (5..=70).chain([1000, 9999, 10_000]) {
            assert_eq!(lower_bound(n), exchange_length(n), "{n}");
        }
    }

    #[test]
    fn lengths_of_the_exchange_are_those_of_the_formulas() {
        for n in 5..=90 {
            let expected = Quantity::U.formula(n).unwrap();
            assert_eq!(exchange_length(n), Some(expected.into()), "U({n})");
        }
    }

    #[test]
    fn bounds_agree_with_known_numbers_of_moves() {
        for (n, x) in (3..).zip(&X[2..]) {
            let expected = if n == 4 { x - 1 } else { *x };
            assert_eq!(lower_bound(n), Some(expected.into()), "X({n})");
        }
        for (n, x) in (5..).zip(&X[4..]) {
            assert_eq!(exchange_length(n), Some((*x).into()), "X({n})");
        }
    }

    #[test]
    fn bounds_agree_with_searches_over_choke_points() {
        for n in 5..=10_u8 {
            let moves = Search::new(n).threads(2).least_moves().unwrap();
            assert_eq!(lower_bound(n.into()), Some(moves.into()), "X({n})");
        }
    }

    #[test]
    fn large_numbers_satisfy_the_recurrence_of_the_towers() {
        assert_eq!(exchange_length(1000).unwrap().bits(), 1274);
        // The difference of T-bar's recurrence: with D(n) = U(n+1) - U(n) + 8,
        // D(n+2) = 2 D(n+1) + D(n).
        let u = |n| BigInt::from(exchange_length(n).unwrap());
        let step = |n| u(n + 1) - u(n) + 8_u8;
        for n in [5, 100, 999, 9_998, 123_456] {
            assert_eq!(step(n + 2), 2_u8 * step(n + 1) + step(n), "{n}");
        }
    }

    #[test]
    fn there_are_no_bounds_below_their_first_levels() {
        assert!((0..3).all(|n| lower_bound(n).is_none()));
        assert!((0..5).all(|n| exchange_length(n).is_none()));
    }
}
