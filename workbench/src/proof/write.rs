//! The text of the certificate.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use super::form::Form;
use super::grammar::Grammar;
use super::lower::{LowerBound, START};
use super::prices::FIRST;
use crate::choke::classes::{ClassId, Structure};
use crate::choke::graph::{Place, Reach};
use crate::choke::shape::Shape;
use crate::choke::signature::Signature;
use crate::choke::stack::{Stack, Stacks};

/// Prints as the whole certificate.
pub(super) struct Certificate<'a> {
    pub(super) structure: &'a Structure,
    pub(super) lower: &'a LowerBound,
    pub(super) grammar: &'a Grammar,
}

/// Forms and their numbers, given in order of first use.
#[derive(Default)]
struct Numbered {
    forms: Vec<Form>,
    numbers: FxHashMap<Form, usize>,
}

impl Numbered {
    /// The numbers of some forms, separated by blanks.
    fn of(&mut self, forms: &[Form]) -> String {
        let number = |form: &Form| {
            let number = *self.numbers.entry(*form).or_insert_with(|| {
                self.forms.push(*form);
                self.forms.len() - 1
            });
            number.to_string()
        };
        words(forms.iter().map(number))
    }
}

impl fmt::Display for Certificate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "strata-panex-proof 1")?;
        self.lower(f)?;
        self.upper(f)?;
        writeln!(f, "end")
    }
}

impl Certificate<'_> {
    fn lower(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut forms = Numbered::default();
        let classes = self.classes(&mut forms);
        let top = self.top(&mut forms);
        writeln!(f, "lower\nstart {START}\nweights {}", words(FIRST.iter()))?;
        writeln!(f, "weight {}", self.lower.price)?;
        forms.forms.iter().try_for_each(|form| writeln!(f, "form {form}"))?;
        write!(f, "{classes}{top}")
    }

    /// Every class and its mirror image, unless all its signatures are their own images.
    fn classes(&self, forms: &mut Numbered) -> String {
        let mut members: Vec<Vec<Signature>> = vec![Vec::new(); self.structure.classes.len()];
        for (signature, &class) in &self.structure.class_of {
            members[class].push(*signature);
        }
        let mut text = String::new();
        let mut written = FxHashSet::default();
        for mirrored in [false, true] {
            for (class, members) in members.iter_mut().enumerate() {
                members.sort_unstable();
                let lines = members.iter().map(|member| signature_line(member, mirrored));
                let new: Vec<_> = lines.filter(|line| written.insert(line.clone())).collect();
                if !new.is_empty() {
                    text += "class\n";
                    new.iter().for_each(|line| text += &format!("sig {line}\n"));
                    text += &self.class(class, &members[0], mirrored, forms);
                }
            }
        }
        text
    }

    fn class(
        &self,
        class: ClassId,
        member: &Signature,
        mirrored: bool,
        numbered: &mut Numbered,
    ) -> String {
        let mut text = String::new();
        let forms = &self.lower.classes[class];
        for (pattern, forms) in self.structure.classes[class].patterns.iter().zip(&forms.rows) {
            let place = place(pattern.end, pattern.slots, mirrored);
            text += &format!("row {place} {}\n", numbered.of(forms));
        }
        let graph = self.structure.graph(member, Reach::Segment);
        for (node, forms) in graph.iter().zip(&forms.nodes) {
            let Place { shape, stacks } = node.place;
            let place = place(shape, stacks, mirrored);
            text += &format!("node {place} {}\n", numbered.of(forms));
        }
        text
    }

    fn top(&self, numbered: &mut Numbered) -> String {
        let mut text = "top\n".to_owned();
        let graph = self.structure.graph(&Signature::EMPTY, Reach::Everything);
        for (node, forms) in graph.iter().zip(&self.lower.top) {
            let Place { shape, stacks } = node.place;
            text += &format!("node {} {}\n", place(shape, stacks, false), numbered.of(forms));
        }
        text
    }

    fn upper(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Grammar { segments, lengths, rules, top, start } = self.grammar;
        let mut forms = Numbered::default();
        let numbers: Vec<_> = lengths.iter().map(|length| forms.of(&[*length])).collect();
        writeln!(f, "upper\nstart {start}")?;
        forms.forms.iter().try_for_each(|form| writeln!(f, "form {form}"))?;
        for (segment, number) in segments.iter().zip(numbers) {
            let class = &self.structure.classes[self.structure.class_of[&segment.signature]];
            let pattern = class.patterns[segment.row];
            let start = signature_line(&segment.signature, segment.mirrored);
            let end = place(pattern.end, pattern.slots, segment.mirrored);
            writeln!(f, "segment {start} {end} {} {number}", segment.swaps)?;
        }
        for (segment, pair) in rules.iter().enumerate() {
            for (parity, rule) in pair.iter().enumerate() {
                writeln!(f, "rule {segment} {parity} {}", words(rule.iter()))?;
            }
        }
        for (parity, rule) in top.iter().enumerate() {
            writeln!(f, "top-rule {parity} {}", words(rule.iter()))?;
        }
        Ok(())
    }
}

fn words(items: impl Iterator<Item = impl ToString>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}

/// Shape, relative levels of A, B, C, and relative rows of the supports of L, C, R.
fn signature_line(signature: &Signature, mirrored: bool) -> String {
    let Signature { shape, lower, mut support } = *signature;
    if mirrored {
        support.reverse();
    }
    let numbers = words(lower.iter().chain(&support));
    format!("{} {numbers}", shape_number(shape, mirrored))
}

/// Shape and columns.
fn place(shape: Shape, mut stacks: Stacks, mirrored: bool) -> String {
    if mirrored {
        stacks.reverse();
    }
    format!("{} {}", shape_number(shape, mirrored), words(stacks.iter().map(column)))
}

fn shape_number(shape: Shape, mirrored: bool) -> u8 {
    (if mirrored { shape.mirror() } else { shape }) as u8
}

/// The tiles of a column bottom up as letters; both tiles of level N + 1 are `X`.
fn column(stack: &Stack) -> String {
    let letter = |tile: u8| ['A', 'B', 'C', 'X', 'X'][usize::from(tile)];
    let letters: String = stack.bottom_up().map(letter).collect();
    if letters.is_empty() { "-".to_owned() } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_and_places_are_written_with_their_mirror_images() {
        let signature = Signature { shape: Shape::Right, lower: [1, 2, 0], support: [4, 5, 6] };
        assert_eq!(signature_line(&signature, false), "1 1 2 0 4 5 6");
        assert_eq!(signature_line(&signature, true), "3 1 2 0 6 5 4");
        let stack = |tiles: &[u8]| tiles.iter().copied().collect::<Stack>();
        let stacks = [stack(&[0, 3]), stack(&[2, 1, 4]), stack(&[])];
        assert_eq!(place(Shape::RightTipped, stacks, false), "2 AX CBX -");
        assert_eq!(place(Shape::RightTipped, stacks, true), "4 - CBX AX");
    }
}
