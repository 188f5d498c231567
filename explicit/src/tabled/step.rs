//! A step: what a region's inputs become, and how it lies in memory beside the question it answers.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use strata_space::{Local, Weight};
use strata_store::List;

/// Some of a step's exits.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Leave {
    pub(super) gate: u32,
    pub(super) count: u32,
}

/// What a step makes of its inputs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Step<'a> {
    /// The new states.
    pub(super) next: List<'a>,
    /// Their moves.
    pub(super) generated: u32,
    /// The sums of their weights within the region, by side and image.
    pub(super) sums: [[Weight; 2]; 2],
    /// How many of them leave by which gate.
    pub(super) leaves: &'a [Leave],
    /// Those, one gate's after the other's.
    pub(super) leaving: &'a [Local],
}

/// How a step lies in memory: followed by the question and the answer.
#[repr(C)]
#[derive(Copy, Clone, bytemuck::Pod, bytemuck::Zeroable)]
struct Head {
    /// The sums of the side that all states have, by image; the others are zero.
    sums: [[u64; 2]; 2],
    /// Bytes of the question.
    question: u32,
    leaves: u32,
    leaving: u32,
    gaps: u32,
    lows: u32,
    highs: u32,
    generated: u32,
    /// The side.
    side: u32,
}

const HEAD_WORDS: usize = size_of::<Head>() / size_of::<u64>();

/// The hash by which questions are looked up.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Appends a question about states of one side and the step that answers it.
pub(super) fn put(question: &[u8], step: &Step<'_>, words: &mut Vec<u64>) {
    let List { bit, gaps, lows, highs } = step.next;
    let side = bit.unwrap_or(0);
    debug_assert_eq!(step.sums[side as usize ^ 1], [Weight::ZERO; 2], "states of one side");
    let head = Head {
        sums: step.sums[side as usize].map(|weight| weight.0),
        question: question.len() as u32,
        leaves: step.leaves.len() as u32,
        leaving: step.leaving.len() as u32,
        gaps: gaps.len() as u32,
        lows: lows.len() as u32,
        highs: highs.len() as u32,
        generated: step.generated,
        side,
    };
    words.extend_from_slice(bytemuck::cast_slice(&[head]));
    let parts: [&[u8]; 6] = [
        question,
        bytemuck::cast_slice(step.leaves),
        bytemuck::cast_slice(step.leaving),
        gaps,
        lows,
        highs,
    ];
    for part in parts {
        let (whole, rest) = part.as_chunks();
        words.extend(whole.iter().map(|word| u64::from_ne_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            words.push(u64::from_ne_bytes(word));
        }
    }
}

/// The head of the step at the beginning of some words.
#[inline]
fn head_of(words: &[u64]) -> &Head {
    bytemuck::from_bytes(bytemuck::cast_slice(&words[..HEAD_WORDS]))
}

/// Its question.
#[inline]
pub(super) fn question_of(words: &[u64]) -> &[u8] {
    let len = head_of(words).question as usize;
    &bytemuck::cast_slice(&words[HEAD_WORDS..])[..len]
}

/// All words of it.
pub(super) fn whole(words: &[u64]) -> &[u64] {
    let head = head_of(words);
    let bytes =
        [head.question, 8 * head.leaves, 4 * head.leaving, head.gaps, head.lows, head.highs];
    &words[..HEAD_WORDS + bytes.iter().map(|bytes| bytes.div_ceil(8) as usize).sum::<usize>()]
}

/// The step itself.
#[inline]
pub(super) fn read(words: &[u64]) -> Step<'_> {
    let head = head_of(words);
    let mut rest = &words[HEAD_WORDS + head.question.div_ceil(8) as usize..];
    let mut part = |bytes: u32| {
        let (part, after) = rest.split_at(bytes.div_ceil(8) as usize);
        rest = after;
        &bytemuck::cast_slice::<u64, u8>(part)[..bytes as usize]
    };
    let mut sums = [[Weight::ZERO; 2]; 2];
    sums[head.side as usize & 1] = head.sums.map(Weight);
    let leaves = bytemuck::cast_slice(part(8 * head.leaves));
    let leaving = bytemuck::cast_slice(part(4 * head.leaving));
    let (gaps, lows, highs) = (part(head.gaps), part(head.lows), part(head.highs));
    let bit = (!gaps.is_empty()).then_some(head.side);
    Step { next: List { bit, gaps, lows, highs }, generated: head.generated, sums, leaves, leaving }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use strata_store::ListBuf;

    /// The answer to a question, made of nothing but the question.
    pub(crate) struct Answer {
        list: ListBuf,
        leaves: Vec<Leave>,
        leaving: Vec<Local>,
        seed: u32,
    }

    impl Answer {
        pub(crate) fn to(question: &[u8]) -> Answer {
            let seed =
                question.iter().fold(7, |seed: u32, byte| seed * 31 % 65_521 + u32::from(*byte));
            let mut list = ListBuf::default();
            let states: Vec<u32> =
                (0..seed % 40).map(|i| 2 * i * (seed % 900 + 2) + (seed & 1)).collect();
            list.encode(&states);
            let leaves = (0..seed % 3).map(|gate| Leave { gate, count: 1 }).collect();
            let leaving = states.into_iter().take(seed as usize % 3).collect();
            Answer { list, leaves, leaving, seed }
        }

        pub(crate) fn step(&self) -> Step<'_> {
            let weight = Weight([u64::from(self.seed), 3]);
            let mut sums = [[Weight::ZERO; 2]; 2];
            if let Some(side) = self.list.list().bit {
                sums[side as usize] = [weight, Weight::ONE];
            }
            Step {
                next: self.list.list(),
                generated: self.seed,
                sums,
                leaves: &self.leaves,
                leaving: &self.leaving,
            }
        }
    }

    proptest! {
        #[test]
        fn steps_come_back(
            questions in proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..40), 1..20,
            ),
        ) {
            let mut words = Vec::new();
            for question in &questions {
                put(question, &Answer::to(question).step(), &mut words);
            }
            let mut rest = &words[..];
            for question in &questions {
                prop_assert_eq!(question_of(rest), &question[..]);
                let answer = Answer::to(question);
                prop_assert_eq!(read(rest), answer.step());
                rest = &rest[whole(rest).len()..];
            }
            prop_assert!(rest.is_empty());
        }
    }
}
