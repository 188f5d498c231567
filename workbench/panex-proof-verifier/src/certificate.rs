//! The certificate as data, and its parser (section 11 of the document).

use std::collections::{HashMap, HashSet};

use crate::puzzle::{CAPS, Place, Signature};
use crate::report::{Failure, Result};
use crate::sequence::Form;

/// Largest price or coefficient.
const LARGE: i64 = 1 << 32;
const NODE: &str = "node h L C R p_00 p_01 p_10 p_11";
/// Rows or nodes with forms by order bits. The lowest bit is that of level N.
type Claims<const N: usize> = Vec<(Place, [Form; N])>;

/// A segment type of the grammar.
pub(crate) struct Segment {
    /// Index of the signature.
    pub(crate) signature: usize,
    pub(crate) row: usize,
    /// Order bits of level N, of level N-1 and, twice, of all levels below.
    pub(crate) order: usize,
    pub(crate) form: Form,
}

/// A certificate: potentials for the lower bound, a grammar for the upper bound.
#[derive(Default)]
pub struct Certificate {
    /// c_1, c_2, c_3, and c_i for i >= 4.
    pub(crate) early_prices: [i64; 3],
    pub(crate) price: Form,
    /// Listed signatures with their classes, then that of the whole puzzle with one of its own.
    pub(crate) signatures: Vec<(Signature, usize)>,
    /// Index of each listed signature.
    pub(crate) index: HashMap<Signature, usize>,
    /// Rows, their forms, and potentials of nodes, by class. The whole puzzle has no rows.
    pub(crate) rows: Vec<Vec<Place>>,
    pub(crate) claims: Vec<Vec<[Form; 2]>>,
    pub(crate) potentials: Vec<HashMap<Place, [Form; 4]>>,
    pub(crate) segments: Vec<Segment>,
    /// Index of the segment (the number of segments stands for the whole puzzle), parity of N+1,
    /// and children.
    pub(crate) rules: Vec<(usize, usize, Vec<usize>)>,
    /// Number of forms in each part.
    pub(crate) forms: [usize; 2],
}

impl Certificate {
    /// Reads a certificate. The error names the first line that does not have the format.
    pub fn parse(text: &str) -> Result<Certificate> {
        let mut lines = Lines { rest: text, number: 1 };
        let mut read = Certificate::default();
        for line in ["strata-panex-proof 1", "lower", "start 4"] {
            lines.fixed(line)?;
        }
        read.early_prices = lines.one("weights c_1 c_2 c_3", |words| numbers(words, 0, LARGE))?;
        read.price = lines.one("weight a b c d e", form)?;
        let forms = lines.list("form a b c d e", form)?;
        while lines.next("class", |words| words.is_empty().then_some(())).transpose()?.is_some() {
            lines.list("sig h e_A e_B e_C g_L g_C g_R", |words| {
                let (signature, at) = (signature(words)?, read.signatures.len());
                read.signatures.push((signature, read.rows.len()));
                (read.index.insert(signature, at).is_none() && at < 4_096).then_some(())
            })?;
            let (rows, claims) = lines.places("row h L C R f_0 f_1", &forms)?.into_iter().unzip();
            read.rows.push(rows);
            read.claims.push(claims);
            read.potentials.push(lines.places(NODE, &forms)?.into_iter().collect());
        }
        lines.fixed("top")?;
        read.signatures.push((Signature { shape: 0, e: [0; 3], g: [1; 3] }, read.rows.len()));
        read.rows.push(Vec::new());
        read.potentials.push(lines.places(NODE, &forms)?.into_iter().collect());
        lines.fixed("upper")?;
        lines.fixed("start 6")?;
        let upper_forms = lines.list("form a b c d e", form)?;
        read.forms = [forms.len(), upper_forms.len()];
        read.segments = lines.list("segment h e_A e_B e_C g_L g_C g_R h' L C R z f", |words| {
            let (signature, end) = (signature(words.get(..7)?)?, place(words.get(7..11)?)?);
            let signature = *read.index.get(&signature)?;
            let rows = &read.rows[read.signatures[signature].1];
            let row = rows.iter().position(|row| *row == end)?;
            let (pattern, [form]) =
                (index(words.get(11)?, 8)?, chosen(&words[12..], &upper_forms)?);
            Some(Segment { signature, row, order: 2 * pattern + pattern % 2, form })
        })?;
        let count = read.segments.len();
        let rule = |segment: usize, words: &[&str]| {
            let (parity, children) = words.split_first().filter(|_| words.len() <= 17)?;
            let children = children.iter().map(|word| index(word, count)).collect::<Option<_>>()?;
            Some((segment, index(parity, 2)?, children))
        };
        let listed_rule = |words: &[&str]| rule(index(words.first()?, count)?, &words[1..]);
        read.rules = lines.list("rule t p t_1 t_2 ...", listed_rule)?;
        read.rules.extend(lines.list("top-rule p t_1 t_2 ...", |words| rule(count, words))?);
        lines.fixed("end")?;
        if lines.rest.is_empty() { Ok(read) } else { Err(lines.expected("nothing")) }
    }
}

