//! Numbers of moves for any level: the papers' closed forms, recurrences and sums.

use std::fmt;

/// The least n from which X(n) = U(n) is proven, as [`X_PROOF`] describes.
pub const X_PROVEN_FROM: u32 = 5;

/// The page of the repository with the proof that X(n) = U(n).
pub const X_PROOF: &str = "docs/panex-proof.md";

/// A quantity that the papers tabulate.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// T(n): a tower from a side to the centre.
    T,
    /// T-bar(n): the same, but tile 1 ends on top of the other side.
    TBar,
    /// S(n): tile n from a side to the bottom of a tower in the centre.
    S,
    /// S-bar(n): the same, but tile 1 begins on top of the other side.
    SBar,
    /// X(n): the least number of moves that exchange the towers. From [`X_PROVEN_FROM`] on it is
    /// U(n); below, only a search finds it.
    X,
    /// U(n): the paper's exchange, an upper bound of X(n).
    U,
    /// L(n): the paper's lower bound of X(n).
    L,
    /// Baxter's simplified T(n).
    BaxterT,
    /// Baxter's simplified S(n).
    BaxterS,
    /// Baxter's simplified exchange U(n).
    BaxterU,
    /// Baxter's improved exchange U'(n).
    BaxterUImproved,
}

impl Quantity {
    /// All, in the order of the papers' tables.
    pub const ALL: [Quantity; 11] = [
        Quantity::T,
        Quantity::TBar,
        Quantity::S,
        Quantity::SBar,
        Quantity::X,
        Quantity::U,
        Quantity::L,
        Quantity::BaxterT,
        Quantity::BaxterS,
        Quantity::BaxterU,
        Quantity::BaxterUImproved,
    ];

    /// The name in the tables, such as `T-bar`.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::T => "T",
            Quantity::TBar => "T-bar",
            Quantity::S => "S",
            Quantity::SBar => "S-bar",
            Quantity::X => "X",
            Quantity::U => "U",
            Quantity::L => "L",
            Quantity::BaxterT => "Baxter T",
            Quantity::BaxterS => "Baxter S",
            Quantity::BaxterU => "Baxter U",
            Quantity::BaxterUImproved => "Baxter U'",
        }
    }

    /// The least n at which the quantity is defined.
    pub fn least(self) -> u32 {
        match self {
            Quantity::T | Quantity::TBar | Quantity::X => 1,
            Quantity::BaxterT | Quantity::BaxterS => 1,
            Quantity::S | Quantity::SBar => 2,
            Quantity::BaxterU | Quantity::BaxterUImproved => 3,
            Quantity::U | Quantity::L => 5,
        }
    }

    /// The quantity at n by its formula.
    ///
    /// # Errors
    /// If there is no formula (X below [`X_PROVEN_FROM`]), if n is below [`Self::least`], or if the
    /// number exceeds 128 bits.
    pub fn formula(self, n: u32) -> Result<u128, FormulaError> {
        let least = self.least();
        if n < least {
            return Err(FormulaError::Undefined { quantity: self, n, least });
        }
        if self == Quantity::X && n < X_PROVEN_FROM {
            return Err(FormulaError::SearchOnly { n });
        }
        let value = match self {
            Quantity::T => t(n),
            Quantity::TBar => t_bar(n),
            Quantity::S if n == 2 => Some(3),
            Quantity::SBar if n == 2 => Some(2),
            Quantity::S | Quantity::SBar => s_from_3(n),
            Quantity::X | Quantity::U => u(n),
            Quantity::L => l(n),
            Quantity::BaxterT => baxter_tower_and_sink(n).map(|(tower, _)| tower),
            Quantity::BaxterS => baxter_tower_and_sink(n).map(|(_, sink)| sink),
            Quantity::BaxterU => baxter_u(n),
            Quantity::BaxterUImproved => baxter_u_improved(n),
        };
        value.ok_or(FormulaError::TooLarge { quantity: self, n })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error of a formula without a value.
#[derive(Debug, Copy, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    /// X(n) is found by a search only.
    #[error("X({n}) has no formula: X(n) = U(n) from n = {X_PROVEN_FROM} on")]
    SearchOnly {
        /// The requested n.
        n: u32,
    },
    /// n is too small.
    #[error("{quantity}({n}) is not defined, n begins at {least}")]
    Undefined {
        /// The quantity.
        quantity: Quantity,
        /// The requested n.
        n: u32,
        /// The least n.
        least: u32,
    },
    /// The number does not fit.
    #[error("{quantity}({n}) has more than 128 bits")]
    TooLarge {
        /// The quantity.
        quantity: Quantity,
        /// The requested n.
        n: u32,
    },
}

