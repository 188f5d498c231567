//! A bounded memory of steps. What a region's step makes of its inputs depends on the region's
//! class alone, and regions of one class often have the same states at different times and
//! places: of Panex's, nine of ten.
//!
//! Steps lie behind each other in two shelves. A full one becomes the old one, whose steps are
//! copied to the young one when they are met again and forgotten with it otherwise.

use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::FxHasher;
use strata_space::{Local, Weight};
use strata_store::List;

use super::news::{Board, Member};

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

/// How a step lies on a shelf: followed by the question and the answer.
#[repr(C)]
#[derive(Copy, Clone, bytemuck::Pod, bytemuck::Zeroable)]
struct Head {
    sums: [[[u64; 2]; 2]; 2],
    /// Bytes of the question.
    question: u32,
    leaves: u32,
    leaving: u32,
    gaps: u32,
    lows: u32,
    highs: u32,
    generated: u32,
    /// The list's common bit, or `MIXED`.
    bit: u32,
}

const HEAD_WORDS: usize = size_of::<Head>() / size_of::<u64>();
const MIXED: u32 = 2;

/// Where a step is.
#[derive(Copy, Clone, Debug)]
pub(super) struct Place(usize);

/// How many questions it takes to tell whether asking is worth it.
const WINDOW: u32 = 1 << 12;

/// How many regions pass before it is tried again if it is not.
const PAUSE: u32 = 1 << 15;

/// See the module.
pub(super) struct Memo {
    young: Shelf,
    old: Shelf,
    /// Room for a step on its way between the shelves.
    moving: Vec<u64>,
    asked: u32,
    known: u32,
    pause: u32,
    /// The young shelf's words from there on are not told yet.
    untold: usize,
    /// None if nothing is remembered.
    member: Option<Member>,
}

impl Memo {
    /// A memory of about `bytes` at most, of one of the kernels of a board.
    pub(super) fn new(bytes: usize, board: Arc<Board>) -> Memo {
        // What others tell waits in a part of it.
        let news = bytes / 16;
        let shelf = (bytes - news) / 2;
        Memo {
            young: Shelf::new(shelf),
            old: Shelf::new(shelf),
            moving: Vec::new(),
            asked: 0,
            known: 0,
            pause: 0,
            untold: FIRST,
            member: (bytes > 0).then(|| Member::join(board, news / size_of::<u64>())),
        }
    }

    /// Whether a question should be asked: not where most were in vain.
    #[inline]
    pub(super) fn is_worth_it(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        if self.asked >= WINDOW {
            self.pause = if self.known < self.asked / 4 { PAUSE } else { 0 };
            (self.asked, self.known) = (0, 0);
        }
        true
    }

    /// Asks for the memory that [`Self::find`] is going to read first.
    #[inline]
    pub(super) fn touch(&self, hash: u64) {
        self.young.touch(hash);
        self.old.touch(hash);
    }

    /// Asks for the memory that [`Self::find`] is going to read next, and [`Self::step`].
    #[inline]
    pub(super) fn touch_step(&self, hash: u64) {
        self.young.touch_step(hash);
    }

    /// Where the answer to a question is, if it is known.
    #[inline]
    pub(super) fn find(&mut self, hash: u64, question: &[u8]) -> Option<Place> {
        self.asked += 1;
        let found = self.young.find(hash, question);
        let found = found.or_else(|| self.recover(hash, question));
        self.known += u32::from(found.is_some());
        found.map(Place)
    }

