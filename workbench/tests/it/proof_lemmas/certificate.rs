//! The lower part of the certificate, as far as these checks need it.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// `8 f(N) = a P(N) + b P(N+1) + c N + d + e (-1)^N`, P being the Pell numbers.
type Form = [i64; 5];

#[derive(Default)]
pub(crate) struct Certificate {
    forms: Vec<Form>,
    /// The prices c_1, c_2, c_3.
    first_prices: Vec<i64>,
    /// The form of c_i from i = 4 on.
    price: Form,
    /// By signature.
    class: FxHashMap<String, usize>,
    /// By class, then by end: the numbers of the forms for bit N = 0 and 1.
    rows: Vec<FxHashMap<String, Vec<usize>>>,
    /// By node of the top graph: the numbers of the forms for the bits (N+1, N) = 00, 01, 10, 11.
    top: FxHashMap<String, Vec<usize>>,
}

impl Certificate {
    /// The certificate that the crate makes.
    pub(crate) fn made_here() -> &'static Self {
        static MADE: LazyLock<Certificate> =
            LazyLock::new(|| Certificate::parse(&strata_panex::proof::certificate().unwrap()));
        &MADE
    }

    fn parse(text: &str) -> Self {
        let mut found = Self::default();
        let mut in_top = false;
        for line in text.lines().take_while(|line| *line != "upper") {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "weights" => found.first_prices = numbers(rest),
                "weight" => found.price = numbers(rest).try_into().unwrap(),
                "form" => found.forms.push(numbers(rest).try_into().unwrap()),
                "class" => found.rows.push(FxHashMap::default()),
                "sig" => {
                    found.class.insert(rest.to_owned(), found.rows.len() - 1);
                }
                "row" => {
                    let (end, forms) = split(rest);
                    found.rows.last_mut().unwrap().insert(end, forms);
                }
                "top" => in_top = true,
                "node" if in_top => {
                    let (node, forms) = split(rest);
                    found.top.insert(node, forms);
                }
                _ => {}
            }
        }
        found
    }

    /// Price of bit i; i >= 1.
    pub(crate) fn price(&self, i: u8) -> i64 {
        match self.first_prices.get(usize::from(i) - 1) {
            Some(price) => *price,
            None => value(&self.price, i),
        }
    }

    pub(crate) fn lists(&self, signature: &str) -> bool {
        self.class.contains_key(signature)
    }

    /// Bound of the priced length of a segment of level N whose order of level N changes (1) or
    /// not (0); `None` if the end is not listed. The forms hold from N = 4 on.
    pub(crate) fn row(&self, signature: &str, end: &str, bit: usize, small: u8) -> Option<i64> {
        let forms = self.rows[*self.class.get(signature)?].get(end)?;
        Some(value(&self.forms[forms[bit]], small))
    }

    /// All ends of a signature's segments of level N, with the bounds for both bits.
    pub(crate) fn rows(
        &self,
        signature: &str,
        small: u8,
    ) -> impl Iterator<Item = (&str, [i64; 2])> {
        let rows = &self.rows[self.class[signature]];
        rows.iter().map(move |(end, forms)| {
            (end.as_str(), [0, 1].map(|bit| value(&self.forms[forms[bit]], small)))
        })
    }

    /// Bound of the priced length of a path from the start of the puzzle of n levels to a node.
    pub(crate) fn top(&self, node: &str, bits: usize, n: u8) -> i64 {
        value(&self.forms[self.top[node][bits]], n)
    }
}

fn numbers(text: &str) -> Vec<i64> {
    text.split(' ').map(|word| word.parse().unwrap()).collect()
}

/// The shape and three columns, and the numbers after them.
fn split(text: &str) -> (String, Vec<usize>) {
    let words: Vec<&str> = text.split(' ').collect();
    (words[..4].join(" "), words[4..].iter().map(|word| word.parse().unwrap()).collect())
}

fn value(form: &Form, n: u8) -> i64 {
    let (mut p, mut q) = (0, 1);
    for _ in 0..n {
        (p, q) = (q, 2 * q + p);
    }
    let [a, b, c, d, e] = form;
    let sign = if n.is_multiple_of(2) { 1 } else { -1 };
    let eight = a * p + b * q + c * i64::from(n) + d + e * sign;
    assert_eq!(eight % 8, 0, "{form:?} at {n}");
    eight / 8
}