/// Integers p, q with p + q sqrt(2) = (1 + sqrt(2))^n.
fn silver_power(n: u32) -> Option<(u128, u128)> {
    (0..n).try_fold((1_u128, 0_u128), |(p, q), _| {
        Some((p.checked_add(q.checked_mul(2)?)?, p.checked_add(q)?))
    })
}

/// c1 (1 + sqrt 2)^n + c2 (1 - sqrt 2)^n - 3/2 with c1, c2 = 7/4 (±sqrt 2 - 1), the two powers
/// multiplied out. Right from n = 2 on.
fn t_bar(n: u32) -> Option<u128> {
    if n == 1 {
        return Some(1);
    }
    let (p, q) = silver_power(n)?;
    Some((q.checked_mul(2)?.checked_sub(p)?.checked_mul(7)?.checked_sub(3)?) / 2)
}

fn t(n: u32) -> Option<u128> {
    t_bar(n)?.checked_add(u128::from(n.is_multiple_of(2)))
}

fn s_from_3(n: u32) -> Option<u128> {
    t_bar(n)?.checked_sub(1)
}

/// c3 (1 + sqrt 2)^n + c4 (1 - sqrt 2)^n - 8n - 2 with c3, c4 = 7/2 (7 ∓ 4 sqrt 2), the two powers
/// multiplied out.
fn u(n: u32) -> Option<u128> {
    let (p, q) = silver_power(n)?;
    let powers = p.checked_mul(7)?.checked_sub(q.checked_mul(8)?)?.checked_mul(7)?;
    powers.checked_sub(8 * u128::from(n) + 2)
}

fn l(n: u32) -> Option<u128> {
    t(n)?.checked_add(t(n - 1)?)?.checked_sub(2)?.checked_mul(4)
}

/// Baxter's T(n) and S(n). His recursions begin at n = 4, not 3.
fn baxter_tower_and_sink(n: u32) -> Option<(u128, u128)> {
    let base = [(1, 1), (3, 3), (9, 8)];
    if let Some(pair) = base.get(n as usize - 1) {
        return Some(*pair);
    }
    let (_, (tower, sink)) = (4..=n).try_fold((base[1], base[2]), |(before, last), _| {
        let tower = u128::checked_add(last.0, last.1)?.checked_add(4 + before.0)?;
        let sink = u128::checked_mul(last.1, 2)?.checked_add(4 + before.0)?;
        Some((last, (tower, sink)))
    })?;
    Some((tower, sink))
}

fn sum(terms: &[Option<u128>]) -> Option<u128> {
    terms.iter().try_fold(0_u128, |sum, term| sum.checked_add((*term)?))
}

/// The terms of Baxter's U(n); Z(1) is the single move `LR`, Z(2) has 7 moves.
fn baxter_u(n: u32) -> Option<u128> {
    let tower = |n| Some(baxter_tower_and_sink(n)?.0);
    let sink = |n| Some(baxter_tower_and_sink(n)?.1);
    let zigzag = |n| match n {
        1 => Some(1),
        2 => Some(7),
        _ => sum(&[sink(n), sink(n), tower(n - 1), tower(n - 1)]),
    };
    let zigzags: Vec<_> = (1..n).map(zigzag).collect();
    let start = sum(&[tower(n - 1), sink(n), tower(n - 1), sink(n), sink(n)]);
    let finish = sum(&[Some(4), sink(n - 1), tower(n - 1)]);
    sum(&[start, sum(&zigzags), finish])?.checked_sub(tower(n - 2)?)
}

