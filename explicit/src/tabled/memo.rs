//! A bounded memory of steps. What a region's step makes of its inputs depends on the region's
//! class alone, and regions of one class often have the same states at different times and
//! places: of Panex's, nine of ten.
//!
//! What a kernel learns it keeps to itself until it is a batch; then it goes to the library that all
//! kernels of an engine read.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::library::{Library, Member, Shelves};
use super::shelf::Spot;
use super::step::{self, Step, question_of};

/// Where a step is.
#[derive(Copy, Clone, Debug)]
pub(super) enum Place {
    /// On the young shelf.
    Young(Spot),
    /// Among what was learned last, from a word on.
    Fresh(usize),
}

/// How many questions it takes to tell whether asking is worth it.
const WINDOW: u32 = 1 << 12;

/// How many regions pass before it is tried again if it is not.
const PAUSE: u32 = 1 << 15;

/// See the module.
pub(super) struct Memo {
    /// None if nothing is remembered.
    member: Option<Member>,
    /// What is read; None as long as nothing is asked.
    shelves: Option<Shelves>,
    fresh: Fresh,
    asked: u32,
    known: u32,
    pause: u32,
}

/// Steps that no other kernel knows yet.
#[derive(Default)]
struct Fresh {
    words: Vec<u64>,
    /// The hash of each one's question, and where it begins.
    steps: Vec<(u64, usize)>,
    places: FxHashMap<u64, usize>,
}

impl Memo {
    /// A memory of one of the kernels of a library, to which it adds so many bytes.
    pub(super) fn new(bytes: usize, library: Arc<Library>) -> Memo {
        Memo {
            member: (bytes > 0).then(|| Member::join(library, bytes)),
            shelves: None,
            fresh: Fresh::default(),
            asked: 0,
            known: 0,
            pause: 0,
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

    /// Gets ready for a few questions.
    #[inline]
    pub(super) fn open(&mut self) {
        let Some(member) = &self.member else { return };
        if !self.shelves.as_ref().is_some_and(|shelves| member.has(shelves)) {
            // The old ones go first.
            self.shelves = None;
            self.shelves = Some(member.shelves());
        }
    }

    /// Asks for the memory that [`Self::find`] is going to read first.
    #[inline]
    pub(super) fn touch(&self, hash: u64) {
        if let Some(shelves) = &self.shelves {
            shelves.young.touch(hash);
            shelves.old.touch(hash);
        }
    }

    /// Asks for the memory that [`Self::find`] is going to read next, and [`Self::step`].
    #[inline]
    pub(super) fn touch_step(&self, hash: u64) {
        if let Some(shelves) = &self.shelves {
            shelves.young.touch_step(hash);
        }
    }

    /// Where the answer to a question is, if it is known.
    #[inline]
    pub(super) fn find(&mut self, hash: u64, question: &[u8]) -> Option<Place> {
        self.asked += 1;
        let shelves = self.shelves.as_ref()?;
        let found = match shelves.young.find(hash, question) {
            Some(spot) => Some(Place::Young(spot)),
            None => self.recover(hash, question),
        };
        self.known += u32::from(found.is_some());
        found
    }

    /// The step at a place that [`Self::find`] has just told.
    #[inline]
    pub(super) fn step(&self, place: Place) -> Step<'_> {
        match (place, &self.shelves) {
            (Place::Young(spot), Some(shelves)) => step::read(shelves.young.words(spot)),
            (Place::Fresh(at), _) => step::read(&self.fresh.words[at..]),
            (Place::Young(_), None) => unreachable!("it was found on a shelf"),
        }
    }

    /// Takes down the answer to a question that is not known.
    pub(super) fn learn(&mut self, hash: u64, question: &[u8], step: &Step<'_>) {
        if self.shelves.is_some() {
            self.fresh.keep(hash, |words| step::put(question, step, words));
            self.publish();
        }
    }

    /// Looks among what is not published yet, and on the old shelf, from which a step that is asked
    /// for again is taken.
    fn recover(&mut self, hash: u64, question: &[u8]) -> Option<Place> {
        if let Some(at) = self.fresh.find(hash, question) {
            return Some(Place::Fresh(at));
        }
        let shelves = self.shelves.as_ref()?;
        let spot = shelves.old.find(hash, question)?;
        let words = step::whole(shelves.old.words(spot));
        Some(Place::Fresh(self.fresh.keep(hash, |to| to.extend_from_slice(words))))
    }

    /// Tells the other kernels what is new here, if it is worth it.
    fn publish(&mut self) {
        let (Some(shelves), Some(member)) = (&mut self.shelves, &self.member) else { return };
        let Fresh { words, steps, .. } = &self.fresh;
        if words.len() < shelves.young.good_batch() {
            return;
        }
        if !shelves.young.add(words, steps) {
            *shelves = member.turn(&shelves.young);
            // What does not fit on an empty one is forgotten.
            shelves.young.add(words, steps);
        }
        self.fresh.clear();
    }

    /// Nothing is asked for a while: what is new is told, and nothing is held that others may want to
    /// forget.
    pub(super) fn close(&mut self) {
        self.publish();
        self.shelves = None;
    }
}

impl Fresh {
    fn find(&self, hash: u64, question: &[u8]) -> Option<usize> {
        let at = *self.places.get(&hash)?;
        (question_of(&self.words[at..]) == question).then_some(at)
    }

