//! The certificate as data, and its parser.
//!
//! The parser accepts no comments, no second spelling of a number, and no value outside its range.

use std::collections::{HashMap, HashSet};
use std::fmt::{Debug, Display};
use std::ops::{RangeBounds, RangeInclusive};
use std::str::FromStr;

use crate::failure::{Failure, Result, fails};
use crate::puzzle::{CAPS, Columns, Place, Signature};
use crate::sequence::Form;

/// Range of coefficients.
const COEFFICIENTS: RangeInclusive<i128> = -(1 << 32)..=1 << 32;

/// Signatures and rows: what graphs are derived from.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Outline {
    /// Signatures with their classes, and the index of each.
    pub(crate) signatures: Vec<(Signature, usize)>,
    pub(crate) index: HashMap<Signature, usize>,
    /// Rows of each class.
    pub(crate) rows: Vec<Vec<Place>>,
}

impl Outline {
    /// The number of a row of the signature with an index.
    pub(crate) fn find(&self, at: usize, end: &Place, check: &str) -> Result<usize> {
        let (signature, class) = self.signatures[at];
        let row = self.rows[class].iter().position(|row| row == end);
        row.ok_or_else(|| fails(check, format_args!("{signature}, row {end}")))
    }
}

/// Potentials of nodes, by the bits of levels N+1 and N (the bit of N is the lower one).
pub(crate) type Potentials = HashMap<Place, [Form; 4]>;

/// A segment of the grammar, and a form above its length. The pattern tells which colours it
/// exchanges: 4 for level N, 2 for level N-1, 1 for all lower levels.
pub(crate) struct Segment {
    pub(crate) signature: Signature,
    pub(crate) end: Place,
    pub(crate) pattern: usize,
    pub(crate) form: Form,
}

/// A certificate: potentials for the lower bound, a grammar for the upper bound.
#[derive(Default)]
pub struct Certificate {
    /// c_1, c_2, c_3, and c_i for i >= 4.
    pub(crate) early_prices: [i64; 3],
    pub(crate) price: Form,
    pub(crate) outline: Outline,
    /// Forms below the rows of each class, by the bit of level N, and the class's potentials.
    pub(crate) classes: Vec<(Vec<[Form; 2]>, Potentials)>,
    pub(crate) top: Potentials,
    pub(crate) segments: Vec<Segment>,
    /// Rules: the segment of level N+1 (the number of segments stands for the whole puzzle), N+1
    /// modulo 2, and the chain of segments of level N.
    pub(crate) rules: Vec<(usize, u32, Vec<usize>)>,
    /// Number of forms in each part.
    pub(crate) forms: [usize; 2],
}

impl Certificate {
    /// Reads a certificate. Fails at the first line that does not have the format.
    pub fn parse(text: &str) -> Result<Certificate> {
        let text = format!("\n{text}");
        let (mut words, mut read) = (Words { rest: &text, line: 0 }, Certificate::default());
        for line in ["strata-panex-proof 1", "lower", "start 4", "weights"] {
            words.expect(line)?;
        }
        read.early_prices = words.numbers(0..=1 << 32)?;
        words.expect("weight")?;
        read.price = Form(words.numbers(COEFFICIENTS)?);
        let forms = words.list("form", |words| words.numbers(COEFFICIENTS).map(Form))?;
        while words.begin("class") {
            let class = read.outline.rows.len();
            words.list("sig", |words| {
                let (signature, at) = (words.signature()?, read.outline.signatures.len());
                let is_new = read.outline.index.insert(signature, at).is_none() && at < 4_096;
                words.ensure(is_new, "a signature once, and at most 4,096")?;
                read.outline.signatures.push((signature, class));
                Ok(())
            })?;
            let rows = words.places("row", &forms)?;
            words.ensure(rows.len() <= 512, "at most 512 rows in a class")?;
            let (ends, row_forms) = rows.into_iter().unzip();
            read.outline.rows.push(ends);
            let nodes = words.places("node", &forms)?;
            read.classes.push((row_forms, nodes.into_iter().collect()));
        }
        words.expect("top")?;
        read.top = words.places("node", &forms)?.into_iter().collect();
        words.expect("upper")?;
        words.expect("start 6")?;
        read.forms[0] = forms.len();
        let forms = words.list("form", |words| words.numbers(COEFFICIENTS).map(Form))?;
        read.forms[1] = forms.len();
        read.segments = words.list("segment", |words| {
            let (signature, end) = (words.signature()?, words.place()?);
            let ([pattern], [form]) = (words.numbers(0..8)?, words.chosen(&forms)?);
            Ok(Segment { signature, end, pattern, form })
        })?;
        let count = read.segments.len();
        let rule = |words: &mut Words, is_top: bool| {
            let [segment] = if is_top { [count] } else { words.numbers(0..count)? };
            let ([parity], mut children) = (words.numbers(0..2)?, Vec::new());
            while words.rest.starts_with(' ') {
                words.ensure(children.len() < 16, "at most 16 children")?;
                children.extend(words.numbers::<_, 1>(0..count)?);
            }
            Ok((segment, parity, children))
        };
        read.rules = words.list("rule", |words| rule(words, false))?;
        read.rules.extend(words.list("top-rule", |words| rule(words, true))?);
        words.expect("end")?;
        words.ensure(words.rest == "\n", "nothing after `end`")?;
        Ok(read)
    }
}