    /// The step at a place that [`Self::find`] has just told.
    #[inline]
    pub(super) fn step(&self, place: Place) -> Step<'_> {
        self.young.step(place.0)
    }

    /// Takes down the answer to a question that is not known.
    pub(super) fn learn(&mut self, hash: u64, question: &[u8], step: &Step<'_>) {
        let mut words = std::mem::take(&mut self.moving);
        entry(question, step, &mut words);
        self.keep(hash, &words);
        self.moving = words;
    }

    /// Takes a step from the old shelf to the young one.
    fn recover(&mut self, hash: u64, question: &[u8]) -> Option<usize> {
        let at = self.old.find(hash, question)?;
        let mut words = std::mem::take(&mut self.moving);
        words.clear();
        words.extend_from_slice(self.old.entry(at));
        let kept = self.keep(hash, &words);
        self.moving = words;
        kept
    }

    /// Tells the other kernels what is new here, and learns what is new there.
    pub(super) fn share(&mut self) {
        let Some(member) = self.member.take() else { return };
        member.tell(&self.young.words[self.untold..]);
        for steps in member.hear() {
            let mut rest = &steps[..];
            while !rest.is_empty() {
                let (step, others) = rest.split_at(words_of(rest));
                rest = others;
                let question = question_of(step);
                let hash = hash(question);
                if self.young.find(hash, question).is_none() {
                    self.keep(hash, step);
                }
            }
        }
        self.untold = self.young.words.len();
        self.member = Some(member);
    }

    fn keep(&mut self, hash: u64, words: &[u64]) -> Option<usize> {
        if !self.young.has_room(words.len()) {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
            self.untold = FIRST;
            if !self.young.has_room(words.len()) {
                return None;
            }
        }
        Some(self.young.push(hash, words))
    }
}

/// The hash by which questions are looked up.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// A step as it lies on a shelf.
fn entry(question: &[u8], step: &Step<'_>, words: &mut Vec<u64>) {
    let List { bit, gaps, lows, highs } = step.next;
    let head = Head {
        sums: step.sums.map(|images| images.map(|weight| weight.0)),
        question: question.len() as u32,
        leaves: step.leaves.len() as u32,
        leaving: step.leaving.len() as u32,
        gaps: gaps.len() as u32,
        lows: lows.len() as u32,
        highs: highs.len() as u32,
        generated: step.generated,
        bit: bit.unwrap_or(MIXED),
    };
    words.clear();
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
        words.extend(part.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        }));
    }
}

/// The head of the step at the beginning of some words.
#[inline]
fn head_of(words: &[u64]) -> &Head {
    bytemuck::from_bytes(bytemuck::cast_slice(&words[..HEAD_WORDS]))
}

/// Its question.
#[inline]
fn question_of(words: &[u64]) -> &[u8] {
    let len = head_of(words).question as usize;
    &bytemuck::cast_slice(&words[HEAD_WORDS..])[..len]
}

/// How many words it has.
fn words_of(words: &[u64]) -> usize {
    let head = head_of(words);
    let bytes =
        [head.question, 8 * head.leaves, 4 * head.leaving, head.gaps, head.lows, head.highs];
    HEAD_WORDS + bytes.iter().map(|bytes| bytes.div_ceil(8) as usize).sum::<usize>()
}

/// Where the table of a shelf points.
#[derive(Copy, Clone, Default)]
struct Slot {
    /// Half of the hash.
    tag: u32,
    /// Words before the step, or 0 if there is none: the first word of a shelf is not used.
    at: u32,
}

/// The most bytes of a shelf: the system may refuse to promise more, and places are numbers of words
/// in 32 bits.
const MOST_BYTES: usize = 4 << 30;

/// Where a shelf's first step is.
const FIRST: usize = 1;

/// Words of a step for which a shelf has a slot, at least: few are as small.
const SMALL: usize = 32;

/// Words of a line of the processor's cache, and the lines of a step that are worth asking for.
const LINE: usize = 8;
const LINES: usize = 7;

struct Shelf {
    words: Vec<u64>,
    most_words: usize,
    /// Where a step with some hash is: in the first of the slots from there on that are not taken
    /// by others. A power of two.
    slots: Vec<Slot>,
    used: usize,
}

impl Shelf {
    /// A shelf of about so many bytes, or of what the system grants.
    fn new(bytes: usize) -> Shelf {
        let mut bytes = bytes.min(MOST_BYTES);
        // A quarter of the bytes are slots, at most.
        let slots = |bytes: usize| -> usize {
            let slots = (bytes / 4 / size_of::<Slot>()).min(bytes / 8 / SMALL * 2);
            1 << slots.max(16).ilog2()
        };
        let most = |bytes: usize| (bytes - bytes.min(slots(bytes) * size_of::<Slot>())) / 8;
        // Memory that is not used yet is not there yet.
        let mut words = Vec::new();
        while words.try_reserve_exact(most(bytes).max(FIRST)).is_err() {
            bytes /= 2;
        }
        words.resize(FIRST, 0);
        let slots = vec![Slot::default(); slots(bytes)];
        Shelf { words, most_words: most(bytes), slots, used: 0 }
    }

