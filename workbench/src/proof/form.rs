//! Closed forms of integer sequences in Pell numbers.

use std::fmt;

/// A sequence f with 8 f(N) = a P(N) + b P(N+1) + c N + d + e (-1)^N.
///
/// P is the sequence of Pell numbers: P(0) = 0, P(1) = 1, P(N+2) = 2 P(N+1) + P(N). Prints as the
/// five coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Form {
    /// a and b.
    pub(super) pell: [i64; 2],
    /// c.
    pub(super) slope: i64,
    /// d.
    pub(super) constant: i64,
    /// e.
    pub(super) parity: i64,
}

impl Form {
    /// The form with these values from level `first` on. None if there is no such form, if there
    /// are fewer than five values, or if a number exceeds 63 bits.
    pub(super) fn fit(first: u32, values: &[i64]) -> Option<Self> {
        let [f0, f1, f2, f3, f4, ..] = *values else { return None };
        // The difference operator (E - 1)^2 (E + 1) removes all but the Pell part G / 8, of which
        // it leaves (G(N) + G(N+1)) / 4. Pell numbers satisfy G(N+2) - G(N) = 2 G(N+1).
        let s0 = f3.checked_sub(f2)?.checked_sub(f1)?.checked_add(f0)?;
        let s1 = f4.checked_sub(f3)?.checked_sub(f2)?.checked_add(f1)?;
        let g1 = s1.checked_sub(s0)?.checked_mul(2)?;
        let g0 = s0.checked_mul(4)?.checked_sub(g1)?;
        let g2 = g1.checked_mul(2)?.checked_add(g0)?;
        // What is left is c N + d + e (-1)^N.
        let rest = |f: i64, g: i64| f.checked_mul(8)?.checked_sub(g);
        let (h0, h1, h2) = (rest(f0, g0)?, rest(f1, g1)?, rest(f2, g2)?);
        let slope = half(h2.checked_sub(h0)?)?;
        let sign = if first.is_multiple_of(2) { 1 } else { -1 };
        let parity = half(slope.checked_sub(h1.checked_sub(h0)?)?)?.checked_mul(sign)?;
        let line = slope.checked_mul(i64::from(first))?;
        let constant = h0.checked_sub(line)?.checked_sub(parity * sign)?;
        let [b, at_one] = (0..first)
            .try_fold([g0, g1], |[x, y], _| Some([y.checked_sub(x.checked_mul(2)?)?, x]))?;
        let a = at_one.checked_sub(b.checked_mul(2)?)?;
        let form = Self { pell: [a, b], slope, constant, parity };
        let fits = (first..).zip(values).all(|(n, value)| form.eighths(n) == value.checked_mul(8));
        fits.then_some(form)
    }

    /// 8 f(n), if it and the Pell numbers have at most 63 bits.
    pub(super) fn eighths(&self, n: u32) -> Option<i64> {
        let [p, q] = (0..n)
            .try_fold([0_i64, 1], |[p, q], _| Some([q, q.checked_mul(2)?.checked_add(p)?]))?;
        let [a, b] = self.pell;
        let pell = a.checked_mul(p)?.checked_add(b.checked_mul(q)?)?;
        let line = self.slope.checked_mul(i64::from(n))?.checked_add(self.constant)?;
        let parity = if n.is_multiple_of(2) { self.parity } else { self.parity.checked_neg()? };
        pell.checked_add(line)?.checked_add(parity)
    }
}

fn half(number: i64) -> Option<i64> {
    (number % 2 == 0).then_some(number / 2)
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pell: [a, b], slope, constant, parity } = self;
        write!(f, "{a} {b} {slope} {constant} {parity}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(form: &Form, levels: std::ops::Range<u32>) -> Vec<i64> {
        levels.map(|n| form.eighths(n).unwrap() / 8).collect()
    }

    #[test]
    fn a_form_is_found_from_its_values() {
        // Every term has a multiple of 8, or the sum would not be divisible by 8.
        for (a, b, c, d, e) in [(0, 0, 0, 0, 0), (8, 0, 0, 0, 0), (-16, 24, 8, -40, 56)] {
            let form = Form { pell: [a, b], slope: c, constant: d, parity: e };
            for first in 0..8 {
                assert_eq!(Form::fit(first, &values(&form, first..first + 12)), Some(form));
            }
        }
    }

    #[test]
    fn changing_one_value_leaves_no_closed_form() {
        let form = Form { pell: [8, 16], slope: -8, constant: 24, parity: 8 };
        let values = values(&form, 4..16);
        for at in 0..values.len() {
            let mut changed = values.clone();
            changed[at] += 1;
            assert_eq!(Form::fit(4, &changed), None, "value {at}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let form = Form { pell: [1, 0], slope: 0, constant: 0, parity: 0 };
        assert_eq!(form.eighths(5), Some(29));
        assert_eq!(form.eighths(60), None);
        assert_eq!(Form::fit(0, &[i64::MAX; 9]), None);
        assert_eq!(Form::fit(0, &[1; 4]), None);
    }
}