/// The terms of Baxter's U'(n), with the paper's bar versions.
fn baxter_u_improved(n: u32) -> Option<u128> {
    let sink = |n| Quantity::S.formula(n).ok();
    let sink_bar = |n| Quantity::SBar.formula(n).ok();
    let zigzag = |n| match n {
        1 => Some(1),
        _ => sum(&[sink(n), sink_bar(n), t_bar(n - 1), t(n - 1)]),
    };
    let zigzags: Vec<_> = (1..n).map(zigzag).collect();
    let start = sum(&[t_bar(n - 1), sink_bar(n), t_bar(n - 1), sink_bar(n), sink(n)]);
    let finish = sum(&[Some(4), sink_bar(n - 1), t_bar(n - 1)]);
    sum(&[start, sum(&zigzags), finish])?.checked_sub(t(n - 2)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(quantity: Quantity, upto: u32) -> Vec<u128> {
        (quantity.least()..=upto).map(|n| quantity.formula(n).unwrap()).collect()
    }

    #[test]
    fn the_papers_tables() {
        use Quantity::*;
        for (quantity, table) in [
            (T, &[1, 3, 9, 24, 58, 143, 345, 836, 2018, 4875][..]),
            (TBar, &[1, 2, 9, 23, 58, 142, 345, 835, 2018, 4874]),
            (S, &[3, 8, 22, 57, 141, 344, 834, 2017, 4873]),
            (SBar, &[2, 8, 22, 57, 141, 344, 834, 2017, 4873]),
            (U, &[343, 881, 2189, 5359, 13023, 31537]),
            (L, &[320, 796, 1944, 4716, 11408, 27564]),
            (BaxterT, &[1, 3, 9, 24, 60, 147, 357, 864, 2088, 5043]),
            (BaxterS, &[1, 3, 8, 23, 59, 146, 356, 863, 2087, 5042]),
            (BaxterU, &[47, 135, 361, 917, 2271, 5551, 13481, 32637]),
            (BaxterUImproved, &[43, 131, 348, 886, 2195, 5365, 13030, 31544]),
        ] {
            assert_eq!(values(quantity, 10), table, "{quantity}");
        }
    }

    #[test]
    fn closed_forms_agree_with_recurrence_and_sum() {
        let bar = |n| t_bar(n).unwrap();
        for n in 4..60 {
            assert_eq!(bar(n), 2 * bar(n - 1) + bar(n - 2) + 3, "T-bar({n})");
        }
        for n in 5..60 {
            let towers: u128 = (2..=n - 3).map(bar).sum();
            let sum = 3 * bar(n) + 6 * bar(n - 1) + 3 * bar(n - 2) + 4 * towers + 6;
            assert_eq!(u(n).unwrap(), sum - 2 * u128::from(n), "U({n})");
            assert_eq!(l(n).unwrap(), 4 * (bar(n) + bar(n - 1) - 1), "L({n})");
        }
    }

    #[test]
    fn undefined_values_of_a_formula_are_errors() {
        let error = Quantity::X.formula(4).unwrap_err();
        assert_eq!(error.to_string(), "X(4) has no formula: X(n) = U(n) from n = 5 on");
        let undefined = FormulaError::Undefined { quantity: Quantity::X, n: 0, least: 1 };
        assert_eq!(Quantity::X.formula(0), Err(undefined));
        let error = Quantity::U.formula(4).unwrap_err();
        assert_eq!(error.to_string(), "U(4) is not defined, n begins at 5");
        for quantity in Quantity::ALL {
            assert!(quantity.formula(90).is_ok(), "{quantity}");
            let error = quantity.formula(150).unwrap_err();
            assert_eq!(error, FormulaError::TooLarge { quantity, n: 150 });
        }
    }
}