/// The lines of a text that have not been read, and the number of the first one.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
}

impl Lines<'_> {
    fn expected(&self, format: &str) -> Failure {
        format!("line {}: expected {format} (section 11 of docs/panex-proof.md)", self.number)
    }

    /// Reads a line if it begins with the first word of `format`. `f` receives the other words.
    fn next<T>(&mut self, format: &str, f: impl FnOnce(&[&str]) -> Option<T>) -> Option<Result<T>> {
        let has_keyword = |line: &str| line.split(' ').next() == format.split(' ').next();
        let (line, rest) = self.rest.split_once('\n').filter(|(line, _)| has_keyword(line))?;
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let value = f(&words).ok_or_else(|| self.expected(format));
        (self.rest, self.number) = (rest, self.number + 1);
        Some(value)
    }

    fn one<T>(&mut self, format: &str, f: impl FnOnce(&[&str]) -> Option<T>) -> Result<T> {
        self.next(format, f).unwrap_or_else(|| Err(self.expected(format)))
    }

    fn fixed(&mut self, line: &str) -> Result<()> {
        self.one(line, |words| line.split(' ').skip(1).eq(words.iter().copied()).then_some(()))
    }

    fn list<T>(&mut self, format: &str, mut f: impl FnMut(&[&str]) -> Option<T>) -> Result<Vec<T>> {
        std::iter::from_fn(|| self.next(format, &mut f)).collect()
    }

    /// Rows or nodes of a class, each once, and at most 512.
    fn places<const N: usize>(&mut self, format: &str, forms: &[Form]) -> Result<Claims<N>> {
        let mut found = HashSet::new();
        self.list(format, |words| {
            let (place, forms) = (place(words.get(..4)?)?, chosen(&words[4..], forms)?);
            (found.insert(place.clone()) && found.len() <= 512).then_some((place, forms))
        })
    }
}

/// Parses numbers in a range, without sign `+` and without leading zeros.
fn numbers<const N: usize>(words: &[&str], least: i64, most: i64) -> Option<[i64; N]> {
    let is_sound = |&n: &i64, word: &str| least <= n && n <= most && n.to_string() == word;
    let number = |word: &&str| word.parse().ok().filter(|number| is_sound(number, word));
    words.iter().map(number).collect::<Option<Vec<i64>>>()?.try_into().ok()
}

/// Parses a number below `count`.
fn index(word: &str, count: usize) -> Option<usize> {
    numbers(&[word], 0, count as i64 - 1).map(|[number]| number as usize)
}

fn form(words: &[&str]) -> Option<Form> {
    numbers(words, -LARGE, LARGE).map(|numbers| Form(numbers.map(i128::from)))
}

/// Parses numbers of forms, and returns the forms.
fn chosen<const N: usize>(words: &[&str], forms: &[Form]) -> Option<[Form; N]> {
    numbers(words, 0, forms.len() as i64 - 1).map(|all| all.map(|at| forms[at as usize]))
}

fn signature(words: &[&str]) -> Option<Signature> {
    let (shape, e) = (index(words.first()?, 5)?, numbers(words.get(1..4)?, 0, CAPS[0])?);
    let is_sound = (shape > 0 || e[0] == 0) && (e[1] > 0 || e[2] == 0);
    is_sound.then_some(Signature { shape, e, g: numbers(&words[4..], 1, CAPS[1])? })
}

fn place(words: &[&str]) -> Option<Place> {
    let [shape, columns @ ..]: [&str; 4] = words.try_into().ok()?;
    let is_tiles = |word: &str| !word.is_empty() && word.chars().all(|tile| "ABCX".contains(tile));
    let is_sound = columns.iter().all(|word| *word == "-" || is_tiles(word));
    is_sound.then_some((index(shape, 5)?, columns.map(|word| word.trim_matches('-').to_owned())))
}
