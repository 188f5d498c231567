//! Integer sequences with closed forms, and a sign test for all their terms at once.

/// U(n) for n >= 5.
pub(crate) const U: Form = Form([-840, 392, -64, -16, 0]);

/// `[a, b, c, d, e]`: the sequence `8 f(N) = a P(N) + b P(N+1) + c N + d + e (-1)^N`
/// with the Pell numbers P(N).
///
/// Coefficients of a certificate are at most 2^32. The verifier adds at most 20 forms, each shifted
/// by at most two levels (a factor of 9), so they stay below 2^40. Terms are evaluated up to level
/// 52, where P(53) < 2^67. Hence no `i128` overflows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Form(pub [i128; 5]);

impl Form {
    /// The sequence f + `factor` g.
    pub(crate) fn add(self, factor: i128, other: Form) -> Form {
        Form(std::array::from_fn(|i| self.0[i] + factor * other.0[i]))
    }

    /// The sequence N -> f(N+1).
    pub(crate) fn next(self) -> Form {
        let [a, b, c, d, e] = self.0;
        Form([b, a + 2 * b, c, c + d, -e])
    }

    /// 8 f(N) at N = `level`.
    pub fn eighths(self, level: usize) -> i128 {
        let [a, b, c, d, e] = self.0;
        let (pell, next) = (0..level).fold((0, 1), |(pell, next), _| (next, pell + 2 * next));
        let alternating = if level.is_multiple_of(2) { e } else { -e };
        a * pell + b * next + c * level as i128 + d + alternating
    }

    /// Proves f(N) >= 0 for N = `start`, `start` + `step`, ..., where `step` is 1 or 2: section 8 of
    /// the document. The error is the first level found with a negative term, or `start` + 40 if
    /// that does not decide.
    pub fn prove_sign(self, start: usize, step: usize) -> Result<(), usize> {
        let [a, b, c, _, e] = self.0;
        let growth = Form([a, b, 0, 0, 0]);
        let increase = growth.next().add(-1, growth);
        let is_settled = |level| match (a, b) {
            (0, 0) => c >= 0 && level + step >= start + 2,
            _ => growth.eighths(level) >= 0 && increase.eighths(level) >= c.abs() + 2 * e.abs(),
        };
        let mut levels = (start..start + 40).step_by(step);
        match levels.find(|&level| self.eighths(level) < 0 || is_settled(level)) {
            Some(level) if self.eighths(level) >= 0 => Ok(()),
            level => Err(level.unwrap_or(start + 40)),
        }
    }
}
