//! Upper bound on the number of moves that exchange two Panex towers.

/// U(n): moves of the best known exchange of two towers of n tiles (Manasse, Sleator, Wei,
/// Baxter), equal to X(n) as far as X is known. None for n = 0 and beyond 40.
///
/// From n = 5: U(n) = 3T(n) + 6T(n-1) + 3T(n-2) + 4(T(2) + … + T(n-3)) - 2n + 6, where T is the
/// paper's T-bar: T(n) = 2T(n-1) + T(n-2) + 3 from n = 4, with T(2) = 2 and T(3) = 9.
pub fn upper_bound(level: u8) -> Option<u64> {
    const SMALL: [u64; 5] = [0, 3, 13, 42, 128];
    let n = usize::from(level);
    match n {
        1..=4 => Some(SMALL[n]),
        5..=40 => {
            let mut t = vec![0, 1, 2, 9];
            for i in 4..=n {
                t.push(2 * t[i - 1] + t[i - 2] + 3);
            }
            let sum: u64 = t[2..=n - 3].iter().sum();
            Some(3 * t[n] + 6 * t[n - 1] + 3 * t[n - 2] + 4 * sum + 6 - 2 * n as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::upper_bound;

    #[test]
    fn upper_bounds_are_those_of_the_paper() {
        let known = [3, 13, 42, 128, 343, 881, 2189, 5359, 13023, 31537, 76245, 184_191, 444_807];
        for (n, moves) in (1..).zip(known) {
            assert_eq!(upper_bound(n), Some(moves), "n = {n}");
        }
        assert_eq!(upper_bound(14), Some(1_074_001));
        assert_eq!(upper_bound(0), None);
    }
}
