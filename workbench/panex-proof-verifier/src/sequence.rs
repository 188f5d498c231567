//! Integer sequences with closed forms, and a sign test for all their terms at once.

/// A sequence f with `8 f(N) = a P(N) + b P(N+1) + c N + d + e (-1)^N`, as `[a, b, c, d, e]`. P(N)
/// are the Pell numbers 0, 1, 2, 5, 12, ... with P(N+2) = 2 P(N+1) + P(N).
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

    /// The sequence N -> f(N-1).
    pub(crate) fn previous(self) -> Form {
        let [a, b, c, d, e] = self.0;
        Form([b - 2 * a, a, c, d - c, -e])
    }

    /// 8 f(level).
    pub fn eighths(self, level: u32) -> i128 {
        let [_, _, c, d, e] = self.0;
        let alternating = if level.is_multiple_of(2) { e } else { -e };
        self.growth(level).0 + c * i128::from(level) + d + alternating
    }

    /// The Pell part G(N) = a P(N) + b P(N+1) at `level` and at the next level.
    fn growth(self, level: u32) -> (i128, i128) {
        let [a, b, ..] = self.0;
        (0..level).fold((b, a + 2 * b), |(now, next), _| (next, 2 * next + now))
    }

    /// Proves f(N) >= 0 for N = `start`, `start` + `step`, ..., where `step` is 1 or 2. The error is
    /// the first level found with a negative term, or `None` if 40 terms do not decide.
    ///
    /// If a = b = 0, then 8 f(N+2) - 8 f(N) = 2c: with c >= 0, the terms before `start` + 2 decide.
    ///
    /// Otherwise look for a level n with G(n) >= 0 and G(n+1) - G(n) >= |c| + 2|e|. From there G
    /// never decreases, since G(m+2) - G(m+1) = G(m+1) + G(m) >= G(m+1) - G(m). Hence
    /// 8 f(m+1) - 8 f(m) = G(m+1) - G(m) + c - 2e(-1)^m >= 0 for every m >= n: the terms up to n
    /// decide.
    pub fn prove_sign(self, start: u32, step: u32) -> Result<(), Option<u32>> {
        let [a, b, c, _, e] = self.0;
        for level in (start..start + 40).step_by(step as usize) {
            if self.eighths(level) < 0 {
                return Err(Some(level));
            }
            let (now, next) = self.growth(level);
            let is_settled = match (a, b) {
                (0, 0) => c >= 0 && level + step >= start + 2,
                _ => now >= 0 && next - now >= c.abs() + 2 * e.abs(),
            };
            if is_settled {
                return Ok(());
            }
        }
        Err(None)
    }
}