    fn clear(&mut self) {
        self.words.truncate(FIRST);
        self.slots.fill(Slot::default());
        self.used = 0;
    }

    fn has_room(&self, words: usize) -> bool {
        self.words.len() + words <= self.most_words && self.used < self.slots.len() / 4 * 3
    }

    /// Where the search for a hash begins.
    #[inline]
    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn touch(&self, hash: u64) {
        std::hint::black_box(self.slots[self.first(hash)].at);
    }

    #[inline]
    fn touch_step(&self, hash: u64) {
        let Slot { tag, at } = self.slots[self.first(hash)];
        if at != 0 && tag == (hash >> 32) as u32 {
            for line in self.words[at as usize..].iter().step_by(LINE).take(LINES) {
                std::hint::black_box(*line);
            }
        }
    }

    #[inline]
    fn find(&self, hash: u64, question: &[u8]) -> Option<usize> {
        let mut slot = self.first(hash);
        loop {
            let Slot { tag, at } = self.slots[slot];
            if at == 0 {
                return None;
            }
            if tag == (hash >> 32) as u32 && question_of(&self.words[at as usize..]) == question {
                return Some(at as usize);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn push(&mut self, hash: u64, words: &[u64]) -> usize {
        let at = self.words.len();
        self.words.extend_from_slice(words);
        let mut slot = self.first(hash);
        while self.slots[slot].at != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = Slot { tag: (hash >> 32) as u32, at: at as u32 };
        self.used += 1;
        at
    }

    /// All words of a step.
    fn entry(&self, at: usize) -> &[u64] {
        let words = &self.words[at..];
        &words[..words_of(words)]
    }

    #[inline]
    fn step(&self, at: usize) -> Step<'_> {
        let words = &self.words[at..];
        let head = head_of(words);
        let mut rest = &words[HEAD_WORDS + head.question.div_ceil(8) as usize..];
        let mut part = |bytes: u32| {
            let (part, after) = rest.split_at(bytes.div_ceil(8) as usize);
            rest = after;
            &bytemuck::cast_slice::<u64, u8>(part)[..bytes as usize]
        };
        Step {
            generated: head.generated,
            sums: head.sums.map(|images| images.map(Weight)),
            leaves: bytemuck::cast_slice(part(8 * head.leaves)),
            leaving: bytemuck::cast_slice(part(4 * head.leaving)),
            next: List {
                bit: (head.bit < MIXED).then_some(head.bit),
                gaps: part(head.gaps),
                lows: part(head.lows),
                highs: part(head.highs),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strata_store::ListBuf;

    /// The answer to a question, made of nothing but the question.
    struct Answer {
        list: ListBuf,
        leaves: Vec<Leave>,
        leaving: Vec<Local>,
        seed: u32,
    }

    impl Answer {
        fn to(question: &[u8]) -> Answer {
            let seed =
                question.iter().fold(7, |seed: u32, byte| seed * 31 % 65_521 + u32::from(*byte));
            let mut list = ListBuf::default();
            let states: Vec<u32> =
                (0..seed % 40).map(|i| i * (seed % 900 + 2) + (seed & i & 1)).collect();
            list.encode(&states);
            let leaves = (0..seed % 3).map(|gate| Leave { gate, count: 1 }).collect();
            Answer {
                list,
                leaves,
                leaving: states.into_iter().take(seed as usize % 3).collect(),
                seed,
            }
        }

        fn step(&self) -> Step<'_> {
            let weight = Weight([u64::from(self.seed), 3]);
            Step {
                next: self.list.list(),
                generated: self.seed,
                sums: [[weight, Weight::ZERO], [Weight::ONE, weight]],
                leaves: &self.leaves,
                leaving: &self.leaving,
            }
        }
    }

    fn alone(bytes: usize) -> Memo {
        Memo::new(bytes, Arc::default())
    }

    #[test]
    fn what_one_has_learned_the_others_know() {
        let board = Arc::<Board>::default();
        let [mut a, mut b] = [(); 2].map(|()| Memo::new(1 << 20, board.clone()));
        let questions = [&b"first"[..], b"second", b"a third, longer one"];
        for question in questions {
            a.learn(hash(question), question, &Answer::to(question).step());
        }
        // Both may have learned the same.
        b.learn(hash(b"first"), b"first", &Answer::to(b"first").step());
        for _ in 0..2 {
            a.share();
            b.share();
        }
        let used = b.young.used;
        for question in questions {
            let place = b.find(hash(question), question).unwrap();
            assert_eq!(b.step(place), Answer::to(question).step());
        }
        assert_eq!((used, a.young.used), (3, 3));
    }

    proptest! {
        /// Whatever is asked, forgotten and asked again, and with whatever hashes, no answer is
        /// that to another question.
        #[test]
        fn what_is_remembered_is_right(
            asked in proptest::collection::vec((0_u8..40, 1_usize..30), 1..300),
            bytes in 0_usize..40_000,
            hashes in prop_oneof![Just(u64::MAX), Just(0xffff_ffff_0000_000f), Just(0)],
        ) {
            let mut memo = alone(bytes);
            for (byte, len) in asked {
                let question = vec![byte; len];
                let hash = hash(&question) & hashes;
                memo.touch(hash);
                memo.touch_step(hash);
                let answer = Answer::to(&question);
                match memo.find(hash, &question) {
                    Some(place) => prop_assert_eq!(memo.step(place), answer.step()),
                    None => memo.learn(hash, &question, &answer.step()),
                }
            }
        }
    }

    #[test]
    fn what_is_asked_often_stays_and_the_rest_goes() {
        let mut memo = alone(64 << 10);
        let ask = |memo: &mut Memo, question: &[u8]| {
            let hash = hash(question);
            let known = memo.find(hash, question).is_some();
            if !known {
                memo.learn(hash, question, &Answer::to(question).step());
            }
            known
        };
        assert!(!ask(&mut memo, b"often"));
        for i in 0..10_000_u32 {
            assert!(!ask(&mut memo, &i.to_ne_bytes()), "never asked before");
            assert!(ask(&mut memo, b"often"), "after {i} others");
        }
        assert!(ask(&mut memo, &9_999_u32.to_ne_bytes()));
        assert!(!ask(&mut memo, &0_u32.to_ne_bytes()));
        let held: usize = [&memo.young, &memo.old]
            .map(|shelf| 8 * shelf.words.capacity() + size_of_val(&*shelf.slots))
            .iter()
            .sum();
        assert!(held <= 64 << 10, "{held} bytes");
    }

    /// How many questions are asked about so many regions, of which several wait for each other.
    fn questions(memo: &mut Memo, regions: u32, question: impl Fn(u32) -> u32) -> u32 {
        let mut asked = 0;
        for first in (0..regions).step_by(13) {
            let waiting: Vec<u32> =
                (first..first + 13).filter(|_| memo.is_worth_it()).map(&question).collect();
            for question in waiting {
                asked += 1;
                memo.find(u64::from(question), &question.to_ne_bytes());
            }
        }
        asked
    }

    #[test]
    fn asking_in_vain_is_given_up_for_a_while() {
        let mut memo = alone(1 << 20);
        let asked = questions(&mut memo, 2 * (WINDOW + PAUSE), |region| region);
        assert!((WINDOW..2 * WINDOW + 100).contains(&asked), "{asked} times");
        // Where answers are known, it goes on for ever.
        let mut memo = alone(1 << 20);
        memo.learn(1, &1_u32.to_ne_bytes(), &Answer::to(b"known").step());
        assert!(questions(&mut memo, 10 * WINDOW, |_| 1) >= 10 * WINDOW);
    }

    #[test]
    fn a_budget_beyond_all_memory_is_fine() {
        let mut memo = alone(usize::MAX);
        memo.learn(5, b"question", &Answer::to(b"question").step());
        assert!(memo.find(5, b"question").is_some());
        assert!(8 * memo.young.words.capacity() <= MOST_BYTES);
    }

    #[test]
    fn without_memory_nothing_is_remembered() {
        let mut memo = alone(0);
        memo.learn(5, b"question", &Answer::to(b"question").step());
        assert!(memo.find(5, b"question").is_none());
    }
}
