//! What a certificate claims, read without the verifier: values of rows, nodes and segments.

use std::collections::BTreeMap;

/// Levels at which claims are compared.
const LEVELS: std::ops::RangeInclusive<u32> = 4..=44;

/// 8 times the values of a form at [`LEVELS`].
type Values = Vec<i128>;

/// The claims of a certificate with numbers of forms replaced by values.
pub(crate) struct Claims {
    /// Rows, nodes and top nodes, by class and content of their lines.
    lower: BTreeMap<(usize, String), Vec<Values>>,
    /// Segments, in order.
    upper: Vec<(String, Values)>,
    /// Lines that are not forms and have no numbers of forms.
    other: Vec<String>,
}

/// Reason why an accepted change of a certificate does no harm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Harmless {
    /// No claim has changed.
    SameClaims,
    /// Some lower claims are less, or some upper claims greater, and all others are the same.
    WeakerClaims,
}

impl Claims {
    /// Reads a text that the verifier's parser accepts.
    pub(crate) fn read(lines: &[String]) -> Claims {
        let (mut lower, mut upper, mut other) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (mut forms, mut class) = (Vec::new(), 0);
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let claims = |first: usize| -> Vec<Values> {
                let numbers = words[first..].iter().map(|word| word.parse::<usize>().unwrap());
                numbers.map(|number| values(forms[number])).collect()
            };
            match words[0] {
                "form" => forms.push(std::array::from_fn(|i| words[i + 1].parse().unwrap())),
                "row" | "node" => {
                    lower.insert((class, words[..5].join(" ")), claims(5));
                }
                "segment" => upper.push((words[..13].join(" "), claims(13).remove(0))),
                _ => {
                    match words[0] {
                        "class" | "top" => class += 1,
                        "upper" => forms.clear(),
                        _ => {}
                    }
                    other.push(line.clone());
                }
            }
        }
        Claims { lower, upper, other }
    }

    /// The reason why a certificate with these claims instead of `original` may be accepted.
    pub(crate) fn harmless(&self, original: &Claims) -> Option<Harmless> {
        let same_places = self.other == original.other
            && self.lower.keys().eq(original.lower.keys())
            && self.upper.iter().map(|one| &one.0).eq(original.upper.iter().map(|one| &one.0));
        if !same_places {
            return None;
        }
        let lower = self.lower.values().zip(original.lower.values());
        let upper = self.upper.iter().zip(&original.upper);
        let is_weaker = lower.clone().all(|(new, old)| {
            new.iter().flatten().zip(old.iter().flatten()).all(|(new, old)| new <= old)
        }) && upper
            .clone()
            .all(|(new, old)| new.1.iter().zip(&old.1).all(|(new, old)| new >= old));
        let is_same = lower.clone().all(|(new, old)| new == old) && self.upper == original.upper;
        match (is_same, is_weaker) {
            (true, _) => Some(Harmless::SameClaims),
            (false, true) => Some(Harmless::WeakerClaims),
            (false, false) => None,
        }
    }
}

/// 8 f(N) = a P(N) + b P(N+1) + c N + d + e (-1)^N at [`LEVELS`].
fn values([a, b, c, d, e]: [i128; 5]) -> Values {
    let (mut pell, mut next) = (0, 1);
    let mut values = Vec::new();
    for level in 0..=*LEVELS.end() {
        if LEVELS.contains(&level) {
            let alternating = if level % 2 == 0 { e } else { -e };
            values.push(a * pell + b * next + c * i128::from(level) + d + alternating);
        }
        (pell, next) = (next, 2 * next + pell);
    }
    values
}