    /// Adds the step that `put` appends, and tells where it is.
    fn keep(&mut self, hash: u64, put: impl FnOnce(&mut Vec<u64>)) -> usize {
        let at = self.words.len();
        put(&mut self.words);
        self.steps.push((hash, at));
        self.places.insert(hash, at);
        at
    }

    fn clear(&mut self) {
        self.words.clear();
        self.steps.clear();
        self.places.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tabled::step::hash;
    use crate::tabled::step::tests::Answer;
    use proptest::prelude::*;

    fn alone(bytes: usize) -> Memo {
        let mut memo = Memo::new(bytes, Arc::default());
        memo.open();
        memo
    }

    /// Asks, and takes down the answer if it is not known; whether it was.
    fn ask(memo: &mut Memo, question: &[u8]) -> bool {
        let (hash, answer) = (hash(question), Answer::to(question));
        match memo.find(hash, question) {
            Some(place) => assert_eq!(memo.step(place), answer.step()),
            None => {
                memo.learn(hash, question, &answer.step());
                return false;
            }
        }
        true
    }

    #[test]
    fn what_one_has_learned_the_others_know() {
        let library = Arc::<Library>::default();
        let [mut a, mut b] = [(); 2].map(|()| Memo::new(1 << 20, library.clone()));
        let many = 0..5_000_u32;
        a.open();
        b.open();
        for i in many.clone() {
            assert!(!ask(&mut a, &i.to_ne_bytes()));
            assert!(ask(&mut a, &i.to_ne_bytes()));
        }
        let known = many.clone().filter(|i| ask(&mut b, &i.to_ne_bytes())).count();
        // All but what the first one has not told yet; the second has learned that by itself.
        assert!((4_500..5_000).contains(&known), "{known}");
        assert!(many.clone().all(|i| ask(&mut b, &i.to_ne_bytes())));
        // It stays while one of them does.
        drop(a);
        b.close();
        b.open();
        assert!(ask(&mut b, &7_u32.to_ne_bytes()));
        drop(b);
        let mut next = Memo::new(1 << 20, library);
        next.open();
        assert!(!ask(&mut next, &7_u32.to_ne_bytes()));
    }

    #[test]
    fn what_others_have_forgotten_is_let_go() {
        let library = Arc::<Library>::default();
        let [mut a, mut b] = [(); 2].map(|()| Memo::new(64 << 10, library.clone()));
        a.open();
        b.open();
        let first = Arc::downgrade(&b.shelves.as_ref().unwrap().young);
        let mut next = 0_u32;
        while b.member.as_ref().unwrap().has(b.shelves.as_ref().unwrap()) {
            a.open();
            ask(&mut a, &next.to_ne_bytes());
            next += 1;
        }
        // It is the old one now.
        b.open();
        assert_eq!(first.strong_count(), 3);
        for i in next..5 * next {
            a.open();
            ask(&mut a, &i.to_ne_bytes());
        }
        assert_eq!(first.strong_count(), 1);
        b.open();
        assert_eq!(first.strong_count(), 0);
    }

    #[test]
    fn kernels_learn_and_forget_at_the_same_time() {
        let library = Arc::<Library>::default();
        let kernel = |seed: u32| {
            let mut memo = Memo::new(64 << 10, library.clone());
            for pass in 0..40 {
                memo.open();
                for i in 0..500_u32 {
                    ask(&mut memo, &(seed * i * i % 1_009 + pass / 8 * 700).to_ne_bytes());
                }
                memo.close();
            }
        };
        std::thread::scope(|scope| (1..4).for_each(|seed| drop(scope.spawn(move || kernel(seed)))));
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
                memo.open();
                memo.touch(hash);
                memo.touch_step(hash);
                let answer = Answer::to(&question);
                match memo.find(hash, &question) {
                    Some(place) => prop_assert_eq!(memo.step(place), answer.step()),
                    None => memo.learn(hash, &question, &answer.step()),
                }
                if byte == 0 {
                    memo.close();
                }
            }
        }
    }

    #[test]
    fn what_is_asked_often_stays_and_the_rest_goes() {
        let mut memo = alone(64 << 10);
        assert!(!ask(&mut memo, b"often"));
        for i in 0..10_000_u32 {
            assert!(!ask(&mut memo, &i.to_ne_bytes()), "never asked before");
            assert!(ask(&mut memo, b"often"), "after {i} others");
        }
        assert!(ask(&mut memo, &9_999_u32.to_ne_bytes()));
        assert!(!ask(&mut memo, &0_u32.to_ne_bytes()));
        let Shelves { young, old, .. } = memo.shelves.as_ref().unwrap();
        let held = young.held() + old.held();
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
        assert!(!ask(&mut memo, b"question"));
        assert!(ask(&mut memo, b"question"));
    }

    #[test]
    fn without_memory_nothing_is_remembered() {
        let mut memo = alone(0);
        assert!(!ask(&mut memo, b"question"));
        assert!(!ask(&mut memo, b"question"));
    }
}
