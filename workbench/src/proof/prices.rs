//! Prices of colour exchanges on the levels that a bound does not track.

use super::error::ProofError;
use super::form::Form;
use crate::formulas::Quantity;

/// The prices c_1, c_2, c_3, which belong to no common form.
pub(super) const FIRST: [i64; 3] = [0, 1, 5];

/// The first level whose price has the closed form.
const REGULAR: u32 = 4;

/// The least number of moves that it costs to exchange the two tiles of a level: c_1, c_2, c_3 = 0,
/// 1, 5 and c_i = 4 T-bar(i-1) - 2 from i = 4 on. Levels begin at 1.
///
/// # Errors
/// If it has more than 63 bits.
pub(super) fn price(level: u32) -> Result<i64, ProofError> {
    if let Some(price) = FIRST.get(level as usize - 1) {
        return Ok(*price);
    }
    let tower = Quantity::TBar.formula(level - 1).ok();
    let price = tower.and_then(|t| i64::try_from(t).ok()?.checked_mul(4)?.checked_sub(2));
    price.ok_or(ProofError::PriceTooLarge { level })
}

/// The closed form of the prices from level 4 on.
///
/// # Errors
/// If they have none.
pub(super) fn form() -> Result<Form, ProofError> {
    let values = (REGULAR..REGULAR + 16).map(price).collect::<Result<Vec<_>, _>>()?;
    let form = Form::fit(REGULAR, &values);
    form.ok_or(ProofError::NoForm { what: "the prices", level: REGULAR, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each price was found as the difference of two searches: the exchange with and without the
    /// need to exchange the tiles of one more small level.
    #[test]
    fn prices_add_up_to_the_measured_colour_losses() {
        let sums = (1..=8).scan(0, |sum, level| {
            *sum += price(level).unwrap();
            Some(*sum)
        });
        assert!(sums.eq([0, 1, 6, 40, 130, 360, 926, 2304]));
    }

    #[test]
    fn prices_have_a_form() {
        let form = form().unwrap();
        assert!((4..30).all(|level| form.eighths(level) == Some(8 * price(level).unwrap())));
    }

    #[test]
    fn too_large_prices_are_refused() {
        assert_eq!(price(99), Err(ProofError::PriceTooLarge { level: 99 }));
    }
}