/// The words of a text that are not read yet, each with its separator in front.
struct Words<'a> {
    rest: &'a str,
    /// Number of lines that have begun.
    line: usize,
}

impl<'a> Words<'a> {
    /// Begins the next line, if it starts with `keyword` and this one has no more words.
    fn begin(&mut self, keyword: &str) -> bool {
        let rest = self.rest.strip_prefix('\n').and_then(|rest| rest.strip_prefix(keyword));
        let Some(rest) = rest.filter(|rest| rest.starts_with([' ', '\n'])) else { return false };
        (self.rest, self.line) = (rest, self.line + 1);
        true
    }

    fn expect(&mut self, keyword: &str) -> Result<()> {
        let has_begun = self.begin(keyword);
        self.line += usize::from(!has_begun && self.rest.starts_with('\n'));
        self.ensure(has_begun, keyword)
    }

    fn ensure(&self, holds: bool, expected: impl Display) -> Result<()> {
        let failure = || Failure(format!("line {}: expected {expected}", self.line));
        holds.then_some(()).ok_or_else(failure)
    }

    fn list<T>(&mut self, key: &str, mut f: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        std::iter::from_fn(|| self.begin(key).then(|| f(self))).collect()
    }

    /// The next word of the line; empty if there is none.
    fn word(&mut self) -> &'a str {
        let Some(rest) = self.rest.strip_prefix(' ') else { return "" };
        let (word, rest) = rest.split_at(rest.find([' ', '\n']).unwrap_or(rest.len()));
        self.rest = rest;
        word
    }

    /// Numbers in a range, without sign `+` and without leading zeros.
    fn numbers<T: FromStr + ToString + PartialOrd + Default + Copy, const COUNT: usize>(
        &mut self,
        range: impl RangeBounds<T> + Debug,
    ) -> Result<[T; COUNT]> {
        let mut numbers = [T::default(); COUNT];
        for number in &mut numbers {
            let word = self.word();
            let read = word.parse().ok().filter(|n: &T| n.to_string() == word && range.contains(n));
            self.ensure(read.is_some(), format_args!("a number in {range:?}"))?;
            *number = read.unwrap_or_default();
        }
        Ok(numbers)
    }

    /// Forms by their numbers.
    fn chosen<const COUNT: usize>(&mut self, forms: &[Form]) -> Result<[Form; COUNT]> {
        Ok(self.numbers(0..forms.len())?.map(|number: usize| forms[number]))
    }

    fn signature(&mut self) -> Result<Signature> {
        let ([shape], [a, b, c]) = (self.numbers(0..5)?, self.numbers(0..=CAPS[0])?);
        let is_sound = (shape > 0 || a == 0) && (b > 0 || c == 0);
        self.ensure(is_sound, "A only in a free side column, C only with B")?;
        Ok(Signature { shape, e: [a, b, c], g: self.numbers(1..=CAPS[1])? })
    }

    fn place(&mut self) -> Result<Place> {
        let ([shape], mut columns) = (self.numbers(0..5)?, Columns::default());
        for column in &mut columns {
            let word = self.word();
            let is_tiles = !word.is_empty() && word.chars().all(|tile| "ABCX".contains(tile));
            self.ensure(is_tiles || word == "-", "a column of A, B, C, X or `-`")?;
            *column = word.trim_matches('-').to_owned();
        }
        Ok(Place(shape, columns))
    }

    /// Rows or nodes with forms.
    fn places<const COUNT: usize>(
        &mut self,
        word: &str,
        forms: &[Form],
    ) -> Result<Vec<(Place, [Form; COUNT])>> {
        let mut found = HashSet::new();
        self.list(word, |words| {
            let place = words.place()?;
            words.ensure(found.insert(place.clone()), "each row and each node of a class once")?;
            Ok((place, words.chosen(forms)?))
        })
    }
}
